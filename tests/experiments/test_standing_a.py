"""Pushes measured, and the experiments made of them: what a push is worth, what counts as survived, and the claims."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import measure
from counterpoise.control.basic import Action
from counterpoise.control.stand import Stand
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.experiments import experiments, run_experiment
from counterpoise.experiments.endurance import ContinuedStand, least_near
from counterpoise.experiments.push_map import NamedController, polar
from counterpoise.experiments.squat_height import SquatHeightSettings, bend_height
from counterpoise.experiments.upright import blow, joint_errors, trunk_of
from counterpoise.measure import Bar, PushLimit, Survival, ankle_limit, push_limit, push_map, strength_limit, survival
from counterpoise.simulate.disturbances import Push

NAMES = ("grapple", "platform", "ice", "morphologies", "windmill", "squat-height", "push-map")
STRANGER = """<mujoco model="stranger">
  <worldbody>
    <body name="torso" pos="0 0 0.98">
      <freejoint/>
      <geom type="box" size="0.09 0.14 0.24" pos="0 0 0.22" mass="32"/>
      {legs}
      <body name="l_arm" pos="0 0.2 0.4"><joint armature="0.02" name="l_arm_x" axis="1 0 0" range="-40 170"/>
        <joint armature="0.02" name="l_arm_y" axis="0 1 0" range="-170 60"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.55" size="0.035" mass="3"/></body>
      <body name="r_arm" pos="0 -0.2 0.4"><joint armature="0.02" name="r_arm_x" axis="1 0 0" range="-170 40"/>
        <joint armature="0.02" name="r_arm_y" axis="0 1 0" range="-170 60"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.55" size="0.035" mass="3"/></body>
    </body>
  </worldbody>
</mujoco>"""
# armature as nearly every published model has it
LEG = """<body name="{s}_thigh" pos="0 {y} 0">
        <joint armature="0.02" name="{s}_hip_x" axis="1 0 0" range="-40 40"/>
        <joint armature="0.02" name="{s}_hip_z" axis="0 0 1" range="-40 40"/>
        <joint armature="0.02" name="{s}_hip_y" axis="0 1 0" range="-110 40"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.06" mass="7"/>
        <body name="{s}_shin" pos="0 0 -0.44"><joint armature="0.02" name="{s}_knee" axis="0 1 0" range="-5 140"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.045" mass="4"/>
          <body name="{s}_foot" pos="0 0 -0.46">
            <joint armature="0.02" name="{s}_ankle_y" axis="0 1 0" range="-45 45"/>
            <joint armature="0.02" name="{s}_ankle_x" axis="1 0 0" range="-30 30"/>
            <geom type="box" pos="0.04 0 -0.05" size="0.12 0.05 0.02" mass="1"/>
          </body></body></body>"""


def stranger() -> cp.Character:
    """Somebody else's biped: other names, no role written down."""
    legs = LEG.format(s="l", y=0.1) + LEG.format(s="r", y=-0.1)
    return cp.Character.from_mjcf(STRANGER.format(legs=legs))


@pytest.fixture(scope="module")
def human() -> cp.Character:
    return cp.character("human")


# --------------------------------------------------------------------------------------------------- what a push is


def test_the_ankle_limit_is_the_pendulums(human):
    """J = m omega d z / h_p, with d found by walking outwards until scipy's hull is left."""
    from scipy.spatial import Delaunay

    here = human.snapshot()
    inside = Delaunay(here.contact_position[:, :2])
    for direction in (0.0, 45.0, 100.0, 200.0, 315.0):
        limit = ankle_limit(human, "thorax", direction)
        way = np.array([np.cos(np.radians(direction)), np.sin(np.radians(direction))])
        reach = np.linspace(0.0, 0.4, 40001)
        d = reach[inside.find_simplex(here.com[:2] + reach[:, None] * way) >= 0].max()
        z, h = here.com[2], here.body_com[human.body_id("thorax")][2]
        assert limit.impulse == pytest.approx(human.mass * np.sqrt(9.81 / z) * d * z / h, rel=2e-3)
        assert limit.rho(2.0 * limit.impulse) == pytest.approx(2.0)


