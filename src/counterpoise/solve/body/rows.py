"""Rows of the whole-body problem from a snapshot's arrays, in one compiled pass: those of most balance controllers.

    contact     J a = -dJ/dt v - k_v J v - k_p (x - anchor)           three rows for every point that is held
    CoM         J_c a = k_p (c* - c) + k_v (c_dot* - c_dot) + c_ddot* - dJ_c/dt v
    spin        A_H a = -k_H H - dA_H/dt v                            angular momentum about the CoM, damped
    posture     a = k_p (q* - q) - k_v v                              q* - q on the manifold comes from the caller

Contacts are strict; the CoM is strict or weighted; spin and posture are weighted. A point's force is a sum of edges of
its friction cone, so G = J' E with one column for each edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.defaults import GRAVITY
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.solve.body.program import BodyProblem


@dataclass(frozen=True)
class StandardGains:
    """Stiffness [1/s^2], damping [1/s] and weights of the standard rows."""

    contact_stiffness: float = 0.0
    contact_damping: float = 20.0
    com_stiffness: float = 60.0
    com_damping: float = 12.0
    spin_damping: float = 5.0
    posture_stiffness: float = 60.0
    posture_damping: float = 14.0
    com_weight: float = np.inf  # inf: a strict level of its own
    spin_weight: float = 1.0  # [1 / (kg m^2)^2] beside a posture of weight 1
    root_weight: float = 1e-6
    force_weight: float = 0.5  # of (lambda / m g)^2

    @cached_property
    def numbers(self) -> Array:
        """The gains as the kernel reads them, with the square roots of the weights; -1 for a CoM that is strict."""
        return np.array(
            [
                self.contact_stiffness, self.contact_damping, self.com_stiffness, self.com_damping, self.spin_damping,
                self.posture_stiffness, self.posture_damping,
                -1.0 if np.isinf(self.com_weight) else np.sqrt(self.com_weight), np.sqrt(self.spin_weight),
            ]
        )  # fmt: skip


def friction_edges(normals: ArrayLike, friction: float, edges: int = 4) -> Array:
    """Returns (p, edges, 3): edges of a pyramid inside each point's friction cone, with normal component one."""
    n = np.asarray(normals, float)
    if n.ndim != 2 or n.shape[1] != 3 or not np.all(np.linalg.norm(n, axis=1) > 1e-9):
        raise BadValue(f"normals are vectors (p, 3), none of them zero; got shape {n.shape}")
    if not (np.isfinite(friction) and friction >= 0.0) or edges < 3:
        raise BadValue(f"friction is >= 0 and a cone has 3 edges or more; got {friction!r} and {edges!r}")
    n = n / np.linalg.norm(n, axis=1, keepdims=True)
    aside = np.where(np.abs(n[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    x = aside - n * np.sum(aside * n, axis=1, keepdims=True)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(n, x)
    angle = 2.0 * np.pi * (np.arange(edges) + 0.5) / edges
    around = np.cos(angle)[None, :, None] * x[:, None, :] + np.sin(angle)[None, :, None] * y[:, None, :]
    return np.ascontiguousarray(n[:, None, :] + friction * around)


def standard_problem(
    *,
    M: Array,
    h: Array,
    contact_position: Array,
    contact_velocity: Array,
    contact_jacobian: Array,
    contact_drift: Array,
    com: Array,
    momentum: Array,
    momentum_matrix: Array,
    momentum_drift: Array,
    velocity: Array,
    posture_error: Array,
    mass: float,
    points: Ints,
    hold: Flags,
    anchors: Array,
    edges: Array,
    force_limit: Array,
    torque_low: Array,
    torque_high: Array,
    com_goal: Array,
    com_push: Array,
    gains: StandardGains,
    root: int = 6,
) -> BodyProblem:
    """The problem of a body that stands: contacts, then CoM, then spin and posture. Arrays as in Snapshot, unchecked.

    `points` (p,) lists contact points, `hold` (p,) marks those kept in place, `anchors` (p, 3) says where (read only
    with contact_stiffness), `edges` (p, e, 3) are their cones, `force_limit` (p e,) limits the force of each edge.
    `com_push` (3,) is k_v c_dot* + c_ddot*: zero at rest. `posture_error` (n,) is q* - q on the manifold.
    """
    out = _standard_rows(
        contact_position, contact_velocity, contact_jacobian, contact_drift, com, momentum, momentum_matrix,
        momentum_drift, velocity, posture_error, mass, points, hold, anchors, edges, com_goal, com_push, root,
        gains.numbers, gains.root_weight,
    )  # fmt: skip
    G, A, b, starts, A_e, b_e, weight, posture = out
    return BodyProblem(
        M, h, root, G, force_limit, torque_low, torque_high, A, b, starts, weight, posture, A_e, b_e,
        gains.force_weight, GRAVITY * mass,
    )  # fmt: skip


@kernel
def _standard_rows(
    position: Array, velocity: Array, jacobian: Array, drift: Array, com: Array, momentum: Array, matrix: Array,
    matrix_drift: Array, v: Array, error: Array, mass: float, points: Ints, hold: Flags, anchors: Array,
    edges: Array, com_goal: Array, com_push: Array, root: int, gains: Array, root_weight: float,
) -> tuple[Array, Array, Array, Ints, Array, Array, Array, Array]:  # fmt: skip
    """Returns G, the strict rows (A, b, starts), the extra rows (A_e, b_e), and weight and target of the posture."""
    contact_stiffness, contact_damping, com_stiffness, com_damping = gains[0], gains[1], gains[2], gains[3]
    spin_damping, posture_stiffness, posture_damping = gains[4], gains[5], gains[6]
    com_root, spin_root = gains[7], gains[8]
    n, p, ne = len(v), len(points), edges.shape[1]
    strict = com_root < 0.0
    held = 0
    for i in range(p):
        if hold[i]:
            held += 1
    m = 3 * held + (3 if strict else 0)
    G = np.empty((n, p * ne))
    A, b = np.empty((m, n)), np.empty(m)
    starts = np.zeros(3 if strict else 2, np.int64)
    row = 0
    for i in range(p):
        at = points[i]
        J = jacobian[at]
        for j in range(n):
            x, y, z = J[0, j], J[1, j], J[2, j]
            if x == 0.0 and y == 0.0 and z == 0.0:  # the dof does not move the point
                for e in range(ne):
                    G[j, i * ne + e] = 0.0
            else:
                for e in range(ne):
                    G[j, i * ne + e] = x * edges[i, e, 0] + y * edges[i, e, 1] + z * edges[i, e, 2]
        if not hold[i]:
            continue
        for c in range(3):
            for j in range(n):
                A[row, j] = J[c, j]
            pull = contact_stiffness * (position[at, c] - anchors[i, c]) if contact_stiffness != 0.0 else 0.0
            b[row] = -drift[at, c] - contact_damping * velocity[at, c] - pull
            row += 1
    starts[1] = row
    A_e, b_e = np.empty((3 if strict else 6, n)), np.empty(3 if strict else 6)
    first = 0 if strict else 3
    for c in range(3):
        goal = com_stiffness * (com_goal[c] - com[c]) + com_push[c] - com_damping * momentum[3 + c] / mass
        goal -= matrix_drift[3 + c] / mass
        if strict:
            for j in range(n):
                A[row + c, j] = matrix[3 + c, j] / mass
            b[row + c] = goal
        else:
            for j in range(n):
                A_e[c, j] = com_root * matrix[3 + c, j] / mass
            b_e[c] = com_root * goal
        for j in range(n):
            A_e[first + c, j] = spin_root * matrix[c, j]
        b_e[first + c] = -spin_root * (spin_damping * momentum[c] + matrix_drift[c])
    if strict:
        starts[2] = row + 3
    weight, posture = np.empty(n), np.empty(n)
    for j in range(n):
        weight[j] = root_weight if j < root else 1.0
        posture[j] = 0.0 if j < root else posture_stiffness * error[j] - posture_damping * v[j]
    return G, A, b, starts, A_e, b_e, weight, posture
