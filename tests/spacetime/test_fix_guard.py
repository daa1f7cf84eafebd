"""A fix is never worse than its input; feet that all slide at one velocity are brought to rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from counterpoise.arrays import Array
from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion
from counterpoise.spacetime.check import CheckReport, check_motion
from counterpoise.spacetime.fix import FixTuning, fix_motion, fixing
from counterpoise.spacetime.fix.guard import never_worse, worse_findings
from counterpoise.spacetime.fix.slide import find_slide

RATE = 120.0  # [1/s]


@lru_cache
def squat(seconds: float = 1.6) -> Motion:
    motion = reference_motion("squat", character("human"))
    times = np.arange(0.0, seconds, 1.0 / RATE)
    return replace(motion, times=times, poses=motion.sample(motion.start + times).q, loop=False, travel=False)


@lru_cache
def checked(spoilt: bool = False) -> CheckReport:
    return check_motion(replace(squat(), poses=spoilt_poses()) if spoilt else squat())


def spoilt_poses() -> Array:
    """The squat, 30 cm higher for a moment: it leaps, and its feet float."""
    poses = np.array(squat().poses)
    poses[84:104, 2] += 0.3
    return poses


def slid(speed: float) -> Motion:
    """The squat on a ground that slides away under its feet, obliquely."""
    poses = np.array(squat().poses)
    poses[:, :2] += speed * np.array([0.8, -0.6]) * squat().times[:, None]
    return replace(squat(), poses=poses)


def judge(poses: Array) -> Iterator[CheckReport]:
    yield check_motion(replace(squat(), poses=poses))


def test_what_is_worse_is_named():
    assert "leap" in worse_findings(checked(), checked(spoilt=True))
    assert worse_findings(checked(), checked()) == worse_findings(checked(spoilt=True), checked()) == []


def test_a_worse_stretch_is_given_back_and_the_rest_is_kept():
    fixed = spoilt_poses()
    fixed[:, 2] += 0.004  # the whole fix is raised: what is given back is raised with it
    before = (checked(),)
    kept = never_worse(squat(), fixed, 0.004, judge, before, tuple(judge(fixed)))
    assert kept.back[84:104].all() and 20 <= kept.back.sum() < 0.5 * len(kept.back)
    assert "leap" in kept.why and not any(worse_findings(*pair) for pair in zip(before, kept.reports, strict=True))
    height = kept.poses[:, 2] - squat().poses[:, 2]
    np.testing.assert_allclose(height[kept.back], height[93], atol=1e-9)
    assert height[93] == pytest.approx(0.004, abs=1e-9)
    far = np.abs(squat().times - squat().times[93]) > 0.6
    np.testing.assert_allclose(kept.poses[far], fixed[far], atol=1e-9)


def test_where_no_part_can_be_kept_all_is_given_back():
    rng = np.random.default_rng(0)
    fixed = np.array(squat().poses)
    fixed[:, :3] += 0.02 * rng.standard_normal((len(fixed), 3))
    kept = never_worse(squat(), fixed, 0.0, judge, (checked(),), tuple(judge(fixed)))
    assert kept.back.all()
    np.testing.assert_allclose(kept.poses, squat().poses, rtol=0.0, atol=1e-12)


def test_a_fix_that_went_wrong_is_not_handed_out(monkeypatch: pytest.MonkeyPatch):
    """Where the last step of a fix breaks the motion, the input comes back, and the summary says so."""

    def broken(character, times, poses, ground):
        poses = np.array(poses)
        poses[84:104, 2] += 0.3
        return poses

    monkeypatch.setattr(fixing, "settle_feet", broken)
    result = fix_motion(squat())
    assert result.given_back and "leap" in result.worse
    assert any(s.start <= squat().times[92] <= s.end for s in result.given_back)
    assert not worse_findings(result.before, result.after)
    assert "given back as it was" in result.summary and "leaps" in result.summary
    as_json = result.to_json()
    assert as_json["given_back"] and as_json["worse"] == list(result.worse)


def test_feet_that_all_slide_are_brought_to_rest():
    speed, motion = 0.2, slid(0.2)
    result = fix_motion(motion)
    assert result.slide == pytest.approx((0.8 * speed, -0.6 * speed), abs=0.01)
    assert result.before.finding("skate").value > 90.0 * speed  # [cm/s]
    assert result.after.finding("skate").value < 0.5 and not result.given_back
    assert result.change < 0.02  # beside the slide
    np.testing.assert_allclose(result.motion.poses[:, :2], squat().poses[:, :2], atol=0.03)
    assert "brought to rest" in result.summary and result.to_json()["slide"] == list(result.slide)


def test_feet_that_stand_do_not_slide():
    load = np.ones(len(squat()))
    for motion in (squat(), slid(0.03), slid(0.8)):  # too slow, which is planted foot by foot; too fast, which is meant
        found = find_slide(motion.character, motion.times, motion.poses, load, FixTuning())
        np.testing.assert_array_equal(found, 0.0)
    off = FixTuning(plant_reach=0.0)
    np.testing.assert_array_equal(find_slide(squat().character, squat().times, slid(0.2).poses, load, off), 0.0)
    np.testing.assert_array_equal(fix_motion(squat()).slide, 0.0)


def test_one_sliding_step_is_not_taken_for_a_sliding_world():
    """Feet that slide for a third of the time only."""
    poses = np.array(squat().poses)
    third = len(poses) // 3
    poses[third : 2 * third, 0] += 0.2 * (squat().times[third : 2 * third] - squat().times[third])
    poses[2 * third :, 0] += 0.2 * (squat().times[2 * third] - squat().times[third])
    found = find_slide(squat().character, squat().times, poses, np.ones(len(poses)), FixTuning())
    np.testing.assert_array_equal(found, 0.0)
