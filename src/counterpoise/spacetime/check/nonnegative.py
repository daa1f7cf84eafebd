"""Non-negative least squares on the normal equations (Lawson & Hanson 1974; Bro & de Jong 1997), compiled."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel

GRADIENT_TOLERANCE = 1e-11  # relative: a column with a smaller gradient does not enter
ZERO_TOLERANCE = 1e-15  # a value below this is zero
MIN_PIVOT = 1e-18  # of the Cholesky factorisation


@kernel
def nonnegative_least_squares(H: Array, g: Array) -> Array:
    """Returns x >= 0 that minimises x H x / 2 - g x, with H positive definite.

    Columns enter the active set one at a time and leave it when their value becomes negative. The factor of the set is
    kept: a column that enters adds a row to it, one that leaves makes the rows after it anew.
    """
    n = len(g)
    x = np.zeros(n)
    used = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    L, s = np.empty((n, n)), np.empty(n)  # Cholesky factor of the columns in use, and their optimum
    size = made = 0  # columns in use, rows of L that are right
    scale = 0.0
    for i in range(n):
        scale = max(scale, abs(g[i]))
    for _ in range(3 * n + 10):
        best, pick = GRADIENT_TOLERANCE * scale, -1
        for i in range(n):
            if not used[i]:
                w = g[i]
                for k in range(size):
                    w -= H[i, order[k]] * x[order[k]]
                if w > best:
                    best, pick = w, i
        if pick < 0:
            break
        used[pick] = True
        order[size] = pick
        size += 1
        while size > 0:
            _solve_columns(H, g, order, size, made, L, s)
            made = size
            share, worst = 1.0, -1
            for k in range(size):
                if s[k] <= 0.0:
                    now = x[order[k]]
                    part = now / (now - s[k]) if now > s[k] else 0.0
                    if part < share or worst < 0:
                        share, worst = min(part, share), k
            if worst < 0:
                for k in range(size):
                    x[order[k]] = s[k]
                break
            kept = 0
            for k in range(size):
                i = order[k]
                x[i] += share * (s[k] - x[i])
                if k == worst or (x[i] <= ZERO_TOLERANCE and s[k] <= 0.0):
                    x[i] = 0.0
                    used[i] = False
                    made = min(made, kept)
                else:
                    order[kept] = i
                    kept += 1
            size = kept
    return x


@inner_kernel
def _solve_columns(H: Array, g: Array, order: Ints, size: int, made: int, L: Array, s: Array) -> None:
    """Writes the unconstrained optimum over the first `size` columns of `order` to s, by Cholesky.

    The first `made` rows of the factor L are right; the others are written.
    """
    for r in range(made, size):
        i = order[r]
        for c in range(r + 1):
            total = H[i, order[c]]
            for k in range(c):
                total -= L[r, k] * L[c, k]
            L[r, c] = np.sqrt(max(total, MIN_PIVOT)) if c == r else total / L[c, c]
    for r in range(size):
        total = g[order[r]]
        for k in range(r):
            total -= L[r, k] * s[k]
        s[r] = total / L[r, r]
    for r in range(size - 1, -1, -1):
        total = s[r]
        for k in range(r + 1, size):
            total -= L[k, r] * s[k]
        s[r] = total / L[r, r]