def test_weak_ankles_hold_the_pressure_back():
    """Forward both ankles press: x = x_ankle + 2 tau / m g. Sideways one foot bears all: y = y_ankle + tau / m g."""
    legs = LEG.format(s="l", y=0.1) + LEG.format(s="r", y=-0.1)
    for direction, pitch, roll in ((0.0, 40.0, 90.0), (90.0, 90.0, 10.0)):
        text = legs.replace('ankle_y"', f'ankle_y" actuatorfrcrange="-{pitch} {pitch}"')
        text = text.replace('ankle_x"', f'ankle_x" actuatorfrcrange="-{roll} {roll}"')
        who = cp.Character.from_mjcf(STRANGER.format(legs=text))
        here, weight = who.snapshot(), who.mass * 9.81
        ankle, edge = here.body_position[who.body_id("l_foot")], here.contact_position.max(axis=0)
        forward = (ankle[0] + 2.0 * pitch / weight - here.com[0]) / (edge[0] - here.com[0])
        by_hand = forward if direction == 0.0 else (ankle[1] + roll / weight) / edge[1]
        assert 0.5 < by_hand < 0.8
        assert strength_limit(who, direction) == pytest.approx(by_hand, rel=1e-6)
        assert strength_limit(stranger(), direction) == pytest.approx(1.0)


def test_the_toes_of_a_human_are_too_weak_for_the_front_corners(human):
    assert strength_limit(human, 0.0) == pytest.approx(1.0)
    assert strength_limit(human, 45.0) == pytest.approx(0.827, abs=1e-3) == strength_limit(human, -45.0)
    assert strength_limit(human, 135.0) == pytest.approx(1.0)  # heels need no strength
    with pytest.raises(CounterpoiseError, match="chain"):
        strength_limit(cp.character("chain"), 0.0)
    with pytest.raises(BadValue, match="direction"):
        strength_limit(human, float("nan"))


def test_a_symmetric_figure_has_symmetric_limits():
    for name in ("human", "chicken", "ostrich", "dinosaur", "insectoid"):
        who = cp.character(name)
        for direction in (30.0, 45.0, 90.0, 135.0):
            left, right = (ankle_limit(who, trunk_of(who), a).impulse for a in (direction, -direction))
            assert left == pytest.approx(right, rel=1e-6), (name, direction)


def test_a_pendulum_pushed_beyond_its_ankle_limit_passes_the_edge(human):
    """x'' = omega^2 (x - d), the pressure at the edge all the time: a little less comes back, a little more is gone."""
    limit = ankle_limit(human, "pelvis", 0.0)

    def furthest(share: float) -> float:
        x, v, dt = 0.0, share * limit.impulse * limit.push_height / limit.com_height / limit.mass, 1e-4
        reached = 0.0
        for _ in range(30000):
            v += limit.omega**2 * (x - limit.distance) * dt
            x += v * dt
            reached = max(reached, x)
        return reached

    assert furthest(0.98) < limit.distance < 5.0 * limit.distance < furthest(1.02)


def test_bad_pushes_are_greeted(human):
    with pytest.raises(CounterpoiseError, match="thorx"):
        ankle_limit(human, "thorx", 0.0)
    with pytest.raises(CounterpoiseError, match="chain"):
        ankle_limit(cp.character("chain"), "link1", 0.0)
    with pytest.raises(BadValue, match="direction"):
        ankle_limit(human, "thorax", float("nan"))
    with pytest.raises(BadValue, match="lowest"):
        push_limit(human, NamedController("stand"), "thorax", 0.0, lowest=2.0, highest=1.0)
    with pytest.raises(BadValue, match="workers"):
        push_map(human, NamedController("stand"), ["thorax"], workers=0)
    with pytest.raises(BadValue, match=r"Bar\.foot"):
        Bar(foot=-1.0)


