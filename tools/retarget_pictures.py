"""Pictures of retargeting for the docs: each clip beside the human it was put on, and the whole cast in one squat.

    uv run python tools/retarget_pictures.py [--clips ../shared/mocap] [--out docs/images] [--only squats]

Look at them: knees ahead, feet flat, no arm turned about itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

import counterpoise as cp

CLIPS = {  # name: file, first and last frame (0 for all), moments shown, azimuth of the camera
    "squats": ("13_29", 3793, 4584, 7, -35.0),
    "punches": ("02_05", 300, 1100, 7, -35.0),
    "balance": ("49_19", 270, 957, 7, -35.0),
    "circle_right": ("42_01", 584, 710, 7, -35.0),
    "circle_left": ("42_01", 747, 1042, 7, 35.0),
    "kick_3": ("144_09", 592, 705, 7, -60.0),
    "kick_7": ("144_09", 1645, 1768, 7, -60.0),
    "walk": ("02_01", 1, 343, 7, -60.0),
    "jump": ("16_01", 90, 322, 7, -35.0),
    "swing": ("43_02", 1, 904, 7, -60.0),
}
CAST = ("human", "child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur")


def clip(folder: Path, name: str, first: int, last: int) -> cp.Motion:
    """A stretch of a captured clip."""
    motion = cp.read_motion(folder / f"{name}.bvh")
    return motion.slice(motion.times[first], motion.times[last]) if last else motion


def write(rows: list[np.ndarray], path: Path) -> None:
    """Stack strips and keep the file small: 128 colours are enough for grey figures on a grey floor."""
    image = Image.fromarray(np.concatenate(rows, axis=0))
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}  {image.width} x {image.height}  {path.stat().st_size // 1024} kB")


def side_by_side(source: cp.Motion, count: int, azimuth: float, path: Path, who: str = "human") -> None:
    """The source above, what became of it below, at the same moments."""
    made, report = cp.retarget_with_report(source, cp.character(who))
    print(report)
    moments = np.linspace(source.start, source.end, count)
    facing = np.degrees(_heading(made))
    view = {"times": moments, "size": (190, 260), "azimuth": facing + azimuth, "clock": False, "samples": 4}
    write([cp.filmstrip(source, **view), cp.filmstrip(made, **view)], path)


def cast_squat(source: cp.Motion, path: Path) -> None:
    """The cast at the same moments of the same squat, one figure a row."""
    rows = []
    moments = np.linspace(source.start, source.end, 9)
    for name in CAST:
        made = cp.retarget(source, cp.character(name))
        facing = np.degrees(_heading(made))
        rows.append(cp.filmstrip(made, times=moments, size=(130, 150), azimuth=facing - 40.0, clock=False, samples=4))
    write(rows, path)


def _heading(motion: cp.Motion) -> float:
    """Which way the figure faces on the whole [rad]."""
    turns = cp.spatial.rotate(motion.poses[:, 3:7], np.array([1.0, 0.0, 0.0])).mean(axis=0)
    return float(np.arctan2(turns[1], turns[0]))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clips", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "mocap")
    asked.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "images")
    asked.add_argument("--only", nargs="*", default=None)
    asked.add_argument("--who", default="human")
    given = asked.parse_args()
    for name, (file, first, last, count, azimuth) in CLIPS.items():
        if given.only is None or name in given.only:
            source = clip(given.clips, file, first, last)
            side_by_side(source, count, azimuth, given.out / f"retarget_{name}.png", given.who)
    if given.only is None or "cast" in given.only:
        source = clip(given.clips, "13_29", 3793, 4100)
        cast_squat(source, given.out / "retarget_cast.png")


if __name__ == "__main__":
    main()
