"""Guess the working set and prove it, compiled (block principal pivoting, Judice & Pires 1994).

Settle the hierarchy on a working set, then read off what is wrong with it: constraints outside that are violated, and
constraints inside whose first multiplier that is not zero has the wrong sign. Nothing wrong is a proof of optimality.
Otherwise all that is wrong changes at once, or, when that stops helping, only the last of it.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, dot_sizes, inner_kernel, kernel
from counterpoise.solve.lexicographic.problem import (
    NEGATIVE_MULTIPLIER,
    POSITIVE_MULTIPLIER,
    VIOLATION,
    ScaledHierarchy,
)
from counterpoise.solve.lexicographic.settle import settle, settling_space

PATIENCE = 3  # guesses that may be no better than the best before changes are made one at a time
STAY = -2  # in `change`: the constraint stays as it is


@kernel
def pivot(
    problem: ScaledHierarchy, sides: Ints, y: Array, mu: Array, grade: Array, limit: int, best_y: Array
) -> int:  # fmt: skip
    """Guesses from `sides` on. Returns the iterations used, negative when none of them was optimal.

    `sides`, y, mu and grade become the last guess; best_y the point with the fewest faults.
    """
    space = settling_space(problem)
    n, count = len(y), len(sides)
    change = np.empty(count, np.int64)
    best, patience = count + 1, PATIENCE
    for iteration in range(1, limit + 1):
        settle(problem, sides, y, mu, grade, space)
        faults = find_faults(problem, y, sides, mu, grade, change)
        if faults == 0:
            return iteration
        if faults < best:
            best, patience = faults, PATIENCE
            for j in range(n):
                best_y[j] = y[j]
        else:
            patience -= 1
        for i in range(count - 1, -1, -1):
            if change[i] != STAY:
                sides[i] = change[i]
                if patience < 0:
                    break
    return -limit


@inner_kernel
def find_faults(problem: ScaledHierarchy, y: Array, sides: Ints, mu: Array, grade: Array, change: Ints) -> int:
    """change[i]: the side that a constraint should have, or STAY. Returns how many should change."""
    lo, hi = problem.lo, problem.hi
    top, count = 0.0, 0
    for j in range(len(y)):
        top = max(top, abs(y[j]))
    for i in range(len(sides)):
        change[i] = STAY
        if sides[i] == 0 or lo[i] == hi[i]:
            if lo[i] > -np.inf or hi[i] < np.inf:
                change[i] = _violated_side(problem, y, i, top)
        elif _pulls(sides[i], mu[:, i], grade):
            change[i] = 0
        if change[i] != STAY:
            count += 1
    return count


@inner_kernel
def _violated_side(problem: ScaledHierarchy, y: Array, i: int, top: float) -> int:
    """The end that y is beyond at constraint i, or STAY. `top` is the largest |y_j|."""
    n, low, high = len(y), problem.lo[i], problem.hi[i]
    if i < n:
        value, terms = y[i], abs(y[i])
    else:
        value, terms = dot(problem.C[i - n], y), dot_sizes(problem.C[i - n], y)
    slack = VIOLATION * (terms + 0.1 * top)
    if value < low - slack - VIOLATION * abs(low):
        return -1
    if value > high + slack + VIOLATION * abs(high):
        return 1
    return STAY


@inner_kernel
def _pulls(side: int, mu: Array, grade: Array) -> bool:
    """Whether the first of a constraint's multipliers that is not zero has the wrong sign."""
    for l in range(len(grade)):
        v = -side * mu[l]
        if v > POSITIVE_MULTIPLIER * grade[l]:
            return False
        if v < -NEGATIVE_MULTIPLIER * grade[l]:
            return True
    return False
