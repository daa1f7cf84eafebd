"""The rest of a flight, planned again from the present state: how far the body tucks decides how far it still turns.

In the air the angular momentum H about the CoM is fixed. With joints on a path q_j(t) the root turns by

    omega = A_w^-1 (H - A_j q_j'),       H = A_w omega + A_j q_j'  (rows of the momentum matrix),

so the orientation at touch-down follows from H, the present orientation and the path. The path has one free number, the
tuck s: joints move by a share s b(u) towards the most compact pose of the planned flight where s > 0, and by a share
-s b(u) towards the pose of landing where s < 0. b is a bump over the flight, zero at take-off and at landing. The tuck
that is found is the one with which the body lands turned as in the plan.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.perform.layout import laid
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState
from counterpoise.control.perform.progress import PlanProgress
from counterpoise.control.perform.tuning import PerformTuning

STEPS = 10  # of the integration until landing
FIRST_TRY = 0.3  # of the tuck, for the slope
LEAST_SLOPE = 0.1  # [rad] by which a whole tuck must turn the body; less is left alone
LEAST_SPIN = 1e-3  # [m^2/s] angular momentum for each kilogram below which nothing turns
LOOKED_AT = 9  # poses of a flight among which the most compact one is


class FlightPoses(NamedTuple):
    """What a planned flight has to offer."""

    compact: Array  # (nq,) the pose with the least inertia about the axis of the spin
    landing: Array  # (nq,) the pose at the end
    turn: float  # [rad] by which the root turns


class AirPlan(NamedTuple):
    """What was planned again in a flight."""

    phase: int = -1  # the flight
    seen: float = 0.0  # [s] time of the last tick
    planned: float = -math.inf  # [s] when it was planned last
    wish: float = 0.0  # the tuck that was found
    tuck: float = 0.0  # the tuck now, on its way to the wish
    error: float = 0.0  # [rad] by which the body would land turned too far with the path as it was


def plan_rest(air: AirPlan, plan: PlannedMotion, now: PlanProgress, snapshot: Snapshot, t: PerformTuning) -> AirPlan:
    """Returns the plan of the rest of a flight at this tick.

    It is planned again where the flight follows a contact, ends with one, and turns the body far: in others the feet
    alone correct the landing.
    """
    phase = now.phase
    if t.tuck_limit == 0.0 or phase == 0 or phase + 1 >= plan.phases or not plan.flies(phase):
        return AirPlan()
    if flight_poses(plan, phase).turn < t.replan_turn:
        return AirPlan()
    if air.phase != phase:
        air = AirPlan(phase, snapshot.time)
    left = (plan.ends[phase + 1] - now.clock) / max(now.speed, 1e-9)
    if snapshot.time - air.planned > t.replan_time and t.replan_time < left < 1.0 / t.replan_time:
        wish, error = find_tuck(air.tuck, plan, now, snapshot, t)
        air = air._replace(planned=snapshot.time, wish=wish, error=error)
    step = t.tuck_rate * (snapshot.time - air.seen)
    return air._replace(seen=snapshot.time, tuck=air.tuck + min(max(air.wish - air.tuck, -step), step))


def find_tuck(
    tuck: float, plan: PlannedMotion, now: PlanProgress, snapshot: Snapshot, t: PerformTuning
) -> tuple[float, float]:
    """Returns the tuck with which the body lands turned as planned, and the error [rad] with the present one."""
    H = snapshot.momentum[:3]
    if float(np.linalg.norm(H)) < LEAST_SPIN * snapshot.character.mass:
        return 0.0, 0.0
    error = landing_error(tuck, plan, now, snapshot)
    if abs(error) < t.replan_error:
        return tuck, error
    low, high = -t.tuck_limit, t.tuck_limit
    other = tuck + (FIRST_TRY if tuck < 0.5 * high else -FIRST_TRY)
    slope = (landing_error(other, plan, now, snapshot) - error) / (other - tuck)
    if abs(slope) < LEAST_SLOPE:
        return tuck, error
    return min(max(tuck - error / slope, low), high), error


def landing_error(tuck: float, plan: PlannedMotion, now: PlanProgress, snapshot: Snapshot) -> float:
    """Returns by how much farther than planned the body will have turned at landing, about its axis of spin [rad]."""
    character, phase = plan.character, now.phase
    ends = float(plan.ends[phase + 1])
    span, rate = (ends - now.clock) / STEPS, max(now.speed, 1e-9)
    H, root = snapshot.momentum[:3], character.root_dofs.stop
    q = snapshot.q.copy()
    turn: Array = np.zeros(3)
    for k in range(STEPS):
        goal = tucked(plan.at(now.clock + (k + 0.5) * span, phase), tuck, plan, now.clock + (k + 0.5) * span, phase)
        q[7:] = goal.q[7:]
        half = q.copy()
        half[3:7] = spatial.multiply(q[3:7], spatial.exp(0.5 * turn))
        A = take_snapshot(character, State(half, np.zeros(character.nv))).momentum_matrix[:3]
        spin = np.linalg.solve(A[:, 3:root], H - A[:, root:] @ (rate * goal.v[root:]))
        turn = np.asarray(spin * span / rate, np.float64)
        q[3:7] = spatial.multiply(q[3:7], spatial.exp(turn))
    wanted = laid(plan.at(ends, phase), now.layout, 1.0).q[3:7]
    error = spatial.log(spatial.multiply(q[3:7], spatial.conjugate(wanted)))
    return float(error @ H) / float(np.linalg.norm(H))


def tucked(goal: PlannedState, tuck: float, plan: PlannedMotion, clock: float, phase: int) -> PlannedState:
    """Returns the plan's state in a flight with its joints moved by a tuck; the root stays."""
    if tuck == 0.0:
        return goal
    poses = flight_poses(plan, phase)
    span = float(plan.ends[phase + 1] - plan.ends[phase])
    u = min(max((clock - float(plan.ends[phase])) / span, 0.0), 1.0)
    share, rate = abs(tuck) * math.sin(math.pi * u) ** 2, abs(tuck) * math.pi / span * math.sin(2.0 * math.pi * u)
    away = plan.character.difference(goal.q, poses.compact if tuck > 0.0 else poses.landing)
    away[: plan.character.root_dofs.stop] = 0.0
    joints = np.arange(len(away)) >= plan.character.root_dofs.stop
    v = np.where(joints, (1.0 - share) * goal.v + rate * away, goal.v)
    a = np.where(joints, (1.0 - share) * goal.a, goal.a)
    return goal._replace(q=plan.character.integrate(goal.q, share * away), v=v, a=a)


