"""What a reference asks of a standing body at a time: its pose, its CoM, and which feet it stands on.

A motion's CoM path, contact points and lifted feet are found once and kept; asking is then cheap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.track import follow, point_path
from counterpoise.errors import BadValue
from counterpoise.motion.curves import VectorCurve
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Footing, Surface
from counterpoise.objectives.footing import Ground

GRID = 100.0  # [Hz] at which a motion's feet are looked at
LIFT = 0.012  # of the body's height: a foot of the reference that far off its ground is lifted
BRIEF = 0.08  # [s] a foot lifted or put down for less is not
SOON = 0.08  # [s] before the reference lifts a foot, it stops bearing
FALLEN = 0.45  # of the standing height of the CoM: below this a figure has fallen


@dataclass(frozen=True, eq=False)
class Wish:
    """What the reference asks for now."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    a: Array  # (nv,)
    com: Array  # (3,) [m]
    com_velocity: Array  # (3,)
    com_acceleration: Array  # (3,)
    points: Array  # (p, 3) [m] where the reference has its contact points
    lifted: tuple[str, ...]  # feet it does not stand on


@dataclass(frozen=True, eq=False)
class ReferencePlan:
    """A pose or a motion as a standing body needs it."""

    character: Character
    reference: ArrayLike | Motion | None
    still: Wish | None  # of a pose
    times: Array  # (n,) [s]
    com: VectorCurve | None
    points: Array  # (n, p, 3)
    lifted: Flags  # (n, feet)

    def at(self, time: float) -> Wish:
        """At a time of the simulation; a motion holds its ends, or wraps where it is a loop."""
        if self.still is not None:
            return self.still
        motion = self.reference
        assert isinstance(motion, Motion) and self.com is not None
        sample = motion.sample(time)
        if motion.loop:
            time = motion.start + (time - motion.start) % motion.duration
        inside = motion.start <= time <= motion.end
        place = self.com(min(max(time, motion.start), motion.end))
        row, ahead = self._row(time), self._row(time + SOON)
        lifted: Flags = np.logical_or.reduce(self.lifted[row : ahead + 1])
        if lifted.all():  # no foot to stand on until the next comes down: keep to those that stand now
            lifted = self.lifted[row]
        names = tuple(foot.name for foot, up in zip(self.character.feet, lifted, strict=True) if up)
        rest = np.zeros(3)
        return Wish(
            sample.q, sample.v, sample.a, place.value, place.velocity if inside else rest,
            place.acceleration if inside else rest, self.points[row], names,
        )  # fmt: skip

    def _row(self, time: float) -> int:
        return int(np.clip(np.searchsorted(self.times, time + 1e-9) - 1, 0, len(self.times) - 1))


def plan_reference(
    character: Character, reference: ArrayLike | Motion | None, footing: Footing, who: str
) -> ReferencePlan:
    """Look a reference over once; refuse what cannot be stood to, and say why. `who` names the controller."""
    character.need_feet(who)
    if not character.floating:
        raise BadValue(f"{who} is for figures that can fall; the root of {character.name!r} is fixed to the world")
    if not isinstance(reference, Motion):
        pose = character.neutral if reference is None else character.check_pose(reference, "reference")
        here = character.snapshot(character.state(pose))
        up = _lifted(character, here.contact_position[None], footing)[0]
        names = tuple(foot.name for foot, high in zip(character.feet, up, strict=True) if high)
        rest, none = np.zeros(3), np.zeros(character.nv)
        wish = Wish(pose, none, none, here.com, rest, rest, here.contact_position, names)
        return ReferencePlan(character, reference, wish, np.zeros(1), None, here.contact_position[None], up[None])
    if reference.character is not character and reference.character.joint_names != character.joint_names:
        raise BadValue(
            f"this reference is for {reference.character.name!r}, whose joints differ from {character.name!r}'s: "
            "retarget(motion, character) makes one that fits"
        )
    if reference.loop and reference.travel:
        raise BadValue(f"{who} stands where it is; this reference travels on: use as_loop(travel=False) or slice(...)")
    if len(reference) == 1:
        return replace(plan_reference(character, reference.poses[0], footing, who), reference=reference)
    count = max(2, int(np.ceil(reference.duration * GRID)) + 1)
    times = np.linspace(reference.start, reference.end, count)
    track = follow(character, reference.sample(times).q)
    places = [point_path(character, track, p.body, p.position) for p in character.contact_points]
    points = np.stack(places, axis=1)
    lifted = _lifted(character, points, footing)
    _brief_removed(lifted, max(1, round(BRIEF * GRID)))
    _check_support(reference, times, lifted, who)
    return ReferencePlan(character, reference, None, times, VectorCurve(times, track.com), points, lifted)


