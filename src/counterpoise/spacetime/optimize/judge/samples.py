"""A candidate looked at more often than at its knots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array
from counterpoise.spacetime.optimize.build import evaluation_of
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.layout import Layout, lay_out
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.refine import carried_over
from counterpoise.spacetime.optimize.starting_point import Instant, StartingPoint, with_finer_knots

DENSITY = 4  # samples for every knot


@dataclass(frozen=True, eq=False)
class Samples:
    """The same motion with knots at all samples; contact forces lie on straight lines between those of the knots."""

    problem: MotionProblem
    start: StartingPoint
    evaluation: MotionEvaluation
    layout: Layout
    x: Array
    times: Array  # (n,) [s]

    @property
    def count(self) -> int:
        return self.start.frames.knots

    @cached_property
    def holds(self) -> list[HoldForces]:
        """The contacts' forces at the samples."""
        return [HoldForces(self.evaluation, self.layout, h, i, self.times) for i, h in enumerate(self.start.holds)]


def sample_candidate(problem: MotionProblem, x: Array) -> Samples:
    """Returns a candidate at DENSITY times its knots."""
    places: list[Instant] = []
    for p in problem.timeline.phases:
        for k in range(1, DENSITY):
            places += [(p.index, float(s)) for s in p.breaks[:-1] + k / DENSITY * np.diff(p.breaks)]
    start = with_finer_knots(problem.basis, places)
    layout = lay_out(start.character, start.timeline, start.holds, start.frames, 0)
    y = carried_over(problem.basis, problem.layout, x, start, layout, np.zeros(layout.size))
    evaluation = evaluation_of(start)
    moments, f = layout.times(y), start.frames
    evaluation.update(y[: layout.curve].reshape(-1, layout.nv), moments)
    times = moments[f.phase] + f.s * np.diff(moments)[f.phase]
    return Samples(problem, start, evaluation, layout, y, times[: f.knots])
