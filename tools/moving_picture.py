"""Draws the README's moving picture: the demo's last act as a small GIF.

uv run python tools/moving_picture.py
"""

from __future__ import annotations

from pathlib import Path

import counterpoise as cp
from counterpoise.experiments.demo_locomotion import go_about, go_words

PATH = Path(__file__).resolve().parents[1] / "docs" / "images" / "locomotion.gif"
SIZE, FPS = (400, 260), 12.5  # pixels, pictures a second
MOST_BYTES = 3_000_000


def main() -> None:
    """Simulates the act and writes the picture."""
    recording = go_about()
    print(go_words(recording))
    cp.video(recording, PATH, size=SIZE, fps=FPS, azimuth=-62.0, elevation=8.0, camera="track", samples=4)
    size = PATH.stat().st_size
    print(f"{PATH.name}: {size / 1e6:.2f} MB")
    assert size < MOST_BYTES, f"{PATH.name} is larger than {MOST_BYTES / 1e6:g} MB: draw it smaller"


if __name__ == "__main__":
    main()
