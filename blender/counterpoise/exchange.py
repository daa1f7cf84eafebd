"""An armature's action as a BVH file in world axes (metres, z up), and a fixed BVH file back as a new action.

A joint's rotation in the file is that of its bone against its rest pose, in the world: G = R R_rest^-1. So rolls, axes
and the place, scale and parents of the armature drop out, and come back in: R = G R_rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import degrees, radians
from pathlib import Path
from typing import Any

from mathutils import Euler, Quaternion, Vector

CHANNELS = "Zrotation Xrotation Yrotation"
END = 0.05  # [m] length of a last bone that has none
KEYED = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


@dataclass
class Rig:
    """The bones of an armature that are exchanged: the largest tree, parents first."""

    armature: Any  # the object
    names: list[str]
    parents: list[int]

    @classmethod
    def of(cls, armature: Any) -> Rig:
        bones = armature.data.bones
        roots = [bone for bone in bones if bone.parent is None]
        if not roots:
            raise ValueError(f"the armature {armature.name!r} has no bones")
        root = max(roots, key=lambda bone: len(bone.children_recursive))
        names = [root.name]
        for name in names:
            names += [child.name for child in bones[name].children]
        return cls(armature, names, [names.index(bones[n].parent.name) if bones[n].parent else -1 for n in names])

    def rest(self) -> list[tuple[Vector, Quaternion]]:
        """Heads and rotations of the bones at rest, in the world."""
        world = self.armature.matrix_world
        turn = world.to_quaternion()
        return [(world @ bone.head_local, turn @ bone.matrix_local.to_quaternion()) for bone in self._bones()]

    def posed(self) -> list[tuple[Vector, Quaternion]]:
        """Heads and rotations of the bones as they are now, in the world."""
        world = self.armature.matrix_world
        turn = world.to_quaternion()
        pose = self.armature.pose.bones
        return [(world @ pose[n].head, turn @ pose[n].matrix.to_quaternion()) for n in self.names]

    def token(self, joint: int) -> str:
        """The name of a joint in the file: as the program takes it, unique."""
        plain = [re.sub(r"[^\w.:\-]+", "_", name).strip("_") or "joint" for name in self.names]
        plain = ["world_" if name == "world" else name for name in plain]
        same = [k for k, other in enumerate(plain) if other == plain[joint]]
        return plain[joint] if len(same) == 1 else f"{plain[joint]}.{same.index(joint) + 1}"

    def _bones(self) -> list[Any]:
        return [self.armature.data.bones[name] for name in self.names]


def write_bvh(path: Path, rig: Rig, scene: Any, first: int, last: int) -> None:
    """Writes the frames of the scene from `first` to `last`, both included."""
    rest = rig.rest()
    lines = ["HIERARCHY", *_tree(rig, rest, 0, 0)]
    rate = scene.render.fps / scene.render.fps_base
    rows, order = [], _file_order(rig, 0)
    now = scene.frame_current
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        posed = rig.posed()
        turned = [turn @ still.inverted() for (_, turn), (_, still) in zip(posed, rest, strict=True)]
        row = [f"{x:.9f}" for x in posed[0][0]]
        for k in order:
            parent = rig.parents[k]
            local = turned[k] if parent < 0 else turned[parent].inverted() @ turned[k]
            x, y, z = local.to_euler("YXZ")  # the file's R_z R_x R_y: y is applied first
            row += [f"{degrees(a):.9f}" for a in (z, x, y)]
        rows.append(" ".join(row))
    scene.frame_set(now)
    motion = ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {1.0 / rate:.9f}"]
    path.write_text("\n".join([*lines, *motion, *rows]) + "\n", encoding="utf-8")


def _tree(rig: Rig, rest: list[tuple[Vector, Quaternion]], joint: int, depth: int) -> list[str]:
    tab, parent = "\t" * depth, rig.parents[joint]
    offset = rest[joint][0] - rest[parent][0] if parent >= 0 else Vector()
    head = "ROOT" if parent < 0 else "JOINT"
    channels = f"6 Xposition Yposition Zposition {CHANNELS}" if parent < 0 else f"3 {CHANNELS}"
    lines = [f"{tab}{head} {rig.token(joint)}", f"{tab}{{", f"{tab}\tOFFSET {_numbers(offset)}"]
    lines.append(f"{tab}\tCHANNELS {channels}")
    children = [k for k, up in enumerate(rig.parents) if up == joint]
    for child in children:
        lines += _tree(rig, rest, child, depth + 1)
    if not children:
        bone = rig.armature.data.bones[rig.names[joint]]
        tip = rig.armature.matrix_world.to_3x3() @ (bone.tail_local - bone.head_local)
        if tip.length < 1e-6:
            tip = Vector((0.0, 0.0, END))
        lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {_numbers(tip)}", f"{tab}\t}}"]
    return [*lines, f"{tab}}}"]


def _numbers(vector: Vector) -> str:
    return " ".join(f"{x:.9f}" for x in vector)


def read_bvh(path: Path) -> tuple[list[list[str]], list[list[float]]]:
    """Returns the channels of each joint in the order of the file, and the frames."""
    channels: list[list[str]] = []
    text = path.read_text(encoding="utf-8").splitlines()
    start = text.index("MOTION")
    for line in text[:start]:
        words = line.split()
        if words[:1] == ["CHANNELS"]:
            channels.append(words[2:])
    rows = [[float(x) for x in line.split()] for line in text[start + 3 :] if line.strip()]
    return channels, rows


def apply_bvh(path: Path, rig: Rig, first: float, name: str, within: tuple[float, float] | None = None) -> Any:
    """Makes a new action of a file that `write_bvh` wrote and the program changed. Returns it; the old one stays.

    With `within` it is a copy of the old action, with other keys from one frame to the other.
    """
    import bpy

    channels, rows = read_bvh(path)
    order = _file_order(rig, 0)
    if len(channels) != len(order):
        raise ValueError(f"the answer has {len(channels)} joints; {len(order)} were sent")
    armature = rig.armature
    bpy.context.scene.frame_set(round(first))  # an armature that moves is taken where it is at the first frame
    rest = rig.rest()
    world = armature.matrix_world
    if armature.animation_data is None:
        armature.animation_data_create()
    old = armature.animation_data.action
    if old is not None:
        old.use_fake_user = True
    if within is None or old is None:
        action = bpy.data.actions.new(name)
        armature.animation_data.action = action
    else:
        action = _copied(armature, old, name)
        _remove_keys(action, rig, *within)
    before = {n: Quaternion(armature.pose.bones[n].rotation_quaternion) for n in rig.names} if within else {}
    for number, row in enumerate(rows):
        place, turned = _world_turns(channels, order, rig, row)
        for joint, bone_name in enumerate(rig.names):
            parent, bone = rig.parents[joint], armature.pose.bones[bone_name]
            own = turned[joint] @ rest[joint][1]
            over = turned[parent] @ rest[parent][1] if parent >= 0 else None
            still = rest[parent][1].inverted() @ rest[joint][1] if parent >= 0 else rest[joint][1]
            basis = still.inverted() @ ((over.inverted() @ own) if over is not None else own)
            if bone_name in before and basis.dot(before[bone_name]) < 0.0:
                basis.negate()
            before[bone_name] = basis
            if bone.rotation_mode in KEYED:
                if bone.rotation_mode == "QUATERNION":
                    bone.rotation_quaternion = basis
                else:
                    axis, angle = basis.to_axis_angle()
                    bone.rotation_axis_angle = (angle, *axis)
            else:
                bone.rotation_euler = basis.to_euler(bone.rotation_mode, bone.rotation_euler)
            bone.keyframe_insert(KEYED.get(bone.rotation_mode, "rotation_euler"), frame=first + number)
            if parent < 0:
                head = world.inverted() @ place
                own_bone = armature.data.bones[bone_name]
                bone.location = own_bone.matrix_local.to_3x3().inverted() @ (head - own_bone.head_local)
                bone.keyframe_insert("location", frame=first + number)
    return action


def _copied(armature: Any, old: Any, name: str) -> Any:
    """Returns a copy of an action, which is then the armature's."""
    data = armature.animation_data
    slot = getattr(data, "action_slot", None)
    number = list(old.slots).index(slot) if slot is not None else -1
    action = old.copy()
    action.name, action.use_fake_user = name, False
    data.action = action
    if number >= 0:
        data.action_slot = action.slots[number]
    return action


