"""Crouches: the poses in which a figure stands lower and lower, feet where they are, found once for each body."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.motion.planting import Plant, foot_points, planted
from counterpoise.motion.references import reference_motion

LEVELS = 11
DEEPEST = 0.5  # of the standing height of the root: no crouch is deeper


def crouches(character: Character) -> tuple[Array, Array]:
    """Heights of the CoM above the soles, falling (n,), and the poses (n, nq): from standing to as low as joints allow.

    The way down is that of the reference squat, and on from its bottom in the same direction; feet stay, and the CoM
    stays above where it was.
    """
    found: tuple[Array, Array] | None = character.__dict__.get("_crouches")
    if found is None:
        found = character.__dict__["_crouches"] = _find(character)
    return found


def crouched(character: Character, height: float) -> Array:
    """The pose whose CoM is `height` above the soles, or the nearest there is."""
    heights, poses = crouches(character)
    k = int(np.clip(np.searchsorted(-heights, -height), 1, len(heights) - 1))
    share = (heights[k - 1] - height) / max(heights[k - 1] - heights[k], 1e-9)
    between = character.difference(poses[k - 1], poses[k])
    return character.integrate(poses[k - 1], min(max(share, 0.0), 1.0) * between)


def _find(character: Character) -> tuple[Array, Array]:
    q = character.neutral
    now = BatchKinematics(character, q[None])
    places, com, root = foot_points(now, character.feet), now.com[0], float(now.position(character.root)[0, 2])
    sole = float(places[:, 2].min())
    squat = reference_motion("squat", character)
    times = np.linspace(squat.start, squat.end, 61)
    low = min((squat.sample(t).q for t in times), key=lambda pose: float(pose[2]))
    way, depth = character.difference(q, low), 1.0 - _height(character, low, sole) / (root - sole)
    posture = np.ones(character.nv)
    posture[character.root_dofs] = 0.05
    heights, poses, start = [float(com[2]) - sole], [q.copy()], q
    for share in np.linspace(1.0, DEEPEST, LEVELS)[1:]:
        wanted = character.integrate(q, way * (1.0 - share) / max(depth, 1e-3))
        wanted[:3] = start[:3]
        keep = Plant(character.feet, places, com[:2], sole + share * (root - sole))
        start = planted(character, character.limits.clamp(wanted), keep, posture, steps=40)
        now = BatchKinematics(character, start[None])
        missed = np.abs(foot_points(now, character.feet) - places).max()
        height = float(now.com[0, 2]) - sole
        if missed > 0.01 or height > heights[-1] - 1e-3 or np.abs(now.com[0, :2] - com[:2]).max() > 0.03:
            break
        heights.append(height)
        poses.append(start)
    return np.array(heights), np.array(poses)


def _height(character: Character, pose: Array, sole: float) -> float:
    return float(BatchKinematics(character, pose[None]).position(character.root)[0, 2]) - sole
