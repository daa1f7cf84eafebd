"""How a walk begins and ends: within three steps, from weight that was shifted, on feet that lie flat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.experiments.walking import how_it_fell, steps_to_start, steps_to_stop


@pytest.mark.parametrize("seed", [107, 110])  # thrown to one side, and with the capture point behind its place
def test_it_starts_and_stops_within_three_steps(human, seed):
    session = cp.Session(human, cp.Walk(speed=1.2), start=cp.disturbed_start(human, seed), keep=None)
    begun = session.advance(4.0)
    assert steps_to_start(begun, 1.2) <= 3.0
    session.controller = replace(session.controller, speed=0.0)
    ended = session.advance(3.0)
    assert not how_it_fell(ended)
    assert steps_to_stop(ended) <= 3.0


def test_the_first_foot_leaves_when_the_weight_is_shifted_and_ahead(human):
    body, tuning = walking_body(human), cp.WalkTuning()
    for seed in (105, 107, 110):
        session = cp.Session(human, cp.Walk(speed=1.2), start=cp.disturbed_start(human, seed), keep=None)
        shifted = 0.0
        for _ in range(300):
            session.advance(0.005)
            phase = session.memory.phase
            if phase == "shift":
                shifted = session.time
                began = session.memory.began
            if phase == "single":
                break
        assert phase == "single" and not session.memory.catches
        assert shifted - began >= tuning.calm_time * body.leg_time - 0.006


def test_a_chicken_puts_its_feet_flat_before_it_walks():
    chicken = cp.character("chicken")
    body = walking_body(chicken)
    session = cp.Session(chicken, cp.Walk(), start=cp.disturbed_start(chicken, 220), keep=None)
    stood = session.advance(0.4)  # a heel was held to the ground by the posture of its leg
    seen = see(chicken.snapshot(cp.State(stood.qpos[-1], stood.qvel[-1])), body, session.memory.ground)
    assert np.abs(seen.pitch).max() < 0.03 or session.memory.phase == "single"
    walked = session.advance(2.0)
    assert not how_it_fell(walked)
    assert walked.qpos[-1, 0] > 2.5 * body.hips_height


def test_a_start_from_the_air_is_no_fall_to_catch():
    chicken = cp.character("chicken")
    recording = cp.simulate(chicken, cp.Walk(), 2.0, start=cp.disturbed_start(chicken, 14), seed=14)
    assert not how_it_fell(recording)


def test_it_slows_down_to_the_speed_asked_for(human):
    """Steps that still slow down tell nothing about the trim: learnt from them, it walked 15 % too slowly."""
    session = cp.Session(human, cp.Walk(speed=1.2), start=cp.disturbed_start(human, 304), keep=None)
    session.advance(5.0)
    session.controller = replace(session.controller, speed=0.8)
    slowed = session.advance(6.0)
    assert not how_it_fell(slowed)
    assert cp.measure.gait(slowed, slowed.time[0] + 3.0).speed == pytest.approx(0.8, rel=0.05)


def test_a_swing_whose_begin_is_not_seen_has_no_height(human):
    recording = cp.simulate(human, cp.Walk(speed=1.0, height=0.08), 6.0)
    heights = [cp.measure.gait(recording, start).step_height for start in np.arange(3.5, 4.15, 0.1)]
    assert np.ptp(heights) < 0.004
