"""One program a level, the rows of levels above as equalities (de Lasa 2011, section 6.3.4; Kanoun et al. 2009).

    level i:  minimise ||A_i x - b_i||^2   subject to   A_k (x - x_k) = 0 for k < i, and the constraints        (6.60)

For comparison only: the equalities add up, and rounding makes programs infeasible that are not.
"""

from __future__ import annotations

import numpy as np

from counterpoise.solve.level import Hierarchy, HierarchyOutcome
from counterpoise.solve.quadratic import solve_quadratic
from counterpoise.solve.weighted import not_solved

REGULARISATION = 1e-8  # weight of the nearness, relative to the Hessian: the backend needs strictly convex programs
EQUALITY_TOLERANCE = 1e-9  # relative width of the equalities of levels above: with none the programs are infeasible


def solve_cascade(problem: Hierarchy) -> HierarchyOutcome:
    """Solves one quadratic program for every level, first to last."""
    G, low, high = problem.G.copy(), problem.low, problem.high
    x, sides, iterations = problem.near, np.zeros(problem.size + len(low), np.int64), 0
    for k, name in enumerate(problem.names):
        A, b = problem.rows_of(k)
        H = A.T @ A
        rho = REGULARISATION * max(float(np.abs(H).max(initial=0.0)), 1e-12)
        H[np.diag_indices(problem.size)] += rho
        found = solve_quadratic(H, -A.T @ b - rho * problem.near, problem.lower, problem.upper, G, low, high)
        iterations += found.iterations
        if not found.solved:
            return not_solved(problem, {"iterations": iterations, "level": k}, f"the program of level {name!r}")
        x, sides = np.array(found.x), np.sign(found.multipliers[: len(sides)]).astype(np.int64)
        width = EQUALITY_TOLERANCE * (np.linalg.norm(A, axis=1) + np.abs(A @ x))
        G = np.vstack([G, A])
        low, high = np.concatenate([low, A @ x - width]), np.concatenate([high, A @ x + width])
    return HierarchyOutcome(np.array(x), "solved", sides, {"iterations": iterations})
