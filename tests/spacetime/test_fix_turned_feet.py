"""Feet that a capture turned over at the ankle are turned back; all others stay as they are, to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.joints import Joint
from counterpoise.spacetime.fix import fix_motion
from counterpoise.spacetime.fix.turned_feet import TurnedFeetTuning, turned_feet

RATE = 60.0  # [1/s]
FIRST, LAST = 40, 60  # frames in which a foot is turned over


@pytest.fixture(scope="module")
def squat(tmp_path_factory: pytest.TempPathFactory) -> cp.Motion:
    """Squats of a skeleton as captures have it: every joint is a ball."""
    path = tmp_path_factory.mktemp("turned") / "squat.bvh"
    cp.reference_motion("squat", cp.character("human")).write(path, rate=RATE)
    return cp.read_motion(path)


def ankle(motion: cp.Motion) -> Joint:
    return next(j for j in motion.character.joints if j.name == "foot_left")


def turned_over(motion: cp.Motion, first: int = FIRST, last: int = LAST) -> cp.Motion:
    """The motion with the left foot pointing backwards for some frames."""
    joint, poses = ankle(motion), np.array(motion.poses)
    over = spatial.exp(np.array([0.0, 3.0, 0.0]))
    poses[first:last, joint.qpos] = spatial.multiply(poses[first:last, joint.qpos], over)
    return replace(motion, poses=poses)


def largest_turn(motion: cp.Motion, poses: np.ndarray) -> float:
    """How far the ankle is from standing at most [rad]."""
    joint = ankle(motion)
    rest = np.broadcast_to(motion.character.neutral[joint.qpos], poses[:, joint.qpos].shape)
    return float(np.linalg.norm(spatial.difference(rest, poses[:, joint.qpos]), axis=-1).max())


def test_a_foot_that_is_not_turned_over_stays_as_it_is(squat: cp.Motion):
    poses, changed = turned_feet(squat.character, squat.times, squat.poses)
    assert not changed.any()
    np.testing.assert_array_equal(poses, squat.poses)


def test_a_foot_turned_over_is_turned_back_and_nothing_else_changes(squat: cp.Motion):
    broken = turned_over(squat)
    assert largest_turn(broken, np.asarray(broken.poses)) > TurnedFeetTuning().most
    poses, changed = turned_feet(broken.character, broken.times, broken.poses)
    margin = round(TurnedFeetTuning().margin * RATE)
    assert changed[FIRST:LAST].all()
    assert not changed[: FIRST - margin - 1].any()
    assert not changed[LAST + margin + 1 :].any()
    other = np.ones(poses.shape[1], dtype=bool)
    other[ankle(squat).qpos] = False
    np.testing.assert_array_equal(poses[:, other], squat.poses[:, other])
    np.testing.assert_array_equal(poses[~changed], squat.poses[~changed])
    assert largest_turn(broken, poses) <= largest_turn(squat, np.asarray(squat.poses)) + 1e-9


@pytest.mark.parametrize(("first", "last"), [(0, 20), (60, None), (0, None)])
def test_a_foot_turned_over_at_an_end_of_the_clip_or_in_all_of_it(squat: cp.Motion, first: int, last: int | None):
    broken = turned_over(squat, first, len(squat) if last is None else last)
    poses, changed = turned_feet(broken.character, broken.times, broken.poses)
    assert changed.any()
    assert largest_turn(broken, poses) < TurnedFeetTuning().most
    np.testing.assert_allclose(np.linalg.norm(poses[:, ankle(squat).qpos], axis=1), 1.0, atol=1e-9)


def test_fix_says_when_it_turned_a_foot_back(squat: cp.Motion):
    result = fix_motion(turned_over(squat))
    (when,) = result.turned
    assert when.start <= squat.times[FIRST]
    assert when.end >= squat.times[LAST - 1]
    assert "turned over at the ankle" in result.summary
    assert result.to_json()["turned"]
    assert largest_turn(result.motion, np.asarray(result.motion.poses)) < TurnedFeetTuning().most
