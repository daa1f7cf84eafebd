"""The whole-body problem: both solvers agree, physics is obeyed, priorities hold, changes do not jump."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control import WholeBodyTuning, build_whole_body, solve_whole_body
from counterpoise.features import BodyOrientation, ComPosition, PointPosition
from counterpoise.objectives import Footing, SmallForces

GENERAL, FAST = WholeBodyTuning(path="general"), WholeBodyTuning(path="fast")


def standing(character: cp.Character, stops: bool = True, **posture) -> list[list[cp.Objective]]:
    """Contact and stops / CoM / angular momentum and posture: de Lasa's table 4.1."""
    first: list[cp.Objective] = [cp.Contact(), cp.JointStops()] if stops else [cp.Contact()]
    com = cp.Setpoint(ComPosition(), character.snapshot().com, stiffness=60.0, limit=7.0)
    return [first, [com], [cp.Momentum("angular", gain=20.0, weight=20.0), cp.TrackPose(stiffness=100.0, **posture)]]


def states(character: cp.Character, speed: float, count: int, seed: int = 0, spread: float = 0.02) -> list[cp.Snapshot]:
    rng = np.random.default_rng(seed)
    out = []
    for k in range(count):
        q = character.integrate(character.neutral, spread * rng.standard_normal(character.nv))
        q[character.joints[0].qpos] = character.neutral[character.joints[0].qpos]
        out.append(character.snapshot(character.state(q, speed * rng.standard_normal(character.nv), 0.002 * k)))
    return out


# -- two ways, one answer ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("body", ["human", "chicken", "planar_biped"])
def test_the_fast_solver_agrees_with_the_general_one(body: str):
    character = cp.character(body)
    levels, memory = standing(character), None
    for snapshot in states(character, 0.1, 6):
        fast = solve_whole_body(snapshot, levels, Footing(), FAST, memory)
        slow = solve_whole_body(snapshot, levels, Footing(), GENERAL, memory and replace(memory, warm=None))
        memory = fast.memory
        assert fast.status == slow.status == "solved" and fast.work["solves"] >= 1
        scale = 1.0 + np.abs(slow.acceleration).max()
        assert np.allclose(fast.acceleration, slow.acceleration, atol=1e-6 * scale)
        # how forces share the load is settled by a weight ten orders below the posture's: to fewer digits
        assert np.allclose(fast.torque, slow.torque, atol=1e-3 * (1.0 + np.abs(slow.torque).max()))
        for name, size in slow.residuals.items():
            assert fast.residuals[name] == pytest.approx(size, rel=1e-5, abs=1e-6 * scale), name


def test_known_residuals_are_those_of_the_rows(human):
    for snapshot in states(human, 0.5, 4, seed=3):
        solution = solve_whole_body(snapshot, standing(human), Footing(), FAST)
        found = solution.problem.residuals(solution.acceleration, solution.multipliers, solution.torque)
        assert solution.residuals.keys() == found.keys()
        for name, size in found.items():
            assert solution.residuals[name] == pytest.approx(size, rel=1e-9, abs=1e-9)


def test_a_joint_that_must_stop_is_stopped_both_ways(human):
    """An elbow flung at its limit: the one-sided row is held, and both solvers brake alike."""
    q, v = human.neutral.copy(), np.zeros(human.nv)
    elbow = human.joint("elbow_left")
    q[elbow.qpos], v[elbow.dofs] = (
        human.limits.range_low[list(human.limits.range_qpos).index(elbow.qpos.start)] + 0.05,
        -8.0,
    )
    snapshot = human.snapshot(human.state(q, v))
    levels = standing(human)
    fast, slow = (solve_whole_body(snapshot, levels, Footing(), t) for t in (FAST, GENERAL))
    assert fast.stops == slow.stops == ("joint stops",) and fast.work["solves"] == 2
    braking = fast.acceleration[elbow.dofs][0]
    without = solve_whole_body(snapshot, standing(human, stops=False), Footing(), FAST).acceleration[elbow.dofs][0]
    assert braking > without + 50.0 and braking == pytest.approx(slow.acceleration[elbow.dofs][0], rel=1e-5)


# -- physics -------------------------------------------------------------------------------------------------------
def test_in_flight_mujoco_accelerates_as_predicted(human):
    rng = np.random.default_rng(5)
    data = mujoco.MjData(human.model)
    for _ in range(3):
        q = human.integrate(human.neutral, 0.05 * rng.standard_normal(human.nv))
        q[2] += 1.0
        q = human.limits.clamp(q)
        snapshot = human.snapshot(human.state(q, 0.5 * rng.standard_normal(human.nv)))
        levels = [[cp.Momentum("angular")], [cp.TrackPose()]]
        solution = solve_whole_body(snapshot, levels, Footing())
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = snapshot.q, snapshot.v, solution.torque
        mujoco.mj_forward(human.model, data)
        if data.nefc == 0:
            assert np.allclose(data.qacc, solution.acceleration, atol=1e-6 * (1 + np.abs(data.qacc).max()))
        assert np.allclose(solution.force, 0.0)  # nothing to push against
        assert np.allclose(
            solution.acceleration @ snapshot.com_jacobian.T + snapshot.com_drift, [0, 0, -9.81], atol=1e-8
        )


