"""Stunts performed from disturbed starts: what docs/perform.md says of three of them, on a few starts."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.perform import PerformTuning, plan_of_result
from counterpoise.experiments import stunts_performed

BOX = cp.World(terrain=cp.Terrain([cp.Box((0.8, 0.0), (0.3, 0.9), 0.8)]))
STARTS = 6
LEAST = 5  # of them: 17 of 20, the bar


@pytest.mark.slow
@pytest.mark.parametrize("name, world", [("standing_jump", cp.World()), ("long_jump", cp.World()), ("vault", BOX)])
def test_a_stunt_is_performed_and_stands(human: cp.Character, name: str, world: cp.World):
    plan = plan_of_result(cp.with_reserve(cp.read_stunt(f"examples/stunts/{name}.toml")).optimize())
    good = 0
    for seed in range(41, 41 + STARTS):
        start = cp.disturbed_start(human, seed, world)
        recording = cp.simulate(human, cp.Perform(plan), plan.duration + 3.3, world=world, start=start)
        last = human.snapshot(recording.state(-1))
        good += bool(recording.notes["stage"][-1] == "stand" and np.linalg.norm(last.com_velocity) < 0.15)
        assert cp.replay(recording).exact and cp.measure.summary(recording).peak_torque_share <= 1.0 + 1e-9
    assert good >= LEAST


@pytest.mark.slow
def test_a_cartwheel_on_the_wrists_is_performed_and_stands(human: cp.Character):
    plan = plan_of_result(cp.with_reserve(cp.read_stunt("examples/stunts/cartwheel_wrists.toml")).optimize())
    case, good = stunts_performed.CASES["cartwheel"], 0
    for seed in range(41, 41 + 2 * STARTS):
        recording = stunts_performed.perform_stunt(human, case, plan, None, seed, pushed=False)
        good += stunts_performed.stands(recording) and not stunts_performed.skips(recording, plan)
        assert cp.replay(recording).exact and cp.measure.summary(recording).peak_torque_share <= 1.0 + 1e-9
    assert good >= 2 * LEAST


@pytest.mark.slow
def test_a_back_flip_begun_badly_lands_because_it_is_planned_again(human: cp.Character):
    """A push of 350 N from the front as it jumps off makes it spin too fast."""
    plan = plan_of_result(cp.with_reserve(cp.read_stunt("examples/stunts/back_flip.toml")).optimize())
    push = [cp.Push("thorax", (-350.0, 0.0, 0.0), 0.8, 0.1)]
    fell = []
    for limit in (0.0, PerformTuning().tuck_limit):
        controller = cp.Perform(plan, tuning=PerformTuning(tuck_limit=limit))
        recording = cp.simulate(human, controller, plan.duration + 2.8, disturbances=push)
        fell.append(bool(cp.measure.fell(recording)))
    assert fell == [True, False]
