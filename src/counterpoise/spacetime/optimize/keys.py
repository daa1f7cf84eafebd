"""Keys brought inside the limits and onto the contacts they stand on, and as coordinates of the curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.poses import layout_of
from counterpoise.solve.polygon import hull_edges
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.guess import bring_on, hold_rows, place_of
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.moments import Timeline, seconds
from counterpoise.spacetime.optimize.request import Key

IMPOSSIBLE_KEY_WEIGHT = 1e3  # weight of a key that cannot be exact and becomes a cost
NOTED_CHANGE = 1e-4  # [rad, m] of a key from which the change is noted
NOTED_SPEED_CHANGE = 1e-2  # [rad/s, m/s] likewise of its velocity
SAME_PLACE = 1e-3  # [m] within which two keys have a contact at the same place
ON_CONTACT = 1e-6  # [m, rad] error with which a key stands on its contacts
NOTED_LEAN = 0.02  # [m] of the centre of mass beside the support of a key at rest
NOTED_EXCESS = 1e-3  # [rad] beyond a joint's limits from which it is a conflict


def settle_keys(
    character: Character, keys: Sequence[Key], timeline: Timeline, holds: Sequence[Hold]
) -> tuple[tuple[Key, ...], tuple[str, ...], tuple[str, ...]]:
    """Returns exact keys inside the limits and on the contacts they stand on, with the least change; notes; conflicts.

    Where that is impossible the key changes: joints go to their limits, and a pose whose foot is held elsewhere becomes
    a cost.
    """
    done: list[Key] = []
    notes: list[str] = []
    conflicts: list[str] = []
    for key in keys:
        done.append(_settled(character, key, timeline, holds, done, notes, conflicts))
    return tuple(done), tuple(notes), tuple(conflicts)


def _settled(
    character: Character, key: Key, timeline: Timeline, holds: Sequence[Hold], before: list[Key], notes: list[str],
    conflicts: list[str],
) -> Key:  # fmt: skip
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
    if left > ON_CONTACT:
        where = ", ".join(h.label for h in active)
        conflicts.append(f"{key.label} cannot be brought onto {where}: {left:.3g} m or rad are missing")
        return replace(key, pose=asked, soft=IMPOSSIBLE_KEY_WEIGHT)
    key = replace(key, velocity=_along_contacts(character, key, pose, active, notes))
    if moved > NOTED_CHANGE:
        notes.append(f"{key.label} was moved by up to {moved:.3g} rad or m to stand on its contacts")
    for hold in active:
        here = place_of(character, hold, pose, seconds(key.time))
        for other in before:
            q, t = timeline.locate(other.time)
            if not other.whole or not (hold.first <= q < hold.last or (t == 0.0 and hold.last == q)):
                continue
            there = place_of(character, hold, np.asarray(other.pose, float), seconds(other.time))
            gap = float(np.abs(here[:3] - there[:3]).max())
            if gap > SAME_PLACE:
                conflicts.append(
                    f"{other.label} and {key.label} have {hold.label}, which is held from one to the other, "
                    f"{gap:.3g} m apart"
                )
                return replace(key, pose=pose, soft=IMPOSSIBLE_KEY_WEIGHT)
    return replace(key, pose=pose)


def notes_on_rest(
    character: Character, keys: Sequence[Key], timeline: Timeline, holds: Sequence[Hold]
) -> tuple[str, ...]:
    """Returns notes on keys at rest whose centre of mass is not above what carries them: nobody stands still so."""
    notes = []
    for key in keys:
        p, s = timeline.locate(key.time)
        carrying = [h for h in holds if h.first <= p < h.last or (s == 0.0 and h.last == p)]
        if not (key.rest and key.whole and carrying) or any(h.signed for h in carrying):
            continue
        here = character.snapshot(character.state(np.asarray(key.pose, float)))
        points = [
            here.body_position[b] + here.body_rotation[b] @ at
            for h in carrying
            for b, at in zip(h.force_bodies, h.force_points, strict=True)
        ]
        edges = hull_edges(np.ascontiguousarray(np.array(points)[:, :2]))
        outside = float((edges[:, :2] @ here.com[:2] - edges[:, 2]).max())
        if outside > NOTED_LEAN:
            on = ", ".join(h.touch.part for h in carrying)
            notes.append(
                f"{key.label} is at rest with its centre of mass {100.0 * outside:.0f} cm beside what carries it "
                f"({on}): add a contact there, or make the key soft"
            )
    return tuple(notes)


def _along_contacts(
    character: Character, key: Key, pose: Array, holds: Sequence[Hold], notes: list[str]
) -> Array | None:
    """Returns a key's velocity with the least change by which parts that are held do not move."""
    if key.velocity is None:
        return None
    v, still = np.asarray(key.velocity, float), [h for h in holds if h.still]
    if not still:
        return v
    time = seconds(key.time)
    _, J = hold_rows(character, pose, still, [place_of(character, h, pose, time) for h in still], time)
    change = -np.linalg.lstsq(J, J @ v, rcond=1e-9)[0]
    largest = float(np.abs(change).max(initial=0.0))
    if largest > NOTED_SPEED_CHANGE:
        notes.append(f"{key.label} was slowed by up to {largest:.3g} rad/s or m/s where its contacts hold it")
    return np.asarray(v + change)


def _inside_limits(character: Character, key: Key, pose: Array, conflicts: list[str]) -> Array:
    """Returns the pose with the joints a key names brought inside their limits; those far outside are conflicts."""
    inside = character.limits.clamp(pose)
    gap = character.difference(pose, inside)
    out = pose.copy()
    for joint in character.joints:
        if joint.kind == "free" or (key.only is not None and joint.name not in key.only):
            continue
        size = float(np.linalg.norm(gap[joint.dofs]))
        if size > NOTED_EXCESS:
            conflicts.append(f"{key.label} has {joint.name} outside its limits by {np.degrees(size):.1f} deg")
        if size > 0.0:
            out[joint.qpos] = inside[joint.qpos]
    return out


def key_target(character: Character, key: Key, e: MotionEvaluation, frame: int) -> tuple[Ints, Array]:
    """Returns the dofs a key names and their coordinates at its frame."""
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
    """Returns poses (n, nq) as the curve's coordinates (n, nv), rotations about those of `base` (n, rotations, 4)."""
    at = layout_of(character)
    out = np.zeros((len(poses), character.nv))
    out[:, at.vector_v] = poses[:, at.vector_q]
    out[:, at.rotation_v[:, None] + np.arange(3)] = spatial.difference(base, poses[:, at.quaternions])
    return out
