"""Crouches: poses in which a character stands lower and lower with its feet in place, found once."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.motion.planting import Plant, foot_points, planted
from counterpoise.motion.references import reference_motion

LEVELS = 11  # crouches that are tried, from standing to the deepest
DEEPEST = 0.5  # [standing heights of the root] no crouch is deeper
PLACE_WEIGHT = 0.05  # of the root's pose, against 1 of every joint
FOOT_TOLERANCE = 0.01  # [m] a crouch that moves a contact point farther is not used
COM_TOLERANCE = 0.03  # [m] nor one that moves the CoM farther over the ground
LEAST_STEP = 1e-3  # [m] nor one whose CoM is not this much lower than the one before


def crouched(character: Character, height: float) -> Array:
    """Returns the pose whose CoM is `height` [m] above the soles, or the nearest there is."""
    heights, poses = crouches(character)
    k = int(np.clip(np.searchsorted(-heights, -height), 1, len(heights) - 1))
    share = (heights[k - 1] - height) / max(heights[k - 1] - heights[k], 1e-9)
    between = character.difference(poses[k - 1], poses[k])
    return character.integrate(poses[k - 1], min(max(share, 0.0), 1.0) * between)


@kept_with_character
def crouches(character: Character) -> tuple[Array, Array]:
    """Returns heights of the CoM above the soles, falling (n,), and the poses (n, nq): from standing to the lowest.

    The way down is that of the reference squat, continued below its lowest pose in the same direction. The feet stay,
    and the CoM stays over the same place.
    """
    q = character.neutral
    now = BatchKinematics(character, q[None])
    places, com, root = foot_points(now, character.feet), now.com[0], float(now.position(character.root)[0, 2])
    sole = float(places[:, 2].min())
    squat = reference_motion("squat", character)
    times = np.linspace(squat.start, squat.end, 61)
    low = min((squat.sample(t).q for t in times), key=lambda pose: float(pose[2]))
    way, depth = character.difference(q, low), 1.0 - _height(character, low, sole) / (root - sole)
    posture = np.ones(character.nv)
    posture[character.root_dofs] = PLACE_WEIGHT
    heights, poses, start = [float(com[2]) - sole], [q.copy()], q
    for share in np.linspace(1.0, DEEPEST, LEVELS)[1:]:
        wanted = character.integrate(q, way * (1.0 - share) / max(depth, 1e-3))
        wanted[:3] = start[:3]
        keep = Plant(character.feet, places, com[:2], sole + share * (root - sole))
        start = planted(character, character.limits.clamp(wanted), keep, posture, steps=40)
        now = BatchKinematics(character, start[None])
        missed = np.abs(foot_points(now, character.feet) - places).max()
        height = float(now.com[0, 2]) - sole
        drift = np.abs(now.com[0, :2] - com[:2]).max()
        if missed > FOOT_TOLERANCE or height > heights[-1] - LEAST_STEP or drift > COM_TOLERANCE:
            break
        heights.append(height)
        poses.append(start)
    return np.array(heights), np.array(poses)


def _height(character: Character, pose: Array, sole: float) -> float:
    return float(BatchKinematics(character, pose[None]).position(character.root)[0, 2]) - sole
