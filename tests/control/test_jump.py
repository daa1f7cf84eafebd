"""Jump: planned once, kept, performed; bad input is named. The bars over many starts are in stories/test_jumps.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import measure
from counterpoise.control.perform import jump_plan, plan_store
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.spacetime.optimize import Clear

HEIGHT = 0.1  # [m]


@pytest.fixture(scope="module")
def human() -> cp.Character:
    """A body of its own: plans that other tests made are not kept with it."""
    return cp.Character.from_mjcf(cp.character("human").to_mjcf())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(tmp_path_factory.mktemp("plans"))


@pytest.fixture(scope="module")
def planned(human, folder) -> cp.Recording:
    """A small jump from a disturbed start, planned here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(plan_store.FOLDER, folder)
        return cp.simulate(human, cp.Jump(HEIGHT), 4.5, start=cp.disturbed_start(human, 1))


def test_a_small_jump_lands_where_it_began_and_stands(planned):
    assert not measure.fell(planned)
    (flight,) = measure.jumps(planned)
    assert abs(flight.rise - HEIGHT) < 0.03
    assert np.hypot(flight.forward, flight.side) < 0.1 and abs(flight.turn) < 10.0
    assert flight.peak < 6.0 and flight.steps == 0
    assert flight.stood is not None and flight.stood < 2.0


def test_a_walker_stops_jumps_and_walks_on(planned, human, folder, monkeypatch):
    monkeypatch.setenv(plan_store.FOLDER, folder)
    going = cp.Locomotion(0.8, jump=lambda t: cp.Jump(HEIGHT) if 1.5 <= t < 1.6 else None)
    recording = cp.simulate(human, going, 7.0, start=cp.disturbed_start(human, 2))
    assert not measure.fell(recording)
    phases = [str(p) for p in recording.notes["phase"]]
    seen = list(dict.fromkeys(phases))
    assert seen.index("single") < seen.index("jump") and phases[-1] in ("single", "double")  # it walks again
    before = phases.index("jump")
    assert phases[before - 1] == "stand" and phases.count("jump") > 500
    (flight,) = measure.jumps(recording)[:1]
    assert abs(flight.rise - HEIGHT) < 0.04
    left = recording.row_at(recording.duration - 1.0)
    assert measure.com(recording)[-1, 0] - measure.com(recording)[left, 0] > 0.3


def test_a_jump_in_a_walk_is_checked():
    with pytest.raises(CounterpoiseError, match="jump"):
        cp.Locomotion(jump=0.3)


def test_it_waits_performs_and_stands_in_this_order(planned):
    stages = [str(s) for s in planned.notes["stage"]]
    assert list(dict.fromkeys(stages)) == ["wait", "perform", "stand"]
    assert [str(e) for e in planned.notes["event"] if str(e)] == ["take-off", "landing"]


def test_torques_stay_within_the_strength(planned):
    assert measure.summary(planned).peak_torque_share <= 1.0 + 1e-9


def test_the_second_plan_comes_from_the_store(human, planned, folder, monkeypatch):
    monkeypatch.setenv(plan_store.FOLDER, folder)
    monkeypatch.setattr(plan_store, "_optimised", None)  # calling it would be an error
    wish = cp.Jump(HEIGHT).wish
    kept = cp.plan_jump(human, wish)
    assert kept is cp.plan_jump(human, wish)
    other = cp.Character.from_mjcf(human.to_mjcf())  # nothing is kept with it yet: its plan is read from disk
    read = cp.plan_jump(other, wish, watch=lambda progress: None)
    assert np.allclose(read.motion.q, kept.motion.q) and read.motion.phases == kept.motion.phases


def test_whole_numbers_are_the_same_wish(human):
    paths = {plan_store._path(human, cp.JumpWish(0.3, twist=twist), cp.JumpPlanTuning()) for twist in (90, 90.0)}
    assert len(paths) == 1


def test_another_planner_makes_its_own_plans(human, monkeypatch):
    wish, table = cp.JumpWish(0.3), cp.JumpPlanTuning()
    assert len(plan_store.planner_version()) == 16
    mine = plan_store._path(human, wish, table)
    monkeypatch.setattr(plan_store, "planner_version", lambda: "another")
    assert plan_store._path(human, wish, table) != mine


