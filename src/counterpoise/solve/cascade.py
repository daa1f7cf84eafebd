"""One program a level, the rows of levels above as equalities (de Lasa 2011, section 6.3.4; Kanoun et al. 2009).

    level i:  minimise ||A_i x - b_i||^2   subject to   A_k (x - x_k) = 0 for k < i, and the constraints        (6.60)

For comparison only: the equalities pile up, and programs that are feasible become infeasible by rounding.
"""

from __future__ import annotations

import numpy as np

from counterpoise.solve.level import Hierarchy, HierarchyOutcome
from counterpoise.solve.quadratic import solve_quadratic
from counterpoise.solve.weighted import not_solved

NEARNESS = 1e-8  # relative regularisation of every program: the backend wants them strictly convex
GIVE = 1e-9  # the equalities of levels above hold this closely, relative: as equalities proper they fail at once


def solve_cascade(problem: Hierarchy) -> HierarchyOutcome:
    """As many quadratic programs as levels."""
    G, low, high = problem.G.copy(), problem.low, problem.high
    x, sides, iterations = problem.near, np.zeros(problem.size + len(low), np.int64), 0
    for k, name in enumerate(problem.names):
        A, b = problem.rows_of(k)
        H = A.T @ A
        rho = NEARNESS * max(float(np.abs(H).max(initial=0.0)), 1e-12)
        H[np.diag_indices(problem.size)] += rho
        found = solve_quadratic(H, -A.T @ b - rho * problem.near, problem.lower, problem.upper, G, low, high)
        iterations += found.iterations
        if not found.solved:
            return not_solved(problem, {"iterations": iterations, "level": k}, f"the program of level {name!r}")
        x, sides = np.array(found.x), np.sign(found.multipliers[: len(sides)]).astype(np.int64)
        give = GIVE * (np.linalg.norm(A, axis=1) + np.abs(A @ x))
        G = np.vstack([G, A])
        low, high = np.concatenate([low, A @ x - give]), np.concatenate([high, A @ x + give])
    return HierarchyOutcome(np.array(x), "solved", sides, {"iterations": iterations})
