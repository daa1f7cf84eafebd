"""Macchietto's controller: its program and inverse dynamics against other solvers, its laws, and what it survives."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import counterpoise as cp
from counterpoise.character import Character
from counterpoise.control import momentum_laws as laws
from counterpoise.control.floating_dynamics import FORCE_SOFTNESS, bounded_forces, floating_inverse_dynamics
from counterpoise.control.momentum_balance import MomentumBalance, MomentumTuning
from counterpoise.control.momentum_program import solve_accelerations
from counterpoise.control.reference import prepare_reference
from counterpoise.control.support import clamp_force, moment_about, pivot_distance, pressure_centre
from counterpoise.errors import BadValue, MissingRole, UnknownName
from counterpoise.measure.balance import fell, foot_slip
from counterpoise.motion import Motion
from counterpoise.objectives import Footing, take_stance

FAST = cp.World(timestep=0.002)
TRACKING, LINEAR, ALL = ("tracking",), ("tracking", "linear"), ("tracking", "linear", "angular")


# ------------------------------------------------------------------------------------------------------------ solvers


def test_accelerations_solve_the_constrained_least_squares(rng: np.random.Generator) -> None:
    """Against the null-space method with numpy's SVD, rows of C repeated."""
    for _ in range(20):
        n, m, k = 17, 5, 4
        w, target = rng.uniform(0.1, 3.0, n), rng.normal(size=n)
        A, b, C = rng.normal(size=(m, n)), rng.normal(size=m), rng.normal(size=(k, n))
        d = rng.normal(size=k)
        C2, d2 = np.vstack([C, C[:2], C[0] + C[1]]), np.concatenate([d, d[:2], [d[0] + d[1]]])
        a, _ = solve_accelerations(w, target, A, b, C2, d2)
        x0 = np.linalg.pinv(C) @ d
        Z = np.linalg.svd(C)[2][k:].T
        rows = np.vstack([np.diag(np.sqrt(w)), A])
        rhs = np.concatenate([np.sqrt(w) * target, b])
        want = x0 + Z @ np.linalg.lstsq(rows @ Z, rhs - rows @ x0, rcond=None)[0]
        assert np.abs(a - want).max() < 1e-6


def test_forces_in_the_cone_are_the_bounded_least_squares(rng: np.random.Generator) -> None:
    """Against scipy's BVLS, from easy to far outside what the ground can give."""
    for scale in (0.1, 1.0, 3.0, 10.0):
        for _ in range(10):
            A, y = rng.normal(size=(6, 40)), scale * rng.normal(size=6)
            limit = rng.choice([0.0, 1.0], 40, p=[0.2, 0.8])
            forces, z, _ = bounded_forces(A, y, limit, FORCE_SOFTNESS, np.zeros(6))
            rows, rhs = np.vstack([A, np.sqrt(FORCE_SOFTNESS) * np.eye(40)]), np.concatenate([y, np.zeros(40)])
            free = limit > 0.0
            best = np.zeros(40)
            best[free] = lsq_linear(rows[:, free], rhs, (0.0, 1.0), method="bvls", tol=1e-14).x
            assert np.abs(forces - best).max() < 1e-6
            assert np.abs(z - (y - A @ forces)).max() < 1e-7


def test_torques_give_the_joint_accelerations_that_were_asked_for(human: Character, rng: np.random.Generator) -> None:
    """Forward dynamics by MuJoCo's own factorisation, with the torques and forces found, returns the joints' part."""
    for size in (0.0, 3.0, 40.0):
        q = human.integrate(human.neutral, np.concatenate([np.zeros(6), rng.normal(0.0, 0.05, human.nv - 6)]))
        s = human.snapshot(human.state(q, rng.normal(0.0, 0.3, human.nv)))
        stance = take_stance(s, Footing(reach=0.2, leave=0.3))
        a = size * rng.normal(size=human.nv)
        torque, multipliers, _, missing = floating_inverse_dynamics(
            s.M, s.h, a, 6, stance.G, stance.force_limit, human.mass, human.weight, np.zeros(0)
        )
        assert (multipliers >= 0.0).all() and (multipliers <= stance.force_limit + 1e-9).all()
        assert np.array_equal(torque[:6], np.zeros(6))
        d = mujoco.MjData(human.model)
        d.qpos[:], d.qvel[:] = s.q, s.v
        mujoco.mj_forward(human.model, d)
        got = np.empty(human.nv)
        mujoco.mj_solveM(human.model, d, got[None], (torque + stance.G @ multipliers - s.h)[None])
        assert np.abs(got[6:] - a[6:]).max() < 1e-6 * (1.0 + size)
        if size == 0.0:
            assert missing < 1.0


