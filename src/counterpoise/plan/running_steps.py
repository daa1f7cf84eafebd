"""Where a runner's next two feet land, and its centre of pressure now: least squares over two steps ahead.

Along and across the heading alike. Unknown are a shift d of the present centre of pressure and the next two footholds
u1, u2; speeds at the next three take-offs and all places depend on them linearly. The cost is

    w0 (x'_0 - v_0)^2 + w1 (x'_1 - v_1)^2 + w2 (x'_2 - v_2)^2 + wu (u_i - x_i - lead_i)^2 + wd d^2,

with x_i the CoM at landing i and lead_i the lead of a steady run.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel


@kernel
def choose_footholds(
    now: Array, pressure: Array, here: Array, steady: Array, flights: Array, speeds: Array, leads: Array, sole: Array,
    shifts: Array, reach: Array, added: Array, weights: Array, out: Array,
) -> None:  # fmt: skip
    """Fills shift, both footholds, and x and x' of the CoM at the next two landings, (7,). One axis.

    `now` is x, x'; `pressure` p0, p1 of the present stance; `here` its map and `steady` that of the next stances;
    `flights` the times of the next two flights; `speeds` (3,) those wished for at take-off; `leads` (2,); `sole` first
    and last centre of pressure from a foot; `shifts` the least and largest shift; `reach` the least and largest lead
    of the next foot; `added` (3, 2) what the rest of this stance and what the next two add to place and speed beyond
    the model; `weights` (5,) are w0, w1, w2, wu, wd.
    """
    # columns: constant, d, u1, u2
    x0, v0 = np.zeros(4), np.zeros(4)
    x0[0] = here[0, 0] * now[0] + here[0, 1] * now[1] + here[0, 2] * pressure[0] + here[0, 3] * pressure[1]
    v0[0] = here[1, 0] * now[0] + here[1, 1] * now[1] + here[1, 2] * pressure[0] + here[1, 3] * pressure[1]
    x0[0] += added[0, 0]
    v0[0] += added[0, 1]
    x0[1], v0[1] = here[0, 2] + here[0, 3], here[1, 2] + here[1, 3]
    land1 = x0 + flights[0] * v0
    x1, v1 = _stance(steady, land1, v0, sole, added[1], 2)
    land2 = x1 + flights[1] * v1
    _, v2 = _stance(steady, land2, v1, sole, added[2], 3)
    rows, at = np.zeros((6, 4)), np.zeros(6)
    rows[0], at[0] = v0, weights[0]
    rows[1], at[1] = v1, weights[1]
    rows[2], at[2] = v2, weights[2]
    rows[3], at[3] = -land1, weights[3]
    rows[4], at[4] = -land2, weights[3]
    rows[3, 2] += 1.0
    rows[4, 3] += 1.0
    for k in range(3):
        rows[k, 0] -= speeds[k]
    rows[3, 0] -= leads[0]
    rows[4, 0] -= leads[1]
    rows[5, 1], at[5] = 1.0, weights[4]
    found = _least_squares(rows, at)
    d = min(max(found[0], shifts[0]), shifts[1])
    if d != found[0]:
        for k in range(6):  # the shift is at its limit: the best footholds with it
            rows[k, 0] += d * rows[k, 1]
            rows[k, 1] = 0.0
        rows[5, 1], rows[5, 0] = 1.0, 0.0
        found = _least_squares(rows, at)
    at1 = land1[0] + d * land1[1]
    u1 = min(max(found[1], at1 + reach[0]), at1 + reach[1])
    if u1 != found[1]:  # so is the first foothold: the best second one
        low = 0.0
        high = 0.0
        for k in range(5):
            rest = rows[k, 0] + u1 * rows[k, 2] + (d * rows[k, 1] if d == found[0] else 0.0)
            low += at[k] * rows[k, 3] * rows[k, 3]
            high -= at[k] * rows[k, 3] * rest
        found[2] = high / low
    out[0], out[1], out[2] = d, u1, found[2]
    out[3], out[4] = at1, v0[0] + d * v0[1]
    out[5], out[6] = land2[0] + d * land2[1] + u1 * land2[2], v1[0] + d * v1[1] + u1 * v1[2]


@kernel
def _stance(steady: Array, x: Array, v: Array, sole: Array, added: Array, column: int) -> tuple[Array, Array]:
    """Returns x and x' at the take-off of a stance whose foothold is one of the unknowns."""
    after, speed = steady[0, 0] * x + steady[0, 1] * v, steady[1, 0] * x + steady[1, 1] * v
    after[0] += steady[0, 2] * sole[0] + steady[0, 3] * sole[1] + added[0]
    speed[0] += steady[1, 2] * sole[0] + steady[1, 3] * sole[1] + added[1]
    after[column] += steady[0, 2] + steady[0, 3]
    speed[column] += steady[1, 2] + steady[1, 3]
    return after, speed


@kernel
def _least_squares(rows: Array, weights: Array) -> Array:
    """Returns the three unknowns that minimise the weighted squares of rows (constant, d, u1, u2)."""
    A, b = np.zeros((3, 3)), np.zeros(3)
    for k in range(len(rows)):
        for i in range(3):
            b[i] -= weights[k] * rows[k, 1 + i] * rows[k, 0]
            for j in range(3):
                A[i, j] += weights[k] * rows[k, 1 + i] * rows[k, 1 + j]
    for i in range(3):  # Gauss; the matrix is positive definite
        for j in range(i + 1, 3):
            share = A[j, i] / A[i, i]
            for k in range(3):
                A[j, k] -= share * A[i, k]
            b[j] -= share * b[i]
    x = np.zeros(3)
    for i in range(2, -1, -1):
        rest = b[i]
        for k in range(i + 1, 3):
            rest -= A[i, k] * x[k]
        x[i] = rest / A[i, i]
    return x
