"""Landings with an impact: judged by plain MuJoCo, with none of the optimiser's own mechanics."""

from __future__ import annotations

import math
from functools import cache

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile, BadValue, UnknownName
from counterpoise.spacetime.optimize.rows.impact import velocity_slopes
from counterpoise.spacetime.optimize.tuning import ImpactTuning

FEET = ("foot_left", "foot_right")
LAND = 0.75  # [s]


@cache
def jump(landing: str, y: float = 0.0) -> cp.Result:
    """A jump ahead, with a contact of each foot; y moves the second landing sideways: it is no mirror image."""
    human = cp.character("human")
    end = human.neutral.copy()
    end[0] += 0.5
    end[1] += y
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.4, end, rest=True)]
    contacts = [cp.Touch(f, 0.0, 0.45) for f in FEET] + [cp.Touch(f, LAND, 1.4) for f in FEET]
    return cp.optimize_motion(
        human, keys, contacts, 1.4, wishes=[cp.TorqueLimit()], rate=24.0,
        landing="impact" if landing == "impact" else "still",
    )  # fmt: skip


def sides(result: cp.Result, t: float) -> tuple[mujoco.MjData, mujoco.MjData]:
    """The body just before and just after an instant."""
    model = result.motion.character.model
    out = []
    for after in (False, True):
        data, at = mujoco.MjData(model), result.curve.sample(t, after=after)
        data.qpos[:], data.qvel[:] = at.q, at.v
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        out.append(data)
    return out[0], out[1]


@pytest.mark.parametrize("y", [0.0, 0.15])
def test_the_jump_of_velocities_is_what_contacts_and_joints_give(y: float):
    result = jump("impact", y)
    assert result.exact, result.report()
    assert result.symmetric == (y == 0.0)
    model, character = result.motion.character.model, result.motion.character
    (impact,) = result.impacts()
    assert impact.time == pytest.approx(LAND)
    before, after = sides(result, impact.time)
    assert before.qpos == pytest.approx(after.qpos, abs=1e-12), "poses are continuous"
    assert np.abs(after.qvel - before.qvel).max() > 0.5, "velocities are not"
    M, given = np.zeros((model.nv, model.nv)), impact.torques.copy()
    mujoco.mj_fullM(model, before, M)
    for body, point, impulse in zip(impact.bodies, impact.points, impact.impulses, strict=True):
        mujoco.mj_applyFT(model, before, impulse, np.zeros(3), point, model.body(body).id, given)
    # 1e-6 body weights over 0.02 s and the contact's own place, which the pose has to 1e-6 m
    assert M @ (after.qvel - before.qvel) == pytest.approx(given, abs=1e-3)
    change = after.subtree_linvel[1] - before.subtree_linvel[1]
    assert character.mass * change == pytest.approx(impact.impulses.sum(axis=0), abs=1e-3)
    arms = impact.points - before.subtree_com[1]
    spin = after.subtree_angmom[1] - before.subtree_angmom[1]
    assert spin == pytest.approx(np.cross(arms, impact.impulses).sum(axis=0), abs=1e-3)


@pytest.mark.parametrize("y", [0.0, 0.15])
def test_an_impact_is_one_that_people_take(y: float):
    """Contacts push within friction, joints stay within strength, points come in as allowed and then rest."""
    result, tuning = jump("impact", y), ImpactTuning()
    (impact,) = result.impacts()
    f = impact.impulses
    assert (f[:, 2] >= 0.0).all()
    assert 1.0 < f[:, 2].sum() <= tuning.seconds * tuning.most_force * result.motion.character.weight + 1e-4
    assert (np.linalg.norm(f[:, :2], axis=1) <= 0.8 * f[:, 2] + 1e-9).all()
    strength = result.motion.character.torque_limit
    known = np.isfinite(strength)
    assert (np.abs(impact.torques)[known] <= tuning.seconds * strength[known] * (1.0 + 1e-6)).all()
    assert impact.torques[~known] == pytest.approx(0.0, abs=1e-9) and impact.torques[:6] == pytest.approx(0.0)
    before, after = sides(result, impact.time)
    model = result.motion.character.model
    fastest = 0.0
    for body, point in zip(impact.bodies, impact.points, strict=True):
        J = np.zeros((3, model.nv))
        mujoco.mj_jac(model, before, J, None, point, model.body(body).id)
        coming, left = J @ before.qvel, J @ after.qvel
        fastest = max(fastest, -coming[2])
        assert -tuning.approach - 1e-4 <= coming[2] <= 1e-4
        assert np.abs(coming[:2]).max() <= tuning.slide + 1e-4
        assert np.abs(left).max() < 0.01, "pinned at knots and half-way between the first two: to 4 mm/s"
    assert impact.approach == pytest.approx(fastest, abs=1e-3) and fastest > 0.2
    assert impact.fastest in impact.bodies and f"{impact.fastest} comes in" in str(impact)


