"""The walking machine of the thesis: its states in order, its levels as in table 4.3, and what its additions change."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments.phase_walk import MACHINES, PhaseWalkSettings, outing, run, walk_out
from counterpoise.experiments.phase_walker import ADDITIONS, PhaseWalk


def names_of(human: cp.Character, walk: PhaseWalk) -> list[list[str]]:
    action = walk.act(human.snapshot(), walk.begin(human))
    return [[one.name for one in level] for level in action.memory.solver.levels]


def test_the_levels_are_those_of_the_table(human):
    last = ["angular momentum", "posture", "joint stops", "arms", "head"]
    assert names_of(human, PhaseWalk()) == [["contact"], ["com", "neck over the CoM"], last]
    assert names_of(human, PhaseWalk(frozenset({"height"})))[1] == ["com", "height", "neck over the CoM"]


@pytest.fixture(scope="module")
def walked(human) -> cp.Recording:
    return walk_out(human, MACHINES["+ ramps"], 3.0, 0)


def test_swings_and_double_supports_follow_each_other(walked):
    phases = [str(phase) for phase in walked.notes["phase"]]
    order = [phase for k, phase in enumerate(phases) if k == 0 or phases[k - 1] != phase]
    assert order[:5] == ["start", "swing", "double", "swing", "double"] and "fallen" not in order
    swing = np.array([phase == "swing" for phase in phases])
    assert np.isfinite(walked.notes["residual heel over"][swing]).all()
    assert np.isnan(walked.notes["residual heel over"][~swing]).all()


def test_with_all_additions_it_walks_and_the_bare_table_falls(walked, human):
    far = outing(walked)
    assert far.walks and far.steps >= 4 and far.way > 1.0
    bare = outing(walk_out(human, MACHINES["table 4.3"], 4.0, 0))
    assert not bare.walks and bare.steps <= 3 and bare.seconds < 3.0


def test_the_path_of_the_com_is_that_of_the_thesis(human):
    """Eq. 4.3 at the ends and in the middle; its rates beside differences."""
    from counterpoise.control.walk.walking_body import walking_body
    from counterpoise.experiments.phase_walker import PhaseWalkMemory

    walk, body = PhaseWalk(), walking_body(human)
    m = PhaseWalkMemory(
        phase="swing", begun=True, foot=1, path_time=0.5, path_from=np.array([0.1, 0.02]), path_to=np.array([0.4, 0.07])
    )

    def at(time: float):
        state = human.state(human.neutral)
        return walk._path(human.snapshot(human.state(state.q, state.v, time)), m, body)

    assert at(0.0)[0] == pytest.approx([0.1, 0.02]) and at(0.5)[0] == pytest.approx([0.4, 0.07])
    assert at(0.25)[0] == pytest.approx([0.25, 0.045 + walk.tuning.hip_shift])  # towards the left, the stance foot
    h = 1e-4
    for time in (0.1, 0.3):
        before, here, after = at(time - h), at(time), at(time + h)
        assert here[1] == pytest.approx((after[0] - before[0]) / (2.0 * h), abs=1e-5)
        assert here[2] == pytest.approx((after[1] - before[1]) / (2.0 * h), abs=1e-4)


@pytest.mark.parametrize("given", [{"additions": {"heigth"}}, {"additions": "height"}])
def test_bad_input_is_named(given):
    with pytest.raises(CounterpoiseError, match="height"):
        PhaseWalk(**given)


def test_settings_are_checked():
    with pytest.raises(CounterpoiseError, match="1 start or more"):
        run(PhaseWalkSettings(starts=0), None)
    assert set(ADDITIONS) >= {"height", "pendulum", "ramps"}
