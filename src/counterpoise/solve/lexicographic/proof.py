"""The proof of optimality, from x alone: multipliers of every level, computed without the solver that found x.

    A_k'(A_k x - b_k) + bounds + G' rows + sum_{j<k} A_j' above[j] = 0

Level by level, the gradient is explained by the rows of the levels above and by the constraints that hold those back
(any sign), and by the other active constraints (one sign).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array
from counterpoise.solve.level import Hierarchy
from counterpoise.solve.lexicographic.plain import active_sides, attained, null_space, stationarity


def multipliers_at(problem: Hierarchy, x: Array, d: Array) -> list[tuple[Array, Array, tuple[Array, ...], float]]:
    """Returns (bounds, rows, above, defect) for every level and the nearness: the fields of `Multipliers`.

    Ranks are judged with the variables in the units d; the multipliers do not depend on them.
    """
    C, low, high = problem.constraints
    C, x = C * d, x / d
    length = np.linalg.norm(C, axis=1)
    safe = np.where(length > 0.0, length, 1.0)
    U = C / safe[:, None]
    lo, hi = np.where(length > 0.0, low / safe, -np.inf), np.where(length > 0.0, high / safe, np.inf)
    sides = active_sides(U, lo, hi, x)
    locked = low == high
    above: list[Array] = []
    out = []
    for k in range(len(problem.levels) + 1):
        A, b = problem.rows_of(k)
        A = A * d
        fixed = np.vstack([*above, U[locked]]) if above or locked.any() else np.zeros((0, len(x)))
        active = np.flatnonzero((sides != 0) & ~locked)
        inward = -sides[active].astype(float)
        N = inward[:, None] * U[active]
        mu, _, defect = stationarity(A, b, N, x, null_space(fixed, np.eye(len(x))))
        g = np.zeros(len(x)) if attained(A, b, x) else A.T @ (A @ x - b)
        rest: Array = np.zeros(0)
        if len(fixed):
            rest = np.asarray(np.linalg.lstsq(fixed.T, g - N.T @ mu, rcond=1e-13)[0], float)
        full = np.zeros(len(C))
        full[active] = inward * mu
        count = sum(len(rows) for rows in above)
        full[locked] = rest[count:]
        ends = np.cumsum([0, *(len(rows) for rows in above)])
        eta = tuple(-rest[s:e] for s, e in pairwise(ends))
        full = -full / safe
        out.append((full[: problem.size], full[problem.size :], eta, defect))
        hold = np.zeros(len(C), bool)
        hold[active] = mu > 0.0
        locked = locked | hold
        above.append(A)
    return out
