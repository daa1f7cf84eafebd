"""The multipliers of every level of a settled hierarchy, compiled, by going back through its triangles.

    A_l'(A_l y - b_l) = sum_{q < l} A_q' eta_q + sum_i mu_i c_i        c_i: the constraints of the working set

In the reflected coordinates, the gradient of level l has no part in the columns behind the level's own. The rows of the
levels above explain one block of columns after another, then the working rows explain the first block; what is left
belongs to the fixed variables.
"""

from __future__ import annotations

from typing import NamedTuple

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, dot_sizes, inner_kernel
from counterpoise.solve.lexicographic.problem import ATTAINED_RESIDUAL, ROUNDING_SHARE, ScaledHierarchy
from counterpoise.solve.reflections import reflect_forth, subtract_scaled
from counterpoise.solve.trapezoid import solve_transposed


class Settling(NamedTuple):
    """Workspace: n variables, m constraint rows, M level rows, N levels."""

    free: Ints  # (n,) variables not at a bound: the first `nf` entries
    rows: Ints  # (m,) working rows: the first `nw` entries
    c: Array  # (n,) coordinates
    K: Array  # (m + M, n) working rows, then level rows at m + i
    V: Array  # (n, n) reflectors
    beta: Array  # (n,)
    order: Ints  # (m + M,) pivots of each level
    size: Array  # (m + M,) lengths of the level rows
    rest: Array  # (m + M,) targets less what is fixed
    spare: Array  # (m + M,)
    start: Ints  # (N + 1,) first column of each level, and of what is left
    rank: Ints  # (N,)
    R: Array  # (N, deep, wide) small least squares of each level
    W: Array  # (N, deep, wide)
    tau: Array  # (N, deep)
    eta: Array  # (m + M,) multipliers of the levels above
    residual: Array  # (M,)
    terms: Array  # (M,) sizes of the residuals, rounding included
    g: Array  # (n,) gradient
    big: Array  # (n,) sizes of its terms
    t: Array  # (n,)


@inner_kernel
def level_multipliers(
    problem: ScaledHierarchy, sides: Ints, y: Array, mu: Array, grade: Array, space: Settling, nf: int, nw: int, l: int
) -> None:
    """mu (constraints,): the multipliers of level l (N: the nearness), and the size of its gradient."""
    A, C, ends, K, t, g = problem.A, problem.C, problem.ends, space.K, space.t, space.g
    m, n = C.shape
    for i in range(n + m):
        mu[i] = 0.0
    if l < len(ends) - 1:
        grade[l] = _level_gradient(problem, y, space, ends[l], ends[l + 1])
    else:
        grade[l] = _nearness_gradient(problem, y, g)
    if grade[l] == 0.0:
        return
    for j in range(nf):
        t[j] = g[space.free[j]]
    reflect_forth(t, space.V, space.beta, 0, space.start[l], nf)
    for q in range(l - 1, -1, -1):
        r, used, first, last = space.rank[q], space.start[q], m + ends[q], m + ends[q + 1]
        if r == 0:
            continue
        solve_transposed(
            K, space.order, first, last - first, used, r, space.R[q], space.W[q], space.tau[q], t, space.eta
        )  # fmt: skip
        for i in range(first, last):
            e = space.eta[i]
            if e != 0.0:
                subtract_scaled(K[i, :used], e, t)
                subtract_scaled(A[i - m], e, g)
    for i in range(nw - 1, -1, -1):
        s = t[i] / K[i, i]
        subtract_scaled(K[i, :i], s, t)
        mu[n + space.rows[i]] = s
        subtract_scaled(C[space.rows[i]], s, g)
    for j in range(n):
        if sides[j] != 0:
            mu[j] = g[j]


@inner_kernel
def _level_gradient(problem: ScaledHierarchy, y: Array, space: Settling, first: int, last: int) -> float:
    """g = A'(A y - b) of rows first..last. Returns the size of its largest terms; 0 where the level is attained."""
    A, b, residual, terms, g, big = problem.A, problem.b, space.residual, space.terms, space.g, space.big
    n = len(y)
    here, whole = 0.0, 0.0
    for i in range(first, last):
        s, a = dot(A[i], y) - b[i], dot_sizes(A[i], y) + abs(b[i])
        residual[i] = s
        terms[i] = abs(s) + ROUNDING_SHARE * a
        here += s * s
        whole += a * a
    if here <= (ATTAINED_RESIDUAL * ATTAINED_RESIDUAL) * whole:
        return 0.0
    for j in range(n):
        g[j], big[j] = 0.0, 0.0
    for i in range(first, last):
        for j in range(n):
            g[j] += A[i, j] * residual[i]
            big[j] += abs(A[i, j]) * terms[i]
    size = 0.0
    for j in range(n):
        size = max(size, big[j])
    return size


@inner_kernel
def _nearness_gradient(problem: ScaledHierarchy, y: Array, g: Array) -> float:
    """g = d (d y - near). Returns the size of its largest terms."""
    size = 0.0
    for j in range(len(y)):
        d, near = problem.d[j], problem.near[j]
        g[j] = d * (d * y[j] - near)
        size = max(size, d * (abs(d * y[j]) + abs(near)))
    return size
