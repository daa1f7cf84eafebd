"""Rows of joint limits and their gradients, compiled; the formulas are those of the package."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import kernel, lean_kernel

Numbers = Array | tuple[float, ...]
SINGULAR = 1e-9  # below this |(w, x)|^2 the twist is undefined and is taken as zero


@kernel
def rotate_vector(q: Numbers, v: Numbers) -> tuple[float, float, float]:
    """v (3,) turned by the unit quaternion q. Arrays and tuples are taken; tuples need no memory."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx


@kernel
def multiply_quaternions(a: Numbers, b: Numbers) -> tuple[float, float, float, float]:
    """a * b (4,)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def twist_angle(q: Array, axis: Array, rest: Array) -> float:
    """phi in (-pi, pi] [rad] of q rest^-1 = q_swing q_twist."""
    conjugate = (rest[0], -rest[1], -rest[2], -rest[3])
    relative = multiply_quaternions(q, conjugate)
    axis0 = rotate_vector(rest, axis)
    w = relative[0]
    x = relative[1] * axis0[0] + relative[2] * axis0[1] + relative[3] * axis0[2]
    if w * w + x * x < SINGULAR:
        return 0.0
    angle = 2.0 * np.arctan2(x, w)
    if angle > np.pi:
        angle -= 2.0 * np.pi
    elif angle <= -np.pi:
        angle += 2.0 * np.pi
    return angle


@lean_kernel
def fill_ball_rows(
    q: Array,
    axis: Array,
    rest: Array,
    normals: Array,
    offsets: Array,
    low: float,
    high: float,
    values: Array,
    gradient: Array,
) -> None:
    """Writes the k + 2 rows of one ball joint and their gradients by its angular velocity (child frame)."""
    faces = len(offsets)
    bone = rotate_vector(q, axis)
    back = (q[0], -q[1], -q[2], -q[3])
    for i in range(faces):
        sine = normals[i, 0] * bone[0] + normals[i, 1] * bone[1] + normals[i, 2] * bone[2]
        sine = min(1.0, max(-1.0, sine))
        values[i] = np.arcsin(sine) - np.arcsin(min(1.0, max(-1.0, offsets[i])))
        local = rotate_vector(back, normals[i])  # d(n.a')/dw = a x R^T n
        scale = 1.0 / np.sqrt(max(1.0 - sine * sine, 1e-18))
        gradient[i, 0] = (axis[1] * local[2] - axis[2] * local[1]) * scale
        gradient[i, 1] = (axis[2] * local[0] - axis[0] * local[2]) * scale
        gradient[i, 2] = (axis[0] * local[1] - axis[1] * local[0]) * scale
    conjugate = (rest[0], -rest[1], -rest[2], -rest[3])
    relative = multiply_quaternions(q, conjugate)
    axis0 = rotate_vector(rest, axis)
    w = relative[0]
    vx, vy, vz = relative[1], relative[2], relative[3]
    x = vx * axis0[0] + vy * axis0[1] + vz * axis0[2]
    angle = twist_angle(q, axis, rest)
    slope = (0.0, 0.0, 0.0)
    size = w * w + x * x
    if size >= SINGULAR:  # dphi = (w (w a0 + a0 x v) + x v) . (rest w) / (w^2 + x^2)
        turned = (
            (w * (w * axis0[0] + axis0[1] * vz - axis0[2] * vy) + x * vx) / size,
            (w * (w * axis0[1] + axis0[2] * vx - axis0[0] * vz) + x * vy) / size,
            (w * (w * axis0[2] + axis0[0] * vy - axis0[1] * vx) + x * vz) / size,
        )
        slope = rotate_vector(conjugate, turned)
    values[faces] = low - angle
    values[faces + 1] = angle - high
    for k in range(3):
        gradient[faces, k] = -slope[k]
        gradient[faces + 1, k] = slope[k]


@kernel
def fill_limit_rows(
    pose: Array,
    range_q: Ints,
    range_v: Ints,
    low: Array,
    high: Array,
    ball_q: Ints,
    ball_v: Ints,
    axis: Array,
    rest: Array,
    normals: Array,
    offsets: Array,
    face_start: Ints,
    twist: Array,
) -> tuple[Array, Array, Ints]:
    """Values (rows,), nonzero entries of the gradients (rows, 3), and the dofs of these (rows, 3), -1 for none."""
    rows = 2 * len(range_q) + len(offsets) + 2 * len(ball_q)
    values = np.empty(rows)
    compact = np.zeros((rows, 3))  # gradient entries
    columns = np.full((rows, 3), -1, np.int64)  # and the dof of each
    for i in range(len(range_q)):
        values[2 * i] = low[i] - pose[range_q[i]]
        values[2 * i + 1] = pose[range_q[i]] - high[i]
        compact[2 * i, 0], compact[2 * i + 1, 0] = -1.0, 1.0
        columns[2 * i, 0] = columns[2 * i + 1, 0] = range_v[i]
    row = 2 * len(range_q)
    for j in range(len(ball_q)):
        start, end = face_start[j], face_start[j + 1]
        count = end - start + 2
        q = pose[ball_q[j] : ball_q[j] + 4] / np.sqrt(np.sum(pose[ball_q[j] : ball_q[j] + 4] ** 2))
        fill_ball_rows(
            q,
            axis[j],
            rest[j],
            normals[start:end],
            offsets[start:end],
            twist[j, 0],
            twist[j, 1],
            values[row : row + count],
            compact[row : row + count],
        )
        for i in range(count):
            for k in range(3):
                columns[row + i, k] = ball_v[j] + k
        row += count
    return values, compact, columns
