"""A foot on the ground: it comes down from its heel, lies flat, and rolls over its ball.

Ball and toes are never held at once while the heel rises: the toes' hinge lies above the sole, so a foot that turns
over its ball moves it, which planted toes forbid.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.foot_goals import pitch_on_ball, shin_lean
from counterpoise.control.walk.planes import foot_angles, is_set
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import foot_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives, foot_goal
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, WalkingLeg, walking_body
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives import Objective
from counterpoise.objectives.base import smooth_kernel

FLAT = 0.0032  # [leg lengths] a foot on its heel whose ball is lower than this is flat
BALL_BEARS = 0.015  # [body weights] on one side of a ball that bears
LONGEST_FLAT = 1.0  # [leg times] in which a foot on its heel becomes flat in any case
RELEASE_TIME = 0.1  # [leg times] in which a heel is let go
FRONT_TIME = 0.13  # [leg times] in which the front of a foot takes over after it has become flat
LEANS_IN = 0.0005  # [m] by which the inner edge of a sole that leans over it is lower
STEP_DOWN = 0.05  # [leg lengths] to lower ground: the stance leg folds, and its heel rises before the ankle's stop
LARGEST_BEND = 0.45  # [rad] of an ankle whose heel stays down
LARGEST_PITCH = 1.05  # [rad] of a rolling foot
MOST_PACE = 1.15  # [usual speeds] beyond which the heel rises no more
SOFTEST = 0.08  # [leg times] in which a foot on its heel becomes flat at the end
SOFT_ROLL = 0.2  # [leg times] in which it follows over ground that is seen: a quick one would push the hips up
ROLL_RATES = (-0.92, 3.1)  # [rad/leg time] of a rolling foot's wish


COMES_DOWN, LIES, ROLLS = 0, 1, 2  # what a planted foot does


def planted_foot(
    i: int, m: WalkMemory, snapshot: Snapshot, seen: SeenBody, plan: StepPlan, body: WalkingBody,
    own: WalkObjectives, t: WalkTuning, dt: float, held: Flags, share: Array, soft: bool = False,
) -> tuple[FootState, list[Objective]]:  # fmt: skip
    """Returns the state and the goals of a foot on the ground. Fills which of its points are held and push.

    `soft`: its heel rises no faster than the hips can follow.
    """
    leg, foot = body.legs[i], m.feet[i]
    assert m.time is not None
    on_heel, since = foot.on_heel, foot.flat
    if on_heel and is_set(seen.ground[i]) and _ball_bears(snapshot, leg):  # on uneven ground it may lie on one side
        on_heel, since = False, m.time
    does, flat, released, goal, rate, lies, side = _plant(
        i, m.phase == "single", i != m.stance, m.catches, m.time, m.time - m.began, m.time - m.lifted, dt,
        soft, m.speed, plan.double_left, plan.left, float(plan.ground[2]), m.pressure,
        (foot.landed, since, foot.released, foot.goal_pitch), on_heel, snapshot.contact_position,
        snapshot.body_position, snapshot.body_velocity, seen.over, seen.hip, seen.ankle, seen.flat, seen.base, seen.yaw,
        seen.pitch, seen.ground, _planted_tables(snapshot.character, t)[i], held, share,
    )  # fmt: skip
    if not leg.can_roll:
        hold_one_edge(leg, seen.over, held)
    yaw = float(seen.yaw[i])
    foot = foot._replace(on_heel=does == COMES_DOWN, flat=flat, released=released, goal_pitch=goal)
    if does == LIES:
        return foot, []
    turn = foot_goal(leg, yaw, lies + goal, rate, side)
    if does == COMES_DOWN:
        return foot, [own.roll[i].aimed(**turn)]
    rolls = own.roll[i].aimed(**turn, weight=t.roll_weight * released)
    toes = own.toes[i]
    return foot, [rolls] if toes is None else [toes.aimed(**foot_turn(leg.toe_turn, yaw, lies, 0.0, side)), rolls]


def hold_one_edge(leg: WalkingLeg, over: Array, held: Flags) -> None:
    """Lets go one edge of a sole whose ankle cannot roll: the foot leans over the other one as the leg leans sideways.

    It is the outer edge that stays, unless the inner one is lower. `over` (p,) are heights over the ground [m].
    """
    if len(leg.outer) and len(leg.inner):
        leans_in = over[leg.inner].min() < over[leg.outer].min() - LEANS_IN
        held[leg.outer if leans_in else leg.inner] = False


def _ball_bears(snapshot: Snapshot, leg: WalkingLeg) -> bool:
    """Returns whether a force is measured under a foot's ball."""
    force = snapshot.contact_force
    return force is not None and bool(force[leg.ball, 2].max() > BALL_BEARS * snapshot.character.weight)


