"""How the world holds a part of the body: which directions are fixed, and which forces the contact can give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.roles import Foot
from counterpoise.character.shapes import end_of, middle_of
from counterpoise.errors import BadValue
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize.frames import Frames
from counterpoise.spacetime.optimize.moments import Timeline
from counterpoise.spacetime.optimize.request import Touch

HEEL_TOE_SHARE = 0.2  # of a foot's length: points this near its end are its heel or toe
CONE_EDGES = 4  # edges of the pyramid inside a friction cone
TOE_HINGE_MARGIN = 0.03  # [m] points this far behind the toe joint still belong to the toes
TORQUE_UNIT = 0.1  # [body weights x m] torque of a multiplier of one


@dataclass(frozen=True, eq=False)
class Hold:
    """One contact as the optimiser uses it. Directions are in the surface's frame, points in their bodies'."""

    touch: Touch
    label: str
    body: int
    point: Array  # (3,) the reference point
    first: int  # phases first ... last - 1
    last: int
    level: tuple[tuple[int, Array], ...]  # further points that stay in the surface: (body, point)
    axes: Array  # (k, 3) directions of the body ...
    against: Array  # (k, 3) ... that stay across these of the surface
    turned: Flags  # (k,) whether `against` turns with the contact's own facing
    force_bodies: Ints  # (m,)
    force_points: Array  # (m, 3)
    offsets: Array | None  # (m, 3) of them from the reference point, surface's frame, facing 0; None: they turn freely
    generators: Array  # (m, g, 3) forces at each point per unit of multiplier, body weights; surface's frame
    torques: Array  # (h, 3) torques at the reference point per unit multiplier, in body weights x m; world
    torque_bound: Array  # (h,) of those multipliers
    signed: bool  # whether forces may pull
    facing: bool  # whether it has a facing of its own

    @property
    def rows(self) -> int:
        return 3 + len(self.level) + len(self.axes)

    @property
    def bodies(self) -> set[int]:
        """The bodies that it holds."""
        return {self.body, *(body for body, _ in self.level), *self.force_bodies.tolist()}

    @property
    def multipliers(self) -> int:
        return int(self.generators.shape[0] * self.generators.shape[1] + len(self.torques))

    def bounds(self, weight: float) -> tuple[Array, Array]:
        """Returns the bounds of the multipliers; `weight` is the body's [N]."""
        n = self.generators.shape[0] * self.generators.shape[1]
        top = np.inf if self.touch.most is None else self.touch.most / weight
        low = np.full(n, -top if self.signed else 0.0)
        return np.concatenate([low, -self.torque_bound]), np.concatenate([np.full(n, top), self.torque_bound])

    @property
    def still(self) -> bool:
        """Whether its surface does not move."""
        return isinstance(self.touch.surface, Surface)

    def knots(self, frames: Frames) -> Ints:
        """Returns the knots at which it holds."""
        phase = frames.phase[: frames.knots]
        return np.flatnonzero((phase >= self.first) & (phase < self.last)).astype(np.int64)

    def surface(self, time: float) -> Surface:
        """Returns the surface it holds on, at a time."""
        s = self.touch.surface
        return s if isinstance(s, Surface) else s(time)


def make_hold(character: Character, touch: Touch, timeline: Timeline) -> Hold:
    """Returns what a touch means for this body."""
    first, last = timeline.moment_of(touch.start), timeline.moment_of(touch.end)
    if first is None or last is None or first >= last:
        raise BadValue(f"the contact {touch.label!r} has no time: from {touch.start!r} to {touch.end!r}")
    weight = character.weight
    if touch.how == "bar":
        return _bar(character, touch, first, last, weight)
    if touch.how == "point":
        return _points(character, touch, first, last)
    return _foot(character, touch, first, last)


