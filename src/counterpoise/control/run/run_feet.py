"""The feet of a runner: one that carries it and leaves over its ball, and those in the air."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.foot_goals import SwingGoal, ankle_above, rolling_pitch
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.turns import foot_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives
from counterpoise.control.walk.walk_state import FootState
from counterpoise.control.walk.walking_body import SIGN, WalkingBody
from counterpoise.objectives import Objective
from counterpoise.objectives.base import smooth_step

PHASE_STEP = 0.01  # of a swing, for the rates of its path
STIFFNESS = 45.0  # [1/leg time^2] of the height of a swinging foot
DAMPING = 13.0  # [1/leg time]
STOP_STIFFNESS, STOP_DAMPING = 60.0, 15.5  # [1/leg time^2, 1/leg time] of a leg that is nearly straight
EARLY = 0.02  # [leg times] before the landing at which the foot is at its place
RAISED, LOWERED = 0.28, (0.32, 0.8)  # shares of a swing in which the heel goes up and comes down
LAND_FROM, LAND_TO = 0.95, 1.03  # shares of a swing between which the foot is put down
ASIDE = (0.3, 0.5, 0.9)  # shares of a swing: the foot is beside the other leg, begins to come back, is back
LAND_DEPTH = 1.4  # [late clearances] it is aimed a little below the ground
FLAT = 0.004  # [leg lengths] a foot whose points are lower than this is flat
SETTLE_TIME = 0.3  # [leg times] after a landing at which it counts as flat in any case
LARGEST_PITCH = 1.1  # [rad] of a foot on its ball
ROLL_RATES = (-1.0, 4.5)  # [rad/leg time] of a rolling foot's wish
RELEASE_TIME = 0.1  # [leg times] in which a heel is let go


def stance_foot(
    m: RunMemory, snapshot: Snapshot, seen: SeenBody, body: WalkingBody, own: WalkObjectives, t: RunTuning, dt: float,
    held: Flags, share: Array,
) -> tuple[FootState, list[Objective]]:  # fmt: skip
    """Returns state and goals of the foot that carries the runner. Fills which of its points are held and push.

    Ball and toes are never held at once while the heel rises: see `planted_foot` of the walk.
    """
    i = m.stance
    leg, foot, clock, w = body.legs[i], m.feet[i], body.leg_time, t.whole_body
    assert m.time is not None
    yaw, pitch = float(seen.yaw[i]), float(seen.pitch[i])
    held[leg.points] = True
    share[leg.points] = min(max((m.time - foot.landed) / (t.force_rise * clock), 0.1), 1.0)
    if foot.on_heel:  # until it is flat it may turn: its points are held where they are
        flat = snapshot.contact_position[leg.points, 2].max() < FLAT * body.hips_height
        foot = foot._replace(on_heel=not flat and m.time - foot.landed < SETTLE_TIME * clock)
    u = (m.time - m.began) / m.duration
    if u < t.release and foot.released == 0.0:
        return foot._replace(goal_pitch=pitch), []
    extra: list[Objective] = []
    released = min(foot.released + dt / (RELEASE_TIME * clock), 1.0)
    goal = min(rolling_pitch(snapshot, seen, i, t.leave_length * leg.longest, body), LARGEST_PITCH)
    goal = max(goal, 0.0) * smooth_step(released)
    rate = min(max((goal - foot.goal_pitch) / max(dt, 1e-3), ROLL_RATES[0] / clock), ROLL_RATES[1] / clock)
    goal = min(foot.goal_pitch + rate * dt, pitch + w.roll_ahead)
    held[leg.heel] = held[leg.toes] = False
    share[leg.heel] *= 1.0 - released
    toes = own.toes[i]
    if toes is not None:
        extra.append(toes.aimed(**foot_turn(leg.toe_turn, yaw, 0.0, 0.0)))
    extra.append(own.roll[i].aimed(**foot_turn(leg.turn, yaw, goal, rate), weight=w.roll_weight * released))
    return foot._replace(released=released, goal_pitch=goal), extra


def flying_foot(
    i: int, m: RunMemory, seen: SeenBody, left: float, foothold: Array, body: WalkingBody, t: RunTuning
) -> SwingGoal:
    """Returns the goal of a foot in the air that lands after the time `left` [s] at a place (2,)."""
    assert m.time is not None
    leg, clock, swing = body.legs[i], body.leg_time, m.swings[i]
    unit, g = body.hips_height, body.leg_speed**2 / body.hips_height
    place, speed = seen.ankle[i], seen.ankle_velocity[i]
    swung = m.time - swing.lifted
    whole = swung + max(left, 0.02 * clock)
    late = t.late_clearance * unit

    def pitch(u: float) -> float:
        up, down = smooth_step(u / RAISED), smooth_step((u - LOWERED[0]) / (LOWERED[1] - LOWERED[0]))
        return swing.pitch * (1.0 - up) + (t.lift_pitch * up) * (1.0 - down) + t.land_pitch * down

    def height(u: float) -> float:
        arch = t.lift * unit * 6.75 * u * (1.0 - u) ** 2 if u < 1.0 else 0.0
        low = late * smooth_step(u / 0.3) - LAND_DEPTH * late * smooth_step((u - LAND_FROM) / (LAND_TO - LAND_FROM))
        return ankle_above(leg, pitch(u)) + arch + low

    def aside(u: float) -> float:
        out, back = smooth_step(u / ASIDE[0]), smooth_step((u - ASIDE[1]) / (ASIDE[2] - ASIDE[1]))
        return out * (1.0 - back)

    u = min(swung / whole, 1.0)
    after, before = min(u + PHASE_STEP, 1.0), max(u - PHASE_STEP, 0.0)
    span = (after - before) * whole
    rate = (height(after) - height(before)) / span
    side = np.array([-math.sin(m.heading), math.cos(m.heading)])
    way = foothold - swing.place
    lasts = max(whole + min(m.late, 0.0) - EARLY * clock, 0.5 * whole)
    share, pace, change = _trapezoid(min(swung / lasts, 1.0), t.swing_ramp)
    beside = SIGN[i] * float((swing.place + share * way - seen.ankle[1 - i, :2]) @ side)
    far = max(t.aside * unit, t.gap * unit - beside if m.phase == "stance" else 0.0)
    out, faster = SIGN[i] * far * aside(u) * side, SIGN[i] * far * (aside(after) - aside(before)) / span * side
    acceleration = np.empty(3)
    acceleration[:2] = (
        STIFFNESS / clock**2 * (swing.place + share * way + out - place[:2])
        + DAMPING / clock * (pace / lasts * way + faster - speed[:2])
        + change / lasts**2 * way
    )
    acceleration[2] = STIFFNESS / clock**2 * (height(u) - place[2]) + DAMPING / clock * (rate - speed[2])
    largest = t.foot_limit * g
    size = float(np.hypot(acceleration[0], acceleration[1]))
    if size > largest:
        acceleration[:2] *= largest / size
    acceleration[2] = min(max(acceleration[2], -largest), largest)
    _keep_bent(i, acceleration, seen, m.phase == "flight", t.swing_length * leg.longest, body)
    return SwingGoal(acceleration, pitch(u), (pitch(after) - pitch(before)) / span)


def _trapezoid(u: float, ramp: float) -> tuple[float, float, float]:
    """Returns share, rate and change of rate of a way whose speed rises, stays and falls. It rises and falls smoothly,
    in a share `ramp` of the time each: while both feet are in the air, so that their reactions cancel."""
    top = 1.0 / (1.0 - ramp)
    if u > 1.0 - ramp:
        share, pace, change = _trapezoid(1.0 - u, ramp)
        return 1.0 - share, pace, -change
    if u >= ramp:
        return top * (u - 0.5 * ramp), top, 0.0
    q = u / ramp
    return top * ramp * q**3 * (1.0 - 0.5 * q), top * q * q * (3.0 - 2.0 * q), top * 6.0 * q * (1.0 - q) / ramp


def _keep_bent(i: int, acceleration: Array, seen: SeenBody, falling: bool, longest: float, body: WalkingBody) -> None:
    """Takes from a foot's acceleration what would stretch its leg beyond a length [m]."""
    clock = body.leg_time
    away, rate = seen.ankle[i] - seen.hip[i], seen.ankle_velocity[i] - seen.hip_velocity[i]
    length = float(np.sqrt(away @ away))
    out = away / length
    most = STOP_STIFFNESS / clock**2 * (longest - length) - STOP_DAMPING / clock * float(out @ rate)
    if falling:  # the hip falls freely
        most -= float(out[2]) * body.leg_speed**2 / body.hips_height
    more = float(acceleration @ out) - most
    if more > 0.0:
        acceleration -= more * out
