"""The feasible point nearest to a guess, compiled: where the climb begins.

    min |y - guess|   subject to   lo <= C y <= hi         (dual active set: Goldfarb & Idnani 1983, Hessian one)

The point is always optimal for its working set. The most violated row is brought in along z, its part orthogonal to the
working rows; a working row whose multiplier would change sign on the way is dropped first. It ends with the point, or
with a smallest set of rows that contradict each other: the violated row and those of its working set that it depends
on. That relation is the only one, so without any one of them the others can hold together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel, kernel
from counterpoise.solve.lexicographic.problem import VIOLATION
from counterpoise.solve.orthogonal import RANK_TOLERANCE, append_row, solve_lower, solve_upper, square
from counterpoise.solve.reflections import reflect_back, reflect_forth

FOUND, CONFLICT, OUT_OF_STEPS = 0, 1, 2
FALLING = 1e-11  # relative rate from which a multiplier counts as falling
INVOLVED = 1e-9  # relative coefficient from which a row takes part in a contradiction
KNOWN_INDEPENDENT = 1e-3  # length that a row counts with when it is factored again: it was independent before


class DualSet(NamedTuple):
    """The working rows with their factor, and scratch."""

    rows: Ints  # (n,) the first `nw` entries
    sign: Array  # (n,) +1: low end or equality; -1: high end, the row is turned
    u: Array  # (n,) multipliers
    L: Array  # (n + 1, n) LQ factor of sign times row
    V: Array  # (n, n)
    beta: Array  # (n,)
    row: Array  # (n,) the row that comes in
    t: Array  # (n,) that row in the factor's coordinates; then a step in those of y
    r: Array  # (n,) how fast the multipliers fall
    rhs: Array  # (n,)


@inner_kernel
def rounding_at(y: Array) -> float:
    """The violation that counts as none at y: rows have unit length, so rounding goes with the length of y."""
    return float(VIOLATION * np.sqrt(square(y)) + 1e-300)


@kernel
def project(
    C: Array, lo: Array, hi: Array, guess: Array, y: Array, sides: Ints, conflict: Ints, limit: int
) -> int:  # fmt: skip
    """Writes y and its working set `sides`. Returns FOUND, CONFLICT (the rows are marked) or OUT_OF_STEPS."""
    n = C.shape[1]
    dual = DualSet(
        np.empty(n, np.int64), np.empty(n), np.zeros(n), np.zeros((n + 1, n)), np.zeros((n, n)), np.zeros(n),
        np.empty(n), np.empty(n), np.zeros(n), np.empty(n),
    )  # fmt: skip
    for i in range(len(C)):
        sides[i], conflict[i] = 0, 0
    equal = _hold_equalities(C, lo, hi, sides, dual)
    nw = equal
    _point_on_set(C, lo, hi, guess, y, dual, nw)
    for _ in range(limit):
        p, sign = _most_violated(C, lo, hi, y, sides)
        if p < 0:  # the same point once more, straight from its working set: without the rounding of the way
            _point_on_set(C, lo, hi, guess, y, dual, nw)
            return FOUND
        nw = _bring_in(C, lo, hi, y, sides, conflict, dual, p, sign, equal, nw)
        if nw < 0:
            return CONFLICT
    return OUT_OF_STEPS


@inner_kernel
def _hold_equalities(C: Array, lo: Array, hi: Array, sides: Ints, dual: DualSet) -> int:
    """Begins the working set with the independent equalities. Returns how many there are."""
    n, nw = C.shape[1], 0
    for i in range(len(C)):
        if lo[i] == hi[i] and nw < n and append_row(C[i], dual.L, dual.V, dual.beta, nw, 0, n, 1.0):
            dual.rows[nw], dual.sign[nw], sides[i] = i, 1.0, -1
            nw += 1
    return nw


@inner_kernel
def _point_on_set(C: Array, lo: Array, hi: Array, guess: Array, y: Array, dual: DualSet, nw: int) -> None:
    """y: the point nearest to the guess with the working rows at their ends."""
    rhs, t, n = dual.rhs, dual.t, len(y)
    for i in range(nw):
        p = dual.rows[i]
        s = lo[p] if dual.sign[i] > 0.0 else hi[p]
        s -= dot(C[p], guess)
        rhs[i] = s * dual.sign[i]
    solve_lower(dual.L, 0, nw, rhs, t)
    for j in range(nw, n):
        t[j] = 0.0
    reflect_back(t, dual.V, dual.beta, 0, nw, n)
    for j in range(n):
        y[j] = guess[j] + t[j]


@inner_kernel
def _most_violated(C: Array, lo: Array, hi: Array, y: Array, sides: Ints) -> tuple[int, float]:
    """Returns (row, +1 below its low end or -1 above its high end); (-1, 1) where none is violated."""
    slack, worst, p, sign = rounding_at(y), 0.0, -1, 1.0
    for i in range(len(C)):
        if sides[i] != 0 or (lo[i] == -np.inf and hi[i] == np.inf):
            continue
        v = dot(C[i], y)
        if lo[i] - v > slack and lo[i] - v > worst:
            worst, p, sign = lo[i] - v, i, 1.0
        if v - hi[i] > slack and v - hi[i] > worst:
            worst, p, sign = v - hi[i], i, -1.0
    return p, sign


@inner_kernel
def _bring_in(
    C: Array, lo: Array, hi: Array, y: Array, sides: Ints, conflict: Ints, dual: DualSet, p: int, sign: float,
    equal: int, nw: int,
) -> int:  # fmt: skip
    """Moves y until row p holds, dropping working rows on the way. Returns the new number of them; -1: conflict."""
    row, t, r, u, n = dual.row, dual.t, dual.r, dual.u, len(y)
    gain = 0.0
    while True:
        for j in range(n):
            row[j] = sign * C[p, j]
            t[j] = row[j]
        reflect_forth(t, dual.V, dual.beta, 0, nw, n)
        zz = square(t[nw:n])
        solve_upper(dual.L, 0, nw, t, r)
        missing = lo[p] if sign > 0.0 else -hi[p]
        missing -= dot(row, y)
        big = 1.0
        for i in range(nw):
            big = max(big, abs(r[i]))
        step, drop = np.inf, -1  # until a multiplier is zero
        for i in range(equal, nw):
            if r[i] > FALLING * big and u[i] < step * r[i]:
                step, drop = u[i] / r[i], i
        full = missing / zz if zz > RANK_TOLERANCE * RANK_TOLERANCE else np.inf  # until row p holds
        if step == np.inf and full == np.inf:
            conflict[p] = 1
            for i in range(nw):
                if abs(r[i]) > INVOLVED * big:
                    conflict[dual.rows[i]] = 1
            return -1
        arrives = full <= step
        step = min(step, full)
        if full < np.inf:
            for j in range(nw):
                t[j] = 0.0
            reflect_back(t, dual.V, dual.beta, 0, nw, n)
            for j in range(n):
                y[j] += step * t[j]
        for i in range(nw):
            u[i] -= step * r[i]
        gain += step
        if arrives:
            append_row(row, dual.L, dual.V, dual.beta, nw, 0, n, 1.0)
            dual.rows[nw], dual.sign[nw], u[nw] = p, sign, gain
            sides[p] = -1 if sign > 0.0 else 1
            return nw + 1
        sides[dual.rows[drop]] = 0
        nw -= 1
        _drop(C, dual, drop, nw)


@inner_kernel
def _drop(C: Array, dual: DualSet, at: int, nw: int) -> None:
    """Takes working row `at` out and factors those behind it again; `nw` are left."""
    n = C.shape[1]
    for i in range(at, nw):
        dual.rows[i], dual.sign[i], dual.u[i] = dual.rows[i + 1], dual.sign[i + 1], dual.u[i + 1]
    for i in range(at, nw):
        for j in range(n):
            dual.row[j] = dual.sign[i] * C[dual.rows[i], j]
        append_row(dual.row, dual.L, dual.V, dual.beta, i, 0, n, KNOWN_INDEPENDENT)
