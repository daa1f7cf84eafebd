"""Projections on polyhedra and cones, compiled: where the climb begins, and what it does at a corner.

`project`: the feasible point nearest to a guess, by a dual active-set method (Goldfarb & Idnani 1983, Hessian one); it
ends with the point, or with a smallest set of rows that contradict each other: the violated one and those of its
working set that it depends on, a relation with no other, so that without any one of them the others hold together.
`nonnegative`: the projection on the cone of active constraints, by non-negative least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.kernels import swift_kernel
from counterpoise.solve.lexicographic.kernels import SLACK
from counterpoise.solve.orthogonal import RANK, append_row, reflect_back, reflect_forth, solve_lower, solve_upper


@swift_kernel
def nothing_at(y: Any) -> float:
    """Violation that counts as none at y: rows have unit length, so rounding goes with the length of y."""
    s = 0.0
    for j in range(len(y)):
        s += y[j] * y[j]
    return SLACK * np.sqrt(s) + 1e-300


@swift_kernel
def project(C: Any, lo: Any, hi: Any, guess: Any, y: Any, sides: Any, conflict: Any, limit: int) -> int:
    """Nearest y to the guess with lo <= C y <= hi. 0: found, its working set in sides; 1: conflict; 2: limit met."""
    nc, n = C.shape
    W = np.empty(n, np.int64)
    side = np.empty(n)  # +1: row as it is (low end, or equality), -1: turned (high end)
    u = np.zeros(n)
    L, V, beta = np.zeros((n + 1, n)), np.zeros((n, n)), np.zeros(n)
    row, t, r = np.empty(n), np.empty(n), np.zeros(n)
    rhs, c = np.empty(n), np.zeros(n)
    nw = 0
    for i in range(nc):
        sides[i] = 0
        conflict[i] = 0
    for j in range(n):
        y[j] = guess[j]
    # equalities
    for i in range(nc):
        if lo[i] != hi[i]:
            continue
        if nw < n and append_row(C[i], L, V, beta, nw, 0, n, 1.0):
            s = lo[i]
            for j in range(n):
                s -= C[i, j] * guess[j]
            rhs[nw] = s
            W[nw] = i
            side[nw] = 1.0
            sides[i] = -1
            nw += 1
    equal = nw
    solve_lower(L, 0, nw, rhs, c)
    for j in range(n):
        t[j] = c[j] if j < nw else 0.0
    reflect_back(t, V, beta, 0, nw, n)
    for j in range(n):
        y[j] = guess[j] + t[j]
    for _ in range(limit):
        slack = nothing_at(y)
        # the most violated constraint
        worst, p, sign = 0.0, -1, 1.0
        for i in range(nc):
            if sides[i] != 0 or (lo[i] == -np.inf and hi[i] == np.inf):
                continue
            v = 0.0
            for j in range(n):
                v += C[i, j] * y[j]
            if lo[i] - v > slack and lo[i] - v > worst:
                worst, p, sign = lo[i] - v, i, 1.0
            if v - hi[i] > slack and v - hi[i] > worst:
                worst, p, sign = v - hi[i], i, -1.0
        if p < 0:
            # the same point once more, straight from its working set
            for i in range(nw):
                s = lo[W[i]] if side[i] > 0.0 else hi[W[i]]
                for j in range(n):
                    s -= C[W[i], j] * guess[j]
                rhs[i] = s * side[i]
            solve_lower(L, 0, nw, rhs, c)
            for j in range(n):
                t[j] = c[j] if j < nw else 0.0
            reflect_back(t, V, beta, 0, nw, n)
            for j in range(n):
                y[j] = guess[j] + t[j]
            for i in range(nw):
                sides[W[i]] = -1 if side[i] > 0.0 else 1
            return 0
        gain = 0.0
        while True:
            for j in range(n):
                row[j] = sign * C[p, j]
                t[j] = row[j]
            reflect_forth(t, V, beta, 0, nw, n)
            zz = 0.0
            for j in range(nw, n):
                zz += t[j] * t[j]
            solve_upper(L, 0, nw, t, r)
            v = lo[p] if sign > 0.0 else -hi[p]
            for j in range(n):
                v -= row[j] * y[j]
            big = 1.0
            for i in range(nw):
                big = max(big, abs(r[i]))
            dual, at = np.inf, -1
            for i in range(equal, nw):
                if r[i] > 1e-11 * big and u[i] < dual * r[i]:
                    dual, at = u[i] / r[i], i
            primal = v / zz if zz > RANK * RANK else np.inf
            if dual == np.inf and primal == np.inf:
                conflict[p] = 1
                for i in range(nw):
                    if abs(r[i]) > 1e-9 * big:
                        conflict[W[i]] = 1
                return 1
            step = min(dual, primal)
            if primal < np.inf:
                for j in range(nw):
                    t[j] = 0.0
                reflect_back(t, V, beta, 0, nw, n)
                for j in range(n):
                    y[j] += step * t[j]
            for i in range(nw):
                u[i] -= step * r[i]
            gain += step
            if primal <= dual:
                append_row(row, L, V, beta, nw, 0, n, 1.0)
                W[nw] = p
                side[nw] = sign
                u[nw] = gain
                sides[p] = -1 if sign > 0.0 else 1
                nw += 1
                break
            sides[W[at]] = 0
            for i in range(at + 1, nw):
                W[i - 1], side[i - 1], u[i - 1] = W[i], side[i], u[i]
            nw -= 1
            for i in range(at, nw):
                for j in range(n):
                    row[j] = side[i] * C[W[i], j]
                append_row(row, L, V, beta, i, 0, n, 1e-3)
    return 2


@swift_kernel
def nonnegative(N: Any, g: Any, na: int, nz: int, mu: Any, left: Any) -> None:
    """min ||N' mu - g||, mu >= 0, and left = N' mu - g, by Lawson & Hanson's method (1974) on an LQ factor."""
    P = np.empty(nz + 1, np.int64)
    L, V, beta = np.zeros((nz + 1, nz)), np.zeros((nz, nz)), np.zeros(nz)
    size, refused, inside = np.empty(na), np.zeros(na, np.int64), np.zeros(na, np.int64)
    t, full, old = np.empty(nz), np.empty(nz + 1), np.zeros(nz + 1)
    gg = 0.0
    for j in range(nz):
        left[j] = -g[j]
        gg += g[j] * g[j]
    for i in range(na):
        mu[i] = 0.0
        s = 0.0
        for j in range(nz):
            s += N[i, j] * N[i, j]
        size[i] = np.sqrt(s)
    enough = 1e-12 * np.sqrt(gg)
    count = 0
    for _ in range(4 * na + 20):
        best, new = enough, -1
        for i in range(na):
            if inside[i] == 1 or refused[i] == 1 or size[i] <= RANK:
                continue
            s = 0.0
            for j in range(nz):
                s -= N[i, j] * left[j]
            if s > best * size[i]:
                best, new = s / size[i], i
        if new < 0 or count >= nz:
            return
        if not append_row(N[new], L, V, beta, count, 0, nz, size[new]):
            refused[new] = 1
            continue
        P[count] = new
        old[count] = 0.0
        inside[new] = 1
        count += 1
        first = True
        while count > 0:
            for j in range(nz):
                t[j] = g[j]
            reflect_forth(t, V, beta, 0, count, nz)
            solve_upper(L, 0, count, t, full)
            if first and full[count - 1] <= 0.0:
                count -= 1
                inside[new] = 0
                refused[new] = 1
                break
            first = False
            step, at = 1.0, -1
            for i in range(count):
                if full[i] <= 0.0 and old[i] <= step * (old[i] - full[i]):
                    step, at = old[i] / (old[i] - full[i]), i
            if at < 0:
                for i in range(na):
                    refused[i] = 0
                    mu[i] = 0.0
                for i in range(count):
                    old[i] = full[i]
                    mu[P[i]] = full[i]
                for j in range(count):
                    t[j] = 0.0
                reflect_back(t, V, beta, 0, count, nz)
                for j in range(nz):
                    left[j] = -t[j]
                break
            for i in range(count):
                old[i] += step * (full[i] - old[i])
            inside[P[at]] = 0
            for i in range(at + 1, count):
                P[i - 1], old[i - 1] = P[i], old[i]
            count -= 1
            for i in range(at, count):
                append_row(N[P[i]], L, V, beta, i, 0, nz, 1e-3 * size[P[i]])
