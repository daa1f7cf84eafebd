"""Keys made fit: inside the limits, on the contacts they stand on, and as coordinates of the curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.optimize.asks import Key
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.guess import bring_on, place_of
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.moments import Timeline, seconds

GIVEN_UP = 1e3  # weight of a key that could not be exact


def settled(
    character: Character, key: Key, timeline: Timeline, holds: list[Hold], before: list[Key], notes: list[str],
    conflicts: list[str],
) -> Key:  # fmt: skip
    """An exact key inside the limits and, if it is a whole pose, on the contacts it stands on, with the least change.

    What cannot be is said in `conflicts`, and the key gives way: its joints to their limits, a pose whose foot is held
    elsewhere to a wish.
    """
    if key.soft is not None:
        return key
    pose = np.asarray(key.pose, float)
    pose = _inside_limits(character, key, pose, conflicts)
    if not key.whole:
        return replace(key, pose=pose)
    p, s = timeline.locate(key.time)
    active = [h for h in holds if h.first <= p < h.last or (s == 0.0 and h.last == p)]
    asked = pose
    pose, moved, left = bring_on(character, pose, active, seconds(key.time))
    inside = character.limits.clamp(pose)
    if np.abs(character.difference(pose, inside)).max(initial=0.0) > 1e-9:
        pose, moved, left = bring_on(character, inside, active, seconds(key.time))
    if left > 1e-6:
        where = ", ".join(h.label for h in active)
        conflicts.append(f"{key.label} cannot be brought onto {where}: {left:.3g} m or rad are missing")
        return replace(key, pose=asked, soft=GIVEN_UP)
    if moved > 1e-4:
        notes.append(f"{key.label} was moved by up to {moved:.3g} rad or m to stand on its contacts")
    for hold in active:
        here = place_of(character, hold, pose, seconds(key.time))
        for other in before:
            q, t = timeline.locate(other.time)
            if not other.whole or not (hold.first <= q < hold.last or (t == 0.0 and hold.last == q)):
                continue
            there = place_of(character, hold, np.asarray(other.pose, float), seconds(other.time))
            gap = float(np.abs(here[:3] - there[:3]).max())
            if gap > 1e-3:
                conflicts.append(
                    f"{other.label} and {key.label} have {hold.label}, which is held from one to the other, "
                    f"{gap:.3g} m apart"
                )
                return replace(key, pose=pose, soft=GIVEN_UP)
    return replace(key, pose=pose)


def _inside_limits(character: Character, key: Key, pose: Array, conflicts: list[str]) -> Array:
    """The pose with the joints a key speaks of brought inside their limits; which were outside is said."""
    inside = character.limits.clamp(pose)
    gap = character.difference(pose, inside)
    out = pose.copy()
    for joint in character.joints:
        if joint.kind == "free" or (key.only is not None and joint.name not in key.only):
            continue
        size = float(np.linalg.norm(gap[joint.dofs]))
        if size > 1e-3:
            conflicts.append(f"{key.label} has {joint.name} outside its limits by {np.degrees(size):.1f} deg")
        if size > 0.0:
            out[joint.qpos] = inside[joint.qpos]
    return out


def key_target(character: Character, key: Key, e: Evaluation, frame: int) -> tuple[Ints, Array]:
    """Degrees of freedom a key speaks of and their coordinates there."""
    target = coordinates(character, e.base.quaternion[[frame]], np.asarray(key.pose, float)[None])[0]
    used = np.zeros(character.nv, bool)
    for joint in character.joints:
        if key.only is not None and joint.name not in key.only:
            continue
        if joint.kind == "free" and not key.root:
            continue
        used[joint.dofs] = True
    return np.flatnonzero(used).astype(np.int64), target[used]


def coordinates(character: Character, base: Array, poses: Array) -> Array:
    """Poses (n, nq) as the curve's coordinates (n, nv), rotations about those of `base` (n, rotations, 4)."""
    at = layout_of(character)
    out = np.zeros((len(poses), character.nv))
    out[:, at.vector_v] = poses[:, at.vector_q]
    out[:, at.rotation_v[:, None] + np.arange(3)] = spatial.difference(base, poses[:, at.quaternions])
    return out
