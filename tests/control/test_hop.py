"""Hops on one leg: asked for as a gait, on that foot alone, and back to standing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.locomotion.gait_change import can_hop
from counterpoise.control.locomotion.leaps import before_jump
from counterpoise.control.run.run_phase import next_foot
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.run.run_tuning import HOPPING, RunTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.control.walk.wishes import Wishes
from counterpoise.errors import CounterpoiseError

SPEED, TO = 0.5, 6.0  # [m/s, s]


@pytest.fixture(scope="module")
def hopped(human) -> cp.Recording:
    """It stands, hops on the right leg for some seconds, and stands again."""
    controller = cp.Locomotion(lambda t: SPEED if t < TO else 0.0, gait=lambda t: "hop_right" if t < TO else "auto")
    return cp.simulate(human, controller, 9.5, start=cp.disturbed_start(human, 41))


def flights(recording: cp.Recording) -> list[float]:
    """Returns when it leaves the ground [s]."""
    phases = [str(phase) for phase in recording.notes["phase"]]
    each = recording.duration / len(phases)
    return [i * each for i in range(1, len(phases)) if phases[i] == "flight" and phases[i - 1] != "flight"]


def test_it_hops_on_one_foot_and_stands_again(hopped):
    left = flights(hopped)
    assert len(left) >= 4 and 0.35 < float(np.diff(left).mean()) < 0.65
    first, last = hopped.row_at(left[0]), hopped.row_at(left[-1])
    force = cp.measure.foot_forces(hopped)
    assert np.abs(force["foot_left"][first:last]).max() == 0.0
    assert force["foot_right"][first:last, 2].max() > 1.5 * hopped.character.weight
    assert str(hopped.notes["phase"][-1]) == "stand" and not cp.measure.fell(hopped).fell


def test_hops_go_at_the_speed_asked_for_and_are_off_the_ground(hopped):
    left = flights(hopped)
    first, last = hopped.row_at(left[1]), hopped.row_at(left[-1])
    way = cp.measure.com(hopped)[last] - cp.measure.com(hopped)[first]
    assert way[0] / (left[-1] - left[1]) == pytest.approx(SPEED, abs=0.15) and abs(way[1]) < 0.15
    up = hopped.row_at(left[2] + 0.08)
    assert sum(np.abs(force[up]).max() for force in cp.measure.foot_forces(hopped).values()) == 0.0


def test_hops_obey_the_laws_and_replay(hopped, human):
    assert {str(status) for status in hopped.notes["status"]} == {"solved"}
    assert (np.abs(hopped.torques()) <= human.torque_limit + 1e-9).all()
    assert cp.replay(hopped).exact


def test_the_same_foot_lands_again():
    for stance in (0, 1):
        memory = RunMemory(stance=stance)
        assert next_foot(memory, HOPPING) == stance and next_foot(memory, RunTuning()) == 1 - stance


def test_hops_begin_over_the_foot_that_hops(human):
    body, place = walking_body(human), np.zeros((2, 2))

    def seen(x: float = 0.0, speed: float = 0.4):
        return SimpleNamespace(com=np.array([x, 0.0, 1.0]), velocity=np.array([speed, 0.0, 0.0]), flat=place)

    swings = WalkMemory(time=1.0, phase="single", stance=0, lifted=0.8, left=0.2)
    assert can_hop(swings, seen(), 0, body)
    assert not can_hop(swings, seen(), 1, body)  # the other foot
    assert not can_hop(swings, seen(0.3), 0, body)  # the CoM is far ahead of it
    assert not can_hop(swings, seen(speed=1.2), 0, body)  # too fast
    assert not can_hop(WalkMemory(time=1.0, phase="double", stance=0), seen(), 0, body)


@pytest.mark.parametrize("gait", ["run", "hop_left", "hop_right", "auto"])
def test_a_run_and_hops_end_for_a_jump(human, gait):
    """Otherwise a jump that is asked for is never done."""
    controller, body, fast = cp.Locomotion(2.5, gait=gait), walking_body(human), Wishes(2.5)
    assert controller._runs(fast, 0.0, body) == ("run" if gait == "auto" else gait)
    assert controller._runs(before_jump(fast), 0.0, body) == ""


def test_gaits_that_are_none_are_named(human):
    with pytest.raises(CounterpoiseError, match="hop_left"):
        cp.Locomotion(gait="hop_leftt")
    with pytest.raises(CounterpoiseError, match="hop_left"):
        cp.simulate(human, cp.Locomotion(gait=lambda t: "hop"), 0.01)
