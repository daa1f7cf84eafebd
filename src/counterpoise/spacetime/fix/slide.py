"""A motion whose feet all slide over the ground at one constant velocity: it is brought to rest as a whole.

No foot stands in such a clip, so none would be planted one by one without being moved far. Seen from a ground that
moves along, the same feet stand still, and forces are the same: taking the velocity away costs nothing but the path.
So it is taken away where feet are at that velocity far more often than at rest.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import REFERENCE_LEG, foot_markers, leg_length, marker_paths
from counterpoise.spacetime.fix.tuning import FixTuning

MIN_LOAD = 0.2  # [body weights] a body that needs less is in the air
LOW = 0.03  # [m] above the height at which a part of a foot is lowest, for legs of 0.9 m
LOWEST_SHARE = 0.1  # of the frames, in which a part of a foot is at its lowest
BAND = 0.04  # [m/s] velocities nearer to each other than this are the same
SLOWEST = 0.06  # [m/s] a slower slide is planted foot by foot
MIN_ADVANTAGE = 5.0  # times as often as at rest must feet be at the slide's velocity
MIN_SHARE = 0.05  # of the frames in which some foot is at that velocity, ...
PIECES = 3  # ... in each of so many equal parts of the clip
MOST_CANDIDATES = 400  # velocities that are compared


def find_slide(character: Character, times: Array, poses: Array, load: Array, tuning: FixTuning) -> Array:
    """Returns the horizontal velocity (2,) at which all feet slide [m/s]; zeros where they do not.

    `load` (n,) is the upward force that each frame needs [body weights].
    """
    none = np.zeros(2)
    at = anatomy_of(character)
    markers = foot_markers(at)
    if tuning.plant_reach <= 0.0 or not markers or len(times) < PIECES:
        return none
    size = leg_length(at) / REFERENCE_LEG
    paths = marker_paths(markers, *body_frames(character, poses))
    lowest = np.quantile(paths[:, :, 2], LOWEST_SHARE, axis=0)
    low = (paths[:, :, 2] < lowest + LOW * size) & (load >= MIN_LOAD)[:, None]
    velocities = np.gradient(paths[:, :, :2], times, axis=0)
    low &= np.linalg.norm(velocities, axis=-1) < tuning.slow * size
    seen = velocities[low]
    if not len(seen):
        return none
    tried = seen[:: -(-len(seen) // MOST_CANDIDATES)]
    often = np.array([_often(seen, u, size) for u in tried])
    best = tried[int(often.argmax())]
    best = seen[np.linalg.norm(seen - best, axis=1) < BAND * size].mean(axis=0)
    if np.linalg.norm(best) < SLOWEST * size or _often(seen, best, size) < MIN_ADVANTAGE * _often(seen, none, size):
        return none
    with_it = (low & (np.linalg.norm(velocities - best, axis=-1) < BAND * size)).any(axis=1)
    lasts = all(part.mean() >= MIN_SHARE for part in np.array_split(with_it, PIECES))
    return np.asarray(best) if lasts else none


def _often(velocities: Array, about: Array, size: float) -> float:
    """Returns how often velocities (m, 2) are near one: 1 if all are the same."""
    off = np.linalg.norm(velocities - about, axis=1) / (BAND * size)
    return float(np.mean(np.exp(-0.5 * off**2)))
