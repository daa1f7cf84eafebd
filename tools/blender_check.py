"""Blender judges the exports: BVH, GLB, USD and FBX of several motions are imported there, and joint heads compared.

    uv run python tools/blender_check.py [--keep FOLDER] [--cache FOLDER]

The first run makes an environment of its own (bpy pins numpy < 2) in a cache folder; it needs `uv`, Python 3.11 and
about 1 GB. Every joint's head is compared in every frame with where the clip has it; more than 0.1 mm fails. Tails are
not compared: importers invent them. What Blender exports again as GLB (at whole frame rates) is read here and compared
too. FBX is read by both importers that Blender has, the new one and the add-on. Exit code 0: all agree; 1: some do not;
2: Blender could not be had.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import counterpoise as cp
from counterpoise.errors import CounterpoiseError
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.gltf import read_clip
from counterpoise.motion.skeleton import Clip

BPY, NUMPY, PYTHON = "bpy==5.0.1", "numpy<2", "3.11"
TOLERANCE = 1e-4  # [m]
KINDS = (("bvh", ".bvh"), ("glb", ".glb"), ("usd", ".usdc"), ("fbx", ".fbx"), ("old fbx", ".fbx"))
LIBRARIES = "libx11-6 libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1 libegl1"

INSIDE = r"""
import json, sys
import bpy
import numpy as np

for job in json.load(open(sys.argv[1])):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    # importers turn seconds into frames by the scene's own rate: it is set before importing. A scene plays
    # fps / fps_base frames a second, but the glTF add-on multiplies the two: for it the base is inverted.
    scene.render.fps = max(1, round(job["rate"]))
    base = scene.render.fps / job["rate"]
    scene.render.fps_base = 1.0 / base if job["kind"] == "glb" else base
    first = 1 if job["kind"] == "bvh" else 0  # the BVH importer knows no frame 0
    if job["kind"] == "bvh":
        bpy.ops.import_anim.bvh(
            filepath=job["path"], axis_forward=job["forward"], axis_up="Y", global_scale=1.0, frame_start=1,
            use_fps_scale=False, update_scene_fps=False, update_scene_duration=False, rotate_mode="QUATERNION",
        )
    elif job["kind"] == "glb":
        bpy.ops.import_scene.gltf(filepath=job["path"])
    elif job["kind"] == "fbx":
        bpy.ops.wm.fbx_import(filepath=job["path"], anim_offset=0.0)
    elif job["kind"] == "old fbx":
        bpy.ops.import_scene.fbx(filepath=job["path"], anim_offset=0.0)
    else:
        bpy.ops.wm.usd_import(filepath=job["path"])
    rig = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    heads = np.empty((job["frames"], len(rig.pose.bones), 3))
    for frame in range(job["frames"]):
        scene.frame_set(first + frame)
        heads[frame] = [list(rig.matrix_world @ bone.head) for bone in rig.pose.bones]
    if job["back"]:
        bpy.ops.export_scene.gltf(filepath=job["back"], export_format="GLB")
    names = [bone.name for bone in rig.pose.bones]
    scale = list(rig.matrix_world.to_scale())
    np.savez(job["out"], heads=heads, names=np.array(names), scale=np.array(scale))
"""


def blender(cache: Path) -> Path:
    """The Python that has bpy, made if it is not there yet."""
    home = cache / "bpy-5.0.1"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"making an environment with {BPY} in {home}", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["uv", "venv", "--no-project", "--python", PYTHON, str(home)], check=True)
    there = "import importlib.util, sys; sys.exit(importlib.util.find_spec('bpy') is None)"
    if subprocess.run([str(python), "-c", there], check=False).returncode:
        subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), BPY, NUMPY], check=True)
    done = subprocess.run([str(python), "-c", "import bpy"], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise RuntimeError(
            f"bpy is installed but cannot be imported: {last}\n"
            "On a bare system it lacks X11 and GL client libraries. With administrator rights:\n"
            f"  apt-get install {LIBRARIES}"
        )
    return python


def motions(mocap: Path) -> list[tuple[cp.Motion, float | None]]:
    """Something of everything, with the rate asked for: a human, a bird, odd frame rates, a figure out of a file."""
    human = cp.character("human")
    found: list[tuple[cp.Motion, float | None]] = [
        (cp.reference_motion("squat", human), None),
        (cp.reference_motion("front_kick", human), 24.0),
        (cp.reference_motion("twist", human).placed((1.0, -2.0), 0.7), 30000 / 1001),
        (_ostrich(), None),
    ]
    clip = mocap / "02_01.bvh"
    if clip.exists():
        found.append((cp.read_motion(clip).slice(0.5, 2.0).named("mocap_walk"), None))
    else:
        print(f"no captured clip at {clip}: left out")
    return found


def _ostrich() -> cp.Motion:
    """An ostrich that nods, leans and lifts a leg."""
    ostrich = cp.character("ostrich")
    t = np.linspace(0.0, 2.0, 61)
    lean = np.zeros((len(t), ostrich.nv))
    lean[:, 0], lean[:, 4] = 0.3 * np.sin(2.0 * t), 0.2 * np.sin(3.0 * t)
    for k, dof in enumerate(range(6, ostrich.nv)):
        lean[:, dof] = 0.3 * np.sin((1.0 + 0.1 * k) * t + k)
    poses = ostrich.integrate(np.tile(ostrich.neutral, (len(t), 1)), lean)
    return cp.Motion(ostrich, t, np.array([ostrich.limits.clamp(q) for q in poses]), name="ostrich")


def main() -> int:
    """Export, import in Blender, compare, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    parser.add_argument("--cache", type=Path, default=home / "counterpoise", help="where Blender's environment lives")
    parser.add_argument("--keep", type=Path, help="write the files here and keep them")
    parser.add_argument("--mocap", type=Path, default=Path(__file__).parents[2] / "shared" / "mocap")
    asked = parser.parse_args()
    try:
        python = blender(asked.cache)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return compare(python, motions(asked.mocap), folder)


