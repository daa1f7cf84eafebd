"""A foot on the ground: it comes down from its heel, lies flat, and rolls over its ball.

Ball and toes are never held at once while the heel rises: the toes' hinge lies above the sole, so a foot that turns
over its ball moves it, which planted toes forbid.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.foot_goals import rolling_pitch
from counterpoise.control.walk.planes import foot_angles
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import foot_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.objectives import Objective
from counterpoise.objectives.base import smooth_step

FLAT = 0.0032  # [leg lengths] a foot on its heel whose ball is lower than this is flat
LONGEST_FLAT = 1.0  # [leg times] in which a foot on its heel becomes flat in any case
RELEASE_TIME = 0.1  # [leg times] in which a heel is let go
FRONT_TIME = 0.13  # [leg times] in which the front of a foot takes over after it has become flat
STEP_DOWN = 0.05  # [leg lengths] to lower ground: the stance leg folds, and its heel rises before the ankle's stop
LARGEST_BEND = 0.45  # [rad] of an ankle whose heel stays down
LARGEST_PITCH = 1.05  # [rad] of a rolling foot
MOST_PACE = 1.15  # [usual speeds] beyond which the heel rises no more
SOFTEST = 0.08  # [leg times] in which a foot on its heel becomes flat at the end
ROLL_RATES = (-0.92, 3.1)  # [rad/leg time] of a rolling foot's wish


def planted_foot(
    i: int, m: WalkMemory, snapshot: Snapshot, seen: SeenBody, plan: StepPlan, body: WalkingBody,
    own: WalkObjectives, t: WalkTuning, dt: float, held: Flags, share: Array,
) -> tuple[FootState, list[Objective]]:  # fmt: skip
    """Returns the state and the goals of a foot on the ground. Fills which of its points are held and push."""
    leg, foot, clock = body.legs[i], m.feet[i], body.leg_time
    assert m.time is not None
    yaw, pitch = float(seen.yaw[i]), float(seen.pitch[i])
    lies, side = foot_angles(seen.ground[i], yaw)
    extra: list[Objective] = []
    held[leg.points] = True
    share[leg.points] = min(max((m.time - foot.landed) / (t.force_rise * clock), 0.05), 1.0)
    rear = m.phase == "double" and i != m.stance
    if foot.on_heel:
        flat = seen.over[leg.ball].max() < FLAT * body.hips_height
        if flat or m.time - foot.landed > LONGEST_FLAT * clock:
            foot = foot._replace(on_heel=False, flat=m.time)
        else:
            # by a cubic from where it is: it arrives without a bang
            rest = max(t.flat_time * clock - (m.time - foot.landed), SOFTEST * clock)
            now = _pitch_rate(i, snapshot, yaw, body)
            rate = now - (6.0 * pitch / rest**2 + 4.0 * now / rest) / (2.0 * math.sqrt(t.roll_stiffness) / clock)
            held[leg.ball] = held[leg.toes] = False
            share[leg.ball] = share[leg.toes] = 0.0
            extra.append(own.roll[i].aimed(**foot_turn(leg.turn, yaw, lies + pitch, rate, side)))
            return foot._replace(goal_pitch=pitch), extra
    front = min(max((m.time - foot.flat) / (FRONT_TIME * clock), 0.1), 1.0)
    share[leg.ball] *= front
    share[leg.toes] *= front
    late = 1.0
    if m.phase == "single":
        swung = m.time - m.lifted
        late = smooth_step((swung / (swung + max(plan.left, 1e-3)) - t.push_from) / (1.0 - t.push_from))
    length = t.stance_length + (t.rear_length - t.stance_length) * late
    if m.catches:
        length, late = t.catch_length, 0.0
    if rear:
        gone = m.time - m.began
        length += (t.leave_length - length) * smooth_step(gone / max(gone + plan.double_left, 0.1 * clock))
    goal = -1.0
    if (rear or m.phase == "single") and m.speed > t.stop_speed * body.leg_speed:
        goal = min(rolling_pitch(snapshot, seen, i, length * leg.longest, body) - lies, LARGEST_PITCH)
        pace = min(m.speed / (t.usual_speed * body.leg_speed), MOST_PACE)
        if late > 0.0:
            goal = max(goal, t.push_pitch * pace * late)
    lowers = m.phase == "single" and plan.ground[2] < seen.base[i] - STEP_DOWN * body.hips_height
    if lowers:
        goal = max(goal, _shin_lean(i, snapshot, seen, body) - lies - LARGEST_BEND)
    sole = leg.front_at - leg.heel_at
    along = (m.pressure - seen.flat[i]) @ np.array([math.cos(yaw), math.sin(yaw)])
    past = along > leg.heel_at + t.release * sole
    rolls = foot.released > 0.0 or (goal > 0.02 and (rear or past or lowers))
    if rolls and goal < -0.03 and pitch < 0.05 and not rear:
        foot, rolls = foot._replace(released=0.0), False
    if rolls:
        released = min(foot.released + dt / (RELEASE_TIME * clock), 1.0)
        goal = max(goal, 0.0) * smooth_step(released)
        rate = min(max((goal - foot.goal_pitch) / max(dt, 1e-3), ROLL_RATES[0] / clock), ROLL_RATES[1] / clock)
        goal = min(foot.goal_pitch + rate * dt, pitch + t.roll_ahead)
        held[leg.heel] = held[leg.toes] = False  # ball and toes held at once lock the foot
        share[leg.heel] *= 1.0 - released
        toes = own.toes[i]
        if toes is not None:
            extra.append(toes.aimed(**foot_turn(leg.toe_turn, yaw, lies, 0.0, side)))
        turn = foot_turn(leg.turn, yaw, lies + goal, rate, side)
        extra.append(own.roll[i].aimed(**turn, weight=t.roll_weight * released))
        foot = foot._replace(released=released, goal_pitch=goal)
    else:
        foot = foot._replace(goal_pitch=pitch)
    if rear:
        share[leg.points] *= min(max(plan.double_left / (t.force_fall * clock), 0.03), 1.0)
    return foot, extra


def _pitch_rate(i: int, snapshot: Snapshot, yaw: float, body: WalkingBody) -> float:
    """Returns the rate of a foot's pitch [rad/s]."""
    spin = snapshot.body_velocity[snapshot.character.body_id(body.legs[i].body)]
    return float(math.cos(yaw) * spin[1] - math.sin(yaw) * spin[0])


def _shin_lean(i: int, snapshot: Snapshot, seen: SeenBody, body: WalkingBody) -> float:
    """Returns how far the shin leans forward [rad]."""
    character = snapshot.character
    knee = snapshot.body_position[character.model.dof_bodyid[body.legs[i].knee]]
    x, y, z = (knee - seen.ankle[i]).tolist()
    yaw = float(seen.yaw[i])
    return math.atan2(math.cos(yaw) * x + math.sin(yaw) * y, z)
