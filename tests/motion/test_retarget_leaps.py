"""Retargeted joints do not leap, no part sinks into the ground, and hands that rest on it stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.character.shapes import spheres_of
from counterpoise.motion.retarget.body_contacts import find_body_contacts
from counterpoise.motion.retarget.leaps import better_of_two, joint_speeds, led_over, turning_joints
from counterpoise.motion.retarget.mapping import pair

SHARED = Path(__file__).resolve().parents[3] / "shared"
FIGURES = ("human", "child", "ostrich", "chicken", "insectoid", "g1")
LIMIT = 12.0  # [rad/s]

needs_clips = pytest.mark.skipif(not (SHARED / "mocap").is_dir(), reason="the captured clips are not on this machine")


def depth(motion: cp.Motion) -> float:
    """How deep any shape but those of the soles is in the ground [m]."""
    character = motion.character
    soles = {character.body_id(p.body) for f in character.feet for p in f.points}
    at, turns = body_frames(character, motion.poses)
    s = spheres_of(character)
    used = ~np.isin(s.bodies, list(soles))
    z = (at[:, s.bodies] + spatial.rotate(turns[:, s.bodies], s.places))[:, used, 2] - s.radii[used]
    return float(-z.min())


@pytest.fixture(scope="module")
def swinging(human) -> tuple[np.ndarray, np.ndarray]:
    """Times and poses of a calm movement of one knee and one shoulder."""
    times = np.linspace(0.0, 1.0, 101)
    poses = np.tile(human.neutral, (101, 1))
    poses[:, human.joint("knee_left").qpos] = (0.5 + 0.4 * np.sin(3.0 * times))[:, None]
    turn = np.stack([0.0 * times, -0.5 * times, 0.0 * times], axis=1)
    poses[:, human.joint("shoulder_left").qpos] = spatial.exp(turn)
    return times, poses


def test_a_leap_is_led_over_in_the_time_it_needs(human, swinging):
    times, calm = swinging
    poses, ends = calm.copy(), np.array([0, len(times)])
    poses[50:, human.joint("knee_left").qpos] += 0.9
    poses[30:32, human.joint("shoulder_left").qpos] = spatial.exp([0.0, 0.0, 1.4])  # away and back
    assert joint_speeds(human, poses, times).max() > 5 * LIMIT
    made, spans = led_over(human, poses, times, ends, LIMIT)
    assert joint_speeds(human, made, times).max() <= LIMIT
    touched = np.zeros(len(times), bool)
    for span in spans:
        touched[span] = True
    assert 0.05 < touched.mean() < 0.5 and np.array_equal(made[~touched], poses[~touched])
    still = [j for j in turning_joints(human) if j.name not in ("knee_left", "shoulder_left")]
    assert all(np.array_equal(made[:, j.qpos], poses[:, j.qpos]) for j in still)


def test_where_a_clip_is_cut_nothing_is_led_over(human, swinging):
    times, calm = swinging
    poses = calm.copy()
    poses[50:, human.joint("knee_left").qpos] += 0.9
    made, spans = led_over(human, poses, times, np.array([0, 50, len(times)]), LIMIT)
    assert spans == [] and np.array_equal(made, poses)


def test_of_two_fits_the_better_is_taken_and_not_both_by_turns(human, swinging):
    """Forwards the knee is wrong at the start, backwards at the end: the best of both changes once, without a leap."""
    times, calm = swinging
    knee = human.joint("knee_left").qpos
    forwards, backwards = calm.copy(), calm.copy()
    forwards[:20, knee] += 1.0
    backwards[70:, knee] += 1.0
    errors = tuple(np.abs(fit[:, knee] - calm[:, knee])[:, 0] ** 2 for fit in (forwards, backwards))
    found = better_of_two(human, forwards, backwards, errors, times, np.array([0, len(times)]), LIMIT)
    assert np.array_equal(found, calm)


def test_hands_stay_above_the_ground(human):
    """A deep bend with hanging arms on a figure with longer arms: its hands would be in the ground."""
    times = np.linspace(0.0, 1.0, 41)
    share = np.sin(np.pi * times)
    poses = np.tile(human.neutral, (len(times), 1))
    for name, angle in (("waist", 0.9), ("spine", 0.5), ("hip_left", -1.6), ("hip_right", -1.6)):
        poses[:, human.joint(name).qpos] = spatial.exp(share[:, None] * [0.0, angle, 0.0])
    for side in ("left", "right"):
        poses[:, human.joint(f"knee_{side}").qpos] = (1.9 * share)[:, None]
        poses[:, human.joint(f"shoulder_{side}").qpos] = spatial.exp(share[:, None] * [0.0, -1.1, 0.0])
    poses[:, 2] -= 0.45 * share
    source = cp.Motion(human, times, poses)
    assert depth(source) > 0.02  # the source's own hands are
    assert depth(cp.retarget(source, human)) < 3e-3
    assert depth(cp.retarget(source, cp.character("child"))) < 3e-3


def test_hands_that_rest_are_found_in_runs(human):
    """One hand is low and still twice with a short gap, then low and fast: one contact."""
    at = anatomy_of(human)
    times = np.linspace(0.0, 2.0, 241)
    places = np.tile(at.places, (len(times), 1, 1))
    hand = human.body_id("hand_left")
    low = (times > 0.5) & (times < 1.2) & ~((times > 0.8) & (times < 0.81))
    places[low, hand, 2] = 0.03
    places[times > 1.6, hand, 2] = 0.03
    places[times > 1.6, hand, 0] += 3.0 * (times[times > 1.6] - 1.6)
    found = find_body_contacts(pair(at, at, None, "rest"), places, times, np.array([0, len(times)]), 0.0)
    assert [c.part for c in found] == ["hand_left"]
    assert times[found[0].first] == pytest.approx(0.53, abs=0.05) and times[found[0].last] == pytest.approx(
        1.18, abs=0.05
    )


@needs_clips
def test_rising_from_the_ground_does_not_leap():
    """The legs once snapped at 145 rad/s in the first frames, and a thigh was 17 cm in the ground."""
    source = cp.read_motion(SHARED / "mocap" / "139_16.bvh", skip_rest_frame=True).slice(0.01, 1.5)
    made = cp.retarget(source, cp.character("human"))
    assert joint_speeds(made.character, made.poses, made.times).max() < 50.0
    assert depth(made) < 0.03


@pytest.mark.slow
@needs_clips
@pytest.mark.parametrize("name", FIGURES)
def test_no_joint_is_faster_than_three_times_the_source(name):
    """All clips; the measure is that of benchmarks/retarget_speeds.py."""
    import importlib.util

    path = Path(__file__).resolve().parents[2] / "benchmarks" / "retarget_speeds.py"
    spec = importlib.util.spec_from_file_location("retarget_speeds", path)
    assert spec is not None and spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    file = SHARED / "models" / f"{name}.xml"
    character = cp.load_character(file) if file.is_file() else cp.character(name)
    for clip in sorted((SHARED / "mocap").glob("*.bvh")):
        source = cp.read_motion(clip, skip_rest_frame=True)
        made = cp.retarget(source, character)
        speeds = bench.joint_speeds(made)[0]
        speeds[(bench.joint_speeds(source)[0] > bench.LEAP).mean(axis=1) > bench.CUT_SHARE] = 0.0
        assert speeds.max() <= bench.FACTOR * bench.fastest(source) + bench.PLUS, clip.stem
        assert bench.deepest(made)[0] < 0.03, clip.stem
