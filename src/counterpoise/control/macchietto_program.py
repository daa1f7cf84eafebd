"""One linear system for accelerations, and torques from them: the solvers of Macchietto's controller, compiled.

    accelerations   min sum_j w_j (a_j - a_des_j)^2 + |A a - b|^2   subject to   C a = d                  (2009, eq. 13)
    by the system   [Q -C^T; C eps] [a; lambda] = [u; d],   Q = diag(w) + A^T A,   u = w a_des + A^T b    (2008, app. D)

The tiny eps lets rows of C repeat each other, as those of a foot with many points do. Torques then come from hybrid,
floating-base inverse dynamics: joint accelerations are kept, the root's are what the ground can give. With penalty
contact the ground's force is known beforehand; with constraint-based contact it is an unknown of the same problem,

    min |G_r lambda - (M a + h)_r|^2 in the metric of M_rr^-1  + eps |lambda|^2,      0 <= lambda <= limit,

over multipliers of the friction cones' edges. Its dual has six unknowns, however many points touch.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel

RIDGE = 1e-11  # eps of the system, relative to the largest pivot
SOFT = 1e-4  # eps of the forces, in units of the body's weight
QUICK_STEPS, NEWTON_STEPS = 12, 30
STAGES = 7  # of softer problems, each four times as soft as the next


@kernel
def solve_accelerations(weight: Array, target: Array, A: Array, b: Array, C: Array, d: Array) -> tuple[Array, Array]:
    """Accelerations (n,) and the multipliers (k,) of C a = d; every weight is positive."""
    n, m, k = len(weight), len(b), len(d)
    Q = np.zeros((n, n))
    u = np.empty(n)
    for i in range(n):
        u[i] = weight[i] * target[i]
    for r in range(m):
        for i in range(n):
            if A[r, i] != 0.0:
                u[i] += A[r, i] * b[r]
                for j in range(i + 1):
                    Q[i, j] += A[r, i] * A[r, j]
    for i in range(n):
        Q[i, i] += weight[i]
    _factor(Q)
    x = u.copy()
    _forward(Q, x)  # x = L^-1 u
    multipliers = np.zeros(k)
    if k > 0:
        Y = np.empty((k, n))  # rows: L^-1 C^T
        for r in range(k):
            Y[r] = C[r]
            _forward(Q, Y[r])
        S = np.zeros((k, k))
        largest = 0.0
        for r in range(k):
            for s in range(r + 1):
                total = 0.0
                for j in range(n):
                    total += Y[r, j] * Y[s, j]
                S[r, s] = total
            largest = max(largest, S[r, r])
            total = d[r]
            for j in range(n):
                total -= Y[r, j] * x[j]
            multipliers[r] = total
        for r in range(k):
            S[r, r] += RIDGE * largest + 1e-300
        _factor(S)
        _forward(S, multipliers)
        _backward(S, multipliers)
        for r in range(k):
            for j in range(n):
                x[j] += Y[r, j] * multipliers[r]
    _backward(Q, x)
    return x, multipliers


@kernel
def _factor(Q: Array) -> None:
    """Cholesky in the lower triangle, in place; a pivot lost to rounding is given the least size."""
    n = len(Q)
    floor = 0.0
    for i in range(n):
        floor = max(floor, Q[i, i])
    floor = 1e-15 * floor + 1e-300
    for j in range(n):
        for i in range(j, n):
            total = Q[i, j]
            for k in range(j):
                total -= Q[i, k] * Q[j, k]
            if i == j:
                Q[j, j] = np.sqrt(max(total, floor))
            else:
                Q[i, j] = total / Q[j, j]


@kernel
def _forward(L: Array, x: Array) -> None:
    """x <- L^-1 x"""
    for i in range(len(x)):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@kernel
def _backward(L: Array, x: Array) -> None:
    """x <- L^-T x"""
    n = len(x)
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@kernel
def bounded_forces(A: Array, y: Array, limit: Array, soft: float, start: Array) -> tuple[Array, Array, int]:
    """lambda (k,) that minimises |A lambda - y|^2 + soft |lambda|^2 in 0 <= lambda <= limit, z = y - A lambda, steps.

    lambda = clip(A^T z / soft, 0, limit) turns the condition of optimality into z = y - A lambda(z), the zero of a
    strongly monotone, piecewise linear map: Newton's method with a line search ends after finitely many steps, few from
    the last tick's z. Where those do not do, softer problems lead up to it.
    """
    forces, z, steps, done = _newton(A, y, limit, soft, start, QUICK_STEPS)
    if not done:
        z = y.copy()
        for stage in range(STAGES, -1, -1):
            forces, z, more, done = _newton(A, y, limit, soft * 4.0**stage, z, NEWTON_STEPS)
            steps += more
    return forces, z, steps


@kernel
def _newton(A: Array, y: Array, limit: Array, soft: float, start: Array, most: int) -> tuple[Array, Array, int, bool]:
    r, k = A.shape
    z = start.copy()
    forces = np.zeros(k)
    gradient = np.empty(r)
    H = np.empty((r, r))
    size = 1.0
    for i in range(r):
        size = max(size, abs(y[i]))
    for steps in range(most + 1):
        for i in range(r):
            gradient[i] = z[i] - y[i]
            for j in range(r):
                H[i, j] = 1.0 if i == j else 0.0
        for e in range(k):
            pull = 0.0
            for i in range(r):
                pull += A[i, e] * z[i]
            forces[e] = min(max(pull / soft, 0.0), limit[e])
            free = pull > 0.0 and pull < soft * limit[e]
            for i in range(r):
                gradient[i] += A[i, e] * forces[e]
                if free:
                    for j in range(i + 1):
                        H[i, j] += A[i, e] * A[j, e] / soft
        worst = 0.0
        for i in range(r):
            worst = max(worst, abs(gradient[i]))
        if worst <= 1e-9 * size:
            return forces, z, steps, True
        _factor(H)
        way = -gradient
        _forward(H, way)
        _backward(H, way)
        z = z + _step(A, y, limit, soft, z, way) * way
    return forces, z, most, False


@kernel
def _step(A: Array, y: Array, limit: Array, soft: float, z: Array, way: Array) -> float:
    """A step along `way` near the least potential: 1, or where the slope, which only rises, has almost gone."""
    low, high = 0.0, 1.0
    at_high = _slope(A, y, limit, soft, z, way, high)
    if at_high <= 0.0:
        return high
    first = _slope(A, y, limit, soft, z, way, low)
    at_low, t = first, 1.0
    for turn in range(30):
        t = high - at_high * (high - low) / (at_high - at_low)
        if turn % 3 == 2:
            t = 0.5 * (low + high)
        slope = _slope(A, y, limit, soft, z, way, t)
        if abs(slope) < -0.1 * first:
            break
        if slope > 0.0:
            high, at_high = t, slope
        else:
            low, at_low = t, slope
    return t


@kernel
def _slope(A: Array, y: Array, limit: Array, soft: float, z: Array, way: Array, t: float) -> float:
    """Derivative of the potential |z|^2/2 - y.z + sum psi(A^T z) along z + t way."""
    r, k = A.shape
    slope = 0.0
    for i in range(r):
        slope += (z[i] + t * way[i] - y[i]) * way[i]
    for e in range(k):
        pull, along = 0.0, 0.0
        for i in range(r):
            pull += A[i, e] * (z[i] + t * way[i])
            along += A[i, e] * way[i]
        slope += min(max(pull / soft, 0.0), limit[e]) * along
    return slope


@kernel
def floating_inverse_dynamics(
    M: Array, h: Array, a: Array, root: int, G: Array, limit: Array, mass: float, weight: float, start: Array
) -> tuple[Array, Array, Array, float]:
    """Torques (n,), zero at the root; multipliers (k,) [N]; a warm start; and the share of the root's wish not met.

    Joint accelerations are those of `a`; the root's are what forces within the cones can give, nearest to those of `a`.
    """
    n, k = G.shape
    y = np.empty(n)
    for i in range(n):
        total = h[i]
        for j in range(n):
            total += M[i, j] * a[j]
        y[i] = total
    multipliers, z = np.zeros(k), np.zeros(root)
    missing = 0.0
    if root > 0:
        L = M[:root, :root].copy()
        _factor(L)
        unit = weight / np.sqrt(mass)  # the size of |L^-1 y| at rest
        wanted = y[:root] / unit
        _forward(L, wanted)
        columns = np.empty((root, k))
        one = np.empty(root)
        for e in range(k):
            for i in range(root):
                one[i] = G[i, e] * weight / unit
            _forward(L, one)
            columns[:, e] = one
        begin = start if len(start) == root else z
        multipliers, z, _ = bounded_forces(columns, wanted, limit / weight, SOFT, begin)
        for i in range(root):
            missing += z[i] * z[i]
        multipliers = multipliers * weight
        change = -z * unit
        _backward(L, change)  # -M_rr^-1 r, the root's acceleration that is missing
        for i in range(root, n):
            for j in range(root):
                y[i] += M[i, j] * change[j]
    for i in range(n):
        for e in range(k):
            y[i] -= G[i, e] * multipliers[e]
    y[:root] = 0.0
    return y, multipliers, z, np.sqrt(missing)