def test_a_broken_file_in_the_store_is_made_again(human, planned, tmp_path, monkeypatch):
    monkeypatch.setenv(plan_store.FOLDER, str(tmp_path))
    wish, made = cp.Jump(HEIGHT).wish, cp.plan_jump(human, cp.Jump(HEIGHT).wish)
    path = plan_store._path(human, wish, cp.JumpPlanTuning())
    assert path is not None
    path.write_bytes(b"no archive")
    monkeypatch.setattr(plan_store, "_optimised", lambda *given: made)
    other = cp.Character.from_mjcf(human.to_mjcf())
    assert cp.plan_jump(other, wish) is made and path.stat().st_size > 1000


def test_equal_starts_give_equal_bytes(human, planned):
    again = cp.simulate(human, cp.Jump(HEIGHT), 4.5, start=cp.disturbed_start(human, 1))
    assert again.fingerprint() == planned.fingerprint()


@pytest.mark.parametrize(
    "given", [{"height": -0.1}, {"height": np.nan}, {"style": "moonwalk"}, {"times": 0}, {"wait": -1.0}, {"rate": 0.0}]
)
def test_bad_input_is_named(given):
    with pytest.raises(CounterpoiseError, match=str(next(iter(given.values()))).split(".")[0][:4]):
        cp.Jump(**given)


def test_a_body_without_feet_cannot_jump():
    with pytest.raises(CounterpoiseError, match="feet"):
        cp.plan_jump(cp.character("chain"), cp.JumpWish(0.1))


def test_only_legs_that_stand_bent_are_asked_to_leave_the_ground(human):
    """A bird could rise by a tenth of its height without a jump: its legs grow longer."""
    ostrich = cp.character("ostrich")
    assert jump_plan.leg_stretch(human) < 0.01 < 0.1 < jump_plan.leg_stretch(ostrich)
    feet = {}
    for body in (human, ostrich):
        clear = [one for one in jump_plan.jump_stunt(body, cp.JumpWish(0.2)).wishes if isinstance(one, Clear)]
        feet[body.name] = [one.height for one in clear if set(one.bodies) == {foot.name for foot in body.feet}]
    assert feet["human"] == [] and len(feet["ostrich"]) == 1 and 0.05 < feet["ostrich"][0] < 0.2


def test_a_jump_that_still_sinks_as_it_comes_onto_its_toes_is_not_used(planned, human, folder, monkeypatch):
    monkeypatch.setenv(plan_store.FOLDER, folder)
    plan = cp.plan_jump(human, cp.Jump(HEIGHT).wish).motion
    air = next(k for k in range(plan.phases) if plan.flies(k))
    for rate, is_pushed in ((0.5, True), (0.05, False), (-0.2, False)):
        com = plan.com.copy()
        com[plan.first[air - 1], 1, 2] = rate * com[plan.first[air], 1, 2]
        assert plan_store.is_pushed_before_toes(replace(plan, com=com), 0.1) is is_pushed


def test_boxes_lie_before_the_feet_or_below_them(human):
    onto = cp.jump_terrain(human, cp.JumpWish(0.15, forward=0.7, onto=0.3))
    assert onto is not None and onto.height(0.7, 0.0) == 0.3 and onto.height(0.0, 0.0) == 0.0
    off = cp.jump_terrain(human, cp.JumpWish(0.1, forward=0.7, onto=-0.3))
    assert off is not None and off.height(0.7, 0.0) == 0.0 and off.height(0.0, 0.0) == 0.3
    stairs = cp.jump_terrain(human, cp.JumpWish(0.1, side=0.7, onto=0.2), times=3)
    assert stairs is not None
    assert [float(stairs.height(0.0, 0.7 * i)) for i in range(4)] == pytest.approx([0.0, 0.2, 0.4, 0.6])
    down = cp.jump_terrain(human, cp.JumpWish(0.1, forward=0.7, onto=-0.2), times=2)
    assert down is not None
    assert [float(down.height(0.7 * i, 0.0)) for i in range(3)] == pytest.approx([0.4, 0.2, 0.0])
    assert cp.jump_terrain(human, cp.JumpWish(0.3)) is None


@pytest.mark.parametrize(("wish", "times"), [({}, 1), ({"forward": 0.2}, 1), ({"forward": 0.7, "twist": 90.0}, 2)])
def test_a_box_needs_a_way_to_it(human, wish, times):
    with pytest.raises(BadValue):
        cp.jump_terrain(human, cp.JumpWish(0.1, onto=0.3, **wish), times)


@pytest.mark.slow
def test_a_jump_beyond_strength_is_lower_and_says_so(human):
    recording = cp.simulate(human, cp.Jump(1.5), 5.0)
    assert "higher than was found possible" in str(recording.notes["plan"][0])
    (flight, *_) = measure.jumps(recording)
    assert 0.3 < flight.rise < 1.5
