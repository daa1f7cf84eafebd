"""Mirror images: the same pose seen in the plane between left and right (y -> -y)."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.joints import Joint
from counterpoise.character.roles import other_side


class Mirror:
    """Signs and places that turn a pose or velocity of a figure into its mirror image.

    The image of a rotation R under the reflection S = diag(1, -1, 1) is S R S: in world-aligned axes the vector part
    (x, y, z) of its quaternion becomes (-x, y, -z). For a joint whose frame is turned by F in the zero pose this holds
    for F R F^T. A free root with rest orientation W has turned by R W^-1, so its image is S R W^-1 S W.
    """

    def __init__(self, model: mujoco.MjModel, joints: tuple[Joint, ...]) -> None:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        self.nq, self.nv = model.nq, model.nv
        by_name = {joint.name: joint for joint in joints}
        self.q_from, self.q_sign = np.arange(model.nq), np.ones(model.nq)
        self.v_from, self.v_sign = np.arange(model.nv), np.ones(model.nv)
        self.balls: list[tuple[slice, slice, slice, slice, Array]] = []
        self.rests: list[tuple[slice, slice, Array]] = []  # roots that rest turned: where, and S W^-1 S W
        for joint in joints:
            source = by_name[other_side(joint.name, by_name)]
            if source.kind != joint.kind:
                source = joint
            if joint.kind in ("free", "ball"):
                self._rotation(model, data, joint, source)
            else:
                self._scalars(model, data, joint, source)

    def pose(self, q: ArrayLike) -> Array:
        """The mirror image of poses (..., nq)."""
        given = np.asarray(q, float)
        out = given[..., self.q_from] * self.q_sign
        for target, source, _, _, turn in self.balls:
            w, v = given[..., source.start : source.start + 1], given[..., source.start + 1 : source.stop]
            out[..., target] = np.concatenate([w, v @ turn.T], axis=-1)
        for target, _, after in self.rests:
            out[..., target] = spatial.multiply(out[..., target], after)
        return out

    def velocity(self, v: ArrayLike) -> Array:
        """The mirror image of velocities (..., nv)."""
        given = np.asarray(v, float)
        out = given[..., self.v_from] * self.v_sign
        for _, _, target, source, turn in self.balls:
            out[..., target] = given[..., source] @ turn.T
        for _, target, after in self.rests:
            out[..., target] = spatial.rotate(spatial.conjugate(after), out[..., target])
        return out

    def _rotation(self, model: mujoco.MjModel, data: mujoco.MjData, joint: Joint, source: Joint) -> None:
        q, v, q0, v0 = joint.qpos, joint.dofs, source.qpos, source.dofs
        if joint.kind == "free":
            self.q_sign[q.start + 1] = self.v_sign[v.start + 1] = -1.0
            q, v = slice(q.start + 3, q.stop), slice(v.start + 3, v.stop)
            q0, v0 = slice(q0.start + 3, q0.stop), slice(v0.start + 3, v0.stop)
            frame = frame0 = np.eye(3)  # a free joint's orientation is the world's own
            rest = spatial.normalize(np.array(model.qpos0[q]))
            if abs(rest[0]) < 1.0:
                after = spatial.multiply(spatial.conjugate(rest) * (1.0, -1.0, 1.0, -1.0), rest)
                self.rests.append((q, v, after))
        else:
            frame = data.xmat[model.body(joint.body).id].reshape(3, 3)
            frame0 = data.xmat[model.body(source.body).id].reshape(3, 3)
        turn = frame.T @ np.diag([-1.0, 1.0, -1.0]) @ frame0
        self.balls.append((q, q0, v, v0, turn))

    def _scalars(self, model: mujoco.MjModel, data: mujoco.MjData, joint: Joint, source: Joint) -> None:
        for offset, (name, name0) in enumerate(zip(joint.parts, source.parts, strict=True)):
            axis, axis0 = (_world_axis(model, data, n) for n in (name, name0))
            flip = np.array([1.0, -1.0, 1.0]) if joint.kind == "slide" else np.array([-1.0, 1.0, -1.0])
            sign = 1.0 if float(axis @ (flip * axis0)) >= 0.0 else -1.0
            self.q_from[joint.qpos.start + offset] = source.qpos.start + offset
            self.v_from[joint.dofs.start + offset] = source.dofs.start + offset
            self.q_sign[joint.qpos.start + offset] = self.v_sign[joint.dofs.start + offset] = sign


def _world_axis(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> Array:
    for j in range(model.njnt):
        if model.joint(j).name == name:
            return data.xmat[int(model.jnt_bodyid[j])].reshape(3, 3) @ model.jnt_axis[j]
    return np.array([0.0, 1.0, 0.0])
