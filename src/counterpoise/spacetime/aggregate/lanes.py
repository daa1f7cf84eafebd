"""Rows of eight lanes: how the kernels of this room lay out their numbers, and the small algebra they share.

Frames are processed eight at a time, so that the vector units of the processor work on eight frames in one instruction.
Every number of a link is a row of eight lanes: `s[LANES * k + t]` is number k of frame t.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import fma, inner_kernel

Vec: TypeAlias = tuple[float, float, float]
Sym: TypeAlias = tuple[float, float, float, float, float, float]  # xx xy xz yy yz zz
Mat: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]

LANES = 8
# first rows of a link: its frame (rotation 9, origin 3), its motion (angular velocity w, velocity u of the point at the
# reference point, their rates), and sums over its subtree (first moment h, inertia J, its rate J', momentum, force)
ROTATION, ORIGIN, SPIN, SPEED, SPIN_RATE, SPEED_RATE = 0, 9, 12, 15, 18, 21
FIRST_MOMENT, INERTIA, INERTIA_RATE, ANGULAR, LINEAR, TORQUE, FORCE = 24, 27, 33, 39, 42, 45, 48
SUMS, LINK_ROWS = 24, 51  # where the sums begin; the number of rows
# first rows of a column of derivatives: s, s', e and g of `kernels`
AXIS, AXIS_RATE, AXIS_E, AXIS_G, COLUMN_ROWS = 0, 6, 12, 18, 24
# first rows of the derivatives of a force (by q, v, a) or of a momentum (by q, v)
BY_Q, BY_V, BY_A, DERIVATIVE_ROWS = 0, 6, 12, 18


@inner_kernel
def lanes_from(block: int, n: int) -> tuple[int, int]:
    """Returns the first frame of a block and its number of frames. The last block starts earlier, to be full."""
    if n < LANES:
        return 0, n
    return min(block, n - LANES), LANES


@inner_kernel
def lane(k: int, t: int) -> np.uint64:
    """Returns where number k of frame t lies. It is unsigned because a test of the sign would prevent vectorising."""
    return np.uint64(LANES * k + t)


# ---------------------------------------------------------------------------------------------- reading and writing
@inner_kernel
def three(s: Array, k: int, t: int) -> Vec:
    return (s[lane(k, t)], s[lane(k + 1, t)], s[lane(k + 2, t)])


@inner_kernel
def six(s: Array, k: int, t: int) -> Sym:
    return (
        s[lane(k, t)], s[lane(k + 1, t)], s[lane(k + 2, t)], s[lane(k + 3, t)], s[lane(k + 4, t)], s[lane(k + 5, t)]
    )  # fmt: skip


@inner_kernel
def rotation_of(s: Array, t: int) -> Mat:
    return (
        s[lane(0, t)], s[lane(1, t)], s[lane(2, t)], s[lane(3, t)], s[lane(4, t)], s[lane(5, t)],
        s[lane(6, t)], s[lane(7, t)], s[lane(8, t)],
    )  # fmt: skip


@inner_kernel
def nine(f: Array) -> Mat:
    return (f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])


@inner_kernel
def put(s: Array, k: int, t: int, a: Vec) -> None:
    s[lane(k, t)], s[lane(k + 1, t)], s[lane(k + 2, t)] = a[0], a[1], a[2]


@inner_kernel
def put_six(s: Array, k: int, t: int, a: Sym) -> None:
    put(s, k, t, (a[0], a[1], a[2]))
    put(s, k + 3, t, (a[3], a[4], a[5]))


@inner_kernel
def put_rotation(s: Array, t: int, r: Mat) -> None:
    put(s, 0, t, (r[0], r[1], r[2]))
    put(s, 3, t, (r[3], r[4], r[5]))
    put(s, 6, t, (r[6], r[7], r[8]))


# -------------------------------------------------------------------------------------------------------- algebra
@inner_kernel
def turned(r: Mat, p: Vec) -> Vec:
    return (
        fma(r[0], p[0], fma(r[1], p[1], r[2] * p[2])),
        fma(r[3], p[0], fma(r[4], p[1], r[5] * p[2])),
        fma(r[6], p[0], fma(r[7], p[1], r[8] * p[2])),
    )


@inner_kernel
def product(a: Mat, b: Mat) -> Mat:
    x, y, z = (b[0], b[3], b[6]), (b[1], b[4], b[7]), (b[2], b[5], b[8])
    u, v, w = turned(a, x), turned(a, y), turned(a, z)
    return (u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2])


@inner_kernel
def sym_times(J: Sym, w: Vec) -> Vec:
    return (
        fma(J[0], w[0], fma(J[1], w[1], J[2] * w[2])),
        fma(J[1], w[0], fma(J[3], w[1], J[4] * w[2])),
        fma(J[2], w[0], fma(J[4], w[1], J[5] * w[2])),
    )


@inner_kernel
def scaled(k: float, a: Vec) -> Vec:
    return (k * a[0], k * a[1], k * a[2])


@inner_kernel
def plus(a: Vec, b: Vec) -> Vec:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inner_kernel
def cross(a: Vec, b: Vec) -> Vec:
    return (fma(a[1], b[2], -a[2] * b[1]), fma(a[2], b[0], -a[0] * b[2]), fma(a[0], b[1], -a[1] * b[0]))
