"""References: what a standing controller follows. A pose or a motion becomes, at each time, the pose, the CoM and feet.

`prepare_reference` goes through a reference once, before the first tick: it refuses what cannot be stood and finds the
CoM's path and the feet that the motion lifts. A reference whose CoM path is also corrected is in `rehearsal.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.track import follow, point_path
from counterpoise.control.feet import (
    Grounds,
    check_on_ground,
    foot_heights,
    grounds_of_feet,
    names_of_feet,
    points_of_feet,
    remove_short_spells,
    toe_points,
)
from counterpoise.errors import BadValue
from counterpoise.motion.curves import VectorCurve
from counterpoise.motion.motion import Motion
from counterpoise.objectives.footing import Ground
from counterpoise.objectives.posture import no_velocity

GRID_RATE = 100.0  # [Hz] at which the feet of a motion are examined
LIFT_HEIGHT = 0.012  # [body heights] a foot of the reference this far above the lowest is lifted
SHORTEST_LIFT = 0.08  # [s] shorter lifts and touch-downs are ignored
WITHDRAW_TIME = 0.08  # [s] before the reference lifts a foot, the foot stops bearing


@dataclass(frozen=True, eq=False)
class ContactPattern:
    """Which contact points a reference uses. The same object stands for the same pattern, tick after tick."""

    lifted: tuple[str, ...]  # feet that are off the ground as a whole
    raised: Flags  # (p,) points that do not bear: of lifted feet, and of raised heels and balls
    loose: Flags  # (p,) points that may bear and do not keep their place

    @cached_property
    def raises(self) -> bool:
        """Whether any point is raised."""
        return bool(self.raised.any())


@dataclass(frozen=True, eq=False)
class ReferenceSample:
    """What a reference asks for at one time."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    a: Array  # (nv,)
    com: Array  # (3,) [m]
    com_velocity: Array  # (3,)
    com_acceleration: Array  # (3,)
    points: Array  # (p, 3) [m] the contact points of the pose
    lifted: tuple[str, ...]  # feet that do not bear
    momentum: Array  # (3,) angular, about the CoM; zero where the reference was not rehearsed
    momentum_rate: Array  # (3,)
    contact: ContactPattern
    snapshot: Snapshot | None  # of the pose, where it is known: always of a pose, of a motion while a foot is lifted


@dataclass(frozen=True, eq=False)
class PoseReference:
    """A pose to keep."""

    character: Character
    given: ArrayLike | Motion | None  # as the user gave it
    sample: ReferenceSample

    def at(self, time: float) -> ReferenceSample:
        return self.sample


@dataclass(frozen=True, eq=False)
class MotionReference:
    """A motion to follow, with its own CoM path."""

    character: Character
    given: Motion  # as the user gave it
    times: Array  # (n,) [s]
    com: VectorCurve
    points: Array  # (n, p, 3) [m]
    lifted: Flags  # (n, feet)

    def at(self, time: float) -> ReferenceSample:
        """Returns what is asked for at a time. A motion holds its first and last pose; a loop repeats."""
        motion = self.given
        sample = motion.sample(time)
        if motion.loop:
            time = motion.start + (time - motion.start) % motion.duration
        inside = motion.start <= time <= motion.end
        com = self.com(min(max(time, motion.start), motion.end))
        row, ahead = self._row(time), self._row(time + WITHDRAW_TIME)
        lifted: Flags = np.logical_or.reduce(self.lifted[row : ahead + 1])
        if lifted.all():  # no foot would bear until the next one comes down: those that stand now still do
            lifted = self.lifted[row]
        names = names_of_feet(self.character, lifted)
        return ReferenceSample(
            sample.q, sample.v, sample.a, com.value, com.velocity if inside else _REST,
            com.acceleration if inside else _REST, self.points[row], names, _REST, _REST,
            whole_feet(self.character, names), None,
        )  # fmt: skip

    def _row(self, time: float) -> int:
        return int(np.clip(np.searchsorted(self.times, time + 1e-9) - 1, 0, len(self.times) - 1))


