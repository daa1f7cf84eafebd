"""The playing speed of a motion, as its flights show it."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.spacetime.fix import at_true_speed, playing_speed

RATE = 120.0  # [1/s]


def throws(human: cp.Character, *speeds: float) -> cp.Motion:
    """Returns stiff hops of 0.5 s between times of standing, each played at a speed of its own."""
    heights = [np.zeros(40)]
    for speed in speeds:
        t = np.arange(0.0, 0.5, speed / RATE)
        heights += [0.5 * human.gravity * t * (0.5 - t), np.zeros(40)]
    height = np.concatenate(heights)
    poses = np.repeat(human.neutral[None], len(height), axis=0)
    poses[:, 2] += height
    return cp.Motion(human, np.arange(len(height)) / RATE, poses)


@pytest.mark.parametrize("speed, found", [(1.0, 1.0), (0.5, 0.5), (2.0 / 3.0, 2.0 / 3.0), (1.5, 1.5)])
def test_a_throw_shows_how_fast_it_is_played(human: cp.Character, speed: float, found: float):
    shown = playing_speed(cp.check_motion(throws(human, speed)))
    assert shown.speed == pytest.approx(found) and shown.wrong == (found != 1.0) == bool(shown.words)
    assert shown.flights == 1


def test_at_its_true_speed_it_falls_as_it_should(human: cp.Character):
    slow = throws(human, 0.5)
    shown = playing_speed(cp.check_motion(slow))
    true = at_true_speed(slow, shown)
    assert true.duration == pytest.approx(0.5 * slow.duration, rel=0.02) and true.rate == pytest.approx(RATE, rel=0.02)
    assert cp.check_motion(true).flights[0].gravity == pytest.approx(human.gravity, rel=0.03)
    assert "2 times too slowly" in shown.words


def test_flights_that_differ_show_nothing(human: cp.Character):
    shown = playing_speed(cp.check_motion(throws(human, 0.5, 1.0)))
    assert shown.speed == 1.0 and "different speeds" in shown.words and shown.flights == 2


def test_a_motion_on_the_ground_shows_nothing(human: cp.Character):
    squat = cp.reference_motion("squat", human).slice(0.0, 1.0)
    shown = playing_speed(cp.check_motion(squat))
    assert shown == (1.0, 0, "") and at_true_speed(squat, shown) is squat