def curves_of(action: Any) -> list[Any]:
    """Returns the curves of an action, of the old kind or layered."""
    if hasattr(action, "layers") and len(action.layers):
        bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
        return [curve for bag in bags for curve in bag.fcurves]
    return list(getattr(action, "fcurves", ()))


def _bone_of(curve: Any) -> str:
    """The bone that a curve moves; "" for others."""
    found = re.match(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]', curve.data_path)
    return re.sub(r"\\(.)", r"\1", found[1]) if found else ""


def _remove_keys(action: Any, rig: Rig, first: float, last: float) -> None:
    """Removes the keys that are written anew, between two frames, both included."""
    mine = set(rig.names)
    for curve in curves_of(action):
        bone, what = _bone_of(curve), curve.data_path.rpartition(".")[2]
        if bone in mine and (what.startswith("rotation_") or (what == "location" and bone == rig.names[0])):
            for k in reversed(range(len(curve.keyframe_points))):
                if first - 1e-3 <= curve.keyframe_points[k].co[0] <= last + 1e-3:
                    curve.keyframe_points.remove(curve.keyframe_points[k], fast=True)
            curve.update()


def selected_frames(rig: Rig) -> list[float]:
    """Returns the frames in which keys of the rig's bones are selected, in order."""
    data = rig.armature.animation_data
    if data is None or data.action is None:
        return []
    mine = set(rig.names)
    found = {
        round(float(point.co[0]))
        for curve in curves_of(data.action)
        if _bone_of(curve) in mine
        for point in curve.keyframe_points
        if point.select_control_point
    }
    return sorted(found)


def _file_order(rig: Rig, joint: int) -> list[int]:
    """Joints in the order of the file: each before its children."""
    return [joint, *(k for c, up in enumerate(rig.parents) if up == joint for k in _file_order(rig, c))]


def _world_turns(
    channels: list[list[str]], order: list[int], rig: Rig, row: list[float]
) -> tuple[Vector, list[Quaternion]]:
    """The place of the root, and the rotation of every joint against rest, in the world, of one frame."""
    place, at = Vector(), 0
    turned: list[Quaternion] = [Quaternion()] * len(rig.names)
    for joint, names in zip(order, channels, strict=True):
        local = Quaternion()
        for channel in names:
            axis = "XYZ".index(channel[0].upper())
            if channel.lower().endswith("position"):
                place[axis] = row[at] if rig.parents[joint] < 0 else place[axis]
            else:
                local = local @ Euler([radians(row[at]) if k == axis else 0.0 for k in range(3)]).to_quaternion()
            at += 1
        parent = rig.parents[joint]
        turned[joint] = turned[parent] @ local if parent >= 0 else local
    return place, turned


__all__ = ["Rig", "apply_bvh", "curves_of", "read_bvh", "selected_frames", "write_bvh"]
