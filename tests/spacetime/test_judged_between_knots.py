"""What an optimised motion does between its knots decides its grade; more knots are put where it fails."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.measure.outsider import judge_motion
from counterpoise.spacetime.optimize.judge import judge_candidate
from counterpoise.spacetime.optimize.refine import refined
from counterpoise.spacetime.optimize.tuning import MotionTuning

JUMP = """
character = "human"
duration = 1.5
rate = 12

[moments]
takeoff = { at = 0.6, between = [0.5, 0.7] }
landing = { at = 0.95, between = [0.8, 1.1] }

[[key]]
time = 0.0
rest = true

[[key]]
time = 0.35
pose = "crouch"
soft = 10

[[key]]
time = 1.5
feet = [0.5, 0.0]
rest = true

[[contact]]
part = "feet"
to = "takeoff"

[[contact]]
part = "feet"
from = "landing"

[[wish]]
kind = "torque"

[[wish]]
kind = "apart"
"""


@cache
def coarse() -> cp.Result:
    """A jump with few knots, as it is solved at those."""
    return cp.read_stunt(JUMP).optimize(tuning=MotionTuning(refinements=0))


@cache
def fine() -> cp.Result:
    return cp.read_stunt(JUMP).optimize()


def test_few_knots_are_not_called_solved():
    result = coarse()
    assert result.exact and not result.ok and result.grade != "solved"
    assert result.worst < 1e-6  # at the knots all is right
    kinds = {e.kind for e in result.exceptions}
    assert "physics" in kinds and len(kinds) > 1
    worst = result.exceptions[0]
    assert worst.size > worst.allowed and 0.0 <= worst.time <= 1.5
    assert str(worst) in result.report()


def test_knots_are_added_until_an_outsider_agrees():
    result = fine()
    assert result.grade == "solved" and result.ok and result.exceptions == (), result.report()
    assert coarse().problem.frames.knots < result.problem.frames.knots < 3 * coarse().problem.frames.knots
    judged = judge_motion(result)
    assert judged.flight_force < 0.01 and judged.contact_gap < 0.01 and judged.slip < 2e-3 and judged.sink < 2e-3
    assert judge_motion(coarse()).flight_force > 0.01


def test_more_knots_are_the_same_curve():
    """Refining moves nothing: poses, velocities, accelerations and moments are those of the coarse motion."""
    old = coarse()
    problem, y = refined(old.problem, old.x, judge_candidate(old.problem, old.x).places)
    assert problem.frames.knots > old.problem.frames.knots
    times, again = old.problem.layout.times(old.x), problem.layout.times(y)
    assert np.array_equal(times, again)
    problem.evaluate(y)
    at = problem.frame_times(y)
    inside = np.flatnonzero((problem.frames.s > 0.0) & (problem.frames.s < 1.0))
    there = old.curve.sample(at[inside])
    assert np.abs(problem.evaluation.q[inside] - there.q).max() < 1e-9
    assert np.abs(problem.evaluation.a[inside] - there.a).max() < 1e-5


def test_a_motion_nobody_has_the_strength_for_is_not_solved(human):
    """A torque limit was not asked for; the waist's strength counts all the same, and is named."""
    bent = human.neutral.copy()
    bent[human.joint("waist").qpos] = cp.spatial.exp([0.0, 0.6, 0.0])
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(0.15, bent), cp.Key(0.3, human.neutral, rest=True)]
    feet = [cp.Touch(f, 0.0, 0.3) for f in ("foot_left", "foot_right")]
    result = cp.optimize_motion(human, keys, feet, 0.3, rate=30.0)
    faults = [e for e in result.exceptions if e.kind == "strength"]
    assert not result.ok and any("waist" in str(e) for e in faults), result.report()


def test_an_optional_limit_of_strength_gives_way_with_a_note(human):
    bent = human.neutral.copy()
    bent[human.joint("waist").qpos] = cp.spatial.exp([0.0, 0.6, 0.0])
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(0.15, bent), cp.Key(0.3, human.neutral, rest=True)]
    feet = [cp.Touch(f, 0.0, 0.3) for f in ("foot_left", "foot_right")]
    result = cp.optimize_motion(human, keys, feet, 0.3, rate=30.0, wishes=[cp.TorqueLimit(optional=True)])
    assert result.exact and not result.ok, result.report()
    assert any("no motion within the strength" in note for note in result.notes), result.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["back_flip", "back_flip_tucked", "box_jump", "cartwheel", "cartwheel_lunge", "cartwheel_wrists", "climb",
     "cycle", "dismount", "dive_roll", "front_flip", "handspring", "handstand", "high_jump", "landing", "long_jump",
     "monkey_bars", "one_leg_hop", "one_leg_squat", "running_jump", "sit_and_rise", "standing_jump", "turn_jump",
     "twist_jump", "vault"],
)  # fmt: skip
def test_all_stunts_are_solved_without_exceptions(name):
    result = cp.read_stunt(f"examples/stunts/{name}.toml").optimize()
    assert result.grade == "solved", result.report()
    judged = judge_motion(result)
    assert judged.flight_force < 0.01 and judged.contact_gap < 0.01 and judged.sink < 3e-3, judged.report()
