"""Pictures of fixes for the docs: hard clips as captured above, fixed below, at the same moments.

    uv run python tools/fix_pictures.py [--clips ../shared/mocap] [--out docs/images] [--only 49_06]

Look at them: feet that stand on the ground, knees ahead, no limb that twitches or passes through another.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

import counterpoise as cp
from counterpoise.spacetime.fix import fix_motion

CLIPS = {  # name: first and last moment [s], azimuth of the camera [deg], frames a second if the file is wrong
    "104_13": (2.3, 3.4, -60.0, None),
    "49_06": (1.6, 2.7, -90.0, None),
    "74_03": (1.3, 2.0, -60.0, None),
    "139_16": (2.0, 3.4, -60.0, None),
    "88_01": (0.6, 1.7, -90.0, 60.0),
}
UNSEEN = {  # what carries the body was not captured, and is found by the fix
    "143_17": (0.3, 4.6, -90.0, None),
    "83_09": (0.2, 2.4, -90.0, None),
    "75_17": (0.5, 5.0, -90.0, 60.0),
}
COUNT, SIZE, GAP = 8, (190, 170), 10


def rows(motion: cp.Motion, fixed: cp.Motion, start: float, end: float, azimuth: float) -> np.ndarray:
    """The captured motion above, the fixed one below."""
    view = {"times": np.linspace(start, end, COUNT), "size": SIZE, "azimuth": azimuth, "samples": 4}
    above, below = cp.filmstrip(motion, **view), cp.filmstrip(fixed, **view)
    return np.concatenate([above, np.full((2, above.shape[1], 3), 255, np.uint8), below])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clips", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "mocap")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--only", nargs="*", default=None)
    given = parser.parse_args()
    draw(given, CLIPS, "fix_five.png", ())
    draw(given, UNSEEN, "fix_unseen.png", "find")


def draw(
    given: argparse.Namespace, clips: dict[str, tuple[float, float, float, float | None]], file: str,
    holds: tuple[()] | Literal["find"],
) -> None:  # fmt: skip
    """Draws one picture of the clips that were asked for."""
    parts = []
    for name, (start, end, azimuth, rate) in clips.items():
        if given.only is not None and name not in given.only:
            continue
        motion = cp.read_motion(given.clips / f"{name}.bvh", skip_rest_frame=True, rate=rate)
        result = fix_motion(motion, holds=holds)
        print(f"{name}: {result.summary}")
        parts.append(rows(motion, result.motion, start, end, azimuth))
        parts.append(np.full((GAP, parts[-1].shape[1], 3), 255, np.uint8))
    if not parts:
        return
    image = Image.fromarray(np.concatenate(parts[:-1]))
    path = given.out / file
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}  {image.width} x {image.height}  {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
