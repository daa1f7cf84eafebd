"""Edits of the scene, undo and redo, and the pose at the playhead."""

from __future__ import annotations

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_contact_places
from counterpoise.errors import BadValue
from counterpoise.scene import MAIN, AddKey, AddMotion, SavePose, SetPose, apply_edit, coordinates_of, edit_from_dict
from counterpoise.studio.cast import motion_of
from counterpoise.studio.commands import (
    AddPoseKey,
    ApplyPose,
    EditScene,
    LayMotion,
    MirrorPose,
    RedoEdit,
    ResetPose,
    SavePoseAs,
    SetCurve,
    SetJoint,
    ShowCharacter,
    ShowMotion,
    UndoEdit,
)
from counterpoise.studio.curves import channel_of
from counterpoise.studio.frames import POSED
from counterpoise.studio.layers import layered
from counterpoise.studio.motions import show_motion as read_shown
from counterpoise.studio.takes import add_take, owner_of
from counterpoise.studio.workshop import Workshop, handles

PROBE_TIME = 119.99  # [s] of a key that is only read, after all others: motions last at most 120 s


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
    now = shop.document.pose_at(command.time)
    write_pose(shop, command.time, standing_there(shop.character, shop.character.neutral, now))


@handles(SavePoseAs)
def save_pose(shop: Workshop, command: SavePoseAs) -> None:
    shop.edit(SavePose(command.name.strip(), coordinates_of(shop.character, shop.document.pose_at(command.time))))


@handles(ApplyPose)
def apply_pose(shop: Workshop, command: ApplyPose) -> None:
    """Takes a pose by name, standing where the figure stands now."""
    shown = shop.document.shown
    if shown.is_clip:
        raise BadValue("a take is not posed by hand: choose the keys in the list of motions")
    probe = apply_edit(shop.document.scene, AddKey(PROBE_TIME, pose=command.name, motion=shown.name))
    found = probe.motion(shown.name).keys[-1].pose
    write_pose(shop, command.time, standing_there(shop.character, found, shop.document.pose_at(command.time)))


@handles(SetJoint)
def set_joint(shop: Workshop, command: SetJoint) -> None:
    """Sets coordinates of a joint within its limits; while the slider moves nothing is written."""
    joint = shop.character.joint(command.joint)
    if joint.kind == "free" or len(command.values) != joint.nv:
        raise BadValue(f"{joint.name!r} is a {joint.kind} joint of {joint.nv} angles; got {len(command.values)}")
    q = shop.document.pose_at(command.time)
    q[joint.qpos] = spatial.exp(np.array(command.values)) if joint.kind == "ball" else command.values
    q = np.asarray(shop.character.limits.clamp(q))
    if command.done:
        write_pose(shop, command.time, q)
    elif shop.live is None:
        shop.show(POSED, q, time=command.time)


@handles(SetCurve)
def set_curve(shop: Workshop, command: SetCurve) -> None:
    """Changes one curve at a key, within the limits of the joint; while it is dragged nothing is written."""
    shown = shop.document.shown
    key = next((one for one in shown.keys if one.index == command.key), None)
    if key is None:
        raise BadValue(f"there is no key {command.key} on the timeline; a take has none: bake it to keys")
    q = channel_of(shop.character, command.name).put(key.pose, command.value)
    q = np.asarray(shop.character.limits.clamp(q))
    if command.done:
        before = shop.character
        shop.time = key.time
        shop.document.do(SetPose(key.index, coordinates_of(shop.character, q), shown.name))
        shop.after_change(before)
    elif shop.live is None:
        shop.show(POSED, q, time=key.time)


@handles(ShowCharacter)
def show_character(shop: Workshop, command: ShowCharacter) -> None:
    """Shows a motion of a character; one that has none gets an empty motion of keys."""
    scene, before = shop.document.scene, shop.character
    name = motion_of(scene, command.name, shop.document.shown.name)
    if name is None and command.name in scene.characters and command.name != MAIN:
        name = command.name
        shop.edit(AddMotion(name, command.name, duration=shop.document.shown.duration, physics="none"))
    elif name is None:
        scene.character(command.name)
        name = MAIN
    shop.document.show(name)
    shop.after_change(before)


@handles(ShowMotion)
def show_motion(shop: Workshop, command: ShowMotion) -> None:
    before = shop.character
    shop.document.show(command.name)
    shop.after_change(before)


@handles(LayMotion)
def lay_motion(shop: Workshop, command: LayMotion) -> None:
    """Makes a new take of two motions; both stay as they are."""
    shown, scene = shop.document.shown, shop.document.scene
    scene.motion(command.over)
    top = read_shown(scene, command.over)
    if owner_of(shop, command.over) != owner_of(shop, shown.name):
        raise BadValue(f"{command.over!r} belongs to another figure of the scene: a layer is of the same one")
    made = layered(shown.whole(), top.whole(), command.joints, command.start, command.end or None, command.blend)
    name = add_take(shop, "layered", made, owner_of(shop, shown.name))
    shop.say_scene()
    shop.note(f"{command.over!r} lies over {shown.name!r}: {name!r}.")


def standing_there(character: Character, q: Array, now: Array) -> Array:
    """Returns the pose q moved over the ground so that its feet, or else its root, are where they are in `now`."""
    out = np.array(q)
    if not character.floating or character.joints[0].kind != "free":
        return out
    if character.feet:
        out[:2] += (take_contact_places(character, now) - take_contact_places(character, out)).mean(axis=0)[:2]
    else:
        out[:2] = now[:2]
    return out


def write_pose(shop: Workshop, time: float, q: Array) -> None:
    """Writes a pose as a key and tells every page."""
    before = shop.character
    shop.time = time
    shop.document.set_pose(time, q)
    shop.after_change(before)