def _lifted(character: Character, points: Array, footing: Footing) -> Flags:
    """(n, feet): whether every point of a foot is off its surface; heights are above the lowest of all."""
    heights, at = [], 0
    for foot in character.feet:
        surface = _surface(footing, foot.name, foot.body)
        own = points[:, at : at + len(foot.points)] - np.asarray(surface.origin, float)
        heights.append((own @ surface.normal).min(axis=1))
        at += len(foot.points)
    height = np.stack(heights, axis=1)
    out: Flags = height - height.min() > LIFT * character.height
    return out


def _surface(footing: Footing, *names: str) -> Surface:
    given = footing.surface
    if isinstance(given, Surface) or callable(given):
        found: Ground = given
    else:
        found = next((given[name] for name in names if name in given), Surface())
    return found if isinstance(found, Surface) else found(0.0)


def _brief_removed(lifted: Flags, shortest: int) -> None:
    """Remove spells shorter than `shortest` rows between longer ones, foot by foot, in place."""
    for foot in range(lifted.shape[1]):
        column = lifted[:, foot]
        edges = np.flatnonzero(np.diff(column.astype(np.int8)))
        for start, end in pairwise(edges.tolist()):
            if end - start < shortest:
                column[start + 1 : end + 1] = column[start]


def _check_support(motion: Motion, times: Array, lifted: Flags, who: str) -> None:
    air = lifted.all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], air.astype(np.int8), [0]])))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if (end - start) / GRID > BRIEF:
            raise BadValue(
                f"the reference {motion.name or 'motion'!r} leaves the ground from {times[start]:.2f} to "
                f"{times[end - 1]:.2f} s, and {who} stands: slice(...) out a part with a foot on the ground",
                start=float(times[start]),
                end=float(times[end - 1]),
            )


def standing_height(character: Character) -> float:
    """Height of the CoM above the soles in the neutral pose [m]."""
    found = character.__dict__.get("_standing_height")
    if found is None:
        here = character.snapshot()
        found = max(float(here.com[2] - here.contact_position[:, 2].mean()), 1e-2 * character.height)
        character.__dict__["_standing_height"] = found
    return float(found)


def omega_squared(character: Character) -> float:
    """omega^2 = g / z of the standing body [1/s^2]; where there is no gravity, as on earth."""
    g = -float(character.model.opt.gravity[2])
    return (g if g > 0.0 else 9.81) / standing_height(character)


def bearing_points(character: Character, lifted: tuple[str, ...]) -> Flags:
    """(p,) contact points of the feet that bear; all of them where none does."""
    out = np.array([foot.name not in lifted for foot in character.feet for _ in foot.points], bool)
    return out if out.any() else ~out


def has_fallen(snapshot: Snapshot) -> bool:
    """Whether the CoM has come down to less than half its standing height above the lowest part of the body."""
    low = float(snapshot.body_position[1:, 2].min())
    low = min(low, float(snapshot.contact_position[:, 2].min()))
    return float(snapshot.com[2]) - low < FALLEN * standing_height(snapshot.character)


def limp(snapshot: Snapshot) -> Array:
    """Torques of a figure that has fallen: a little damping, nothing else."""
    who = snapshot.character
    return np.clip(-0.02 * who.torque_limit * snapshot.v, -who.torque_limit, who.torque_limit)


def arm_joints(character: Character) -> tuple[str, ...]:
    """Joints of limbs that end in a hand, carry no foot and weigh little: what a body can swing freely."""
    m = character.model
    hands = _chains(character, character.hands)
    legs = _chains(character, [foot.body for foot in character.feet])
    light = {b for b in hands - legs if float(m.body_subtreemass[b]) < 0.15 * character.mass}
    return tuple(j.name for j in character.joints if character.body_id(j.body) in light)


def leg_joints(character: Character) -> tuple[str, ...]:
    """Joints between the root and the feet, and those beyond: what a body stands with."""
    m, root = character.model, character.body_id(character.root)
    legs = _chains(character, [foot.body for foot in character.feet]) - _chains(character, [character.root])
    for b in range(1, m.nbody):
        if int(m.body_parentid[b]) in legs and int(m.body_parentid[b]) != root:
            legs.add(b)
    return tuple(j.name for j in character.joints if character.body_id(j.body) in legs)


def _chains(character: Character, ends: Sequence[str]) -> set[int]:
    """Bodies from the world to these."""
    found: set[int] = set()
    for name in ends:
        b = character.body_id(name)
        while b > 0:
            found.add(b)
            b = int(character.model.body_parentid[b])
    return found
