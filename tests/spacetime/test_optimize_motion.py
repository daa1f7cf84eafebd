"""Whole motions from keys and contacts: judged by MuJoCo's inverse dynamics, stopped, warm started, made impossible."""

from __future__ import annotations

from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.optimize import nnls

import counterpoise as cp
from counterpoise.errors import BadValue, UnknownName
from counterpoise.measure.outsider_mechanics import lowest
from counterpoise.spacetime.optimize.build import build_motion_problem
from counterpoise.spacetime.optimize.judge import judging
from counterpoise.spacetime.optimize.program import MotionProgram

FEET = ("foot_left", "foot_right")


def jump_asks(distance: float = 0.4, leave: float | cp.Moment = 0.6, land: float | cp.Moment = 0.9) -> tuple:
    """Keys, contacts and duration of a standing jump with flat feet."""
    who = cp.character("human")
    squat = cp.reference_motion("squat", who)
    end = who.neutral.copy()
    end[0] += distance
    keys = [
        cp.Key(0.0, who.neutral, rest=True), cp.Key(0.35, squat.sample(0.5 * squat.duration).q, soft=10.0),
        cp.Key(1.5, end, rest=True),
    ]  # fmt: skip
    contacts = [cp.Touch(f, 0.0, leave, roll=0.0) for f in FEET] + [cp.Touch(f, land, 1.5, land=0.0) for f in FEET]
    return who, keys, contacts, 1.5


@cache
def jump() -> cp.Result:
    return cp.optimize_motion(*jump_asks(), rate=26.0)


