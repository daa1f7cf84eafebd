"""Motion: sampling on the manifold and every change that returns a new one."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.errors import BadValue
from counterpoise.motion import Motion

H = 1e-5  # [s]


def dance(name: str = "human", count: int = 40, rate: float = 20.0, seed: int = 0) -> Motion:
    """A smooth, busy motion of every joint, the root turning and travelling."""
    who = character(name)
    rng = np.random.default_rng(seed)
    t = np.arange(count) / rate
    waves = sum(np.sin((k + 1) * t)[:, None] * rng.normal(size=who.nv) * 0.3 / (k + 1) for k in range(5))
    if who.root_dofs.stop == 6:
        waves[:, 5] += 0.8 * t
        waves[:, 0] += 0.5 * t
    return Motion(who, t, who.integrate(who.neutral, waves), name="dance")


def away_from_keys(motion: Motion, count: int = 400) -> np.ndarray:
    t = np.random.default_rng(1).uniform(motion.start + 2 * H, motion.end - 2 * H, count)
    return t[np.abs(t[:, None] - motion.times).min(axis=1) > 2 * H]


def assert_consistent(motion: Motion, t: np.ndarray) -> None:
    here, ahead, behind = motion.sample(t), motion.sample(t + H), motion.sample(t - H)
    v = motion.character.difference(behind.q, ahead.q) / (2 * H)
    np.testing.assert_allclose(here.v, v, atol=1e-6)
    np.testing.assert_allclose(here.a, (ahead.v - behind.v) / (2 * H), atol=1e-6)


def assert_same_poses(motion: Motion, other: Motion, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(motion.times, other.times, atol=1e-12)
    np.testing.assert_allclose(motion.character.difference(motion.poses, other.poses), 0.0, atol=tolerance)


@pytest.mark.parametrize("name", ["human", "planar_biped", "ostrich", "chain"])
def test_velocity_and_acceleration_are_derivatives(name):
    motion = dance(name)
    assert motion.smooth
    assert_consistent(motion, away_from_keys(motion))
    inner = motion.times[1:-1]
    np.testing.assert_allclose(motion.sample(inner).q, motion.poses[1:-1], atol=1e-12)
    jump = motion.sample(inner + 1e-10).a - motion.sample(inner - 1e-10).a
    np.testing.assert_allclose(jump, 0.0, atol=1e-6)


def test_samples_have_the_shape_of_the_times():
    motion = dance()
    nq, nv = motion.character.nq, motion.character.nv
    assert motion.sample(0.5).q.shape == (nq,)
    assert motion.sample([0.5]).v.shape == (1, nv)
    q, _, a = motion.sample(np.full((2, 3), 0.5))
    assert q.shape == (2, 3, nq) and a.shape == (2, 3, nv)
    np.testing.assert_array_equal(q[1, 2], motion.sample(0.5).q)


def test_outside_a_motion_holds_its_end_at_rest():
    motion = dance()
    for t, pose in ((-1.0, motion.poses[0]), (99.0, motion.poses[-1])):
        q, v, a = motion.sample(t)
        np.testing.assert_allclose(q, pose, atol=1e-14)
        assert not v.any() and not a.any()


def test_one_pose_is_a_motion():
    who = character("human")
    still = Motion(who, [1.0], who.neutral[None])
    assert still.duration == 0.0 and still.rate == 0.0 and len(still) == 1
    for t in (0.0, 1.0, 5.0):
        q, v, _ = still.sample(t)
        np.testing.assert_allclose(q, who.neutral, atol=1e-15)
        assert not v.any()


def test_values_stay_still():
    motion = dance()
    with pytest.raises(ValueError, match="read-only"):
        motion.poses[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        motion.times[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        motion.name = "other"
    source = np.array(motion.poses)
    copy = Motion(motion.character, motion.times, source)
    source[:] = 0.0
    assert_same_poses(copy, motion)
    assert "40 frames" in repr(motion)


def test_quaternions_are_greeted():
    motion = dance()
    poses = np.array(motion.poses)
    poses[::2, 3:7] *= -2.5
    greeted = Motion(motion.character, motion.times, poses)
    np.testing.assert_allclose(np.linalg.norm(greeted.poses[:, 3:7], axis=-1), 1.0, atol=1e-15)
    assert np.all(np.sum(greeted.poses[1:, 3:7] * greeted.poses[:-1, 3:7], axis=-1) > 0.0)
    np.testing.assert_allclose(greeted.sample(0.77).v, motion.sample(0.77).v, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, q: (t[:-1], q), "have shape"),
        (lambda t, q: (t, q[:, :-1]), "have shape"),
        (lambda t, q: (t[::-1], q), "must increase; frame 1"),
        (lambda t, q: (np.where(t == t[3], np.nan, t), q), "finite"),
        (lambda t, q: (t, np.where(q == q[2, 1], np.inf, q)), "finite"),
        (lambda t, q: (t, q * 0.0), "length 0"),
        (lambda t, q: ([], q[:0]), "n >= 1"),
        (lambda t, q: ("soon", q), "array of numbers"),
    ],
)
def test_bad_input_is_refused(change, message):
    motion = dance()
    with pytest.raises(BadValue, match=message):
        Motion(motion.character, *change(motion.times, np.array(motion.poses)))


def test_mirror_and_reverse_twice_are_identity():
    motion = dance()
    assert_same_poses(motion.mirrored().mirrored(), motion)
    assert_same_poses(motion.reversed().reversed(), motion)
    np.testing.assert_allclose(motion.reversed().poses[0], motion.poses[-1], atol=1e-15)
    back = motion.reversed().sample(motion.end - 0.7)
    assert np.abs(motion.character.difference(back.q, motion.sample(0.7).q)).max() < 1e-3


def test_mirrored_velocity_is_the_mirror_of_the_velocity():
    motion = dance()
    t = np.linspace(0.1, 1.8, 20)
    expected = motion.character.mirror_velocity(motion.sample(t).v)
    np.testing.assert_allclose(motion.mirrored().sample(t).v, expected, atol=1e-9)


def test_retimed_and_shifted():
    motion = dance()
    fast = motion.retimed(2.0).shifted(3.0)
    assert fast.start == pytest.approx(3.0) and fast.duration == pytest.approx(motion.duration / 2)
    np.testing.assert_allclose(fast.sample(3.4).v, 2.0 * motion.sample(0.8).v, atol=1e-9)
    np.testing.assert_allclose(fast.sample(3.4).a, 4.0 * motion.sample(0.8).a, atol=1e-7)
    with pytest.raises(BadValue, match="reversed"):
        motion.retimed(-1.0)


def test_resampled_follows_the_curve():
    motion = dance()
    fine = motion.resampled(200.0)
    assert fine.rate == pytest.approx(200.0, rel=0.01) and fine.end == motion.end
    t = np.linspace(0.0, motion.end, 333)
    apart = motion.character.difference(fine.sample(t).q, motion.sample(t).q)
    assert np.abs(apart).max() < 1e-5


def test_slices_meet_again():
    motion = dance()
    first, second = motion.slice(0.0, 0.83), motion.slice(0.83, motion.end)
    assert first.end == pytest.approx(0.83) and second.start == pytest.approx(0.83)
    whole = first.concatenated(second)
    assert whole.end == pytest.approx(motion.end)
    t = np.linspace(0.0, motion.end, 200)
    assert np.abs(motion.character.difference(whole.sample(t).q, motion.sample(t).q)).max() < 1e-4
    with pytest.raises(BadValue, match="slice"):
        motion.slice(1.0, 0.5)
    with pytest.raises(BadValue, match="slice"):
        motion.slice(0.0, 99.0)


def test_concatenation_needs_a_meeting_a_gap_or_a_join():
    motion = dance()
    with pytest.raises(BadValue, match="do not meet"):
        motion.concatenated(motion)
    longer = motion.concatenated(motion, gap=0.5, join=True)
    assert longer.duration == pytest.approx(2 * motion.duration + 0.5)
    at = longer.poses[len(motion)]
    np.testing.assert_allclose(at[:2], motion.poses[-1, :2], atol=1e-12)
    facing = spatial.multiply(at[3:7], spatial.conjugate(motion.poses[-1, 3:7]))
    assert spatial.yaw(facing) == pytest.approx(0.0, abs=1e-12)


def test_blend_goes_from_one_to_the_other_smoothly():
    first, second = dance(seed=0), dance(seed=1)
    both = first.blended(second, start=0.8, duration=0.6)
    who = first.character
    assert both.end == pytest.approx(0.8 + second.duration)
    assert np.abs(who.difference(both.sample(0.3).q, first.sample(0.3).q)).max() < 1e-3
    assert np.abs(who.difference(both.sample(1.9).q, second.sample(1.1).q)).max() < 1e-3
    middle = both.sample(1.1).q
    halfway = who.integrate(first.sample(1.1).q, 0.5 * who.difference(first.sample(1.1).q, second.sample(0.3).q))
    assert np.abs(who.difference(middle, halfway)).max() < 2e-3
    assert np.abs(both.sample(both.times).a).max() < 100.0
    with pytest.raises(BadValue, match="blend"):
        first.blended(second, 99.0, 0.5)
    with pytest.raises(BadValue, match="blend"):
        first.blended(second, 0.5, 99.0)


def test_other_bodies_do_not_mix():
    with pytest.raises(BadValue, match=r"'ostrich'.*'human'"):
        dance().concatenated(dance("ostrich"), gap=1.0)


@pytest.mark.parametrize("travel", [False, True])
@pytest.mark.parametrize("name", ["human", "planar_biped"])
def test_loops_wrap_without_a_seam(name, travel):
    motion = dance(name)
    with pytest.raises(BadValue, match="blend"):
        motion.as_loop(travel)
    loop = motion.as_loop(travel, blend=0.8)
    period = loop.duration
    for k in (-1, 0, 1, 3):
        before, after = loop.sample(k * period - 1e-10), loop.sample(k * period + 1e-10)
        np.testing.assert_allclose(loop.character.difference(before.q, after.q), 0.0, atol=1e-7)
        np.testing.assert_allclose(before.v, after.v, atol=1e-6)
        np.testing.assert_allclose(before.a, after.a, atol=1e-4)
    t = away_from_keys(loop, 100)
    for k in (-2, 0, 5):
        assert_consistent(loop, t + k * period)
    if travel:
        assert np.abs((loop.sample(7.5 * period).q - loop.sample(0.5 * period).q)[:2]).max() > 0.1
    else:
        np.testing.assert_allclose(loop.sample(7.5 * period).q, loop.sample(0.5 * period).q, atol=1e-9)
    thrice = loop.looped(3)
    assert len(thrice) == 3 * (len(loop) - 1) + 1 and not thrice.loop
    at = np.linspace(0.5, 2.5, 40) * period
    apart = np.abs(loop.character.difference(thrice.sample(at).q, loop.sample(at).q)).max()
    assert apart < 1e-9
    part = loop.slice(0.6 * period, 2.2 * period)
    apart = np.abs(loop.character.difference(part.sample(1.5 * period).q, loop.sample(1.5 * period).q)).max()
    assert apart < 1e-6


def test_placed_moves_the_floor_not_the_body():
    motion = dance()
    moved = motion.placed((1.0, 2.0), yaw=0.5)
    np.testing.assert_allclose(moved.poses[:, 7:], motion.poses[:, 7:])
    np.testing.assert_allclose(moved.sample(0.7).v[3:], motion.sample(0.7).v[3:], atol=1e-9)
    speed = np.linalg.norm(motion.sample(0.7).v[:3])
    assert np.linalg.norm(moved.sample(0.7).v[:3]) == pytest.approx(speed)


def test_sampling_one_moment_reads_only_the_frames_near_it():
    motion = dance(count=6000, rate=60.0)
    motion.sample(1.0)
    tracemalloc.start()
    try:
        motion.sample(1.2345)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 0.02 * motion.poses.nbytes  # nothing as long as the motion is made on the way