# --------------------------------------------------------------------------------------------- what counts as survived


def test_what_counts_as_survived(human):
    """The same verdict on recordings whose end is known: a still stand, a fall, a foot that is moved."""
    still = cp.simulate(human, Stand(), 0.8)
    calm = survival(still, 0.2, Bar(seconds=0.5))
    assert calm and calm.foot < 1e-3 and calm.wobble < 0.05 and calm.why == ""
    limp = survival(cp.simulate(human, None, 1.5), 0.1, Bar(seconds=1.3))
    assert not limp and limp.fall.fell and "fell at" in limp.why
    strict = survival(still, 0.2, Bar(seconds=0.5, foot=1e-9))
    assert not strict and "a foot moved" in strict.why
    elsewhere = human.neutral.copy()
    elsewhere[human.joint("knee_left").qpos] += 1.0
    off = survival(still, 0.2, Bar(seconds=0.5), reference=elsewhere)
    assert off.pose == pytest.approx(1.0 / np.sqrt(human.nv - 6), rel=0.05) and "joints are off" in off.why


def test_the_search_finds_the_border(human, monkeypatch):
    """Against a figure that survives exactly what lies below 1.37: the bisection ends within its tolerance."""
    from counterpoise.measure import pushes

    def pretend(character, controller, seconds, disturbances, world=None):
        return disturbances[0]

    def verdict(push, end, bar):
        rho = np.linalg.norm(push.force) * push.duration / ankle_limit(human, "thorax", 90.0).impulse
        assert end == pytest.approx(push.start + push.duration)
        fine = bool(rho < 1.37)
        return Survival(fine, "" if fine else "fell", None, 0, 0, 0, 0, 0, 0, 0)  # type: ignore[arg-type]

    monkeypatch.setattr(Push, "status", "finished", raising=False)
    monkeypatch.setattr(pushes, "simulate", pretend)
    monkeypatch.setattr(pushes, "survival", verdict)
    found = push_limit(human, NamedController("stand"), "thorax", 90.0, tolerance=0.05)
    assert 1.37 - 0.05 <= found.rho < 1.37 and found.why == "fell" and found.force * 0.1 == pytest.approx(found.impulse)
    assert push_limit(human, NamedController("stand"), "thorax", 90.0, lowest=1.5).rho == 0.0
    above = push_limit(human, NamedController("stand"), "thorax", 90.0, highest=1.2, tolerance=0.02)
    assert above.rho > 1.17 and above.why == ""


def test_a_map_is_drawn_as_it_is():
    limits = {
        ("thorax", a): PushLimit("thorax", a, 1.0 + a / 360.0, 20.0, 200.0, 0.1, "", 3) for a in (0.0, 90.0, 180.0)
    }
    figure = polar({("stand", "human", "thorax"): limits, ("balance", "human", "thorax"): limits})
    axis = figure.axes[0]
    assert len(figure.axes) == 1 and axis.get_theta_offset() == pytest.approx(np.pi / 2)  # forward is up
    assert np.allclose(axis.lines[1].get_xdata(), np.radians([0, 90, 180, 360]))
    assert np.allclose(axis.lines[1].get_ydata(), [1.0, 1.25, 1.5, 1.0])


# ------------------------------------------------------------------------------------------------- the experiments


def test_they_are_listed_with_their_sources():
    known = experiments()
    for name in NAMES:
        assert known[name].source and known[name].parameters
        with pytest.raises(CounterpoiseError, match="did you mean 'character"):
            run_experiment(name, settings={"charcter": "human"})


