"""The machine of the thesis: its phases in order, its levels as in table 4.1; and a short run of the experiment."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments.phase_machine import PhaseJump


@pytest.fixture(scope="module")
def jump(human) -> cp.Recording:
    return cp.simulate(human, PhaseJump(0.25), 2.5)


def notes_in(recording: cp.Recording, name: str, *stages: str) -> np.ndarray:
    return recording.notes[name][np.isin([str(s) for s in recording.notes["stage"]], stages)]


def test_phases_follow_each_other_as_in_the_figure(jump):
    stages = [str(s) for s in jump.notes["stage"]]
    order = list(dict.fromkeys(stages))
    assert order == ["stand", "compress", "thrust", "ascent", "descent", "impact", "rise"], order


def test_contact_and_com_are_off_in_the_air_and_ankles_on_the_ground(jump):
    ground, air = ("compress", "thrust", "impact"), ("ascent", "descent")
    for name in ("residual contact", "residual balance", "residual height"):
        assert np.isfinite(notes_in(jump, name, *ground)).all() and np.isnan(notes_in(jump, name, *air)).all()
    for foot in ("foot_left", "foot_right"):
        ankle = f"residual ankle {foot}"
        assert np.isnan(notes_in(jump, ankle, *ground)).all() and np.isfinite(notes_in(jump, ankle, *air)).all()


def test_the_levels_are_those_of_the_table(human):
    machine = PhaseJump(0.1)
    action = machine.act(human.snapshot(), machine.begin(human))
    names = [[one.name for one in level] for level in action.memory.solver.levels]
    assert names == [["contact"], ["balance", "height"], ["angular momentum", "posture", "joint stops"]]


@pytest.mark.parametrize("given", [{"height": 0.0}, {"twist": np.inf}, {"style": "tuck"}])
def test_bad_input_is_named(given):
    with pytest.raises(CounterpoiseError):
        PhaseJump(**given)
