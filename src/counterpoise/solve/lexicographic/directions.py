"""One level of the climb and the directions in it, compiled.

misfit           r = R z - rhs and g = R' r
newton           the shortest p that minimises |R p + r| and keeps the working rows
walk             z + t p as far as the first constraint in the way
cone_of_active   g less its projection on the cone of all active constraints: a direction of descent, or nothing
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, dot_sizes, inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.solve.lexicographic.cone import nonnegative
from counterpoise.solve.lexicographic.problem import ROUNDING_SHARE
from counterpoise.solve.lexicographic.project import rounding_at
from counterpoise.solve.orthogonal import RANK_TOLERANCE, pivoted_lq, square
from counterpoise.solve.reflections import reflect_back, reflect_rows
from counterpoise.solve.trapezoid import fit_trapezoid

# places in `account`
RESIDUAL, TERMS, GRADE, STEPS, LEFT_OVER = 0, 1, 2, 3, 4


class LevelRows(NamedTuple):
    """|R z - rhs| in the coordinates of the climb."""

    R: Array  # (m, n)
    rhs: Array  # (m,)
    size: Array  # (m,) lengths of the rows
    exact: bool  # whether the level may be attained: not so for the nearness


class FeasibleRegion(NamedTuple):
    """lo <= C z <= hi in the coordinates of the climb, and where the constraints stand."""

    C: Array  # (nc, n)
    lo: Array  # (nc,)
    hi: Array  # (nc,)
    sides: Ints  # (nc,) -1 at a low end, +1 at a high one, 0 not in the working set
    still: Ints  # (nc,) 1: an equality for good
    leaving: Ints  # (nc,) the ends that a direction is known to leave, as sides


class WorkingRows(NamedTuple):
    """Constraints held as equalities in this level, and their LQ factor from column k on."""

    rows: Ints  # (n + 1,) the first `nw` entries
    L: Array  # (n + 1, n)
    V: Array  # (n, n)
    beta: Array  # (n,)


@inner_kernel
def largest(x: Array) -> float:
    top = 0.0
    for j in range(len(x)):
        top = max(top, abs(x[j]))
    return top


@inner_kernel
def curvature(R: Array, p: Array, k: int) -> float:
    """|R p|^2 over columns k on."""
    curve = 0.0
    for i in range(len(R)):
        s = dot(R[i, k:], p[k:])
        curve += s * s
    return curve


@inner_kernel_with_arrays
def misfit(level: LevelRows, z: Array, r: Array, g: Array, account: Array) -> None:
    """r = R z - rhs and g = R' r; account: |r|^2, the same of its terms' sizes, and the largest size of g's terms."""
    R, rhs = level.R, level.rhs
    m, n = R.shape
    terms, size = np.empty(m), np.zeros(n)
    here, whole = 0.0, 0.0
    for i in range(m):
        s, a = dot(R[i], z) - rhs[i], dot_sizes(R[i], z) + abs(rhs[i])
        r[i] = s
        terms[i] = abs(s) + ROUNDING_SHARE * a
        here += s * s
        whole += a * a
    for j in range(n):
        g[j] = 0.0
    for i in range(m):
        for j in range(n):
            g[j] += R[i, j] * r[i]
            size[j] += abs(R[i, j]) * terms[i]
    account[RESIDUAL], account[TERMS], account[GRADE] = here, whole, largest(size)


