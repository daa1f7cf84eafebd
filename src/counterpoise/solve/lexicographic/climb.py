"""The way that cannot fail, compiled: from a feasible point, level by level along the faces of the constraints.

    y = Q z        the first k coordinates of z are fixed by the levels above

Each level is solved by `descend` in the coordinates left free. A closed level fixes its rows at their attained values
and locks the constraints that hold it back (they do so in every minimiser), so no lower level is ever infeasible by
rounding.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.solve.lexicographic.descend import KNOWN_INDEPENDENT, descend
from counterpoise.solve.lexicographic.directions import (
    GRADE,
    LEFT_OVER,
    STEPS,
    FeasibleRegion,
    LevelRows,
    WorkingRows,
    values_at,
)
from counterpoise.solve.lexicographic.problem import POSITIVE_MULTIPLIER, ScaledHierarchy
from counterpoise.solve.orthogonal import append_row, pivoted_lq
from counterpoise.solve.reflections import reflect_forth, reflect_rows


@kernel
def climb(problem: ScaledHierarchy, y: Array, sides: Ints, defect: Array, limit: int) -> int:
    """All levels from a feasible y with working set `sides`; both become the answer. `problem.C` holds the bounds too.

    Returns the steps, negative where there were too many. defect[l] is the relative gradient that level l left over
    (zero but for rounding).
    """
    nc, n = problem.C.shape
    N = len(problem.ends) - 1
    Q, z = np.eye(n), y.copy()
    still, leaving = np.zeros(nc, np.int64), np.zeros(nc, np.int64)
    region = FeasibleRegion(problem.C.copy(), problem.lo, problem.hi, sides, still, leaving)
    working = WorkingRows(np.empty(n + 1, np.int64), np.zeros((n + 1, n)), np.zeros((n, n)), np.zeros(n))
    most = max(nc, len(problem.A), n)
    order, spare, mu, account = np.empty(most, np.int64), np.empty(most), np.zeros(nc), np.zeros(5)
    E = np.zeros((nc, n))
    ne = _list_equalities(problem, still, E)
    k = pivoted_lq(E, 0, ne, 0, n, working.V, working.beta, order, np.ones(nc), spare)
    _turn(region.C, Q, z, working, 0, k)
    steps = 0
    for l in range(N + 1):
        m = problem.ends[l + 1] - problem.ends[l] if l < N else n
        defect[l] = 0.0
        if k == n or m == 0:
            continue
        level = LevelRows(np.empty((m, n)), np.empty(m), np.empty(m), l < N)
        _write_level(problem, Q, level, l)
        nw = descend(level, region, working, k, z, mu, limit - steps, account)
        steps += int(account[STEPS])
        defect[l] = account[LEFT_OVER]
        locked = _lock_what_holds(region, working, k, nw, mu, account[GRADE])
        reflect_rows(level.R, 0, m, working.V, working.beta, k, k + locked, n)
        top = k + locked
        if top < n:
            top += pivoted_lq(level.R, 0, m, top, n, working.V, working.beta, order, level.size, spare)
        _turn(region.C, Q, z, working, k, top)
        k = top
    values_at(Q, z, y)
    return steps if steps < limit else -steps - 1


@inner_kernel
def _list_equalities(problem: ScaledHierarchy, still: Ints, E: Array) -> int:
    """Copies the rows of the equalities to E and marks them. Returns how many there are."""
    count = 0
    for i in range(len(problem.C)):
        if problem.lo[i] == problem.hi[i]:
            still[i] = 1
            for j in range(E.shape[1]):
                E[count, j] = problem.C[i, j]
            count += 1
    return count


@inner_kernel
def _turn(C: Array, Q: Array, z: Array, working: WorkingRows, q0: int, q1: int) -> None:
    """Takes the constraints, Q and z into the coordinates of reflectors q0..q1."""
    n = len(z)
    reflect_rows(C, 0, len(C), working.V, working.beta, q0, q1, n)
    reflect_rows(Q, 0, n, working.V, working.beta, q0, q1, n)
    reflect_forth(z, working.V, working.beta, q0, q1, n)


@inner_kernel_with_arrays
def _write_level(problem: ScaledHierarchy, Q: Array, level: LevelRows, l: int) -> None:
    """The rows of level l (the last: the nearness |d y - near|) in the coordinates z."""
    first, n = problem.ends[l], len(Q)
    if level.exact:
        level.R[:, :] = np.dot(problem.A[first : problem.ends[l + 1]], Q)
    for i in range(len(level.rhs)):
        level.rhs[i] = problem.b[first + i] if level.exact else problem.near[i]
        level.size[i] = problem.size[first + i] if level.exact else problem.d[i]
        if not level.exact:
            for j in range(n):
                level.R[i, j] = problem.d[i] * Q[i, j]


@inner_kernel
def _lock_what_holds(region: FeasibleRegion, working: WorkingRows, k: int, nw: int, mu: Array, grade: float) -> int:
    """Makes the working rows of positive multiplier equalities for good. Returns how many there are."""
    n, count = region.C.shape[1], 0
    for i in range(nw):
        row = working.rows[i]
        if -region.sides[row] * mu[row] > POSITIVE_MULTIPLIER * grade:
            region.still[row] = 1
            append_row(region.C[row], working.L, working.V, working.beta, count, k, n, KNOWN_INDEPENDENT)
            count += 1
    return count
