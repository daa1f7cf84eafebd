"""What something unseen carries: found in bodies that hang, sit or stand on steps, and in none that stands or flies."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue
from counterpoise.spacetime.check import CheckTuning, HeldBody, check_motion
from counterpoise.spacetime.fix import fix_motion
from counterpoise.spacetime.fix.unseen import unseen_holds

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")
CHECKS = CheckTuning().without_doubt()


@lru_cache
def squat() -> cp.Motion:
    motion = cp.reference_motion("squat", cp.character("human"))
    times = np.arange(motion.start, motion.start + 1.5, 1.0 / 120.0)
    return replace(motion, times=times, poses=motion.sample(times).q, loop=False, travel=False)


def raised(motion: cp.Motion, height: float) -> cp.Motion:
    poses = np.array(motion.poses)
    poses[:, 2] += height
    return replace(motion, poses=poses)


def test_who_stands_on_the_ground_is_held_by_nothing():
    assert unseen_holds(squat(), None, 0.0, CHECKS) == ()


def test_who_flies_is_held_by_nothing():
    motion, t = squat(), squat().times
    poses = np.repeat(motion.poses[:1], len(t), axis=0)
    poses[:, 2] += 2.0 + 4.0 * t - 0.5 * motion.character.gravity * t**2 + 8.0
    assert unseen_holds(replace(motion, poses=poses), None, 0.0, CHECKS) == ()


def test_a_squat_on_something_high_is_held_by_its_feet_and_becomes_possible():
    high = raised(squat(), 0.6)
    found = unseen_holds(high, None, 0.0, CHECKS)
    assert {hold.body for hold in found} == {foot.body for foot in high.character.feet}
    assert all(hold == HeldBody(hold.body) for hold in found)  # all the time
    result = fix_motion(high, holds="find")
    assert result.holds == found and "Held by something that is not shown: foot_" in result.summary
    assert not check_motion(high).possible and check_motion(result.motion, holds=result.holds).possible
    assert result.to_json()["holds"][0]["body"] == found[0].body


def test_without_being_asked_it_finds_nothing():
    assert fix_motion(raised(squat(), 0.6)).holds == ()


def test_a_word_that_is_no_hold_is_refused():
    with pytest.raises(BadValue, match="'find'"):
        fix_motion(squat(), holds="hand_left")  # type: ignore[arg-type]


@needs_clips
@pytest.mark.parametrize(("name", "start", "end", "body"), [("111_10", 0.0, 1.0, "Hips"), ("43_02", 3.0, 4.2, "Hand")])
def test_a_chair_and_a_bar_are_found(name: str, start: float, end: float, body: str):
    motion = cp.read_motion(MOCAP / f"{name}.bvh", skip_rest_frame=True, start=start, end=end)
    found = unseen_holds(motion, None, 0.0, CHECKS)
    assert found and all(body in hold.body for hold in found)