# --------------------------------------------------------------------------------------------------------------- laws


def test_pressure_centre_and_moment_are_each_others_inverse(rng: np.random.Generator) -> None:
    for _ in range(20):
        com, place = rng.normal(size=3) + [0, 0, 2.0], np.append(rng.normal(size=2), -0.1)
        force = np.append(rng.normal(0, 50, 2), rng.uniform(100, 900))
        moment = moment_about(com, place, force)
        assert np.allclose(moment, np.cross(place - com, force))
        assert np.allclose(pressure_centre(com, force, moment, -0.1), place)


def test_clamped_forces_are_in_the_cone_and_good_ones_are_left_alone(rng: np.random.Generator) -> None:
    normal = np.array([0.1, -0.05, 1.0])
    normal /= np.linalg.norm(normal)
    for _ in range(50):
        force = rng.normal(0.0, 800.0, 3)
        kept = clamp_force(force, normal, 700.0, 0.2, 1.8, 0.5)
        N = kept @ normal
        assert 0.2 * 700 - 1e-6 <= N <= 1.8 * 700 + 1e-6
        assert np.linalg.norm(kept - N * normal) <= 0.5 * N + 1e-6
        assert np.allclose(clamp_force(kept, normal, 700.0, 0.2, 1.8, 0.5 + 1e-9), kept)


def test_a_reached_reference_asks_for_nothing(standing: Character) -> None:
    """At rest in the reference pose the accelerations chosen are nothing, and the torques carry the weight."""
    controller = MomentumBalance()
    memory = controller.begin(standing)
    action = controller.act(standing.snapshot(), memory)
    a = action.memory.acceleration
    assert np.abs(a).max() < 0.02  # the soles of a neutral pose are level to a few micrometres only
    assert action.notes["missing"] < 1e-3
    assert np.isfinite(action.torque).all() and (np.abs(action.torque) <= standing.torque_limit + 1e-9).all()


def test_support_feet_keep_the_grounds_acceleration(human: Character, rng: np.random.Generator) -> None:
    """J a + dJ/dt v of the planted points, by differences of their velocity along the chosen accelerations."""
    v = np.zeros(human.nv)
    controller = MomentumBalance(reference=human.limits.clamp(human.neutral))
    s = human.snapshot(human.state(human.neutral, v))
    memory = controller.begin(human)
    push = replace(memory, footing=None)
    a = controller.act(human.snapshot(human.state(human.neutral, v)), push).memory.acceleration
    e = 1e-6
    later = human.snapshot(human.state(human.integrate(s.q, e * v), v + e * a))
    assert np.abs((later.contact_velocity - s.contact_velocity) / e).max() < 1e-3


def test_joints_past_their_limits_stiffen(human: Character) -> None:
    """Towards the reference, swing cones and hinges alike, and only there (2008, eq. 6.5)."""
    knee = human.joint("knee_left")
    q = human.neutral.copy()
    row = list(human.limits.range_qpos).index(knee.qpos.start)
    q[knee.qpos] = human.limits.range_high[row] + 0.1
    shoulder = human.joint("shoulder_left")
    q[shoulder.qpos] = cp.spatial.exp(np.array([0.0, 0.0, 2.8]))
    values, _, columns = human.limits.evaluate(q)
    beyond = laws.beyond_limits(values, columns, human.nv, 0.0)
    assert beyond[knee.dofs][0] == pytest.approx(0.1)
    assert (beyond[shoulder.dofs] > 0.1).all()
    assert beyond[human.joint("knee_right").dofs][0] == 0.0
    one, zero = np.ones(human.nv), np.zeros(human.nv)
    soft = laws.tracking_law(one, zero, zero, zero, 100.0 * one, 20.0 * one, zero, 20.0)
    hard = laws.tracking_law(one, zero, zero, zero, 100.0 * one, 20.0 * one, beyond, 20.0)
    assert hard[knee.dofs][0] == pytest.approx(3.0 * soft[knee.dofs][0])


