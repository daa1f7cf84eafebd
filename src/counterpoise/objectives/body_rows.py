"""Kernels for rows on single bodies: a point's place, a body's orientation, joints that move without torque.

They read the parts of a Snapshot and write into the block of rows the solver reads (see `writing`).
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot_layout import SnapshotParts
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel


@inner_kernel_with_arrays
def write_point(A: Array, b: Array, at: int, r: Array, s: SnapshotParts, ancestors: Array) -> int:
    """Writes the rows of a record of kind BODY_POINT. Returns their number."""
    beta, body, mass = r[1], int(r[2]), r[3]
    p, R, v, a = s.body_position[body], s.body_rotation[body], s.body_velocity[body], s.body_drift[body]
    arm, rate, drift, error = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        arm[k] = p[k] + R[3 * k] * r[4] + R[3 * k + 1] * r[5] + R[3 * k + 2] * r[6] - s.com[k]
    _cross(v, arm, rate)
    for k in range(3):
        rate[k] += v[3 + k]
    _cross(a, arm, error)
    _cross(v, rate, drift)
    for k in range(3):
        drift[k] += a[3 + k] + error[k]
        error[k] = r[7 + k] - arm[k]
        if mass > 0.0:  # as seen from the CoM
            rate[k] -= s.momentum[3 + k] / mass
            drift[k] -= s.momentum_drift[3 + k] / mass
        else:
            error[k] -= s.com[k]
    end = _write_targets(b, at, beta, error, rate, drift, r[10:])
    nv, row = A.shape[1], at
    for k in range(3):
        if r[16 + k] == 0.0:
            continue
        k1, k2 = (k + 1) % 3, (k + 2) % 3
        for j in range(nv):
            x = s.motion_vectors[j]
            moved = ancestors[body, j] * (x[3 + k] + x[k1] * arm[k2] - x[k2] * arm[k1])
            if mass > 0.0:
                moved -= s.momentum_matrix[3 + k, j] / mass
            A[row, j] = beta * moved
        row += 1
    return end - at


@inner_kernel_with_arrays
def write_turn(A: Array, b: Array, at: int, r: Array, s: SnapshotParts, ancestors: Array) -> int:
    """Writes the rows of a record of kind BODY_TURN. Returns their number."""
    beta, body = r[1], int(r[2])
    error = np.empty(3)
    turn_to(s.body_rotation[body], r[3:7], error)
    end = _write_targets(b, at, beta, error, s.body_velocity[body], s.body_drift[body], r[7:])
    nv, row = A.shape[1], at
    for k in range(3):
        if r[13 + k] != 0.0:
            for j in range(nv):
                A[row, j] = beta * ancestors[body, j] * s.motion_vectors[j, k]
            row += 1
    return end - at


@inner_kernel
def write_relaxed(A: Array, b: Array, at: int, r: Array, s: SnapshotParts) -> int:
    """Writes the rows of a record of kind RELAXED, (M_i a + h_i) / M_ii = wanted. Returns their number."""
    beta, count = r[1], int(r[2])
    for n in range(count):
        i = int(r[3 + 2 * n])
        scale = beta / s.M[i, i]
        for j in range(A.shape[1]):
            A[at + n, j] = scale * s.M[i, j]
        b[at + n] = beta * r[4 + 2 * n] - scale * s.h[i]
    return count


@inner_kernel_with_arrays
def _write_targets(b: Array, at: int, beta: float, error: Array, rate: Array, drift: Array, r: Array) -> int:
    """Writes k_p e + k_v (y_r' - y') + y_r'' - drift of the picked axes, shortened to a limit. Returns the next row.

    `r` holds y_r' (3), y_r'' (3), which axes count (3), k_p, k_v and the limit.
    """
    pull = np.zeros(3)
    size = 0.0
    for k in range(3):
        if r[6 + k] != 0.0:
            pull[k] = r[9] * error[k] + r[10] * (r[k] - rate[k]) + r[3 + k]
            size += pull[k] ** 2
    shorter = 1.0 if size <= r[11] * r[11] else r[11] / np.sqrt(size)
    row = at
    for k in range(3):
        if r[6 + k] != 0.0:
            b[row] = beta * (shorter * pull[k] - drift[k])
            row += 1
    return row


@inner_kernel_with_arrays
def turn_to(R: Array, wanted: Array, out: Array) -> None:
    """Fills the rotation vector, world axes and at most pi long, that turns R (9,) into a quaternion (w, x, y, z)."""
    q = np.empty(4)
    _quaternion(R, q)
    a0, a1, a2, a3 = wanted[0], wanted[1], wanted[2], wanted[3]
    w = a0 * q[0] + a1 * q[1] + a2 * q[2] + a3 * q[3]
    x = -a0 * q[1] + a1 * q[0] - a2 * q[3] + a3 * q[2]
    y = -a0 * q[2] + a1 * q[3] + a2 * q[0] - a3 * q[1]
    z = -a0 * q[3] - a1 * q[2] + a2 * q[1] + a3 * q[0]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = np.sqrt(x * x + y * y + z * z)
    scale = 2.0 * np.arctan2(sine, w) / sine if sine > 1e-9 * w else 2.0 / w
    out[0], out[1], out[2] = scale * x, scale * y, scale * z


@kernel
def _quaternion(R: Array, q: Array) -> None:
    """Fills the unit quaternion of a rotation matrix (9,); after Shepperd 1978."""
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        q[0], q[1], q[2], q[3] = 1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        q[0], q[1], q[2], q[3] = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        q[0], q[1], q[2], q[3] = R[2] - R[6], R[1] + R[3], 1.0 - R[0] + R[4] - R[8], R[5] + R[7]
    else:
        q[0], q[1], q[2], q[3] = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 - R[0] - R[4] + R[8]
    size = np.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    for k in range(4):
        q[k] /= size


@inner_kernel
def _cross(w: Array, r: Array, out: Array) -> None:
    """Fills w x r, of the first three numbers of both."""
    out[0] = w[1] * r[2] - w[2] * r[1]
    out[1] = w[2] * r[0] - w[0] * r[2]
    out[2] = w[0] * r[1] - w[1] * r[0]
