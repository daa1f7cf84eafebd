"""A sense of posture: where nothing else is asked a body is upright and at ease; feet may roll over their toes."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize.program import MotionProgram

FEET = ("foot_left", "foot_right")


def hop(human: cp.Character, posture: float) -> cp.Result:
    """A hop of which only the feet's places are asked; the poses at both ends are free."""
    keys = [cp.Key(0.0, human.neutral, soft=1.0, rest=True), cp.Key(1.0, human.neutral, soft=1.0, rest=True)]
    feet = [cp.Touch(FEET[0], 0.0, 0.4), cp.Touch(FEET[0], 0.65, 1.0)]
    return cp.optimize_motion(human, keys, feet, 1.0, rate=20.0, taste=cp.Taste(posture=posture))


def test_a_body_with_posture_stays_nearer_to_its_neutral_pose(human):
    """Mean square of joint angles from the neutral pose, and tilt of the trunk, over the whole hop."""

    def away(result: cp.Result) -> tuple[float, float]:
        assert result.exact, result.report()
        q = result.motion.poses
        joints = np.array([human.difference(human.neutral, pose)[6:] for pose in q])
        up = cp.spatial.rotate(q[:, 3:7], np.array([0.0, 0.0, 1.0]))[:, 2]
        return float((joints**2).mean()), float(np.arccos(np.clip(up, -1.0, 1.0)).mean())

    without, with_posture = away(hop(human, 0.0)), away(hop(human, 300.0))
    assert with_posture[0] < 0.8 * without[0]
    assert with_posture[1] < np.radians(15.0)


def test_the_cost_of_posture_has_its_gradient(human):
    keys = [cp.Key(0.0, human.neutral), cp.Key(0.6, human.neutral)]
    problem = cp.build_motion_problem(human, keys, [], 0.6, rate=12.0, taste=cp.Taste(posture=50.0))
    MotionProgram(problem)
    rng = np.random.default_rng(1)
    x = problem.start + 0.05 * rng.normal(size=problem.variables)
    d = rng.normal(size=problem.variables)

    def value(y: np.ndarray) -> float:
        problem.evaluate(y)
        return problem.cost.value(problem.evaluation, y)

    numeric = (value(x + 1e-6 * d) - value(x - 1e-6 * d)) / 2e-6
    problem.evaluate(x)
    slope = np.empty(problem.variables)
    problem.cost.gradient(problem.evaluation, x, slope)
    assert numeric == pytest.approx(float(slope @ d), rel=1e-5)


def test_upside_down_nobody_is_drawn_upright(human):
    over = human.neutral.copy()
    over[3:7] = cp.spatial.multiply(cp.spatial.exp([0.0, np.pi, 0.0]), over[3:7])
    for pose, drawn in ((human.neutral, True), (over, False)):
        problem = cp.build_motion_problem(human, [cp.Key(0.0, pose), cp.Key(0.5, pose)], [], 0.5, rate=10.0)
        assert bool(problem.cost.near[:, 3:6].max() > 1.0) is drawn


def test_a_foot_that_rolls_is_flat_and_then_on_its_toes(human):
    leave = cp.Moment(0.6, 0.5, 0.7, name="leave")
    touches = [cp.Touch(f, 0.0, leave, roll=0.12) for f in FEET]
    problem = cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], touches, 1.0, rate=15.0)
    assert [h.touch.how for h in problem.holds] == ["flat", "toe"] * 2
    assert len(problem.timeline.phases) == 3 and len(problem.timeline.free) == 2  # both feet roll at one free moment
    stays = cp.build_motion_problem(
        human, [cp.Key(0.0, human.neutral)], [cp.Touch(f, 0.0, 1.0, roll=0.1) for f in FEET], 1.0, rate=15.0
    )
    assert [h.touch.how for h in stays.holds] == ["flat"] * 2
    with pytest.raises(BadValue, match="only a flat foot"):
        cp.Touch(FEET[0], 0.0, 0.5, "toe", roll=0.1)


def test_feet_roll_by_themselves_off_the_ground_and_onto_it(human):
    def hows(posture: float = 100.0, **told: float) -> list[str]:
        contacts = [cp.Touch(FEET[0], 0.0, 0.6, **told), cp.Touch(FEET[0], 1.0, 1.6, **told)]
        taste = cp.Taste(posture=posture)
        problem = cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], contacts, 1.6, rate=12.0, taste=taste)
        assert problem.basis.rolls_by_itself is (posture > 0.0 and not told)
        return [h.touch.how for h in problem.holds]

    assert hows() == ["flat", "toe", "toe", "flat"]
    assert hows(roll=0.0, land=0.0) == hows(posture=0.0) == ["flat", "flat"]