def test_the_thesis_weighs_by_the_distance_from_pressure_to_pivot(human: Character) -> None:
    s = human.snapshot()
    stance = take_stance(s, Footing())
    multipliers = np.zeros(len(stance.force_limit))
    multipliers[:4] = 100.0  # all weight on one point: a force straight up
    distance = pivot_distance(s, stance, multipliers)
    assert distance == pytest.approx(float(np.linalg.norm((stance.goal[0] - s.com)[:2])), rel=1e-6)


# ---------------------------------------------------------------------------------------------------------- references


def test_feet_that_the_reference_lifts_do_not_bear(human: Character) -> None:
    kick = cp.reference_motion("side_kick", human)
    reference = prepare_reference(human, kick, cp.Surface(), "test")
    middle = reference.at(0.5 * kick.duration)
    assert middle.lifted == ("foot_right",)
    assert reference.at(0.0).lifted == () and reference.at(kick.end + 1.0).lifted == ()
    com = human.snapshot(human.state(kick.sample(1.0).q)).com
    assert np.abs(reference.at(1.0).com - com).max() < 1e-4
    step = 1e-4
    rate = (reference.at(1.0 + step).com - reference.at(1.0 - step).com) / (2 * step)
    assert np.abs(reference.at(1.0).com_velocity - rate).max() < 1e-5


def test_bad_input_is_refused_with_the_cure(human: Character) -> None:
    with pytest.raises(BadValue, match="retarget"):
        MomentumBalance(cp.reference_motion("squat", cp.character("insectoid"))).begin(human)
    with pytest.raises(MissingRole, match="feet"):
        MomentumBalance().begin(cp.character("chain"))
    poses = np.tile(human.neutral, (40, 1))
    poses[10:30, 2] += 0.3
    with pytest.raises(BadValue, match="leaves the ground"):
        MomentumBalance(Motion(human, np.arange(40) / 30.0, poses)).begin(human)
    with pytest.raises(UnknownName, match="linear"):
        MomentumBalance(objectives=("tracking", "liner"))
    with pytest.raises(BadValue, match="accelerations"):
        MomentumBalance(extra=(cp.MinimumTorque(),))
    with pytest.raises(BadValue, match="bilateral"):
        MomentumBalance(footing=Footing(bilateral=True))
    with pytest.raises(BadValue, match="numbers"):
        MomentumBalance(reference=np.zeros(3)).begin(human)
    with pytest.raises(BadValue, match="least_force"):
        MomentumTuning(least_force=1.2)


@pytest.mark.parametrize("turned", [False, True])
def test_a_start_in_the_air_ends_without_nonsense(human: Character, turned: bool) -> None:
    q = human.neutral.copy()
    q[2] += 1.0
    if turned:
        q[3:7] = (0.0, 1.0, 0.0, 0.0)
    rec = cp.simulate(human, MomentumBalance(), 0.9, start=human.state(q), world=FAST)
    assert rec.status == "finished" and np.isfinite(rec.qpos).all()


# ------------------------------------------------------------------------------------------------------------- stories


def test_stands_under_a_push_and_replays(human: Character) -> None:
    rec = cp.simulate(human, MomentumBalance(), 2.0, disturbances=[cp.Push("thorax", (150, 0, 0), 0.2, 0.1)])
    assert not fell(rec) and max(foot_slip(rec).values()) < 0.01
    assert (np.abs(rec.torque) <= human.torque_limit + 1e-9).all()
    assert cp.replay(rec).exact


