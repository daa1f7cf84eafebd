"""Trials: counted over starts, with a bar; wrong names and numbers are refused. Scripts of random minutes."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.experiments import wander
from counterpoise.experiments.base import Lab, experiments
from counterpoise.experiments.going import Continued, a_moment, landings, speed_between, stands_from, under_way, yaws
from counterpoise.experiments.steering import turn
from counterpoise.experiments.trials import Trial, run_trials


def every_third(lab: Lab, name: str, seed: int) -> str:
    lab.recordings[name] = seed  # type: ignore[assignment]
    return "third" if seed % 3 == 0 else ""


@pytest.mark.parametrize(("bar", "holds"), [(14, False), (13, True), (20, False)])
def test_starts_are_counted_and_faults_are_told(bar, holds):
    lab = Lab()
    outcome = run_trials(lab, "test", "kind", {"a": Trial("words", every_third, bar)}, "all", 6, first_seed=7)
    (claim,) = outcome.claims
    assert claim.measured == "4 of 6; start 9: third; start 12: third" and claim.holds == holds
    assert outcome.facts["a"] == ["", "", "third", "", "", "third"]
    assert lab.recordings == {"a": 7, "last": 12}  # the first one is filmed


def test_trials_refuse_what_they_do_not_know():
    trials = {"one": Trial("words", every_third)}
    with pytest.raises(CounterpoiseError, match="one"):
        run_trials(Lab(), "test", "kind", trials, "onne", 2)
    with pytest.raises(BadValue, match="1 start or more"):
        run_trials(Lab(), "test", "kind", trials, "one", 0)


@pytest.mark.parametrize("name", ["gaits", "transitions", "steering", "hindrances", "pushes-head", "terrain-runs"])
def test_experiments_of_trials_name_what_they_do_not_know(name):
    one = experiments()[name]
    with pytest.raises(CounterpoiseError, match="nothing"):
        one.run(one.with_settings({"trials": "nothing", "starts": 1}), Lab())


def test_a_script_follows_from_its_seed_and_keeps_its_share():
    first, again, other = (wander.random_script(seed, 1, 0.5) for seed in (3, 3, 4))
    assert np.array_equal(first.speeds, again.speeds) and first.pushes == again.pushes
    assert not np.array_equal(first.times, other.times)
    assert first.terrain is not None and first.speeds.max() <= wander.WALK  # rough: it walks
    assert np.abs(np.diff(first.headings)).max() <= 0.5 * wander.TURN
    assert max(float(np.linalg.norm(push.impulse)) for push in first.pushes) <= 0.5 * max(wander.PUSHES.values())
    assert wander.random_script(3, 0, 1.0).terrain is None


def test_what_is_measured_of_a_body_that_goes(human):
    state, memory, fell = under_way(0.0, 1, 0.3)
    assert not fell and state.time == pytest.approx(0.3)
    recording = cp.simulate(human, Continued(cp.Locomotion(0.8), memory), 3.0, start=state)
    assert recording.time[0] == pytest.approx(0.3)
    steps = float(np.nanmax(recording.notes["steps"]))
    assert abs(landings(recording, 0.3, float(recording.time[-1])) - steps) <= 1.0
    assert 0.4 < speed_between(recording, 2.0, 3.0) < 1.0
    assert np.abs(yaws(recording)).max() < 0.3
    assert stands_from(recording, 0.3) == np.inf
    at, side = a_moment(5, 2.0)
    assert 2.0 <= at <= 3.1 and side in (-1.0, 1.0) and a_moment(5, 2.0) == (at, side)


def test_a_quarter_turn_takes_two_seconds_while_it_walks():
    assert turn(Lab(), "turn", 7, 1.2, 90.0, 2.0) == ""
