"""The three stages of a solve: a cautious search, the nearest exact motion, a stride downhill."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.spacetime.optimize.merit import CostMerit, NearMerit
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.run import Enough, Monitor, RunOutcome, run_solver
from counterpoise.spacetime.optimize.tuning import MotionTuning

SEARCH: dict[str, Any] = {
    "mu_strategy": "monotone", "bound_push": 0.05, "bound_frac": 0.05, "slack_bound_push": 0.05,
    "slack_bound_frac": 0.05,
}  # fmt: skip
SOFT_LIMITS: dict[str, Any] = {  # multipliers are small here: they start from zero
    "mu_strategy": "monotone", "mu_init": 1e-2, "bound_push": 1e-4, "bound_frac": 1e-4, "slack_bound_push": 1e-4,
    "slack_bound_frac": 1e-4, "constr_mult_init_max": 0.0,
}  # fmt: skip
HARD_LIMITS: dict[str, Any] = SOFT_LIMITS | {
    "mu_init": 1e-6, "bound_push": 1e-9, "bound_frac": 1e-9, "slack_bound_push": 1e-9, "slack_bound_frac": 1e-9,
}  # fmt: skip


class Stages:
    """The stages on one program. `worst` is the violation the last one left, as the solver saw it."""

    def __init__(self, program: MotionProgram, monitor: Monitor, tuning: MotionTuning) -> None:
        self.program, self.monitor, self.tuning = program, monitor, tuning
        self.worst, self.status = np.inf, "solved"

    def cost(self, x: Array) -> float:
        """Returns the cost of a candidate."""
        return CostMerit(self.program, 1.0).value(x)

    def search(self, x: Array, options: Mapping[str, Any]) -> Array:
        """Returns a good motion that is nearly possible. The barrier begins as strong as the cost is large."""
        t, merit = self.tuning, CostMerit(self.program, self.tuning.search_curvature)
        barrier = float(np.clip(merit.value(x) / t.cost_per_barrier, *t.barrier_range))
        how = {**SEARCH, "max_iter": t.search_iterations, "mu_init": barrier, **options}

        def enough(violations: list[float]) -> bool:
            earlier = violations[: -t.hopeless_after]
            hopeless = bool(earlier) and violations[-1] > 0.9 * min(earlier)
            return hopeless or (len(violations) > t.least_iterations and max(violations[-2:]) < t.near_enough)

        return self._run(merit, x, how, enough)

    def exact(self, x: Array) -> Array:
        """Returns the nearest motion to x that holds every row: with soft limits first where x is far, then hard."""
        t = self.tuning
        self.worst = self.program.worst(x)
        if self.worst > t.soft_above:
            x = self._nearest(x, SOFT_LIMITS, t.soft_until)
        if not self.monitor.stopped and self.worst < t.near_enough:
            x = self._nearest(x, HARD_LIMITS, 0.3 * t.tolerance)
        return x

    def downhill(self, x: Array, share: float) -> Array:
        """Returns a motion a share of the way to the cost's unconstrained optimum, nearly exact."""
        slope = CostMerit(self.program, 1.0).gradient(x)
        return self._stride(x, share * slope, self.tuning.stride_iterations, self.tuning.stride_curvature)

    def follow(self, x: Array, slope: Array) -> Array:
        """Returns where a change of the cost's slope pushes x, nearly exact."""
        return self._stride(x, slope, self.tuning.follow_iterations, self.tuning.follow_curvature)

    def _nearest(self, x: Array, options: Mapping[str, Any], aim: float) -> Array:
        merit = NearMerit(self.program, x, self.tuning.exact_curvature)
        how = {**options, "max_iter": self.tuning.exact_iterations}
        return self._run(merit, x, how, lambda violations: violations[-1] < aim, self.tuning.rows_within)

    def _stride(self, x: Array, slope: Array, iterations: int, curvature: float) -> Array:
        merit = NearMerit(self.program, x, curvature, slope)
        how = {**SOFT_LIMITS, "max_iter": self.tuning.exact_iterations}
        self._run(merit, x, how, lambda violations: len(violations) > iterations, self.tuning.rows_within)
        return self._last.last

    def _run(
        self, merit: CostMerit | NearMerit, x: Array, options: Mapping[str, Any], enough: Enough,
        within: float | None = None,
    ) -> Array:  # fmt: skip
        found: RunOutcome = run_solver(
            self.program, merit, self.monitor, x, options, enough, self.tuning.tolerance, within
        )
        self._last, self.worst, self.status = found, found.violation, found.status
        return found.x
