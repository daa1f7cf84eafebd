"""The rows of a tick are the same by one kernel and objective by objective."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control import WholeBodyTuning, solve_whole_body, whole_body
from counterpoise.features import BodyOrientation, ComPosition, Height, PointPosition, PositionFromCom, RelativePosition
from counterpoise.objectives import Clearance, Footing
from counterpoise.objectives.tick_rows import sort_tick

FAST = WholeBodyTuning(path="fast")


def levels_of(character: cp.Character, reference: cp.Snapshot | None, extra: list[cp.Objective]):
    com = np.array([0.02, 0.01, character.snapshot().com[2] - 0.05])
    usual = [
        cp.Setpoint(ComPosition(), com, stiffness=40.0, limit=5.0, axes="xy", weight=900.0, name="balance"),
        cp.Setpoint(ComPosition(), com, np.array([0.0, 0.0, 0.1]), axes="z", weight=100.0, name="height"),
        cp.Momentum("angular", gain=20.0, weight=0.5),
        cp.Momentum("angular", value=(0.3,), rate=(0.1,), axes="z", weight=7.0, name="turning"),
        cp.Setpoint(BodyOrientation(character.segments[-1]), (0.8, 0.0, 0.6, 0.0), weight=2.0),
        cp.Setpoint(PositionFromCom(character.segments[-1]), (0.1, 0.2, -0.3), limit=30.0, weight=2.0),
        cp.Setpoint(Height(character.root), 0.8, weight=2.0),
        cp.RelaxedJoints((character.joints[-1].name,), weight=0.3),
        cp.TrackPose(stiffness=150.0, root_weight=1e-3),
        cp.JointStops(weight=3.0),
        Clearance(reference=reference, moved=(0.01, 0.0, 0.02), margin=0.1, weight=5.0),
    ]
    return (cp.Contact(),), (*usual, *extra)


@pytest.mark.parametrize("body", ["human", "chicken"])
def test_one_kernel_and_single_objectives_give_the_same_torques(body: str, monkeypatch: pytest.MonkeyPatch):
    character = cp.character(body)
    rng = np.random.default_rng(2)
    hand = cp.Setpoint(RelativePosition(character.segments[-1], character.root), (0.3, 0.1, 0.5), weight=4.0)
    memory, held = None, 0
    for k in range(12):
        q = character.integrate(character.neutral, (0.02 + 0.03 * k) * rng.standard_normal(character.nv))
        q[character.joints[0].qpos] = character.neutral[character.joints[0].qpos]
        v = 0.3 * k * rng.standard_normal(character.nv)
        snapshot = character.snapshot(character.state(q, v, 0.002 * k))
        levels = levels_of(character, character.snapshot() if k % 2 else None, [hand] if k % 3 == 0 else [])
        whole = solve_whole_body(snapshot, levels, Footing(), FAST, memory)
        with monkeypatch.context() as patch:
            patch.setattr(whole_body, "solve_tick", lambda *_: None)
            single = solve_whole_body(snapshot, levels, Footing(), FAST, memory)
        assert np.array_equal(whole.torque, single.torque)
        assert np.array_equal(whole.acceleration, single.acceleration)
        assert whole.residuals == single.residuals and whole.stops == single.stops and whole.work == single.work
        assert whole.limits == single.limits and whole.known_limits is not None and single.known_limits is None
        memory, held = whole.memory, held + len(whole.stops)
    assert held > 0  # one-sided rows were among them


def test_levels_of_another_kind_are_written_objective_by_objective(human: cp.Character):
    here = human.snapshot()
    pose, com = cp.TrackPose(), cp.Setpoint(ComPosition(), here.com)
    hand = cp.Setpoint(RelativePosition("hand_left", "head"), (0.3, 0.1, 0.5))  # rows of its own, no record
    foot = cp.Setpoint(PointPosition("foot_left"), (0.3, 0.1, 0.5))

    def taken(*levels: tuple[cp.Objective, ...]) -> bool:
        return sort_tick(levels, here, None) is not None

    assert taken((com,), (pose,)) and taken((com,), (pose, hand)) and taken((foot,), (pose, com))
    assert not taken((com,), (cp.Momentum(),))  # no posture
    assert not taken((hand,), (pose,))  # rows of its own in a strict level
    assert taken((com,), (pose, hand, cp.Momentum()))  # a record after rows: these are written last
    assert not taken((cp.JointStops(),), (pose,))  # a one-sided objective in a strict level
    assert not taken((com,), (pose, cp.TrackPose(name="second")))  # two postures


def test_the_order_of_objectives_in_a_level_does_not_matter(human: cp.Character):
    here = human.snapshot()
    hand = cp.Setpoint(RelativePosition("hand_left", "head"), (0.3, 0.1, 0.5), weight=4.0)
    last = (cp.TrackPose(), cp.Setpoint(ComPosition(), here.com), cp.Momentum())
    one, other = (
        solve_whole_body(here, ((cp.Contact(),), level), Footing(), FAST) for level in ((*last, hand), (hand, *last))
    )
    np.testing.assert_allclose(one.torque, other.torque, atol=1e-6)
    assert one.residuals == pytest.approx(other.residuals, abs=1e-6)
