"""The demo, short and whole."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PIL import Image

from counterpoise.experiments import run_demo
from counterpoise.simulate import Recording


def check_folder(folder: Path, seconds: float) -> None:
    assert sorted(p.name for p in folder.iterdir()) == ["demo.mp4", "filmstrip.png", "recording.npz"]
    recording = Recording.load(folder / "recording.npz")
    assert recording.duration == pytest.approx(seconds) and len(recording.figures) == 7
    picture = Image.open(folder / "filmstrip.png").convert("L")
    assert picture.width > 1000 and picture.getextrema()[1] - picture.getextrema()[0] > 100


def test_a_short_demo_leaves_its_three_files(tmp_path: Path):
    stages: dict[str, float] = {}
    result = run_demo(tmp_path / "demo", lambda stage, share: stages.__setitem__(stage, share), seconds=0.1)
    check_folder(tmp_path / "demo", 0.1)
    assert result.replay_error == 0.0 and len(result.facts) == 7
    assert all(share == pytest.approx(1.0) for share in stages.values()) and len(stages) == 3


@pytest.mark.slow
def test_the_whole_demo_piles_the_cast_up(tmp_path: Path):
    began = time.perf_counter()
    result = run_demo(tmp_path / "demo")
    print(f"demo took {time.perf_counter() - began:.0f} s")
    check_folder(tmp_path / "demo", 4.0)
    recording = result.recording
    assert all(recording.positions(i)[-1, 2] < 1.0 for i in range(7))  # all lie down
    assert abs(recording.qvel[-1]).max() < 5.0
