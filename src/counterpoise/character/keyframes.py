"""The keyframes of a file: kept without controls, and the home pose among them."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.roles import left_right_pairs

HOME_NAMES = ("home", "stand")  # of keyframes, the first that exists; else the first keyframe
ZERO_POSE = "the zero pose"
FOOT_WORDS = ("foot", "ankle", "sole", "toe")
CLEARLY = 2.0  # a figure lies if another axis from its feet to its CoM is that much longer than the vertical one
LEAST_TURN = 0.1  # [rad] a figure that faces this close to x is not turned


def copy_keyframes(spec: mujoco.MjSpec, source: mujoco.MjModel, model: mujoco.MjModel) -> None:
    """Writes the keyframes of the file (`source`) into the specification of `model`, without controls and activations.

    Coordinates go by the names of joints: those of other figures are left out, new ones are as in the zero pose.
    """
    for k in range(source.nkey):
        q, v = np.array(model.qpos0), np.zeros(model.nv)
        for j in range(model.njnt):
            name = model.joint(j).name
            if mujoco.mj_name2id(source, mujoco.mjtObj.mjOBJ_JOINT, name) < 0:
                continue
            old, new = source.joint(name), model.joint(name)
            q[new.qposadr[0] : new.qposadr[0] + len(new.qpos0)] = source.key_qpos[k][_range(old.qposadr, new.qpos0)]
            width = {mujoco.mjtJoint.mjJNT_FREE: 6, mujoco.mjtJoint.mjJNT_BALL: 3}.get(new.type[0], 1)
            v[new.dofadr[0] : new.dofadr[0] + width] = source.key_qvel[k][old.dofadr[0] : old.dofadr[0] + width]
        spec.add_key(name=source.key(k).name, time=float(source.key_time[k]), qpos=q, qvel=v)


def _range(start: Array, like: Array) -> slice:
    return slice(int(start[0]), int(start[0]) + len(like))


def home_pose(model: mujoco.MjModel) -> tuple[Array, str]:
    """Returns the pose (nq,) the figure's author wants it to stand in, and its source in words.

    The keyframe "home", else "stand", else the first, else the zero pose. A free figure is turned to face along x; its
    left and right parts show where it faces.
    """
    q, how = np.array(model.qpos0, float), ZERO_POSE
    if model.nkey:
        names = [model.key(k).name.lower() for k in range(model.nkey)]
        at = next((names.index(name) for name in HOME_NAMES if name in names), 0)
        q, how = np.array(model.key_qpos[at], float), f"keyframe {model.key(at).name or at!r}"
    free = int(model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE)
    if free and how == ZERO_POSE and (turn := _to_upright(model, q)) is not None:
        at = int(model.jnt_qposadr[0])
        turned = np.zeros(4)
        mujoco.mju_mulQuat(turned, turn, q[at + 3 : at + 7])
        q[at + 3 : at + 7] = turned
        how += ", stood upright"
    yaw = _heading(model, q) if free else 0.0
    if abs(yaw) > LEAST_TURN:
        back, at = np.array([np.cos(yaw / 2), 0.0, 0.0, -np.sin(yaw / 2)]), int(model.jnt_qposadr[0])
        turned = np.zeros(4)
        mujoco.mju_mulQuat(turned, back, q[at + 3 : at + 7])
        q[at + 3 : at + 7] = turned
        how += f", turned by {-np.degrees(yaw):.0f} degrees to face along x"
    return q, how


def _to_upright(model: mujoco.MjModel, q: Array) -> Array | None:
    """Returns the quarter or half turn (4,) after which the CoM is above the feet, by their names; None if it is."""
    feet = [b for b in range(1, model.nbody) if any(word in model.body(b).name.lower() for word in FOOT_WORDS)]
    if not feet:
        return None
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    up = data.subtree_com[0] - data.xpos[feet].mean(axis=0)
    k = int(np.abs(up).argmax())
    if up[k] > 0.0 if k == 2 else np.abs(up[k]) < CLEARLY * np.abs(up[2]):
        return None
    turn = np.zeros(4)
    axis = np.cross(np.eye(3)[k] * np.sign(up[k]), [0.0, 0.0, 1.0]) if k != 2 else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(turn, axis, np.pi if k == 2 else np.pi / 2)
    return turn


def _heading(model: mujoco.MjModel, q: Array) -> float:
    """Returns the angle [rad] from x to where the figure faces; 0 if it has no left and right parts."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    pairs = left_right_pairs([model.body(b).name for b in range(1, model.nbody)])
    across = sum((data.body(left).xpos - data.body(right).xpos for left, right in pairs), np.zeros(3))[:2]
    if np.linalg.norm(across) < 1e-3:
        return 0.0
    return float(np.arctan2(-across[0], across[1]))