@pytest.mark.parametrize("speed", [0.1, 2.0, 8.0])
def test_what_must_always_hold_holds_even_when_nothing_else_can(human, speed: float):
    """Torque limits, cones, no root force, the equations of motion; at speeds no posture can master."""
    footing = Footing(friction=0.7)
    for snapshot in states(human, speed, 5, seed=7):
        s = solve_whole_body(snapshot, standing(human), footing)
        f = s.force
        assert (np.abs(s.torque) <= human.torque_limit + 1e-9).all() and (s.torque[:6] == 0.0).all()
        assert (f[:, 2] >= -1e-6).all() and (np.hypot(f[:, 0], f[:, 1]) <= 0.7 * f[:, 2] + 1e-6).all()
        pushed = np.einsum("pij,pi->j", snapshot.contact_jacobian, f)
        left = snapshot.M @ s.acceleration + snapshot.h - s.torque - pushed
        assert np.abs(left).max() < 1e-6 * (1.0 + np.abs(s.torque).max() + np.abs(pushed).max())


def test_standing_still_carries_the_weight(human):
    s = solve_whole_body(human.snapshot(), standing(human), Footing())
    total = s.force.sum(axis=0)
    assert total[2] == pytest.approx(human.mass * 9.81, rel=1e-6) and np.abs(total[:2]).max() < 0.1
    moment = np.cross(human.snapshot().contact_position - human.snapshot().com, s.force).sum(axis=0)
    assert np.abs(moment).max() < 1.0


# -- priorities ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("tuning", [FAST, GENERAL], ids=["fast", "general"])
def test_a_lower_level_never_changes_a_higher_residual(human, tuning: WholeBodyTuning):
    base = standing(human, stops=False)
    hand = cp.Setpoint(PointPosition(human.hands[0]), (2.0, 1.0, 3.0), stiffness=500.0, name="hand")  # out of reach
    for snapshot in states(human, 0.3, 3, seed=11):
        alone = solve_whole_body(snapshot, base, Footing(), tuning)
        wild = [base[0], base[1], [hand], [*base[2][:1], cp.TrackPose(human.mirror_pose(snapshot.q), stiffness=900.0)]]
        more = solve_whole_body(snapshot, wild, Footing(), tuning)
        for name in ("contact", "centre of mass"):
            assert more.residuals[name] == pytest.approx(alone.residuals[name], abs=1e-7, rel=1e-7)
        assert np.abs(more.acceleration - alone.acceleration).max() > 1.0


def test_the_order_of_levels_is_obeyed(human):
    here = human.snapshot()
    up = cp.Setpoint(ComPosition(), here.com + [0, 0, 0.05], stiffness=100.0, name="up", axes="z")
    down = cp.Setpoint(ComPosition(), here.com - [0, 0, 0.05], stiffness=100.0, name="down", axes="z")
    pose = [cp.TrackPose()]
    first = solve_whole_body(here, [[cp.Contact()], [up], [down], pose], Footing())
    second = solve_whole_body(here, [[cp.Contact()], [down], [up], pose], Footing())
    assert first.residuals["up"] < second.residuals["up"] and second.residuals["down"] < first.residuals["down"]
    both = solve_whole_body(here, [[cp.Contact()], [up, down.weighing(3.0)], pose], Footing())
    weighted = both.problem.snapshot.com_jacobian[2] @ both.acceleration
    lo, hi = (s.problem.snapshot.com_jacobian[2] @ s.acceleration for s in (second, first))
    assert weighted == pytest.approx((hi + 3.0 * lo) / 4.0, abs=1e-3 * (hi - lo))  # section 6.2: shared by weights


def test_a_passive_joint_has_no_torque():
    chain = cp.character("chain")
    rng = np.random.default_rng(0)
    for _ in range(4):
        snapshot = chain.snapshot(chain.state(rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)))
        s = solve_whole_body(snapshot, [[cp.MinimumTorque("joint1")], [cp.TrackPose(stiffness=10.0)]], None)
        assert abs(s.torque[0]) < 1e-8 and s.status == "solved"
        a = np.linalg.solve(snapshot.M, s.torque - snapshot.h)
        assert np.allclose(a, s.acceleration, atol=1e-8 * (1 + np.abs(a).max()))