def root_wrench(result: cp.Result, times: np.ndarray, after: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """What MuJoCo says the world must supply at the root, force then torque about the CoM [N, N m], and poses."""
    who = result.motion.character
    model = who.model
    data = mujoco.MjData(model)
    at = result.curve.sample(times, after)
    out = np.empty((len(times), 6))
    keep, model.opt.disableflags = model.opt.disableflags, int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    passive = model.dof_damping.copy(), model.dof_armature.copy(), model.jnt_stiffness.copy()
    model.dof_damping[:], model.dof_armature[:], model.jnt_stiffness[:] = 0.0, 0.0, 0.0
    try:
        for i in range(len(times)):
            data.qpos[:], data.qvel[:], data.qacc[:] = at.q[i], at.v[i], at.a[i]
            mujoco.mj_inverse(model, data)
            force = data.qfrc_inverse[:3]
            turn = data.xmat[1].reshape(3, 3) @ data.qfrc_inverse[3:6]  # about the root's origin
            out[i, :3], out[i, 3:] = force, turn - np.cross(data.subtree_com[0] - data.qpos[:3], force)
    finally:
        model.opt.disableflags = keep
        model.dof_damping[:], model.dof_armature[:], model.jnt_stiffness[:] = passive
    return out, at.q


def test_a_jump_is_solved_and_a_stranger_agrees():
    result = jump()
    assert result.exact, result.report()
    assert result.worst < 1e-6
    weight = result.motion.character.mass * 9.81
    knots = np.linspace(0.6, 0.9, 9)[1:-1]  # in flight nothing pushes
    wrench, _ = root_wrench(result, knots)
    assert np.abs(wrench[:, :3]).max() < 0.06 * weight
    dense, _ = root_wrench(result, np.linspace(0.602, 0.898, 100))
    rms = np.sqrt((dense[:, :3] ** 2).sum(axis=1).mean()) / weight
    assert rms == pytest.approx(result.between["flight force"], rel=0.2)
    assert rms < 0.03


def test_on_the_ground_the_wrench_is_one_the_feet_can_give():
    """The outsider's wrench against friction cones at the soles' points, by non-negative least squares, at knots."""
    result = jump()
    who = result.motion.character
    p = result.problem
    weight = who.mass * 9.81
    for phase in (0, 2):
        times = p.timeline.times
        for s in p.timeline.phases[phase].breaks[1:-1:3]:
            t = times[phase] + s * (times[phase + 1] - times[phase])
            wrench, q = root_wrench(result, np.array([t]))
            snapshot = who.snapshot(who.state(q[0]))
            angles = 2.0 * np.pi * np.arange(16) / 16
            edges = np.stack([0.8 * np.cos(angles), 0.8 * np.sin(angles), np.ones(16)], axis=1)
            arms = snapshot.contact_position - snapshot.com
            columns = np.concatenate(
                [np.concatenate([np.broadcast_to(edges, (16, 3)), np.cross(a, edges)], axis=1) for a in arms]
            ).T
            _, missing = nnls(columns, wrench[0] / weight)
            assert missing < 1e-3, f"{missing:.2e} body weights at {t:.3f} s"


def test_contacts_stay_put_and_the_ground_is_not_pierced():
    result = jump()
    who = result.motion.character
    first = who.snapshot(who.state(result.sample(0.0).q)).contact_position
    for t in np.linspace(0.0, 0.599, 40):
        here = who.snapshot(who.state(result.sample(float(t)).q)).contact_position
        assert np.abs(here - first).max() < 2e-3
    for t in np.linspace(0.61, 0.89, 20):
        assert who.snapshot(who.state(result.sample(float(t)).q)).contact_position[:, 2].min() > -3e-3


def test_no_part_of_the_body_enters_the_ground():
    """A wish has the hands in the ground: they stop at it, unless nothing is to be kept clear."""
    who = cp.character("human")
    low = who.neutral.copy()
    for name, angle in (("waist", 0.9), ("spine", 0.6), ("hip_left", -1.9), ("hip_right", -1.9)):
        low[who.joint(name).qpos] = cp.spatial.exp([0.0, angle, 0.0])
    for name in ("shoulder_left", "shoulder_right"):
        low[who.joint(name).qpos] = cp.spatial.exp([0.0, -1.2, 0.0])
    for name in ("knee_left", "knee_right"):
        low[who.joint(name).qpos] = 1.9
    keys = [cp.Key(0.0, who.neutral, rest=True), cp.Key(0.7, low, soft=3000.0, root=False)]
    contacts = [cp.Touch(f, 0.0, 1.0) for f in FEET]

    def deepest(**how: object) -> tuple[float, bool]:
        found = cp.optimize_motion(who, keys, contacts, 1.0, rate=30.0, strides=0, **how)  # type: ignore[arg-type]
        data, worst = mujoco.MjData(who.model), np.inf
        for q in found.sample(np.linspace(0.0, 1.0, 61)).q:
            data.qpos[:] = q
            mujoco.mj_kinematics(who.model, data)
            for g in range(who.model.ngeom):
                if "hand" in who.model.body(int(who.model.geom_bodyid[g])).name:
                    worst = min(worst, lowest(who.model, data, g))
        return worst, found.exact

    inside, ok = deepest(clear=[])
    kept, kept_ok = deepest()
    assert ok and inside < -0.02
    assert kept_ok and kept > -0.005


def test_joints_stay_inside_their_limits():
    result = jump()
    limits = result.motion.character.limits
    assert max(limits.worst(result.sample(float(t)).q)[1] for t in np.linspace(0.0, 1.5, 120)) < 0.02


def test_moving_a_key_starts_from_the_earlier_result():
    before = jump()
    again = cp.optimize_motion(*jump_asks(0.45), rate=26.0, warm=before)
    assert again.exact, again.report()
    assert again.iterations < 0.7 * before.iterations
    assert again.sample(1.5).q[0] == pytest.approx(0.45 + before.sample(0.0).q[0], abs=1e-6)


def test_same_asks_same_bytes():
    again = cp.optimize_motion(*jump_asks(), rate=26.0)
    assert np.array_equal(again.motion.poses, jump().motion.poses)


def test_moments_may_be_free():
    """A flight said to last half a second, which takes a high jump, is shortened where it may be."""
    leave, land = cp.Moment(0.55, 0.5, 0.75, name="leave"), cp.Moment(1.05, 0.8, 1.1, name="land")
    fixed = cp.optimize_motion(*jump_asks(0.4, 0.55, 1.05), rate=22.0)
    result = cp.optimize_motion(*jump_asks(0.4, leave, land), rate=22.0)
    assert result.exact, result.report()
    assert 0.5 <= result.times["leave"] <= 0.75
    assert 0.8 <= result.times["land"] <= 1.1
    assert result.times["land"] - result.times["leave"] < 0.4
    assert result.objective < 0.7 * fixed.objective


def test_it_can_be_stopped_and_keeps_what_it_has():
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) < 5

    result = cp.optimize_motion(*jump_asks(), rate=26.0, callback=stop)
    assert result.status == "stopped"
    assert len(seen) == 5
    assert np.isfinite(result.motion.poses).all()
    assert seen[-1].worst
    assert len(seen[-1].motion()) > 10


def test_a_solve_is_stopped_between_its_stages_too():
    """Building rows and judging take as long as many iterations: the last report is shown again around them."""
    seen: list[int] = []

    def stop(progress) -> bool:
        seen.append(progress.iteration)
        return len(seen) < 2 or seen[-1] != seen[-2]

    result = cp.optimize_motion(*jump_asks(), rate=26.0, callback=stop)
    assert len(seen) > 2 and seen[-1] == seen[-2] == result.iterations


def test_what_is_stopped_before_it_is_possible_is_not_judged_for_long(monkeypatch: pytest.MonkeyPatch):
    def long(*given: object) -> None:
        raise AssertionError("this takes long")

    monkeypatch.setattr(judging, "strength_measures", long)
    monkeypatch.setattr(judging, "overlap_measures", long)
    assert cp.optimize_motion(*jump_asks(), rate=26.0, callback=lambda progress: False).status == "stopped"


