"""Kernels that write rows directly into the block of rows the solver reads, without arrays in between.

An objective that these kernels know describes its rows by a record, a short tuple of numbers (`Objective.record`). One
call of `write_records` writes all of them. Other objectives are written by their `rows`. A test checks that both agree.

    held points     HELD_POINTS, beta, k_p, k_v
    three axes      THREE_AXES, beta, 0 angular or 3 linear, 1 if the CoM's place is followed, unit, value (3), its rate
                    (3), acceleration (3), which axes count (3), k_p, k_v, limit
    point of a body BODY_POINT, beta, body, 0 or the mass where it is seen from the CoM, point (3), value (3), its rate
                    (3), acceleration (3), which axes count (3), k_p, k_v, limit
    orientation     BODY_TURN, beta, body, quaternion (4), angular velocity (3), angular acceleration (3), which axes
                    count (3), k_p, k_v, limit
    relaxed joints  RELAXED, beta, count, then for each dof: its row of v, acceleration beyond that without torque
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.manifold import batch_difference
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel, lean_kernel
from counterpoise.objectives.body_rows import write_point, write_relaxed, write_turn

Record = tuple[float, ...]
HELD_POINTS, THREE_AXES, BODY_POINT, BODY_TURN, RELAXED = 0.0, 1.0, 2.0, 3.0, 4.0  # kinds of records
HELD_POINTS_SIZE, THREE_AXES_SIZE, BODY_POINT_SIZE, BODY_TURN_SIZE = 4, 20, 22, 19  # numbers in them


class BlockFull(Exception):
    """The block has no room for the next rows: the caller makes a larger one and starts again."""


@kernel
def write_rows(A: Array, b: Array, at: int, beta: float, rows: Array, targets: Array) -> int:
    """Copies the rows, times `beta`, into the block from row `at` on. Returns their number."""
    m, n = rows.shape
    for i in range(m):
        for j in range(n):
            A[at + i, j] = beta * rows[i, j]
        b[at + i] = beta * targets[i]
    return m


@inner_kernel
def write_contacts(
    A: Array, b: Array, at: int, beta: float, jacobian: Array, held: Flags, goal: Array, goal_v: Array, goal_a: Array,
    position: Array, velocity: Array, drift: Array, k_p: float, k_v: float,
) -> int:  # fmt: skip
    """Writes three rows a held point, J a = a_s + k_v (v_s - v) + k_p (p_s - p) - drift. Returns their number."""
    p, _, n = jacobian.shape
    row = at
    for i in range(p):
        if not held[i]:
            continue
        for k in range(3):
            for j in range(n):
                A[row, j] = beta * jacobian[i, k, j]
            pull = k_p * (goal[i, k] - position[i, k]) + k_v * (goal_v[i, k] - velocity[i, k])
            b[row] = beta * (pull + goal_a[i, k] - drift[i, k])
            row += 1
    return row - at


@inner_kernel_with_arrays
def write_vector(
    A: Array, b: Array, at: int, beta: float, J: Array, unit: float, value: Array, rate: Array, drift: Array,
    wanted: Array, wanted_v: Array, wanted_a: Array, picked: Array, k_p: float, k_v: float, limit: float,
) -> int:  # fmt: skip
    """Writes the rows y'' = k_p (y_r - y) + k_v (y_r' - y') + y_r'' of the picked axes. Returns their number.

    An axis is picked where `picked` is not 0. The right-hand side is shortened to length `limit`. J, rate and drift are
    divided by `unit`: a momentum divided by the mass is a velocity.
    """
    n = J.shape[1]
    pull = np.zeros(3)
    size = 0.0
    for k in range(3):
        if picked[k] != 0.0:
            pull[k] = k_p * (wanted[k] - value[k]) + k_v * (wanted_v[k] - rate[k] / unit) + wanted_a[k]
            size += pull[k] ** 2
    shorter = 1.0 if size <= limit * limit else limit / np.sqrt(size)
    row = at
    for k in range(3):
        if picked[k] != 0.0:
            for j in range(n):
                A[row, j] = beta * J[k, j] / unit
            b[row] = beta * (shorter * pull[k] - drift[k] / unit)
            row += 1
    return row - at


@kernel
def write_records(
    records: Array, count: int, A: Array, b: Array, at: int, ends: Ints, betas: Array, snapshot: Array,
    ancestors: Array, held: Flags, goal: Array, goal_v: Array, goal_a: Array,
) -> int:  # fmt: skip
    """Writes the rows of `count` records from row `at` on. Returns the row after all.

    Fills the row after each record and its beta.
    """
    s = snapshot_parts(snapshot, A.shape[1], len(ancestors), len(held))
    here, row = 0, at
    for i in range(count):
        r = records[here:]
        if r[0] == HELD_POINTS:
            row += write_contacts(
                A, b, row, r[1], s.contact_jacobian, held, goal, goal_v, goal_a, s.contact_position,
                s.contact_velocity, s.contact_drift, r[2], r[3],
            )  # fmt: skip
            here += HELD_POINTS_SIZE
        elif r[0] == BODY_POINT:
            row += write_point(A, b, row, r, s, ancestors)
            here += BODY_POINT_SIZE
        elif r[0] == BODY_TURN:
            row += write_turn(A, b, row, r, s, ancestors)
            here += BODY_TURN_SIZE
        elif r[0] == RELAXED:
            row += write_relaxed(A, b, row, r, s)
            here += 3 + 2 * int(r[2])
        else:
            first = int(r[2])
            part = s.momentum[first : first + 3]
            row += write_vector(
                A, b, row, r[1], s.momentum_matrix[first : first + 3], r[4], s.com if r[3] != 0.0 else part, part,
                s.momentum_drift[first : first + 3], r[5:8], r[8:11], r[11:14], r[14:17], r[17], r[18], r[19],
            )  # fmt: skip
            here += THREE_AXES_SIZE
        ends[i], betas[i] = row, r[1]
    return row


@kernel
def add_posture(
    weight: Array, pull: Array, alpha: float, layout: Ints, q: Array, q_ref: Array, v: Array, v_ref: Array,
    a_ref: Array, k_p: Array, k_v: Array, w: Array, target: Array,
) -> None:  # fmt: skip
    """Fills target = k_p (q_r - q) + k_v (v_r - v) + a_r; adds its weights to `weight`, weighted targets to `pull`."""
    error = batch_difference(layout, len(v), q.reshape(1, -1), q_ref.reshape(1, -1))
    for j in range(len(v)):
        target[j] = k_p[j] * error[0, j] + k_v[j] * (v_ref[j] - v[j]) + a_ref[j]
        own = alpha * w[j]
        weight[j] += own
        pull[j] += own * target[j]


@lean_kernel
def sizes_of_rows(A: Array, b: Array, starts: Ints, beta: Array, a: Array, out: Array) -> None:
    """Fills `out` with |A a - b| / beta of every objective; its rows begin at `starts`, the last entry is the end."""
    for o in range(len(beta)):
        total = 0.0
        for i in range(starts[o], starts[o + 1]):
            r = -b[i]
            for j in range(len(a)):
                r += A[i, j] * a[j]
            total += r * r
        out[o] = np.sqrt(total) / beta[o]


@lean_kernel
def needs_correction(A: Array, b: Array, a: Array, tolerance: float, held: Flags) -> bool:
    """Returns whether a row of A a <= b is exceeded but not held, or held but slack. An empty `held` holds no row."""
    for i in range(len(b)):
        r, slack = -b[i], tolerance * (1.0 + abs(b[i]))
        for j in range(len(a)):
            r += A[i, j] * a[j]
        if len(held) and held[i]:
            if r < -slack:
                return True
        elif r > slack:
            return True
    return False


@lean_kernel
def correct_held(A: Array, b: Array, a: Array, tolerance: float, held: Flags, out: Flags) -> None:
    """Fills which rows of A a <= b are to be held: those that are exceeded, and those that were held and are not slack.

    An empty `held` holds no row.
    """
    for i in range(len(b)):
        r, slack = -b[i], tolerance * (1.0 + abs(b[i]))
        for j in range(len(a)):
            r += A[i, j] * a[j]
        out[i] = r > slack or (len(held) > 0 and held[i] and r >= -slack)
