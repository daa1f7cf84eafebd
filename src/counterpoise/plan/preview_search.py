"""The search for the cheapest steps: Levenberg and Marquardt's method from several seeds, times within their bounds."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.plan.pendulum import pendulum_shares
from counterpoise.plan.preview_costs import CROSS
from counterpoise.plan.preview_residuals import (
    BACKWARD,
    CLEAR,
    CROSSED,
    DOUBLE,
    FIRST_X,
    FORWARD,
    HEADING,
    LAST_X,
    LEAST,
    MOST,
    NARROW,
    OMEGA,
    SIDE,
    STEADY_X,
    STEP_ROWS,
    USUAL,
    WIDE,
    preview_residuals,
)

FIRST_TRY = 8  # iterations from a seed that crosses
KEPT = 3  # of these seeds go on
ITERATIONS = 50  # at most, from each seed that goes on
SOLVED = 1e-5  # relative decrease of the cost at which a search ends
SOFT, HARD = 0.2, 6.0  # factors of the damping after a step that was good, or bad
FIRST_DAMPING, MOST_DAMPING, LEAST_DAMPING = 1e-2, 1e7, 1e-9
QUICK = 0.4  # share of the usual time, beyond the least one, of a quick first step
NOT_SINGULAR = 1e-12  # of a pivot


@kernel
def improve(
    x: Array, ways: Ints, start: Array, steps: Array, body: Array, roots: Array, most: int, tally: Ints, landed: Array
) -> float:
    """Moves x downhill for at most `most` iterations. Returns the cost, and counts the iterations in `tally`.

    `landed` (n, 4) is scratch.
    """
    n, rows = len(x), STEP_ROWS * len(steps) + 1
    r, J = np.empty(rows), np.empty((rows, n))
    r_try, J_try, x_try = np.empty(rows), np.empty((rows, n)), np.empty(n)
    A, L, g, step = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n)
    held = np.zeros(n, np.bool_)
    cost = preview_residuals(x, ways, start, steps, body, roots, r, J, landed)
    damping = FIRST_DAMPING
    _normal(r, J, A, g)
    for _ in range(most):
        tally[0] += 1
        for k in range(len(steps)):  # a time at its bound stays there where it would be better beyond it
            T = x[3 * k]
            held[3 * k] = (steps[k, LEAST] >= T and g[3 * k] > 0.0) or (steps[k, MOST] <= T and g[3 * k] < 0.0)
        _solve_damped(A, g, held, damping, L, step)
        for i in range(n):
            x_try[i] = x[i] + step[i]
        for k in range(len(steps)):
            x_try[3 * k] = min(max(x_try[3 * k], steps[k, LEAST]), steps[k, MOST])
        found = preview_residuals(x_try, ways, start, steps, body, roots, r_try, J_try, landed)
        if found < cost:
            gained = cost - found
            x[:] = x_try
            cost = found
            r, r_try, J, J_try = r_try, r, J_try, J
            _normal(r, J, A, g)
            damping = max(SOFT * damping, LEAST_DAMPING)
            if gained < SOLVED * (cost + SOLVED):
                break
        else:
            damping *= HARD
            if damping > MOST_DAMPING:
                break
    return cost


@inner_kernel
def _normal(r: Array, J: Array, A: Array, g: Array) -> None:
    """Fills J^T J and J^T r; rows without a derivative are passed over."""
    n = len(g)
    A[:] = 0.0
    g[:] = 0.0
    for row in range(len(r)):
        for i in range(n):
            a = J[row, i]
            if a != 0.0:
                g[i] += a * r[row]
                for j in range(i + 1):
                    A[i, j] += a * J[row, j]


@inner_kernel
def _solve_damped(A: Array, g: Array, held: Flags, damping: float, L: Array, step: Array) -> None:
    """Fills the step of the damped normal equations, by Cholesky's method; what is held does not move."""
    n = len(g)
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j] if not (held[i] or held[j]) else 0.0
            if i == j:
                total = 1.0 if held[i] else total * (1.0 + damping) + NOT_SINGULAR
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                L[i, i] = np.sqrt(max(total, NOT_SINGULAR))
            else:
                L[i, j] = total / L[j, j]
    for i in range(n):
        total = 0.0 if held[i] else -g[i]
        for k in range(i):
            total -= L[i, k] * step[k]
        step[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, n):
            total -= L[k, i] * step[k]
        step[i] = total / L[i, i]


