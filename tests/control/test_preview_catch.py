"""A walk that may look several steps ahead does so after a hard push, and not before."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.walk import walker
from counterpoise.control.walk.foot_goals import _around
from counterpoise.control.walk.preview_catch import LONGEST_SWING, _on_sole
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.steps_ahead import leg_frame
from counterpoise.control.walk.walking_body import walking_body


def test_a_walk_looks_ahead_after_a_hard_push_and_not_before(monkeypatch):
    """The foot goes where the first of three steps has it, and keeps its place shortly before it lands."""
    human = cp.character("human")
    real, seen_plans = walker.preview_step, []

    def spy(m, *rest):
        after, plan = real(m, *rest)
        seen_plans.append((m.time, m.left, after.preview, plan))
        return after, plan

    monkeypatch.setattr(walker, "preview_step", spy)
    push = cp.Push("thorax", (0.0, 600.0, 0.0), start=2.0, duration=0.1)
    tuning = cp.WalkTuning(preview_cost=1.0)
    cp.simulate(human, cp.Walk(speed=1.2, tuning=tuning), 2.4, start=cp.disturbed_start(human, 1), disturbances=[push])
    assert seen_plans and min(time for time, *_ in seen_plans) > 2.0
    planned = [(ahead, plan) for _, _, ahead, plan in seen_plans if ahead is not None]
    assert planned and all(len(ahead.footholds) == 3 for ahead, _ in planned)
    followed = [np.allclose(ahead.footholds[0], plan.foothold) for ahead, plan in planned]
    assert np.mean(followed) > 0.5
    clock = walking_body(human).leg_time
    assert all(plan.left < LONGEST_SWING * clock for _, plan in planned)


@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_a_place_on_the_sole_stays_and_one_beyond_comes_back(yaw):
    human = cp.character("human")
    body, frame = walking_body(human), leg_frame(human, cp.WalkTuning())
    seen = see(human.snapshot(), body)
    seen = seen._replace(yaw=np.array([yaw, yaw]))
    ahead, left = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
    inside = seen.flat[0] + 0.05 * ahead + 0.01 * left
    assert _on_sole(inside, seen, 0, frame) == pytest.approx(inside)
    found = _on_sole(seen.flat[0] + 0.5 * ahead - 0.3 * left, seen, 0, frame) - seen.flat[0]
    assert found @ ahead == pytest.approx(frame.soles[0, 2]) and found @ left == pytest.approx(-frame.soles[0, 3])


def test_a_foot_that_crosses_goes_past_the_other_one_first():
    """From behind on its own side, to a place ahead on the other side: it keeps its side until it is ahead."""
    human = cp.character("human")
    body, tuning = walking_body(human), cp.WalkTuning()
    goal, stance = np.array([0.35, 0.2]), np.zeros(2)
    for x, waits in ((-0.5, True), (-0.1, True), (0.1, True), (0.3, False)):
        found = _around(goal, np.array([x, -0.15]), stance, 0.0, -1.0, 1.0, body, tuning)
        assert found[0] == pytest.approx(0.35)
        assert (found[1] < -0.05) == waits
    behind = _around(np.array([-0.35, 0.2]), np.array([-0.3, -0.15]), stance, 0.0, -1.0, 1.0, body, tuning)
    assert behind == pytest.approx([-0.35, 0.2])
