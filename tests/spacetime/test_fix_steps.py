"""Between two stances of a foot nothing slides: they become one, or there is a step that is lifted off the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterpoise.arrays import Array, Flags
from counterpoise.character.library import character
from counterpoise.motion import reference_motion
from counterpoise.motion.contacts import ContactWindow, runs
from counterpoise.spacetime.fix import FixTuning
from counterpoise.spacetime.fix.feet import plan_ground
from counterpoise.spacetime.fix.steps import STEP_HEIGHT, join_or_step

RATE = 100.0  # [1/s]
TIMES = np.arange(0.0, 1.0, 1.0 / RATE)
REACH = 0.03  # [m]


def foot(apart: float, gap: int = 4) -> tuple[Flags, Array]:
    """A foot that stands, moves by `apart` [m] within some frames, and stands again."""
    stands = np.ones(len(TIMES), dtype=bool)
    stands[50 : 50 + gap] = False
    place = np.zeros((len(TIMES), 3))
    place[:, 0] = apart * np.clip((np.arange(len(TIMES)) - 49) / (gap + 1), 0.0, 1.0)
    return stands, place


def joined(apart: float, low: bool = True, gap: int = 4) -> Flags:
    stands, place = foot(apart, gap)
    heel, ball = join_or_step(TIMES, stands, stands, np.full(len(TIMES), low), place, REACH, FixTuning())
    np.testing.assert_array_equal(heel, ball)
    return heel


def test_two_stances_that_one_place_would_do_for_become_one():
    assert joined(0.02).all()


def test_two_stances_that_are_far_apart_leave_time_for_a_step():
    (first, end), (begin, last) = runs(joined(0.2))
    assert (first, last) == (0, len(TIMES))
    assert (begin - end) / RATE == pytest.approx(FixTuning().step_time, abs=0.011)


def test_a_foot_that_rises_between_them_stays_as_it_is():
    np.testing.assert_array_equal(joined(0.02, low=False), foot(0.02)[0])
    np.testing.assert_array_equal(joined(0.2, low=False), foot(0.2)[0])


def test_a_long_gap_is_a_swing():
    np.testing.assert_array_equal(joined(0.02, gap=40), foot(0.02, 40)[0])


def test_only_the_part_that_stands_on_both_sides_is_held_between_them():
    stands, place = foot(0.01)
    heel = stands.copy()
    heel[54:] = False  # it stands on its ball afterwards
    heel, ball = join_or_step(TIMES, heel, stands, np.ones(len(TIMES), dtype=bool), place, REACH, FixTuning())
    assert ball.all() and not heel[50:].any()


def test_a_step_is_lifted_off_the_ground_and_a_stance_is_not():
    body = character("human")
    motion = reference_motion("squat", body)
    still = np.repeat(motion.sample(motion.start).q[None], len(TIMES), axis=0)
    moved = still.copy()
    moved[:, 0] += foot(0.06, 15)[1][:, 0]
    windows = [
        ContactWindow(f"foot_{side}", part, *span)
        for side in ("left", "right") for part in ("heel", "ball") for span in ((0.0, 0.49), (0.65, 0.99))
    ]  # fmt: skip
    plan = plan_ground(body, TIMES, replace(motion, times=TIMES, poses=moved, loop=False).poses, windows, 0.0)
    height = plan.places[:, : plan.sole_points, 2].min(axis=1)
    assert height[55:60].max() > 0.9 * STEP_HEIGHT * 0.8  # for legs of 0.9 m; those of the body are a little shorter
    np.testing.assert_allclose(height[:50], 0.0, atol=1e-9)
    np.testing.assert_allclose(height[65:], 0.0, atol=1e-9)
