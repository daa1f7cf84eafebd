"""Compiled parts of the fix: what contacts can give of each frame's wrench, and sums into a band."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.kernels import kernel

RIDGE = 1e-7  # on forces
SHARP = 1e-10  # at which forces and what is missing are read, in squared body weights


@kernel
def split_wrenches(
    wrench: Array, com: Array, places: Array, active: Flags, held: Flags, ways: Array, height: float, counted: Array,
    mild: float, left: Array, firm: Array, force: Array,
) -> None:  # fmt: skip
    """For every frame the part `left` (n, 6) of the wrench that no contact can give, and how firmly it resists change.

    left = W - A l with l >= 0 minimising |W - A l|^2 (torques over `height`), by a primal-dual interior point: with
    r = W - A l, s = -A^T r and l s = mu, a step solves (1 + A diag(l / s) A^T) r' = W - A (l + mu / s); a hint of ridge
    lets what is held not push against itself. On the way mu passes `mild`, where firm (n, 6, 6) =
    (1 + A diag(l / s) A^T)^-1 is kept: the Hessian of the distance, smoothed so that a wrench inside the cone resists
    near its walls. `force` (n, p, 3) is what each point gives.
    """
    n, p = active.shape
    edges = len(ways)
    room = p * max(edges, 6)
    A, whose, way = np.zeros((room, 6)), np.zeros(room, np.int64), np.zeros((room, 3))
    l, s, t_l, t_s = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    M, right, r = np.empty((6, 6)), np.empty(6), np.empty(6)
    for t in range(n):
        c = 0
        for i in range(p):
            force[t, i, :] = 0.0
            if not active[t, i]:
                continue
            x, y, z = places[t, i, 0] - com[t, 0], places[t, i, 1] - com[t, 1], places[t, i, 2] - com[t, 2]
            for e in range(6 if held[i] else edges):
                if held[i]:
                    u = 1.0 if e == 0 else (-1.0 if e == 3 else 0.0)
                    v = 1.0 if e == 1 else (-1.0 if e == 4 else 0.0)
                    w = 1.0 if e == 2 else (-1.0 if e == 5 else 0.0)
                else:
                    u, v, w = ways[e, 0], ways[e, 1], ways[e, 2]
                A[c, 0] = counted[0] * (y * w - z * v) / height
                A[c, 1] = counted[1] * (z * u - x * w) / height
                A[c, 2] = counted[2] * (x * v - y * u) / height
                A[c, 3], A[c, 4], A[c, 5] = counted[3] * u, counted[4] * v, counted[5] * w
                way[c, 0], way[c, 1], way[c, 2] = u, v, w
                whose[c] = i
                c += 1
        for k in range(6):
            left[t, k] = wrench[t, k] * counted[k]
            for j in range(6):
                firm[t, k, j] = 1.0 if k == j else 0.0
        if c == 0:
            continue
        for k in range(c):
            l[k] = 2.0 / c
            s[k] = 0.1
        for goal in (mild, SHARP):
            for _ in range(60):
                mean, worst = 0.0, 0.0
                for k in range(c):
                    mean += l[k] * s[k] / c
                    worst = max(worst, abs(l[k] * s[k] / goal - 1.0))
                if worst < 0.1:
                    break
                mu = max(goal, 0.1 * mean)
                for i in range(6):
                    right[i] = left[t, i]
                    for j in range(6):
                        M[i, j] = 1.0 if i == j else 0.0
                for k in range(c):
                    firmer = s[k] + RIDGE * l[k]
                    ratio, extra = l[k] / firmer, (l[k] * s[k] + mu) / firmer
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
                    new = (mu + l[k] * s[k] + l[k] * along) / (s[k] + RIDGE * l[k])
                    t_l[k] = new - l[k]
                    t_s[k] = RIDGE * new - along - s[k]
                    if t_s[k] < 0.0:
                        step = min(step, -0.98 * s[k] / t_s[k])
                    if t_l[k] < 0.0:
                        step = min(step, -0.98 * l[k] / t_l[k])
                for k in range(c):
                    l[k] += step * t_l[k]
                    s[k] += step * t_s[k]
            if goal == mild:
                G = np.eye(6)
                for k in range(c):
                    ratio = l[k] / (s[k] + RIDGE * l[k])
                    for i in range(6):
                        for j in range(6):
                            G[i, j] += ratio * A[k, i] * A[k, j]
                firm[t] = np.linalg.inv(G)
        for k in range(c):
            for i in range(3):
                force[t, whose[k], i] += l[k] * way[k, i]
            for i in range(6):
                left[t, i] -= l[k] * A[k, i]


@kernel
def _solve_six(M: Array, b: Array, x: Array) -> None:
    """M x = b for a positive definite M (6, 6), of which only the lower triangle is read; it is overwritten."""
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
    """Add a symmetric G (k, k) to the rows at ... at + k - 1 of a matrix whose upper band is `band` (n, width)."""
    for r in range(len(G)):
        for c in range(r, len(G)):
            band[at + r, c - r] += G[r, c]


@kernel
def add_spread(G: Array, rows: Ints, at: int, band: Array) -> None:
    """Add a symmetric G (k, k) to the increasing rows at + rows[0], at + rows[1], ..."""
    for i in range(len(G)):
        for j in range(i, len(G)):
            band[at + rows[i], rows[j] - rows[i]] += G[i, j]


@kernel
def add_diagonals(K: Array, lever: Array, at: int, band: Array) -> None:
    """Add K (w, w) times diag(lever) (d): every degree of freedom for itself."""
    d = len(lever)
    for i in range(len(K)):
        for j in range(i, len(K)):
            for v in range(d):
                band[at + i * d + v, (j - i) * d] += K[i, j] * lever[v]
