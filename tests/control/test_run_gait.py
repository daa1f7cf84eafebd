"""Running: it takes over from a walk, runs at the speed asked for, turns, reports a fall, and names bad wishes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.run.run import Running
from counterpoise.control.run.run_plan import run_shape
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError

WALKED = 5.0  # [s] before it runs


@pytest.fixture(scope="module")
def ran(human) -> cp.Recording:
    """A walk of 1.6 m/s, then a run of 2.2 m/s for four seconds."""
    session = cp.Session(human, cp.Walk(speed=1.6), start=cp.disturbed_start(human, 3), keep=None)
    session.advance(WALKED)
    while session._run.drivers[0].memory.phase != "single":
        session.advance(0.002)
    session.controller = Running(speed=2.2)
    session.advance(4.0)
    return session.recordings[-1]


def test_a_run_takes_over_from_a_walk(ran):
    phases = [str(p) for p in ran.notes["phase"]]
    assert "fallen" not in phases and {"stance", "flight"} <= set(phases)
    assert {str(s) for s in ran.notes["status"]} == {"solved"}
    found = cp.measure.gait(ran, ran.time[-1] - 1.6)
    assert found.speed == pytest.approx(2.2, rel=0.1)
    assert found.double_support < 0.01 and 0.2 <= found.flight <= 0.45
    assert 0.3 < found.step_time < 0.42 and found.step_width < 0.15
    assert found.arm_leg < -0.7


def test_a_run_obeys_the_laws_and_replays(ran, human):
    assert (np.abs(ran.torques()) <= human.torque_limit + 1e-9).all()
    assert cp.replay(ran).exact
    assert cp.measure.penetration(ran).max() < 0.03


def test_the_heading_is_kept(ran):
    way = cp.measure.com(ran)[-1] - cp.measure.com(ran)[ran.row_at(WALKED + 1.0)]
    assert abs(math.degrees(math.atan2(way[1], way[0]))) < 3.0


def test_a_fall_is_reported_and_goes_limp(human):
    recording = cp.simulate(human, Running(), 2.0)  # it cannot start from standing
    assert str(recording.notes["phase"][-1]) == "fallen"
    causes = [str(c) for c in recording.notes["cause"] if isinstance(c, str) and c]
    assert "hips" in causes[0] and " s" in causes[0]
    assert np.isfinite(recording.qpos).all()


def test_steps_are_those_of_people(human):
    body = walking_body(human)
    for speed in (2.0, 2.5, 3.0, 3.5, 4.0):
        shape = run_shape(speed, 0.0, human, RunTuning())
        whole = shape.stance + shape.flight
        assert 2.5 < 1.0 / whole < 3.4 and 0.2 <= shape.flight / whole <= 0.45
        assert 0.9 * body.hips_height < shape.landing < shape.takeoff < 1.1 * body.com_height
    slow, fast = (run_shape(v, 0.0, human, RunTuning()) for v in (2.0, 4.0))
    assert fast.stance < slow.stance and fast.landing < slow.landing
    far, near = (run_shape(2.5, ahead, human, RunTuning()) for ahead in (0.4, 0.1))
    assert far.highest < near.highest  # a foot that lands far ahead lands lower


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Running(speed=float("nan")), "speed"),
        (lambda: Running(heading="left"), "heading"),
        (lambda: Running(rate=0.0), "rate"),
        (lambda: Running(speed=9.0).begin(cp.character("human")), "runs at"),
        (lambda: Running().begin(cp.character("chain")), "left and a right foot"),
        (lambda: replace(RunTuning(), flight=float("inf")), "flight"),
    ],
)
def test_bad_wishes_are_named(make, words):
    with pytest.raises(CounterpoiseError, match=words):
        make()
