"""Keyframes whose feet stay: poses at times, interpolated on the manifold, then corrected in every frame.

Between two keys that agree on where a foot is, the foot is held exactly there; elsewhere it goes where the
interpolation takes it, led over from the one to the other within a tenth of a second. Effectors may be asked to go
straight or in an arc from key to key. The rest of the body keeps to the interpolation as nearly as that allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_kinematics
from counterpoise.character.track import Track, follow
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.curves import ease
from counterpoise.motion.keyframes import SPLINE, Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.pose.animate import Animation, Ledger, Progress, anchor, counted, frame_times
from counterpoise.pose.build import build_pose_problem
from counterpoise.pose.constraints import FixJoint, Lock, Pin, PoseConstraint
from counterpoise.pose.goals import Orient, PoseGoal, Posture, Reach
from counterpoise.pose.nearest import inertia_weights, nearest_pose

Way: TypeAlias = str | tuple[str, float]
"""How an effector goes from key to key: "straight", "arc", or ("arc", height [m])."""
Effector: TypeAlias = str | tuple[str, tuple[float, float, float]]
"""A body, or a body and a point in its frame."""

SAME_PLACE, SAME_TURN = 1e-3, np.radians(0.5)  # [m, rad]: keys nearer than this agree on where a foot is
BLEND = 0.1  # [s] from held to free
ARC = 0.25  # height of an arc, as a part of the way


def animate_keys(
    character: Character,
    keyframes: Sequence[Keyframe],
    effector_paths: Mapping[Effector, Way] | None = None,
    support: str | Sequence[str] = "auto",
    rate: float = 60.0,
    constraints: Sequence[PoseConstraint] = (),
    progress: Progress = None,
    base: ArrayLike | None = None,
    name: str = "",
) -> Motion:
    """The motion through poses at times in which support feet do not slide.

    `support`: bodies (or feet) that stay exactly where they are between successive keys that agree on their place (1
    mm) and orientation (half a degree); "auto" takes the feet, "none" nothing. `effector_paths` asks bodies to go
    "straight" from key to key, or in an "arc" (("arc", 0.2): 0.2 m high); they come to rest at every key. `constraints`
    hold in every frame.
    """
    return animate_keys_with_report(
        character, keyframes, effector_paths, support, rate, constraints, progress, base, name
    ).motion


def animate_keys_with_report(
    character: Character,
    keyframes: Sequence[Keyframe],
    effector_paths: Mapping[Effector, Way] | None = None,
    support: str | Sequence[str] = "auto",
    rate: float = 60.0,
    constraints: Sequence[PoseConstraint] = (),
    progress: Progress = None,
    base: ArrayLike | None = None,
    name: str = "",
) -> Animation:
    """As `animate_keys`, with the account of every frame."""
    if len(keyframes) < 2:
        raise BadValue(f"an animation from keys needs two of them at least; got {len(keyframes)}")
    frame_times(0.0, max(keyframes[-1].time + keyframes[-1].hold - keyframes[0].time, 0.0), rate)
    posed = [Keyframe(k.time, _key_pose(character, k, base), k.hold, k.ease) for k in keyframes]
    naive = keyframed(character, posed, rate)  # refuses keys out of order
    references = np.array([character.limits.clamp(q) for q in naive.poses])
    track = follow(character, references)
    looks = [take_kinematics(character, character.limits.clamp(np.asarray(k.pose, float))) for k in posed]
    feet = [_Foot.read(character, bodies, posed, looks) for bodies in _supports(character, support)]
    feet = [foot for foot in feet if foot.runs]
    effectors = [_Effector.read(character, who, way, posed, looks) for who, way in (effector_paths or {}).items()]
    weights, at_start = inertia_weights(character), character.limits.clamp(looks[0].q)
    always = anchor(character, constraints, at_start)

    book, correction = Ledger(), np.zeros(character.nv)
    try:
        for k, t in enumerate(counted(naive.times, progress)):
            goals: list[PoseGoal] = [Posture(references[k])]
            held: list[PoseConstraint] = list(always)
            led = {e.body for e in effectors}
            for foot in feet:
                more, fixed = foot.wishes(character, float(t), references[k], track, k, led)
                goals += more
                held += fixed
            pinned = {c.body for c in held if isinstance(c, Pin)}
            goals += [goal for e in effectors if e.body not in pinned for goal in e.goals(float(t))]
            problem = build_pose_problem(character, goals, held, references[k])
            guess = problem.moved(problem.start, correction[problem.variables])
            found = nearest_pose(problem, references[k], weights, guess)
            if not found.held:  # the correction of the frame before may lead astray
                again = nearest_pose(problem, references[k], weights, problem.start)
                found = again if again.held else found
            correction = character.difference(references[k], found.q)
            book.add(found.q, found.held, problem.residuals(found.q), problem.violations(found.q))
    except KeyboardInterrupt:
        if not book.poses:
            raise
    return book.close(character, naive.times, name)


# ------------------------------------------------------------------------------------------------------- feet


@dataclass(frozen=True, eq=False)
class _Run:
    """A stretch of keys that agree on a foot: it stays from `begin` to `end`, and is led in and out around them."""

    begin: float
    end: float
    lead: float
    trail: float
    place: Array  # (3,)
    turn: Array  # (4,)
    toes: tuple[Array, ...]  # values of the joints between the foot and its other bodies

    def share(self, t: float) -> float:
        """1 while it holds, 0 when it is over, eased between."""
        if self.begin - 1e-9 <= t <= self.end + 1e-9:
            return 1.0
        away, width = (self.begin - t, self.lead) if t < self.begin else (t - self.end, self.trail)
        return 1.0 - float(ease(away / width, "smoother")) if width > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class _Foot:
    """A body that carries, with the bodies that hang on it, and when it stands still."""

    body: str
    toes: tuple[str, ...]  # joints between it and its other bodies
    runs: tuple[_Run, ...]

    @staticmethod
    def read(who: Character, bodies: tuple[str, ...], keys: Sequence[Keyframe], looks: Sequence[Snapshot]) -> _Foot:
        main = bodies[0]
        toes = _joints_between(who, main, bodies[1:])
        runs, first = [], 0
        while first < len(keys):
            last = first
            while last + 1 < len(keys) and all(_agree(looks[first], looks[last + 1], b) for b in bodies):
                last += 1
            stays = last > first or keys[first].hold > 0.0
            if stays:
                begin, end = keys[first].time, keys[last].time + keys[last].hold
                lead = keys[first].time - (keys[first - 1].time + keys[first - 1].hold) if first else 0.0
                trail = keys[last + 1].time - end if last + 1 < len(keys) else 0.0
                look = looks[first]
                runs.append(
                    _Run(
                        begin,
                        end,
                        min(BLEND, 0.5 * lead),
                        min(BLEND, 0.5 * trail),
                        look.position(main),
                        spatial.from_matrix(look.rotation(main)),
                        tuple(look.q[who.joint(name).qpos] for name in toes),
                    )
                )
            first = last + 1 if last > first else first + 1
        return _Foot(main, toes, tuple(runs))

    def wishes(
        self, who: Character, t: float, reference: Array, track: Track, k: int, led: set[str]
    ) -> tuple[list[PoseGoal], list[PoseConstraint]]:
        """Held still by constraints; otherwise led along the interpolation by stiff goals."""
        b = who.body_id(self.body)
        place, turn = track.bodies[k, b], spatial.from_matrix(track.rotations[k, b])
        run = max(self.runs, key=lambda one: one.share(t))
        share = run.share(t)
        held: list[PoseConstraint] = []
        for name, value in zip(self.toes, run.toes, strict=True):
            if share > 0.0:
                held.append(FixJoint(name, _between(who, name, reference, value, share)))
        if share == 1.0:
            return [], [*held, Pin(self.body, at=tuple(run.place.tolist())), Lock(self.body, tuple(run.turn.tolist()))]
        turn = spatial.multiply(turn, spatial.exp(share * spatial.difference(turn, run.turn)))
        wanted: list[PoseGoal] = [Orient(self.body, tuple(turn.tolist()))]
        if self.body not in led:
            wanted.append(Reach(self.body, tuple((place + share * (run.place - place)).tolist())))
        return wanted, held


def _supports(who: Character, support: str | Sequence[str]) -> list[tuple[str, ...]]:
    """Bodies that may carry; each with those its contact points are on."""
    whole = {foot.body: (foot.body, *sorted({p.body for p in foot.points} - {foot.body})) for foot in who.feet}
    if isinstance(support, str):
        if support not in ("auto", "none"):
            raise unknown_name("kind of support", support, ("auto", "none"))
        return list(whole.values()) if support == "auto" else []
    names = {foot.name: foot.body for foot in who.feet}
    out = []
    for name in support:
        body = names.get(name, name)
        who.body_id(body)
        out.append(whole.get(body, (body,)))
    return out


def _agree(one: Snapshot, other: Snapshot, body: str) -> bool:
    apart = float(np.linalg.norm(one.position(body) - other.position(body)))
    turned = spatial.difference(spatial.from_matrix(one.rotation(body)), spatial.from_matrix(other.rotation(body)))
    return apart <= SAME_PLACE and float(np.linalg.norm(turned)) <= SAME_TURN


def _joints_between(who: Character, main: str, others: Sequence[str]) -> tuple[str, ...]:
    """Joints that move the other bodies against the main one, where they hang on it."""
    found: list[str] = []
    m, top = who.model, who.body_id(main)
    for other in others:
        body, line = who.body_id(other), []
        while body not in (0, top):
            line += [joint.name for joint in who.joints if who.body_id(joint.body) == body]
            body = int(m.body_parentid[body])
        if body == top:
            found += [name for name in line if name not in found]
    return tuple(found)


def _between(who: Character, name: str, reference: Array, value: Array, share: float) -> tuple[float, ...]:
    """A joint's coordinates a part of the way from the reference to `value`."""
    joint = who.joint(name)
    goal = reference.copy()
    goal[joint.qpos] = value
    q = who.integrate(reference, share * who.difference(reference, goal))
    return tuple(who.limits.clamp(q)[joint.qpos].tolist())


