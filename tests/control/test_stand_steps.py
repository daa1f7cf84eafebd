"""`Stand(step=True)`: it steps where it cannot stay in place, and goes on with its reference from there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.feet import points_of_feet
from counterpoise.control.reference_shaping import STEP, feet_put
from counterpoise.control.stand_steps import FOOT_STAYS, _steps_back, next_stance
from counterpoise.control.standing_body import standing_body
from counterpoise.control.walk.catching_steps import can_begin, facing

HARD = cp.Push("thorax", (0.0, 450.0, 0.0), 0.3, 0.1)  # no body of 73 kg stays in place


def stages(rec: cp.Recording) -> list[str]:
    found = rec.notes["stage"].tolist()
    return [stage for k, stage in enumerate(found) if k == 0 or found[k - 1] != stage]


@pytest.fixture(scope="module")
def pushed(human: cp.Character) -> cp.Recording:
    return cp.simulate(human, cp.Stand(step=True), 4.5, disturbances=[HARD])


def test_in_place_that_push_is_a_fall(human: cp.Character):
    assert cp.measure.fell(cp.simulate(human, cp.Stand(), 2.5, disturbances=[HARD])).fell


def test_it_steps_and_stands_as_before(human: cp.Character, pushed: cp.Recording):
    assert not cp.measure.fell(pushed).fell
    found = stages(pushed)
    assert found[:3] == ["stand", "step", "return"] and found[-1] == "stand"
    assert pushed.notes["steps"].max() >= 1.0
    end = human.snapshot(human.state(pushed.qpos[-1], pushed.qvel[-1]))
    assert float(np.linalg.norm(end.momentum[3:])) / human.mass < 0.03
    assert float(np.hypot(*(pushed.qpos[-1] - pushed.qpos[0])[:2])) > 0.1  # it is elsewhere
    assert float(np.abs(human.difference(human.neutral, pushed.qpos[-1])[6:]).max()) < np.radians(6.0)


def test_its_feet_are_as_the_reference_has_them(human: cp.Character, pushed: cp.Recording):
    now, rest = (human.snapshot(human.state(q)) for q in (pushed.qpos[-1], human.neutral))
    yaw = facing(now) - facing(rest)
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    wanted = rest.contact_position[:, :2] @ turn.T
    off = now.contact_position[:, :2] - wanted
    assert float(np.abs(off - off.mean(axis=0)).max()) < 0.03


def test_a_push_that_it_takes_in_place_makes_no_step(human: cp.Character):
    light = cp.Push("thorax", (120.0, 0.0, 0.0), 0.2, 0.1)
    place, steps = (cp.simulate(human, cp.Stand(step=step), 0.8, disturbances=[light]) for step in (False, True))
    assert steps.notes["steps"].max() == 0.0
    assert np.array_equal(place.qpos, steps.qpos)


def test_a_motion_goes_on_after_the_steps(human: cp.Character):
    squat = cp.reference_motion("squat", human)
    stand = cp.Stand(reference=squat, step=True)
    push = cp.Push("thorax", (0.0, 450.0, 0.0), 0.5, 0.1)
    rec = cp.simulate(human, stand, squat.duration + 4.0, start=stand.ready(human), disturbances=[push])
    assert not cp.measure.fell(rec).fell
    assert rec.notes["steps"].max() >= 1.0
    clock = rec.notes["clock"].astype(float)
    assert clock[-1] > squat.end
    assert {"step", "return"} <= set(stages(rec))
    last = human.difference(rec.qpos[-1], squat.sample(squat.end).q)[6:]
    assert float(np.abs(last).max()) < np.radians(8.0)


def test_a_motion_goes_on_where_it_stands_on_both_feet(human: cp.Character):
    kick = cp.reference_motion("front_kick", human)
    rehearsal = cp.Stand(reference=kick).rehearsed(human)
    lifted = np.array([bool(rehearsal.patterns[k].lifted) for k in rehearsal.pattern])
    assert lifted.any() and not lifted.all()
    middle = kick.start + STEP * float(np.flatnonzero(lifted).mean())
    found = next_stance(rehearsal, middle)
    assert found > middle
    assert not rehearsal.patterns[rehearsal.pattern[rehearsal.row_of(found)]].lifted
    assert next_stance(rehearsal, found) == found


def test_a_rehearsed_motion_is_moved_as_a_whole(human: cp.Character):
    squat = cp.reference_motion("squat", human)
    rehearsal = cp.Stand(reference=squat).rehearsed(human)
    moved = rehearsal.placed((0.5, -0.2), 0.7)
    a, b = rehearsal.at(0.6), moved.at(0.6)
    turn = np.array([[np.cos(0.7), -np.sin(0.7), 0.0], [np.sin(0.7), np.cos(0.7), 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(b.com, turn @ a.com + (0.5, -0.2, 0.0), atol=1e-9)
    assert np.allclose(b.com_velocity, turn @ a.com_velocity, atol=1e-9)
    assert np.allclose(b.points, a.points @ turn.T + (0.5, -0.2, 0.0), atol=1e-6)
    there = human.snapshot(human.state(b.q, b.v))
    assert np.allclose(there.momentum[3:] / human.mass, b.com_velocity, atol=0.02)


def test_feet_go_back_one_after_the_other(human: cp.Character):
    here = human.snapshot().contact_position
    there = here + (0.2, -0.1, 0.0)
    times, places = _steps_back(human, here, there, standing_body(human).height)
    assert np.allclose(places[0], here) and np.allclose(places[-1], there)
    feet = [points_of_feet(human, (foot.name,)) for foot in human.feet]
    up = np.stack([places[:, own, 2].min(axis=1) > here[own, 2].min() + 1e-6 for own in feet], axis=1)
    assert up.any(axis=0).all() and not up.all(axis=1).any()
    assert np.allclose(np.diff(times), STEP)


def test_feet_that_are_near_their_places_make_no_step(human: cp.Character):
    here, height = human.snapshot().contact_position, standing_body(human).height
    _, places = _steps_back(human, here, here + (0.5 * FOOT_STAYS * height, 0.0, 0.0), height)
    assert np.allclose(places[:, :, 2], here[:, 2])


def test_feet_are_put_in_their_places(human: cp.Character):
    here = human.snapshot().contact_position
    own = points_of_feet(human, (human.feet[0].name,))
    goal = here.copy()
    goal[own] += (0.1, 0.02, 0.03)
    made = feet_put(human, human.neutral[None], goal[None])[0]
    assert float(np.abs(human.snapshot(human.state(made)).contact_position - goal).max()) < 2e-3


def test_bodies_without_two_legs_say_so():
    human = cp.character("human")
    one_leg = dataclasses.replace(human, roles=dataclasses.replace(human.roles, feet=human.feet[:1]))
    cp.Stand().begin(one_leg)
    with pytest.raises(cp.CounterpoiseError, match="left and a right foot"):
        cp.Stand(step=True).begin(one_leg)


def test_a_body_that_is_nearly_on_the_ground_does_not_begin_to_step(human: cp.Character):
    low = human.neutral.copy()
    low[2], low[3:7] = 0.2, (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)  # it lies on its front
    assert can_begin(human.snapshot()) and not can_begin(human.snapshot(human.state(low)))
