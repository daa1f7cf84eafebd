"""Scaling, compiled: units that suit the variables, and constraint rows of unit length."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import dot, inner_kernel, kernel
from counterpoise.solve.lexicographic.problem import ScaledHierarchy

NEGLIGIBLE_ENTRY = 1e-13  # entries below this part of their row's largest have no say
WIDE_ROW = 1e4  # ratio of a row's largest entry to its smallest from which scaling is tried
WIDE_UNITS = 10.0  # [binary digits] spread of the units found from which they are used


@kernel
def scale_columns(A: Array, G: Array, d: Array) -> bool:
    """Powers of two d so that the columns of A diag(d), G diag(d) are of like size. Returns False where all are one.

    First by the largest entries, then by geometric means (Curtis & Reid 1972), which find the units of sparse rows too.
    """
    n = A.shape[1]
    X = np.empty((len(A) + len(G), n))
    _stack(A, G, X)
    for j in range(n):
        d[j] = 1.0
    if not _is_wide(X):
        return False
    for _ in range(3):
        _divide_by_largest(X, d, np.zeros(n))
    c = np.zeros(n)
    _geometric_means(X, d, c, np.zeros(X.shape), np.zeros(X.shape, np.bool_), np.zeros(len(X)))
    low, high = np.inf, -np.inf
    for j in range(n):
        c[j] += np.log2(d[j])
        low, high = min(low, c[j]), max(high, c[j])
    for j in range(n):
        d[j] = 2.0 ** np.round(c[j]) if high - low > WIDE_UNITS else 1.0
    return high - low > WIDE_UNITS


@inner_kernel
def _stack(A: Array, G: Array, X: Array) -> None:
    for i in range(len(X)):
        for j in range(X.shape[1]):
            X[i, j] = A[i, j] if i < len(A) else G[i - len(A), j]


@inner_kernel
def _largest(row: Array, d: Array) -> float:
    top = 0.0
    for j in range(len(row)):
        top = max(top, abs(row[j]) * d[j])
    return top


@inner_kernel
def _is_wide(X: Array) -> bool:
    """Whether the entries of some row differ by more than WIDE_ROW."""
    wide = False
    for i in range(len(X)):
        top, least = 0.0, np.inf
        for j in range(X.shape[1]):
            top = max(top, abs(X[i, j]))
        for j in range(X.shape[1]):
            if abs(X[i, j]) > NEGLIGIBLE_ENTRY * top:
                least = min(least, abs(X[i, j]))
        wide = wide or top > WIDE_ROW * least
    return wide


@inner_kernel
def _divide_by_largest(X: Array, d: Array, big: Array) -> None:
    """Divides d by the largest entry of each column, the rows being of like size."""
    m, n = X.shape
    for i in range(m):
        top = _largest(X[i], d)
        if top > 0.0:
            for j in range(n):
                big[j] = max(big[j], abs(X[i, j]) * d[j] / top)
    for j in range(n):
        if big[j] > 0.0:
            d[j] /= big[j]


@inner_kernel
def _geometric_means(X: Array, d: Array, c: Array, logs: Array, there: Array, r: Array) -> None:
    """c: binary logarithms that bring the entries of X diag(d) nearest to one, with factors r of the rows."""
    m, n = X.shape
    for i in range(m):
        top = _largest(X[i], d)
        for j in range(n):
            if abs(X[i, j]) * d[j] > NEGLIGIBLE_ENTRY * top:
                there[i, j] = True
                logs[i, j] = np.log2(abs(X[i, j]) * d[j])
    for _ in range(30):
        for i in range(m):
            s, k = 0.0, 0
            for j in range(n):
                if there[i, j]:
                    s += logs[i, j] + c[j]
                    k += 1
            r[i] = s / max(k, 1)
        for j in range(n):
            s, k = 0.0, 0
            for i in range(m):
                if there[i, j]:
                    s += logs[i, j] - r[i]
                    k += 1
            c[j] = -s / max(k, 1)


@kernel
def scale_problem(
    A: Array, G: Array, low: Array, high: Array, lower: Array, upper: Array, scaled: ScaledHierarchy, length: Array
) -> None:
    """Writes A, C, lo, hi and the row lengths of the scaled problem, and the lengths that the rows of C had."""
    d, C, lo, hi = scaled.d, scaled.C, scaled.lo, scaled.hi
    M, n = A.shape
    for i in range(M):
        for j in range(n):
            scaled.A[i, j] = A[i, j] * d[j]
        scaled.size[i] = np.sqrt(dot(scaled.A[i], scaled.A[i]))
    for j in range(n):
        lo[j] = lower[j] / d[j]
        hi[j] = upper[j] / d[j]
    for i in range(G.shape[0]):
        for j in range(n):
            C[i, j] = G[i, j] * d[j]
        s = np.sqrt(dot(C[i], C[i]))
        length[i] = s
        f = 1.0 / s if s > 0.0 else 0.0
        for j in range(n):
            C[i, j] *= f
        lo[n + i] = low[i] * f if s > 0.0 else -np.inf
        hi[n + i] = high[i] * f if s > 0.0 else np.inf
