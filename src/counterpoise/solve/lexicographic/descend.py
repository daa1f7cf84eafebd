"""One level of the climb, compiled: a primal active-set method on |R z - rhs| from a feasible z.

Newton steps in the null space of the working rows, each as far as the first constraint in the way, which joins them.
Where no step is left, the multipliers of the working rows say whether the level is optimal; if not, the worst row is
released. Where a release does not move the point (a degenerate corner), the gradient is projected on the cone of *all*
active constraints instead: what is left of it is a direction in which the residual really falls, so no working set can
come back; if nothing is left, the level is proved optimal.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.solve.lexicographic.directions import (
    GRADE,
    LEFT_OVER,
    RESIDUAL,
    STEPS,
    TERMS,
    FeasibleRegion,
    LevelRows,
    WorkingRows,
    cone_of_active,
    curvature,
    largest,
    misfit,
    newton,
    walk,
)
from counterpoise.solve.lexicographic.problem import ATTAINED_RESIDUAL, NEGATIVE_MULTIPLIER
from counterpoise.solve.orthogonal import append_row, solve_upper
from counterpoise.solve.reflections import reflect_forth

NO_STEP = 1e-15  # a Newton step below this part of |z| counts as zero
NO_MOVE = 1e-14  # a move below this part of |z| counts as degenerate
NO_FALL = 1e-14  # relative fall of the residual that counts as none
MAX_QUIET = 5  # projections on the cone without a fall before the level is given up as done
NEAR_DEPENDENT = 1e-2  # length that a row counts with when it joins: rows nearly dependent may
KNOWN_INDEPENDENT = 1e-3  # the same when it is factored again: it was independent before


@kernel
def descend(
    level: LevelRows, region: FeasibleRegion, working: WorkingRows, k: int, z: Array, mu: Array, limit: int,
    account: Array,
) -> int:  # fmt: skip
    """Minimises the level over z[k:]. Returns the number of working rows; mu (nc,) holds their multipliers.

    account: squared residual, the same of its terms' sizes, size of the gradient, steps used, relative gradient left
    over.
    """
    sides, n = region.sides, len(z)
    r, g, p, t, price = np.empty(len(level.rhs)), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    nw = _hold_working_set(region, working, k)
    account[STEPS], account[LEFT_OVER] = 0.0, 0.0
    stuck, begun, quiet, best = False, False, 0, np.inf
    while True:
        account[STEPS] += 1.0
        last = account[STEPS] >= limit
        misfit(level, z, r, g, account)
        newton(level, r, k, nw, working, p)
        top, far = largest(z), largest(p)
        if far > NO_STEP * top:
            for i in range(len(sides)):
                region.leaving[i] = 0
            step, hit, side = walk(region, z, p, k, 1.0)
            if hit >= 0:
                stuck = stuck or (begun and step * far <= NO_MOVE * top)
                nw = _join(region, working, k, nw, hit, side)
                if not last:
                    continue
        # stationary on its working set: is it on the whole?
        misfit(level, z, r, g, account)
        here, grade = account[RESIDUAL], account[GRADE]
        for i in range(len(mu)):
            mu[i] = 0.0
        if level.exact and here <= ATTAINED_RESIDUAL * ATTAINED_RESIDUAL * account[TERMS]:
            return nw
        for j in range(n):
            t[j] = g[j]
        reflect_forth(t, working.V, working.beta, k, k + nw, n)
        solve_upper(working.L, k, nw, t, price)
        worst, at = -NEGATIVE_MULTIPLIER * grade, -1
        for i in range(nw):
            row = working.rows[i]
            mu[row] = price[i]
            if -sides[row] * price[i] < worst:
                worst, at = -sides[row] * price[i], i
        if at < 0 or last:
            account[LEFT_OVER] = -worst / grade if at >= 0 else 0.0
            return nw
        begun = True
        if not stuck:
            nw = _release(region, working, k, nw, at)
            continue
        # degenerate: ask the cone of all that is active
        rest = cone_of_active(region, z, g, k, mu, p)
        nw = _hold_those_with_multipliers(region, working, k, nw, mu)
        quiet = quiet + 1 if here >= best * (1.0 - NO_FALL) else 0
        best = min(best, here)
        if np.sqrt(rest) <= NEGATIVE_MULTIPLIER * grade or quiet >= MAX_QUIET:
            account[LEFT_OVER] = np.sqrt(rest) / grade if grade > 0.0 else 0.0
            return nw
        curve = curvature(level.R, p, k)
        step, hit, side = walk(region, z, p, k, rest / curve if curve > 0.0 else 0.0)
        if hit >= 0:
            nw = _join(region, working, k, nw, hit, side)
        stuck = False


@inner_kernel
def _hold_working_set(region: FeasibleRegion, working: WorkingRows, k: int) -> int:
    """Factors the constraints of the working set; those that depend on others leave it. Returns how many are held."""
    n, nw = region.C.shape[1], 0
    for i in range(len(region.sides)):
        if region.sides[i] != 0 and region.still[i] == 0:
            if k + nw < n and append_row(region.C[i], working.L, working.V, working.beta, nw, k, n, 1.0):
                working.rows[nw] = i
                nw += 1
            else:
                region.sides[i] = 0
    return nw


@inner_kernel
def _join(region: FeasibleRegion, working: WorkingRows, k: int, nw: int, row: int, side: int) -> int:
    """Adds a constraint that stopped a step, unless it depends on the others. Returns how many are held."""
    n = region.C.shape[1]
    if append_row(region.C[row], working.L, working.V, working.beta, nw, k, n, NEAR_DEPENDENT):
        working.rows[nw] = row
        region.sides[row] = side
        return nw + 1
    return nw


@inner_kernel
def _release(region: FeasibleRegion, working: WorkingRows, k: int, nw: int, at: int) -> int:
    """Takes working row `at` out and factors those behind it again. Returns how many are held."""
    n, rows = region.C.shape[1], working.rows
    region.sides[rows[at]] = 0
    for i in range(at, nw - 1):
        rows[i] = rows[i + 1]
        append_row(region.C[rows[i]], working.L, working.V, working.beta, i, k, n, KNOWN_INDEPENDENT)
    return nw - 1


@inner_kernel
def _hold_those_with_multipliers(region: FeasibleRegion, working: WorkingRows, k: int, nw: int, mu: Array) -> int:
    """Replaces the working rows by the active constraints whose multiplier is not zero. Returns how many are held."""
    n = region.C.shape[1]
    for i in range(nw):
        region.sides[working.rows[i]] = 0
    nw = 0
    for i in range(len(mu)):
        if mu[i] != 0.0 and append_row(
            region.C[i], working.L, working.V, working.beta, nw, k, n, NEAR_DEPENDENT
        ):  # fmt: skip
            working.rows[nw] = i
            region.sides[i] = region.leaving[i]
            nw += 1
    return nw
