"""Leaps of a capture: a few frames in which the body jumps as no body can. They are bridged by a smooth curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import body_frames
from counterpoise.motion import Motion
from counterpoise.motion.contacts import runs
from counterpoise.spacetime.fix.tuning import FixTuning

PERSON_HEIGHT = 1.7  # [m] the height for which `FixTuning.leap_jerk` is given
OUTLIER_FACTOR = 5.0  # a leap has at least so many times the 75th percentile of the motion's jerk
MIN_GAP = 0.15  # [s] leaps nearer than this are one: away and back
MARGIN_FRAMES = 2  # before and after a leap that are replaced as well
MIN_FRAMES = 8  # shorter motions are not searched


def find_leaps(motion: Motion, tuning: FixTuning) -> list[tuple[int, int]]:
    """Returns (first, one past the last) frame of every leap."""
    n = len(motion)
    if n < MIN_FRAMES:
        return []
    places, _ = body_frames(motion.character, motion.poses)
    third = np.diff(places[:, 1:], n=3, axis=0) * motion.rate**3
    jerk = np.zeros(n)
    jerk[1 : n - 2] = np.sqrt(np.mean(np.sum(third**2, axis=-1), axis=1))
    usual = OUTLIER_FACTOR * float(np.percentile(jerk, 75.0))
    wild = jerk > max(tuning.leap_jerk * motion.character.height / PERSON_HEIGHT, usual)
    found = [(max(first - MARGIN_FRAMES + 1, 0), min(last + MARGIN_FRAMES + 1, n)) for first, last in runs(wild)]
    merged: list[tuple[int, int]] = []
    for first, last in found:
        if merged and first - merged[-1][1] < MIN_GAP * motion.rate:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return [(first, last) for first, last in merged if last - first <= tuning.longest_leap * motion.rate]


def bridge_leaps(motion: Motion, leaps: Sequence[tuple[int, int]]) -> Array:
    """Returns poses (n, nq) in which a smooth curve through the frames around a leap replaces it."""
    good = np.ones(len(motion), dtype=bool)
    for first, last in leaps:
        good[max(first, 1) : min(last, len(motion) - 1)] = False
    if good.all():
        return np.array(motion.poses)
    kept = replace(motion, times=motion.times[good], poses=motion.poses[good], loop=False, travel=False)
    poses = np.array(motion.poses)
    poses[~good] = kept.sample(motion.times[~good]).q
    return poses
