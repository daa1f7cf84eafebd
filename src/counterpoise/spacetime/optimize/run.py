"""One run of the solver on a program, with progress reports; the best candidate is kept."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.motion.motion import Motion
from counterpoise.progress import Progress, Reporter
from counterpoise.solve.nonlinear import NonlinearProgram, solve_nonlinear
from counterpoise.spacetime.optimize.curve import curve_of
from counterpoise.spacetime.optimize.merit import Merit
from counterpoise.spacetime.optimize.program import MotionProgram

OPTIONS: dict[str, Any] = {
    "print_level": 0, "sb": "yes", "tol": 1e-4, "constr_viol_tol": 1e-8, "dual_inf_tol": 1e3, "compl_inf_tol": 1e-3,
    "acceptable_iter": 0, "bound_relax_factor": 1e-9, "fixed_variable_treatment": "make_parameter",
    "nlp_scaling_method": "none", "honor_original_bounds": "yes", "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 0,  # approximate minimum degree: the fastest ordering on our motions
}  # fmt: skip
MISSED_ROW_FACTOR = 2.0  # rows left out matter when they are violated by more than this times the worst of the others
SHARE_TOLERANCE = 1e-6  # violation at which the reported share is 1
BETTER_SHARE = 0.5  # the best candidate seen is taken where its violation is below this share of the last one's

Enough: TypeAlias = Callable[[list[float]], bool]  # violations of all iterations so far -> whether to end the run


@dataclass(frozen=True)
class OptimizeProgress(Progress):
    """One iteration of the optimiser. The share counts orders of magnitude from the first violation to tolerance."""

    iteration: int = 0
    objective: float = 0.0
    violation: float = 0.0  # the largest, scaled
    worst: str = ""  # the constraint that has it
    seconds: float = 0.0
    exact: bool = False  # whether a good motion is found and is now being made exact
    motion: Callable[[], Motion] = field(repr=False, default=lambda: None)  # type: ignore[assignment]


@dataclass(eq=False)
class Monitor:
    """What goes on over all runs of one solve: time, iterations, who watches."""

    reporter: Reporter
    began: float = field(default_factory=clock.perf_counter)
    iterations: int = 0
    first_violation: float = 0.0
    share: float = 0.0  # of the way that was reported
    last: OptimizeProgress | None = None  # the last report

    @property
    def stopped(self) -> bool:
        return self.reporter.stopped

    @property
    def seconds(self) -> float:
        return clock.perf_counter() - self.began

    def report(self, program: MotionProgram, x: Array, exact: bool) -> None:
        """Counts an iteration and shows it to whoever watches and may stop the solve."""
        self.iterations += 1
        if not self.reporter.watched:
            return
        off, problem = program.violation(x), program.problem
        violation, worst = float(off.max(initial=0.0)), program.worst_block(off)
        self.share = max(self.share, self._share(violation))
        message = f"iteration {self.iterations}, worst violation {violation:.0e} {worst}"
        self.last = OptimizeProgress(
            "making exact" if exact else "optimising", self.share, message, self.iterations,
            problem.cost.value(problem.evaluation, x), violation, worst, self.seconds, exact,
            lambda: curve_of(problem, x).motion(),
        )  # fmt: skip
        self.reporter(self.last)

    def again(self) -> None:
        """Shows the last report again between two stages, so that the solve is stopped there, too."""
        if self.last is not None and not self.stopped:
            self.reporter(self.last)

    def _share(self, violation: float) -> float:
        """Returns how much of the way to the tolerance is done, in orders of magnitude."""
        self.first_violation = max(self.first_violation, violation, 10.0 * SHARE_TOLERANCE)
        way = np.log10(self.first_violation / SHARE_TOLERANCE)
        return float(np.clip(np.log10(self.first_violation / max(violation, SHARE_TOLERANCE)) / way, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """Where a run ended."""

    x: Array
    status: str
    violation: float  # of the last iteration, as the solver saw it
    last: Array  # the last iterate


def run_solver(
    program: MotionProgram, merit: Merit, monitor: Monitor, x: Array, options: Mapping[str, Any], enough: Enough,
    tolerance: float, within: float | None = None,
) -> RunOutcome:  # fmt: skip
    """Runs the solver from x until it converges or `enough` says so. Returns the best candidate it saw.

    Rows further than `within` from their bounds are left out at first; where one turns out to matter, all are in.
    """
    problem, fold = program.problem, program.fold
    rows, pattern, gather = program.used, program.jacobian_pattern, program.jacobian_gather
    if within is not None:
        values = program.values(x)[rows]
        seen = (program.low[rows] > values - within) | (program.high[rows] < values + within)
        entries = np.flatnonzero(seen[pattern[0]])
        pattern = ((np.cumsum(seen) - 1)[pattern[0][entries]], pattern[1][entries])
        rows, gather = rows[seen], gather[entries]
    state = _State(x)
    low, high = fold.bounds(problem.low, problem.high)

    def gradient(z: Array) -> Array:
        state.last = fold.wide(z)  # the solver asks for gradients at accepted iterates
        return np.asarray(fold.part.T @ merit.gradient(state.last))

    def watch(objective: float, violation: float) -> bool:
        state.saw(violation)
        monitor.report(program, state.last, merit.exact)
        state.ended = enough(state.violations)
        return not (state.ended or monitor.stopped)

    z, status = solve_nonlinear(
        NonlinearProgram(
            low, high, program.low[rows], program.high[rows], pattern, program.hessian_pattern,
            value=lambda z: merit.value(fold.wide(z)),
            gradient=gradient,
            rows=lambda z: program.values(fold.wide(z))[rows],
            jacobian=lambda z: np.asarray(gather @ program.slopes(fold.wide(z))),
            hessian=lambda z, factor: np.asarray(program.hessian_gather @ (factor * merit.hessian(fold.wide(z)))),
        ),
        fold.narrow(x), {**OPTIONS, **options}, watch,
    )  # fmt: skip
    found = state.last if state.ended or monitor.stopped else fold.wide(z)
    violation = program.violation(found)
    if within is not None and not monitor.stopped:
        left_out = np.ones(len(violation), bool)
        left_out[rows] = False
        seen_worst = float(violation[rows].max(initial=0.0))
        if violation[left_out].max(initial=0.0) > max(tolerance, MISSED_ROW_FACTOR * seen_worst):
            return run_solver(program, merit, monitor, found, options, enough, tolerance)
    worst = float(violation.max(initial=0.0))
    if state.best is not None and state.best[0] < BETTER_SHARE * worst and worst > tolerance:
        found = state.best[1]
    return RunOutcome(found, status, state.violations[-1] if state.violations else worst, state.last)


class _State:
    """What one run has seen."""

    def __init__(self, x: Array) -> None:
        self.last = x.copy()
        self.best: tuple[float, Array] | None = None  # violation, candidate
        self.violations: list[float] = []
        self.ended = False

    def saw(self, violation: float) -> None:
        self.violations.append(violation)
        if self.best is None or violation < self.best[0]:
            self.best = (violation, self.last.copy())
