"""Karush-Kuhn-Tucker conditions of every level, checked by plain algebra: a proof that needs no other solver."""

from __future__ import annotations

import numpy as np

from counterpoise.solve import Solution


def assert_optimal(solution: Solution, tolerance: float = 1e-7) -> None:
    """Feasible; every gradient explained by rows above and constraints; signs right; nothing inside pays (slackness).

    A constraint may pull the other way at a level only if it already pays at a level above: there it is an equality.
    """
    problem, x = solution.problem, solution.x
    C, low, high = problem.constraints
    value = C @ x
    size = np.linalg.norm(C, axis=1) * (1.0 + np.linalg.norm(x))
    assert (value >= low - 1e-9 * size).all() and (value <= high + 1e-9 * size).all()
    below, above = value <= low + 1e-7 * size, value >= high - 1e-7 * size
    locked = low == high
    assert len(solution.multipliers) == len(problem.levels) + 1
    for k, m in enumerate(solution.multipliers):
        A, b = problem.rows_of(k)
        r = A @ x - b
        mu = np.concatenate([m.bounds, m.rows])
        left = A.T @ r + C.T @ mu
        assert len(m.above) == k
        for j in range(k):
            left = left + problem.rows_of(j)[0].T @ m.above[j]
        whole = np.linalg.norm(A) * (np.linalg.norm(b) + np.linalg.norm(A) * np.linalg.norm(x))
        scale = np.linalg.norm(np.abs(A).T @ np.abs(r)) + 1e-4 * whole + 1e-12
        assert np.linalg.norm(left) <= tolerance * scale, (k, np.linalg.norm(left) / scale)
        pays = mu * np.linalg.norm(C, axis=1)
        assert (pays[~below & ~locked] >= -tolerance * scale).all(), k  # negative only at a low end
        assert (pays[~above & ~locked] <= tolerance * scale).all(), k  # positive only at a high end
        locked = locked | (np.abs(pays) > 1e-9 * scale)
