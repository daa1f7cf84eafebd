"""Frames a second of the ray caster on one core, and what its first call costs.

uv run python benchmarks/render.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if hasattr(os, "sched_setaffinity"):  # one core, whatever the machine has
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "render"))
from figure import RICH_WORLD, figure, rich_assets, walking

from counterpoise.render import CameraPath, DrawnStage, Take, draw, video

COLD = """
import time
import numpy as np
from counterpoise.render import Camera, Scene, draw
start = time.perf_counter()
draw(Scene().with_default_ground(), Camera((3, 0, 1), (0, 0, 1)), (64, 48))
print(time.perf_counter() - start)
"""


def milliseconds(take: Take, size: tuple[int, int], frames: int = 25) -> float:
    """Median time of one frame: posing, scene and picture."""
    stage = DrawnStage(take)
    camera_path = CameraPath(stage, "track", size[0] / size[1])
    spent = []
    for moment in np.linspace(take.times[0], take.times[-1], frames + 1):
        start = time.perf_counter()
        draw(stage.scene(moment), camera_path.camera(moment), size)
        spent.append(time.perf_counter() - start)
    return 1e3 * float(np.median(spent[1:]))


def filmed(model: mujoco.MjModel) -> Take:
    return Take(model, *walking(model))


def cold_start() -> float:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        result = subprocess.run(
            [sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True
        )
    return float(result.stdout)


def main() -> None:
    one = filmed(figure())
    cases = {
        "one figure, 640x480": (one, (640, 480)),
        "one figure, 1280x720": (one, (1280, 720)),
        "ten figures, 640x480": (filmed(figure(copies=10)), (640, 480)),
        "figure, mesh and terrain, 640x480": (
            filmed(figure(world=RICH_WORLD, assets=rich_assets())),
            (640, 480),
        ),
    }
    print(f"{'picture':<36}{'solids':>8}{'ms/frame':>10}{'frames/s':>10}")
    for name, (take, size) in cases.items():
        cost = milliseconds(take, size)
        print(f"{name:<36}{len(DrawnStage(take).model_solids.geoms):>8}{cost:>10.1f}{1e3 / cost:>10.1f}")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        video(one, Path(folder) / "walk.mp4", size=(640, 480))
        spent = time.perf_counter() - start
    print(f"mp4, 61 frames of 640x480, drawn and encoded: {spent:.1f} s ({61 / spent:.1f} frames/s)")
    print(f"first picture with an empty compile cache: {cold_start():.1f} s")


if __name__ == "__main__":
    main()