class _PlantedTables(NamedTuple):
    """Numbers of a leg and a tuning, in metres and seconds."""

    clock: float  # [s]
    unit: float  # [m] leg length
    points: Ints
    heel: Ints
    ball: Ints
    toes: Ints
    knee: int  # body that the knee's hinge moves
    heel_at: float  # [m]
    ball_at: float  # [m]
    front_at: float  # [m]
    ankle_height: float  # [m]
    longest: float  # [m]
    force_rise: float  # [s]
    force_fall: float  # [s]
    flat_time: float  # [s]
    stance_length: float  # [longest]
    catch_length: float  # [longest]
    rear_length: float  # [longest]
    leave_length: float  # [longest]
    release: float  # [soles]
    stop_speed: float  # [m/s]
    roll_ahead: float  # [rad]
    push_from: float
    push_pitch: float  # [rad]
    usual_speed: float  # [m/s]
    roll_damping: float  # [1/s]
    foot: int  # body
    can_roll: bool


@kept_with_character
def _planted_tables(character: Character, t: WalkTuning) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Returns a _PlantedTables of each leg as a plain tuple, which kernels read faster than a named one."""
    body = walking_body(character)
    clock = body.leg_time

    def of(leg: WalkingLeg) -> _PlantedTables:
        return _PlantedTables(
            clock, body.hips_height, leg.points, leg.heel, leg.ball, leg.toes,
            int(character.model.dof_bodyid[leg.knee]), leg.heel_at, leg.ball_at, leg.front_at, leg.ankle_height,
            leg.longest, t.force_rise * clock, t.force_fall * clock, t.flat_time * clock, t.stance_length,
            t.catch_length, t.rear_length, t.leave_length, t.release, t.stop_speed * body.leg_speed, t.roll_ahead,
            t.push_from, t.push_pitch, t.usual_speed * body.leg_speed, 2.0 * math.sqrt(t.roll_stiffness) / clock,
            character.body_id(leg.body), leg.can_roll,
        )  # fmt: skip

    return tuple(of(body.legs[0])), tuple(of(body.legs[1]))


@kernel
def _plant(
    i: int, single: bool, other: bool, catches: bool, now: float, gone: float, swung: float, dt: float, soft: bool,
    speed: float, double_left: float, left: float, ahead: float, pressure: Array,
    foot: tuple[float, float, float, float], on_heel: bool, places: Array, bodies: Array, spins: Array, over: Array,
    hip: Array, ankle: Array, flat_at: Array, base: Array, yaws: Array, pitches: Array, ground: Array,
    tables: tuple[Any, ...], held: Flags, share: Array,
) -> tuple[int, float, float, float, float, float, float]:  # fmt: skip
    """Fills which points of a foot are held, and which share of their force they may use.

    Returns what the foot does, since when it has been flat [s], how far its heel is let go, its pitch over the ground
    [rad] and the rate of that [rad/s], and the pitch and roll of the ground [rad]. `other`: it is not the stance foot;
    `soft`: its heel rises no faster than the hips can follow, and before the ankle's stop;
    `gone` and `swung` [s] are the times since the step began and since the other foot left, `ahead` [m] is the height
    of the next foothold. `foot` is when it landed, since when it has been flat [s], how far its heel was let go, and
    its pitch at the last tick [rad].
    """
    t = _PlantedTables(*tables)
    landed, flat, released, goal_pitch = foot
    yaw, pitch, clock = yaws[i], pitches[i], t.clock
    lies, side = foot_angles(ground[i], yaw)
    part = min(max((now - landed) / t.force_rise, 0.05), 1.0)
    for j in t.points:
        held[j], share[j] = True, part
    rear = not single and other
    if on_heel:
        highest = -np.inf if t.can_roll else np.inf
        for j in t.ball:
            highest = max(highest, over[j]) if t.can_roll else min(highest, over[j])
        if highest < FLAT * t.unit or now - landed > LONGEST_FLAT * clock:
            flat = now
        else:
            rest = max(t.flat_time - (now - landed), SOFTEST * clock)
            turning = math.cos(yaw) * spins[t.foot, 1] - math.sin(yaw) * spins[t.foot, 0]
            # by a cubic from where it is: it arrives softly
            rate = turning - (6.0 * pitch / rest**2 + 4.0 * turning / rest) / t.roll_damping
            _let_go(t.ball, 0.0, held, share)
            _let_go(t.toes, 0.0, held, share)
            return COMES_DOWN, flat, released, pitch, rate, lies, side
    front = min(max((now - flat) / (FRONT_TIME * clock), 0.1), 1.0)
    for j in t.ball:
        share[j] *= front
    for j in t.toes:
        share[j] *= front
    late = 1.0
    if single:
        late = smooth_kernel((swung / (swung + max(left, 1e-3)) - t.push_from) / (1.0 - t.push_from))
    length = t.stance_length + (t.rear_length - t.stance_length) * late
    if catches:
        length, late = t.catch_length, 0.0
    if rear:
        length += (t.leave_length - length) * smooth_kernel(gone / max(gone + double_left, 0.1 * clock))
    goal, rate = -1.0, 0.0
    if (rear or single) and speed > t.stop_speed:
        rolled = pitch_on_ball(places, t.ball, hip[i], yaw, length * t.longest, t.ball_at, t.ankle_height)
        goal = min(rolled - lies, LARGEST_PITCH)
        if late > 0.0:
            goal = max(goal, t.push_pitch * min(speed / t.usual_speed, MOST_PACE) * late)
    lowers = single and ahead < base[i] - STEP_DOWN * t.unit
    if lowers or (soft and rear):
        goal = max(goal, shin_lean(bodies[t.knee], ankle[i], yaw) - lies - LARGEST_BEND)
    along = (pressure[0] - flat_at[i, 0]) * math.cos(yaw) + (pressure[1] - flat_at[i, 1]) * math.sin(yaw)
    past = along > t.heel_at + t.release * (t.front_at - t.heel_at)
    rolls = released > 0.0 or (goal > 0.02 and (rear or past or lowers))
    if rolls and goal < -0.03 and pitch < 0.05 and not rear:
        released, rolls = 0.0, False
    if rolls:
        released = min(released + dt / (RELEASE_TIME * clock), 1.0)
        goal = max(goal, 0.0) * smooth_kernel(released)
        rate = min(
            max((goal - goal_pitch) / max(dt, SOFT_ROLL * clock if soft else 1e-3), ROLL_RATES[0] / clock),
            ROLL_RATES[1] / clock,
        )
        goal = min(goal_pitch + rate * dt, pitch + t.roll_ahead)
        _let_go(t.heel, 1.0 - released, held, share)  # ball and toes held at once lock the foot
        _let_go(t.toes, 1.0, held, share)
    if rear:
        part = min(max(double_left / t.force_fall, 0.03), 1.0)
        for j in t.points:
            share[j] *= part
    return (ROLLS if rolls else LIES), flat, released, (goal if rolls else pitch), rate, lies, side


@inner_kernel
def _let_go(points: Ints, left: float, held: Flags, share: Array) -> None:
    """Points are not held any more; `left` of their force is left."""
    for j in points:
        held[j] = False
        share[j] *= left
