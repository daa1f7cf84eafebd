"""Torques from accelerations by floating-base inverse dynamics, with ground forces inside the friction cones.

Joint accelerations are kept; the root's are what the ground can give. With penalty contact the ground's force is known
before the step. With constraint-based contact it is an unknown of the same problem,

    min |G_r lambda - (M a + h)_r|^2 in the metric of M_rr^-1  + eps |lambda|^2,      0 <= lambda <= limit,

over multipliers of the friction cones' edges. Its dual has six unknowns, however many points touch.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.triangular import backward, factor, forward
from counterpoise.kernels import inner_kernel_with_arrays, kernel

FORCE_SOFTNESS = 1e-4  # eps, with forces in body weights
QUICK_STEPS = 12  # of Newton's method from the last tick's answer
NEWTON_STEPS = 30  # of Newton's method for each of the softer problems
SOFTER_STAGES = 7  # softer problems, each four times as soft as the next


@kernel
def bounded_forces(A: Array, y: Array, limit: Array, soft: float, start: Array) -> tuple[Array, Array, int]:
    """Returns lambda (k,) that minimises |A lambda - y|^2 + soft |lambda|^2 in 0 <= lambda <= limit, z, and steps.

    With z = y - A lambda, lambda = clip(A^T z / soft, 0, limit) turns the condition of optimality into
    z = y - A lambda(z), the zero of a strongly monotone, piecewise linear map. Newton's method with a line search ends
    after finitely many steps, few from the last tick's z. Where it does not, a series of softer problems leads to it.
    """
    forces, z, steps, done = _newton(A, y, limit, soft, start, QUICK_STEPS)
    if not done:
        z = y.copy()
        for stage in range(SOFTER_STAGES, -1, -1):
            forces, z, more, done = _newton(A, y, limit, soft * 4.0**stage, z, NEWTON_STEPS)
            steps += more
    return forces, z, steps


@inner_kernel_with_arrays
def _newton(A: Array, y: Array, limit: Array, soft: float, start: Array, most: int) -> tuple[Array, Array, int, bool]:
    """Returns lambda, z, the steps taken, and whether they were enough."""
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
        factor(H)
        direction = -gradient
        forward(H, direction)
        backward(H, direction)
        z = z + _step(A, y, limit, soft, z, direction) * direction
    return forces, z, most, False


@kernel
def _step(A: Array, y: Array, limit: Array, soft: float, z: Array, direction: Array) -> float:
    """Returns the step to the least potential: 1, or where the slope, which only rises, is nearly zero."""
    low, high = 0.0, 1.0
    at_high = _slope(A, y, limit, soft, z, direction, high)
    if at_high <= 0.0:
        return high
    first = _slope(A, y, limit, soft, z, direction, low)
    at_low, t = first, 1.0
    for turn in range(30):
        t = high - at_high * (high - low) / (at_high - at_low)
        if turn % 3 == 2:
            t = 0.5 * (low + high)
        slope = _slope(A, y, limit, soft, z, direction, t)
        if abs(slope) < -0.1 * first:
            break
        if slope > 0.0:
            high, at_high = t, slope
        else:
            low, at_low = t, slope
    return t


@kernel
def _slope(A: Array, y: Array, limit: Array, soft: float, z: Array, direction: Array, t: float) -> float:
    """Returns the derivative of the potential |z|^2/2 - y.z + sum psi(A^T z) along z + t direction."""
    r, k = A.shape
    slope = 0.0
    for i in range(r):
        slope += (z[i] + t * direction[i] - y[i]) * direction[i]
    for e in range(k):
        pull, along = 0.0, 0.0
        for i in range(r):
            pull += A[i, e] * (z[i] + t * direction[i])
            along += A[i, e] * direction[i]
        slope += min(max(pull / soft, 0.0), limit[e]) * along
    return slope


@kernel
def floating_inverse_dynamics(
    M: Array, h: Array, a: Array, root: int, G: Array, limit: Array, mass: float, weight: float, start: Array
) -> tuple[Array, Array, Array, float]:
    """Returns torques (n,), zero at the root; multipliers (k,) [N]; a warm start; and the root's residual.

    Joint accelerations are those of `a`. The root's are the nearest to those of `a` that forces within the cones can
    give; the residual is the part that they cannot, relative to the weight.
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
        factor(L)
        unit = weight / np.sqrt(mass)  # the size of |L^-1 y| at rest
        wanted = y[:root] / unit
        forward(L, wanted)
        columns = np.empty((root, k))
        one = np.empty(root)
        for e in range(k):
            for i in range(root):
                one[i] = G[i, e] * weight / unit
            forward(L, one)
            columns[:, e] = one
        begin = start if len(start) == root else z
        multipliers, z, _ = bounded_forces(columns, wanted, limit / weight, FORCE_SOFTNESS, begin)
        for i in range(root):
            missing += z[i] * z[i]
        multipliers = multipliers * weight
        change = -z * unit
        backward(L, change)  # -M_rr^-1 r, the root's acceleration that is missing
        for i in range(root, n):
            for j in range(root):
                y[i] += M[i, j] * change[j]
    for i in range(n):
        for e in range(k):
            y[i] -= G[i, e] * multipliers[e]
    y[:root] = 0.0
    return y, multipliers, z, np.sqrt(missing)
