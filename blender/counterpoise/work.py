"""The operators: the action goes out, the program runs, the answer comes in. Esc cancels; undo takes it back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, ClassVar

import bpy

from .contacts import contacts_of, stunt_text
from .exchange import Rig, apply_bvh, selected_frames, write_bvh
from .program import Run, command

MARK = "cp: "  # markers that this extension makes begin with it
MARGIN = 4  # frames sent before and after the keys, for the speed there


class _Work:
    """What the operators share."""

    bl_options: ClassVar[set[str]] = {"REGISTER", "UNDO"}
    _timer: Any = None
    _run: Any = None

    @classmethod
    def poll(cls, context: Any) -> bool:
        active = context.active_object
        return active is not None and active.type == "ARMATURE"

    def frames(self, context: Any) -> tuple[int, int]:
        """The first and the last frame to send: those of the action, or of the scene where there is none."""
        data = context.active_object.animation_data
        if data is not None and data.action is not None:
            low, high = data.action.frame_range
            return int(low), int(high)
        return context.scene.frame_start, context.scene.frame_end

    def begin(self, context: Any) -> None:
        self.rig = Rig.of(context.active_object)
        self.first, self.last = self.frames(context)
        if self.last - self.first < 3:
            raise ValueError("the action is too short: it needs at least four frames")
        self.folder = tempfile.TemporaryDirectory()
        self.sent = Path(self.folder.name) / "action.bvh"
        write_bvh(self.sent, self.rig, context.scene, self.first, self.last)
        addon = context.preferences.addons.get(__package__)
        words = [*command(addon.preferences.program if addon else ""), *self.words(context), "--json"]
        self._run = Run(words, Path(self.folder.name))

    def finish(self, context: Any) -> set[str]:
        try:
            self.take(context, self._run.answer())
        except (RuntimeError, ValueError, OSError, KeyError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            self.folder.cleanup()
        return {"FINISHED"}

    def execute(self, context: Any) -> set[str]:
        return self.finish(context) if self._began(context) else {"CANCELLED"}

    def invoke(self, context: Any, event: Any) -> set[str]:
        if not self._began(context):
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.window_manager.progress_begin(0.0, 1.0)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        if event.type == "ESC":
            self._run.cancel()
            self.folder.cleanup()
            self._leave(context)
            self.report({"INFO"}, "cancelled; nothing was changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if self._run.working():
            share, stage = self._run.progress()
            context.window_manager.progress_update(share)
            context.workspace.status_text_set(f"Counterpoise: {stage} {share:.0%}; Esc cancels")
            return {"PASS_THROUGH"}
        self._leave(context)
        return self.finish(context)

    def _began(self, context: Any) -> bool:
        try:
            self.begin(context)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return False
        return True

    def _leave(self, context: Any) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def name_of(self, suffix: str) -> str:
        """The name of a new action."""
        armature = self.rig.armature
        old = armature.animation_data.action if armature.animation_data else None
        return f"{old.name if old else armature.name} {suffix}"


class COUNTERPOISE_OT_check(_Work, bpy.types.Operator):
    """Check whether the action is physically possible; what is wrong becomes markers on the timeline"""

    bl_idname = "counterpoise.check"
    bl_label = "Check action"

    def words(self, context: Any) -> list[str]:
        return ["check", str(self.sent), "--units", "m", "--up", "z"]

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

    def words(self, context: Any) -> list[str]:
        return ["fix", str(self.sent), "-o", str(self.sent.with_name("fixed.bvh")), "--units", "m", "--up", "z"]

    def take(self, context: Any, answer: dict[str, Any]) -> None:
        action = apply_bvh(self.sent.with_name("fixed.bvh"), self.rig, self.first, self.name_of("fixed"))
        context.scene.frame_set(context.scene.frame_current)
        self.report({"INFO"}, f"{action.name}: {answer.get('summary', 'done')}")


class COUNTERPOISE_OT_optimize(_Work, bpy.types.Operator):
    """Optimise a physically possible motion between the selected keys, as a new action; the old one stays"""

    bl_idname = "counterpoise.optimize"
    bl_label = "Optimise between keys"

    def frames(self, context: Any) -> tuple[int, int]:
        self.keys = selected_frames(self.rig)
        if len(self.keys) < 2 or self.keys[-1] - self.keys[0] < 4:
            raise ValueError("select keys of the armature in two or more frames, at least four frames apart")
        self.contacts = contacts_of(self.rig.armature.pose.bones, self.rig.names, self.keys[0], self.keys[-1])
        return int(self.keys[0]) - MARGIN, int(self.keys[-1]) + MARGIN

    def words(self, context: Any) -> list[str]:
        scene = context.scene
        rate = scene.render.fps / scene.render.fps_base
        stunt = self.sent.with_name("stunt.toml")
        part = {name: self.rig.token(k) for k, name in enumerate(self.rig.names)}
        text = stunt_text(
            self.sent.name, self.first, rate, self.keys, self.contacts, part, scene.counterpoise
        )  # fmt: skip
        stunt.write_text(text, encoding="utf-8")
        return ["optimize", str(stunt), "-o", str(self.sent.with_name("optimised.bvh")), "--fps", f"{rate:.9g}"]

    def take(self, context: Any, answer: dict[str, Any]) -> None:
        if answer["grade"] == "unsolved":
            why = "; ".join(answer["conflicts"]) or answer["status"]
            raise RuntimeError(f"no such motion was found: {why}. Nothing was changed")
        done = self.sent.with_name("optimised.bvh")
        action = apply_bvh(done, self.rig, self.keys[0], self.name_of("optimised"), (self.keys[0], self.keys[-1]))
        context.scene.frame_set(context.scene.frame_current)
        notes = [e["text"] for e in answer["exceptions"]] + list(answer["notes"])
        self.report({"INFO"}, "; ".join([f"{action.name}: {answer['status']}", *notes]))
