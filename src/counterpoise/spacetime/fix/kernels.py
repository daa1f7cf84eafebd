"""Compiled parts of a fix: what contacts can supply of each frame's wrench, and sums into a banded matrix."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel

FORCE_RIDGE = 1e-7  # so that opposite forces of held bodies do not grow
FINAL_BARRIER = 1e-10  # [body weights^2] barrier parameter at which forces and residuals are read
BARRIER_TOLERANCE = 0.1  # relative: a barrier parameter is reached when every product l s is this near to it
BARRIER_REDUCTION = 0.1  # of the mean product l s, in one step
MAX_BARRIER_STEPS = 60
BOUNDARY_SHARE = 0.98  # of the way to the boundary that a step may go


@kernel
def split_wrenches(
    wrench: Array, com: Array, places: Array, active: Flags, held: Flags, edges: Array, height: float,
    components: Array, barrier: float, residual: Array, hessian: Array, force: Array,
) -> None:  # fmt: skip
    """Writes for every frame the residual (n, 6), the part of the wrench that no contact can supply, and its Hessian.

    residual = W - A l with l >= 0 minimising |W - A l|^2 (torques over `height`), by a primal-dual interior point: with
    r = W - A l, s = -A^T r and l s = mu, a step solves (1 + A diag(l / s) A^T) r' = W - A (l + mu / s). A small ridge
    keeps opposite forces of a held body small. When mu passes `barrier`, hessian (n, 6, 6) =
    (1 + A diag(l / s) A^T)^-1 is kept: the Hessian of half the squared distance, smoothed so that it also resists a
    wrench inside the cone but near its faces. `force` (n, p, 3) is the force of each point.
    """
    n, p = active.shape
    room = p * max(len(edges), 6)
    A, point, direction = np.zeros((room, 6)), np.zeros(room, np.int64), np.zeros((room, 3))
    l, s, l_step, s_step = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    for t in range(n):
        force[t, :, :] = 0.0
        c = _contact_columns(com[t], places[t], active[t], held, edges, height, components, A, point, direction)
        for k in range(6):
            residual[t, k] = wrench[t, k] * components[k]
            for j in range(6):
                hessian[t, k, j] = 1.0 if k == j else 0.0
        if c == 0:
            continue
        for k in range(c):
            l[k] = 2.0 / c
            s[k] = 0.1
        _reach_barrier(A, c, residual[t], barrier, l, s, l_step, s_step)
        _write_hessian(A, c, l, s, hessian[t])
        _reach_barrier(A, c, residual[t], FINAL_BARRIER, l, s, l_step, s_step)
        for k in range(c):
            for i in range(3):
                force[t, point[k], i] += l[k] * direction[k, i]
            for i in range(6):
                residual[t, i] -= l[k] * A[k, i]


@inner_kernel
def _contact_columns(
    com: Array, places: Array, active: Flags, held: Flags, edges: Array, height: float, components: Array,
    A: Array, point: Ints, direction: Array,
) -> int:  # fmt: skip
    """Writes the wrench (6,) of every unit force: edges of friction cones, or six directions of a held body.

    Returns their number.
    """
    c = 0
    for i in range(len(active)):
        if not active[i]:
            continue
        x, y, z = places[i, 0] - com[0], places[i, 1] - com[1], places[i, 2] - com[2]
        for e in range(6 if held[i] else len(edges)):
            if held[i]:
                u = 1.0 if e == 0 else (-1.0 if e == 3 else 0.0)
                v = 1.0 if e == 1 else (-1.0 if e == 4 else 0.0)
                w = 1.0 if e == 2 else (-1.0 if e == 5 else 0.0)
            else:
                u, v, w = edges[e, 0], edges[e, 1], edges[e, 2]
            A[c, 0] = components[0] * (y * w - z * v) / height
            A[c, 1] = components[1] * (z * u - x * w) / height
            A[c, 2] = components[2] * (x * v - y * u) / height
            A[c, 3], A[c, 4], A[c, 5] = components[3] * u, components[4] * v, components[5] * w
            direction[c, 0], direction[c, 1], direction[c, 2] = u, v, w
            point[c] = i
            c += 1
    return c


@inner_kernel_with_arrays
def _reach_barrier(
    A: Array, c: int, wrench: Array, barrier: float, l: Array, s: Array, l_step: Array, s_step: Array
) -> None:
    """Takes interior-point steps until every product l s is about `barrier`; l and s change in place."""
    M, right, r = np.empty((6, 6)), np.empty(6), np.empty(6)
    for _ in range(MAX_BARRIER_STEPS):
        mean, worst = 0.0, 0.0
        for k in range(c):
            mean += l[k] * s[k] / c
            worst = max(worst, abs(l[k] * s[k] / barrier - 1.0))
        if worst < BARRIER_TOLERANCE:
            break
        mu = max(barrier, BARRIER_REDUCTION * mean)
        for i in range(6):
            right[i] = wrench[i]
            for j in range(6):
                M[i, j] = 1.0 if i == j else 0.0
        for k in range(c):
            slack = s[k] + FORCE_RIDGE * l[k]
            ratio, extra = l[k] / slack, (l[k] * s[k] + mu) / slack
            for i in range(6):
                right[i] -= A[k, i] * extra
                for j in range(i + 1):
                    M[i, j] += ratio * A[k, i] * A[k, j]
        _solve_six(M, right, r)
        step = 1.0
        for k in range(c):
            along = 0.0
            for i in range(6):
                along += A[k, i] * r[i]
            new = (mu + l[k] * s[k] + l[k] * along) / (s[k] + FORCE_RIDGE * l[k])
            l_step[k] = new - l[k]
            s_step[k] = FORCE_RIDGE * new - along - s[k]
            if s_step[k] < 0.0:
                step = min(step, -BOUNDARY_SHARE * s[k] / s_step[k])
            if l_step[k] < 0.0:
                step = min(step, -BOUNDARY_SHARE * l[k] / l_step[k])
        for k in range(c):
            l[k] += step * l_step[k]
            s[k] += step * s_step[k]


@inner_kernel_with_arrays
def _write_hessian(A: Array, c: int, l: Array, s: Array, hessian: Array) -> None:
    """Writes (1 + A diag(l / s) A^T)^-1 (6, 6)."""
    G = np.eye(6)
    for k in range(c):
        ratio = l[k] / (s[k] + FORCE_RIDGE * l[k])
        for i in range(6):
            for j in range(6):
                G[i, j] += ratio * A[k, i] * A[k, j]
    hessian[:] = np.linalg.inv(G)


@inner_kernel
def _solve_six(M: Array, b: Array, x: Array) -> None:
    """Solves M x = b for a positive definite M (6, 6). Only its lower triangle is read; it is overwritten."""
    for r in range(6):
        for c in range(r + 1):
            total = M[r, c]
            for k in range(c):
                total -= M[r, k] * M[c, k]
            M[r, c] = np.sqrt(max(total, 1e-300)) if c == r else total / M[c, c]
        total = b[r]
        for k in range(r):
            total -= M[r, k] * x[k]
        x[r] = total / M[r, r]
    for r in range(5, -1, -1):
        total = x[r]
        for k in range(r + 1, 6):
            total -= M[k, r] * x[k]
        x[r] = total / M[r, r]


@kernel
def add_square(G: Array, at: int, band: Array) -> None:
    """Adds a symmetric G (k, k) to the rows at ... at + k - 1 of a matrix whose upper band is `band` (n, width)."""
    for r in range(len(G)):
        for c in range(r, len(G)):
            band[at + r, c - r] += G[r, c]


@kernel
def add_to_rows(G: Array, rows: Ints, at: int, band: Array) -> None:
    """Adds a symmetric G (k, k) to the rows at + rows[0], at + rows[1], ...; `rows` increase."""
    for i in range(len(G)):
        for j in range(i, len(G)):
            band[at + rows[i], rows[j] - rows[i]] += G[i, j]


@kernel
def add_diagonals(K: Array, lever: Array, at: int, band: Array) -> None:
    """Adds the Kronecker product of K (w, w) and diag(lever) (d, d)."""
    d = len(lever)
    for i in range(len(K)):
        for j in range(i, len(K)):
            for v in range(d):
                band[at + i * d + v, (j - i) * d] += K[i, j] * lever[v]
