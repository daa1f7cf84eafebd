"""Solve a motion problem with IPOPT: live progress, stop at any time, warm starts, violations by name."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ipyopt
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

from counterpoise.character.character import Character
from counterpoise.motion._poses import Sample
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.asks import Key, Taste, Touch, Wish
from counterpoise.spacetime.curve import OptimizedCurve, curve_of
from counterpoise.spacetime.moments import Time
from counterpoise.spacetime.problem import RATE, MotionProblem, build_motion_problem, watch
from counterpoise.spacetime.rows import Block

Array = NDArray[np.float64]
BARRIER = 1000.0  # of objective per unit of the barrier the search begins with, which is at least one
NEARLY = 0.1  # violation from which a motion is worth making exact
HOPELESS = 20  # iterations without getting nearer after which the search gives up
SETTLE = 8  # iterations at least before that
CLOSE = 1e-3  # violation from which hard walls do
STEPS = 4  # iterations of a stride
BETTER = 1  # strides downhill after the first exact motion, unless asked otherwise
STRIDE = 0.5  # of the way to the unconstrained best each time
ENOUGH = 0.01  # share of the objective below which a gain is not worth another round
CAREFUL = 4.0  # times the Hessian in the search: makes up for second derivatives of constraints that are left out
FIRM = 10.0  # and while a motion is made exact
LOOSE = 2.0  # and on a stride downhill
ROUNDS = 4  # of adding limits that turned out to matter
DUST = 1e-2  # share of the worst below which a violation tells nothing
SLIGHT = 1e-4  # [m, rad] what gives way by less than this is not in conflict
GOOD = 1e-6  # largest violation (scaled) of a motion that counts as solved
STATUS = {
    0: "solved", 1: "solved", 2: "infeasible", 3: "search direction too small", 4: "diverging", 5: "stopped",
    6: "solved", -1: "iteration limit", -2: "restoration failed", -3: "step computation failed", -4: "time limit",
}  # fmt: skip


OPTIONS: dict[str, Any] = {
    "print_level": 0, "sb": "yes", "tol": 1e-4, "constr_viol_tol": 1e-8, "dual_inf_tol": 1e3, "compl_inf_tol": 1e-3,
    "acceptable_iter": 0, "bound_relax_factor": 1e-9, "fixed_variable_treatment": "make_parameter",
    "nlp_scaling_method": "none", "honor_original_bounds": "yes", "mumps_permuting_scaling": 0,
}  # fmt: skip
SEARCH: dict[str, Any] = {
    "mu_strategy": "monotone", "max_iter": 60, "bound_push": 0.05, "bound_frac": 0.05,
    "slack_bound_push": 0.05, "slack_bound_frac": 0.05,
}  # fmt: skip
PROJECT: dict[str, Any] = {
    "mu_strategy": "monotone", "mu_init": 1e-2, "max_iter": 40, "bound_push": 1e-4, "bound_frac": 1e-4,
    "slack_bound_push": 1e-4, "slack_bound_frac": 1e-4,
}  # fmt: skip


POLISH: dict[str, Any] = PROJECT | {
    "mu_init": 1e-6, "bound_push": 1e-9, "bound_frac": 1e-9, "slack_bound_push": 1e-9, "slack_bound_frac": 1e-9,
}  # fmt: skip


@dataclass(frozen=True)
class Violation:
    """A constraint that does not hold: its name, when, by how much (scaled: body weights, m, rad)."""

    name: str
    time: float
    amount: float

    def __str__(self) -> str:
        return f"{self.name} at {self.time:.3f} s by {self.amount:.3g}"


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


@dataclass(frozen=True, eq=False)
class Result:
    """An optimised motion and how it came about."""

    motion: Motion
    curve: OptimizedCurve
    status: str
    ok: bool
    violations: tuple[Violation, ...]  # the worst of each constraint above tolerance
    worst: float  # largest violation, scaled
    objective: float
    iterations: int
    seconds: float
    between: dict[str, float]  # what physics misses between the knots
    times: dict[str, float]  # of moments that were free [s]
    notes: tuple[str, ...]  # what was changed to make sense of it
    conflicts: tuple[str, ...]  # what was seen beforehand to contradict itself, and gave way
    problem: MotionProblem = field(repr=False)
    x: Array = field(repr=False)

    def sample(self, t: Any) -> Sample:
        """Pose, velocity and acceleration of the exact curve."""
        return self.curve.sample(t)

    def report(self) -> str:
        """What a user wants to read."""
        lines = [f"{self.status}: {self.iterations} iterations, {self.seconds:.2f} s, worst violation {self.worst:.1e}"]
        lines += [f"  conflict: {c}" for c in self.conflicts]
        lines += [f"  {v}" for v in self.violations]
        lines += [f"  note: {n}" for n in self.notes]
        lines.append("  between the knots: " + ", ".join(f"{k} {v:.2%}" for k, v in self.between.items()))
        return "\n".join(lines)


class _Solve:
    """The callbacks IPOPT wants, on one problem, looking at each candidate once."""

    def __init__(
        self, problem: MotionProblem, callback: Callable[[Progress], bool | None] | None, began: float, before: int
    ) -> None:
        self.p, self.callback, self.began, self.iterations = problem, callback, began, before
        self.blocks = problem.blocks
        patterns = [b.pattern() for b in self.blocks]
        self.starts = np.cumsum([0, *(len(b) for b in self.blocks)])
        self.rows = np.concatenate([r + s for (r, _), s in zip(patterns, self.starts, strict=False)]).astype(np.int64)
        self.cols = np.concatenate([c for _, c in patterns]).astype(np.int64)
        self.spans = np.cumsum([0, *(len(r) for r, _ in patterns)])
        self.low = np.concatenate([b.low for b in self.blocks])
        self.high = np.concatenate([b.high for b in self.blocks])
        self._all, self._slopes = np.empty(len(self.low)), np.empty(len(self.rows))
        self._drop_idle(problem)
        self.seen = np.full(problem.variables, np.nan)
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
        self.used, self.entries = np.arange(len(self.low)), np.arange(len(self.rows))
        self.seen = np.full(problem.variables, np.nan)
        for size in (0.0, 1e-2):
            x = problem.start + size * rng.normal(size=problem.variables)
            self.look(x)
            for b, s, t in zip(self.blocks, self.spans[:-1], self.spans[1:], strict=True):
                b.derivatives(problem.evaluation, x, self._slopes[s:t])
            moved[self.rows[np.abs(self._slopes) > 1e-12]] = True
        self.used = np.flatnonzero(moved)
        self.entries = np.flatnonzero(moved[self.rows])
        number = np.cumsum(moved) - 1
        self.given = (number[self.rows[self.entries]], self.cols[self.entries])

    def look(self, x: Array) -> None:
        if not np.array_equal(x, self.seen):
            self.p.look(x)
            self.seen[:] = x

    def anchor(self, x: Array, stride: float = 0.0) -> None:
        """From now on ask only for the nearest motion to x that holds every constraint, in the objective's own metric.

        With a stride, to the point that far from x towards the objective's unconstrained minimum.
        """
        self.near = None
        self.look(x)
        o = self.p.objective
        values = np.empty(len(o.rows))
        o.hessian(self.p.evaluation, 1.0, values)
        lower = sp.coo_matrix((values, (o.rows, o.cols)), (len(x), len(x))).tocsr()
        self.metric: Any = (lower + sp.tril(lower, -1).T).tocsr()
        goal = x.copy()
        if stride > 0.0:
            slope = np.empty(len(x))
            self.grad(x, slope)
            k = self.p.layout.coefficients * self.p.character.nv
            goal[:k] -= stride * spsolve(self.metric[:k, :k].tocsc(), slope[:k])
        self.metric_values, self.near, self.firm = values, goal, LOOSE if stride > 0.0 else FIRM

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

    def _values(self, x: Array) -> Array:
        self.look(x)
        for b, s in zip(self.blocks, self.starts, strict=False):
            self._all[s : s + len(b)] = b.values(self.p.evaluation, x)
        return self._all

    def g(self, x: Array, out: Array) -> Array:
        """Values of the rows the solver sees."""
        out[:] = self._values(x)[self.used]
        return out

    def jac(self, x: Array, out: Array) -> Array:
        """Their derivatives."""
        self.look(x)
        for b, s, t in zip(self.blocks, self.spans[:-1], self.spans[1:], strict=True):
            b.derivatives(self.p.evaluation, x, self._slopes[s:t])
        out[:] = self._slopes[self.entries]
        return out

    def hess(self, x: Array, lam: Array, factor: float, out: Array) -> Array:
        """The objective's Gauss-Newton Hessian; second derivatives of constraints are left out."""
        if self.near is not None:
            out[:] = factor * self.firm * self.metric_values
        else:
            self.look(x)
            self.p.objective.hessian(self.p.evaluation, factor * CAREFUL, out)
        return out

    def violation(self, x: Array) -> Array:
        values = self._values(x)
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
        self.anchor(x)
        self.least, self.aim = 0, CLOSE
        x, status = self.run(x, PROJECT)
        if not self.stopped and self.worst < NEARLY:
            self.anchor(x)
            self.least, self.aim = 0, 0.3 * GOOD
            x, status = self.run(x, POLISH)
        return x, status

    def stride(self, x: Array) -> Array:
        """A stride downhill, nearly exact."""
        self.anchor(x, STRIDE)
        self.least, self.aim = STEPS, np.inf
        self.run(x, PROJECT)
        return self.last

    def run(self, x: Array, options: Mapping[str, Any]) -> tuple[Array, int]:
        """One run of the solver from x; the best it saw, and its status."""
        p, o = self.p, self.p.objective
        n, m = p.variables, len(self.used)
        self.best, self.history, self.settled = None, [], False
        nlp = ipyopt.Problem(
            n, p.low, p.high, m, self.low[self.used], self.high[self.used], self.given, (o.rows, o.cols), self.f,
            self.grad, self.g, self.jac, self.hess, self.watch, ipopt_options={**OPTIONS, **options},
        )  # fmt: skip
        found, _, status = nlp.solve(
            np.clip(x, p.low, p.high), mult_g=np.zeros(m), mult_x_L=np.zeros(n), mult_x_U=np.zeros(n)
        )
        if self.settled or self.stopped:
            found = self.last
        off = float(self.violation(np.asarray(found)).max(initial=0.0))
        if self.best is not None and self.best[0] < 0.5 * off and off > GOOD:
            found = self.best[1]
        return np.asarray(found), int(status)