# -------------------------------------------------------------------------------------------------- effectors


@dataclass(frozen=True, eq=False)
class _Effector:
    """A point of a body that goes from key to key on a line or an arc."""

    body: str
    point: tuple[float, float, float]
    height: float | None  # of its arcs [m]; None: a part of the way
    arc: bool
    keys: tuple[tuple[float, float, str], ...]  # time, time it leaves, ease
    places: Array  # (k, 3)

    @staticmethod
    def read(
        who: Character, which: Effector, way: Way, keys: Sequence[Keyframe], looks: Sequence[Snapshot]
    ) -> _Effector:
        body, point = (which, (0.0, 0.0, 0.0)) if isinstance(which, str) else which
        who.body_id(body)
        kind, height = (way, None) if isinstance(way, str) else way
        if kind not in ("straight", "arc"):
            raise unknown_name("way from key to key", kind, ("straight", "arc"))
        if height is not None and not (np.isfinite(height) and abs(height) <= 100.0):
            raise BadValue(f"the height of an arc is a number of metres; got {height!r}")
        places = np.array([look.position(body, point) for look in looks])
        stays = tuple((k.time, k.time + k.hold, k.ease) for k in keys)
        return _Effector(body, (point[0], point[1], point[2]), height, kind == "arc", stays, places)

    def goals(self, t: float) -> list[PoseGoal]:
        return [Reach(self.body, tuple(self.at(t).tolist()), self.point)]

    def at(self, t: float) -> Array:
        """Along the chord by the key's ease (at rest at both ends for a spline); an arc adds a parabola upwards."""
        for i, ((_, leaves, _), (comes, _, eased)) in enumerate(pairwise(self.keys)):
            if t < comes:
                a, b = self.places[i], self.places[i + 1]
                u = (t - leaves) / (comes - leaves)
                s = float(ease(u, "smoother" if eased == SPLINE else eased))
                top = 0.0
                if self.arc:
                    top = ARC * float(np.linalg.norm(b - a)) if self.height is None else self.height
                return a + s * (b - a) + np.array([0.0, 0.0, 4.0 * top * s * (1.0 - s)])
        return self.places[-1]


# --------------------------------------------------------------------------------------------------- keys


def _key_pose(who: Character, key: Keyframe, base: ArrayLike | None) -> Array:
    if isinstance(key.pose, Mapping):
        return pose_from_joints(who, key.pose, base)
    return who.check_pose(key.pose, "keyframe's pose")
