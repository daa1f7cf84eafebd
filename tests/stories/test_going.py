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
    ("gaits", "hop-left"),
    ("gaits", "hop-right"),
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
@pytest.mark.parametrize("course", ["step-up-0.5", "step-down-1"])
def test_edges_that_are_too_high_for_a_step_are_jumped(course):
    one = find_experiment("terrain-walks")
    outcome = one.run(one.with_settings({"courses": course, "first_seed": 600}), Lab())
    assert outcome.holds, [claim.measured for claim in outcome.claims]


@pytest.mark.slow
def test_mild_minutes_are_walked_without_a_fall():
    one = find_experiment("wander")
    outcome = one.run(one.with_settings({"share": 0.5, "seed": 600}), Lab())
    assert outcome.holds, [claim.measured for claim in outcome.claims]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "size"), [("walking", "40"), ("walking", "60"), ("running", "30")])
def test_pushes_on_the_way_are_survived_as_often_as_the_bar_says(kind, size):
    one = find_experiment("pushed-steps")
    none = {"standing": "", "walking": "", "running": ""}
    outcome = one.run(one.with_settings({**none, kind: size, "moments": 8, "first_seed": 600}), Lab())
    assert outcome.holds, [claim.measured for claim in outcome.claims]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "share"), [("80", 1.0), ("110", 0.75)])
def test_pushes_of_a_standing_body_are_survived(size, share):
    one = find_experiment("pushed-steps")
    outcome = one.run(
        one.with_settings({"standing": size, "walking": "", "running": "", "starts": 3, "first_seed": 600}), Lab()
    )
    found = outcome.facts["stands"].values()
    assert sum(row["good"] for row in found) >= share * sum(row["tried"] for row in found), outcome.claims[0].measured
