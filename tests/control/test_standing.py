"""Stories: figures stand under WholeBody, take a push, follow a squat, ride a moving floor."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import measure
from counterpoise.features import ComPosition


def standing(com, reference=None) -> list[list[cp.Objective]]:
    return [
        [cp.Contact(), cp.JointStops()],
        [cp.Setpoint(ComPosition(), com, stiffness=60.0, limit=7.0)],
        [cp.Momentum("angular", gain=20.0, weight=20.0), cp.TrackPose(reference, stiffness=200.0)],
    ]


def test_a_human_takes_a_push_and_stays_up(human):
    controller = cp.WholeBody(standing(human.snapshot().com))
    rec = cp.simulate(human, controller, 2.5, disturbances=[cp.Push("thorax", (150, 0, 0), 0.3, 0.1)])
    found = measure.summary(rec)
    assert not found.fall.fell and max(found.slip.values()) < 0.01 and found.clamped == 0
    assert np.linalg.norm(measure.com(rec)[-1] - measure.com(rec)[0]) < 0.01 and np.abs(rec.qvel[-1]).max() < 0.1
    assert set(rec.notes["status"]) == {"solved"}
    assert {"residual contact", "residual centre of mass", "residual posture", "limits"} <= set(rec.notes)
    assert rec.notes["residual centre of mass"].max() < 1e-3
    assert (np.abs(rec.torques()) <= human.torque_limit).all() and (rec.torques()[:, :6] == 0.0).all()


def test_the_same_run_gives_the_same_bytes(human):
    runs = [cp.simulate(human, cp.WholeBody(standing(human.snapshot().com)), 0.2) for _ in range(2)]
    assert runs[0].fingerprint() == runs[1].fingerprint()
    assert cp.replay(runs[0]).final_error == 0.0


def test_a_squat_is_followed(human):
    squat = cp.reference_motion("squat", human)
    rec = cp.simulate(human, cp.WholeBody(standing(cp.along(ComPosition(), squat), squat)), squat.duration)
    assert not measure.summary(rec).fall.fell
    error = np.abs(human.difference(rec.positions(), squat.sample(rec.time).q))[:, 6:].max(axis=1)
    assert np.degrees(np.median(error)) < 2.0 and np.degrees(error.max()) < 5.0
    assert measure.com(rec)[:, 2].min() < 0.85 * measure.com(rec)[0, 2]  # it really went down


@pytest.mark.parametrize("name", ["chicken", "ostrich", "insectoid"])
def test_other_bodies_stand_and_take_a_push_for_their_size(name: str):
    character = cp.character(name)
    push = cp.Push("thorax", (1.2 * character.mass, 0, 0), 0.2, 0.1)  # 0.12 m/s for the whole body
    rec = cp.simulate(character, cp.WholeBody(standing(character.snapshot().com)), 1.5, disturbances=[push])
    found = measure.summary(rec)
    assert not found.fall.fell and max(found.slip.values()) < 0.01 * character.height
    assert set(rec.notes["status"]) == {"solved"}


def test_a_human_rides_a_moving_floor(human):
    floor = cp.Platform(x=(cp.Sine(0.05, 0.5),), pitch=(cp.Sine(0.04, 0.8),), z=(cp.Sine(0.03, 0.7),))
    ground, com = cp.moving_surface(floor.pose), human.snapshot().com

    def levels(snapshot: cp.Snapshot, time: float, memory: object) -> list[list[cp.Objective]]:
        here = ground(time)
        over = cp.Setpoint(
            ComPosition(), com + here.origin, here.velocity, here.acceleration, stiffness=60.0, limit=7.0
        )
        first, _, last = standing(com)
        return [first, [over], last]

    rec = cp.simulate(human, cp.WholeBody(levels, cp.Footing(ground)), 2.0, world=cp.World(platform=floor))
    assert not measure.summary(rec).fall.fell and set(rec.notes["status"]) == {"solved"}
    assert max(measure.summary(rec).slip.values()) < 0.02


def test_a_hand_is_raised_to_a_target_on_time_and_the_figure_stands(human):
    """A function of levels with a memory of its own: the target appears at 0.3 s and is due at 0.9 s."""
    from counterpoise.features import PointPosition

    hand = PointPosition(human.hands[0])
    goal = hand.value(human.snapshot()) + np.array([0.25, 0.0, 0.35])

    def levels(snapshot: cp.Snapshot, time: float, ticks: int | None):
        first, com, last = standing(human.snapshot().com)
        reach: list[cp.Objective] = []
        if 0.3 <= time < 0.9:
            reach = [cp.Target(hand, goal, time=0.9, limit=60.0, name="hand")]
        elif time >= 0.9:
            reach = [cp.Setpoint(hand, goal, name="hand")]
        return [first, com, *([reach] if reach else []), last], (ticks or 0) + 1

    rec = cp.simulate(human, cp.WholeBody(levels, tuning=cp.WholeBodyTuning(fade=0.05)), 1.3)
    after = human.snapshot(rec.state(rec.row_at(0.95)))
    assert np.linalg.norm(hand.value(after) - goal) < 0.02
    assert np.linalg.norm(after.velocity(human.hands[0])) < 0.5
    assert not measure.summary(rec).fall.fell
