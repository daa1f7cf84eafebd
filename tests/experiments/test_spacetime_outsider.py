"""The outsider's judgement of optimised motions, and the poses and knots the spacetime experiments are made of."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import counterpoise as cp
from counterpoise.experiments import find_experiment, run_experiment
from counterpoise.experiments.dismount import DismountSettings, dismount_stunt
from counterpoise.experiments.key_poses import ballistic, bent, com_of, flat_footed, hanging, middle, standing_at
from counterpoise.experiments.scenery import rows_of, take_with
from counterpoise.experiments.staging import course_of, first_guess_of, solve
from counterpoise.experiments.standing_jump import StandingJumpSettings, jump_stunt
from counterpoise.measure.outsider import judge_motion, judge_torques
from counterpoise.measure.outsider_mechanics import bounded_residual, lowest

FEET = ("foot_left", "foot_right")


@pytest.fixture(scope="module")
def human():
    return cp.character("human")


@pytest.fixture(scope="module")
def jump(human):
    stunt = dataclasses.replace(jump_stunt(human, StandingJumpSettings(distance=0.5, flight=0.4)), rate=15.0)
    return stunt, solve(stunt)


@pytest.fixture(scope="module")
def judged(jump):
    return judge_motion(jump[1])


def test_contact_forces_are_what_carries_the_body(human, jump):
    """With the forces told, MuJoCo's inverse dynamics has nothing left to ask of the root; they obey friction."""
    _, result = jump
    forces = result.forces()
    assert [c.label for c in forces] == [h.label for h in result.problem.holds]
    strain = judge_torques(result)
    assert strain.root < 1e-6
    weight = human.mass * 9.81
    for c in forces:
        up, along = c.forces[..., 2], np.linalg.norm(c.forces[..., :2], axis=-1)
        assert (up > -1e-9 * weight).all() and (along <= 0.8 * up + 1e-6 * weight).all()
        assert np.abs(c.points[..., 2]).max() < 1e-6
    end = [c for c in forces if c.times[-1] == result.curve.times[-1]]
    assert sum(float(c.total[-1, 2]) for c in end) == pytest.approx(weight, rel=0.3)


def test_limits_on_torque_hold_to_the_outsider(human):
    stunt = dataclasses.replace(jump_stunt(human, StandingJumpSettings(distance=0.5, flight=0.4)), rate=15.0)
    joints = [j.name for j in human.joints if j.kind != "free"]
    free = judge_torques(solve(stunt))
    share = round(0.7 * free.worst[1], 2)
    held = solve(dataclasses.replace(stunt, wishes=(*stunt.wishes, cp.TorqueLimit(joints, share=share))))
    strain = judge_torques(held)
    assert held.ok and held.symmetric
    assert strain.worst[1] < share + 1e-4 < free.worst[1] and strain.root < 1e-5
    for own in held.strains():
        assert own.share == pytest.approx(strain.share[own.joint], abs=1e-6)


def test_a_solved_jump_is_possible_to_the_outsider(jump, judged):
    _, result = jump
    assert result.ok and np.allclose(judged.flights, [(0.6, 1.0)])
    assert judged.flight_force < 0.012 and judged.momentum_change < 0.01
    assert judged.contact_gap < 0.01 and judged.slip < 0.002 and judged.sink < 0.005


def test_its_flight_residual_is_how_far_the_com_is_from_falling_freely(human, jump, judged):
    _, result = jump
    t = np.arange(0.602, 0.998, 0.001)
    com = np.array([com_of(human, q) for q in result.sample(t).q])
    fall = np.diff(com, 2, axis=0) / 0.001**2 + [0.0, 0.0, 9.81]
    rms = float(np.sqrt((fall**2).sum(axis=1).mean())) / 9.81
    assert judged.flight_force == pytest.approx(rms, rel=0.05)


def test_the_keys_interpolated_are_not(jump):
    stunt, result = jump
    judged = judge_motion(result, first_guess_of(stunt))
    assert judged.flight_force > 0.3 and judged.slip > 0.05 and not judged.fine


def test_on_ice_the_ground_cannot_give_what_the_jump_needs(jump, judged):
    assert judge_motion(jump[1], friction=0.02).contact_gap > 5.0 * max(judged.contact_gap, 0.004)


def test_too_few_poses_are_refused(jump):
    with pytest.raises(cp.CounterpoiseError, match="at least 100"):
        judge_motion(jump[1], rate=20.0)


def test_the_small_program_agrees_with_another_solver():
    rng = np.random.default_rng(4)
    for _ in range(20):
        A, b = rng.normal(size=(6, 10)), rng.normal(size=6)
        low = np.array([-np.inf] * 2 + [0.0] * 4 + [-0.1] * 4)
        high = np.array([np.inf] * 6 + [0.1] * 4)
        other = lsq_linear(A, b, (low, high), method="bvls", max_iter=1000)
        assert bounded_residual(A, b, low, high) == pytest.approx(np.sqrt(2.0 * other.cost), abs=1e-4)