@dataclass(frozen=True, eq=False)
class InTurn:
    """Stand, changed while it stands: each part takes over at its time, with the memory of the one before."""

    parts: Sequence[tuple[float, Stand]]  # from when [s], what; the first is there from the start

    @property
    def rate(self) -> float:
        return self.parts[0][1].rate

    def begin(self, character: cp.Character) -> Any:
        return self.parts[0][1].begin(character)

    def act(self, snapshot: cp.Snapshot, memory: Any) -> Action:
        now = [stand for start, stand in self.parts if snapshot.time >= start - 1e-9] or [self.parts[0][1]]
        return now[-1].act(snapshot, memory)


def test_controllers_in_turn_keep_their_memory(human):
    """The second part takes over where the first's memory is: as one controller all along, when both are the same."""
    one = cp.simulate(human, Stand(), 0.3, disturbances=[Push("thorax", (150, 0, 0), 0.05, 0.1)])
    two = cp.simulate(
        human, InTurn([(0.0, Stand()), (0.15, Stand())]), 0.3, disturbances=[Push("thorax", (150, 0, 0), 0.05, 0.1)]
    )
    assert np.array_equal(one.qpos, two.qpos)
    other = cp.simulate(human, InTurn([(0.0, Stand()), (0.15, Stand(compliance=1.0))]), 0.3)
    assert np.abs(other.qpos[-1] - two.qpos[-1]).max() > 1e-4


def test_minutes_one_after_another_are_one_run(human):
    """State, time and memory go on: two halves, the push across their border, are the whole."""
    pushes = [Push("thorax", (200, 0, 0), 0.1, 0.1)]
    whole = cp.simulate(human, Stand(), 0.3, disturbances=pushes)
    stand = ContinuedStand(Stand())
    first = cp.simulate(human, stand, 0.15, disturbances=pushes)
    state = human.state(first.positions()[-1], first.velocities()[-1], float(first.time[-1]))
    second = cp.simulate(human, stand, 0.15, disturbances=pushes, start=state)
    assert second.time[-1] == pytest.approx(whole.time[-1])
    assert np.abs(second.qpos[-1] - whole.qpos[-1]).max() < 1e-6
    forgot = cp.simulate(human, Stand(), 0.15, disturbances=pushes, start=human.state(state.q, state.v, state.time))
    assert np.abs(forgot.qpos[-1] - whole.qpos[-1]).max() > 1e-5


def test_between_two_directions_the_weaker_counts():
    ways = {0.0: 1.6, 90.0: 1.2, 180.0: 1.5, 270.0: 1.4}
    assert least_near(ways, 10.0) == 1.2 and least_near(ways, 350.0) == 1.4 and least_near(ways, 200.0) == 1.4


def test_pushes_of_an_hour_are_those_of_the_map(tmp_path):
    """Twelve seconds: no push beyond its share of what the map says, and a map that does not fit is refused."""
    rows = [{"direction": float(a), "rho": 0.5} for a in range(0, 360, 45)]
    facts = {f"stand human {body}": rows for body in ("pelvis", "thorax", "head")}
    (tmp_path / "claims.json").write_text(json.dumps({"facts": facts}))
    report = run_experiment("endurance", settings={"minutes": 0.2, "map": str(tmp_path / "claims.json")})
    assert report.outcome.holds and 2 <= report.outcome.facts["pushes"] <= 5
    rec = report.recordings["last minute"]
    force = np.linalg.norm(rec.external[:, :, :3], axis=2)
    for body in ("pelvis", "thorax", "head"):
        most = max(ankle_limit(rec.character, body, a).impulse for a in range(0, 360, 5))
        assert force[:, 1 + list(rec.character.segments).index(body)].max() <= 0.8 * 0.5 * most / 0.1
    (tmp_path / "other.json").write_text(json.dumps({"facts": {"stand child thorax": rows}}))
    with pytest.raises(CounterpoiseError, match="measure it first"):
        run_experiment("endurance", settings={"map": str(tmp_path / "other.json")})


