"""Kernels for one Gauss-Newton step: joint ranges are held exactly, limits of ball joints by stiff rows."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, fma, inner_kernel, inner_kernel_with_arrays, lean_kernel

MAX_SWEEPS = 8  # of the working set of joint ranges ...
RELEASING_SWEEPS = 4  # ... only in the first of these a coordinate may leave its bound again
MAX_EXCHANGES = 6  # of the rows of ball limits


@lean_kernel
def _factor(H: Array, damping: float, held: Ints, U: Array) -> bool:
    """Fills the upper triangle U'U of H, damped, without the coordinates that are held. Returns False if H is singular.

    Rows are updated by rows, so that the loops vectorise; coordinates that do not meet (two hands) are skipped.
    """
    n = len(U)
    for i in range(n):
        for k in range(i, n):
            U[i, k] = H[k, i] if held[i] == 0 and held[k] == 0 else 0.0
        U[i, i] += damping * (H[i, i] + 1e-3) + 1e-9
    for i in range(n):
        if held[i] != 0:
            continue
        if not U[i, i] > 1e-14:
            return False
        root = np.sqrt(U[i, i])
        for k in range(i, n):
            U[i, k] /= root
        for j in range(i + 1, n):
            share = -U[i, j]
            if share != 0.0:
                for k in range(j, n):
                    U[j, k] = fma(share, U[i, k], U[j, k])
    return True


@inner_kernel
def _bounded_step(
    H: Array, g: Array, damping: float, low: Array, high: Array, held: Ints, x: Array, U: Array, y: Array
) -> bool:
    """Fills the x that minimises x H x / 2 + g x (H damped) with low <= x <= high. Returns False if H is singular.

    `held` is the working set (-1: at its lower bound, 1: at its upper bound, 0: free), kept for the next call. U and y
    are workspace.
    """
    n = len(g)
    for sweep in range(MAX_SWEEPS):
        if not _factor(H, damping, held, U):
            return False
        for i in range(n):
            x[i] = 0.0 if held[i] == 0 else (low[i] if held[i] < 0 else high[i])
        for i in range(n):  # what the held coordinates push
            if held[i] == 0:
                total = -g[i]
                for k in range(n):
                    if held[k] != 0:
                        total -= (H[i, k] if k < i else H[k, i]) * x[k]
                y[i] = total
        for i in range(n):  # U' z = y, then U x = z
            if held[i] == 0:
                y[i] /= U[i, i]
                for k in range(i + 1, n):
                    y[k] = fma(-y[i], U[i, k], y[k])
        for i in range(n - 1, -1, -1):
            if held[i] == 0:
                x[i] = (y[i] - dot(U[i, i + 1 :], x[i + 1 :])) / U[i, i]
        changed = False
        for i in range(n):
            if held[i] == 0:
                if x[i] < low[i] - 1e-12:
                    held[i], changed = -1, True
                elif x[i] > high[i] + 1e-12:
                    held[i], changed = 1, True
            elif sweep < RELEASING_SWEEPS:
                slope = g[i]
                for k in range(n):
                    slope += (H[i, k] if k <= i else H[k, i]) * x[k]
                if (held[i] == -1 and slope < -1e-9) or (held[i] == 1 and slope > 1e-9):
                    held[i], changed = 0, True
        if not changed:
            return True
    for i in range(n):
        x[i] = min(max(x[i], low[i]), high[i])
    return True


@inner_kernel_with_arrays
def limited_step(
    H: Array, g: Array, rows: tuple[Array, Array, Ints], weight: float, damping: float, low: Array, high: Array,
    held: Ints, x: Array, L: Array, H2: Array, g2: Array,
) -> bool:  # fmt: skip
    """Fills the step x within its bounds, with the rows of ball limits that it would break. Returns False if singular.

    `rows` are (value, gradient, first dof) of each limit, which counts from value 0 on. Rows are added and removed
    until those in the step are those that it breaks. L, H2 and g2 are workspace.
    """
    over, slopes, dofs = rows
    active, y = np.zeros(len(over), np.int64), np.empty(len(g))
    for i in range(len(over)):
        active[i] = 1 if over[i] > 0.0 else 0
    fine = False
    for _ in range(MAX_EXCHANGES):
        H2[:] = H
        g2[:] = g
        for i in range(len(over)):
            if active[i] == 1:
                for k in range(3):
                    g2[dofs[i] + k] += weight * over[i] * slopes[i, k]
                    for r in range(k + 1):
                        H2[dofs[i] + k, dofs[i] + r] += weight * slopes[i, k] * slopes[i, r]
        fine = _bounded_step(H2, g2, damping, low, high, held, x, L, y)
        if not fine:
            return False
        changed = False
        for i in range(len(over)):
            ahead = over[i]
            for k in range(3):
                ahead += slopes[i, k] * x[dofs[i] + k]
            now = 1 if ahead > 0.0 else 0
            if now != active[i]:
                active[i], changed = now, True
        if not changed:
            return True
    return fine