def test_the_lowest_point_of_every_shape_is_where_mujoco_finds_it():
    kinds = ("sphere", "capsule", "cylinder", "box", "ellipsoid")
    shapes = "".join(
        f'<body pos="{3 * k} 0 1" quat="0.7 0.3 -0.4 {0.2 + 0.1 * k}"><geom type="{kind}" size="0.11 0.2 0.3"/></body>'
        for k, kind in enumerate(kinds)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom name="slab" type="box" size="30 30 1" pos="0 0 -1"/>{shapes}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for geom in range(1, model.ngeom):
        gap = mujoco.mj_geomDistance(model, data, geom, 0, 5.0, None)
        assert lowest(model, data, geom) == pytest.approx(gap, abs=2e-3), kinds[geom - 1]


# -------------------------------------------------------------------------------------------------------------- poses


def test_poses_by_angles_are_mirrored_and_stand_where_told(human):
    q = bent(human, shoulder=(1.2, 0.3, 0.1), hip=(0.3, -0.4, 0.0), knee=0.6)
    s = human.snapshot(human.state(q))
    for part in ("hand", "foot"):
        left, right = s.position(f"{part}_left") - s.com, s.position(f"{part}_right") - s.com
        np.testing.assert_allclose(left * (1, -1, 1), right, atol=1e-6)
    crouch = flat_footed(human, 0.7, hip=-1.2, knee=1.3, ankle=-0.4)
    s = human.snapshot(human.state(crouch))
    np.testing.assert_allclose(middle(human, crouch, FEET)[0], 0.7, atol=1e-9)
    assert abs(s.rotation("foot_left")[2, 2] - 1.0) < 0.02  # flat
    with pytest.raises(cp.CounterpoiseError, match="did you mean 'elbow'"):
        bent(human, elbw=1.0)


def test_hanging_hands_are_at_the_bar_whatever_the_swing(human):
    for angle in (-1.0, 0.0, 0.8):
        q = hanging(human, (0.1, 0.0, 2.4), angle)
        np.testing.assert_allclose(middle(human, q, human.hands), (0.1, 0.0, 2.4), atol=1e-9)
        ahead = com_of(human, q)[0] - 0.1
        assert np.sign(round(ahead - 0.15, 2)) == np.sign(angle) or angle == 0.0


def test_a_thrown_point_falls_freely():
    a, b = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.2, 0.4])
    path = np.array([ballistic(a, b, 0.7, t) for t in np.linspace(0.0, 0.7, 8)])
    np.testing.assert_allclose(path[[0, -1]], [a, b], atol=1e-12)
    np.testing.assert_allclose(np.diff(path, 2, axis=0) / 0.1**2, np.tile([0, 0, -9.81], (6, 1)), atol=1e-9)


def test_a_course_knows_momentum_and_inertia(human):
    """A rigid body that turns: L = I w about the axis through its CoM."""
    t, w = np.linspace(0.0, 0.1, 21), 3.0
    base = standing_at(human, np.asarray(human.neutral), 0.0)
    com = com_of(human, base)
    from counterpoise.experiments.key_poses import moved

    poses = np.array([moved(human, base, com, com, (0.0, w * k, 0.0)) for k in t])
    c = course_of(human, t, poses)
    np.testing.assert_allclose(c.momentum[5:-5, 1], w * c.inertia[5:-5], rtol=1e-4)
    np.testing.assert_allclose(c.com, np.tile(com, (len(t), 1)), atol=1e-9)


def test_rows_of_strobes_are_one_picture(human):
    motion = cp.reference_motion("squat", human)
    bar = {"bar": ((0.0, 0.0, 1.9), (0, 1, 0), 0.5)}
    picture = rows_of({"a": (take_with(human, motion, (bar,)), [0.0, 1.0])}, (120, 90), -80.0)
    bare = rows_of({"a": (take_with(human, motion), [0.0, 1.0])}, (120, 90), -80.0)
    assert picture.shape == (90, 120, 3) and picture.std() > 5.0 and (picture != bare).any()


# ------------------------------------------------------------------------------------------------------------ stories


def test_the_short_dismount_is_solved_and_judged_possible(human):
    stunt = dismount_stunt(human, DismountSettings(), 0.6)
    result = solve(stunt)
    judged = judge_motion(result)
    assert result.exact and result.worst <= 1e-6
    assert judged.flight_force < 0.01 and judged.momentum_change < 0.01 and judged.contact_gap < 0.015
    t = np.linspace(0.9, 1.5, 61)
    c = course_of(human, t, np.asarray(result.sample(t).q))
    assert c.com[:, 2].max() < 2.3 and c.inertia.min() < 0.6 * c.inertia[0]
    turned = np.unwrap([np.arctan2(*human.snapshot(human.state(q)).rotation("pelvis")[[0, 2], 2]) for q in
                        result.sample(np.linspace(0.0, stunt.duration, 200)).q])  # fmt: skip
    assert abs(turned[-1] - turned[0]) > 2.0 * np.pi - 1.3  # once over, from hanging back to standing


def test_a_chain_whips_when_its_torques_are_bounded():
    report = run_experiment("passive-chain-whip", settings={"rate": 60})
    assert report.outcome.holds, [c for c in report.outcome.claims if not c.holds]


def test_they_are_listed():
    for name in ("dismount", "monkey-bars", "standing-jump", "landing-repaired", "stunts", "passive-chain-whip"):
        assert "Fang & Pollard" in find_experiment(name).source
    with pytest.raises(cp.CounterpoiseError, match="did you mean 'vault'"):
        run_experiment("stunts", settings={"only": "valt"})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dismount", "monkey-bars", "standing-jump", "landing-repaired", "stunts"])
def test_every_claim_holds(name: str):
    report = run_experiment(name)
    assert report.outcome.holds, [c for c in report.outcome.claims if not c.holds]
