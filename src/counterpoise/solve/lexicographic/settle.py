"""The hierarchy on a given working set, compiled: one LQ of [working rows; A_1; A_2; ...] in the free variables.

Variables at a bound are fixed. Then, in coordinates c of the reflected free variables:

    working rows   L c = ends                  triangle, first columns
    level l        min |L_l c - rest_l|        trapezoid, the next rank_l columns (see `solve.trapezoid`)
    what is left   nearest to `near`

and the multipliers of every level follow (`multipliers`).
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.solve.lexicographic.multipliers import Settling, level_multipliers
from counterpoise.solve.lexicographic.problem import ScaledHierarchy
from counterpoise.solve.orthogonal import append_row, pivoted_lq
from counterpoise.solve.reflections import reflect_back, reflect_forth, reflect_rows
from counterpoise.solve.trapezoid import fit_trapezoid

NEAREST_SIZE = 1e-6  # rows of the nearness count as this part of their length, so that none of them is dependent


@inner_kernel_with_arrays
def settling_space(problem: ScaledHierarchy) -> Settling:
    """Workspace for `settle`."""
    (M, n), m, N = problem.A.shape, len(problem.C), len(problem.ends) - 1
    wide = 1
    for l in range(N):
        wide = max(wide, problem.ends[l + 1] - problem.ends[l])
    deep, rows = min(wide, n), m + M
    return Settling(
        np.empty(n, np.int64), np.empty(m, np.int64), np.zeros(n), np.zeros((rows, n)), np.zeros((n, n)), np.zeros(n),
        np.empty(rows, np.int64), np.empty(rows), np.zeros(rows), np.empty(max(rows, wide)),
        np.zeros(N + 1, np.int64), np.zeros(N, np.int64),
        np.zeros((N, deep, wide)), np.zeros((N, deep, wide)), np.zeros((N, deep)), np.zeros(rows),
        np.zeros(M), np.empty(M), np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip


@kernel
def settle(problem: ScaledHierarchy, sides: Ints, y: Array, mu: Array, grade: Array, space: Settling) -> None:
    """Lexicographic least squares, the working set `sides` held as equalities.

    Writes y, the multipliers mu (levels + 1, constraints) and the size `grade` of each level's gradient. Working rows
    that depend on others leave the set.
    """
    nf = _fix_bounds(problem, sides, y, space)
    nw = _hold_rows(problem, sides, y, space, nf)
    used = _fit_levels(problem, y, space, nf, nw)
    if used == nf:
        for j in range(nf):
            space.t[j] = space.c[j]
    elif problem.plain:
        _take_nearest(problem, space, nf, used)
    else:
        _take_nearest_scaled(problem, space, nf, used)
    reflect_back(space.t, space.V, space.beta, 0, used, nf)
    for j in range(nf):
        y[space.free[j]] = space.t[j]
    for l in range(len(problem.ends)):
        level_multipliers(problem, sides, y, mu[l], grade, space, nf, nw, l)


@inner_kernel
def _fix_bounds(problem: ScaledHierarchy, sides: Ints, y: Array, space: Settling) -> int:
    """Puts variables of the working set at their ends. Returns how many are free."""
    nf = 0
    for j in range(len(y)):
        if sides[j] == 0:
            space.free[nf] = j
            nf += 1
            y[j] = 0.0
        else:
            y[j] = problem.lo[j] if sides[j] < 0 else problem.hi[j]
    return nf


@inner_kernel
def _hold_rows(problem: ScaledHierarchy, sides: Ints, y: Array, space: Settling, nf: int) -> int:
    """Factors the working rows, equalities first, and solves them. Returns how many are independent."""
    C, lo, hi, K, c, row = problem.C, problem.lo, problem.hi, space.K, space.c, space.g
    m, n = C.shape
    nw = 0
    for turn in range(2):
        for i in range(m):
            equality = lo[n + i] == hi[n + i]
            if sides[n + i] == 0 or equality != (turn == 0):
                continue
            rest = lo[n + i] if sides[n + i] < 0 else hi[n + i]
            for j in range(nf):
                row[j] = C[i, space.free[j]]
            rest -= dot(C[i], y)  # free variables are zero here
            if nw < nf and append_row(row, K, space.V, space.beta, nw, 0, nf, 1.0):
                rest -= dot(K[nw, :nw], c)
                c[nw] = rest / K[nw, nw]
                space.rows[nw] = i
                nw += 1
            elif not equality:
                sides[n + i] = 0
    return nw


@inner_kernel
def _fit_levels(problem: ScaledHierarchy, y: Array, space: Settling, nf: int, nw: int) -> int:
    """Solves level after level in the columns left free. Returns how many columns are used."""
    A, ends, K, c, rest = problem.A, problem.ends, space.K, space.c, space.rest
    m, N = len(problem.C), len(ends) - 1
    used = nw
    for l in range(N):
        first, last = m + ends[l], m + ends[l + 1]
        space.start[l], space.rank[l] = used, 0
        if used == nf or first == last:
            continue
        for i in range(first, last):
            for j in range(nf):
                K[i, j] = A[i - m, space.free[j]]
            rest[i], space.size[i] = problem.b[i - m] - dot(A[i - m], y), problem.size[i - m]
        reflect_rows(K, first, last, space.V, space.beta, 0, used, nf)
        for i in range(first, last):
            rest[i] -= dot(K[i, :used], c)
        r = pivoted_lq(K, first, last, used, nf, space.V, space.beta, space.order, space.size, space.spare)
        if r > 0:
            fit_trapezoid(
                K, space.order, first, last - first, used, r, rest, c, space.R[l], space.W[l], space.tau[l], space.spare
            )  # fmt: skip
        space.rank[l] = r
        used += r
    space.start[N] = used
    return used


@inner_kernel
def _take_nearest(problem: ScaledHierarchy, space: Settling, nf: int, used: int) -> None:
    """t: the coordinates, those that no level decides as near to `near` as they can be; all units one."""
    t = space.t
    for j in range(nf):
        t[j] = problem.near[space.free[j]]
    reflect_forth(t, space.V, space.beta, 0, used, nf)
    for j in range(used):
        t[j] = space.c[j]


@inner_kernel_with_arrays
def _take_nearest_scaled(problem: ScaledHierarchy, space: Settling, nf: int, used: int) -> None:
    """The same in other units: least squares of |d y - near| in the coordinates left free."""
    c, t, left = space.c, space.t, nf - used
    B, V, beta = np.zeros((nf, nf)), np.zeros((nf, nf)), np.zeros(nf)
    rest, size, spare, order = np.empty(nf), np.empty(nf), np.empty(nf), np.empty(nf, np.int64)
    for i in range(nf):
        B[i, i] = problem.d[space.free[i]]
        size[i] = B[i, i] * NEAREST_SIZE
        reflect_forth(B[i], space.V, space.beta, 0, used, nf)
        rest[i] = problem.near[space.free[i]] - dot(B[i, :used], c)
    r = pivoted_lq(B, 0, nf, used, nf, V, beta, order, size, spare)
    R, W, tau = np.zeros((left, nf)), np.zeros((left, nf)), np.zeros(left)
    for j in range(used, nf):
        c[j] = 0.0
    fit_trapezoid(B, order, 0, nf, used, r, rest, c, R, W, tau, spare)
    for j in range(nf):
        t[j] = c[j]
    reflect_back(t, V, beta, used, used + r, nf)