def test_the_body_that_comes_in_is_named_not_one_that_stands():
    """The right foot lands beside the left one, which stands and is first in the list of contacts."""
    human = cp.character("human")
    lifted = human.neutral.copy()
    lifted[human.joint("knee_right").qpos] = 0.8
    keys = [cp.Key(0.0, lifted, rest=True), cp.Key(1.0, human.neutral, rest=True)]
    contacts = [cp.Touch("foot_left", 0.0, 1.0), cp.Touch("foot_right", 0.5, 1.0)]
    (impact,) = cp.optimize_motion(human, keys, contacts, 1.0, rate=16.0, landing="impact").impacts()
    assert "foot_left" in impact.bodies and impact.fastest in ("foot_right", "toes_right")


@pytest.mark.parametrize("given", [{"seconds": 0.0}, {"seconds": math.inf}, {"approach": -1.0}, {"effort": math.nan}])
def test_numbers_of_impacts_that_cannot_be_are_refused(given: dict[str, float]):
    with pytest.raises(BadValue, match="ImpactTuning"):
        ImpactTuning(**given)


def test_joints_give_less_where_less_is_asked_and_impacts_are_as_gentle_as_asked():
    gentle, request = ImpactTuning(approach=0.4, most_force=2.0), jump("impact").problem.request
    result = cp.optimize_motion(
        request.character, request.keys, request.contacts, request.duration, wishes=[cp.TorqueLimit(share=0.8)],
        rate=request.rate, landing=gentle,
    )  # fmt: skip
    assert result.exact, result.report()
    (impact,) = result.impacts()
    strength = request.character.torque_limit
    known = np.isfinite(strength)
    assert (np.abs(impact.torques)[known] <= 0.8 * gentle.seconds * strength[known] * (1.0 + 1e-6)).all()
    assert impact.approach <= 0.4 + 1e-4
    assert impact.impulses[:, 2].sum() <= gentle.seconds * 2.0 * request.character.weight + 1e-4
    assert "impact at 0.75 s" in result.report()


def test_without_it_what_touches_is_at_rest():
    result = jump("still")
    assert result.exact and result.impacts() == ()
    before, after = sides(result, LAND)
    assert before.qvel == pytest.approx(after.qvel, abs=1e-4)


def test_the_knees_bend_no_faster_and_the_motion_costs_less():
    still, impact = jump("still"), jump("impact")
    knees = [j.dofs.start for j in still.motion.character.joints if "knee" in j.name]
    t = np.arange(LAND - 0.05, LAND + 0.05, 0.002)
    fastest = [float(np.abs(r.sample(t).v[:, knees]).max()) for r in (still, impact)]
    assert fastest[1] < fastest[0]
    assert impact.objective < still.objective


def test_an_earlier_result_is_a_start():
    """Warm starts go both ways: impulses are variables of one problem and not of the other."""
    result = jump("impact")
    request = result.problem.request
    again = cp.optimize_motion(
        request.character, request.keys, request.contacts, request.duration, wishes=request.requirements,
        rate=request.rate, landing="impact", warm=result,
    )  # fmt: skip
    assert again.exact and again.iterations < result.iterations
    assert again.objective == pytest.approx(result.objective, rel=0.05)
    other = cp.optimize_motion(
        request.character, request.keys, request.contacts, request.duration, wishes=request.requirements,
        rate=request.rate, warm=result,
    )  # fmt: skip
    assert other.exact and other.impacts() == ()


def test_velocities_of_points_change_with_the_pose_as_differences_say():
    human, rng = cp.character("human"), np.random.default_rng(3)
    q = human.integrate(human.neutral, 0.3 * rng.normal(size=human.nv))
    v, step, model = rng.normal(size=human.nv), 1e-6, human.model
    body = model.body("foot_left").id

    def jacobians(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data = mujoco.MjData(model)
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        J, K = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        place = data.xpos[body] + data.xmat[body].reshape(3, 3) @ (0.1, 0.02, -0.04)
        mujoco.mj_jac(model, data, J, K, place, body)
        return J, K

    begins = np.arange(human.nv)
    for joint in human.joints:
        if joint.kind in ("ball", "free"):
            begins[joint.dofs.stop - 3 : joint.dofs.stop] = joint.dofs.stop - 3
    J, K = jacobians(q)
    numeric = np.empty((3, human.nv))
    for d in range(human.nv):
        ends = [jacobians(human.integrate(q, s * step * np.eye(human.nv)[d]))[0] @ v for s in (1.0, -1.0)]
        numeric[:, d] = (ends[0] - ends[1]) / (2.0 * step)
    assert velocity_slopes(J[None], K[None], v, begins)[0] == pytest.approx(numeric, abs=1e-6)


def test_a_stunt_says_how_it_lands():
    text = 'duration = 1.0\nlanding = "impact"\n[[key]]\ntime = 0.0\n[[contact]]\npart = "feet"\nfrom = 0.5\n'
    stunt = cp.read_stunt(text)
    assert stunt.landing == "impact" and [i.phase for i in stunt.problem().basis.impacts] == [1]
    with pytest.raises(BadFile, match="did you mean 'impact'"):
        cp.read_stunt(text.replace("impact", "impakt"))
    human = cp.character("human")
    with pytest.raises(UnknownName, match="landing"):
        cp.build_motion_problem(human, [cp.Key(0.0, human.neutral)], landing="hard")  # type: ignore[arg-type]
