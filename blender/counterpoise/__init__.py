"""Counterpoise in Blender: check the active action, or fix it into a new action on the same armature.

A thin client: the program `counterpoise` does the work in a process of its own. The old action is never touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import bpy

from .exchange import Rig, apply_bvh, write_bvh

MARK = "cp: "  # markers that this extension makes begin with it


def command(given: str) -> list[str]:
    """Returns the words that start the program: the one in the settings, on the path, or through uvx."""
    if given:
        return [given]
    if found := shutil.which("counterpoise"):
        return [found]
    if found := shutil.which("uvx"):
        return [found, "counterpoise"]
    raise FileNotFoundError(
        "counterpoise is not found: install it (pip install counterpoise), or name it in the settings"
    )


def environment() -> dict[str, str]:
    """The environment of the program: without Blender's own Python."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


class CounterpoisePreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", description="Empty: found on the path, or uvx"
    )

    def draw(self, context: Any) -> None:
        self.layout.prop(self, "program")


class _Work:
    """What check and fix share: the action goes out, the program runs, the answer comes in. Esc cancels."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}
    _timer: Any = None
    _process: Any = None

    @classmethod
    def poll(cls, context: Any) -> bool:
        active = context.active_object
        return active is not None and active.type == "ARMATURE"

    def begin(self, context: Any) -> None:
        scene = context.scene
        self.rig = Rig.of(context.active_object)
        self.first, self.last = scene.frame_start, scene.frame_end
        data = context.active_object.animation_data
        if data is not None and data.action is not None:
            low, high = data.action.frame_range
            self.first, self.last = int(low), int(high)
        if self.last - self.first < 3:
            raise ValueError("the action is too short: it needs at least four frames")
        self.folder = tempfile.TemporaryDirectory()
        self.sent = Path(self.folder.name) / "action.bvh"
        write_bvh(self.sent, self.rig, scene, self.first, self.last)
        addon = context.preferences.addons.get(__package__)
        words = [
            *command(addon.preferences.program if addon else ""),
            *self.words(),
            "--units",
            "m",
            "--up",
            "z",
            "--json",
        ]
        self._process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=self.folder.name
        )

    def finish(self, context: Any) -> set[str]:
        out, err = self._process.communicate()
        try:
            if self._process.returncode not in (0, 1):
                lines = err.decode(errors="replace").strip().splitlines()
                self.report({"ERROR"}, lines[-1] if lines else "counterpoise failed")
                return {"CANCELLED"}
            self.take(context, json.loads(out))
        finally:
            self.folder.cleanup()
        return {"FINISHED"}

    def execute(self, context: Any) -> set[str]:
        try:
            self.begin(context)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return self.finish(context)

    def invoke(self, context: Any, event: Any) -> set[str]:
        try:
            self.begin(context)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set("Counterpoise is working; Esc cancels")
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        if event.type == "ESC":
            self._process.terminate()
            self._process.communicate()
            self.folder.cleanup()
            self._leave(context)
            self.report({"INFO"}, "cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER" or self._process.poll() is None:
            return {"PASS_THROUGH"}
        self._leave(context)
        return self.finish(context)

    def _leave(self, context: Any) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


class COUNTERPOISE_OT_check(_Work, bpy.types.Operator):
    """Check whether the action is physically possible; what is wrong becomes markers on the timeline"""

    bl_idname = "counterpoise.check"
    bl_label = "Check action"

    def words(self) -> list[str]:
        return ["check", str(self.sent)]

    def take(self, context: Any, answer: dict[str, Any]) -> None:
        scene = context.scene
        rate = scene.render.fps / scene.render.fps_base
        for marker in [m for m in scene.timeline_markers if m.name.startswith(MARK)]:
            scene.timeline_markers.remove(marker)
        for finding in answer["findings"]:
            start = finding.get("start")
            if not finding["ok"] and start is not None:
                where = f" {finding['where']}" if finding.get("where") else ""
                scene.timeline_markers.new(f"{MARK}{finding['name']}{where}", frame=self.first + round(start * rate))
        self.report({"INFO"} if answer["possible"] else {"WARNING"}, answer["verdict"])


class COUNTERPOISE_OT_fix(_Work, bpy.types.Operator):
    """Make the action physically possible with the least change, as a new action; the old one stays"""

    bl_idname = "counterpoise.fix"
    bl_label = "Fix action"

    def words(self) -> list[str]:
        return ["fix", str(self.sent), "-o", str(self.sent.with_name("fixed.bvh"))]

    def take(self, context: Any, answer: dict[str, Any]) -> None:
        armature = self.rig.armature
        old = armature.animation_data.action if armature.animation_data else None
        name = f"{old.name if old else armature.name} fixed"
        action = apply_bvh(self.sent.with_name("fixed.bvh"), self.rig, self.first, name)
        context.scene.frame_set(context.scene.frame_current)
        self.report({"INFO"}, f"{action.name}: {answer.get('summary', 'done')}")


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


CLASSES = (CounterpoisePreferences, COUNTERPOISE_OT_check, COUNTERPOISE_OT_fix, COUNTERPOISE_PT_panel)


def register() -> None:
    for one in CLASSES:
        bpy.utils.register_class(one)


def unregister() -> None:
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
