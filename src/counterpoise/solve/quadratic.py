"""Quadratic programs: the one door to daqp.

minimise 1/2 x'H x + g'x   subject to   lower <= x <= upper,   low <= A x <= high        (equal ends: an equality)
"""

from __future__ import annotations

from dataclasses import dataclass

import daqp
import numpy as np

from counterpoise.arrays import Array

_ACTIVE, _EQUAL = 1, 5


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The answer. `multipliers`: bounds first, then rows; positive at an upper end. Valid where `solved`."""

    x: Array
    multipliers: Array
    solved: bool
    iterations: int


def solve_quadratic(
    H: Array,
    g: Array,
    lower: Array,
    upper: Array,
    A: Array,
    low: Array,
    high: Array,
    warm: Array | None = None,
    tolerance: float = 1e-9,
) -> Quadratic:
    """Solves a dense, strictly convex program by daqp's dual active-set method.

    `warm` are the multipliers of a similar program; the search begins with its working set.
    """
    above, below = np.concatenate([upper, high]), np.concatenate([lower, low])
    sense = np.zeros(len(above), np.int32)
    if warm is not None and len(warm) == len(sense):
        sense[warm != 0.0] = _ACTIVE
    sense[above - below <= 0.0] = _EQUAL
    x, _, flag, info = daqp.solve(
        np.ascontiguousarray(H), g, np.ascontiguousarray(A), above, below, sense, primal_tol=tolerance
    )
    lam = np.asarray(info["lam"], float)
    return Quadratic(np.asarray(x, float), lam, bool(flag > 0) and bool(np.isfinite(x).all()), int(info["iterations"]))
