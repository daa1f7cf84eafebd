"""Two stances of a foot shortly after each other: one stance, or a step between them. Nothing in between slides.

Contacts are found one by one. Where a foot creeps, they leave a short gap between two places that are a few
centimetres apart, and a foot that is low all the way would slide, or leap, from one to the other. If one place would
do for both, they become one stance. If not, there is a step: the gap becomes as long as a step needs, and the foot is
lifted in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.motion.contacts import runs
from counterpoise.motion.retarget.foot_plan import FootPlan
from counterpoise.motion.retarget.soles import Sole
from counterpoise.spacetime.fix.tuning import FixTuning

FARTHEST = 2.5  # times `FixTuning.plant_reach`: as far from its place may a foot be for a moment
LONGEST_SHUFFLE = 0.35  # [s] a longer gap between two stances is a swing
STEP_HEIGHT = 0.03  # [m] by which a foot is lifted in the middle of a step, for legs of 0.9 m


def plant_cost(path: Array) -> float:
    """Returns how far a foot on this path (n, 3) has to be moved to stand at one place: rms [m].

    A single frame may be `FARTHEST` times as far: that is a foot as it arrives or leaves.
    """
    off = np.linalg.norm(path - np.median(path, axis=0), axis=1)
    return max(float(np.sqrt(np.mean(off**2))), float(off.max()) / FARTHEST)


def join_or_step(
    times: Array, heel: Flags, ball: Flags, low: Flags, place: Array, reach: float, tuning: FixTuning
) -> tuple[Flags, Flags]:
    """Returns when heel and ball stand, with no gap between two stances that is too short for a step.

    `low` (n,) is when the foot is near the ground, `place` (n, 3) where it would stand, `reach` [m] how far it may be
    moved to stand at one place.
    """
    heel, ball = heel.copy(), ball.copy()
    step = float(np.median(np.diff(times)))
    longest, needed = round(LONGEST_SHUFFLE / step), max(2, round(tuning.step_time / step))
    stances = runs(heel | ball)
    for (first, end), (begin, last) in pairwise(stances):
        if begin - end > longest or not low[end:begin].all():
            continue
        while first > 0 and (heel | ball)[first - 1]:  # joined with the stance before
            first -= 1
        if plant_cost(place[first:last]) <= reach:
            for part in (heel, ball):
                both = bool(part[end - 1] and part[begin])
                alone = not (heel[end - 1] and heel[begin]) and not (ball[end - 1] and ball[begin])
                part[end:begin] = both or (alone and bool(part[end - 1] or part[begin]))
        elif begin - end < needed:
            more = needed - (begin - end)
            before = max(0, min(more // 2, end - first - 2))
            after = max(0, min(more - before, last - begin - 2))
            for part in (heel, ball):
                part[end - before : begin + after] = False
    return heel, ball


def lifted_steps(
    plan: FootPlan, soles: Sequence[Sole], stands: Sequence[tuple[Flags, Flags]], times: Array, size: float
) -> Array:
    """Returns the places (n, points, 3) of a plan with feet lifted in short gaps between two stances."""
    places, column = plan.places.copy(), 0
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    for sole, (heel, ball) in zip(soles, stands, strict=True):
        points = slice(column, column + len(sole.bodies))
        column = points.stop
        stances = runs(heel | ball)
        for (_, end), (begin, _) in pairwise(stances):
            if not 2 <= begin - end <= round(LONGEST_SHUFFLE / step):
                continue
            share = np.sin(np.pi * (np.arange(begin - end) + 1.0) / (begin - end + 1.0)) ** 2
            height = places[end:begin, points, 2].min(axis=1)
            places[end:begin, points, 2] += np.maximum(STEP_HEIGHT * size * share - height, 0.0)[:, None]
    return places
