"""Getting up: what a body lies on, lying starts, the plan and its file, one get-up, bracing, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.bracing.falling import BraceTuning, brace_torque, fall_direction
from counterpoise.control.getting_up import GettingUpPlanTuning, plan_getting_up, way_of_lying
from counterpoise.control.getting_up import plan as plans
from counterpoise.errors import BadValue, CounterpoiseError, MissingRole

HUMAN = cp.character("human")


@pytest.mark.parametrize("way", ["front", "back", "left", "right"])
def test_a_lying_start_lies_that_way_and_touches_nothing(way: str):
    for seed in range(3):
        state = cp.lying_state(HUMAN, way, seed, spread=0.1)
        assert way_of_lying(HUMAN.snapshot(state)) == way
        assert not state.v.any()
    first, again = (cp.lying_state(HUMAN, way, 7) for _ in range(2))
    assert np.array_equal(first.q, again.q)


def test_bad_starts_and_bodies_are_refused_with_a_cure():
    with pytest.raises(CounterpoiseError, match="front"):
        cp.lying_state(HUMAN, "frnt")
    with pytest.raises(BadValue, match="spread"):
        cp.lying_state(HUMAN, "front", spread=-1.0)
    with pytest.raises(MissingRole, match="humanoid"):
        cp.GetUp().begin(cp.character("ostrich"))
    with pytest.raises(MissingRole, match="humanoid"):
        cp.Stand(recover=True).begin(cp.character("chicken"))
    with pytest.raises(BadValue, match="rate"):
        cp.GetUp(rate=0.0)


def test_the_plan_goes_from_hands_and_toes_to_flat_feet_and_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COUNTERPOISE_PLANS", str(tmp_path))
    tuning = GettingUpPlanTuning(strength=0.71)  # not kept with the body by another test
    plan = plan_getting_up(HUMAN, tuning)
    feet = len(HUMAN.contact_points)
    assert plan.pushing[0][feet:].all() and not plan.pushing[-1][feet:].any()
    assert plan.pushing[-1][:feet].all() and not plan.pushing[0][:feet].all()
    assert plan.com[0, 0, 2] < 0.5 * plan.com[-1, 0, 2]
    (file,) = tmp_path.glob("getting-up-*.npz")
    read = plans._read(file, HUMAN)
    assert read is not None
    for name in ("ends", "pushing", "held", "q", "v", "a", "com", "points"):
        assert np.array_equal(getattr(read, name), getattr(plan, name)), name


def test_a_body_on_its_front_gets_up_within_its_strength_and_replays():
    recording = cp.simulate(HUMAN, cp.GetUp(), 11.0, start=cp.lying_state(HUMAN, "front", spread=0.1))
    assert recording.notes["stage"][-1] == "stand"
    assert HUMAN.snapshot(HUMAN.state(recording.qpos[-1])).com[2] > 0.95 * HUMAN.snapshot().com[2]
    joints = slice(HUMAN.root_dofs.stop, None)
    assert (np.abs(recording.torque[:, joints]) <= HUMAN.torque_limit[joints] + 1e-9).all()
    assert cp.replay(recording).worst_error == 0.0


def test_a_falling_body_braces_on_the_side_of_the_fall():
    lean = HUMAN.neutral.copy()
    for turn, side in (((0, 1, 0), "front"), ((0, -1, 0), "back"), ((-1, 0, 0), "left"), ((1, 0, 0), "right")):
        lean[3:7] = cp.spatial.exp(0.7 * np.array(turn, float))
        snapshot = HUMAN.snapshot(HUMAN.state(lean))
        assert fall_direction(snapshot) == side
        torque = brace_torque(snapshot, BraceTuning())
        assert (np.abs(torque) <= HUMAN.torque_limit).all() and torque.any()
    assert not brace_torque(snapshot, BraceTuning(active=False)).any()  # at rest, limp
