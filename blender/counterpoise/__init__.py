"""Counterpoise in Blender: check the active action, fix it, or optimise it between selected keys, as a new action.

A thin client: the program `counterpoise` does the work in a process of its own. The old action is never touched.
"""

from __future__ import annotations

from typing import Any

import bpy

from .contacts import HOWS, PROPERTY, PROPERTY_HOW, add_frames
from .exchange import Rig, selected_frames
from .program import command, environment
from .work import MARK, COUNTERPOISE_OT_check, COUNTERPOISE_OT_fix, COUNTERPOISE_OT_optimize


class CounterpoisePreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", description="Empty: found on the path, or uvx"
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "program")


class CounterpoiseSettings(bpy.types.PropertyGroup):
    """How actions are optimised; part of the scene"""

    ends: bpy.props.EnumProperty(
        name="Ends",
        items=[
            ("MOVING", "As the action moves", "The first and the last key keep the speed that the action has there"),
            ("REST", "At rest", "The figure is at rest at the first and the last key"),
        ],
        description="How the figure moves at the first and the last selected key",
    )
    soft: bpy.props.FloatProperty(
        name="Keys between",
        default=100.0,
        min=1.0,
        max=10000.0,
        description="How much the selected keys between the first and the last count: 10 weak, 1000 nearly exact",
    )
    rate: bpy.props.FloatProperty(name="Knots a second", default=20.0, min=5.0, max=120.0)
    strength: bpy.props.BoolProperty(name="Within strength", default=True, description="No joint is overstrained")
    apart: bpy.props.BoolProperty(name="Limbs apart", default=False, description="No part passes through another")


class COUNTERPOISE_OT_contact(bpy.types.Operator):
    """Say that the selected bones touch the ground between the selected keys, or in the frames of the scene"""

    bl_idname = "counterpoise.contact"
    bl_label = "Mark contact"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    how: bpy.props.EnumProperty(name="How", items=[(h, h, "") for h in HOWS])
    clear: bpy.props.BoolProperty(name="Remove", description="Take the contacts of the selected bones away")

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.mode == "POSE" and bool(context.selected_pose_bones)

    def execute(self, context: Any) -> set[str]:
        frames = selected_frames(Rig.of(context.active_object))
        first, last = (
            (frames[0], frames[-1]) if len(frames) > 1 else (context.scene.frame_start, context.scene.frame_end)
        )
        for bone in context.selected_pose_bones:
            for name in (PROPERTY, PROPERTY_HOW):
                if self.clear and name in bone:
                    del bone[name]
            if not self.clear:
                bone[PROPERTY] = add_frames(str(bone.get(PROPERTY, "")), first, last)
                if self.how != HOWS[0]:
                    bone[PROPERTY_HOW] = self.how
        return {"FINISHED"}


class COUNTERPOISE_PT_panel(bpy.types.Panel):
    """The sidebar of the 3D view"""

    bl_label = "Counterpoise"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Animation"

    def draw(self, context: Any) -> None:
        column = self.layout.column()
        column.operator(COUNTERPOISE_OT_check.bl_idname)
        column.operator(COUNTERPOISE_OT_fix.bl_idname)
        column.separator()
        column.operator(COUNTERPOISE_OT_contact.bl_idname)
        column.operator(COUNTERPOISE_OT_optimize.bl_idname)
        settings = context.scene.counterpoise
        for name in ("ends", "soft", "rate", "strength", "apart"):
            column.prop(settings, name)


CLASSES = (
    CounterpoisePreferences, CounterpoiseSettings, COUNTERPOISE_OT_check, COUNTERPOISE_OT_fix, COUNTERPOISE_OT_contact,
    COUNTERPOISE_OT_optimize, COUNTERPOISE_PT_panel,
)  # fmt: skip


def register() -> None:
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Scene.counterpoise = bpy.props.PointerProperty(type=CounterpoiseSettings)


def unregister() -> None:
    del bpy.types.Scene.counterpoise
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)


__all__ = ["MARK", "command", "environment", "register", "unregister"]
