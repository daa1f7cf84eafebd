"""The feet of a runner: one that carries it and leaves over its ball, and those in the air."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.foot_goals import SwingGoal, ankle_over, rolling_pitch
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.turns import foot_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives
from counterpoise.control.walk.walk_state import FootState
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.objectives import Objective
from counterpoise.objectives.base import smooth_kernel, smooth_step

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
    i: int, m: RunMemory, seen: SeenBody, left: float, foothold: Array, character: Character, t: RunTuning
) -> SwingGoal:
    """Returns the goal of a foot in the air that lands after the time `left` [s] at a place (2,)."""
    assert m.time is not None
    swing = m.swings[i]
    acceleration = np.empty(3)
    pitch, rate = _fly(
        i, SIGN[i], m.time - swing.lifted, left, m.late, m.phase == "flight", m.heading, swing.pitch, swing.place,
        foothold, seen.ankle, seen.ankle_velocity, seen.hip, seen.hip_velocity, _flying_tables(character, t)[i],
        acceleration,
    )  # fmt: skip
    return SwingGoal(acceleration, pitch, rate)


def idle_foot(i: int, m: RunMemory, seen: SeenBody, acceleration: Array, body: WalkingBody, t: RunTuning) -> SwingGoal:
    """Returns the goal of the foot that stays in the air in a hop: below the hip and behind it, moving with the body.

    `acceleration` (3,) is that of the CoM [m/s^2].
    """
    clock, longest = body.leg_time, body.legs[i].longest
    back = np.array([-math.cos(m.heading), -math.sin(m.heading), 0.0])
    place = seen.hip[i] + longest * (t.idle_behind * back - np.array([0.0, 0.0, t.idle_length]))
    wish = STIFFNESS / clock**2 * (place - seen.ankle[i]) + acceleration
    wish += DAMPING / clock * (seen.hip_velocity[i] - seen.ankle_velocity[i])
    most = t.foot_limit * body.leg_speed**2 / body.hips_height
    return SwingGoal(wish * min(1.0, most / max(float(np.linalg.norm(wish)), 1e-9)), t.idle_pitch, 0.0)


class _FlyingTables(NamedTuple):
    """Numbers of a leg and a tuning, in metres and seconds."""

    clock: float  # [s]
    g: float  # [m/s^2]
    ankle_height: float  # [m]
    heel_at: float  # [m]
    ball_at: float  # [m]
    late: float  # [m] height of the sole until it lands
    lift: float  # [m]
    lift_pitch: float  # [rad]
    land_pitch: float  # [rad]
    ramp: float  # share of a swing
    aside: float  # [m]
    gap: float  # [m]
    largest: float  # [m/s^2] acceleration
    longest: float  # [m] length of the leg


@kept_with_character
def _flying_tables(character: Character, t: RunTuning) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Returns a _FlyingTables of each leg as a plain tuple, which kernels read faster than a named one."""
    body = walking_body(character)
    unit, g = body.hips_height, body.leg_speed**2 / body.hips_height
    left, right = (
        _FlyingTables(
            body.leg_time, g, leg.ankle_height, leg.heel_at, leg.ball_at, t.late_clearance * unit, t.lift * unit,
            t.lift_pitch, t.land_pitch, t.swing_ramp, t.aside * unit, t.gap * unit, t.foot_limit * g,
            t.swing_length * leg.longest,
        )
        for leg in body.legs
    )  # fmt: skip
    return tuple(left), tuple(right)


