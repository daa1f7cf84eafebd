"""Check, judged by others: plain MuJoCo's projectiles and contact forces, SciPy's least squares, geometry, Newton."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import nnls

from counterpoise import measure, spatial
from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.errors import BadValue, UnknownName
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.motion.files.hub import read_motion
from counterpoise.simulate import Recording
from counterpoise.simulate.loop import simulate
from counterpoise.spacetime.check import CheckTuning, HeldBody, check_motion
from counterpoise.spacetime.check.forces import find_forces
from counterpoise.spacetime.check.frames import com_of, fit_locally, frames_of_motion
from counterpoise.spacetime.check.nonnegative import nonnegative_least_squares
from counterpoise.spacetime.check.support import find_support

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")


def moved(motion: Motion, x=0.0, z=0.0) -> Motion:
    """The motion carried by x and z [m], numbers or one a frame."""
    poses = np.array(motion.poses)
    poses[:, 0] += x
    poses[:, 2] += z
    return replace(motion, poses=poses)


@lru_cache
def squat() -> Motion:
    return reference_motion("squat", character("human"))


@lru_cache
def projectile(seconds: float = 0.6, gravity: float = -9.81) -> Motion:
    """A tumbling human with moving limbs, thrown in plain MuJoCo, 3 m above any ground."""
    body = character("human")
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    model.opt.timestep, model.opt.gravity[:] = 5e-4, (0.0, 0.0, gravity)
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
    data = mujoco.MjData(model)
    data.qpos[:] = body.neutral
    data.qpos[2] += 3.0
    data.qvel[:] = 0.8 * np.random.default_rng(3).standard_normal(model.nv)
    data.qvel[:6] = (1.0, 0.3, 2.0, 0.5, 4.0, 0.3)
    times, poses = [], []
    for k in range(round(seconds / model.opt.timestep) + 1):
        if k % 16 == 0:  # 125 frames a second
            times.append(data.time)
            poses.append(np.array(data.qpos))
        mujoco.mj_step(model, data)
    return Motion(body, np.array(times), np.array(poses), name="thrown")


@lru_cache
def standing() -> Recording:
    body = character("human")
    return simulate(body, Stand(squat()), 2.5, start=Stand(squat()).ready(body))


# ------------------------------------------------------------------------------------------------- good motions


@pytest.mark.parametrize("name", ["stand", "squat", "front_kick"])
def test_our_own_references_pass(human: Character, name: str):
    report = check_motion(reference_motion(name, human))
    assert report.ok, report.verdict
    assert report.finding("skate").value < 1.0
    assert report.finding("penetration").value < 0.2
    assert report.violation < 0.02


def test_what_was_simulated_passes_and_its_ground_force_is_found():
    rec = standing()
    report = check_motion(rec.motion)
    assert report.ok, report.verdict
    assert report.violation < 0.01
    weight = rec.character.weight
    t = report.frames.times[report.frames.judged]
    found = weight * report.frames.needed[report.frames.judged, 3:]
    measured = measure.ground_force(rec)[:-1]
    width = round(0.02 / rec.timestep)  # what the check smooths by
    kernel = np.exp(-0.5 * (np.arange(-4 * width, 4 * width + 1) / width) ** 2)
    calm = np.stack([np.convolve(measured[:, k], kernel / kernel.sum(), "same") for k in range(3)], axis=1)
    expected = np.stack([np.interp(t, rec.time[:-1], calm[:, k]) for k in range(3)], axis=1)
    inside = (t > 0.15) & (t < rec.time[-1] - 0.15)
    assert np.abs(found - expected)[inside].max() < 0.02 * weight


def test_contact_forces_add_up_and_split_between_the_feet_as_the_ground_says():
    rec = standing()
    frames = frames_of_motion(rec.motion, 0.02)
    support = find_support(rec.motion, frames, None, (), CheckTuning())
    forces = find_forces(frames, support, CheckTuning())
    inside = np.flatnonzero((frames.times > 0.3) & (frames.times < 2.2))
    total = forces.contact[inside].sum(axis=1)
    assert np.abs(total - forces.wrench[inside, 3:]).max() < 2e-3
    weight = rec.character.weight
    for k, (name, expected) in enumerate(measure.foot_forces(rec).items()):
        assert rec.character.feet[k].name == name
        mine = forces.contact[inside][:, support.foot == k, 2].sum(axis=1).mean()
        there = expected[(rec.time > 0.3) & (rec.time < 2.2), 2].mean() / weight
        assert mine == pytest.approx(there, abs=0.05)


def test_no_force_pulls_or_leaves_its_friction_cone():
    frames = frames_of_motion(squat(), 0.02)
    support = find_support(squat(), frames, None, (), CheckTuning())
    contact = find_forces(frames, support, CheckTuning(friction=0.5)).contact
    assert contact[..., 2].min() >= 0.0
    assert np.all(np.hypot(contact[..., 0], contact[..., 1]) <= 0.5 * contact[..., 2] + 1e-12)


# ------------------------------------------------------------------------------------------------------- flight


def test_a_thrown_body_breaks_no_law():
    report = check_motion(projectile())
    (flight,) = report.flights
    assert flight.force < 0.005
    assert flight.torque < 0.005
    assert flight.drift < 0.01
    assert flight.gravity == pytest.approx(9.81, rel=1e-3)
    assert report.violation < 0.006
    assert report.finding("flight").ok and report.finding("spin").ok


def test_stretched_to_twice_the_time_three_quarters_of_the_weight_are_missing():
    slow = check_motion(projectile().retimed(0.5))
    (flight,) = slow.flights
    assert flight.force == pytest.approx(1.0 - 1.0 / 4.0, abs=0.005)
    assert flight.gravity == pytest.approx(9.81 / 4.0, rel=2e-3)
    assert flight.drift < 0.02  # half the speed everywhere: angular momentum is still constant
    assert not slow.ok and not slow.finding("flight").ok


@pytest.mark.parametrize("gravity", [-5.0, -15.0])
def test_other_gravity_fails_by_what_is_missing(gravity: float):
    report = check_motion(projectile(0.4, gravity))
    (flight,) = report.flights
    assert flight.force == pytest.approx(abs(1.0 + gravity / 9.81), abs=0.005)
    assert flight.gravity == pytest.approx(-gravity, rel=2e-3)
    assert not report.ok


def test_a_body_that_turns_about_itself_out_of_nothing_is_caught(human: Character):
    """Rolled by hand at a growing rate about a fixed axis: its angular momentum grows with it."""
    t = np.linspace(0.0, 0.5, 61)
    poses = np.tile(human.neutral, (len(t), 1))
    poses[:, 2] += 2.0
    up = np.array([0.0, 0.0, 1.0])
    poses[:, 3:7] = spatial.multiply(spatial.from_axis_angle(up, 12.0 * t**2), human.neutral[3:7])
    motion = Motion(human, t, poses)
    com = com_of(human, poses)
    poses[:, :3] += up * (-0.5 * 9.81 * t**2)[:, None] - (com - com[0])
    turning = replace(motion, poses=poses)
    report = check_motion(turning)
    (flight,) = report.flights
    assert flight.force < 0.01  # the CoM falls as it should
    data = mujoco.MjData(human.model)
    data.qpos[:] = human.neutral
    data.qvel[3:6] = spatial.rotate(spatial.conjugate(human.neutral[3:7]), up)  # 1 rad/s about the vertical
    mujoco.mj_fwdPosition(human.model, data)
    mujoco.mj_fwdVelocity(human.model, data)
    mujoco.mj_subtreeVel(human.model, data)
    expected = data.subtree_angmom[0, 2] * 24.0 / (human.weight * human.height)
    assert report.frames.missing[20:40, 2] == pytest.approx(expected, rel=0.01)
    gain, mean = 24.0 * (flight.end - flight.start), 12.0 * (flight.end + flight.start)  # [rad/s]
    assert flight.turning == pytest.approx(mean, rel=0.01)
    assert report.finding("spin").value == pytest.approx(100.0 * gain / mean, rel=0.02)
    assert not report.possible and "angular momentum changes by" in report.verdict


def test_frozen_in_mid_air_the_whole_weight_is_missing(human: Character):
    pose = np.array(human.neutral)
    pose[2] += 1.0
    report = check_motion(Motion(human, np.linspace(0.0, 1.0, 61), np.tile(pose, (61, 1))))
    assert report.violation == pytest.approx(1.0, abs=1e-9)
    assert not report.ok and "nothing touches the ground" in report.verdict


def test_who_holds_a_bar_need_not_fall(human: Character):
    pose = np.array(human.neutral)
    pose[2] += 1.0
    motion = Motion(human, np.linspace(0.0, 1.0, 61), np.tile(pose, (61, 1)))
    held = check_motion(motion, holds=["hand_left", HeldBody("hand_right")])
    assert np.linalg.norm(held.frames.missing[:, 3:], axis=1).max() < 0.05
    half = check_motion(motion, holds=[HeldBody("hand_left", 0.0, 0.5), HeldBody("hand_right", 0.0, 0.5)])
    assert half.frames.violation[half.frames.times < 0.5].max() < 0.2
    assert half.frames.violation[half.frames.times > 0.6].min() == pytest.approx(1.0, abs=1e-9)


# ------------------------------------------------------------------------------------------------ broken motions


def test_lifted_by_five_centimetres_it_floats_by_five():
    report = check_motion(moved(squat(), z=0.05))
    assert report.finding("float").value == pytest.approx(5.0, abs=0.1)
    assert report.possible and not report.clean and "float 5.0 cm" in report.verdict
    assert report.violation < 0.01  # the forces are as they were
    assert report.resting == pytest.approx(0.05, abs=1e-3) and "--floor fit" in report.verdict
    assert check_motion(moved(squat(), z=0.05), tuning=CheckTuning(floor="fit")).clean
    assert check_motion(moved(squat(), z=0.05), tuning=CheckTuning(floor=0.05)).clean


def test_sunk_by_three_centimetres_it_penetrates_by_three():
    report = check_motion(moved(squat(), z=-0.03))
    assert report.finding("penetration").value == pytest.approx(3.0, abs=0.1)
    assert not report.finding("penetration").ok


@pytest.mark.parametrize("speed", [0.06, 0.2, 0.45])
def test_slid_over_the_floor_it_skates_at_that_speed(speed: float):
    report = check_motion(moved(squat(), x=speed * squat().times))
    assert report.finding("skate").value == pytest.approx(100.0 * speed, rel=0.02)
    assert not report.finding("skate").ok
    assert report.violation < 0.01


def test_a_leaning_tower_falls(human: Character):
    """Tilted stiffly about its toes: at rest the centre of pressure is under the CoM, in front of the feet."""
    angle = 0.3
    pose, turn = np.array(human.neutral), spatial.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    toe = np.array([max(p[0] for p in _soles(human, pose)), 0.0, 0.0])
    pose[:3] = toe + spatial.rotate(turn, pose[:3] - toe)
    pose[3:7] = spatial.multiply(turn, pose[3:7])
    strict = CheckTuning(max_force=9.0).without_doubt()
    tower = Motion(human, np.linspace(0.0, 1.0, 61), np.tile(pose, (61, 1)))
    by_default = check_motion(tower)
    assert not by_default.possible and not by_default.finding("lean").ok and "leans" in by_default.verdict
    report = check_motion(tower, tuning=strict)
    ahead = com_of(human, pose[None])[0, 0] - toe[0]
    assert ahead > 0.1
    assert report.frames.outside[30] == pytest.approx(ahead, abs=2e-3)
    assert not report.finding("force").ok and not report.finding("balance").ok
    assert report.finding("balance").value == pytest.approx(100.0 * ahead, abs=0.2)
    assert f"{100 * ahead:.0f} cm outside the feet" in report.verdict
    # no wrench smaller than the check's will do: SciPy's least squares over the toes' friction cones
    points = np.array([p for p in _soles(human, pose) if p[2] < 0.1])
    com = com_of(human, pose[None])[0]
    ways = [[0.8 * np.cos(a), 0.8 * np.sin(a), 1.0] for a in np.arange(8) * np.pi / 4]
    columns = [np.concatenate([np.cross(p - com, w) / human.height, w]) for p in points for w in ways]
    _, least = nnls(np.array(columns).T, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert report.violation == pytest.approx(least, rel=0.01)


def _soles(body: Character, pose: np.ndarray) -> list[np.ndarray]:
    data = mujoco.MjData(body.model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(body.model, data)
    return [
        data.body(p.body).xpos + data.body(p.body).xmat.reshape(3, 3) @ np.array(p.position)
        for foot in body.feet
        for p in foot.points
    ]


def test_accelerated_on_ice_it_needs_friction_that_is_not_there():
    """Carried to and fro at up to 0.64 m/s^2: possible where shoes grip, not on ice; on ice all of it is missing."""
    t = squat().times
    back_and_forth = moved(squat(), x=0.01 * np.sin(8.0 * t))
    contacts = [ContactWindow(f, p, 0.0, 9.0) for f in ("foot_left", "foot_right") for p in ("heel", "ball")]
    grip = check_motion(back_and_forth, contacts=contacts)
    ice = check_motion(back_and_forth, contacts=contacts, tuning=CheckTuning(friction=0.0))
    assert grip.violation < 0.01
    needed = np.linalg.norm(ice.frames.needed[:, 3:5], axis=1)
    judged = ice.frames.judged
    # of a force f no level ice can give, and the torque h f it has about the feet, least squares leaves a part
    assert np.abs(needed[judged].max() - 0.01 * 64.0 / 9.81) < 0.03
    assert 0.3 * needed[judged].max() < ice.frames.violation[judged].max() <= needed[judged].max() + 0.01


def test_a_knee_bent_backwards_is_named():
    body = character("human")
    poses = np.array(squat().poses)
    knee = body.joint("knee_left")
    low = body.limits.range_low[list(body.limits.range_qpos).index(knee.qpos.start)]
    poses[:, knee.qpos.start] = low - np.radians(12.0)
    report = check_motion(replace(squat(), poses=poses))
    assert report.limits[0].joint == "knee_left"
    assert report.finding("limits").value == pytest.approx(12.0, abs=1e-6)
    assert not report.finding("limits").ok


def test_a_squat_with_ten_times_the_mass_is_beyond_its_strength(human: Character):
    """Masses tenfold, strength the same: every torque tenfold, as linear as Newton."""
    heavy = human.rescaled(masses={"all": 10.0})
    light, loaded = check_motion(squat()), check_motion(replace(squat(), character=heavy))
    assert loaded.strength[0].worst == pytest.approx(10.0 * light.strength[0].worst, rel=0.1)
    assert light.finding("strength").ok and not loaded.finding("strength").ok


def test_trembling_is_seen_as_jitter_and_not_as_force():
    noise = 2e-3 * np.random.default_rng(0).standard_normal((len(squat()), 3))
    poses = np.array(squat().poses)
    poses[:, :3] += noise
    calm, rough = check_motion(squat()), check_motion(replace(squat(), poses=poses))
    assert calm.finding("jitter").value < 0.1
    assert rough.finding("jitter").value > 1.5
    assert rough.finding("jerk").value > 50.0 * calm.finding("jerk").value


# ------------------------------------------------------------------------------------------------------ captured


@needs_clips
def test_a_real_jump_falls_as_things_fall():
    report = check_motion(read_motion(MOCAP / "16_01.bvh", skip_rest_frame=True))
    (flight,) = report.flights
    assert flight.gravity == pytest.approx(9.81, rel=0.06)
    assert flight.force < 0.15
    assert report.violation < 0.06


@needs_clips
def test_a_real_walk_stands_on_its_feet():
    report = check_motion(read_motion(MOCAP / "02_01.bvh", skip_rest_frame=True))
    assert report.violation < 0.03
    assert not report.flights
    assert report.finding("skate").value > 3.0 and report.possible and not report.clean


@needs_clips
def test_swings_on_a_bar_need_the_bar():
    motion = read_motion(MOCAP / "43_02.bvh", skip_rest_frame=True, end=5.0)
    without = check_motion(motion)
    on_it = check_motion(motion, holds=["LeftHand", "RightHand"])
    assert without.violation > 0.9
    assert on_it.violation < 0.1 * without.violation


# ------------------------------------------------------------------------------------------------------- corners


def test_least_squares_agrees_with_scipy():
    rng = np.random.default_rng(1)
    for _ in range(60):
        rows, columns = int(rng.integers(3, 20)), int(rng.integers(1, 40))
        A, b = rng.standard_normal((rows, columns)), rng.standard_normal(rows)
        ridge = 1e-3
        found = nonnegative_least_squares(A.T @ A + ridge**2 * np.eye(columns), A.T @ b)
        wide = np.vstack([A, ridge * np.eye(columns)])
        expected, _ = nnls(wide, np.concatenate([b, np.zeros(columns)]))
        assert found.min() >= 0.0
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_smoothing_leaves_parabolas_and_steady_turns_alone(human: Character):
    step, n = 1.0 / 120.0, 60
    t = step * np.arange(n)
    poses = np.tile(human.neutral, (n, 1))
    poses[:, :3] += np.stack([t, -2.0 * t, 3.0 * t - 4.9 * t**2], axis=1)
    axis = np.array([0.6, 0.0, 0.8])
    poses[:, 3:7] = spatial.multiply(human.neutral[3:7], spatial.from_axis_angle(axis, 5.0 * t))
    q, v, a = fit_locally(human, poses, step, 0.02, 8)
    np.testing.assert_allclose(np.abs(np.sum(q[:, 3:7] * poses[:, 3:7], axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(q[:, :3], poses[:, :3], atol=1e-10)
    np.testing.assert_allclose(v[:, :3], np.stack([1 + 0 * t, -2 + 0 * t, 3.0 - 9.8 * t], axis=1), atol=1e-8)
    np.testing.assert_allclose(v[:, 3:6], np.tile(5.0 * axis, (n, 1)), atol=1e-8)
    np.testing.assert_allclose(a[:, :3], np.tile([0.0, 0.0, -9.8], (n, 1)), atol=1e-6)
    np.testing.assert_allclose(a[:, 3:6], 0.0, atol=1e-6)


@pytest.mark.parametrize("frames", [1, 2, 3, 7])
def test_a_few_frames_are_enough(human: Character, frames: int):
    motion = Motion(human, np.arange(frames) / 60.0, np.tile(human.neutral, (frames, 1)))
    report = check_motion(motion)
    assert report.ok, report.verdict
    assert report.violation < 1e-3


def test_every_figure_can_be_checked(cast: Character):
    times = np.linspace(0.0, 0.5, 31)
    report = check_motion(Motion(cast, times, np.tile(cast.neutral, (31, 1))))
    assert np.isfinite(report.violation)
    json.dumps(report.to_json(frames=True), allow_nan=False)
    if cast.feet:
        assert report.violation < 0.02, report.verdict


def test_a_loop_is_judged_across_its_seam(human: Character):
    loop = squat().as_loop(blend=0.3)
    report = check_motion(loop)
    assert report.frames.judged.all()
    assert report.violation < 0.05


def test_json_is_plain_and_whole():
    data = json.loads(json.dumps(check_motion(squat()).to_json(frames=True), allow_nan=False))
    assert data["ok"] is True and data["violation"] < 0.01
    assert {f["name"] for f in data["findings"]} >= {"skate", "penetration", "float", "limits", "force", "strength"}
    assert len(data["by_frame"]["violation"]) == data["frame_count"] == len(squat())


def test_thresholds_decide(human: Character):
    squatting = squat()
    assert check_motion(squatting).ok
    assert not check_motion(squatting, tuning=CheckTuning(max_torque=10.0)).ok


def test_wrong_questions_are_answered_kindly(human: Character):
    with pytest.raises(BadValue, match="takes a Motion"):
        check_motion("squat")
    with pytest.raises(BadValue, match="max_skate is at least 0"):
        CheckTuning(max_skate=-1.0)
    with pytest.raises(BadValue, match="'fit'"):
        check_motion(squat(), tuning=CheckTuning(floor=float("inf")))
    with pytest.raises(UnknownName, match="hand_left"):
        check_motion(squat(), holds=["left_hand"])
    with pytest.raises(BadValue, match="no 'heel'"):
        check_motion(squat(), contacts=[ContactWindow("foot_middle", "heel", 0.0, 1.0)])
    with pytest.raises(UnknownName, match="skate"):
        check_motion(squat()).finding("skating")