def test_torques_come_at_their_own_rate(human: Character) -> None:
    """Accelerations are held between optimisations; torques are not."""
    controller = MomentumBalance(rate=500.0, optimisation_rate=100.0)
    memory, held, torques = controller.begin(human), [], []
    for k in range(10):
        s = human.snapshot(human.state(human.neutral, np.full(human.nv, 0.01 * k), 0.002 * k))
        action = controller.act(s, memory)
        memory = action.memory
        held.append(memory.acceleration)
        torques.append(action.torque)
    assert all(held[k] is held[0] for k in range(5)) and held[5] is not held[0] and held[9] is held[5]
    assert all(np.abs(torques[k] - torques[k + 1]).max() > 1e-6 for k in range(4))


def _motion(human: Character, name: str, objectives: tuple[str, ...]) -> tuple[cp.Recording, float]:
    motion = cp.reference_motion(name, human)
    controller = MomentumBalance(motion, objectives=objectives)
    start = human.state(motion.sample(0.0).q)
    rec = cp.simulate(human, controller, motion.duration + 0.5, start=start, world=FAST)
    error = human.difference(rec.positions()[::10], motion.sample(rec.time[::10]).q)[:, 6:]
    return rec, float(np.sqrt(np.mean(error**2)))


@pytest.mark.slow
@pytest.mark.parametrize("objectives", [LINEAR, ALL])
@pytest.mark.parametrize("name", ["squat", "butterfly", "toe_touch", "twist", "side_kick", "front_kick", "leg_circle"])
def test_tracking_with_balance_completes_every_motion(human: Character, name: str, objectives: tuple[str, ...]) -> None:
    rec, error = _motion(human, name, objectives)
    assert not fell(rec) and error < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["side_kick", "leg_circle"])
def test_the_angular_objective_matters_at_the_margin(human: Character, name: str) -> None:
    """At one and a half times the speed, tracking with linear balance falls and all three complete the motion."""
    motion = cp.reference_motion(name, human).retimed(1.5)
    start = human.state(motion.sample(0.0).q)
    for objectives, stands in ((LINEAR, False), (ALL, True)):
        rec = cp.simulate(human, MomentumBalance(motion, objectives=objectives), motion.duration + 1.0, start=start)
        assert bool(fell(rec)) is not stands


@pytest.mark.slow
@pytest.mark.parametrize("name", ["side_kick", "leg_circle"])
def test_tracking_alone_falls_on_one_leg(human: Character, name: str) -> None:
    rec, _ = _motion(human, name, TRACKING)
    assert fell(rec)


@pytest.mark.slow
@pytest.mark.parametrize(("objectives", "stands"), [(TRACKING, False), (LINEAR, False), (ALL, True)])
def test_a_blow_to_the_head_needs_the_angular_objective(
    human: Character, objectives: tuple[str, ...], stands: bool
) -> None:
    """220 N for 0.1 s from the side (2008, figure 7.2)."""
    controller = MomentumBalance(objectives=objectives)
    rec = cp.simulate(human, controller, 3.5, disturbances=[cp.Push("head", (0, 220, 0), 0.5, 0.1)])
    assert bool(fell(rec)) is not stands


@pytest.mark.slow
def test_every_figure_takes_a_push_without_retuning(standing: Character) -> None:
    """As hard as ankles alone could take at best (rho = 0.9), forward."""
    s = standing.snapshot()
    body = "thorax" if "thorax" in standing.segments else standing.root
    reach = s.contact_position[:, 0].max() - s.com[0]
    height, pushed = s.com[2], s.body_com[standing.body_id(body)][2]
    impulse = 0.9 * standing.mass * np.sqrt(standing.gravity / height) * reach * height / pushed
    push = cp.Push(body, (10.0 * impulse, 0.0, 0.0), 0.3, 0.1)
    rec = cp.simulate(standing, MomentumBalance(), 2.5, disturbances=[push], world=FAST)
    assert not fell(rec)
