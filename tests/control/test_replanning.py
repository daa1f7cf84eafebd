"""The rest of a flight planned again: what is foreseen, and how a tuck changes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.perform import PerformTuning, PlannedMotion, plan_of_result
from counterpoise.control.perform.progress import PlanProgress
from counterpoise.control.perform.replanning import AirPlan, find_tuck, flight_poses, landing_error, plan_rest, tucked

FLIGHT = 1


@pytest.fixture(scope="module")
def plan() -> PlannedMotion:
    return plan_of_result(cp.with_reserve(cp.read_stunt("examples/stunts/standing_jump.toml")).optimize())


def in_flight(plan: PlannedMotion, share: float, spin: float = 1.0) -> tuple[PlanProgress, cp.Snapshot]:
    """Returns the progress and the body at a share of the flight, its angular momentum times `spin`."""
    clock = float(plan.ends[FLIGHT] + share * (plan.ends[FLIGHT + 1] - plan.ends[FLIGHT]))
    goal, body = plan.at(clock, FLIGHT), plan.character
    v = goal.v.copy()
    A = body.snapshot(body.state(goal.q, v)).momentum_matrix[:3]
    v[3:6] += np.linalg.solve(A[:, 3:6], (spin - 1.0) * goal.spin[0])
    return PlanProgress(time=clock, clock=clock, phase=FLIGHT), body.snapshot(body.state(goal.q, v))


def test_a_flight_as_planned_lands_as_planned(plan: PlannedMotion):
    for share in (0.1, 0.5):
        now, body = in_flight(plan, share)
        assert abs(landing_error(0.0, plan, now, body)) < 0.02  # [rad]
        assert find_tuck(0.0, plan, now, body, PerformTuning())[0] == 0.0


def test_the_turn_is_foreseen_as_physics_has_it(plan: PlannedMotion):
    """Half of the spin more turns the body by half of the turn that the spin gives: the rest is the joints' own."""
    now, _ = in_flight(plan, 0.1)
    foreseen = [landing_error(0.0, plan, now, in_flight(plan, 0.1, spin)[1]) for spin in (1.0, 1.5, 2.0)]
    assert foreseen[0] < foreseen[1] < foreseen[2]
    assert foreseen[2] - foreseen[1] == pytest.approx(foreseen[1] - foreseen[0], rel=0.1)


def test_a_tuck_moves_joints_between_take_off_and_landing_only(plan: PlannedMotion):
    start, end = plan.ends[FLIGHT : FLIGHT + 2]
    for clock in (start, end):
        goal = plan.at(clock, FLIGHT)
        assert np.allclose(tucked(goal, 0.7, plan, clock, FLIGHT).q, goal.q, atol=1e-12)
    clock = 0.5 * (start + end)
    goal, landing = plan.at(clock, FLIGHT), flight_poses(plan, FLIGHT).landing
    moved = tucked(goal, -1.0, plan, clock, FLIGHT)
    assert np.allclose(moved.q[7:], landing[7:], atol=1e-9) and np.array_equal(moved.q[:7], goal.q[:7])


def test_the_velocity_of_a_tucked_path_is_its_slope(plan: PlannedMotion):
    body, step = plan.character, 1e-5
    clock = float(plan.ends[FLIGHT] + 0.3 * (plan.ends[FLIGHT + 1] - plan.ends[FLIGHT]))
    near = [tucked(plan.at(c, FLIGHT), 0.5, plan, c, FLIGHT) for c in (clock - step, clock, clock + step)]
    slope = body.difference(near[0].q, near[2].q) / (2.0 * step)
    assert np.allclose(near[1].v[6:], slope[6:], atol=0.25)  # ball joints far from their goal turn a little otherwise


def test_a_flight_that_hardly_turns_is_left_to_the_feet(plan: PlannedMotion):
    now, body = in_flight(plan, 0.2, spin=3.0)
    assert flight_poses(plan, FLIGHT).turn < PerformTuning().replan_turn
    assert plan_rest(AirPlan(), plan, now, body, PerformTuning()) == AirPlan()
    eager = replace(PerformTuning(), replan_turn=0.0)
    assert plan_rest(AirPlan(), plan, now, body, eager).phase == FLIGHT
