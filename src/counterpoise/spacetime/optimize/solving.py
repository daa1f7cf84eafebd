"""One motion problem given to IPOPT: search for a good motion, make it exact, stride downhill."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ipyopt
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from counterpoise.arrays import Array, Ints
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize.curve import curve_of
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.symmetry import Image, find_fold, plain_fold

BARRIER = 1000.0  # of objective per unit of the barrier the search begins with, which is at least one
NEARLY = 0.1  # violation from which a motion is worth making exact
HOPELESS = 20  # iterations without getting nearer after which the search gives up
SETTLE = 8  # iterations at least before that
PASSABLE = 2e-2  # violation from which it needs soft walls first
CLOSE = 1e-3  # violation from which hard walls do
STEPS = 4  # iterations of a stride
FEWER = 2  # and of one that only follows wishes that have moved
STRIDE = 0.5  # of the way to the unconstrained best each time
CAREFUL = 4.0  # times the Hessian in the search: makes up for second derivatives of constraints that are left out
FIRM = 10.0  # and while a motion is made exact
LOOSE = 2.0  # and on a stride downhill
WITHIN = 0.3  # [rad, m] limits further away than this play no part when a motion is made exact
GOOD = 1e-6  # largest violation (scaled) of a motion that counts as solved

OPTIONS: dict[str, Any] = {
    "print_level": 0, "sb": "yes", "tol": 1e-4, "constr_viol_tol": 1e-8, "dual_inf_tol": 1e3, "compl_inf_tol": 1e-3,
    "acceptable_iter": 0, "bound_relax_factor": 1e-9, "fixed_variable_treatment": "make_parameter",
    "nlp_scaling_method": "none", "honor_original_bounds": "yes", "mumps_permuting_scaling": 0,
}  # fmt: skip
SEARCH: dict[str, Any] = {
    "mu_strategy": "monotone", "max_iter": 60, "bound_push": 0.05, "bound_frac": 0.05,
    "slack_bound_push": 0.05, "slack_bound_frac": 0.05,
}  # fmt: skip
PROJECT: dict[str, Any] = {  # multipliers are small there: they start from nothing
    "mu_strategy": "monotone", "mu_init": 1e-2, "max_iter": 40, "bound_push": 1e-4, "bound_frac": 1e-4,
    "slack_bound_push": 1e-4, "slack_bound_frac": 1e-4, "constr_mult_init_max": 0.0,
}  # fmt: skip


POLISH: dict[str, Any] = PROJECT | {
    "mu_init": 1e-6, "bound_push": 1e-9, "bound_frac": 1e-9, "slack_bound_push": 1e-9, "slack_bound_frac": 1e-9,
}  # fmt: skip


@dataclass(frozen=True)
class Progress:
    """One iteration: what the callback sees."""

    iteration: int
    objective: float
    violation: float  # the largest, scaled
    worst: str  # its constraint
    seconds: float
    exact: bool  # whether a good motion is found and is now being made exact
    motion: Callable[[], Motion] = field(repr=False, default=lambda: None)  # type: ignore[assignment]


class Solve:
    """The callbacks IPOPT wants, on one problem, looking at each candidate once.

    Outside, candidates are whole; IPOPT sees them folded in two where the problem is its own mirror image.
    """

    def __init__(
        self, problem: MotionProblem, callback: Callable[[Progress], bool | None] | None, began: float, before: int,
        image: Image | None = None, strict: bool = True,
    ) -> None:  # fmt: skip
        self.p, self.callback, self.began, self.iterations = problem, callback, began, before
        self.blocks = list(problem.blocks)
        patterns = [b.pattern() for b in self.blocks]
        self.starts = np.cumsum([0, *(len(b) for b in self.blocks)])
        self.rows = np.concatenate([r + s for (r, _), s in zip(patterns, self.starts, strict=False)]).astype(np.int64)
        self.cols = np.concatenate([c for _, c in patterns]).astype(np.int64)
        self.spans = np.cumsum([0, *(len(r) for r, _ in patterns)])
        self.low = np.concatenate([b.low for b in self.blocks])
        self.high = np.concatenate([b.high for b in self.blocks])
        self._all, self._slopes = np.empty(len(self.low)), np.empty(len(self.rows))
        self.seen = np.full(problem.variables, np.nan)
        found = None if image is None else find_fold(problem, image, self.values, self.low, self.high, strict)
        self.symmetric = found is not None
        self.fold = found or plain_fold(problem.variables, len(self.low))
        self._drop_idle(problem)
        self._gather(problem)
        self.last = problem.start.copy()
        self.best: tuple[float, Array] | None = None
        self.history: list[tuple[float, float]] = []
        self.stopped, self.settled = False, False
        self.near: Array | None = None  # the motion to stay near, once a good one is found
        self.worst = np.inf

    def _drop_idle(self, problem: MotionProblem) -> None:
        """Rows nothing can change (a planar figure's sideways balance) are no business of the solver's."""
        moved = np.zeros(len(self.low), bool)
        rng = np.random.default_rng(0)
        for size in (0.0, 1e-2):
            x = problem.start + size * rng.normal(size=problem.variables)
            self._look_at_slopes(x)
            moved[self.rows[np.abs(self._slopes) > 1e-12]] = True
        self.used = self.fold.rows[moved[self.fold.rows]]

    def _gather(self, problem: MotionProblem) -> None:
        """What the solver's derivatives are sums of: a row's by a number and by its image add up."""
        o, n = problem.objective, self.fold.variables
        at, sign = self.fold.places()
        row = np.full(len(self.low), -1, np.int64)
        row[self.used] = np.arange(len(self.used))
        sums = _summed if self.symmetric else _picked
        self.jac_pattern, self._jac_from = sums(row[self.rows], at[self.cols], sign[self.cols], n)
        r, c = at[o.rows], at[o.cols]
        weight = sign[o.rows] * sign[o.cols] * np.where((r == c) & (o.rows != o.cols), 2.0, 1.0)
        self.hess_pattern, self._hess_from = sums(np.maximum(r, c), np.minimum(r, c), weight, n)

    def _look_at_slopes(self, x: Array) -> None:
        self.look(x)
        for b, s, t in zip(self.blocks, self.spans[:-1], self.spans[1:], strict=True):
            b.derivatives(self.p.evaluation, x, self._slopes[s:t])

    def look(self, x: Array) -> None:
        if not np.array_equal(x, self.seen):
            self.p.look(x)
            self.seen[:] = x

    def anchor(self, x: Array, slope: Array | None = None) -> None:
        """From now on ask only for the nearest motion to x that holds every constraint, in the objective's own metric.

        With a slope, to the point that it takes x to: x - metric^-1 slope.
        """
        self.near = None
        self.look(x)
        o = self.p.objective
        values = np.empty(len(o.rows))
        o.hessian(self.p.evaluation, 1.0, values)
        lower = sp.coo_matrix((values, (o.rows, o.cols)), (len(x), len(x))).tocsr()
        self.metric: Any = (lower + sp.tril(lower, -1).T).tocsr()
        goal = x.copy()
        if slope is not None:
            k = self.p.layout.coefficients * self.p.character.nv
            goal[:k] -= spsolve(self.metric[:k, :k].tocsc(), slope[:k])
            for give in self.p.gives:
                own = slice(give.first, give.first + len(give))
                goal[own] -= slope[own] / self.p.objective.force[own]
        self.metric_values, self.near, self.firm = values, goal, FIRM if slope is None else LOOSE

    def f(self, x: Array) -> float:
        if self.near is not None:
            d = x - self.near
            return 0.5 * float(d @ (self.metric @ d))
        self.look(x)
        return self.p.objective.value(self.p.evaluation, x)

    def grad(self, x: Array, out: Array) -> Array:
        self.last = x.copy()
        if self.near is not None:
            out[:] = self.metric @ (x - self.near)
            return out
        self.look(x)
        self.p.objective.gradient(self.p.evaluation, x, out)
        return out

    def values(self, x: Array) -> Array:
        """All rows."""
        self.look(x)
        for b, s in zip(self.blocks, self.starts, strict=False):
            self._all[s : s + len(b)] = b.values(self.p.evaluation, x)
        return self._all.copy()

    def slopes(self, x: Array) -> Array:
        """Derivatives of the rows the solver sees, in `jac_pattern`'s order."""
        self._look_at_slopes(x)
        return np.asarray(self._jac_from @ self._slopes)

    def curvature(self, x: Array, factor: float) -> Array:
        """The objective's Gauss-Newton Hessian in `hess_pattern`'s order; second derivatives of rows are left out."""
        o = self.p.objective
        if self.near is not None:
            return np.asarray(self._hess_from @ (factor * self.firm * self.metric_values))
        self.look(x)
        values = np.empty(len(o.rows))
        o.hessian(self.p.evaluation, factor * CAREFUL, values)
        return np.asarray(self._hess_from @ values)

    def violation(self, x: Array) -> Array:
        values = self.values(x)
        return np.maximum(np.maximum(self.low - values, values - self.high), 0.0)

    def watch(self, *state: Any) -> bool:
        """After every iteration: keep the best, tell the user, and see whether it is enough."""
        objective, violation = float(state[2]), float(state[3])
        self.iterations += 1
        self.worst = violation
        if self.best is None or violation < self.best[0]:
            self.best = (violation, self.last.copy())
        self.history.append((objective, violation))
        if self.callback is not None:
            off = self.violation(self.last)
            name = self.blocks[int(np.searchsorted(self.starts, int(np.argmax(off)), side="right") - 1)].name
            x = self.last
            told = Progress(
                self.iterations, self.p.objective.value(self.p.evaluation, x), float(off.max(initial=0.0)), name,
                clock.perf_counter() - self.began, self.near is not None, lambda: curve_of(self.p, x).motion(),
            )  # fmt: skip
            try:
                self.stopped = self.callback(told) is False
            except KeyboardInterrupt:
                self.stopped = True
        self.settled = self._good_enough()
        return not (self.settled or self.stopped)

    def _good_enough(self) -> bool:
        """Nearly possible and no longer getting much better; when making it exact: exact."""
        if self.near is not None:
            return len(self.history) > self.least and self.history[-1][1] < self.aim
        if len(self.history) > HOPELESS and self.history[-1][1] > 0.9 * min(v for _, v in self.history[:-HOPELESS]):
            return True
        return len(self.history) > SETTLE and max(v for _, v in self.history[-2:]) < NEARLY

    def search(self, x: Array, options: Mapping[str, Any]) -> tuple[Array, int]:
        """For a good motion, nearly possible; the barrier begins as strong as the objective is large."""
        self.near = None
        barrier = min(max(self.f(x) / BARRIER, 1.0), 30.0)
        return self.run(x, {**SEARCH, "mu_init": barrier, **options})

    def exact(self, x: Array) -> tuple[Array, int]:
        """The nearest exact motion: first near enough with soft walls at the limits, then all the way with hard."""
        self.worst, status = float(self.violation(x).max(initial=0.0)), 0
        if self.worst > PASSABLE:
            self.anchor(x)
            self.least, self.aim = 0, CLOSE
            x, status = self.run(x, PROJECT, WITHIN)
        if not self.stopped and self.worst < NEARLY:
            self.anchor(x)
            self.least, self.aim = 0, 0.3 * GOOD
            x, status = self.run(x, POLISH, WITHIN)
        return x, status

    def downhill(self, x: Array, share: float = STRIDE) -> Array:
        """A stride towards the objective's unconstrained best, nearly exact."""
        slope = np.empty(len(x))
        self.near = None
        self.grad(x, slope)
        return self.stride(x, share * slope, STEPS)

    def stride(self, x: Array, slope: Array, steps: int = FEWER) -> Array:
        """Where a slope of the objective pushes x, nearly exact."""
        self.anchor(x, slope)
        self.least, self.aim = steps, np.inf
        self.run(x, PROJECT, WITHIN)
        return self.last

    def run(self, x: Array, options: Mapping[str, Any], within: float | None = None) -> tuple[Array, int]:
        """One run of the solver from x; the best it saw, and its status.

        Limits further away than `within` are left out at first; where one turns out to matter all are in.
        """
        p, fold = self.p, self.fold
        self.best, self.history, self.settled = None, [], False
        slope = np.empty(p.variables)
        rows, pattern, gather = self.used, self.jac_pattern, self._jac_from
        if within is not None:
            values = self.values(x)[rows]
            seen = (self.low[rows] > values - within) | (self.high[rows] < values + within)
            entries = np.flatnonzero(seen[pattern[0]])
            pattern = ((np.cumsum(seen) - 1)[pattern[0][entries]], pattern[1][entries])
            rows, gather = rows[seen], gather[entries]
        n, m = fold.variables, len(rows)

        def f(z: Array) -> float:
            return self.f(fold.wide(z))

        def grad(z: Array, out: Array) -> Array:
            out[:] = fold.part.T @ self.grad(fold.wide(z), slope)
            return out

        def g(z: Array, out: Array) -> Array:
            out[:] = self.values(fold.wide(z))[rows]
            return out

        def jac(z: Array, out: Array) -> Array:
            self._look_at_slopes(fold.wide(z))
            out[:] = gather @ self._slopes
            return out

        def hess(z: Array, lam: Array, factor: float, out: Array) -> Array:
            out[:] = self.curvature(fold.wide(z), factor)
            return out

        low, high = fold.bounds(p.low, p.high)
        nlp = ipyopt.Problem(
            n, low, high, m, self.low[rows], self.high[rows], pattern, self.hess_pattern, f, grad, g, jac, hess,
            self.watch, ipopt_options={**OPTIONS, **options},
        )  # fmt: skip
        z, _, status = nlp.solve(
            np.clip(fold.narrow(x), low, high), mult_g=np.zeros(m), mult_x_L=np.zeros(n), mult_x_U=np.zeros(n)
        )
        found = self.last if self.settled or self.stopped else fold.wide(np.asarray(z))
        all_off = self.violation(found)
        off = float(all_off.max(initial=0.0))
        if within is not None and not self.stopped:
            left_out = np.ones(len(self.low), bool)
            left_out[rows] = False
            if all_off[left_out].max(initial=0.0) > max(GOOD, 2.0 * all_off[rows].max(initial=0.0)):
                return self.run(found, options)
        if self.best is not None and self.best[0] < 0.5 * off and off > GOOD:
            found = self.best[1]
        return found, int(status)


def _summed(rows: Ints, cols: Ints, weight: Array, width: int) -> tuple[tuple[Ints, Ints], Any]:
    """Entries with the same place added up; those with a negative one left out."""
    use = np.flatnonzero((rows >= 0) & (cols >= 0))
    places, slot = np.unique(rows[use] * width + cols[use], return_inverse=True)
    gather = sp.csr_matrix((weight[use], (slot, use)), (len(places), len(rows)))
    return (places // width, places % width), gather


def _picked(rows: Ints, cols: Ints, weight: Array, width: int) -> tuple[tuple[Ints, Ints], Any]:
    """The same, where no two need adding up (the solver does so where they do)."""
    use = np.flatnonzero((rows >= 0) & (cols >= 0))
    gather = sp.csr_matrix((weight[use], use, np.arange(len(use) + 1)), (len(use), len(rows)))
    return (rows[use], cols[use]), gather