@kernel
def seed_steps(share: float, ways: Ints, start: Array, steps: Array, body: Array, x: Array) -> None:
    """Fills steps of usual times, each to where the capture point will be then, as far as it is allowed to go.

    `share` is that of the usual time, beyond the least one, that the first step takes.
    """
    xi, shares, foot, rear = start[:2].copy(), np.empty(6), np.zeros(2), np.zeros(2)
    p0, p1 = np.empty(2), np.empty(2)
    for k in range(len(steps)):
        s = steps[k]
        T = s[LEAST] + (share if k == 0 else 1.0) * (s[USUAL] - s[LEAST])
        T = min(max(T, s[LEAST]), s[MOST])
        for i in range(2):
            if k == 0:
                p0[i], p1[i] = start[8 + i], start[10 + i]
            else:
                p0[i], p1[i] = rear[i] + steps[k - 1, LAST_X + i], foot[i] + s[FIRST_X + i]
        pendulum_shares(s[DOUBLE], body[OMEGA], shares)
        for i in range(2):
            xi[i] = shares[0] * xi[i] + shares[1] * p0[i] + shares[2] * p1[i]
        pendulum_shares(T, body[OMEGA], shares)
        for i in range(2):
            xi[i] = shares[0] * xi[i] + shares[1] * p1[i] + shares[2] * (foot[i] + s[LAST_X + i])
        c, d = np.cos(s[HEADING]), np.sin(s[HEADING])
        gx, gy = xi[0] - foot[0], xi[1] - foot[1]
        along, own = c * gx + d * gy - s[STEADY_X], s[SIDE] * (c * gy - d * gx - s[STEADY_X + 1])
        if ways[k] == 0:
            own = min(max(own, body[NARROW]), body[WIDE])
        else:
            own = min(max(own, -body[CROSSED]), 0.0)
            along = ways[k] * max(ways[k] * along, body[CLEAR])
        along, left = min(max(along, -body[BACKWARD]), body[FORWARD]), s[SIDE] * own
        rear[:] = foot
        foot[0] += c * along - d * left
        foot[1] += d * along + c * left
        x[3 * k], x[3 * k + 1], x[3 * k + 2] = T, foot[0], foot[1]


@kernel
def search_steps(
    start: Array, steps: Array, body: Array, roots: Array, x: Array, ways: Ints, warm: int, tally: Ints, landed: Array
) -> float:
    """Fills x and ways with the cheapest steps that are found, and capture point and eta at their landings, (n, 4).

    Returns their cost.

    Steps to the own side are tried first; a step that crosses has a cost of its own, so where they cost less than that,
    they are the best. `warm`: 0: x and ways are not looked at, 1: they are one of the seeds, 2: they are the only one.
    """
    count = len(steps)
    n = 3 * count
    r, J = np.empty(STEP_ROWS * count + 1), np.empty((STEP_ROWS * count + 1, n))
    if warm == 2:
        improve(x, ways, start, steps, body, roots, ITERATIONS, tally, landed)
        return preview_residuals(x, ways, start, steps, body, roots, r, J, landed)
    kinds = 3 ** (count - 1)  # every step but the last may cross
    tried, other, costs = np.empty((kinds + 3, n)), np.empty(n), np.full(kinds, np.inf)
    tried_ways = np.zeros((kinds + 3, count), np.int64)
    best, least = kinds, np.inf
    for number in range(kinds, kinds + 3):  # no step crosses, usual or quick; and the steps that were given
        if number == kinds + 2:
            if warm == 0:
                break
            tried[number], tried_ways[number] = x, ways
        else:
            seed_steps(1.0 if number == kinds else QUICK, tried_ways[number], start, steps, body, tried[number])
        cost = improve(tried[number], tried_ways[number], start, steps, body, roots, ITERATIONS, tally, landed)
        if cost < least:
            best, least = number, cost
    for number in range(kinds):
        code, crossings = number, 0
        for k in range(count - 1):
            tried_ways[number, k] = code % 3 - 1
            crossings += abs(tried_ways[number, k])
            code //= 3
        if crossings == 0 or crossings * roots[CROSS] ** 2 >= least:
            continue  # it cannot be cheaper
        seed_steps(1.0, tried_ways[number], start, steps, body, tried[number])
        costs[number] = improve(tried[number], tried_ways[number], start, steps, body, roots, FIRST_TRY, tally, landed)
        seed_steps(QUICK, tried_ways[number], start, steps, body, other)
        cost = improve(other, tried_ways[number], start, steps, body, roots, FIRST_TRY, tally, landed)
        if cost < costs[number]:
            costs[number], tried[number] = cost, other
    for _ in range(min(KEPT, kinds)):
        number = int(np.argmin(costs))
        if not costs[number] < np.inf:
            break
        cost = improve(tried[number], tried_ways[number], start, steps, body, roots, ITERATIONS, tally, landed)
        costs[number] = np.inf
        if cost < least:
            best, least = number, cost
    x[:] = tried[best]
    ways[:] = tried_ways[best]
    return preview_residuals(x, ways, start, steps, body, roots, r, J, landed)
