"""Locomotion from many starts: steering, changes of gait, hindrances, random minutes. Long stories."""

from __future__ import annotations

import pytest

from counterpoise.experiments.base import Lab, find_experiment

TRIALS = (
    ("steering", "walk-90"),
    ("steering", "walk-180"),
    ("steering", "run-180"),
    ("transitions", "walk-run-walk"),
    ("transitions", "run-stand-slow"),
    ("hindrances", "ice"),
    ("hindrances", "bag"),
    ("hindrances", "weak-leg"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("experiment", "trial"), TRIALS)
def test_enough_starts_succeed(experiment, trial):
    one = find_experiment(experiment)
    outcome = one.run(one.with_settings({"trials": trial, "first_seed": 600}), Lab())
    assert outcome.holds, [claim.measured for claim in outcome.claims]


@pytest.mark.slow
def test_mild_minutes_are_walked_without_a_fall():
    one = find_experiment("wander")
    outcome = one.run(one.with_settings({"share": 0.5, "seed": 600}), Lab())
    assert outcome.holds, [claim.measured for claim in outcome.claims]
