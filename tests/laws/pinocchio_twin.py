"""The same body in Pinocchio, built joint by joint from a compiled MuJoCo model: an independent second opinion.

Coordinates differ: Pinocchio's quaternions end with w, and its free joint's velocity is in the body's own frame, where
MuJoCo's is [world linear; body angular]. With v' = T v, T = blockdiag(R^T, 1, ...), and zero MuJoCo acceleration
meaning a' = dT/dt v, everything is brought to MuJoCo's coordinates:

    M = T^T M' T,    h = T^T rnea(q', v', a'),    J = J' T,    drift = J' a' + dJ'/dt v'.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

FREE, BALL, SLIDE, HINGE = (int(getattr(mujoco.mjtJoint, f"mjJNT_{k}")) for k in ("FREE", "BALL", "SLIDE", "HINGE"))
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def pose_of(position: np.ndarray, quaternion: np.ndarray) -> pin.SE3:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, float))
    return pin.SE3(matrix.reshape(3, 3), np.asarray(position, float))


class Twin:
    """A Pinocchio model with one frame a body, in MuJoCo's order, and the maps between coordinates."""

    def __init__(self, m: mujoco.MjModel) -> None:
        self.source = m
        self.model = pin.Model()
        self.model.gravity.linear = np.array(m.opt.gravity)
        joint_of, offset = (
            [0],
            [pin.SE3.Identity()],
        )  # per body: its Pinocchio joint, and its place in that joint's frame
        self.frames = [0]
        for b in range(1, m.nbody):
            parent = int(m.body_parentid[b])
            at, place = joint_of[parent], offset[parent] * pose_of(m.body_pos[b], m.body_quat[b])
            for j in range(int(m.body_jntadr[b]), int(m.body_jntadr[b]) + int(m.body_jntnum[b])):
                kind = int(m.jnt_type[j])
                anchor = pin.SE3(np.eye(3), np.array(m.jnt_pos[j]))
                if kind == FREE:
                    place, joint = pin.SE3.Identity(), pin.JointModelFreeFlyer()
                elif kind == BALL:
                    joint = pin.JointModelSpherical()
                elif kind == HINGE:
                    joint = pin.JointModelRevoluteUnaligned(np.array(m.jnt_axis[j]))
                else:
                    joint = pin.JointModelPrismaticUnaligned(np.array(m.jnt_axis[j]))
                at = self.model.addJoint(at, joint, place * anchor, f"joint{j}")
                place = anchor.inverse()
            joint_of.append(at)
            offset.append(place)
            inertia = pose_of(m.body_ipos[b], m.body_iquat[b])
            R = inertia.rotation
            body = pin.Inertia(float(m.body_mass[b]), inertia.translation, R @ np.diag(m.body_inertia[b]) @ R.T)
            self.model.appendBodyToJoint(at, body, place)
            self.frames.append(self.model.addFrame(pin.Frame(f"body{b}", at, 0, place, pin.FrameType.BODY)))
        self.data = self.model.createData()

    def add_point(self, body: int, point: np.ndarray) -> int:
        """A frame at a body-fixed point; call `ready` when all are added."""
        host = self.model.frames[self.frames[body]]
        place = host.placement * pin.SE3(np.eye(3), np.asarray(point, float))
        name = f"point{len(self.model.frames)}"
        return self.model.addFrame(pin.Frame(name, host.parentJoint, 0, place, pin.FrameType.OP_FRAME))

    def ready(self) -> None:
        self.data = self.model.createData()

    def q(self, qpos: np.ndarray) -> np.ndarray:
        out = np.array(qpos, float)
        for j in range(self.source.njnt):
            kind, at = int(self.source.jnt_type[j]), int(self.source.jnt_qposadr[j])
            if kind in (FREE, BALL):
                at += 3 if kind == FREE else 0
                out[at : at + 4] = np.roll(qpos[at : at + 4], -1)
        return out

    def T(self, qpos: np.ndarray) -> np.ndarray:
        out = np.eye(self.source.nv)
        if self.source.njnt and int(self.source.jnt_type[0]) == FREE:
            out[:3, :3] = pose_of(np.zeros(3), qpos[3:7]).rotation.T
        return out

    def drift_acceleration(self, v: np.ndarray) -> np.ndarray:
        """Pinocchio's acceleration when MuJoCo's is zero, from Pinocchio's velocity."""
        out = np.zeros(self.source.nv)
        if self.source.njnt and int(self.source.jnt_type[0]) == FREE:
            out[:3] = -np.cross(v[3:6], v[:3])
        return out

    def frame(self, index: int, q: np.ndarray, v: np.ndarray, a: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, ...]:
        """Position, Jacobian [linear; angular] (6, nv) and drift (6,) of a frame, world axes, MuJoCo's coordinates."""
        pin.forwardKinematics(self.model, self.data, q, v, a)
        pin.updateFramePlacements(self.model, self.data)
        J = pin.computeFrameJacobian(self.model, self.data, q, index, WORLD_AXES) @ T
        drift = pin.getFrameClassicalAcceleration(self.model, self.data, index, WORLD_AXES)
        return self.data.oMf[index].translation.copy(), J, np.concatenate([drift.linear, drift.angular])
