"""Tries the extension in Blender without a window: `python blender/test_headless.py CLIP.bvh`, where `bpy` is.

The program `counterpoise` must be on the path. Armatures are imported with every axis setting, scaled, turned, parented
and with bones of their own; after a fix every head must be within 0.01 mm of what the command line gives, and the old
action as it was. Between selected keys an action is optimised: outside of them it stays as it was.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import counterpoise.work
from counterpoise.contacts import PROPERTY
from counterpoise.exchange import Rig, apply_bvh, curves_of, selected_frames, write_bvh
from counterpoise.program import Run

import counterpoise as extension

TOLERANCE = 1e-5  # [m]
FRAMES = 40
CASES = {  # name -> forward and up of the import, scale, whether it is turned, parented and has a bone of its own
    "plain": ("-Z", "Y", 1.0, False),
    "z up": ("Y", "Z", 1.0, False),
    "x forward": ("X", "Z", 1.0, False),
    "scaled, turned, parented, with a bone more": ("-Z", "Y", 0.5, True),
}


def heads(armature, frame: int) -> dict[str, tuple[float, ...]]:
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()
    return {bone.name: tuple(armature.matrix_world @ bone.head) for bone in armature.pose.bones}


def apart(a, b) -> float:
    return max(sum((x - y) ** 2 for x, y in zip(a[n], b[n], strict=True)) ** 0.5 for n in a if n in b)


def loaded(clip: str, forward: str, up: str, size: float, disturbed: bool):
    """An armature with the clip's action, FRAMES long."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_anim.bvh(filepath=clip, axis_forward=forward, axis_up=up, update_scene_fps=True, global_scale=size)
    armature = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    if disturbed:
        parent = bpy.data.objects.new("stage", None)
        scene.collection.objects.link(parent)
        parent.location, parent.rotation_euler = (0.5, -0.3, 0.0), (0.0, 0.0, 0.7)
        armature.parent = parent
        armature.scale = (1.0 / size,) * 3
        armature.location = (0.1, 0.0, 0.0)
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        extra = armature.data.edit_bones.new("control")
        extra.head, extra.tail = (0.0, 0.0, 0.0), (0.0, 0.0, 0.2)
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    return armature


