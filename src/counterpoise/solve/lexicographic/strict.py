"""The strict method: guess the working set and prove it; where a guess does not come true, climb.

1. Scale the columns by powers of two where they differ widely, and every constraint row to unit length.
2. `pivot`: with the working set of the problem before (or none), solve the hierarchy as equalities and read off
   violations and multipliers of every level; change all that is wrong at once. Nothing wrong: a proof of optimality.
3. Otherwise take the working set of the weighted program for a better guess, and pivot again.
4. Otherwise `project` on the feasible set and `climb` level by level; then settle once more on the set that came out.
"""

from __future__ import annotations

import logging
import threading
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.solve.level import Hierarchy, Level, Outcome, build_hierarchy
from counterpoise.solve.lexicographic.climb import climb
from counterpoise.solve.lexicographic.cone import project
from counterpoise.solve.lexicographic.kernels import pivot, scale_columns, scale_problem
from counterpoise.solve.lexicographic.plain import solve_plain
from counterpoise.solve.quadratic import solve_quadratic

COLD, GUESSES = 3, 6  # settled working sets before a weighted program is asked: without and with a guess to begin with
RATIOS = (1e2, 1e5)  # of one level's weight to the next in those programs


_ready = False


def make_ready() -> None:
    """Compile or load every kernel on a tiny problem, once; says so when that takes a while (the first time of all)."""
    global _ready
    if _ready:
        return
    _ready = True
    say = "compiling the hierarchy solver: once, for about half a minute; kept on disk from then on"
    notice = threading.Timer(4.0, logging.getLogger("counterpoise").warning, (say,))
    notice.daemon = True
    notice.start()
    try:
        tiny = build_hierarchy([Level(np.ones((1, 2)), np.ones(1))], (np.ones((1, 2)), -1.0, 1.0), (0.0, 1.0))
        s = Scaled(tiny)
        C, near, ends, y, sides = s.all_rows(), tiny.near, tiny.ends, np.zeros(2), np.zeros(3, np.int64)
        pivot(
            s.A, tiny.b, ends, s.size, s.C, s.lo, s.hi, s.d, near, s.plain,
            sides, y, np.zeros((2, 3)), np.zeros(2), 1, np.zeros(2),
        )  # fmt: skip
        project(C, s.lo, s.hi, np.zeros(2), y, sides, np.zeros(3, np.int64), 9)
        climb(s.A, tiny.b, ends, s.size, C, s.lo, s.hi, s.d, near, y, sides, np.zeros(2), 9)
    finally:
        notice.cancel()


class Scaled:
    """The problem in scaled variables y = x / d, constraint rows of unit length."""

    def __init__(self, problem: Hierarchy, d: Array | None = None) -> None:
        p = problem
        n, m, M = p.size, len(p.low), len(p.b)
        self.problem = p
        if d is None:
            self.d = np.empty(n)
            self.plain = not scale_columns(p.A, p.G, self.d)
        else:
            self.d, self.plain = d, bool((d == 1.0).all())
        self.A, self.size, self.C = np.empty((M, n)), np.empty(M), np.empty((m, n))
        self.lo, self.hi, self.length = np.empty(n + m), np.empty(n + m), np.empty(m)
        scale_problem(
            p.A, p.G, p.low, p.high, p.lower, p.upper, self.d, self.A, self.size, self.C, self.lo, self.hi, self.length
        )

    def all_rows(self) -> Array:
        """Bounds and rows as one matrix."""
        return np.vstack([np.eye(self.problem.size), self.C])

    def point(self, y: Array) -> Array:
        """x of y, with bounds kept to the last bit."""
        return np.clip(self.d * y, self.problem.lower, self.problem.upper)

    def residuals(self, y: Array) -> Array:
        """Squared, of every level, then of the nearness."""
        p = self.problem
        squares = (self.A @ y - p.b) ** 2
        last = float(((self.d * y - p.near) ** 2).sum())
        return np.array([*(squares[s:e].sum() for s, e in pairwise(p.ends)), last])

    def violation(self, y: Array) -> float:
        """Largest, relative to the sizes that meet there."""
        value = np.concatenate([y, self.C @ y])
        reach = np.abs(y).max(initial=0.0) + np.abs(np.where(np.isfinite(self.lo), self.lo, 0.0))
        reach = reach + np.abs(np.where(np.isfinite(self.hi), self.hi, 0.0)) + 1e-300
        return float((np.maximum(self.lo - value, value - self.hi) / reach).max(initial=0.0))