def prepare_reference(
    character: Character,
    given: ArrayLike | Motion | None,
    ground: Ground | Mapping[str, Ground],
    controller: str,
) -> PoseReference | MotionReference:
    """Returns a reference ready to be followed; raises BadValue, naming the controller, where it cannot be stood."""
    check_reference(character, given, controller)
    grounds = grounds_of_feet(character, ground)
    if not isinstance(given, Motion):
        q = character.neutral if given is None else character.check_pose(given, "reference")
        points = character.snapshot(character.state(q)).contact_position
        feet = names_of_feet(character, _lifted_feet(character, points[None], grounds)[0])
        return PoseReference(character, given, pose_sample(character, q, feet))
    if given.loop and given.travel:
        raise BadValue(
            f"{controller} stands in one place; this reference travels: use as_loop(travel=False) or slice(...)"
        )
    if len(given) == 1:
        still = prepare_reference(character, given.poses[0], ground, controller)
        assert isinstance(still, PoseReference)
        return replace(still, given=given)
    times = np.linspace(given.start, given.end, max(2, math.ceil(given.duration * GRID_RATE) + 1))
    track = follow(character, given.sample(times).q)
    paths = [point_path(character, track, point.body, point.position) for point in character.contact_points]
    points = np.stack(paths, axis=1)
    lifted = _lifted_feet(character, points, grounds)
    shortest = round(SHORTEST_LIFT * GRID_RATE)
    remove_short_spells(lifted, shortest)
    check_on_ground(given, times, lifted, shortest, controller)
    return MotionReference(character, given, times, VectorCurve(times, track.com), points, lifted)


def check_reference(character: Character, given: ArrayLike | Motion | None, controller: str) -> None:
    """Raises an error, naming the controller, unless the character can stand and the reference is one of its own."""
    character.need_feet(controller)
    if not character.floating:
        raise BadValue(
            f"{controller} is for characters that can fall; the root of {character.name!r} is fixed to the world; "
            "load_character(..., floating=True) sets it free"
        )
    if isinstance(given, Motion):
        if given.character is not character and given.character.joint_names != character.joint_names:
            raise BadValue(
                f"this reference is for {given.character.name!r}, whose joints differ from {character.name!r}'s: "
                "retarget(motion, character) makes one that fits"
            )
    elif given is not None:
        character.check_pose(given, "reference")


@kept_with_character
def whole_feet(character: Character, lifted: tuple[str, ...]) -> ContactPattern:
    """Returns the pattern of feet that stand or are lifted as a whole."""
    raised = points_of_feet(character, lifted)
    return ContactPattern(lifted, raised, toe_points(character) & ~raised)


def pose_sample(character: Character, q: Array, lifted: tuple[str, ...]) -> ReferenceSample:
    """Returns what a pose at rest asks for."""
    here, rest = character.snapshot(character.state(q)), no_velocity(character)
    return ReferenceSample(
        q, rest, rest, here.com, _REST, _REST, here.contact_position, lifted, _REST, _REST,
        whole_feet(character, lifted), here,
    )  # fmt: skip


def next_speed(speed: float, trouble: float, behind: float, catch_up: float, pace_time: float, dt: float) -> float:
    """Returns the speed of a reference's clock after `dt` [s], 1 being that of the motion.

    In trouble (0 to 1) the clock slows down. Out of trouble it makes up for the time [s] it is behind, at most
    `catch_up` faster than the motion. It approaches the speed that is wanted to 1/e in `pace_time` [s].
    """
    wanted = max(0.0, 1.0 - trouble) + (catch_up * min(max(behind, 0.0), 1.0) if trouble < 0.1 else 0.0)
    return speed + (wanted - speed) * (1.0 - math.exp(-dt / max(pace_time, 1e-6)))


def _lifted_feet(character: Character, points: Array, grounds: Grounds) -> Flags:
    """Returns (n, feet): which feet are off their ground, measured from the lowest foot of all times."""
    heights = foot_heights(character, points, grounds)
    lifted: Flags = heights - heights.min() > LIFT_HEIGHT * character.height
    return lifted


_REST = np.zeros(3)
