"""A fixed file judged by an outsider: read back, differentiated anew, MuJoCo's inverse dynamics, SciPy's cones."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.signal import savgol_filter

from counterpoise.character.kinematics import body_frames
from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.check import check_motion
from counterpoise.spacetime.fix import FixResult, FixTuning, fix_motion

MOCAP = Path(__file__).resolve().parents[2].parent / "shared" / "mocap"
needs_clips = pytest.mark.skipif(not MOCAP.is_dir(), reason="the captured clips are not on this machine")
WIDE, REACH = 13, 7  # frames of its smoothing, and by how many contacts are blurred for it
WAYS = [[0.8 * np.cos(a), 0.8 * np.sin(a), 1.0] for a in np.arange(8) * np.pi / 4]


def from_nowhere(motion: Motion) -> np.ndarray:
    """What level ground under the soles cannot give of the wrench MuJoCo says a frame needs [body weights]."""
    body = motion.character
    model = mujoco.MjModel.from_xml_string(body.to_mjcf())
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, step = mujoco.MjData(model), motion.duration / (len(motion) - 1)
    q = np.array(motion.poses)
    for j in range(model.njnt):
        at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        for first, count in {0: ((at, 3), (at + 3, 4)), 1: ((at, 4),)}.get(kind, ((at, 1),)):
            some = q[:, first : first + count]
            if count == 4:  # the same half of the sphere all the way
                some *= np.cumprod(np.sign(np.sum(np.vstack([some[:1], some[:-1]]) * some, axis=1)))[:, None]
            some[:] = savgol_filter(some, WIDE, 3, axis=0)
            if count == 4:
                some /= np.linalg.norm(some, axis=1, keepdims=True)
    halves = np.zeros((len(q) - 1, model.nv))
    for k in range(len(q) - 1):
        mujoco.mj_differentiatePos(model, halves[k], step, q[k], q[k + 1])
    v, a = 0.5 * (halves[1:] + halves[:-1]), savgol_filter(np.diff(halves, axis=0) / step, WIDE, 2, axis=0)
    soles = [(model.body(p.body).id, np.array(p.position)) for foot in body.feet for p in foot.points]
    weight = float(model.body_mass.sum()) * 9.81
    wrench, places, centre = np.zeros((len(v), 6)), np.zeros((len(v), len(soles), 3)), np.zeros((len(v), 3))
    for k in range(len(v)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k + 1], v[k], a[k]
        mujoco.mj_inverse(model, data)
        centre[k] = data.subtree_com[0]
        force, torque = data.qfrc_inverse[:3], data.xmat[1].reshape(3, 3) @ data.qfrc_inverse[3:6]
        wrench[k, :3] = (torque + np.cross(data.xpos[1] - centre[k], force)) / (weight * body.height)
        wrench[k, 3:] = force / weight
        places[k] = [data.xpos[b] + data.xmat[b].reshape(3, 3) @ p for b, p in soles]
    low = places[:, :, 2] < 0.02
    down = np.array([low[max(0, k - REACH) : k + REACH + 1].any(axis=0) for k in range(len(low))])
    left = []
    for k in range(WIDE, len(v) - WIDE):
        pushes = [[*(np.cross(p - centre[k], w) / body.height), *w] for p in places[k][down[k]] for w in WAYS]
        left.append(nnls(np.array(pushes).T, wrench[k])[1] if pushes else float(np.linalg.norm(wrench[k])))
    return np.array(left)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


@lru_cache
def slid() -> Motion:
    """A squat that slides, floats and is thrown to and fro."""
    squat = reference_motion("squat", character("human"))
    times = np.arange(0.0, 1.2, 1.0 / 120.0)
    poses = np.array(squat.sample(times).q)
    poses[:, 0] += 0.02 * np.sin(2.0 * times)
    poses[:, 1] += 0.01 * np.sin(2.0 * np.pi * 3.0 * times)
    poses[:, 2] += 0.01
    return Motion(squat.character, times, poses, name="slid")


def written(result: FixResult, folder: Path) -> Motion:
    """The fixed motion as another program finds it: in a file."""
    result.motion.write(folder / "fixed.bvh")
    return read_motion(folder / "fixed.bvh")


def test_an_outsider_finds_less_from_nowhere_in_the_file(tmp_path: Path):
    result = fix_motion(slid())
    poses = np.array(slid().poses)
    poses[:, 2] -= 0.01  # on the floor, so that the outsider finds soles to stand on
    assert rms(from_nowhere(result.motion)) < 0.2 * rms(from_nowhere(replace(slid(), poses=poses)))
    back = written(result, tmp_path)
    assert len(back) == len(slid()) and back.rate == pytest.approx(120.0)
    at, again = (body_frames(m.character, m.poses)[0] for m in (result.motion, back))
    names = [back.character.model.body(b).name for b in range(1, back.character.model.nbody)]
    for name in ("head", "hand_left", "foot_right"):
        one = at[:, result.motion.character.body_id(name)]
        np.testing.assert_allclose(again[:, 1 + names.index(name)], one, atol=1e-4)


@needs_clips
@pytest.mark.parametrize(("name", "start", "end", "cut"), [("02_01", 0.9, 1.9, 0.1), ("16_01", 0.6, 2.0, 0.45)])
def test_the_gains_survive_the_file(name: str, start: float, end: float, cut: float, tmp_path: Path):
    motion = read_motion(MOCAP / f"{name}.bvh", skip_rest_frame=True, start=start, end=end)
    motion = replace(motion, times=motion.times - motion.start)  # as a file counts
    result = fix_motion(motion)
    back = written(result, tmp_path)
    assert len(back) == len(motion) and back.rate == pytest.approx(motion.rate)
    assert [j.name for j in back.character.joints] == [j.name for j in motion.character.joints]
    same, anew = check_motion(back, contacts=result.contacts), check_motion(back)
    for report in (same, anew):
        assert report.finding("skate").value < 1.0 and report.finding("penetration").value < 0.2
        assert report.violation < 0.1 * result.before.violation
    assert same.violation == pytest.approx(result.after.violation, rel=0.1, abs=1e-4)
    assert rms(from_nowhere(back)) < cut * rms(from_nowhere(motion))  # read with another smoothing, by another judge


@needs_clips
def test_the_borders_of_windows_are_no_rougher_than_the_rest():
    """Accelerations and jerks of all joints within 50 ms of a border, beside those elsewhere, as before the fix."""
    motion = read_motion(MOCAP / "02_05.bvh", skip_rest_frame=True, start=1.0, end=2.4)
    result = fix_motion(motion, tuning=FixTuning(window=0.27, overlap=0.27))
    borders = [window.end for window in result.windows[:-1]]
    assert len(borders) >= 3
    near = np.min([np.abs(motion.times - border) for border in borders], axis=0) < 0.05
    for order in (2, 3):
        rough = []
        for one in (motion, result.motion):
            places = body_frames(one.character, one.poses)[0][:, 1:]
            size = np.sqrt(np.mean(np.sum(np.diff(places, n=order, axis=0) ** 2, axis=-1), axis=1))
            at = near[: len(size)]
            rough.append(rms(size[at]) / rms(size[~at]))
        assert rough[1] < 1.25 * max(rough[0], 1.0)


@needs_clips
def test_a_foot_that_creeps_is_planted():
    """A foot that is down for a moment of a run, too fast to be found standing, as a person would see it."""
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "fix_outsider.py"
    spec = importlib.util.spec_from_file_location("fix_outsider", path)
    assert spec is not None and spec.loader is not None
    outsider = importlib.util.module_from_spec(spec)
    sys.modules["fix_outsider"] = outsider
    spec.loader.exec_module(outsider)
    motion = read_motion(MOCAP / "16_57.bvh", skip_rest_frame=True, start=0.2, end=1.0)
    planted, left = fix_motion(motion), fix_motion(motion, tuning=FixTuning(plant_reach=0.0))
    assert outsider.judged(left.motion).skate > 0.03
    seen = outsider.judged(planted.motion)
    assert seen.skate < 0.01 and rms(seen.nowhere) < 0.02 and planted.change < 0.03
