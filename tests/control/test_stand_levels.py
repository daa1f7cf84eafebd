"""The levels of `Stand`, sorted once, say the same as their objectives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control import stand
from counterpoise.control.whole_body import solve_whole_body
from counterpoise.objectives.tick_rows import SortedLevels

KICK = "front_kick"


@pytest.mark.parametrize(
    "what, force",
    [
        ("pose", (260.0, 40.0, 0.0)),
        ("squat", (120.0, -60.0, 0.0)),
        (KICK, (30.0, 0.0, 0.0)),
        ("stiff", (0.0, 200.0, 0.0)),
    ],
)
def test_sorted_levels_and_their_objectives_give_the_same_torques(
    human: cp.Character, monkeypatch: pytest.MonkeyPatch, what: str, force: tuple[float, float, float]
):
    ticks = swings = 0

    def both(snapshot: cp.Snapshot, levels: Any, footing: Any, tuning: Any, memory: Any) -> Any:
        nonlocal ticks, swings
        assert type(levels) is SortedLevels
        once = solve_whole_body(snapshot, levels, footing, tuning, memory)
        if ticks % 7 == 0:
            each = solve_whole_body(snapshot, levels.objectives, footing, tuning, memory)
            assert np.array_equal(once.torque, each.torque) and once.notes() == each.notes()
            assert [len(level) for level in levels] == [1, len(levels.objectives[1])]
        ticks, swings = ticks + 1, swings + any(one.name == "swing feet" for one in levels.tick.others)
        return once

    monkeypatch.setattr(stand, "solve_whole_body", both)
    motion = cp.reference_motion(what, human) if what in ("squat", KICK) else None
    controller = cp.Stand(reference=motion, compliance=0.0 if what == "stiff" else 0.5)
    push = [cp.Push("thorax", force, 0.1, 0.1)]
    seconds = 1.6 if what == KICK else 0.8
    rec = cp.simulate(human, controller, seconds, start=controller.ready(human), disturbances=push)
    assert ticks == round(500 * seconds) and (swings > 0) == (what == KICK) and not cp.measure.fell(rec)


def test_where_an_objective_has_no_weight_or_others_are_added_each_is_written(human: cp.Character):
    head = cp.Setpoint(cp.features.BodyOrientation("head"), (1.0, 0.0, 0.0, 0.0), weight=2.0, name="head")
    for controller in (
        cp.Stand(extra=[head]),
        cp.Stand(tuning=cp.StandTuning(turn_weight=0.0)),
        cp.Stand(compliance=1.0),
    ):
        action = controller.act(human.snapshot(), controller.begin(human))
        assert type(action.memory.solver.levels) is tuple and action.notes["status"] == "solved"
    assert "residual head" in cp.Stand(extra=[head]).act(human.snapshot(), cp.Stand().begin(human)).notes
