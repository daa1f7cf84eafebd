"""A fixed file judged by an outsider: read back, differentiated anew, MuJoCo's inverse dynamics, SciPy's cones."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from counterpoise.character.kinematics import body_frames
from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.check import check_motion
from counterpoise.spacetime.fix import FixResult, FixTuning, fix_motion

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")


def _outsider() -> ModuleType:
    """The outsider of the benchmarks: one measure for both."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "fix_outsider.py"
    spec = importlib.util.spec_from_file_location("fix_outsider", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fix_outsider"] = module
    spec.loader.exec_module(module)
    return module


outsider = _outsider()
rms = outsider.rms


def from_nowhere(motion: Motion, floor: float = 0.0) -> np.ndarray:
    """What level ground cannot give of the wrench MuJoCo says a frame needs [body weights]."""
    return np.asarray(outsider.judged(motion, floor).nowhere)


@lru_cache
def slid() -> Motion:
    """A squat that slides, floats and is thrown to and fro."""
    squat = reference_motion("squat", character("human"))
    times = np.arange(0.0, 1.2, 1.0 / 120.0)
    poses = np.array(squat.sample(times).q)
    poses[:, 0] += 0.02 * np.sin(2.0 * times)
    poses[:, 1] += 0.01 * np.sin(2.0 * np.pi * 3.0 * times)
    poses[:, 2] += 0.01
    return Motion(squat.character, times, poses, name="slid")


def written(result: FixResult, folder: Path) -> Motion:
    """The fixed motion as another program finds it: in a file."""
    result.motion.write(folder / "fixed.bvh")
    return read_motion(folder / "fixed.bvh")


def test_an_outsider_finds_less_from_nowhere_in_the_file(tmp_path: Path):
    result = fix_motion(slid())
    assert rms(from_nowhere(result.motion)) < 0.2 * rms(from_nowhere(slid(), 0.01))  # whose ground is 1 cm up
    back = written(result, tmp_path)
    assert len(back) == len(slid()) and back.rate == pytest.approx(120.0)
    at, again = (body_frames(m.character, m.poses)[0] for m in (result.motion, back))
    names = [back.character.model.body(b).name for b in range(1, back.character.model.nbody)]
    for name in ("head", "hand_left", "foot_right"):
        one = at[:, result.motion.character.body_id(name)]
        np.testing.assert_allclose(again[:, 1 + names.index(name)], one, atol=1e-4)


@needs_clips
@pytest.mark.parametrize(("name", "start", "end", "cut"), [("02_01", 0.9, 1.9, 0.2), ("16_01", 0.6, 2.0, 0.45)])
def test_the_gains_survive_the_file(name: str, start: float, end: float, cut: float, tmp_path: Path):
    motion = read_motion(MOCAP / f"{name}.bvh", skip_rest_frame=True, start=start, end=end)
    motion = replace(motion, times=motion.times - motion.start)  # as a file counts
    result = fix_motion(motion)
    back = written(result, tmp_path)
    assert len(back) == len(motion) and back.rate == pytest.approx(motion.rate)
    assert [j.name for j in back.character.joints] == [j.name for j in motion.character.joints]
    same, anew = check_motion(back, contacts=result.contacts), check_motion(back)
    for report in (same, anew):
        assert report.finding("skate").value < 1.0 and report.finding("penetration").value < 0.2
        assert report.violation < 0.1 * result.before.violation
    assert same.violation == pytest.approx(result.after.violation, rel=0.1, abs=1e-4)
    was = from_nowhere(motion, outsider.floor_of(motion))
    assert rms(from_nowhere(back)) < cut * rms(was)  # read with another smoothing, by another judge


@needs_clips
def test_the_borders_of_windows_are_no_rougher_than_the_rest():
    """Accelerations and jerks of all joints within 50 ms of a border, beside those elsewhere, as before the fix."""
    motion = read_motion(MOCAP / "02_05.bvh", skip_rest_frame=True, start=1.0, end=2.4)
    result = fix_motion(motion, tuning=FixTuning(window=0.27, overlap=0.27))
    borders = [window.end for window in result.windows[:-1]]
    assert len(borders) >= 3
    near = np.min([np.abs(motion.times - border) for border in borders], axis=0) < 0.05
    for order in (2, 3):
        rough = []
        for one in (motion, result.motion):
            places = body_frames(one.character, one.poses)[0][:, 1:]
            size = np.sqrt(np.mean(np.sum(np.diff(places, n=order, axis=0) ** 2, axis=-1), axis=1))
            at = near[: len(size)]
            rough.append(rms(size[at]) / rms(size[~at]))
        assert rough[1] < 1.25 * max(rough[0], 1.0)


@needs_clips
def test_a_foot_that_creeps_is_planted():
    """A foot that is down for a moment of a run, too fast to be found standing, as a person would see it."""
    motion = read_motion(MOCAP / "16_57.bvh", skip_rest_frame=True)
    planted, left = fix_motion(motion), fix_motion(motion, tuning=FixTuning(plant_reach=0.0))
    assert outsider.judged(left.motion).skate > 0.02
    seen = outsider.judged(planted.motion)
    assert seen.skate < 0.01 and rms(seen.nowhere) < 0.02 and planted.change < 0.03