def test_small_helpers(human):
    push = blow("thorax", 90.0, 200.0, 1.0)
    assert np.allclose(push.force, (0.0, 200.0, 0.0)) and push.duration == 0.1
    assert trunk_of(human) == "thorax" and trunk_of(stranger()) == "torso"
    height = bend_height(SquatHeightSettings(depth=0.6, period=2.0, bends=2), 1.0)
    assert height(0.0) == pytest.approx(1.0) and height(1.0) == pytest.approx(0.6) and height(9.0) == pytest.approx(1.0)


def test_the_platform_carries():
    """A second of it: standing, on a floor that moved, with little slip."""
    report = run_experiment("platform", settings={"seconds": 1.2, "still": False})
    assert not report.outcome.facts["fell"] and report.outcome.facts["slip"] < 0.03
    rec = report.recordings["platform"]
    assert np.ptp(rec.qpos[:, rec.character.nq]) > 0.03


@pytest.mark.slow
def test_somebody_elses_biped_stands_and_takes_pushes():
    who = stranger()
    still = cp.simulate(who, Stand(), 3.0)
    assert not measure.fell(still).fell and joint_errors(still)[-1] < 0.05
    found = push_map(who, NamedController("stand"), [trunk_of(who)], (0.0, 90.0, 225.0), tolerance=0.2, workers=2)
    assert min(limit.rho for limit in found.values()) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human", "child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur"])
def test_every_figure_takes_a_push_from_anywhere(name):
    who = cp.character(name)
    for direction in range(0, 360 if name == "asymmetric" else 181, 45):  # the others are the same to left and right
        limit = ankle_limit(who, "thorax", direction)
        push = blow("thorax", direction, 1.1 * limit.impulse / 0.1, 0.3)
        rec = cp.simulate(who, Stand(), 3.4, disturbances=[push])
        verdict = survival(rec, 0.4)
        assert verdict, (direction, verdict)


@pytest.mark.slow
def test_the_map_in_processes_is_the_map_in_one(human):
    search = {"tolerance": 0.4, "highest": 1.6}
    alone = push_map(human, NamedController("stand"), ["thorax"], (0.0, 90.0), **search)
    told: list[float] = []
    together = push_map(human, NamedController("stand"), ["thorax"], (0.0, 90.0), workers=2,
                        progress=lambda p: told.append(p.share), **search)  # fmt: skip
    assert alone == together and sorted(set(told)) == [0.0, 0.5, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grapple", "platform", "ice", "morphologies"])
def test_the_claims_hold(name):
    report = run_experiment(name)
    assert report.outcome.holds, [claim for claim in report.outcome.claims if not claim.holds]


@pytest.mark.slow
def test_squat_height_says_what_is_found():
    """Bends are followed; heights out of reach do not topple Balance. Whether it is back is judged 3 s later, strictly.

    It is not (3.6 % too low, 0.16 rad rms): a finding, told in the docs; the claim must not be judged more kindly.
    """
    outcome = run_experiment("squat-height").outcome
    bends, beyond = outcome.claims
    assert bends.holds and "stood to the end" in beyond.measured and "3 s afterwards" in beyond.measured
    facts = outcome.facts
    assert beyond.holds == (facts["back"] < 0.01 and facts["error_after"] < 0.1)
    assert facts["highest"] > 1.02 and facts["least"] < 0.7 and facts["back"] < 0.05


@pytest.mark.slow
def test_windmill_says_what_is_survived():
    """The thesis's 1000 N is not survived with contacts that can slip; 400 N in place are, and the arms turn."""
    facts = run_experiment("windmill", settings={"step": 100.0}).outcome.facts
    assert 400.0 <= facts["largest"] < 1000.0 and facts["foot"] < 0.01 and facts["arm_travel"] > np.pi
    assert facts["stepping"]  # by steps all of them are


@pytest.mark.slow
def test_ice_needs_to_be_known():
    facts = run_experiment("ice", settings={"ordinary": False}).outcome.facts
    assert not facts["ice"]["fell"] and facts["ice"]["slip"] < 0.05