@kernel
def _fly(
    i: int, sign: float, swung: float, left: float, late: float, flight: bool, heading: float, lift_pitch: float,
    start: Array, foothold: Array, ankle: Array, ankle_velocity: Array, hip: Array, hip_velocity: Array,
    tables: tuple[Any, ...], acceleration: Array,
) -> tuple[float, float]:  # fmt: skip
    """Fills the acceleration of a foot in the air. Returns its pitch and the rate of that [rad, rad/s].

    It left at a place `start` (2,) and a pitch, `swung` [s] ago; `late` [s] is by how much feet land late.
    """
    t = _FlyingTables(*tables)
    clock = t.clock
    whole = swung + max(left, 0.02 * clock)
    u = min(swung / whole, 1.0)
    after, before = min(u + PHASE_STEP, 1.0), max(u - PHASE_STEP, 0.0)
    span = (after - before) * whole
    rate = (_flying_height(after, lift_pitch, t) - _flying_height(before, lift_pitch, t)) / span
    sx, sy = -math.sin(heading), math.cos(heading)
    lasts = max(whole + min(late, 0.0) - EARLY * clock, 0.5 * whole)
    share, pace, change = _trapezoid(min(swung / lasts, 1.0), t.ramp)
    x, y = start[0] + share * (foothold[0] - start[0]), start[1] + share * (foothold[1] - start[1])
    beside = sign * ((x - ankle[1 - i, 0]) * sx + (y - ankle[1 - i, 1]) * sy)
    far = max(t.aside, 0.0 if flight else t.gap - beside)
    out, faster = sign * far * _aside(u), sign * far * (_aside(after) - _aside(before)) / span
    for k in range(2):
        side, way = (sx if k == 0 else sy), foothold[k] - start[k]
        goal = (x if k == 0 else y) + out * side
        acceleration[k] = (
            STIFFNESS / clock**2 * (goal - ankle[i, k])
            + DAMPING / clock * (pace / lasts * way + faster * side - ankle_velocity[i, k])
            + change / lasts**2 * way
        )
    height = _flying_height(u, lift_pitch, t)
    acceleration[2] = STIFFNESS / clock**2 * (height - ankle[i, 2]) + DAMPING / clock * (rate - ankle_velocity[i, 2])
    size = math.hypot(acceleration[0], acceleration[1])
    if size > t.largest:
        acceleration[0] *= t.largest / size
        acceleration[1] *= t.largest / size
    acceleration[2] = min(max(acceleration[2], -t.largest), t.largest)
    _keep_bent(acceleration, ankle[i], hip[i], ankle_velocity[i], hip_velocity[i], flight, t)
    turn = (_flying_pitch(after, lift_pitch, t) - _flying_pitch(before, lift_pitch, t)) / span
    return _flying_pitch(u, lift_pitch, t), turn


@inner_kernel
def _flying_pitch(u: float, lift_pitch: float, t: _FlyingTables) -> float:
    """Returns the pitch of a foot at a share of its swing [rad]."""
    up, down = smooth_kernel(u / RAISED), smooth_kernel((u - LOWERED[0]) / (LOWERED[1] - LOWERED[0]))
    return lift_pitch * (1.0 - up) + (t.lift_pitch * up) * (1.0 - down) + t.land_pitch * down


@inner_kernel
def _flying_height(u: float, lift_pitch: float, t: _FlyingTables) -> float:
    """Returns the height of the ankle at a share of the swing [m]."""
    arch = t.lift * 6.75 * u * (1.0 - u) ** 2 if u < 1.0 else 0.0
    down = smooth_kernel((u - LAND_FROM) / (LAND_TO - LAND_FROM))
    low = t.late * smooth_kernel(u / 0.3) - LAND_DEPTH * t.late * down
    return ankle_over(_flying_pitch(u, lift_pitch, t), t.ankle_height, t.heel_at, t.ball_at) + arch + low


@inner_kernel
def _aside(u: float) -> float:
    """Returns how far a foot is beside its way at a share of its swing, 0 to 1."""
    out, back = smooth_kernel(u / ASIDE[0]), smooth_kernel((u - ASIDE[1]) / (ASIDE[2] - ASIDE[1]))
    return out * (1.0 - back)


@inner_kernel
def _trapezoid(u: float, ramp: float) -> tuple[float, float, float]:
    """Returns share, rate and change of rate of a way whose speed rises, stays and falls. It rises and falls smoothly,
    in a share `ramp` of the time each: while both feet are in the air, so that their reactions cancel."""
    top = 1.0 / (1.0 - ramp)
    if ramp <= u <= 1.0 - ramp:
        return top * (u - 0.5 * ramp), top, 0.0
    q = (u if u < ramp else 1.0 - u) / ramp
    share, pace, change = top * ramp * q**3 * (1.0 - 0.5 * q), top * q * q * (3.0 - 2.0 * q), 6.0 * q * (1.0 - q)
    return (share if u < ramp else 1.0 - share), pace, (top if u < ramp else -top) * change / ramp


@inner_kernel_with_arrays
def _keep_bent(
    acceleration: Array, ankle: Array, hip: Array, ankle_velocity: Array, hip_velocity: Array, falling: bool,
    t: _FlyingTables,
) -> None:  # fmt: skip
    """Takes from a foot's acceleration what would stretch its leg beyond its longest length."""
    away, length, rate = np.empty(3), 0.0, 0.0
    for k in range(3):
        away[k] = ankle[k] - hip[k]
        length += away[k] * away[k]
    length = math.sqrt(length)
    more = 0.0
    for k in range(3):
        away[k] /= length
        rate += away[k] * (ankle_velocity[k] - hip_velocity[k])
        more += acceleration[k] * away[k]
    most = STOP_STIFFNESS / t.clock**2 * (t.longest - length) - STOP_DAMPING / t.clock * rate
    if falling:  # the hip falls freely
        most -= away[2] * t.g
    more -= most
    if more > 0.0:
        for k in range(3):
            acceleration[k] -= more * away[k]
