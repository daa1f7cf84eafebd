"""Small dense systems: Cholesky factors and triangular solves, compiled, in place."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel


@kernel
def factor(Q: Array) -> None:
    """Replaces the lower triangle of Q by its Cholesky factor; a pivot lost to rounding becomes a tiny one."""
    n = len(Q)
    floor = 0.0
    for i in range(n):
        floor = max(floor, Q[i, i])
    floor = 1e-15 * floor + 1e-300
    for j in range(n):
        for i in range(j, n):
            total = Q[i, j]
            for k in range(j):
                total -= Q[i, k] * Q[j, k]
            if i == j:
                Q[j, j] = np.sqrt(max(total, floor))
            else:
                Q[i, j] = total / Q[j, j]


@kernel
def forward(L: Array, x: Array) -> None:
    """Replaces x by L^-1 x."""
    for i in range(len(x)):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@kernel
def backward(L: Array, x: Array) -> None:
    """Replaces x by L^-T x."""
    n = len(x)
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
