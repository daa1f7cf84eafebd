"""Phase 5, the answer: the candidate in its own units, whether it can be trusted, and what is returned.

a = a_ref + ... (back through the reflectors and the metric),   tau = M a + h - G lambda
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.body.metric import from_metric
from counterpoise.solve.body.workspace import (
    BodyBounds,
    BodyCandidate,
    BodyDynamics,
    BodyWorkspace,
    FaceSizes,
    HeldBounds,
    LastLevel,
    MassRows,
    StrictLevels,
)
from counterpoise.solve.reflections import reflect_back, subtract_scaled

EQUALITY_TOLERANCE = 1e-7  # a candidate that misses an equality by more, relative, came from a nearly singular system


@inner_kernel
def read_candidate(body: BodyDynamics, space: BodyWorkspace, face: FaceSizes, depth: int, unit: float) -> None:
    """Writes acceleration, multipliers and torques of the solved cascade."""
    working, chain, w = space.working, space.chain, space.system.w
    u, a, x = space.candidate.u, space.candidate.a, space.candidate.x
    k, n, c0, turned = len(working.free), len(a), chain.corner[depth], face.turned
    nc = turned - c0
    for j in range(c0):
        u[j] = chain.y[j]
    for j in range(nc):
        u[c0 + j] = w[j]
    for j in range(turned, n):
        u[j] = 0.0
    reflect_back(u, chain.V, chain.beta, 0, turned, n)
    from_metric(u, space.metric, a)
    for i in range(k):
        x[i] = working.point[i]
    for j in range(face.free):
        x[working.free[j]] = w[nc + j] * unit
    for i in range(n):
        x[k + i] = body.h[i] + dot(body.M[i], a) - dot(body.G[i], x)


@inner_kernel
def meets_equalities(body: BodyDynamics, space: BodyWorkspace, face: FaceSizes) -> bool:
    """Whether the candidate's torques are those held: exact but for rounding in a system that is well posed."""
    working, x = space.working, space.candidate.x
    k = len(working.free)
    for q in range(face.equal):
        i = working.equal[q]
        v = working.point[k + i] if i >= body.root else 0.0
        if not abs(x[k + i] - v) <= EQUALITY_TOLERANCE * (1.0 + abs(v) + abs(body.h[i])):
            return False
    return True


@inner_kernel
def keep_within(bounds: BodyBounds, candidate: BodyCandidate) -> None:
    """Clips the solution to its bounds: they hold to the last bit."""
    for i in range(len(candidate.x)):
        candidate.x[i] = min(max(candidate.x[i], bounds.low[i]), bounds.high[i])


@inner_kernel
def fall_back(body: BodyDynamics, working: HeldBounds, mass: MassRows, candidate: BodyCandidate) -> None:
    """The feasible point as the answer of a solve that stopped early, with the acceleration that it causes."""
    a, x = candidate.a, candidate.x
    k, n = len(working.free), len(a)
    for i in range(k + n):
        x[i] = 0.0 if k <= i < k + body.root else working.point[i]
    for i in range(n):
        a[i] = x[k + i] - body.h[i] + dot(body.G[i], x)
    _solve_mass(body.M, mass.rows, a)


@inner_kernel
def _solve_mass(M: Array, L: Array, x: Array) -> None:
    """x <- M^-1 x by Cholesky."""
    n = len(x)
    for j in range(n):
        L[j, j] = np.sqrt(M[j, j] - dot(L[j, :j], L[j]))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - dot(L[i, :j], L[j])) / L[j, j]
    for i in range(n):
        x[i] = (x[i] - dot(L[i, :i], x)) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        subtract_scaled(L[i, :i], x[i], x)


@inner_kernel
def write_residuals(levels: StrictLevels, last: LastLevel, candidate: BodyCandidate, residual: Array) -> None:
    """residual (p + 1,): |A_l a - b_l| of each strict level, and the root of the last level's sum."""
    a, p = candidate.a, len(levels.starts) - 1
    n, k = len(a), len(candidate.x) - len(a)
    for l in range(p):
        s = 0.0
        for i in range(levels.starts[l], levels.starts[l + 1]):
            v = dot(levels.A[i], a) - levels.b[i]
            s += v * v
        residual[l] = np.sqrt(s)
    s = 0.0
    for j in range(n):
        s += last.weight[j] * (a[j] - last.a_ref[j]) ** 2
    for i in range(len(last.b_e)):
        v = dot(last.A_e[i], a) - last.b_e[i]
        s += v * v
    s += last.force_weight * dot(candidate.x[:k], candidate.x)
    residual[p] = np.sqrt(s)
