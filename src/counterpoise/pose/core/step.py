"""The step of posing: a small quadratic program, solved by an active set.

The step minimises |J x + r|^2 / 2 + x'D x / 2 + p'x under C x = -c, G x <= -g and low <= x <= high. D is diagonal, so
with A = [J; C; active G] and lambda = [J x + r; nu] everything reduces to one small system, as large as there are rows,

    (A D^-1 A' + E) lambda = b + A_held x_held - A D^-1 p,     x = -D^-1 (p + A' lambda),

with E = diag(1 for goals, 0 for constraints): it does not grow with the number of joints. Bounds and limits are found
by an active set. Variables beyond a bound are held there, rows beyond their limit are added, and both are released when
their multiplier has the wrong sign.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, fma, inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.pose.core.tables import StepProgram, WorkingSet

MAX_SWEEPS = 12  # changes of the working set
RELEASING_SWEEPS = 8  # sweeps that may release variables and rows; later ones only add, so that the search ends
BOUND_TOLERANCE = 1e-12  # of variables at bounds and of multipliers' signs
LIMIT_TOLERANCE = 1e-10  # of limit rows
EQUALITY_REGULARISATION = 1e-11  # share of an equality's diagonal that is added to it
PIVOT_TOLERANCE = 1e-12  # share of a diagonal below which a pivot counts as zero: its row repeats others


@kernel
def bounded_step(program: StepProgram, working: WorkingSet) -> tuple[Array, bool]:
    """Returns the step x (n,), and whether the working set was found. The working set is left as found."""
    D, p, held, active = program.D, program.p, working.held, working.active
    n, fixed_rows = len(D), len(program.r)
    most = fixed_rows + len(program.g)
    A, scaled, M = np.empty((most, n)), np.empty((most, n)), np.empty((most, most))
    x, b, right, diagonal = np.zeros(n), np.empty(most), np.empty(most), np.empty(most)
    A[:fixed_rows] = program.J
    b[:fixed_rows] = program.r
    rows, rows_changed = 0, True
    held_before = held.copy()
    for sweep in range(MAX_SWEEPS):
        if rows_changed:  # other rows: the system is built anew
            rows = fixed_rows
            for i in range(len(active)):
                if active[i] == 1:
                    A[rows] = program.G[i]
                    b[rows] = program.g[i]
                    rows += 1
            for k in range(rows):
                for i in range(n):
                    scaled[k, i] = A[k, i] / D[i] if held[i] == 0 else 0.0
                for j in range(k + 1):
                    M[k, j] = dot(scaled[k], A[j])
        else:  # variables were held or released: a rank-one change each
            for i in range(n):
                if (held_before[i] == 0) == (held[i] == 0):
                    continue
                sign = 1.0 / D[i] if held[i] == 0 else -1.0 / D[i]
                for k in range(rows):
                    part = sign * A[k, i]
                    scaled[k, i] = part if held[i] == 0 else 0.0
                    for j in range(k + 1):
                        M[k, j] += part * A[j, i]
        held_before[:] = held
        for i in range(n):
            x[i] = program.low[i] if held[i] == -1 else (program.high[i] if held[i] == 1 else 0.0)
        for k in range(rows):
            right[k] = b[k] + dot(A[k], x) - dot(scaled[k], p)
            regularised = EQUALITY_REGULARISATION * max(M[k, k], 1e-12) + 1e-300
            diagonal[k] = 1.0 if k < program.goal_rows else regularised
        multipliers, solved = solve_positive(M, diagonal, right, rows)
        if not solved:
            return x, False
        may_release = sweep < RELEASING_SWEEPS
        bounds_changed = _update_bounds(program, held, multipliers, rows, A, may_release, x)
        rows_changed = _update_limits(program, active, multipliers, may_release, x)
        if not (bounds_changed or rows_changed):
            return x, True
    for i in range(n):
        x[i] = min(max(x[i], program.low[i]), program.high[i])
    return x, False


@inner_kernel_with_arrays
def _update_bounds(
    program: StepProgram, held: Ints, multipliers: Array, rows: int, A: Array, may_release: bool, x: Array
) -> bool:
    """Fills the free variables of x, holds those beyond a bound, releases those pulled inwards.

    Returns whether any was held or released.
    """
    n, D, p = len(x), program.D, program.p
    slope = np.zeros(n)
    for k in range(rows):
        for i in range(n):
            slope[i] = fma(A[k, i], multipliers[k], slope[i])
    changed = False
    for i in range(n):
        if held[i] == 0:
            x[i] = -(p[i] + slope[i]) / D[i]
            if x[i] < program.low[i] - BOUND_TOLERANCE:
                held[i], changed = -1, True
            elif x[i] > program.high[i] + BOUND_TOLERANCE:
                held[i], changed = 1, True
        else:
            push = D[i] * x[i] + p[i] + slope[i]
            inwards = (held[i] == -1 and push < -BOUND_TOLERANCE) or (held[i] == 1 and push > BOUND_TOLERANCE)
            if inwards and may_release:
                held[i], changed = 0, True
    return changed


@inner_kernel
def _update_limits(program: StepProgram, active: Ints, multipliers: Array, may_release: bool, x: Array) -> bool:
    """Adds limit rows that x violates, releases those with a multiplier of the wrong sign. Returns whether any was."""
    changed, row = False, len(program.r)
    for i in range(len(active)):
        if active[i] == 1:
            if multipliers[row] < -BOUND_TOLERANCE and may_release:
                active[i], changed = 0, True
            row += 1
        else:
            excess = program.g[i] + dot(program.G[i], x)
            if excess > LIMIT_TOLERANCE:
                active[i], changed = 1, True
    return changed


@inner_kernel_with_arrays
def solve_positive(M: Array, diagonal: Array, right: Array, n: int) -> tuple[Array, bool]:
    """Solves (M + diagonal) x = right for the leading n x n part, lower triangle, by Cholesky.

    A pivot that vanishes leaves its unknown at zero. Returns x, and whether all numbers were finite.
    """
    L = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j] - dot(L[i, :j], L[j])
            if i == j:
                total += diagonal[i]
                if not np.isfinite(total):
                    return right, False
                L[i, i] = np.sqrt(total) if total > PIVOT_TOLERANCE * (M[i, i] + diagonal[i]) and total > 0.0 else 0.0
            else:
                L[i, j] = total / L[j, j] if L[j, j] > 0.0 else 0.0
    y = np.empty(n)
    for i in range(n):
        total = right[i] - dot(L[i, :i], y)
        y[i] = total / L[i, i] if L[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        y[i] = y[i] / L[i, i] if L[i, i] > 0.0 else 0.0
        for k in range(i):
            y[k] = fma(-y[i], L[i, k], y[k])
    return y, True
