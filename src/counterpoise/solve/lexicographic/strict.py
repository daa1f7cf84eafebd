"""The strict method: guess the working set and prove it; where no guess can be proved, climb level by level.

1. Scale the columns by powers of two where they differ widely, and every constraint row to unit length.
2. `pivot`: with the working set of the problem before (or none), solve the hierarchy as equalities and read off
   violations and multipliers of every level; change all that is wrong at once. If nothing is wrong, x is optimal.
3. Otherwise take the working set of the weighted program for a better guess, and pivot again.
4. Otherwise `project` on the feasible set and `climb` level by level; then settle once more on the set that came out.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import compile_notice
from counterpoise.solve.level import Hierarchy, HierarchyOutcome, Level, build_hierarchy
from counterpoise.solve.lexicographic.climb import climb
from counterpoise.solve.lexicographic.pivot import pivot
from counterpoise.solve.lexicographic.plain import solve_plain
from counterpoise.solve.lexicographic.problem import VIOLATION, ScaledHierarchy
from counterpoise.solve.lexicographic.project import CONFLICT, FOUND, project
from counterpoise.solve.lexicographic.scaling import scale_columns, scale_problem
from counterpoise.solve.quadratic import solve_quadratic

COLD_GUESSES, WARM_GUESSES = 3, 6  # working sets tried before a weighted program: from none, and from a guess
WEIGHT_RATIOS = (1e2, 1e5)  # of one level's weight to the next in those programs
MAX_WEIGHT_DECADES = 10.0  # between the first level's weight and the last one's
MAX_DEFECT = 1e-8  # relative gradient left over with which a level still counts as solved


_ready = False


def make_ready() -> None:
    """Compiles the kernels or loads them from disk, once, on a tiny problem. Prints a message where it compiles."""
    global _ready
    if _ready:
        return
    _ready = True
    with compile_notice("the hierarchy solver"):
        tiny = build_hierarchy([Level(np.ones((1, 2)), np.ones(1))], (np.ones((1, 2)), -1.0, 1.0), (0.0, 1.0))
        s = Scaled(tiny)
        y, sides = np.zeros(2), np.zeros(3, np.int64)
        pivot(s.arrays, sides, y, np.zeros((2, 3)), np.zeros(2), 1, np.zeros(2))
        whole = s.with_bounds_as_rows()
        project(whole.C, whole.lo, whole.hi, np.zeros(2), y, sides, np.zeros(3, np.int64), 9)
        climb(whole, y, sides, np.zeros(2), 9)


class Scaled:
    """The problem in scaled variables y = x / d, constraint rows of unit length."""

    def __init__(self, problem: Hierarchy, d: Array | None = None) -> None:
        p = problem
        n, m, M = p.size, len(p.low), len(p.b)
        self.problem = p
        if d is None:
            d = np.empty(n)
            plain = not scale_columns(p.A, p.G, d)
        else:
            plain = bool((d == 1.0).all())
        self.arrays = ScaledHierarchy(
            np.empty((M, n)), p.b, p.ends, np.empty(M), np.empty((m, n)), np.empty(n + m), np.empty(n + m), d, p.near,
            plain,
        )  # fmt: skip
        self.length = np.empty(m)  # of the constraint rows before scaling
        scale_problem(p.A, p.G, p.low, p.high, p.lower, p.upper, self.arrays, self.length)

    def with_bounds_as_rows(self) -> ScaledHierarchy:
        """The same arrays with bounds and constraint rows in one matrix C."""
        return self.arrays._replace(C=np.vstack([np.eye(self.problem.size), self.arrays.C]))

    def point(self, y: Array) -> Array:
        """Returns x of y. The bounds hold to the last bit."""
        return np.clip(self.arrays.d * y, self.problem.lower, self.problem.upper)

    def residuals(self, y: Array) -> Array:
        """Returns the squared residual of every level, then of the nearness."""
        p = self.problem
        squares = (self.arrays.A @ y - p.b) ** 2
        last = float(((self.arrays.d * y - p.near) ** 2).sum())
        return np.array([*(squares[s:e].sum() for s, e in pairwise(p.ends)), last])

    def violation(self, y: Array) -> float:
        """The largest violation of a constraint, relative to the sizes that meet there."""
        lo, hi = self.arrays.lo, self.arrays.hi
        value = np.concatenate([y, self.arrays.C @ y])
        reach = np.abs(y).max(initial=0.0) + np.abs(np.where(np.isfinite(lo), lo, 0.0))
        reach = reach + np.abs(np.where(np.isfinite(hi), hi, 0.0)) + 1e-300
        return float((np.maximum(lo - value, value - hi) / reach).max(initial=0.0))


def solve_strict(problem: Hierarchy, seed: Ints | None = None, scale: Array | None = None) -> HierarchyOutcome:
    """Solves exactly. `seed` is a working set to try first, `scale` are the units d of the variables (None: found)."""
    make_ready()
    s = Scaled(problem, scale)
    n, lo, hi, levels = problem.size, s.arrays.lo, s.arrays.hi, len(problem.levels)
    if not s.length.all():
        empty = (s.length == 0.0) & ((problem.low > 0.0) | (problem.high < 0.0))
        if empty.any():
            return _least_violating(problem, (n + int(np.argmax(empty)),), {})
    y, guess, mu, grade = np.zeros(n), np.zeros(n), np.zeros((levels + 1, len(lo))), np.zeros(levels + 1)
    sides = _legal(np.zeros(len(lo), np.int64) if seed is None else seed, lo, hi)
    tries = pivot(s.arrays, sides, y, mu, grade, COLD_GUESSES if seed is None else WARM_GUESSES, guess)
    work = {"guesses": abs(int(tries)), "programs": 0, "steps": 0}
    for ratio in WEIGHT_RATIOS:
        if tries > 0 or (weighted := _weighted_guess(s, ratio)) is None:
            break
        sides = _legal(weighted, lo, hi)
        tries = pivot(s.arrays, sides, y, mu, grade, WARM_GUESSES, guess)
        work["guesses"] += abs(int(tries))
        work["programs"] += 1
    if tries > 0:
        return HierarchyOutcome(s.point(y), "solved", sides, work, scale=s.arrays.d)
    return _climb_from(s, guess, work)


def _climb_from(s: Scaled, guess: Array, work: dict[str, int]) -> HierarchyOutcome:
    """Climbs from the feasible point nearest to the best guess, then settles once more on the working set found."""
    problem, whole = s.problem, s.with_bounds_as_rows()
    n, nc, levels, d = problem.size, len(whole.lo), len(problem.levels), whole.d
    if not np.isfinite(guess).all():
        guess = problem.near / d
    y, sides, conflict = np.zeros(n), np.zeros(nc, np.int64), np.zeros(nc, np.int64)
    for _ in range(3):  # a guess far away costs digits: then once more from the point found
        found = project(whole.C, whole.lo, whole.hi, guess, y, sides, conflict, 50 * (n + nc))
        if found == CONFLICT:
            return _least_violating(problem, tuple(int(i) for i in np.flatnonzero(conflict)), work)
        if found != FOUND:
            return solve_by_plain(problem)
        if np.linalg.norm(y) * 1e3 >= np.linalg.norm(guess):
            break
        guess = y.copy()
    defect = np.zeros(levels + 1)
    steps = climb(whole, y, sides, defect, 100 * (n + nc))
    work["steps"] = abs(int(steps))
    # the same point once more, straight from its working set: without the rounding of the way there
    again, clean, unused = sides.copy(), np.zeros(n), np.zeros(n)
    sure = pivot(s.arrays, again, clean, np.zeros((levels + 1, nc)), np.zeros(levels + 1), 1, unused)
    if s.violation(clean) <= max(s.violation(y), VIOLATION) and _no_worse(s.residuals(clean), s.residuals(y), problem):
        y, sides = clean, again
    if sure > 0 or (steps >= 0 and float(defect[:-1].max(initial=0.0)) < MAX_DEFECT):
        return HierarchyOutcome(s.point(y), "solved", sides, work, scale=d)
    at = int(np.argmax(defect))
    name = (*problem.names, "nearness")[at]
    note = f"level {name!r} stopped at a relative gradient of {defect[at]:.1e}"
    return HierarchyOutcome(s.point(y), "inexact", sides, work, note=note, scale=d)


def _weighted_guess(s: Scaled, ratio: float) -> Ints | None:
    """Returns the working set of the weighted program, with levels scaled to like size; None where it is not solved."""
    p, scaled = s.problem, s.arrays
    ratio = min(ratio, 10.0 ** (MAX_WEIGHT_DECADES / max(len(p.levels) - 1, 1)))
    A, b = scaled.A.copy(), p.b.copy()
    for k, (first, last) in enumerate(pairwise(p.ends)):
        weight = ratio ** (-0.5 * k) / max(float(scaled.size[first:last].max(initial=0.0)), 1e-300)
        A[first:last] *= weight
        b[first:last] *= weight
    n, lo, hi = p.size, scaled.lo, scaled.hi
    H = A.T @ A
    H[np.diag_indices(n)] += 1e-8
    found = solve_quadratic(H, -A.T @ b, lo[:n], hi[:n], scaled.C, lo[n:], hi[n:])
    return np.sign(found.multipliers).astype(np.int64) if found.solved else None


def _legal(seed: Ints, lo: Array, hi: Array) -> Ints:
    """Returns the working set `seed` of another problem without ends that are infinite here, with all equalities."""
    sides = np.where((seed < 0) & np.isfinite(lo) | (seed > 0) & np.isfinite(hi), seed, 0)
    return np.where(lo == hi, -1, sides)


def _no_worse(new: Array, old: Array, problem: Hierarchy) -> bool:
    """Whether the squared residuals `new` are lexicographically as good as `old`, but for rounding."""
    scale = np.array([*((problem.b[s:e] ** 2).sum() for s, e in pairwise(problem.ends)), 0.0])
    for a, b, c in zip(new, old, scale, strict=True):
        if a > b * (1.0 + 1e-10) + 1e-22 * c:
            return False
        if a < b * (1.0 - 1e-10) - 1e-22 * c:
            return True
    return True


def _least_violating(problem: Hierarchy, conflict: tuple[int, ...], work: dict[str, int]) -> HierarchyOutcome:
    """Returns the point that violates the rows least in squares, within the bounds, and then serves the levels.

    The rows get slack variables, and a level above all others makes those small.
    """
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
    return HierarchyOutcome(x, "infeasible", sides, work or outcome.work, conflict)


def solve_by_plain(problem: Hierarchy) -> HierarchyOutcome:
    """The slow, readable method behind the same interface."""
    s = Scaled(problem)
    whole = s.with_bounds_as_rows()
    levels = [(whole.A[a:e], problem.b[a:e]) for a, e in pairwise(problem.ends)]
    levels.append((np.diag(whole.d), problem.near))
    answer = solve_plain(levels, whole.C, whole.lo, whole.hi, problem.near / whole.d)
    if answer.conflict is not None:
        return _least_violating(problem, answer.conflict, {})
    return HierarchyOutcome(s.point(answer.x), "solved", answer.sides, {"guesses": 0, "steps": answer.steps})
