"""One judgement of a candidate: all measures at four times its knots, faults by name, and where knots would help."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.spacetime.optimize.judge.faults import MotionFault
from counterpoise.spacetime.optimize.judge.physics import physics_measures, strength_measures
from counterpoise.spacetime.optimize.judge.samples import Samples, sample_candidate
from counterpoise.spacetime.optimize.judge.shapes import (
    contact_measures,
    ground_measures,
    limit_measures,
    overlap_measures,
    sunk_spheres,
    wish_measures,
)
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.spheres import BodySphere
from counterpoise.spacetime.optimize.starting_point import Instant

SHORTEST_INTERVAL = 0.004  # [s] knots are not put nearer than this
MOST_PARTS = 4  # into which one interval is cut in one round
SAFETY = 1.2  # factor on an excess: errors between knots fall with the square of their distance


@dataclass(frozen=True, eq=False)
class Judged:
    """What was found of a candidate between its knots."""

    faults: tuple[MotionFault, ...]  # worst first, in units of what is allowed
    places: tuple[Instant, ...]  # where more knots would help
    excess: float  # the largest of what more knots could make better, in units of what is allowed
    sunk: tuple[BodySphere, ...] = ()  # spheres that are only drawn, found in the ground


def judge_candidate(problem: MotionProblem, x: Array, thorough: bool = True) -> Judged:
    """Judges a candidate at four times its knots: physics, strength, ground, overlap, limits, contacts, wishes.

    One that is not `thorough` leaves out strength and overlap, which take most of its time.
    """
    s = sample_candidate(problem, x)
    measures, best = physics_measures(s)
    if thorough:
        measures += [*strength_measures(s, best), *overlap_measures(s)]
    measures += [*ground_measures(s), *limit_measures(s), *contact_measures(s), *wish_measures(s)]
    faults = [f for m in measures if (f := m.fault(s.times)) is not None]
    faults.sort(key=lambda f: -f.size / f.allowed)
    excess = np.zeros(s.count)
    for m in measures:
        if m.mends:
            excess = np.maximum(excess, m.sizes / m.allowed)
    return Judged(tuple(faults), _places(s, excess), float(excess.max(initial=0.0)), sunk_spheres(s))


def _places(s: Samples, excess: Array) -> tuple[Instant, ...]:
    """The middles (thirds, quarters) of the intervals between knots in which something is not as allowed."""
    f, moments = s.start.frames, s.layout.times(s.x)
    out: list[Instant] = []
    for p in s.problem.timeline.phases:
        on = np.flatnonzero(f.phase[: s.count] == p.index)
        length = moments[p.index + 1] - moments[p.index]
        for a, b in zip(p.breaks[:-1], p.breaks[1:], strict=True):
            inside = on[(f.s[on] >= a) & (f.s[on] <= b)]
            worst = float(excess[inside].max(initial=0.0))
            if worst <= 1.0:
                continue
            parts = int(np.clip(np.ceil(np.sqrt(SAFETY * worst)), 2, MOST_PARTS))
            parts = min(parts, int((b - a) * length / SHORTEST_INTERVAL))
            out += [(p.index, float(a + k / parts * (b - a))) for k in range(1, parts)]
    return tuple(out)