def optimize_motion(
    character: Character,
    keys: Sequence[Key] = (),
    contacts: Sequence[Touch] = (),
    duration: Time = 1.0,
    *,
    wishes: Sequence[Wish] = (),
    reference: Motion | None = None,
    taste: Taste | None = None,
    rate: float = RATE,
    fine: Sequence[tuple[float, float, float]] = (),
    clear: Sequence[str] | None = None,
    strides: int = BETTER,
    callback: Callable[[Progress], bool | None] | None = None,
    warm: Result | None = None,
) -> Result:
    """A physically valid motion through `keys`, held by the world where `contacts` say, `duration` seconds long.

    `wishes` are further constraints and costs; `reference` is a motion to start from and, with `taste.near`, to stay
    near; without it the keys are interpolated. `rate` is knots a second, `fine` stretches (start, end, rate) with a
    rate of their own. `clear` names bodies that stay above the ground (default: the feet). `strides` downhill follow
    the first exact motion, at about a third of its time each. `callback` sees every iteration and stops the search by
    returning False; the best motion so far is kept. `warm` is an earlier result to start from, as after moving a key.
    """
    problem = build_motion_problem(
        character, keys, contacts, duration, wishes=wishes, reference=reference, taste=taste, rate=rate, fine=fine,
        clear=clear,
    )  # fmt: skip
    return solve_motion(problem, strides=strides, callback=callback, warm=warm)


