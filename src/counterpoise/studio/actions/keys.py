"""Edits of the scene, undo and redo, and the pose at the playhead."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.scene import AddKey, SavePose, apply_edit, coordinates_of, edit_from_dict
from counterpoise.studio.commands import (
    AddPoseKey,
    ApplyPose,
    EditScene,
    MirrorPose,
    RedoEdit,
    ResetPose,
    SavePoseAs,
    SetJoint,
    ShowMotion,
    UndoEdit,
)
from counterpoise.studio.frames import POSED
from counterpoise.studio.workshop import Workshop, handles

PROBE_TIME = 1e5  # [s] of a key that is only read, after all others


@handles(EditScene)
def edit_scene(shop: Workshop, command: EditScene) -> None:
    shop.edit(edit_from_dict({"edit": command.edit, **command.values}))


@handles(UndoEdit)
def undo_edit(shop: Workshop, command: UndoEdit) -> None:
    before = shop.character
    shop.document.undo()
    shop.after_change(before)


@handles(RedoEdit)
def redo_edit(shop: Workshop, command: RedoEdit) -> None:
    before = shop.character
    shop.document.redo()
    shop.after_change(before)


@handles(AddPoseKey)
def add_pose_key(shop: Workshop, command: AddPoseKey) -> None:
    """Writes the pose that is shown at a time as a key; where there is one already, nothing changes."""
    if shop.live is not None:
        write_pose(shop, command.time, shop.live.poses[-1])
    elif shop.document.shown.key_at(command.time) is None:
        write_pose(shop, command.time, shop.document.pose_at(command.time))


@handles(MirrorPose)
def mirror_pose(shop: Workshop, command: MirrorPose) -> None:
    write_pose(shop, command.time, shop.character.mirror_pose(shop.document.pose_at(command.time)))


@handles(ResetPose)
def reset_pose(shop: Workshop, command: ResetPose) -> None:
    """Puts the figure into its neutral pose, standing where it is now."""
    q, now = np.array(shop.character.neutral), shop.document.pose_at(command.time)
    if shop.character.floating and shop.character.joints[0].kind == "free":
        q[:2] = now[:2]
    write_pose(shop, command.time, q)


@handles(SavePoseAs)
def save_pose(shop: Workshop, command: SavePoseAs) -> None:
    shop.edit(SavePose(command.name.strip(), coordinates_of(shop.character, shop.document.pose_at(command.time))))


@handles(ApplyPose)
def apply_pose(shop: Workshop, command: ApplyPose) -> None:
    """Takes the joints of a pose by name; the figure stays where it is over the ground, and faces as it does."""
    shown = shop.document.shown
    if shown.is_clip:
        raise BadValue("a take is not posed by hand: choose the keys in the list of motions")
    probe = apply_edit(shop.document.scene, AddKey(PROBE_TIME, pose=command.name, motion=shown.name))
    found = np.array(probe.motion(shown.name).keys[-1].pose)
    now = shop.document.pose_at(command.time)
    if shop.character.floating and shop.character.joints[0].kind == "free":
        found[:2] = now[:2]
    write_pose(shop, command.time, found)


@handles(SetJoint)
def set_joint(shop: Workshop, command: SetJoint) -> None:
    """Sets coordinates of a joint within its limits; while the slider moves nothing is written."""
    joint = shop.character.joint(command.joint)
    if joint.kind not in ("hinge", "slide", "universal") or len(command.values) != joint.nq:
        raise BadValue(f"{joint.name!r} is a {joint.kind} joint of {joint.nq} coordinates; turn it in the view")
    q = shop.document.pose_at(command.time)
    q[joint.qpos] = command.values
    q = np.asarray(shop.character.limits.clamp(q))
    if command.done:
        write_pose(shop, command.time, q)
    elif shop.live is None:
        shop.show(POSED, q, time=command.time)


@handles(ShowMotion)
def show_motion(shop: Workshop, command: ShowMotion) -> None:
    before = shop.character
    shop.document.show(command.name)
    shop.after_change(before)


def write_pose(shop: Workshop, time: float, q: Array) -> None:
    """Writes a pose as a key and tells every page."""
    before = shop.character
    shop.time = time
    shop.document.set_pose(time, q)
    shop.after_change(before)
