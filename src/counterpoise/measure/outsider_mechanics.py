"""The mechanics behind `outsider`: MuJoCo's inverse dynamics, what contacts can give, and how low shapes reach.

Nothing here is shared with the optimiser that is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from scipy.optimize import nnls

from counterpoise.arrays import Array

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.spacetime.optimize.holds import Hold

CONE_EDGES = 24  # of the pyramid that stands for a friction cone
BOUND_WEIGHT = 1e3  # of the least-squares rows that keep a bounded unknown in its range


class InverseDynamics:
    """MuJoCo's inverse dynamics of one body alone: no contacts, no limits, no springs, no damping."""

    def __init__(self, character: Character, step: float) -> None:
        self.model, self.data, self.step = character.model, mujoco.MjData(character.model), step
        self._gravity = (0.0, 0.0, -character.gravity)
        self._before, self._after = np.zeros(self.model.nv), np.zeros(self.model.nv)
        self._flags = int(
            mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SPRING
            | mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_ACTUATION
        )  # fmt: skip

    def needed(self, q: Array) -> Array:
        """Returns (9,) from three poses (3, nq) a step apart: external torque about the CoM, external force, angular
        momentum.
        """
        m, d, h = self.model, self.data, self.step
        mujoco.mj_differentiatePos(m, self._before, h, q[0], q[1])
        mujoco.mj_differentiatePos(m, self._after, h, q[1], q[2])
        self.inverse(q[1], 0.5 * (self._before + self._after), (self._after - self._before) / h)
        root = int(m.jnt_bodyid[0])
        force = d.qfrc_inverse[:3].copy()
        torque = d.xmat[root].reshape(3, 3) @ d.qfrc_inverse[3:6]
        com = d.subtree_com[root]
        return np.concatenate([torque + np.cross(d.qpos[:3] - com, force), force, d.subtree_angmom[root]])

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        """Returns the generalised forces (nv,) that this movement needs."""
        m, d = self.model, self.data
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        flags, gravity = m.opt.disableflags, m.opt.gravity.copy()
        m.opt.disableflags = flags | self._flags
        m.opt.gravity[:] = self._gravity
        try:
            mujoco.mj_inverse(m, d)
            mujoco.mj_subtreeVel(m, d)
        finally:
            m.opt.disableflags = flags
            m.opt.gravity[:] = gravity
        return np.array(d.qfrc_inverse)

    def pose(self, q: Array) -> mujoco.MjData:
        """Returns MuJoCo's data with the kinematics of a pose."""
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        return self.data


def unreachable_wrench(
    dynamics: InverseDynamics, wrench: Array, holds: Sequence[Hold], time: float, weight: float, height: float,
    friction: float | None,
) -> float:  # fmt: skip
    """Returns the size of what contact forces within their cones and grips cannot give of a wrench about the CoM.

    Forces count in body weights, torques in body weights x body height. The pose is that of `dynamics.data`.
    """
    d, root = dynamics.data, int(dynamics.model.jnt_bodyid[0])
    com = d.subtree_com[root]
    columns: list[Array] = []
    low: list[float] = []
    high: list[float] = []
    for hold in holds:
        S = np.asarray(hold.surface(time).rotation)
        mu = hold.touch.friction if friction is None else friction
        for body, local in zip(hold.force_bodies, hold.force_points, strict=True):
            arm = d.xpos[body] + d.xmat[body].reshape(3, 3) @ local - com
            if hold.signed:
                directions = np.eye(3)
            else:
                a = 2.0 * np.pi * np.arange(CONE_EDGES) / CONE_EDGES
                directions = np.stack([mu * np.cos(a), mu * np.sin(a), np.ones(CONE_EDGES)], axis=1) @ S.T
            for force in directions:
                columns.append(np.concatenate([np.cross(arm, force) / height, force]))
                low.append(-np.inf if hold.signed else 0.0)
                high.append(np.inf)
        if hold.signed:
            axis = np.asarray(hold.touch.axis, float) / np.linalg.norm(hold.touch.axis)
            side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
            side /= np.linalg.norm(side)
            torques = ((axis, hold.touch.torque), (side, hold.touch.grip), (np.cross(axis, side), hold.touch.grip))
            for direction, most in torques:
                if most > 0.0:
                    columns.append(np.concatenate([direction / height, np.zeros(3)]))
                    low.append(-most / weight)
                    high.append(most / weight)
    b = np.concatenate([wrench[:3] / (weight * height), wrench[3:6] / weight])
    return bounded_residual(np.array(columns).T, b, np.array(low), np.array(high))


def bounded_residual(A: Array, b: Array, low: Array, high: Array) -> float:
    """Returns min |A x - b| over low <= x <= high, by non-negative least squares.

    A free unknown becomes the difference of two. A bounded unknown and its distance to the upper bound add up to its
    range, by rows of large weight.
    """
    free, boxed = np.isinf(low), np.isfinite(low) & np.isfinite(high)
    ranges = (high - low)[boxed]
    n, k = int(free.sum()), int(boxed.sum())
    columns = np.concatenate([A, -A[:, free], np.zeros((len(b), k))], axis=1)
    sums = np.zeros((k, columns.shape[1]))
    sums[np.arange(k), np.flatnonzero(boxed)] = BOUND_WEIGHT
    sums[np.arange(k), A.shape[1] + n + np.arange(k)] = BOUND_WEIGHT
    start = A[:, ~free] @ low[~free]
    x, _ = nnls(np.concatenate([columns, sums]), np.concatenate([b - start, BOUND_WEIGHT * ranges]))
    return float(np.linalg.norm(columns @ x + start - b))


def lowest(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Returns the height of a shape's lowest point [m]."""
    kinds = mujoco.mjtGeom
    size, kind = model.geom_size[geom], int(model.geom_type[geom])
    z, row = float(data.geom_xpos[geom, 2]), data.geom_xmat[geom].reshape(3, 3)[2]
    if kind == int(kinds.mjGEOM_SPHERE):
        reach = size[0]
    elif kind == int(kinds.mjGEOM_CAPSULE):
        reach = size[0] + size[1] * abs(row[2])
    elif kind == int(kinds.mjGEOM_CYLINDER):
        reach = size[1] * abs(row[2]) + size[0] * np.sqrt(max(1.0 - row[2] ** 2, 0.0))
    elif kind == int(kinds.mjGEOM_BOX):
        reach = np.abs(row) @ size
    elif kind == int(kinds.mjGEOM_ELLIPSOID):
        reach = np.linalg.norm(row * size)
    else:
        reach = model.geom_rbound[geom]
    return z - float(reach)