def _foot(character: Character, touch: Touch, first: int, last: int) -> Hold:
    foot = character.foot(touch.part)
    rest = character.snapshot()
    points = _placed(character, foot)
    x = np.array([p[2][0] for p in points])
    length = max(float(x.max() - x.min()), 1e-6)
    base = character.body_id(foot.body)
    if touch.how == "heel":
        return _edge(
            character,
            touch,
            [p for p, at in zip(points, x, strict=True) if at < x.min() + HEEL_TOE_SHARE * length],
            first,
            last,
        )
    if touch.how == "toe":
        toes = toes_of(character, foot)
        if toes is None:
            return _edge(character, touch, _front(points), first, last)
        base = toes
        hinge = rest.body_position[base][0] - TOE_HINGE_MARGIN
        points = [p for p, at in zip(points, x, strict=True) if at > hinge or p[0] == base]
    R, o = rest.body_rotation[base], rest.body_position[base]
    own = [p for p in points if p[0] == base] or points
    middle = np.mean([p[2] for p in own], axis=0)
    others = [
        (body, np.mean([p[1] for p in points if p[0] == body], axis=0))
        for body in sorted({p[0] for p in points} - {base})
        if touch.how == "flat"
    ]
    if touch.sole < 1.0:
        points = _inner(character, points, touch.sole)
    rigid = [(p[0], p[1]) if touch.how == "flat" else (base, R.T @ (p[2] - o)) for p in points]
    return Hold(
        touch, touch.label, base, R.T @ (middle - o), first, last, tuple(others),
        axes=np.array([R.T @ (0, 0, 1.0), R.T @ (0, 0, 1.0), R.T @ (1.0, 0, 0)]),
        against=np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 1.0, 0]]),
        turned=np.array([False, False, True]),
        force_bodies=np.array([b for b, _ in rigid], np.int64),
        force_points=np.array([p for _, p in rigid]),
        offsets=_flattened(np.array([p[2] for p in points]) - middle),
        generators=_pyramids(len(rigid), touch.friction),
        torques=np.empty((0, 3)), torque_bound=np.empty(0), signed=False, facing=True,
    )  # fmt: skip


def _edge(character: Character, touch: Touch, points: list[tuple[int, Array, Array]], first: int, last: int) -> Hold:
    """A foot on the line of its heel or toes: it may roll over that line."""
    body = points[0][0]
    points = [p for p in points if p[0] == body]
    R = character.snapshot().body_rotation[body]
    local = np.array([p[1] for p in points])
    flat = len(points) < 2 or float(np.ptp([p[2][1] for p in points])) < 1e-3
    along = R.T @ np.array([0.0, 1.0, 0.0])
    return Hold(
        touch, touch.label, body, local.mean(axis=0), first, last, (),
        axes=np.empty((0, 3)) if flat else np.array([along, along]),
        against=np.empty((0, 3)) if flat else np.array([[0, 0, 1.0], [1.0, 0, 0]]),
        turned=np.zeros(0, bool) if flat else np.array([False, True]),
        force_bodies=np.full(len(points), body, np.int64),
        force_points=local,
        offsets=_flattened(np.array([p[2] for p in points]) - np.mean([p[2] for p in points], axis=0)),
        generators=_pyramids(len(points), touch.friction),
        torques=np.empty((0, 3)), torque_bound=np.empty(0), signed=False, facing=not flat,
    )  # fmt: skip


def _points(character: Character, touch: Touch, first: int, last: int) -> Hold:
    body = character.body_id(touch.part)
    local = np.atleast_2d(end_of(character, body) if touch.point is None else np.asarray(touch.point, float))
    return Hold(
        touch, touch.label, body, local.mean(axis=0), first, last,
        tuple((body, p) for p in local[: min(len(local) - 1, 2)]),  # what presses lies in the surface
        axes=np.empty((0, 3)), against=np.empty((0, 3)), turned=np.zeros(0, bool),
        force_bodies=np.full(len(local), body, np.int64),
        force_points=local,
        offsets=np.zeros((1, 3)) if len(local) == 1 else None,
        generators=_pyramids(len(local), touch.friction),
        torques=np.empty((0, 3)), torque_bound=np.empty(0), signed=False, facing=False,
    )  # fmt: skip


def _bar(character: Character, touch: Touch, first: int, last: int, weight: float) -> Hold:
    body = character.body_id(touch.part)
    local = middle_of(character, body) if touch.point is None else np.asarray(touch.point, float).reshape(3)
    axis = np.asarray(touch.axis, float)
    length = float(np.linalg.norm(axis))
    if axis.shape != (3,) or length < 1e-9:
        raise BadValue(f"a bar's axis is a non-zero 3-vector; got {touch.axis!r}")
    axis = axis / length
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    frames = np.array([axis, side, np.cross(axis, side)])
    bound = np.array([touch.torque, touch.grip, touch.grip]) / (TORQUE_UNIT * weight)
    used = bound > 0.0
    return Hold(
        touch, touch.label, body, local, first, last, (),
        axes=np.empty((0, 3)), against=np.empty((0, 3)), turned=np.zeros(0, bool),
        force_bodies=np.array([body], np.int64), force_points=local[None], offsets=np.zeros((1, 3)),
        generators=np.eye(3)[None], torques=TORQUE_UNIT * frames[used], torque_bound=bound[used], signed=True,
        facing=False,
    )  # fmt: skip


