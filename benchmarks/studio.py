"""How long the studio's server takes from a pointer message to the bytes of a pose.

    uv run python benchmarks/studio.py [--processor]

A hand, the pelvis, the head and a foot are dragged along loops, also out of reach, with pinned feet, balance and
ground. Reading the message and packing the frame are counted. Prints median, 99th percentile and largest time, and the
size of a frame.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from counterpoise.character.snapshot import take_body_poses
from counterpoise.studio import actions
from counterpoise.studio.folder import Folder
from counterpoise.studio.messages import read_command
from counterpoise.studio.open_scene import empty_document
from counterpoise.studio.workshop import Workshop

FRAMES = 400  # of each drag, the first 50 not counted
WARM = 50
REACHES = {
    "hand_left": (0.35, 0.2, 0.45),
    "pelvis": (0.1, 0.1, 0.35),
    "head": (0.2, 0.15, 0.2),
    "foot_right": (0.4, 0.2, 0.5),
}

assert actions


def drags(processor: bool, frames: int = FRAMES) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yields each body, the times of its messages [ms] after the first ones, and the size of a frame [bytes].

    With `processor` they are those of the processor alone, as on a machine that does nothing else.
    """
    clock = time.thread_time if processor else time.perf_counter
    sent: list[bytes] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        shop = Workshop(folder, empty_document(folder), lambda m: sent.append(m) if isinstance(m, bytes) else None)
        for body, reach in REACHES.items():
            start = take_body_poses(shop.character, shop.character.neutral)[shop.character.segments.index(body), :3]
            spent = []
            for k in range(frames):
                u = 2.0 * np.pi * k / 120.0
                target = start + np.array(reach) * (np.sin(u), np.sin(2.0 * u), 0.5 * (1.0 - np.cos(u)))
                text = json.dumps({"type": "drag_body", "seq": k, "body": body, "target": target.tolist()})
                began = clock()
                shop.carry_out(read_command(text))
                spent.append(1e3 * (clock() - began))
            shop.carry_out(read_command('{"type": "release_body", "keep": false}'))
            yield body, np.array(spent[WARM:]), len(sent[-1])


def main() -> None:
    """One line a body that is dragged."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--processor", action="store_true", help="count the processor's time, not the clock's")
    for body, used, size in drags(reader.parse_args().processor):
        print(
            f"{body:12s} median {np.median(used):5.2f} ms   p99 {np.percentile(used, 99):5.2f} ms   "
            f"largest {used.max():5.2f} ms   frame {size} bytes"
        )


if __name__ == "__main__":
    main()
