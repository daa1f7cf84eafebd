"""A good motion broken in a known way: the check names what was done to it, that and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import nnls

from counterpoise import spatial
from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.check import CheckReport, CheckTuning, check_motion
from counterpoise.spacetime.check.forces import torques_with_stops

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")
FORCES = ("force", "balance", "strength")
FORWARD, SIDE = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


@lru_cache
def squat() -> Motion:
    return reference_motion("squat", character("human"))


def moved(motion: Motion, x=0.0, z=0.0) -> Motion:
    """The motion carried by x and z [m], numbers or one a frame."""
    poses = np.array(motion.poses)
    poses[:, 0] += x
    poses[:, 2] += z
    return replace(motion, poses=poses)


def turned(motion: Motion, axis: np.ndarray, angle: float) -> Motion:
    """The whole motion turned about an axis through the origin [rad]."""
    poses, turn = np.array(motion.poses), spatial.from_axis_angle(axis, angle)
    poses[:, :3] = spatial.rotate(turn, poses[:, :3])
    poses[:, 3:7] = spatial.multiply(turn, poses[:, 3:7])
    return replace(motion, poses=poses)


def trembling(motion: Motion) -> Motion:
    poses = np.array(motion.poses)
    poses[:, :3] += 4e-3 * np.random.default_rng(0).standard_normal((len(poses), 3))
    return replace(motion, poses=poses)


def bent_back(motion: Motion) -> Motion:
    poses, knee = np.array(motion.poses), motion.character.joint("knee_left")
    poses[:, knee.qpos.start] = -np.radians(12.0)
    return replace(motion, poses=poses)


def bad(report: CheckReport) -> set[str]:
    return {finding.name for finding in report.findings if not finding.ok}


# --------------------------------------------------------------------------------------------------- on its feet


@pytest.mark.parametrize(
    ("breaks", "named", "also", "words"),
    [
        (lambda m: m, set(), set(), "Physically possible"),
        (lambda m: moved(m, x=0.05 * m.times), {"skate"}, set(), "feet skate 5.0 cm/s"),
        (lambda m: moved(m, z=-0.03), {"penetration"}, set(), "sinks 3.0 cm"),
        (lambda m: moved(m, z=0.05), {"float"}, set(), "float 5.0 cm"),
        (trembling, {"jitter", "jerk"}, {"skate", *FORCES}, "jitter is"),
        (bent_back, {"limits"}, {"skate", "penetration", *FORCES}, "knee_left bends 12 deg beyond its limits"),
    ],
    ids=["left alone", "skate", "sink", "lift", "tremble", "knee"],
)
def test_what_was_broken_is_what_is_named(
    breaks: Callable[[Motion], Motion], named: set[str], also: set[str], words: str
):
    report = check_motion(breaks(squat()))
    assert named <= bad(report) <= named | also, report.verdict
    assert words in report.verdict


def test_skate_of_one_foot_is_that_foots():
    """A squat whose right leg drifts sideways from the hip: its foot moves, the other stands."""
    poses = np.array(squat().poses)
    hip = squat().character.joint("hip_right")
    drift = np.zeros((len(poses), squat().character.nv))
    drift[:, hip.dofs.start : hip.dofs.stop] = 0.1 * squat().times[:, None] * np.array([1.0, 0.0, 0.0])
    report = check_motion(replace(squat(), poses=squat().character.integrate(poses, drift)))
    assert not report.finding("skate").ok and report.finding("skate").where == "right foot"


def test_lying_on_a_slope_it_is_told_that_it_leans(human: Character):
    """Stiff as a board against a wall that is not shown, heels on the ground."""
    heel = np.array([-0.08, 0.0, 0.0])
    pose, turn = np.array(human.neutral), spatial.from_axis_angle(SIDE, -0.35)
    pose[:3], pose[3:7] = heel + spatial.rotate(turn, pose[:3] - heel), spatial.multiply(turn, pose[3:7])
    motion = Motion(human, np.linspace(0.0, 1.0, 61), np.tile(pose, (61, 1)))
    report = check_motion(motion, tuning=CheckTuning(max_force=9.0))  # 11% are missing: captures show more
    assert not report.finding("force").ok and "sits, leans or holds on" in report.verdict
    assert not report.carried


# -------------------------------------------------------------------------------------------------------- flight


@lru_cache
def thrown() -> Motion:
    """A tumbling human with moving limbs, thrown in plain MuJoCo, 3 m above any ground."""
    body = character("human")
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    model.opt.timestep = 5e-4
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
    data = mujoco.MjData(model)
    data.qpos[:] = body.neutral
    data.qpos[2] += 3.0
    data.qvel[:] = 0.5 * np.random.default_rng(3).standard_normal(model.nv)
    data.qvel[:6] = (1.0, 0.3, 2.5, 0.5, 3.0, 0.3)
    poses = []
    for k in range(1121):
        if k % 16 == 0:  # 125 frames a second
            poses.append(np.array(data.qpos))
        mujoco.mj_step(model, data)
    return Motion(body, 0.008 * np.arange(len(poses)), np.array(poses), name="thrown")


@pytest.mark.parametrize(
    ("speed", "words"),
    [(1.0 / 1.5, "1.5 times too slowly"), (0.5, "2.0 times too slowly"), (1.4, "1.4 times too fast")],
)
def test_a_flight_played_at_another_speed_tells_which(speed: float, words: str):
    report = check_motion(thrown().retimed(speed))
    assert bad(report) >= {"flight", "force"} and not report.carried
    assert words in report.verdict
    assert report.flights[0].speed == pytest.approx(speed, rel=0.01)
    assert "too slowly" not in check_motion(thrown()).verdict


@needs_clips
@pytest.mark.parametrize(("speed", "words"), [(1.0 / 1.5, "1.5 times too slowly"), (0.5, "2.0 times too slowly")])
def test_so_does_a_real_jump(speed: float, words: str):
    jump = read_motion(MOCAP / "16_01.bvh", skip_rest_frame=True)
    assert bad(check_motion(jump)) == {"skate"}
    slow = check_motion(jump.retimed(speed))
    assert bad(slow) >= {"flight"} and not slow.possible and words in slow.verdict


# ------------------------------------------------------------------------------------------------------- carried


@lru_cache
def trapeze(quicker: float = 1.0) -> Motion:
    """A stiff body that swings by its feet as a pendulum does: theta'' = -(m g d / I) sin(theta), by SciPy."""
    body = character("human")
    data = mujoco.MjData(body.model)
    data.qpos[:] = body.neutral
    mujoco.mj_fwdPosition(body.model, data)
    mass = np.asarray(body.model.body_mass)
    pivot = 0.5 * (data.body("foot_left").xpos + data.body("foot_right").xpos)
    away = data.xipos - pivot
    around = [
        (data.ximat[b].reshape(3, 3) * body.model.body_inertia[b]) @ data.ximat[b].reshape(3, 3).T
        for b in range(body.model.nbody)
    ]
    inertia = sum(i[1, 1] for i in around) + float((mass * (away[:, 0] ** 2 + away[:, 2] ** 2)).sum())
    centre = (mass[:, None] * away).sum(axis=0) / mass.sum()
    ratio = mass.sum() * 9.81 * float(np.hypot(centre[0], centre[2])) / inertia * quicker**2
    t = np.arange(0.0, 1.6, 1.0 / 120.0)
    swing = solve_ivp(lambda _, y: [y[1], -ratio * np.sin(y[0])], (0.0, 2.0), [0.7, 0.0], t_eval=t, rtol=1e-10).y[0]
    upright = np.arctan2(centre[0], centre[2])  # what takes the CoM straight above the pivot
    turn = spatial.from_axis_angle(SIDE, np.pi - upright + swing)
    poses = np.tile(body.neutral, (len(t), 1))
    poses[:, :3] = np.array([0.0, 0.0, 2.6]) + spatial.rotate(turn, body.neutral[:3] - pivot)
    poses[:, 3:7] = spatial.multiply(turn, body.neutral[3:7])
    return Motion(body, t, poses, name="trapeze")


def test_who_swings_by_the_feet_is_said_to_hang_and_by_what():
    report = check_motion(trapeze())
    (hang,) = report.carried
    assert hang.start < 0.05 and hang.end > 1.5 and hang.bodies == ("foot_left", "foot_right")
    assert bad(report) == {"carried"} and not report.flights
    assert "something that is not shown carries" in report.verdict and hang.hold_options in report.verdict
    assert report.finding("carried").value == pytest.approx(1.6, abs=0.02)
    assert check_motion(trapeze(), tuning=CheckTuning(max_carried=2.0)).ok
    held = check_motion(trapeze(), holds=hang.bodies)
    assert not held.carried and held.violation < 0.02, held.verdict  # and no torque is missing: it is a pendulum
    wrong = check_motion(trapeze(1.5), holds=hang.bodies)
    assert wrong.violation > 5.0 * held.violation


def test_on_a_box_that_is_not_shown_the_floor_is_told():
    report = check_motion(moved(squat(), z=0.4))
    assert bad(report) == {"carried"}
    assert "stand 40.0 cm above the floor" in report.verdict and "--floor fit" in report.verdict
    assert check_motion(moved(squat(), z=0.4), tuning=CheckTuning(floor="fit")).ok


def test_carried_for_a_while_and_thrown_for_another():
    """Held still for 0.6 s, then thrown: only the first part is carried, only the second is flight."""
    fall = thrown()
    poses = np.vstack([np.tile(fall.poses[0], (75, 1)), fall.poses])
    report = check_motion(Motion(fall.character, 0.008 * np.arange(len(poses)), poses))
    (hang,) = report.carried
    assert hang.end == pytest.approx(0.6, abs=0.1)
    last = report.flights[-1]
    assert last.gravity == pytest.approx(9.81, rel=0.1) and last.end > 1.0


@needs_clips
def test_the_high_bar_is_named_and_held_by_the_hands():
    report = check_motion(read_motion(MOCAP / "43_02.bvh", skip_rest_frame=True))
    (hang,) = report.carried
    assert hang.start < 0.1 and hang.end == pytest.approx(6.0, abs=0.15)
    assert hang.bodies == ("LeftHand", "RightHand")
    assert report.finding("force").value < 15.0 < 100.0 * report.violation


# --------------------------------------------------------------------------------------------- how a file is read


def test_upside_down_is_said():
    report = check_motion(moved(turned(squat(), FORWARD, np.pi), z=3.0))
    assert not report.ok and "upside down" in report.verdict and "--up" in report.verdict


def test_a_giant_is_asked_for_its_units(tmp_path: Path):
    squat().write(tmp_path / "squat.bvh")
    for units, expected in (("m", False), (100.0, True), (0.01, True)):
        report = check_motion(read_motion(tmp_path / "squat.bvh", units=units))
        assert ("--units" in report.verdict) == expected, report.verdict


@needs_clips
def test_a_tilted_floor_is_seen():
    walk = read_motion(MOCAP / "02_01.bvh", skip_rest_frame=True)
    first, steeper = check_motion(walk), check_motion(turned(walk, SIDE, np.radians(-2.0)))
    tilts = [float(r.verdict.split("tilted by ")[1].split(" deg")[0]) for r in (first, steeper)]
    assert 0.8 < tilts[0] < 1.5
    assert abs(abs(tilts[1] - tilts[0]) - 2.0) < 0.3 or tilts[1] + tilts[0] == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_too_few_frames_are_no_proof(frames: int):
    report = check_motion(replace(squat(), times=squat().times[:frames], poses=squat().poses[:frames]))
    assert report.ok and "too few" in report.verdict and "Physically possible" not in report.verdict


def test_a_pose_is_called_a_pose(human: Character):
    report = check_motion(Motion(human, np.linspace(0.0, 2.0, 121), np.tile(human.neutral, (121, 1))))
    assert report.ok and "does not move" in report.verdict
    assert "does not move" not in check_motion(squat()).verdict


def test_a_figure_without_feet_is_not_asked_for_them():
    body = character("chain")
    report = check_motion(Motion(body, np.linspace(0.0, 1.0, 61), np.tile(body.neutral, (61, 1))))
    assert "foot" not in report.verdict


# ------------------------------------------------------------------------------------------------------ strength


def test_joints_against_their_stops_need_only_the_rest():
    rng = np.random.default_rng(4)
    for _ in range(30):
        torque, strength, rows = rng.standard_normal(6), rng.uniform(0.5, 2.0, 6), rng.standard_normal((3, 6))
        rows[:, :3] *= rng.random((3, 3)) < 0.5
        _, least = nnls((rows * strength).T, -torque)
        assert np.linalg.norm(torques_with_stops(torque, strength, rows)) == pytest.approx(least, abs=1e-6)
