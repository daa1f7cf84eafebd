"""The compiled tick: the same answer as objective by objective, in blocks of any size; errors name their cause."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control import WholeBodyTuning, solve_whole_body, tick_solver, whole_body
from counterpoise.errors import BadValue
from counterpoise.features import ComPosition, RelativePosition
from counterpoise.objectives import Clearance, Footing, Objective

FAST = WholeBodyTuning(path="fast")


def moving_snapshot(character: cp.Character) -> cp.Snapshot:
    """Returns a snapshot in which joints are near their stops and parts sink fast."""
    rng = np.random.default_rng(5)
    q = character.integrate(character.neutral, 0.3 * rng.standard_normal(character.nv))
    q[character.joints[0].qpos] = character.neutral[character.joints[0].qpos]
    return character.snapshot(character.state(q, 2.0 * rng.standard_normal(character.nv)))


def levels_of(character: cp.Character, clear: Clearance, *extra: Objective) -> tuple[tuple[Objective, ...], ...]:
    com = cp.Setpoint(ComPosition(), character.snapshot().com, weight=100.0)
    return (cp.Contact(),), (com, cp.Momentum(), cp.TrackPose(), cp.JointStops(weight=3.0), clear, *extra)


def single(snapshot: cp.Snapshot, levels: tuple[tuple[Objective, ...], ...], patch: pytest.MonkeyPatch):
    """Returns the solution with the rows written objective by objective."""
    with patch.context() as now:
        now.setattr(whole_body, "solve_tick", lambda *_: None)
        return solve_whole_body(snapshot, levels, Footing(), FAST)


def test_a_block_that_is_too_small_grows(human: cp.Character, monkeypatch: pytest.MonkeyPatch):
    here = moving_snapshot(human)
    hand = cp.Setpoint(RelativePosition("hand_left", "head"), (0.3, 0.1, 0.5), weight=4.0)
    levels = levels_of(human, Clearance(margin=0.3, weight=5.0), hand)
    roomy = solve_whole_body(here, levels, Footing(), FAST)
    monkeypatch.setattr(tick_solver, "FIRST_ROWS", 1)
    monkeypatch.setattr(tick_solver, "MOST_OBJECTIVES", 1)
    monkeypatch.setattr(tick_solver, "_local", threading.local())
    tight = solve_whole_body(here, levels, Footing(), FAST)
    assert np.array_equal(roomy.torque, tight.torque) and roomy.residuals == tight.residuals
    assert roomy.stops and roomy.work == tight.work


def test_obstacles_are_kept_off_as_objective_by_objective(human: cp.Character, monkeypatch: pytest.MonkeyPatch):
    terrain = cp.Terrain([cp.Box((0.5, 0.1), (0.3, 1.0), 0.9, yaw=20.0)])
    here = moving_snapshot(human)
    levels = levels_of(human, Clearance(obstacles=terrain.obstacles, margin=0.2, weight=5.0))
    whole, apart = solve_whole_body(here, levels, Footing(), FAST), single(here, levels, monkeypatch)
    assert np.array_equal(whole.torque, apart.torque)
    assert whole.residuals == apart.residuals and whole.stops == apart.stops and whole.limits == apart.limits
    assert whole.residuals["clearance"] > 0.0


def test_a_reference_that_is_not_finite_is_named(human: cp.Character):
    levels = levels_of(human, Clearance())
    broken = levels[1][0].aimed(value=np.array([np.nan, 0.0, 0.9]))
    with pytest.raises(BadValue, match="extra_targets of the whole-body problem holds NaN"):
        solve_whole_body(human.snapshot(), (levels[0], (broken, *levels[1][1:])), Footing(), FAST)