def solve_strict(problem: Hierarchy, seed: Ints | None = None, scale: Array | None = None) -> Outcome:
    """Exact lexicographic least squares; `seed`: a working set to try first, `scale`: units that suit the variables."""
    make_ready()
    s = Scaled(problem, scale)
    n, nc, levels = problem.size, len(s.lo), len(problem.levels)
    if not s.length.all():
        empty = (s.length == 0.0) & ((problem.low > 0.0) | (problem.high < 0.0))
        if empty.any():
            return _least_violating(problem, (n + int(np.argmax(empty)),), {})
    y, guess, mu, grade = np.zeros(n), np.zeros(n), np.zeros((levels + 1, nc)), np.zeros(levels + 1)
    data = (s.A, problem.b, problem.ends, s.size, s.C, s.lo, s.hi, s.d, problem.near, s.plain)
    sides = _legal(np.zeros(nc, np.int64) if seed is None else seed, s.lo, s.hi)
    tries = pivot(*data, sides, y, mu, grade, COLD if seed is None else GUESSES, guess)
    work = {"guesses": abs(int(tries)), "programs": 0, "steps": 0}
    for ratio in RATIOS:
        if tries > 0 or (weighted := _weighted_guess(s, ratio)) is None:
            break
        sides = _legal(weighted, s.lo, s.hi)
        tries = pivot(*data, sides, y, mu, grade, GUESSES, guess)
        work["guesses"] += abs(int(tries))
        work["programs"] += 1
    if tries > 0:
        return Outcome(s.point(y), "solved", sides, work, scale=s.d)

    # climb, from the feasible point nearest to the best guess
    C = s.all_rows()
    if not np.isfinite(guess).all():
        guess = problem.near / s.d
    conflict = np.zeros(nc, np.int64)
    for _ in range(3):  # a far guess leaves its rounding behind: then once more from near by
        found = project(C, s.lo, s.hi, guess, y, sides, conflict, 50 * (n + nc))
        if found == 1:
            return _least_violating(problem, tuple(int(i) for i in np.flatnonzero(conflict)), work)
        if found != 0:
            return solve_by_plain(problem)
        if np.linalg.norm(y) * 1e3 >= np.linalg.norm(guess):
            break
        guess = y.copy()
    defect = np.zeros(levels + 1)
    steps = climb(
        s.A, problem.b, problem.ends, s.size, C, s.lo, s.hi, s.d, problem.near, y, sides, defect, 100 * (n + nc)
    )
    work["steps"] = abs(int(steps))
    # the same point once more, straight from its working set: no rounding of the way there
    again, clean = sides.copy(), np.zeros(n)
    sure = pivot(*data, again, clean, mu, grade, 1, guess)
    if s.violation(clean) <= max(s.violation(y), 1e-11) and _no_worse(s.residuals(clean), s.residuals(y), problem):
        y, sides = clean, again
    if sure > 0 or (steps >= 0 and float(defect[:-1].max(initial=0.0)) < 1e-8):
        return Outcome(s.point(y), "solved", sides, work, scale=s.d)
    at = int(np.argmax(defect))
    name = (*problem.names, "nearness")[at]
    note = f"level {name!r} stopped at a relative gradient of {defect[at]:.1e}"
    return Outcome(s.point(y), "inexact", sides, work, note=note, scale=s.d)


def _weighted_guess(s: Scaled, ratio: float) -> Ints | None:
    """Working set of the weighted program, levels brought to like size first; None where it has no answer."""
    p = s.problem
    ratio = min(ratio, 10.0 ** (10.0 / max(len(p.levels) - 1, 1)))
    A, b = s.A.copy(), p.b.copy()
    for k, (first, last) in enumerate(pairwise(p.ends)):
        weight = ratio ** (-0.5 * k) / max(float(s.size[first:last].max(initial=0.0)), 1e-300)
        A[first:last] *= weight
        b[first:last] *= weight
    n = p.size
    H = A.T @ A
    H[np.diag_indices(n)] += 1e-8
    found = solve_quadratic(H, -A.T @ b, s.lo[:n], s.hi[:n], s.C, s.lo[n:], s.hi[n:])
    return np.sign(found.multipliers).astype(np.int64) if found.solved else None


def _legal(seed: Ints, lo: Array, hi: Array) -> Ints:
    """A working set from another problem: only ends that are there, and all equalities."""
    sides = np.where((seed < 0) & np.isfinite(lo) | (seed > 0) & np.isfinite(hi), seed, 0)
    return np.where(lo == hi, -1, sides)


def _no_worse(new: Array, old: Array, problem: Hierarchy) -> bool:
    scale = np.array([*((problem.b[s:e] ** 2).sum() for s, e in pairwise(problem.ends)), 0.0])
    for a, b, c in zip(new, old, scale, strict=True):
        if a > b * (1.0 + 1e-10) + 1e-22 * c:
            return False
        if a < b * (1.0 - 1e-10) - 1e-22 * c:
            return True
    return True


def _least_violating(problem: Hierarchy, conflict: tuple[int, ...], work: dict[str, int]) -> Outcome:
    """Rows given slacks, bounds kept: least squared violation first, then the levels; the contradiction named."""
    n, m = problem.size, len(problem.low)
    widen = [Level(np.hstack([level.A, np.zeros((len(level.b), m))]), level.b, name, level.weights)
             for level, name in zip(problem.levels, problem.names, strict=True)]  # fmt: skip
    slack = Level(np.hstack([np.zeros((m, n)), np.eye(m)]), np.zeros(m), "least violation of the constraints")
    free = np.full(m, np.inf)
    wide = build_hierarchy(
        [slack, *widen],
        (np.hstack([problem.G, np.eye(m)]), problem.low, problem.high),
        (np.concatenate([problem.lower, -free]), np.concatenate([problem.upper, free])),
        near=np.concatenate([problem.near, np.zeros(m)]),
    )
    outcome = solve_strict(wide)
    x = outcome.x[:n].copy()
    sides = np.concatenate([outcome.sides[:n], outcome.sides[n + m :]])
    return Outcome(x, "infeasible", sides, work or outcome.work, conflict)


def solve_by_plain(problem: Hierarchy) -> Outcome:
    """The slow judge behind the same interface."""
    s = Scaled(problem)
    levels = [(s.A[a:e], problem.b[a:e]) for a, e in pairwise(problem.ends)]
    levels.append((np.diag(s.d), problem.near))
    answer = solve_plain(levels, s.all_rows(), s.lo, s.hi, problem.near / s.d)
    if answer.conflict is not None:
        return _least_violating(problem, answer.conflict, {})
    return Outcome(s.point(answer.x), "solved", answer.sides, {"guesses": 0, "steps": answer.steps})
