"""Fix, judged by others: SciPy's least squares, finite differences, plain MuJoCo's inverse dynamics, and check."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import nnls

from counterpoise import spatial
from counterpoise.character.kinematics import body_frames
from counterpoise.character.library import character
from counterpoise.errors import BadValue
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.check import CheckTuning, check_motion
from counterpoise.spacetime.check.frames import fit_locally
from counterpoise.spacetime.fix import FixResult, FixTuning, fix_motion
from counterpoise.spacetime.fix import windows as fixing
from counterpoise.spacetime.fix.basis import basis_of
from counterpoise.spacetime.fix.kernels import add_square, add_to_rows, split_wrenches
from counterpoise.spacetime.fix.leaps import bridge_leaps, find_leaps

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")


@lru_cache
def squat() -> Motion:
    motion = reference_motion("squat", character("human"))
    times = np.arange(motion.start, motion.start + 1.5, 1.0 / 120.0)
    return replace(motion, times=times, poses=motion.sample(times).q, loop=False, travel=False)


@lru_cache
def slid() -> Motion:
    """The squat slid over the floor, lifted, and trembling from side to side."""
    motion, t = squat(), squat().times
    poses = np.array(motion.poses)
    poses[:, 0] += 0.02 * np.sin(2.0 * t)
    poses[:, 1] += 0.002 * np.sin(2.0 * np.pi * 4.0 * t)
    poses[:, 2] += 0.02
    return replace(motion, poses=poses, name="slid")


@lru_cache
def hung() -> Motion:
    """The squat hung up by its left hand."""
    poses = np.array(squat().poses)
    poses[:, 2] += 0.6
    return replace(squat(), poses=poses, name="hung")


@lru_cache
def fixed() -> FixResult:
    return fix_motion(slid())


@lru_cache
def clip(name: str, start: float | None = None, end: float | None = None) -> Motion:
    motion = read_motion(MOCAP / f"{name}.bvh", skip_rest_frame=True)
    if start is None or end is None:
        return motion
    near = np.searchsorted(motion.times, [start, end])
    return motion.slice(motion.times[near[0]], motion.times[near[1]])


@lru_cache
def thrown(gravity: float) -> Motion:
    """A tumbling human with moving limbs in plain MuJoCo, high above the ground, under a gravity of its own."""
    body = character("human")
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    model.opt.timestep, model.opt.gravity[:] = 1.0 / 1200.0, (0.0, 0.0, -gravity)
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
    data = mujoco.MjData(model)
    data.qpos[:] = body.neutral
    data.qpos[2] += 3.0
    data.qvel[:] = 0.5 * np.random.default_rng(3).standard_normal(model.nv)
    data.qvel[:6] = (1.0, 0.3, 2.0, 0.5, 3.0, 0.3)
    poses = []
    for k in range(601):
        if k % 10 == 0:
            poses.append(data.qpos.copy())
        mujoco.mj_step(model, data)
    return Motion(body, np.arange(len(poses)) / 120.0, np.array(poses), name="thrown")


# --------------------------------------------------------------------------------------------------------- pieces


def test_deviations_are_scipys_splines_and_seen_as_a_check_sees_them():
    step, rng = 1.0 / 120.0, np.random.default_rng(1)
    basis = basis_of(97, step, 30.0, 0.02)
    x = rng.standard_normal((basis.coefficients, 2))
    d = basis.deviation(x, slice(0, 97))
    inner = x[basis.edge : basis.coefficients - basis.edge]
    spline = BSpline(np.arange(-3, len(inner) + 1) * basis.per * step, inner, 3)
    t = np.arange(97) * step
    np.testing.assert_allclose(d, spline(t), atol=1e-12)
    np.testing.assert_allclose(basis.bending(x, slice(0, 97)), spline.derivative(2)(t), rtol=1e-9, atol=1e-7)
    body = character("human")
    poses = np.repeat(body.neutral[None], 97, axis=0)
    poses[:, :2] += d  # places are seen as numbers are
    q, v, a = fit_locally(body, poses, step, 0.02, 8)
    for seen, expected in zip(basis.seen, (q[:, :2] - body.neutral[:2], v[:, :2], a[:, :2]), strict=True):
        mine = sum(seen[:, k, None] * x[basis.first + k] for k in range(basis.width))
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-8)


def test_what_contacts_cannot_give_is_what_nonnegative_least_squares_leaves():
    rng = np.random.default_rng(5)
    ways = np.array([[0.8, 0, 1], [-0.8, 0, 1], [0, 0.8, 1], [0, -0.8, 1.0]])
    n, p, height = 24, 4, 1.7
    wrench = rng.standard_normal((n, 6)) * 0.3 + [0, 0, 0, 0, 0, 1.0]
    com, places = np.tile([0.0, 0.0, 0.9], (n, 1)), rng.uniform(-0.15, 0.15, (n, p, 3)) * [1, 1, 0]
    active, held = rng.random((n, p)) < 0.7, np.zeros(p, dtype=bool)
    left, firm, force = np.empty((n, 6)), np.empty((n, 6, 6)), np.empty((n, p, 3))
    split_wrenches(wrench, com, places, active, held, ways, height, np.ones(6), 1e-5, left, firm, force)
    for t in range(n):
        columns = [
            np.concatenate([np.cross(places[t, i] - com[t], way) / height, way])
            for i in np.flatnonzero(active[t])
            for way in ways
        ]
        if not columns:
            np.testing.assert_allclose(left[t], wrench[t])
            continue
        _, rest = nnls(np.array(columns).T, wrench[t])
        assert np.linalg.norm(left[t]) == pytest.approx(rest, abs=2e-5)
        assert np.all(np.array(columns) @ left[t] < 1e-4)  # no edge could still help
        assert np.all(np.linalg.eigvalsh(firm[t]) > 0.0) and np.linalg.eigvalsh(firm[t]).max() <= 1.0 + 1e-9
        np.testing.assert_allclose(force[t].sum(axis=0), (wrench - left)[t, 3:], atol=1e-9)


def test_sums_into_a_band():
    rng = np.random.default_rng(2)
    band, full = np.zeros((9, 5)), np.zeros((9, 9))
    G = rng.standard_normal((4, 4))
    G = G + G.T
    add_square(G, 3, band)
    full[3:7, 3:7] += G
    rows = np.array([0, 2, 3, 4])
    add_to_rows(G, rows, 1, band)
    full[np.ix_(rows + 1, rows + 1)] += G
    for r in range(9):
        for c in range(r, min(9, r + 5)):
            assert band[r, c - r] == pytest.approx(full[r, c])


@pytest.mark.parametrize("holds", [(), ("hand_left",)], ids=["on its feet", "holding on"])
def test_the_gradient_of_a_window_is_its_cost_by_differences(monkeypatch, holds: tuple[str, ...]):
    seen = {}
    solve = fixing.solve_window
    monkeypatch.setattr(fixing, "solve_window", lambda task, x, *rest: seen.update(task=task) or solve(task, x, *rest))
    fix_motion(hung() if holds else slid(), holds=holds, tuning=FixTuning(steps=1))
    task, rng = seen["task"], np.random.default_rng(3)
    x = 1e-4 * rng.standard_normal((task.basis.coefficients, len(task.free)))
    window = fixing.Window(task, x, 10, 20, *np.ones((2, len(task.motion))))
    _, g = window.normal_equations(window.evaluate(x))
    slopes, expected, e = [], [], 1e-6
    for _ in range(8):
        way = np.zeros_like(x)
        way[10:20] = rng.standard_normal((10, x.shape[1]))
        slopes.append((window.evaluate(x + e * way).cost - window.evaluate(x - e * way).cost) / (2.0 * e))
        expected.append(2.0 * g @ way[10:20].ravel())
    assert np.linalg.norm(np.subtract(expected, slopes)) < 0.03 * np.linalg.norm(slopes)


def test_leaps_are_found_and_bridged():
    motion = squat()
    poses = np.array(motion.poses)
    poses[60:64, 0] += 0.2
    torn = replace(motion, poses=poses)
    leaps = find_leaps(torn, FixTuning())
    assert len(leaps) == 1 and leaps[0][0] <= 60 and leaps[0][1] >= 64
    assert not find_leaps(motion, FixTuning())
    np.testing.assert_allclose(bridge_leaps(torn, leaps)[:, :3], motion.poses[:, :3], atol=2e-3)


# --------------------------------------------------------------------------------------------------------- wholes


def test_a_slid_and_lifted_squat_stands_still_again():
    result = fixed()
    assert result.before.finding("skate").value > 3.0 and result.before.finding("float").value > 1.5
    after = check_motion(result.motion, contacts=result.contacts)
    assert after.finding("skate").value < 0.3 and after.finding("penetration").value < 0.1
    assert after.finding("float").value < 0.1 and after.finding("limits").value < 1.0
    assert after.violation < 1e-3
    assert result.change < 0.06 and not result.left and not result.stopped


def test_a_motion_that_hovers_is_fixed_like_one_that_does_not():
    """Raised by 6 cm it comes back lowered by as much, and is otherwise the same."""
    low, poses = squat(), np.array(squat().poses)
    poses[:, 2] += 0.06
    one, other = fix_motion(low), fix_motion(replace(low, poses=poses))
    assert other.lift == pytest.approx(one.lift - 0.06, abs=1e-3)
    assert np.abs(other.motion.poses - one.motion.poses).max() < 2e-3


def test_it_keeps_times_name_and_character_and_leaves_the_input_alone():
    motion, result = slid(), fixed()
    assert result.motion.character is motion.character and result.motion.name == "slid"
    np.testing.assert_array_equal(result.motion.times, motion.times)
    assert motion.poses[:, 2].max() == pytest.approx(squat().poses[:, 2].max() + 0.02)


def test_the_change_is_what_it_says():
    result = fixed()
    was, now = (body_frames(m.character, m.poses)[0][:, 1:] for m in (slid(), result.motion))
    assert result.lift == pytest.approx(np.median((now - was)[..., 2])) and result.lift < -0.01  # it floats by 2 cm
    moved = np.linalg.norm(now - was - np.array([0.0, 0.0, result.lift]), axis=-1)
    assert result.change == pytest.approx(moved.mean()) and result.largest == pytest.approx(moved.max())
    assert f"moved down by {-100 * result.lift:.1f} cm" in result.summary


def test_a_good_motion_hardly_changes():
    result = fix_motion(squat())
    assert result.change < 0.004 and result.after.violation < 0.003


def test_mujocos_inverse_dynamics_finds_free_flight_after_the_fix():
    motion = thrown(0.8 * 9.81)
    result = fix_motion(motion)
    body = motion.character
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    data, forces = mujoco.MjData(model), []
    for one in (motion, result.motion):
        q, v, a = fit_locally(body, one.poses, 1.0 / 120.0, 0.02, 8)
        found = []
        for k in range(6, len(one) - 6):
            data.qpos[:], data.qvel[:], data.qacc[:] = q[k], v[k], a[k]
            mujoco.mj_inverse(model, data)
            found.append(np.linalg.norm(data.qfrc_inverse[:3]) / (body.mass * 9.81))
        forces.append(float(np.sqrt(np.mean(np.square(found)))))
    assert forces[0] == pytest.approx(0.2, abs=0.01) and forces[1] < 0.01
    assert result.after.flights[0].gravity == pytest.approx(9.81, rel=0.01)
    assert result.change < 0.03  # a parabola of 0.5 s bent by 0.2 g moves by 6 cm at most, and less to all sides


def test_windows_do_not_show():
    whole, parts = fixed(), fix_motion(slid(), tuning=FixTuning(window=0.5, overlap=0.4))
    assert len(parts.windows) > len(whole.windows) == 1
    assert parts.after.violation < 2.0 * whole.after.violation + 1e-3
    apart = np.abs(whole.motion.character.difference(whole.motion.poses, parts.motion.poses))
    assert apart[:, :3].max() < 0.005
    assert parts.after.finding("jerk").value < 1.2 * whole.after.finding("jerk").value


def test_other_rates_come_back_at_their_own():
    slow = slid().resampled(30.0)
    result = fix_motion(slow)
    np.testing.assert_array_equal(result.motion.times, slow.times)
    assert result.after.finding("skate").value < 1.0


def test_stopped_half_way_the_rest_is_as_it_was(monkeypatch):
    done = []
    solve = fixing.solve_window

    def interrupted(*arguments):
        if done:
            raise KeyboardInterrupt
        done.append(True)
        return solve(*arguments)

    monkeypatch.setattr(fixing, "solve_window", interrupted)
    motion = slid()
    result = fix_motion(motion, tuning=FixTuning(window=0.5, overlap=0.4))
    assert result.stopped and len(result.windows) == 1 and "Stopped" in result.summary
    end = result.windows[0].end
    assert 0.2 < end < 0.8
    np.testing.assert_allclose(result.motion.poses[motion.times > end + 0.01], motion.poses[motion.times > end + 0.01])
    assert result.after.frames.penetration[motion.times < end - 0.2].max() < 1e-3
    done.append(True)
    nothing = fix_motion(motion)  # stopped before anything was done: the motion as it was
    assert nothing.stopped and not nothing.windows and np.array_equal(nothing.motion.poses, motion.poses)
    assert nothing.after.violation == nothing.before.violation > 0.0


def test_what_hangs_on_nothing_is_left_alone_and_said():
    result = fix_motion(hung())
    assert "something that is not shown carries the body" in result.summary
    assert result.change < 0.001 and not result.left
    assert all(window.steps == 0 for window in result.windows)


def test_what_cannot_be_mended_is_given_up_and_said():
    """Stiff as a board it leans forward by 40 degrees and back: its CoM would have to be far from where it is."""
    motion = squat()
    t, body = motion.times, motion.character
    turn = spatial.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.7 * np.sin(np.pi * t / t[-1]) ** 4)
    poses = np.tile(body.neutral, (len(t), 1))
    poses[:, :3] = spatial.rotate(turn, body.neutral[:3])  # about the ankles' shadow
    poses[:, 3:7] = spatial.multiply(turn, body.neutral[3:7])
    result = fix_motion(replace(motion, poses=poses))
    assert result.left and "Not made possible" in result.summary
    assert result.given_back and "force" in result.worse  # near the lean no fix is better than the input
    assert 0.1 < result.left[0].start < result.left[-1].end < 1.4
    assert result.after.violation <= 1.01 * result.before.violation and result.change < 0.1


def test_told_contacts_are_the_contacts():
    windows = tuple(
        ContactWindow(foot, part, 0.0, 2.0) for foot in ("foot_left", "foot_right") for part in ("heel", "ball")
    )
    result = fix_motion(slid(), contacts=windows, tuning=FixTuning(steps=2))
    assert result.contacts == windows


def test_the_report_is_plain_json():
    data = json.loads(json.dumps(fixed().to_json(), allow_nan=False))
    assert data["before"]["violation"] > data["after"]["violation"] and data["windows"][0]["steps"] >= 1


def test_mistakes_are_named():
    with pytest.raises(BadValue, match="takes a Motion"):
        fix_motion("clip.bvh")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="too short"):
        fix_motion(replace(squat(), times=squat().times[:5], poses=squat().poses[:5]))
    with pytest.raises(BadValue, match="near is more than 0"):
        FixTuning(near=0.0)
    with pytest.raises(BadValue, match="floor is a number"):
        FixTuning(floor="up")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------- clips


# [cm/s] in the kicks a foot skims the ground for 0.15 s before it lands, and is found standing there: 2.0 (was 0.4)
KNOWN_ANEW = {"144_09": 2.5}


def judge(motion: Motion, result: FixResult, anew: float = 0.5) -> None:
    """The bars: with the contacts of the fix, those found before, and those found anew (skate below `anew`)."""
    found = check_motion(motion)
    for contacts in (result.contacts, found.contacts, None):
        before = check_motion(motion, contacts=contacts if contacts is not None else found.contacts)
        after = check_motion(result.motion, contacts=contacts)
        assert after.finding("skate").value < (0.5 if contacts is not None else anew)
        assert after.finding("penetration").value < 0.2
        assert after.violation < 0.1 * before.violation
    assert result.change < 0.03


@needs_clips
def test_a_step_of_the_walk():
    motion = clip("02_01", 0.5, 1.4)
    result = fix_motion(motion)
    judge(motion, result)
    assert "LThumb" in result.frozen and "LHipJoint" in result.frozen
    finer = [
        check_motion(m, contacts=result.contacts, tuning=CheckTuning(smooth=0.03)) for m in (motion, result.motion)
    ]
    assert finer[1].violation < max(0.2 * finer[0].violation, 1e-3)  # not only as it was looked at


def test_a_clip_of_a_few_frames_is_fixed(tmp_path):
    squat = reference_motion("squat", character("human")).slice(0.0, 0.3)
    squat.write(tmp_path / "clip.bvh", rate=60.0)
    short = read_motion(tmp_path / "clip.bvh")
    result = fix_motion(short)
    assert len(result.motion.times) == len(short.times) < 21 and result.change < 0.01


@needs_clips
def test_swings_on_the_high_bar_by_hands_that_are_named():
    motion = clip("43_02", 3.0, 4.2)
    holds = ["LeftHand", "RightHand"]
    result = fix_motion(motion, holds=holds)
    assert result.after.violation < min(0.2 * result.before.violation, 0.01)  # 0.6% of 4.9%
    anew = check_motion(result.motion, holds=holds)
    assert anew.violation < 0.2 * check_motion(motion, holds=holds).violation
    assert result.change < 0.04 and not result.left


@needs_clips
def test_on_the_high_bar_nothing_is_invented():
    """Where the hands are not named, only the landing is mended; on the bar at most tremble and leaps are."""
    motion = clip("43_02", 4.6, 7.0)
    result = fix_motion(motion, tuning=FixTuning(force=4e-3))  # for which the bound of the landing was written
    (hang,) = result.before.carried
    assert hang.end == pytest.approx(6.0, abs=0.15) and "--hold LeftHand@" in result.summary
    was, now = (body_frames(m.character, m.poses)[0][:, 1:] for m in (motion, result.motion))
    moved = np.linalg.norm(now - was - [0.0, 0.0, result.lift], axis=-1).mean(axis=1)  # all of it is put on the ground
    alone = (motion.times < 5.4) & (motion.times > 4.7)
    assert moved[alone].max() < 0.02
    after = result.after.frames
    landed = after.judged & (after.times > 6.15)
    assert after.violation[landed].max() < 0.03


@needs_clips
@pytest.mark.slow
@pytest.mark.parametrize("name", ["02_01", "16_01", "144_09", "42_01", "49_19"])
def test_whole_clips(name):
    motion = clip(name)
    judge(motion, fix_motion(motion), KNOWN_ANEW.get(name, 0.5))
