"""Joints as an animator names them: one `Joint` may be several MuJoCo joints (a universal joint is two hinges)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

JointKind = Literal["free", "ball", "universal", "hinge", "slide"]

_KINDS: dict[int, JointKind] = {
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
    int(mujoco.mjtJoint.mjJNT_BALL): "ball",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "slide",
    int(mujoco.mjtJoint.mjJNT_HINGE): "hinge",
}
_WIDTHS = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}  # kind -> (nq, nv)


@dataclass(frozen=True)
class Joint:
    """One joint: where its coordinates lie in q and v, and the body it moves."""

    name: str
    kind: JointKind
    body: str  # the body this joint moves (the child)
    qpos: slice
    dofs: slice
    parts: tuple[str, ...]  # names of the MuJoCo joints behind it

    @property
    def nq(self) -> int:
        return self.qpos.stop - self.qpos.start

    @property
    def nv(self) -> int:
        return self.dofs.stop - self.dofs.start


def read_joints(model: mujoco.MjModel) -> tuple[Joint, ...]:
    """All joints in the order of their coordinates; two crossing hinges on one body are read as a universal."""
    found: list[Joint] = []
    index = 0
    while index < model.njnt:
        kind = _KINDS[int(model.jnt_type[index])]
        count = 2 if kind == "hinge" and _is_universal(model, index) else 1
        parts = tuple(joint_name(model, index + i) for i in range(count))
        q, v = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        nq, nv = _WIDTHS[kind]
        found.append(
            Joint(
                name=_common_name(parts),
                kind="universal" if count == 2 else kind,
                body=model.body(int(model.jnt_bodyid[index])).name,
                qpos=slice(q, q + nq * count),
                dofs=slice(v, v + nv * count),
                parts=parts,
            )
        )
        index += count
    return tuple(found)


def root_width(joints: tuple[Joint, ...]) -> int:
    """Number of dofs that carry the root: six if it is free, else those of the first joints named `root...`."""
    if joints and joints[0].kind == "free":
        return 6
    width = 0
    for joint in joints:
        if joint.body != joints[0].body or not joint.name.startswith("root"):
            break
        width += joint.nv
    return width


def joint_name(model: mujoco.MjModel, index: int) -> str:
    """The MuJoCo joint's name, or one made from its body when it has none."""
    name = model.joint(index).name
    return name or f"{model.body(int(model.jnt_bodyid[index])).name}_joint{index}"


def _is_universal(model: mujoco.MjModel, index: int) -> bool:
    body = int(model.jnt_bodyid[index])
    first = int(model.body_jntadr[body])
    if model.body_jntnum[body] != 2 or index != first:
        return False
    if int(model.jnt_type[index + 1]) != int(mujoco.mjtJoint.mjJNT_HINGE):
        return False
    crossing = abs(float(np.dot(model.jnt_axis[index], model.jnt_axis[index + 1]))) < 0.1
    meeting = bool(np.allclose(model.jnt_pos[index], model.jnt_pos[index + 1], atol=1e-6))
    names = (joint_name(model, index), joint_name(model, index + 1))
    if any(all(name.lower().endswith(f"_{side}") for name in names) for side in ("left", "right", "l", "r")):
        return False  # ankle_pitch_left, ankle_roll_left: their stem would also be that of the right ankle
    stem = _shared_stem(names)
    return crossing and meeting and stem.lower() not in ("", "l", "r", "left", "right", "joint")


def _shared_stem(parts: tuple[str, ...]) -> str:
    words = [part.split("_") for part in parts]
    stem: list[str] = []
    for position in zip(*words, strict=False):
        if len(set(position)) != 1:
            break
        stem.append(position[0])
    return "_".join(stem)


def _common_name(parts: tuple[str, ...]) -> str:
    return parts[0] if len(parts) == 1 else _shared_stem(parts)
