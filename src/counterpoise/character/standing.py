"""The neutral pose: of all poses with every contact point on the ground and the weight over the feet, the one
nearest to the stance the figure's author wanted. Damped Gauss-Newton on the manifold, limits kept by clipping."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.limits import JointLimits
from counterpoise.character.roles import Foot

HEIGHT, WEIGHT, ABREAST, POSTURE, ROOT_TURN = 3000.0, 12.0, 12.0, 1.0, 3.0  # weights of the rows [1/m, 1/rad]


def standing_pose(
    model: mujoco.MjModel,
    wanted: Array,
    feet: tuple[Foot, ...],
    limits: JointLimits,
    root_dofs: int,
    root_free: bool,
    iterations: int = 80,
) -> Array:
    """The standing pose nearest to `wanted` (nq,); `wanted` itself when the figure has no feet or no floating root."""
    if not feet or root_dofs == 0:
        return wanted.copy()
    data = mujoco.MjData(model)
    bodies = np.array([model.body(p.body).id for f in feet for p in f.points])
    local = np.array([p.position for f in feet for p in f.points])
    q = wanted.copy()
    weight = np.full(model.nv, POSTURE)
    if root_free:
        weight[:3], weight[3:6] = 0.01, ROOT_TURN
    else:
        weight[:root_dofs] = 0.01
    for _ in range(iterations):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        rows, errors = _ground_rows(model, data, bodies, local)
        com_rows, com_error = _com_rows(model, data, bodies, local, planar=not root_free)
        abreast_rows, abreast = _abreast_rows(model, data, feet)
        away = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, away, 1.0, wanted, q)
        J = np.vstack([HEIGHT * rows, WEIGHT * com_rows, ABREAST * abreast_rows, np.diag(weight)])
        r = np.concatenate([HEIGHT * errors, WEIGHT * com_error, ABREAST * abreast, weight * away])
        step = -np.linalg.solve(J.T @ J + 1e-6 * np.eye(model.nv), J.T @ r)
        size = float(np.abs(step).max())
        step *= min(1.0, 0.3 / max(size, 1e-12))
        mujoco.mj_integratePos(model, q, step, 1.0)
        q = limits.clamp(q)
        if size < 1e-10:
            break
    return _settle(model, data, q, bodies, local, root_free)


def _ground_rows(model: mujoco.MjModel, data: mujoco.MjData, bodies: Array, local: Array) -> tuple[Array, Array]:
    rows, heights = np.zeros((len(bodies), model.nv)), np.zeros(len(bodies))
    jac = np.zeros((3, model.nv))
    for i, (body, place) in enumerate(zip(bodies, local, strict=True)):
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ place
        mujoco.mj_jac(model, data, jac, None, point, int(body))
        rows[i], heights[i] = jac[2], point[2]
    return rows, heights


def _com_rows(
    model: mujoco.MjModel, data: mujoco.MjData, bodies: Array, local: Array, planar: bool
) -> tuple[Array, Array]:
    """CoM over the middle of the support: rows and errors for x (and y)."""
    jac, com_jac = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    middle, middle_jac = np.zeros(3), np.zeros((3, model.nv))
    for body, place in zip(bodies, local, strict=True):
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ place
        mujoco.mj_jac(model, data, jac, None, point, int(body))
        middle += point / len(bodies)
        middle_jac += jac / len(bodies)
    mujoco.mj_jacSubtreeCom(model, data, com_jac, 0)
    error = data.subtree_com[0] - middle
    keep = [0] if planar else [0, 1]
    return (com_jac - middle_jac)[keep], error[keep]


def _abreast_rows(model: mujoco.MjModel, data: mujoco.MjData, feet: tuple[Foot, ...]) -> tuple[Array, Array]:
    """The feet's bodies side by side: none ahead of their mean."""
    ids = [model.body(foot.body).id for foot in feet]
    jac, rows = np.zeros((3, model.nv)), np.zeros((len(ids), model.nv))
    for i, b in enumerate(ids):
        mujoco.mj_jacBody(model, data, jac, None, b)
        rows[i] = jac[0]
    x = data.xpos[ids, 0]
    return rows - rows.mean(axis=0), x - x.mean()


def _settle(
    model: mujoco.MjModel, data: mujoco.MjData, q: Array, bodies: Array, local: Array, root_free: bool
) -> Array:
    """Move the whole figure so that the middle of its support is the origin and its soles are at height zero."""
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    points = np.array([data.xpos[b] + data.xmat[b].reshape(3, 3) @ p for b, p in zip(bodies, local, strict=True)])
    shift = -points.mean(axis=0)
    out = q.copy()
    if root_free:
        out[:3] += shift
        return out
    for j in range(model.njnt):  # planar roots: slides carry the figure along their axes
        if int(model.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_SLIDE) and int(model.jnt_bodyid[j]) == 1:
            out[model.jnt_qposadr[j]] += float(model.jnt_axis[j] @ shift)
    return out
