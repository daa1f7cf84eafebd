"""All levels in one program, by weights (de Lasa 2011, section 3.4): the usual alternative to strict priorities.

    minimise sum_i alpha_i ||A_i x - b_i||^2 + rho ||x - near||^2   subject to the constraints             (3.60)

It tends to the strict solution as the ratios of the weights grow, as far as rounding allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.errors import BadValue
from counterpoise.solve.level import Hierarchy, HierarchyOutcome
from counterpoise.solve.lexicographic.strict import solve_strict
from counterpoise.solve.quadratic import solve_quadratic

WEIGHT_RATIO = 1e3  # default ratio of one level's weight to the next
REGULARISATION = 1e-10  # rho, relative to the largest entry of the Hessian


def solve_weighted(problem: Hierarchy, importance: Sequence[float] | None = None) -> HierarchyOutcome:
    """Solves one quadratic program. `importance` is alpha, one weight for each level (default: WEIGHT_RATIO apart)."""
    count = len(problem.levels)
    alpha = WEIGHT_RATIO ** np.arange(count - 1, -1, -1.0) if importance is None else np.asarray(importance, float)
    if alpha.shape != (count,) or not np.isfinite(alpha).all() or (alpha < 0.0).any():
        raise BadValue(f"importance {importance!r}; expected {count} weights, finite and not negative")
    beta = np.sqrt(np.repeat(alpha, np.diff(problem.ends)))
    A, b = beta[:, None] * problem.A, beta * problem.b
    H = A.T @ A
    rho = REGULARISATION * max(float(np.abs(H).max(initial=0.0)), 1e-12)
    H[np.diag_indices(problem.size)] += rho
    found = solve_quadratic(
        H, -A.T @ b - rho * problem.near, problem.lower, problem.upper, problem.G.copy(), problem.low, problem.high
    )
    work = {"iterations": found.iterations}
    if found.solved:
        return HierarchyOutcome(np.array(found.x), "solved", np.sign(found.multipliers).astype(np.int64), work)
    return not_solved(problem, work, "the weighted program")


def not_solved(problem: Hierarchy, work: dict[str, int], what: str) -> HierarchyOutcome:
    """Returns the strict method's answer for a program without one: infeasible, or "inexact" with a note."""
    strict = solve_strict(problem)
    if strict.status == "infeasible":
        return strict
    return HierarchyOutcome(
        strict.x, "inexact", strict.sides, work, note=f"{what} was not solved; x is the strict solution"
    )
