"""Whether a push was survived in place, and the largest push that ankles alone could take.

With the feet planted and no angular momentum, a push is survived as long as the capture point stays over the support
(MATH: the linear inverted pendulum). An impulse J divided by that limit is rho = J h_p / (m omega d z): rho > 1 is more
than ankles alone can do.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.track import point_path
from counterpoise.errors import BadValue
from counterpoise.measure.balance import Fall, fell, gravity_of
from counterpoise.simulate.recording import Recording
from counterpoise.solve.geometry import convex_hull

RETURNED = 0.2  # share of the way to the edge below which the capture point counts as back


@dataclass(frozen=True)
class AnkleLimit:
    """The largest push at a body's CoM, in one horizontal direction, that ankles alone can take: rho = 1."""

    mass: float  # [kg]
    omega: float  # [1/s] sqrt(g / z)
    distance: float  # [m] d, from the CoM's projection to the edge of the support
    com_height: float  # [m] z
    push_height: float  # [m] h_p

    @property
    def impulse(self) -> float:
        """m omega d z / h_p [N s]."""
        return self.mass * self.omega * self.distance * self.com_height / self.push_height

    def rho(self, impulse: float) -> float:
        """Returns an impulse [N s] in multiples of this limit."""
        return impulse / self.impulse


@dataclass(frozen=True)
class Bar:
    """What counts as survived in place."""

    seconds: float = 3.0  # [s] after the push, at which the rest is measured
    foot: float = 0.01  # [m] largest distance of any contact point from its place along the ground, at any time
    speed: float = 0.02  # of the CoM at the end, in sqrt(g z)
    com: float = 0.03  # distance of the CoM from its place at the end, in CoM heights
    pose: float = 0.1  # [rad] rms error of the joints at the end
    wobble: float = 0.5  # largest share of the way to the edge, once the capture point was back

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0.0):
                raise BadValue(f"Bar.{name} is a positive number; got {value!r}")


@dataclass(frozen=True)
class Survival:
    """Whether a push was survived, and the values that `Bar` limits."""

    survived: bool
    why: str  # the reason if not; "" when survived
    fall: Fall
    foot: float  # [m] largest distance of a contact point from its place along the ground
    lift: float  # [m] largest height of a contact point above its place
    speed: float  # [m/s] of the CoM at the end
    com: float  # [m] distance of the CoM from its place at the end
    pose: float  # [rad] rms error of the joints at the end
    excursion: float  # largest share of the way to the edge of the capture point; beyond 1 ankles are not enough
    wobble: float  # the same, after it was back

    def __bool__(self) -> bool:
        return self.survived


def ankle_limit(character: Character, body: str, direction: float, pose: ArrayLike | None = None) -> AnkleLimit:
    """Returns what ankles alone can take of a push at a body's CoM in a direction [deg].

    The character stands in `pose`, or in its neutral pose.
    """
    here = standing_snapshot(character, direction, pose)
    push_height = float(here.body_com[character.body_id(body)][2])
    floor = float(here.contact_position[:, 2].min())
    z = float(here.com[2]) - floor
    if not (z > 0.0 and push_height > floor):
        raise BadValue(f"the CoM and {body!r} must be above the feet; they are {z:.3f} and {push_height - floor:.3f} m")
    distance = edge_distance(here.contact_position[:, :2], here.com[:2], direction)
    if not 0.0 < distance < np.inf:
        raise BadValue(f"{character.name!r} is not over its feet in this pose: no push can be measured from it")
    return AnkleLimit(character.mass, math.sqrt(character.gravity / z), distance, z, push_height - floor)


def standing_snapshot(character: Character, direction: float, pose: ArrayLike | None = None) -> Snapshot:
    """Returns the character in `pose`, or in its neutral pose; raises BadValue without feet or a direction [deg]."""
    character.need_feet("an ankle limit")
    if not math.isfinite(direction):
        raise BadValue(f"a direction is an angle from forward [deg]; got {direction!r}")
    return character.snapshot() if pose is None else character.snapshot(character.state(pose))


def edge_distance(feet: Array, com: Array, direction: float) -> float:
    """Returns the way [m] from the CoM (2,) to the edge of the hull of `feet` (p, 2) in a direction [deg]."""
    return 1.0 / float(_share_to_edge(feet, com, com + np.array(unit_vector(direction)))[0])