@inner_kernel_with_arrays
def newton(level: LevelRows, r: Array, k: int, nw: int, working: WorkingRows, p: Array) -> None:
    """The shortest p that minimises |R p + r| and keeps the working rows: least squares in their null space."""
    m, n = level.R.shape
    k0 = k + nw
    for j in range(n):
        p[j] = 0.0
    if k0 == n:
        return
    X, rhs = level.R.copy(), np.empty(m)
    for i in range(m):
        rhs[i] = -r[i]
    reflect_rows(X, 0, m, working.V, working.beta, k, k0, n)
    V, beta, order, spare = np.zeros((n, n)), np.zeros(n), np.empty(m, np.int64), np.empty(m)
    rank = pivoted_lq(X, 0, m, k0, n, V, beta, order, level.size, spare)
    if rank > 0:
        R, W, tau = np.zeros((rank, m)), np.zeros((rank, m)), np.zeros(rank)
        fit_trapezoid(X, order, 0, m, k0, rank, rhs, p, R, W, tau, spare)
    reflect_back(p, V, beta, k0, k0 + rank, n)
    reflect_back(p, working.V, working.beta, k, k0, n)


@inner_kernel
def values_at(C: Array, z: Array, value: Array) -> None:
    """value = C z"""
    for i in range(C.shape[0]):
        value[i] = dot(C[i], z)


@kernel
def walk(region: FeasibleRegion, z: Array, p: Array, k: int, length: float) -> tuple[float, int, int]:
    """Moves z along p (columns k on) by at most `length`. Returns (step, the constraint that stops it or -1, its side).

    An end that p is known to leave does not stop it. Of those that stop it within rounding, the one met most squarely
    is taken (the two passes of Harris 1973).
    """
    C, lo, hi = region.C, region.lo, region.hi
    nc, n = C.shape
    value, rate = np.empty(nc), np.zeros(nc)
    values_at(C, z, value)
    flat, slack, reach = RANK_TOLERANCE * np.sqrt(square(p[k:n])), rounding_at(z), length
    for i in range(nc):
        if region.sides[i] != 0 or region.still[i] != 0:
            continue
        s = dot(C[i, k:], p[k:])
        if abs(s) <= flat or region.leaving[i] * s > 0.0:
            continue
        rate[i] = s
        room = (hi[i] - value[i]) if s > 0.0 else (value[i] - lo[i])
        reach = min(reach, (max(room, 0.0) + slack) / abs(s))
    hit, best, step = -1, 0.0, length
    for i in range(nc):
        if rate[i] == 0.0:
            continue
        room = max((hi[i] - value[i]) if rate[i] > 0.0 else (value[i] - lo[i]), 0.0)
        if room <= reach * abs(rate[i]) and room < length * abs(rate[i]) and abs(rate[i]) > best:
            best, hit, step = abs(rate[i]), i, room / abs(rate[i])
    for j in range(k, n):
        z[j] += step * p[j]
    return step, hit, 1 if hit >= 0 and rate[hit] > 0.0 else -1


@inner_kernel_with_arrays
def cone_of_active(region: FeasibleRegion, z: Array, g: Array, k: int, mu: Array, p: Array) -> float:
    """Multipliers mu of all active constraints that explain the gradient best; p is what is left. Returns |p|^2.

    Marks the active ends in `leaving`: p moves away from them or along them.
    """
    C, sides, leaving = region.C, region.sides, region.leaving
    nc, n = C.shape
    nz = n - k
    value = np.empty(nc)
    values_at(C, z, value)
    slack = 10.0 * rounding_at(z)
    active, na = np.empty(nc, np.int64), 0
    for i in range(nc):
        leaving[i] = 0
        mu[i] = 0.0
        if region.still[i] != 0:
            continue
        if sides[i] < 0 or (sides[i] == 0 and value[i] <= region.lo[i] + slack):
            leaving[i] = -1
        elif sides[i] > 0 or value[i] >= region.hi[i] - slack:
            leaving[i] = 1
        if leaving[i] != 0:
            active[na] = i
            na += 1
    N, price, rest = np.empty((na, nz)), np.zeros(na), np.empty(nz)
    for i in range(na):
        for j in range(nz):
            N[i, j] = -leaving[active[i]] * C[active[i], k + j]
    nonnegative(N, g[k:], price, rest)
    for i in range(na):
        mu[active[i]] = -leaving[active[i]] * price[i]
    for j in range(n):
        p[j] = rest[j - k] if j >= k else 0.0
    return square(p)
