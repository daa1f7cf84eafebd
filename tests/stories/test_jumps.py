"""Jumps from many starts, by the bars of the experiments; long, so slow. One start of each kind runs quickly."""

from __future__ import annotations

import pytest

from counterpoise.errors import CounterpoiseError
from counterpoise.experiments import jumps, morphologies_jump, run_experiment, twist_jumps
from counterpoise.experiments.jumping import Bars
from counterpoise.measure import JumpFlight

GOOD = JumpFlight(1.0, 1.5, 0.3, 0.8, 0.0, 90.0, 0.2, 0.2, 0.5, 4.0, 0, 1.0)
STARTS = 20


def test_the_bars_see_every_fault():
    from dataclasses import replace

    from counterpoise.control.perform import JumpWish

    bars, wish = Bars(spread=0.1, reach=0.6), JumpWish(0.3, forward=0.8, twist=90.0)
    assert bars.faults(wish, GOOD) == []
    for fault, change in {
        "rise": {"rise": 0.34}, "place": {"side": 0.11}, "turn": {"turn": 79.0}, "peak": {"peak": 6.1},
        "step": {"steps": 1}, "spread": {"spread": 0.05}, "not tucked": {"reach": 0.7},
        "still too late": {"stood": None},
    }.items():  # fmt: skip
        assert bars.faults(wish, replace(GOOD, **change)) == [fault]


def test_one_start_of_a_jump_makes_claims_plot_and_picture(tmp_path):
    report = run_experiment("jumps", tmp_path / "out", {"starts": 1, "only": "up 0.15"}, video=False)
    (claim,) = report.outcome.claims
    assert claim.holds and "1 of 1 (1 stand)" in claim.measured
    assert (tmp_path / "out" / "jumps.png").exists() and (tmp_path / "out" / "claims.json").exists()


@pytest.mark.parametrize("settings", [{"only": "upp 0.15"}, {"starts": 0, "only": "up 0.15"}, {"starts": "many"}])
def test_bad_settings_are_named(settings):
    with pytest.raises(CounterpoiseError):
        run_experiment("jumps", settings=settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(jumps.CASES))
def test_a_jump_keeps_the_bars(name):
    report = run_experiment("jumps", settings={"starts": STARTS, "only": name})
    assert report.outcome.holds, report.outcome.claims


@pytest.mark.slow
@pytest.mark.parametrize("name", list(twist_jumps.CASES))
def test_a_twist_keeps_the_bars(name):
    report = run_experiment("twist-jumps", settings={"starts": STARTS, "only": name})
    assert report.outcome.holds, report.outcome.claims


@pytest.mark.slow
def test_splits_keep_the_bars():
    report = run_experiment("splits", settings={"starts": STARTS})
    assert report.outcome.holds, report.outcome.claims


@pytest.mark.slow
@pytest.mark.parametrize("name", morphologies_jump.NAMES)
def test_other_bodies_keep_the_bars(name):
    report = run_experiment("morphologies-jump", settings={"starts": STARTS, "characters": name})
    assert report.outcome.holds, report.outcome.claims


@pytest.mark.slow
def test_the_machine_of_the_thesis_jumps_straight_up_from_rest():
    """Of its jumps only this is held: the experiment reports the others as they are."""
    from counterpoise import measure
    from counterpoise.character.library import character
    from counterpoise.experiments.phase_machine import PhaseJump
    from counterpoise.simulate import simulate

    recording = simulate(character("human"), PhaseJump(0.1), 4.0)
    assert not measure.fell(recording)
    (flight,) = measure.jumps(recording)
    assert 0.05 < flight.rise < 0.13
