"""Phase 3, the cascade: the optimum with the bounds of the working set held as equalities.

    rows of M held as equalities:   M_i a - G_i lambda = tau_i - h_i      (tau_i: zero at the root, else the bound)
    levels from `depth` on:         as triangles of the chain

in the unknowns (coordinates of u from corner[depth] on, free multipliers / unit): LQ of the equalities, pivoted LQ of
each level in what is left, small least squares, and the shortest vector for what no level decides, which is the optimum
of the last level. The multipliers of the equalities follow by going back through the triangles.
"""

from __future__ import annotations

import numpy as np

from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.body.chain import level_lq
from counterpoise.solve.body.workspace import (
    AT_HIGH,
    BodyDynamics,
    BodyWorkspace,
    BoundPrices,
    CascadeSystem,
    FaceSizes,
)
from counterpoise.solve.reflections import reflect_back, reflect_rows, reflector, subtract_scaled
from counterpoise.solve.trapezoid import fit_trapezoid, solve_transposed, trapezoid_residual


@inner_kernel
def assemble(body: BodyDynamics, space: BodyWorkspace, face: FaceSizes, depth: int, unit: float) -> None:
    """Writes the equalities and the levels from `depth` on, with what the levels before it fix on the right."""
    working, chain, mass, system = space.working, space.chain, space.mass, space.system
    K, target, size, y = system.K, system.target, system.size, chain.y
    k, c0, p = len(working.free), chain.corner[depth], len(chain.height)
    nc = face.turned - c0
    columns = nc + face.free
    for q in range(face.equal):
        i, d = working.equal[q], mass.slot[working.equal[q]]
        s, square = mass.target[d], mass.size[d] * mass.size[d]
        if i >= body.root:
            s += working.point[k + i]
        s -= dot(mass.rows[d, :c0], y)
        last = mass.reach[d] - c0
        for j in range(last):
            K[q, j] = mass.rows[d, c0 + j]
        for j in range(last, nc):
            K[q, j] = 0.0
        for j in range(face.free):
            K[q, nc + j] = -body.G[i, working.free[j]] * unit
        square += dot(K[q, nc:columns], K[q, nc:columns])
        for j in range(k):
            if working.held[j] == AT_HIGH:
                s += body.G[i, j] * working.point[j]
        target[q], size[q] = s, np.sqrt(square)
    row = face.equal
    for l in range(depth, p):
        system.starts[l] = row
        last = chain.corner[l + 1] - c0
        for i in range(chain.first[l], chain.first[l] + chain.height[l]):
            s = chain.target[i] - dot(chain.rows[i, :c0], y)
            for j in range(last):
                K[row, j] = chain.rows[i, c0 + j]
            for j in range(last, columns):
                K[row, j] = 0.0
            target[row], size[row] = s, chain.size[i]
            row += 1
    system.starts[p] = row


@inner_kernel
def cascade(system: CascadeSystem, nE: int, depth: int, n: int, dependent: float, level_tolerance: float) -> bool:
    """Lexicographic least squares in n columns: equalities in rows 0..nE, then the levels from `depth` on.

    Leaves K in triangles, y the coordinates, w the shortest vector and the levels' residuals. Returns False where an
    equality is closer than `dependent`, relative, to depending on the others.
    """
    K, target, V, beta, y, w = system.K, system.target, system.V, system.beta, system.y, system.w
    if nE > n:
        return False
    for i in range(nE):
        beta[i] = reflector(K[i, i:n], V[i, i:n])
        if abs(K[i, i]) <= dependent * system.size[i]:
            return False
        reflect_rows(K, i + 1, nE, V, beta, i, i + 1, n)
    for i in range(nE):
        y[i] = (target[i] - dot(K[i, :i], y)) / K[i, i]
    used = nE
    for l in range(depth, len(system.rank)):
        used += _fit_level(system, l, used, n, level_tolerance)
    for j in range(used):
        w[j] = y[j]
    for j in range(used, n):
        w[j] = 0.0
    reflect_back(w, V, beta, 0, used, n)
    return True


@inner_kernel
def _fit_level(system: CascadeSystem, l: int, used: int, n: int, tolerance: float) -> int:
    """Solves level l in the coordinates from `used` on. Returns its rank: the coordinates it takes."""
    K, y, order, rest = system.K, system.y, system.order, system.rest
    i0, m = system.starts[l], system.starts[l + 1] - system.starts[l]
    reflect_rows(K, i0, i0 + m, system.V, system.beta, 0, used, n)
    r = level_lq(K, order, i0, m, used, n, system.V, system.beta, system.size, system.spare, tolerance)
    system.rank[l] = r
    for i in range(i0, i0 + m):
        rest[i] = system.target[i] - dot(K[i, :used], y)
    if r > 0:
        R, W, tau = system.R[i0:], system.W[i0:], system.tau[i0:]
        fit_trapezoid(K, order, i0, m, used, r, rest, y, R, W, tau, system.spare)
        trapezoid_residual(order, i0, m, r, W, tau, system.spare, system.residual)
    else:
        for i in range(i0, i0 + m):
            system.residual[i] = -rest[i]
    return r


@inner_kernel
def equality_multipliers(system: CascadeSystem, nE: int, depth: int, level: int, prices: BoundPrices) -> None:
    """mu (nE,): how fast the optimum of `level` (p: the last one) changes with the targets of the equalities."""
    K, starts, t, eta, mu = system.K, system.starts, prices.t, prices.eta, prices.mu
    used = nE
    for l in range(depth, level):
        used += system.rank[l]
    if level < len(system.rank):
        for j in range(used):
            t[j] = 0.0
        for i in range(starts[level], starts[level + 1]):
            subtract_scaled(K[i, :used], -system.residual[i], t)
    else:
        for j in range(used):
            t[j] = system.y[j]
    for l in range(level - 1, depth - 1, -1):
        i0, m, r = starts[l], starts[l + 1] - starts[l], system.rank[l]
        used -= r
        if r > 0:
            solve_transposed(
                K, system.order, i0, m, used, r, system.R[i0:], system.W[i0:], system.tau[i0:], t, eta
            )  # fmt: skip
            for i in range(i0, i0 + m):
                subtract_scaled(K[i, :used], eta[i], t)
    for i in range(nE - 1, -1, -1):
        mu[i] = t[i] / K[i, i]
        subtract_scaled(K[i, :i], mu[i], t)