def test_case(name: str, clip: str) -> None:
    armature = loaded(clip, *CASES[name])
    rig, scene = Rig.of(armature), bpy.context.scene
    old = armature.animation_data.action
    before = {frame: heads(armature, frame) for frame in (1, FRAMES // 2, FRAMES)}
    with tempfile.TemporaryDirectory() as folder:
        sent, got = Path(folder) / "a.bvh", Path(folder) / "b.bvh"
        write_bvh(sent, rig, scene, 1, FRAMES)
        words = ["counterpoise", "fix", str(sent), "-o", str(got), "--units", "m", "--up", "z", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, env=extension.environment(), check=False)
        assert done.returncode in (0, 1), done.stderr
        bpy.ops.import_anim.bvh(filepath=str(sent), axis_forward="Y", axis_up="Z")
        sent_judge = bpy.context.view_layer.objects.active
        for frame, places in before.items():
            names = {n: n for n in places}
            away = apart({n: places[n] for n in names if n in rig.names}, heads(sent_judge, frame))
            assert away < TOLERANCE, f"{name}: sent {1000 * away:.4f} mm off"
        bpy.ops.import_anim.bvh(filepath=str(got), axis_forward="Y", axis_up="Z")
        judge = bpy.context.view_layer.objects.active
        action = apply_bvh(got, rig, 1, f"{old.name} fixed")
        worst = moved = 0.0
        for frame in range(1, FRAMES + 1):
            now = {n: p for n, p in heads(armature, frame).items() if n in rig.names}
            worst = max(worst, apart(now, heads(judge, frame)))
            moved = max(moved, apart(now, before[frame]) if frame in before else 0.0)
        assert worst < TOLERANCE, f"{name}: {1000 * worst:.4f} mm off"
        assert armature.animation_data.action is action and old.use_fake_user and action is not old
        armature.animation_data.action = old
        if hasattr(armature.animation_data, "action_slot") and old.slots:
            armature.animation_data.action_slot = old.slots[0]
        for frame, places in before.items():
            assert apart(heads(armature, frame), places) == 0.0, "the old action was touched"
    print(f"{name}: {len(rig.names)} bones, {1000 * worst:.5f} mm off, moved by up to {1000 * moved:.1f} mm")


def test_axes(clip: str) -> None:
    """Every pair of axes that Blender's importer offers: what is sent, and what comes back, is where the bones are."""
    axes = ("X", "Y", "Z", "-X", "-Y", "-Z")
    worst, pairs = 0.0, [(f, u) for f in axes for u in axes if f[-1] != u[-1]]
    for forward, up in pairs:
        armature = loaded(clip, forward, up, 1.0, False)
        rig, scene = Rig.of(armature), bpy.context.scene
        before = {frame: heads(armature, frame) for frame in (1, 4, 8)}
        with tempfile.TemporaryDirectory() as folder:
            sent = Path(folder) / "a.bvh"
            write_bvh(sent, rig, scene, 1, 8)
            bpy.ops.import_anim.bvh(filepath=str(sent), axis_forward="Y", axis_up="Z")
            judge = bpy.context.view_layer.objects.active
            apply_bvh(sent, rig, 1, "back")
        for frame, places in before.items():
            worst = max(worst, apart(places, heads(judge, frame)), apart(places, heads(armature, frame)))
    assert worst < TOLERANCE, f"{1000 * worst:.4f} mm off"
    print(f"axes: {len(pairs)} settings, {1000 * worst:.5f} mm off")


def test_optimise(clip: str) -> None:
    """Between two selected keys of an armature that is scaled, turned and parented, with contacts as properties."""
    armature = loaded(clip, *CASES["scaled, turned, parented, with a bone more"])
    first, middle, last = 4, 18, 32
    old = armature.animation_data.action
    for curve in curves_of(old):
        for point in curve.keyframe_points:
            point.select_control_point = round(point.co[0]) in (first, middle, last)
    before = {frame: heads(armature, frame) for frame in range(1, FRAMES + 1)}
    for name in ("foot_left", "foot_right"):
        armature.pose.bones[name][PROPERTY] = f"1-{FRAMES}"
    assert selected_frames(Rig.of(armature)) == [first, middle, last]
    kept, extension.work.tempfile = extension.work.tempfile, Kept
    try:
        assert bpy.ops.counterpoise.optimize() == {"FINISHED"}
    finally:
        extension.work.tempfile = kept
    action = armature.animation_data.action
    assert action is not old and action.name.endswith("optimised") and old.use_fake_user
    bpy.ops.import_anim.bvh(filepath=str(Path(Kept.last) / "optimised.bvh"), axis_forward="Y", axis_up="Z")
    judge = bpy.context.view_layer.objects.active
    worst = moved = 0.0
    for frame, places in before.items():
        now = heads(armature, frame)
        if first <= frame <= last:
            worst = max(worst, apart({n: p for n, p in now.items() if n != "control"}, heads(judge, frame - first + 1)))
            moved = max(moved, apart(now, places))
        else:
            assert apart(now, places) < 1e-6, f"frame {frame} outside of the keys has moved"
    assert worst < TOLERANCE and moved > 1e-4, f"{1000 * worst:.4f} mm off"
    armature.animation_data.action = old
    armature.animation_data.action_slot = old.slots[0]
    assert max(apart(heads(armature, frame), places) for frame, places in before.items()) == 0.0
    print(f"optimised between keys: {1000 * worst:.5f} mm off, moved by up to {1000 * moved:.1f} mm")


class Kept:
    """Temporary folders that stay, so that a test can look into the last one."""

    last = ""

    @classmethod
    def TemporaryDirectory(cls):
        cls.last = tempfile.mkdtemp()
        return type("Folder", (), {"name": cls.last, "cleanup": lambda self: None})()


def test_errors(clip: str) -> None:
    """Mistakes are reported as Blender reports them, and change nothing."""
    armature = loaded(clip, *CASES["plain"])
    old = armature.animation_data.action
    for curve in curves_of(old):
        for point in curve.keyframe_points:
            point.select_control_point = False

    def said(message: str) -> None:
        try:
            bpy.ops.counterpoise.optimize()
        except RuntimeError as error:
            assert message in str(error), error
        else:
            raise AssertionError(f"no error: {message}")
        assert armature.animation_data.action is old

    said("select keys")
    for curve in curves_of(old):
        for point in curve.keyframe_points:
            point.select_control_point = round(point.co[0]) in (2, 20)
    said("custom property")
    armature.pose.bones["foot_left"][PROPERTY] = "first to last"
    said("1-12, 20-30")
    print("errors: told, nothing changed")


def test_cancel() -> None:
    """A cancelled program ends soon."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run([sys.executable, "-c", "import time; print('x' * 300000, flush=True); time.sleep(60)"], Path(folder))
        while run.out.stat().st_size < 300000:
            assert run.working()
        assert run.progress() == (0.0, "starting")
        run.cancel()
        assert not run.working()
    print("cancelled")


def test_operators(clip: str) -> None:
    armature = loaded(clip, *CASES["plain"])
    armature.animation_data.action.frame_start, armature.animation_data.action.frame_end = 1, FRAMES
    armature.animation_data.action.use_frame_range = True
    armature.select_set(True)
    extension.register()
    try:
        assert bpy.ops.counterpoise.check() == {"FINISHED"}
        marks = [m.name for m in bpy.context.scene.timeline_markers if m.name.startswith(extension.MARK)]
        old = armature.animation_data.action
        assert bpy.ops.counterpoise.fix() == {"FINISHED"}
        assert armature.animation_data.action is not old
        print(f"operators: {len(marks)} markers, new action {armature.animation_data.action.name!r}")
        test_errors(clip)
        test_optimise(clip)
    finally:
        extension.unregister()


if __name__ == "__main__":
    test_cancel()
    test_axes(sys.argv[1])
    for case in CASES:
        test_case(case, sys.argv[1])
    test_operators(sys.argv[1])
    print("all is well")