def flight_poses(plan: PlannedMotion, phase: int) -> FlightPoses:
    """Returns the poses of a planned flight between which it can be changed; they are kept with the plan."""
    if phase not in plan.kept:
        plan.kept[phase] = _flight_poses(plan, phase)
    known: FlightPoses = plan.kept[phase]
    return known


def _flight_poses(plan: PlannedMotion, phase: int) -> FlightPoses:
    rows = np.linspace(plan.first[phase], plan.first[phase + 1] - 1, LOOKED_AT).astype(int)
    inertia = []
    for row in rows:
        q, spin = plan.q[row], plan.spin[row, 0]
        axis = spatial.rotate(spatial.conjugate(q[3:7]), spin / max(float(np.linalg.norm(spin)), 1e-9))
        A = take_snapshot(plan.character, State(q, np.zeros(plan.character.nv))).momentum_matrix[:3, 3:6]
        inertia.append(float(np.linalg.norm(A @ axis)))
    root = plan.q[rows, 3:7]
    steps = spatial.log(spatial.multiply(spatial.conjugate(root[:-1]), root[1:]))
    turn = float(np.linalg.norm(steps, axis=1).sum())
    return FlightPoses(plan.q[rows[int(np.argmin(inertia))]], plan.q[rows[-1]], turn)
