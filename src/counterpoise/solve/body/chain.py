"""Phase 2, the chain: the strict levels, reduced once a tick to triangles of leading coordinates of u.

    level l, in coordinates reflected by V:   [..., L_l, 0] u = target_l,   L_l in columns corner[l]..corner[l + 1]

`y` solves the triangles one after another: the optimum of the levels without any constraint. While the equalities of
the working set can be met by the coordinates that the first `depth` levels leave free, those levels stay at that
optimum and drop out of the iteration. Rows of M join the same chain of reflectors when they first become equalities, so
each of them is rotated only once, however often the working set changes.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.body.metric import to_metric
from counterpoise.solve.body.workspace import (
    BodyDynamics,
    BodyMetric,
    CascadeSystem,
    LevelChain,
    MassRows,
    StrictLevels,
)
from counterpoise.solve.reflections import reflect, reflect_rows, reflect_three, reflector
from counterpoise.solve.trapezoid import fit_trapezoid

TRUSTED_NORM = 0.25  # a down-dated squared norm is used while the true one is at least this part of it


@inner_kernel
def level_lq(
    K: Array, order: Ints, i0: int, m: int, k0: int, n: int, V: Array, beta: Array, size: Array, now: Array,
    tolerance: float,
) -> int:  # fmt: skip
    """Row-pivoted LQ of the m rows of one level from row i0, column k0 on. Returns the rank.

    K[order[i0 + i], k0 + q] becomes lower trapezoidal. A row counts as dependent when what is left of it is shorter
    than `tolerance` times the level's longest row. `size` holds the rows' full norms; `now` is scratch for the squared
    norms of what is left.
    """
    longest = 0.0
    for i in range(i0, i0 + m):
        order[i] = i
        longest = max(longest, size[i])
        now[i] = dot(K[i, k0:n], K[i, k0:n])
    floor = (tolerance * longest) ** 2
    rank = 0
    while rank < m and k0 + rank < n:
        k = k0 + rank
        while True:
            best, at = -1.0, rank
            for q in range(rank, m):
                if now[order[i0 + q]] > best:
                    best, at = now[order[i0 + q]], q
            i = order[i0 + at]
            s = dot(K[i, k:n], K[i, k:n])
            if s >= TRUSTED_NORM * best or best <= floor:
                best = s
                break
            now[i] = s
        if best <= floor:
            break
        order[i0 + at] = order[i0 + rank]
        order[i0 + rank] = i
        b = reflector(K[i, k:n], V[k, k:n])
        beta[k] = b
        q = rank + 1
        while q + 3 <= m:
            x, y, z = order[i0 + q], order[i0 + q + 1], order[i0 + q + 2]
            reflect_three(V[k, k:n], K[x, k:n], K[y, k:n], K[z, k:n], b)
            now[x] = max(now[x] - K[x, k] * K[x, k], 0.0)
            now[y] = max(now[y] - K[y, k] * K[y, k], 0.0)
            now[z] = max(now[z] - K[z, k] * K[z, k], 0.0)
            q += 3
        while q < m:
            x = order[i0 + q]
            reflect(V[k, k:n], K[x, k:n], b)
            now[x] = max(now[x] - K[x, k] * K[x, k], 0.0)
            q += 1
        rank += 1
    for q in range(rank, m):  # what is left is rounding
        for j in range(k0 + rank, n):
            K[order[i0 + q], j] = 0.0
    return rank


@inner_kernel
def build_chain(
    levels: StrictLevels, metric: BodyMetric, chain: LevelChain, system: CascadeSystem, tolerance: float
) -> None:
    """Reduces every strict level to its triangle; the arrays of `system` serve as scratch."""
    rows, target, y, corner = chain.rows, chain.target, chain.y, chain.corner
    n, p = len(y), len(chain.height)
    for j in range(n):
        y[j] = 0.0
    corner[0] = 0
    for l in range(p):
        i0, used = levels.starts[l], corner[l]
        m = levels.starts[l + 1] - i0
        chain.first[l], chain.height[l] = i0, m
        for i in range(i0, i0 + m):
            target[i] = levels.b[i]
            for j in range(n):
                rows[i, j] = levels.A[i, j]
        to_metric(rows, target, chain.size, i0, i0 + m, metric)
        reflect_rows(rows, i0, i0 + m, chain.V, chain.beta, 0, used, n)
        r = level_lq(
            rows, system.order, i0, m, used, n, chain.V, chain.beta, chain.size, system.spare, tolerance
        )  # fmt: skip
        for i in range(i0, i0 + m):
            system.rest[i] = target[i] - dot(rows[i, :used], y)
        if r > 0:
            fit_trapezoid(
                rows, system.order, i0, m, used, r, system.rest, y, system.R, system.W, system.tau, system.spare
            )  # fmt: skip
        if l == 0 and r < m:
            _keep_independent_rows(chain, system, i0, r)
        corner[l + 1] = used + r


@inner_kernel
def _keep_independent_rows(chain: LevelChain, system: CascadeSystem, i0: int, r: int) -> None:
    """Replaces the rows of the first level by the r rows R u = Q' target of its small QR: the same level, exactly."""
    n = len(chain.y)
    for q in range(r):
        row = chain.rows[i0 + q]
        for j in range(n):
            row[j] = system.R[j, q] if q <= j < r else 0.0
        chain.target[i0 + q], chain.size[i0 + q] = system.spare[q], np.sqrt(dot(row, row))
    chain.height[0] = r


@inner_kernel
def meet_mass_rows(
    body: BodyDynamics,
    equal: Ints,
    metric: BodyMetric,
    chain: LevelChain,
    mass: MassRows,
    met: int,
    turned: int,
) -> tuple[int, int]:
    """Rotates the rows of M listed in `equal` that have not been met before. Returns the new (met, turned).

    `met` rows have been rotated so far, and the coordinates from `turned` on are zero in all of them.
    """
    n, rows, slot = len(body.h), mass.rows, mass.slot
    before = met
    for q in range(len(equal)):
        i = equal[q]
        if slot[i] < 0:
            slot[i], mass.target[met] = met, -body.h[i]
            for j in range(n):
                rows[met, j] = body.M[i, j]
            met += 1
    if met > before:
        to_metric(rows, mass.target, mass.size, before, met, metric)
        reflect_rows(rows, before, met, chain.V, chain.beta, 0, turned, n)
        for i in range(before, met):  # one reflector each
            if turned < n:
                chain.beta[turned] = reflector(rows[i, turned:n], chain.V[turned, turned:n])
                turned += 1
                reflect_rows(rows, i + 1, met, chain.V, chain.beta, turned - 1, turned, n)
            mass.reach[i] = turned
    return met, turned