def solve_motion(
    problem: MotionProblem,
    *,
    strides: int = BETTER,
    callback: Callable[[Progress], bool | None] | None = None,
    warm: Result | None = None,
    options: Mapping[str, Any] | None = None,
    since: tuple[float, int] | None = None,
) -> Result:
    """Solve a built problem: first for a good motion, nearly possible; then for the nearest to it that is exact.

    The second step's multipliers are small, so that it converges in a few iterations although second derivatives of
    the constraints are left out; the first would creep. `warm` (of the same shape) skips the first. `since` is when an
    earlier attempt began, and its iterations.
    """
    began, iterations = (clock.perf_counter(), 0) if since is None else since
    x, status = problem.start.copy(), 0
    usable = warm is not None and len(warm.x) == len(x)
    if usable:
        assert warm is not None
        x = np.clip(warm.x, problem.low, problem.high)
    search = not usable
    for _ in range(ROUNDS):
        solve = _Solve(problem, callback, began, iterations)
        if search:
            x, status = solve.search(x, options or {})
        if not solve.stopped:
            x, status = solve.exact(x)
        if solve.worst > GOOD and usable and not search and not solve.stopped:  # too far from the earlier motion
            x, status = solve.search(x, options or {})
            x, status = solve.exact(x)
        if search:
            x = _improved(solve, x, strides)
        iterations = solve.iterations
        problem.look(x)
        if solve.stopped or not watch(problem, -1e-6, -1e-6):
            break
        search = False
    off = solve.violation(x)
    worst = float(off.max(initial=0.0))
    if worst > GOOD and not solve.stopped and not problem.gives:
        return _least_violating(problem, callback, began, iterations)
    word = "solved" if worst <= GOOD else "stopped" if solve.stopped else STATUS.get(status, f"status {status}")
    if worst > GOOD and word == "solved":
        word = "infeasible"
    if problem.conflicts:
        word = "infeasible"
    solve.near = None
    curve = curve_of(problem, x)
    named = _named(problem, solve, off)
    times = problem.layout.times(x)
    free = {
        m.name or f"moment {k}": float(times[k])
        for k, m in enumerate(problem.timeline.moments)
        if problem.layout.moments[k] >= 0
    }
    return Result(
        motion=curve.motion(), curve=curve, status=word, ok=word == "solved", violations=named, worst=worst,
        objective=solve.f(x), iterations=iterations, seconds=clock.perf_counter() - began, between=curve.between(),
        times=free, notes=problem.notes, conflicts=problem.conflicts, problem=problem, x=x,
    )  # fmt: skip