def survival(
    recording: Recording, push_end: float, bar: Bar | None = None, reference: ArrayLike | None = None, figure: int = 0
) -> Survival:
    """Whether the push that ended at `push_end` [s] was survived in place, and if not, why.

    Feet are compared with the first row, the pose with `reference` or the first row.
    """
    bar = bar or Bar()
    character, track = recording.figures[figure], recording.track(figure)
    z = float(track.com[0, 2] - character.snapshot(recording.state(0, figure)).contact_position[:, 2].min())
    fall = fell(recording, figure)
    places = np.array([point_path(character, track, p.body, p.position) for p in character.contact_points])  # (p, n, 3)
    moved = places - places[:, :1]
    foot, lift = float(np.linalg.norm(moved[..., :2], axis=2).max()), float(moved[..., 2].max())
    last = min(int(np.searchsorted(recording.time, push_end + bar.seconds)), len(recording) - 1)
    speed = float(np.linalg.norm(track.momentum[last, 3:]) / character.mass)
    com = float(np.linalg.norm(track.com[last] - track.com[0]))
    q = recording.positions(figure)
    wanted = q[0] if reference is None else np.asarray(reference, float)
    error = character.difference(q[last], wanted)[character.root_dofs.stop :]
    pose = float(np.sqrt(np.mean(error**2))) if len(error) else 0.0
    shares = _excursions(recording, figure, places[:, 0, :2], push_end, last, z)
    back = int(np.argmax(shares < RETURNED)) if (shares < RETURNED).any() else len(shares) - 1
    excursion, wobble = float(shares.max()), float(shares[back:].max())
    found = Survival(True, "", fall, foot, lift, speed, com, pose, excursion, wobble)
    why = _failure(found, bar, z, gravity_of(recording), recording.status)
    return dataclasses.replace(found, survived=not why, why=why)


def _excursions(recording: Recording, figure: int, feet: Array, push_end: float, last: int, z: float) -> Array:
    """The capture point's share of the way to the edge of the support, in every row from the push's end to `last`."""
    track, mass = recording.track(figure), recording.figures[figure].mass
    omega = math.sqrt(gravity_of(recording) / z)
    xi = track.com[:, :2] + track.momentum[:, 3:5] / (mass * omega)
    first = np.searchsorted(recording.time, push_end)
    return _share_to_edge(feet, track.com[0, :2], xi[first : last + 1])


def _share_to_edge(feet: Array, start: Array, end: Array) -> Array:
    """(n,): for points `end` (n, 2), their share of the way from `start` to the edge of the hull of `feet`."""
    corners = convex_hull(np.round(feet, 9))
    along = np.roll(corners, -1, axis=0) - corners
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1)  # outwards: the hull runs counter-clockwise
    room = np.sum(normal * (corners - start), axis=1)
    if len(corners) < 3 or (room <= 0.0).any():
        return np.full(len(np.atleast_2d(end)), np.inf)
    return np.asarray((np.atleast_2d(end) - start) @ (normal / room[:, None]).T).max(axis=1)


def _failure(s: Survival, bar: Bar, z: float, gravity: float, status: str) -> str:
    """The first of the bar's conditions that does not hold, as text; "" when all hold."""
    if status == "diverged":
        return "the simulation diverged"
    if s.fall.fell:
        return f"fell at {s.fall.time:.2f} s: {s.fall.reason}"
    for name, value, limit, unit, words in (
        ("foot", 100 * s.foot, 100 * bar.foot, "cm", "a foot moved"),
        ("speed", s.speed, bar.speed * math.sqrt(gravity * z), "m/s", "still moving at"),
        ("com", 100 * s.com, 100 * bar.com * z, "cm", "the CoM is off by"),
        ("pose", s.pose, bar.pose, "rad rms", "the joints are off by"),
        ("wobble", s.wobble, bar.wobble, "of the way to the edge", "a second wobble of"),
    ):
        if value > limit:
            return f"{words} {value:.2f} {unit} (at most {limit:.2f}: {name})"
    return ""


def unit_vector(direction: float) -> tuple[float, float]:
    """Returns the horizontal unit vector of a direction [deg], from forward, counter-clockwise."""
    return math.cos(math.radians(direction)), math.sin(math.radians(direction))