def test_objectives_on_forces_and_torques_take_the_general_path(human):
    levels = standing(human)
    relaxed = [levels[0], levels[1], [*levels[2], cp.MinimumTorque(("shoulder_left",), weight=10.0), SmallForces(1e-3)]]
    problem = build_whole_body(human.snapshot(), relaxed, Footing())
    assert "not on accelerations" in problem.fast and build_whole_body(human.snapshot(), levels, Footing()).fast == ""
    plain, lazy = (solve_whole_body(human.snapshot(), x, Footing()) for x in (levels, relaxed))
    arm = human.joint("shoulder_left").dofs
    assert np.linalg.norm(lazy.torque[arm]) < 0.5 * np.linalg.norm(plain.torque[arm])
    with pytest.raises(cp.CounterpoiseError, match="fast path"):
        solve_whole_body(human.snapshot(), relaxed, Footing(), FAST)


# -- changes -------------------------------------------------------------------------------------------------------
def largest_step(human: cp.Character, fade: float, change) -> tuple[float, float]:
    """The largest change of a torque between two ticks when levels change at 0.1 s, and the whole change asked for."""
    tuning, memory, before = WholeBodyTuning(fade=fade), None, None
    steps, torques = [], []
    base = standing(human)
    for k in range(150):
        time = 0.002 * k
        snapshot = human.snapshot(human.state(time=time))
        s = solve_whole_body(snapshot, change(base) if time >= 0.1 else base, Footing(), tuning, memory)
        memory = s.memory
        assert (np.abs(s.torque) <= human.torque_limit + 1e-9).all() and s.status == "solved"
        left = snapshot.M @ s.acceleration + snapshot.h - s.torque - s.problem.G @ s.multipliers
        assert np.abs(left).max() < 1e-5  # the blend obeys the equations of motion too
        if before is not None:
            steps.append(float(np.abs(s.torque - before).max()))
        before = s.torque
        torques.append(s.torque)
    return max(steps), float(np.abs(torques[-1] - torques[0]).max())


def add(levels):
    turn = cp.Setpoint(BodyOrientation("thorax"), (0.98, 0.0, 0.17, 0.0), stiffness=60.0)
    return [levels[0], [*levels[1], turn], levels[2]]


CHANGES = {
    "added": add,
    "removed": lambda levels: [levels[0], levels[2]],
    "reweighted": lambda levels: [levels[0], levels[1], [levels[2][0], cp.TrackPose(stiffness=300.0, weight=0.2)]],
    "reprioritised": lambda levels: [levels[0], levels[2][:1], levels[1], levels[2][1:]],
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_levels_come_in_without_a_jump(human, name: str):
    sudden, asked = largest_step(human, 0.0, CHANGES[name])
    gentle, same = largest_step(human, 0.1, CHANGES[name])
    assert sudden <= asked * (1 + 1e-6) + 1e-6  # no more than the change asks for
    assert same == pytest.approx(asked, abs=1e-6 + 1e-4 * asked)  # and it arrives
    assert gentle <= 1.6 * asked * 0.002 / 0.1 + 1e-6  # spread over the fade: 1.5 times the mean, at its middle


def test_a_second_change_during_a_fade_does_not_jump(human):
    base, tuning, memory, before, worst = standing(human), WholeBodyTuning(fade=0.1), None, None, 0.0
    for k in range(200):
        time = 0.002 * k
        levels = base if time < 0.1 else add(base) if time < 0.15 else CHANGES["reprioritised"](base)
        s = solve_whole_body(human.snapshot(human.state(time=time)), levels, Footing(), tuning, memory)
        memory = s.memory
        worst = max(worst, 0.0 if before is None else float(np.abs(s.torque - before).max()))
        before = s.torque
    jump, _ = largest_step(human, 0.0, add)
    assert worst < 0.1 * jump and memory.outgoing == ()


# -- mistakes ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: cp.WholeBody([]), "no objective"),
        (lambda: cp.WholeBody([["com"]]), "level 1 holds str"),
        (lambda: cp.WholeBody([[cp.TrackPose()], [cp.TrackPose()]]), "two objectives are called 'posture'"),
        (lambda: cp.WholeBody(3), "levels are"),
        (lambda: cp.WholeBody([[cp.TrackPose()]], rate=0.0), "rate"),
        (lambda: WholeBodyTuning(torque_share=0.0), "torque_share"),
        (lambda: WholeBodyTuning(path="quick"), "path"),
        (lambda: cp.WholeBody([[cp.Contact()], [cp.TrackPose()]]).begin(cp.character("chain")), "feet"),
        (lambda: cp.WholeBody([[cp.TrackPose(np.zeros(3))]]).begin(cp.character("chain")), "4 numbers"),
    ],
)
def test_mistakes_are_told_with_the_cure(make, says: str):
    with pytest.raises(cp.CounterpoiseError, match=says):
        make()