def _flattened(offsets: Array) -> Array:
    """As they lie when the sole is on its surface."""
    return offsets * (1.0, 1.0, 0.0)


def _pyramids(points: int, friction: float) -> Array:
    """(points, CONE_EDGES, 3): the edges of a pyramid inside the friction cone, each with unit normal force."""
    angles = 2.0 * np.pi * (np.arange(CONE_EDGES) + 0.5) / CONE_EDGES
    one = np.stack([friction * np.cos(angles), friction * np.sin(angles), np.ones(CONE_EDGES)], axis=1)
    return np.broadcast_to(one, (points, CONE_EDGES, 3)).copy()


def _placed(character: Character, foot: Foot) -> list[tuple[int, Array, Array]]:
    """(body, local, world in the neutral pose) of a foot's contact points."""
    rest = character.snapshot()
    out = []
    for p in foot.points:
        body = character.body_id(p.body)
        local = np.asarray(p.position, float)
        out.append((body, local, rest.body_position[body] + rest.body_rotation[body] @ local))
    return out


def toes_of(character: Character, foot: Foot) -> int | None:
    """Returns the body that carries the front of a foot's sole, where it is another one than the foot's own."""
    front = {p[0] for p in _front(_placed(character, foot))}
    return None if len(front) > 1 or character.body_id(foot.body) in front else front.pop()


def _front(points: list[tuple[int, Array, Array]]) -> list[tuple[int, Array, Array]]:
    """Returns the points at the front end of a sole."""
    x = np.array([p[2][0] for p in points])
    return [p for p, at in zip(points, x, strict=True) if at >= x.max() - HEEL_TOE_SHARE * float(np.ptp(x))]


def _inner(
    character: Character, points: list[tuple[int, Array, Array]], share: float
) -> list[tuple[int, Array, Array]]:
    """Returns a foot's points drawn towards its middle: forces on them leave the edge of the sole free."""
    rest = character.snapshot()
    middle = np.mean([p[2] for p in points], axis=0)
    out = []
    for body, _, world in points:
        at = middle + share * (world - middle)
        out.append((body, rest.body_rotation[body].T @ (at - rest.body_position[body]), at))
    return out


def without_double(holds: Sequence[Hold], timeline: Timeline) -> tuple[tuple[Hold, ...], tuple[str, ...]]:
    """Returns holds of which none holds a part that another holds at the same time, and the conflicts found.

    Of two such holds the one asked for later ends early or begins late.
    """
    conflicts: list[str] = []
    kept: list[Hold] = []
    for hold in holds:
        free = [p for p in range(hold.first, hold.last) if not any(_clash(hold, k, p) for k in kept)]
        if len(free) == hold.last - hold.first:
            kept.append(hold)
            continue
        other = next(k for k in kept for p in range(hold.first, hold.last) if _clash(hold, k, p))
        t = timeline.times[max(hold.first, other.first)]
        conflicts.append(f"{hold.label} and {other.label} hold the same part at once, at {t:g} s")
        if free:
            last = next((p for p in range(free[0], hold.last) if p not in free), hold.last)
            kept.append(replace(hold, first=free[0], last=last))
    return tuple(kept), tuple(conflicts)


def _clash(a: Hold, b: Hold, phase: int) -> bool:
    parts = {b.body, *(body for body, _ in b.level)}
    return b.first <= phase < b.last and (a.body in parts or any(body in parts for body, _ in a.level))


def handed_over(hold: Hold, holds: Sequence[Hold], frames: Frames) -> set[int]:
    """Returns knots at which another hold of the same part, which ends or begins there, already fixes all of it.

    A foot that goes from flat to its toes has one pose at that seam: the rows of both would depend on each other.
    """
    out: set[int] = set()
    phase, s = frames.phase[: frames.knots], frames.s[: frames.knots]
    first, last = joined_ends(hold, holds)
    if first:
        out |= set(np.flatnonzero((phase == hold.first) & (s == 0.0)).tolist())
    if last:
        out |= set(np.flatnonzero((phase == hold.last - 1) & (s == 1.0)).tolist())
    return out


def joined_ends(hold: Hold, holds: Sequence[Hold]) -> tuple[bool, bool]:
    """Returns whether another hold fixes all of the same part up to where this one begins, and from where it ends."""
    mine = {hold.body, *hold.force_bodies.tolist()}
    others = [o for o in holds if o is not hold and mine & {o.body, *o.force_bodies.tolist()}]
    return (
        any(o.last == hold.first and hold.rows <= o.rows for o in others),
        any(hold.last == o.first and hold.rows < o.rows for o in others),
    )
