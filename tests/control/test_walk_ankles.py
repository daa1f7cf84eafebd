"""Walk on bodies unlike a person: ankles that cannot roll or are weak, straight legs, hips that hang from the trunk."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.legs import legs_of
from counterpoise.control.walk.bent_knees import BentKnees, KneesAtLeastBent
from counterpoise.control.walk.planted_foot import hold_one_edge
from counterpoise.control.walk.step_plan import carried_sole
from counterpoise.control.walk.turns import foot_direction, turned
from counterpoise.control.walk.walking_body import UPRIGHT, sole_parts, walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments.walking import how_it_fell

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"


def robot(name: str) -> cp.Character:
    path = MODELS / f"{name}.xml"
    if not path.is_file():
        pytest.skip("the public robots are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # talos: grippers without limits
        return cp.load_character(path)


@pytest.fixture(scope="module")
def without_roll(tmp_path_factory):
    """A human whose ankles have no axis along the foot."""
    text = re.sub(r'<joint name="ankle_(left|right)_roll"[^>]*/>', "", cp.character("human").to_mjcf())
    path = tmp_path_factory.mktemp("bodies") / "without_roll.xml"
    path.write_text(re.sub(r"<custom>.*?</custom>", "", text, flags=re.S), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no torque limits
        return cp.load_character(path)


def test_a_foot_that_cannot_roll_is_found_and_balanced_by_its_place_alone(without_roll):
    body = walking_body(without_roll)
    assert body.feet_alone and body.is_quick
    for leg in body.legs:
        assert not leg.can_roll and carried_sole(leg)[3] == 0.0
        outward = np.abs(without_roll.snapshot().contact_position[:, 1])
        assert outward[leg.outer].min() > outward[leg.inner].max()


def test_the_lower_edge_of_such_a_sole_is_held(without_roll):
    leg = walking_body(without_roll).legs[0]
    over, held = np.zeros(12), np.ones(12, bool)
    hold_one_edge(leg, over, held)
    assert held[leg.outer].all() and not held[leg.inner].any()
    over[leg.outer], held[:] = 0.004, True
    hold_one_edge(leg, over, held)
    assert held[leg.inner].all() and not held[leg.outer].any()


def test_the_direction_of_a_foot_is_that_of_its_orientation_at_any_roll():
    rng = np.random.default_rng(3)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    for yaw, pitch, roll in rng.uniform(-1.0, 1.0, (20, 3)):
        turn = np.array(turned(level, roll, pitch, yaw))
        aim = foot_direction(yaw, pitch, 0.7)
        assert np.allclose(spatial.rotate(turn, np.array([1.0, 0.0, 0.0])), aim["value"], atol=1e-12)
        later, before = (np.array(foot_direction(yaw, pitch + s * 0.7e-5, 0.0)["value"]) for s in (1.0, -1.0))
        assert np.allclose((later - before) / 2e-5, aim["velocity"], atol=1e-8)


def test_the_usual_bodies_walk_as_before(human):
    for body in (human, cp.character("chicken"), cp.character("dinosaur"), human.rescaled({"legs": 0.5})):
        known = walking_body(body)
        assert known.pace == known.strike_share == 1.0
        assert not (known.is_quick or known.stands_straight or known.feet_alone)
        assert all(np.isinf(leg.reach) for leg in known.legs)


def test_knees_may_bend_faster_than_they_must(human):
    body, snapshot = walking_body(human), human.snapshot()
    legs, wanted = (body.legs[0],), (body.legs[0].knee_sign * 9.0,)
    exact, least = BentKnees(legs, wanted), KneesAtLeastBent(legs, wanted)
    for acceleration, missing in ((4.0, 5.0), (9.0, 0.0), (300.0, 0.0)):
        a = np.zeros(human.nv)
        a[body.legs[0].knee] = body.legs[0].knee_sign * acceleration
        assert least.rows(snapshot).size(a) == pytest.approx(missing)
        assert exact.rows(snapshot).size(a) == pytest.approx(abs(acceleration - 9.0))


def test_a_foot_needs_a_heel_and_a_front(human):
    roles = legs_of(human)[0]
    assert sole_parts(replace(roles, ball=())) == (roles.heel, roles.toes, ())
    for bare in (replace(roles, ball=(), toes=()), replace(roles, heel=())):
        with pytest.raises(CounterpoiseError, match="a heel and a front"):
            sole_parts(bare)


def test_what_is_known_of_robots():
    h1, talos, dm = (walking_body(robot(name)) for name in ("h1", "talos", "dm_humanoid"))
    assert h1.feet_alone and not (talos.feet_alone or dm.feet_alone)
    assert h1.legs[0].reach == pytest.approx(0.85 * 40.0 / (51.4 * 9.81), rel=0.01)  # its ankle has 40 N m
    assert dm.legs[0].reach == pytest.approx(0.85 * 20.0 / (40.8 * 9.81), rel=0.01)
    assert np.isinf(talos.legs[0].reach)
    assert talos.hips_height == pytest.approx(talos.legs[0].ankle_height + UPRIGHT * talos.legs[0].straight)
    assert talos.pace < 0.8 and talos.strike_share < 0.5
    assert dm.chest == "torso" and not any("abdomen" in name for name in dm.limbs.legs)
    cmu = walking_body(robot("dm_humanoid_CMU"))
    assert len(cmu.legs[0].ball) == 3 and len(cmu.legs[0].toes) == 0  # its toes' part is the front of its sole


def test_h1_walks_without_catching_itself():
    body = robot("h1")
    recording = cp.simulate(body, cp.Walk(), 4.0, start=cp.disturbed_start(body, 7), seed=7)
    assert not how_it_fell(recording)
    assert recording.notes["steps"][-1] >= 6.0
    assert recording.qpos[-1, 0] > 1.8


def test_h1_shifts_its_weight_on_straight_legs_and_turns():
    body = robot("h1")
    for seed, heading in ((4, 0.0), (0, 0.5)):
        recording = cp.simulate(body, cp.Walk(heading=heading), 4.5, start=cp.disturbed_start(body, seed), seed=seed)
        assert not how_it_fell(recording)
        way = recording.qpos[-1, :2] - recording.qpos[0, :2]
        assert float(np.hypot(*way)) > 1.8
        assert np.arctan2(way[1], way[0]) == pytest.approx(0.85 * heading, abs=0.15)
