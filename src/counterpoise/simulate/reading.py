"""Compiled parts of the loop: whether a state is sound, the contacts of a step, torques within their limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel

Int32s = NDArray[np.int32]
MAX_SPEED = 1e8  # [m/s, rad/s] beyond this a simulation has diverged


@kernel
def is_sound(qpos: Array, qvel: Array) -> bool:
    """Whether a state is finite and no faster than `MAX_SPEED`."""
    fine = True
    for i in range(len(qpos)):
        fine &= np.isfinite(qpos[i])
    for j in range(len(qvel)):
        fine &= abs(qvel[j]) < MAX_SPEED
    return fine


@kernel
def write_state(
    states: Array, speeds: Array, torques: Array, row: int, qpos: Array, qvel: Array, torque: Array
) -> None:
    """Writes one row of three tables."""
    for i in range(len(qpos)):
        states[row, i] = qpos[i]
    for j in range(len(qvel)):
        speeds[row, j] = qvel[j]
        torques[row, j] = torque[j]


@inner_kernel
def gather_contacts(
    address: Int32s, dim: Int32s, frame: Array, geom: Int32s, place: Array, solved: Array, body_of: Int32s, at: int,
    bodies: Int32s, point: Array, force: Array,
) -> int:  # fmt: skip
    """Writes the contacts that carry force into `bodies`, `point` and `force`, from row `at` on. Returns their number.

    A contact's force is f = sum_i f_i e_i, with e_i the rows of its frame (normal first) and f_i the solver's forces
    from its address on. A contact without friction has the normal force only.
    """
    row, last = at, len(solved) - 1
    for c in range(len(address)):
        if address[c] < 0:
            continue
        for k in range(2):
            bodies[row, k] = body_of[geom[c, k]]
        for k in range(3):
            point[row, k], force[row, k] = place[c, k], 0.0
        for i in range(3 if dim[c] >= 3 else 1):
            size = solved[min(address[c] + i, last)]
            for k in range(3):
                force[row, k] += size * frame[c, 3 * i + k]
        row += 1
    return row - at


@kernel
def read_step(
    qpos: Array, qvel: Array, address: Int32s, dim: Int32s, frame: Array, geom: Int32s, place: Array, solved: Array,
    body_of: Int32s, at: int, bodies: Int32s, point: Array, force: Array,
) -> int:  # fmt: skip
    """Gathers the contacts of a step. Returns their number; -1 where the state after the step is not sound."""
    if not is_sound(qpos, qvel):
        return -1
    return gather_contacts(address, dim, frame, geom, place, solved, body_of, at, bodies, point, force)


@kernel
def measure_forces(
    bodies: Int32s, point: Array, force: Array, first: int, points: Array, point_body: Ints, on_point: Array,
    on_body: Array,
) -> None:  # fmt: skip
    """Fills the forces of a step's contacts on each contact point (p, 3) and each body (nbody, 3) of one figure.

    Body b of the figure is body first + b - 1 of the world. A contact acts on its second body, and with the opposite
    sign on its first; contacts within the figure do not count. A force on a body with contact points goes to the
    nearest of them.
    """
    on_point[:] = 0.0
    on_body[:] = 0.0
    last = first + len(on_body) - 1
    for c in range(len(bodies)):
        mine0, mine1 = first <= bodies[c, 0] < last, first <= bodies[c, 1] < last
        if mine0 == mine1:
            continue
        b, sign = (bodies[c, 1] - first + 1, 1.0) if mine1 else (bodies[c, 0] - first + 1, -1.0)
        nearest, best = -1, np.inf
        for i in range(len(point_body)):
            if point_body[i] == b:
                away = 0.0
                for k in range(3):
                    away += (points[i, k] - point[c, k]) ** 2
                if away < best:
                    nearest, best = i, away
        for k in range(3):
            on_body[b, k] += sign * force[c, k]
            if nearest >= 0:
                on_point[nearest, k] += sign * force[c, k]


@kernel
def clamp_torques(given: Array, limit: Array, root: int, out: Array) -> int:
    """Writes the torques into `out`, clamped to their limits and zero at the root.

    Returns how many were beyond their limits, or -1 if one is not finite.
    """
    over = 0
    for j in range(len(given)):
        t = given[j]
        if not np.isfinite(t):
            return -1
        out[j] = 0.0 if j < root else min(max(t, -limit[j]), limit[j])
        if j >= root and abs(t) > limit[j] * (1.0 + 1e-12):
            over += 1
    return over