def test_a_contact_cut_by_a_roll_has_no_middle_at_its_seam(human):
    """Told to roll or rolling by itself: one contact in two parts. Two contacts given one by one are two."""

    def middles(*contacts: cp.Touch) -> list[int]:
        problem = cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], contacts, 1.2, rate=12.0)
        assert [h.touch.how for h in problem.holds] == ["flat", "toe"]
        return [len(own) for own in problem.basis.half_knots]

    told, by_itself = middles(cp.Touch(FEET[0], 0.0, 0.6, roll=0.15)), middles(cp.Touch(FEET[0], 0.0, 0.6))
    given = middles(cp.Touch(FEET[0], 0.0, 0.45, roll=0.0), cp.Touch(FEET[0], 0.45, 0.6, how="toe"))
    assert told == by_itself
    assert sum(given) == sum(told) + 1  # the toes' own middle where they begin


def test_a_foot_that_steps_while_the_other_stands_comes_down_flat(human):
    contacts = [cp.Touch(FEET[0], 0.0, 1.6), cp.Touch(FEET[1], 0.0, 0.5), cp.Touch(FEET[1], 0.9, 1.6)]
    problem = cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], contacts, 1.6, rate=12.0)
    assert [h.touch.how for h in problem.holds] == ["flat", "flat", "toe", "flat"]


def test_a_roll_begins_where_contacts_change_anyway(human):
    """A cut 2 cs beside another change of contacts would leave a phase with no time in it."""
    contacts = [cp.Touch(FEET[0], 0.0, 0.62), cp.Touch(FEET[1], 0.0, 0.45), cp.Touch(FEET[1], 1.0, 1.6)]
    problem = cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], contacts, 1.6, rate=12.0)
    assert problem.timeline.times == pytest.approx([0.0, 0.3, 0.45, 0.62, 1.0, 1.08, 1.6])


def test_a_jump_leaves_from_its_toes_and_lands_on_them(human):
    end = human.neutral.copy()
    end[0] += 0.3
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.5, end, rest=True)]
    contacts = [cp.Touch(f, a, b) for f in FEET for a, b in ((0.0, 0.6), (0.9, 1.5))]
    result = cp.optimize_motion(human, keys, contacts, 1.5, rate=20.0)
    assert result.exact and not result.notes, result.report()
    toe, knee = human.joint("toe_left").dofs, human.joint("knee_left").dofs
    for t, bent in ((0.6, 20.0), (0.9, 5.0)):
        turned = np.degrees(human.difference(human.neutral, result.sample(t).q))
        assert turned[toe][0] > bent and turned[knee][0] < 50.0


def test_the_first_guess_travels_and_rises_in_flight(human):
    end = human.neutral.copy()
    end[0] += 0.8
    contacts = [cp.Touch(f, a, b) for f in FEET for a, b in ((0.0, 0.6), (1.0, 1.6))]
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.6, end, rest=True)]

    def root(t: float, **how) -> np.ndarray:
        problem = cp.build_motion_problem(human, keys, contacts, 1.6, rate=12.0, **how)
        return problem.guess.sample(t).q[:3] - human.neutral[:3]

    assert root(0.6)[0] == pytest.approx(0.0, abs=1e-9) and root(1.0)[0] == pytest.approx(0.8)
    assert root(0.8) == pytest.approx([0.4, 0.0, human.gravity * 0.4**2 / 8.0])
    assert root(0.6, taste=cp.Taste(posture=0.0))[0] > 0.1  # only interpolated


def test_a_key_at_rest_beside_what_carries_it_is_noted(human):
    keys = [cp.Key(0.0, human.neutral, rest=True)]
    both = [cp.Touch(f, 0.0, 0.5) for f in FEET]
    assert cp.build_motion_problem(human, keys, both, 0.5, rate=12.0).notes == ()
    (note,) = cp.build_motion_problem(human, keys, both[:1], 0.5, rate=12.0).notes
    assert "key 0 s is at rest" in note and "foot_left" in note and "cm beside what carries it" in note
