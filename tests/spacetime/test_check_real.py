"""Real motion is called possible, broken copies of it are not: a quick part of `benchmarks/check.py`, and its rules."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.spacetime.check import CheckTuning, check_motion
from counterpoise.spacetime.check.frames import frames_of_motion
from counterpoise.spacetime.check.support import OTHER_PART, find_support

ROOT = Path(__file__).resolve().parents[2]
MOCAP = ROOT.parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="no captured clips beside the project")
ANY_MOTION = ("floated", "second half floated", "second half mirrored", "noise")  # kinds that break every motion


@cache
def benchmark(name: str) -> ModuleType:
    """A file of `benchmarks`, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def clip(name: str) -> cp.Motion:
    return cp.read_motion(MOCAP / name, skip_rest_frame=True)


def broken(kind: str, motion: cp.Motion) -> cp.Motion:
    return benchmark("broken_copies").COPIES[kind](motion)


@needs_clips
@pytest.mark.parametrize("name", ["08_10.bvh", "16_05.bvh", "35_17.bvh", "69_22.bvh", "49_06.bvh"])
def test_a_real_motion_is_possible(name: str):
    report = check_motion(clip(name))
    assert report.possible, report.verdict


@needs_clips
@pytest.mark.parametrize("name", ["08_10.bvh", "35_17.bvh"])
@pytest.mark.parametrize("kind", [*ANY_MOTION, "frozen root"])
def test_a_broken_copy_is_not(kind: str, name: str):
    report = check_motion(broken(kind, clip(name)))
    assert not report.possible, report.verdict


@needs_clips
@pytest.mark.parametrize("kind", ["2x fast", "2x slow"])
def test_a_jump_at_the_wrong_speed_is_not(kind: str):
    report = check_motion(broken(kind, clip("16_05.bvh")))
    assert not report.possible and not report.finding("flight").ok
    assert "2.0 times too " + kind[3:] in report.verdict, report.verdict


@needs_clips
def test_feet_that_slide_are_a_matter_of_cleanness():
    report = check_motion(broken("feet slid", clip("69_22.bvh")))
    assert report.possible and not report.clean and not report.finding("skate").ok


@pytest.mark.parametrize("kind", ["floated", "second half floated"])
def test_a_made_motion_that_floats_is_impossible(kind: str):
    squat = cp.reference_motion("squat", cp.character("human"))
    assert check_motion(squat).possible and check_motion(squat).clean
    assert not check_motion(broken(kind, squat)).possible


# -- a clip judged by the others ------------------------------------------------------------------------------------
def test_the_rule_of_the_limits():
    check = benchmark("check")
    captures = [{name: float(k) for name in check.CALIBRATED} for k in range(101)]
    limits = check.limits_from(captures)
    assert limits["force"] == pytest.approx(check.SAFETY["force"] * 100.0 * check.QUANTILE)
    assert check.beyond({"force": limits["force"] + 1.0, "carried": 0.1}, limits) == ["carried", "force"]
    assert check.beyond({"force": limits["force"]}, limits) == []


# -- what may press ---------------------------------------------------------------------------------------------------
def test_nothing_presses_from_deep_below_the_ground():
    squat = cp.reference_motion("squat", cp.character("human"))
    poses = np.array(squat.poses)
    poses[:, 2] -= 0.5
    report = check_motion(cp.Motion(squat.character, squat.times, poses))
    assert not report.possible, report.verdict


def rolling_ball(slips: bool) -> cp.Motion:
    """A ball of 0.2 m radius that rolls along x at 1.5 m/s, or slides without turning."""
    text = """<mujoco><worldbody><body name="ball" pos="0 0 0.2"><freejoint/><geom size="0.2" mass="5"/></body>
    </worldbody></mujoco>"""
    body = cp.Character.from_mjcf(text)
    times = np.linspace(0.0, 1.0, 121)
    poses = np.tile(body.neutral, (len(times), 1))
    poses[:, 0] = 1.5 * times
    angle = np.zeros_like(times) if slips else 1.5 * times / 0.2
    poses[:, 2] = 0.2
    poses[:, 3:7] = np.stack([np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle], axis=1)
    return cp.Motion(body, times, poses)


@pytest.mark.parametrize("slips", [False, True])
def test_a_ball_that_rolls_touches_the_ground_at_rest(slips: bool):
    motion = rolling_ball(slips)
    frames = frames_of_motion(motion, CheckTuning().smooth)
    support = find_support(motion, frames, None, (), CheckTuning())
    ball = support.foot == OTHER_PART
    assert ball.sum() == 1
    assert np.allclose(support.speeds[5:-5, ball], 1.5 if slips else 0.0, atol=0.02)


# -- size -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("height", "doubted"), [(0.24, True), (0.9, False), (1.75, False), (2.3, False), (3.0, True)])
def test_a_size_that_no_person_has_is_doubted_aloud(height: float, doubted: bool, tmp_path: Path):
    human = cp.character("human")
    cp.reference_motion("squat", human).write(tmp_path / "squat.bvh")
    read = cp.read_motion(tmp_path / "squat.bvh", units="m")
    read = cp.read_motion(tmp_path / "squat.bvh", units=height / read.character.height)
    report = check_motion(read)
    assert report.height == pytest.approx(height, rel=0.03)  # a skeleton's height depends a little on its units
    assert ("--units" in report.verdict) == doubted, report.verdict
    assert f"{report.height:.2f} m tall, {report.mass:.3g} kg" in report.verdict
