"""Runs from many walks: a long story."""

from __future__ import annotations

import math

import pytest

import counterpoise as cp
from counterpoise.control.run.run import Running

STARTS = 20
SECONDS = 30.0


def run_after_walk(human, controller, seconds, seed):
    """Returns a run that takes over from a walk, at a moment that the seed chooses, and when it began [s]."""
    session = cp.Session(human, cp.Walk(speed=1.6), start=cp.disturbed_start(human, 100 + seed), keep=None)
    session.advance(5.5 + 0.053 * seed)
    while session._run.drivers[0].memory.phase != "single":
        session.advance(0.002)
    start = session.time
    session.controller = controller
    session.advance(seconds)
    return session.recordings[-1], start


def is_up(recording) -> bool:
    return "fallen" not in {str(p) for p in recording.notes["phase"]}


@pytest.mark.slow
@pytest.mark.parametrize("speed", [2.0, 2.5, 3.0, 3.5])
def test_runs_of_half_a_minute(human, speed):
    good = 0
    for seed in range(STARTS):
        recording, start = run_after_walk(human, Running(speed=speed), SECONDS, seed)
        if is_up(recording):
            found = cp.measure.gait(recording, start + 8.0)
            good += abs(found.speed / speed - 1.0) <= 0.1 and 0.2 <= found.flight <= 0.45
    assert good >= STARTS - 1


@pytest.mark.slow
def test_a_quarter_turn_in_two_seconds_and_a_half(human):
    recording, _ = run_after_walk(
        human, Running(speed=2.5, heading=lambda t: 0.0 if t < 10.0 else 0.5 * math.pi), 8.0, 7
    )
    way = cp.measure.com(recording)[-1] - cp.measure.com(recording)[-660]
    assert is_up(recording)
    assert math.atan2(way[1], way[0]) == pytest.approx(0.5 * math.pi, abs=0.2)