def compare(python: Path, chosen: list[tuple[cp.Motion, float | None]], folder: Path) -> int:
    """Write every motion in every format, let Blender read them all, and tell how far apart the heads are."""
    jobs: list[dict[str, Any]] = []
    clips: list[Clip] = []
    failed = 0
    for motion, rate in chosen:
        clip = clip_of_motion(motion, rate)
        for kind, suffix in KINDS:
            if kind == "old fbx" and clip.rate != round(clip.rate):
                continue  # the add-on puts keys at whole frames a second: 30 instead of 29.97
            path = folder / f"{motion.name}{suffix}"
            try:
                axes = {"up": "y", "forward": "z", "units": "m"} if kind == "bvh" else {}
                motion.write(path, rate=rate, **axes)
            except CounterpoiseError as error:
                print(f"{path.name}: not written: {error}")
                failed += 1
                continue
            out = folder / f"{motion.name}.{kind}.npz"
            job: dict[str, Any] = {
                "kind": kind,
                "path": str(path),
                "rate": clip.rate,
                "frames": len(clip),
                "out": str(out),
            }
            whole = kind == "glb" and clip.rate == round(clip.rate)  # Blender's exporter is 0.1 mm off at other rates
            back = str(folder / f"{motion.name}_from_blender.glb") if whole else ""
            jobs.append({**job, "forward": "Z", "back": back})
            clips.append(clip)
    listed, script = folder / "jobs.json", folder / "inside_blender.py"
    listed.write_text(json.dumps(jobs))
    script.write_text(INSIDE)
    done = subprocess.run([str(python), str(script), str(listed)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:], file=sys.stderr)
        return 2
    print(f"{'file':28} {'frames':>6} {'joints':>6} {'frames/s':>9} {'worst [mm]':>11}  joint, frame")
    for job, clip in zip(jobs, clips, strict=True):
        failed += not imported(job, clip)
        if job["back"]:
            failed += not returned(Path(job["back"]), clip)
    print("all heads agree" if not failed else f"{failed} disagree")
    return 1 if failed else 0


def imported(job: dict[str, Any], clip: Clip) -> bool:
    """Whether Blender's heads are ours."""
    with np.load(job["out"]) as found:
        heads, names, scale = found["heads"], [str(n) for n in found["names"]], found["scale"]
    if job["kind"] == "bvh":  # written y up and z forward: Blender brings it back y forward, x to the right
        heads = np.stack([heads[..., 1], -heads[..., 0], heads[..., 2]], axis=-1)
    name = Path(job["path"]).name + (" (add-on)" if job["kind"] == "old fbx" else "")
    unscaled = "fbx" in job["kind"] or bool(np.abs(scale - 1.0).max() < 1e-6)  # FBX is in centimetres
    return told(name, heads, names, clip) and unscaled


def returned(path: Path, clip: Clip) -> bool:
    """Whether what Blender exports of our file is, read here, our clip again."""
    again = read_clip(path, rate=clip.rate, forward="x")
    return told(path.name, again.world()[0], list(again.skeleton.names), clip)


def told(name: str, heads: Any, names: list[str], clip: Clip) -> bool:
    """One line of the table; whether heads (f, n, 3) are where the clip has them."""
    places = clip.world()[0]
    ours = clip.skeleton.names
    missing = [joint for joint in ours if joint not in names]
    if missing or len(heads) != len(places):
        print(f"{name:28} lacks joints {missing[:5]} or frames: {len(heads)} of {len(places)}")
        return False
    apart = np.linalg.norm(heads[:, [names.index(joint) for joint in ours]] - places, axis=2)
    frame, joint = np.unravel_index(int(np.argmax(apart)), apart.shape)
    worst = float(apart.max())
    print(f"{name:28} {len(apart):6} {len(ours):6} {clip.rate:9.3f} {1e3 * worst:11.5f}  {ours[joint]}, {frame}")
    return worst <= TOLERANCE


if __name__ == "__main__":
    raise SystemExit(main())
