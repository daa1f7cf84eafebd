"""Captured clips, start to end: none falls, the errors are small, the torques calm. The bars are those of the docs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("standing_clips", ROOT / "benchmarks" / "standing_clips.py")
assert SPEC is not None and SPEC.loader is not None
CLIPS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CLIPS)
HARD = "high front kicks and steps"  # followed, but late

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CLIPS.MOCAP.exists(), reason="needs the clips of ../shared/mocap"),
]


@pytest.mark.parametrize("clip", CLIPS.WINDOWS, ids=lambda c: c[3])
def test_a_clip_is_followed_to_its_end(clip: tuple[str, int, int, str], human: cp.Character):
    file, first, last, what = clip
    figures = CLIPS.follow(human, CLIPS.window(human, file, first, last))
    assert np.isnan(figures["fall"])
    assert figures["median"] < 5.0
    assert figures["behind"] < (0.5 if what != HARD else 1.5)
    assert figures["chatter"] < (0.1 if what != HARD else 0.13)


def test_pushed_clips_rarely_fall(human: cp.Character):
    falls = []
    for number, (file, first, last, what) in enumerate(CLIPS.WINDOWS):
        motion = CLIPS.window(human, file, first, last)
        x, y = CLIPS.DIRECTIONS[number % 4]
        push = cp.Push("thorax", (150.0 * x, 150.0 * y, 0.0), 0.5 * motion.duration, 0.1)
        if not np.isnan(CLIPS.follow(human, motion, push)["fall"]):
            falls.append(what)
    assert len(falls) <= 2, falls
