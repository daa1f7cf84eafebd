"""Phase 4, first half: the bounds, the feasible point, and the step towards a candidate.

In the variables (multiplier, torque) every inequality is a bound on one variable, so clipping gives a feasible point at
once. From the point x towards the candidate c, the longest feasible step is

    t = min(1, (bound_i - x_i) / (c_i - x_i))   over the free i whose c_i lies beyond a bound

and the bound that stops it joins the working set. The rows of M that are then equalities are always independent.
"""

from __future__ import annotations

import numpy as np

from counterpoise.kernels import inner_kernel
from counterpoise.solve.body.workspace import (
    AT_HIGH,
    AT_LOW,
    FIXED,
    FREE,
    NOISY,
    OFF,
    UNLOCKED,
    BodyBounds,
    BodyCandidate,
    BodyLimits,
    HeldBounds,
)

FORCE_SLACK = 1e-7  # [N] by which a candidate's multiplier may be beyond its bound
TORQUE_SLACK = 1e-9  # the same for torques, as part of 1 + |limit|


@inner_kernel
def begin(limits: BodyLimits, root: int, share: float, bounds: BodyBounds, working: HeldBounds) -> None:
    """Writes the bounds and moves the remembered point onto the remembered working set, where that still exists.

    A contact that appears starts with its multipliers free, at `share` [N] each.
    """
    low, high, below, above = bounds.low, bounds.high, bounds.below, bounds.above
    held, point, lock = working.held, working.point, working.lock
    k, n = len(limits.force), len(working.equal)
    for i in range(k):
        low[i], high[i], below[i], above[i] = 0.0, limits.force[i], -FORCE_SLACK, limits.force[i] + FORCE_SLACK
        lock[i] = UNLOCKED
        if high[i] <= 0.0:
            held[i], lock[i], point[i] = OFF, FIXED, 0.0
        elif held[i] == OFF:
            held[i], point[i] = FREE, min(share, high[i])
        else:
            _keep_side(i, bounds, working)
    for i in range(k, k + root):
        low[i], high[i], below[i], above[i] = 0.0, 0.0, -np.inf, np.inf
    for i in range(k + root, k + n):
        a, b = limits.torque_low[i - k - root], limits.torque_high[i - k - root]
        low[i], high[i] = a, b
        below[i], above[i] = a - TORQUE_SLACK * (1.0 + abs(a)), b + TORQUE_SLACK * (1.0 + abs(b))
        lock[i] = UNLOCKED
        if b - a <= 0.0:
            held[i], lock[i], point[i] = AT_LOW, FIXED, a
        else:
            _keep_side(i, bounds, working)


@inner_kernel
def _keep_side(i: int, bounds: BodyBounds, working: HeldBounds) -> None:
    """Puts bound i where it was held if that end is still there; else it is free, within its ends."""
    low, high = bounds.low[i], bounds.high[i]
    if working.held[i] == AT_LOW and low > -np.inf:
        working.point[i] = low
    elif working.held[i] == AT_HIGH and high < np.inf:
        working.point[i] = high
    else:
        working.held[i], working.point[i] = FREE, min(max(working.point[i], low), high)


@inner_kernel
def list_working_set(working: HeldBounds, root: int) -> tuple[int, int]:
    """Lists the rows of M held as equalities and the free multipliers. Returns how many of each."""
    k, n = len(working.free), len(working.equal)
    free = 0
    for i in range(k):
        if working.held[i] == FREE:
            working.free[free] = i
            free += 1
    for j in range(root):
        working.equal[j] = j
    equal = root
    for j in range(root, n):
        if working.held[k + j] != FREE:
            working.equal[equal] = j
            equal += 1
    return equal, free


@inner_kernel
def ratio_test(bounds: BodyBounds, working: HeldBounds, candidate: BodyCandidate) -> tuple[float, int, int]:
    """Returns (step, bound, side): how far the point can go towards the candidate and what stops it, -1: nothing."""
    point, x = working.point, candidate.x
    step, block, side = 1.0, -1, FREE
    for i in range(len(point)):
        if working.held[i] != FREE:
            continue
        if x[i] < bounds.below[i]:
            ratio = (point[i] - bounds.low[i]) / (point[i] - x[i])
            if ratio < step:
                step, block, side = ratio, i, AT_LOW
        elif x[i] > bounds.above[i]:
            ratio = (bounds.high[i] - point[i]) / (x[i] - point[i])
            if ratio < step:
                step, block, side = ratio, i, AT_HIGH
    return max(step, 0.0), block, side


@inner_kernel
def take_step(bounds: BodyBounds, working: HeldBounds, candidate: BodyCandidate, step: float) -> None:
    """Moves the free part of the point towards the candidate, within its bounds to the last bit."""
    point, x = working.point, candidate.x
    for i in range(len(point)):
        if working.held[i] == FREE:
            point[i] = min(max(point[i] + step * (x[i] - point[i]), bounds.low[i]), bounds.high[i])


@inner_kernel
def hold(i: int, side: int, bounds: BodyBounds, working: HeldBounds, released: int, released_side: int) -> None:
    """Adds bound i to the working set. Released just before from the same side: its price was noise."""
    working.held[i] = side
    working.point[i] = bounds.low[i] if side == AT_LOW else bounds.high[i]
    if i == released and side == released_side:
        working.lock[i] = NOISY