def _least_violating(
    problem: MotionProblem, callback: Callable[[Progress], bool | None] | None, began: float, before: int
) -> Result:
    """What was asked for cannot all hold: the motion that keeps to the physics and gives up the least of it."""
    soft = problem.elastic()
    found = solve_motion(soft, callback=callback, since=(began, before))
    kept, x = [], found.x
    f, times = soft.frames, soft.layout.times(found.x)
    for give in soft.gives:
        own = np.abs(x[give.first : give.first + len(give)])
        if own.max(initial=0.0) > SLIGHT:
            r = int(np.argmax(own))
            i = int(give.frame[r])
            t = float(times[f.phase[i]] + f.s[i] * (times[f.phase[i] + 1] - times[f.phase[i]]))
            kept.append(Violation(_row_label(give, r), t, float(own[r])))
    found_all = sorted((*kept, *found.violations), key=lambda v: -v.amount)
    first = {v.name: v for v in reversed(found_all)}  # the worst of each name
    named = tuple(v for v in found_all if first[v.name] is v and v.amount > DUST * found_all[0].amount)
    worst = max((v.amount for v in named), default=0.0)
    status = "stopped" if found.status == "stopped" else "infeasible" if named else "solved"
    return replace(
        found, status=status, ok=False, violations=named, worst=worst,
    )  # fmt: skip


def _improved(solve: _Solve, x: Array, strides: int) -> Array:
    """Strides downhill, each made exact before the next, as long as they pay."""
    for _ in range(strides):
        if solve.stopped or solve.worst > GOOD:
            break
        solve.near = None
        before = solve.f(x)
        found, _ = solve.exact(solve.stride(x))
        solve.near = None
        after = solve.f(found)
        if float(solve.violation(found).max(initial=0.0)) > GOOD or after > before:
            solve.worst = 0.0
            break
        x = found
        if before - after < ENOUGH * abs(before):
            break
    return x


def _named(problem: MotionProblem, solve: _Solve, off: Array) -> tuple[Violation, ...]:
    """The worst row of every block above tolerance, worst first."""
    out = []
    times = problem.layout.times(solve.seen)
    f = problem.frames
    for b, s in zip(problem.blocks, solve.starts, strict=False):
        own = off[s : s + len(b)]
        if len(own) and own.max() > GOOD:
            r = int(np.argmax(own))
            i = int(b.frame[r])
            t = float(times[f.phase[i]] + f.s[i] * (times[f.phase[i] + 1] - times[f.phase[i]]))
            out.append(Violation(_row_label(b, r), t, float(own[r])))
    return tuple(sorted(out, key=lambda v: -v.amount))


def _row_label(block: Block, row: int) -> str:
    labels = getattr(block, "labels", ())
    kind = labels[row] if labels else (block.kinds[row % len(block.kinds)] if block.kinds else "")
    return f"{block.name} {kind}".strip()