@pytest.mark.parametrize("what", ["limits", "elsewhere", "twice", "nothing"])
def test_what_cannot_be_is_named_and_the_rest_is_kept(what: str):
    who, keys, contacts, duration = jump_asks()
    if what == "limits":
        bent = who.neutral.copy()
        bent[who.joint("knee_left").qpos] = -1.0
        keys[1] = cp.Key(0.3, bent, only=["knee_left"])
        words = ("knee_left", "outside its limits", "0.3 s")
    elif what == "elsewhere":
        away = who.neutral.copy()
        away[0] += 0.5
        keys[1] = cp.Key(0.3, away)
        words = ("key 0 s", "key 0.3 s", "foot_left", "0.5 m apart")
    elif what == "twice":
        contacts = [*contacts, cp.Touch("foot_left", 0.2, 0.5, place=(1.0, 0.0))]
        words = ("foot_left", "same part at once", "0.2 s")
    else:
        keys, contacts, duration = keys[:1], [], 0.0
        words = ("duration of 0 s",)
    result = cp.optimize_motion(who, keys, contacts, duration, rate=20.0)
    assert result.status == "infeasible"
    assert not result.exact
    assert all(word in " ".join(result.conflicts) for word in words), result.conflicts
    assert np.isfinite(result.motion.poses).all()


def test_programs_that_share_an_evaluation_do_not_disturb_each_other():
    """Two programs on one problem: a value asked for again after the other has looked elsewhere is the same."""
    who, keys, contacts, duration = jump_asks(0.2, 0.7, 0.8)
    problem = build_motion_problem(who, keys, contacts, duration, rate=20.0)
    one, other = MotionProgram(problem), MotionProgram(problem)
    x = problem.start
    before = one.values(x)
    other.values(x + 0.01)
    assert np.array_equal(one.values(x), before)


@pytest.mark.slow
def test_an_apex_out_of_reach_gives_way_by_name():
    who, keys, contacts, duration = jump_asks(0.2, 0.7, 0.8)
    result = cp.optimize_motion(who, keys, contacts, duration, wishes=[cp.Apex(0.75, 2.0)], rate=20.0)
    assert result.status == "infeasible"
    assert result.violations[0].name.startswith("apex")
    assert result.violations[0].time == pytest.approx(0.75, abs=0.01)
    assert not [v for v in result.violations if v.name.startswith(("physics", "continuity"))]
    assert result.between["flight force"] < 0.01 and sum(v.amount > 0.1 for v in result.violations) == 1


def test_a_pendulum_swings_as_physics_has_it():
    """With no torque at its only joint the motion is the pendulum's own: compare with a fine simulation."""
    text = """<mujoco><worldbody><body name="arm"><joint name="pivot" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.03" mass="2"/></body></worldbody></mujoco>"""
    who = cp.Character.from_mjcf(text)
    start = who.neutral.copy()
    start[0] = 0.8
    result = cp.optimize_motion(
        who, [cp.Key(0.0, start, rest=True)], [], 0.8, wishes=[cp.TorqueLimit(["pivot"], limit=1e-3)], rate=40.0
    )
    assert result.exact, result.report()
    data = mujoco.MjData(who.model)
    who.model.opt.timestep = 1e-4
    data.qpos[:] = start
    while data.time < 0.8:
        mujoco.mj_step(who.model, data)
    assert result.sample(0.8).q[0] == pytest.approx(data.qpos[0], abs=5e-3)


def test_a_cycle_closes():
    who = cp.character("human")
    squat = cp.reference_motion("squat", who)
    low = squat.sample(0.5 * squat.duration).q
    contacts = [cp.Touch(f, 0.0, 1.2) for f in FEET]
    result = cp.optimize_motion(
        who, [cp.Key(0.6, low, soft=100.0)], contacts, 1.2, wishes=[cp.Cycle((0.0, 0.0))], rate=20.0
    )
    assert result.exact, result.report()
    a, b = result.curve.sample(0.0), result.curve.sample(1.2)
    assert np.abs(who.difference(a.q, b.q)).max() < 1e-5
    assert np.abs(a.v - b.v).max() < 1e-4


def test_bad_asks_bring_the_cure():
    who = cp.character("human")
    with pytest.raises(UnknownName, match="foot_left"):
        cp.optimize_motion(who, [cp.Key(0.0, who.neutral)], [cp.Touch("left_foot", 0.0, 1.0)], 1.0)
    with pytest.raises(BadValue, match="ends after it starts"):
        cp.Touch("foot_left", 1.0, 0.5)
    with pytest.raises(BadValue, match="needs place"):
        cp.Touch("hand_left", 0.0, 0.5, "bar")
    with pytest.raises(BadValue, match="outside"):
        cp.optimize_motion(who, [cp.Key(3.0, who.neutral)], [], 1.0)
    with pytest.raises(BadValue, match="at least one key"):
        cp.optimize_motion(who, [], [], 1.0)
    with pytest.raises(UnknownName, match="toe"):
        cp.Touch("foot_left", 0.0, 0.5, "tow")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="free root"):
        cp.optimize_motion(who, [cp.Key(0.0, who.neutral)], [], 1.0, wishes=[cp.TorqueLimit(["root"])])
