"""One tick of a walk: from what is seen and what is asked to torques.

Planted points are strict; below them CoM, hips, angular momentum, trunk and swinging foot count by weight.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.standing_body import limp_torque
from counterpoise.control.walk.catch_step import catch_cost, catch_step, is_tipping
from counterpoise.control.walk.felt_feet import feel_feet
from counterpoise.control.walk.foot_goals import swing_goal
from counterpoise.control.walk.gait_cycle import GaitCycle
from counterpoise.control.walk.hips_height import hips_acceleration, hips_over_feet
from counterpoise.control.walk.lean import lean_over
from counterpoise.control.walk.low_hands import low_hands
from counterpoise.control.walk.narrow_way import on_line, on_narrow_way
from counterpoise.control.walk.planes import differ, hold_points, is_set, surface_of
from counterpoise.control.walk.planted_foot import planted_foot
from counterpoise.control.walk.posture import WalkPosture, upper_body
from counterpoise.control.walk.preview_catch import looks_ahead, preview_step
from counterpoise.control.walk.schedule import next_phase
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.seen_ground import (
    foot_of_points,
    ground_under_feet,
    over_real_ground,
    plan_on_ground,
    with_care,
    with_felt_care,
)
from counterpoise.control.walk.slippery import on_slippery
from counterpoise.control.walk.standing_feet import stand_still
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.styles import WalkStyle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import bank_of, mean_yaw, next_turn
from counterpoise.control.walk.walk_objectives import foot_goal, walk_objectives
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes, step_shape, usual_width
from counterpoise.control.whole_body import solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.objectives import Footing, Objective, make_stance
from counterpoise.quick import altered

LIMP_DAMPING = 0.02  # [torque limits per rad/s] after a fall
TOUCHING = 0.006  # [leg lengths] a point that is higher than this cannot push
FLATTENING = 0.05  # [leg lengths] the same under bent legs that stand: the push that is missing puts the foot down
FLOATING = 0.004  # [leg lengths] a foot with no point lower than this floats ...
FLOATS = 0.2  # [leg times] ... where it has landed this long ago
STRAIGHT = 1e-3  # [rad] a heading this near to the one asked for keeps its line
DRIFT_SHARE = 0.3  # of a tick in the smoothed velocity of the capture point
CATCH_LEAD = 0.06  # [sqrt(leg x g)] by which the speed asked of a body without ankle roll leads while it catches a fall
UNEVEN_CATCH = 10.0  # on uneven ground that is seen a plan costs this much more before it is one to catch a fall
NARROW_KEEN = 2.4  # with which a step on a narrow way goes farther back to its line
PHASE_GAIN = 2.5  # [1/leg time] with which the stride's phase follows the feet


class Moves(NamedTuple):
    """What a tick asks of the body: objectives in their levels, and which points are held and may push."""

    levels: tuple[tuple[Objective, ...], ...]
    held: Flags  # (p,)
    share: Array  # (p,) of the force limit that each point may use
    near: float = TOUCHING  # [leg lengths] a point that is higher than this above its plane cannot push


def walk_tick(
    snapshot: Snapshot,
    memory: WalkMemory,
    wishes: Wishes,
    cycle: GaitCycle,
    t: WalkTuning,
    seen: SeenBody | None = None,
) -> Action:
    """Returns the torques of one tick and what it leaves for the next.

    `seen` is what the walker sees over the ground in its memory; None: it looks.
    """
    if memory.phase == "fallen":
        return go_limp(snapshot, memory)
    character = snapshot.character
    body = walking_body(character)
    if memory.time is None and wishes.terrain is not None:
        memory = altered(memory, ground=ground_under_feet(snapshot, wishes.terrain))
    if seen is None or seen.ground is not memory.ground:
        seen = see(snapshot, body, memory.ground)
    if wishes.terrain is not None:
        seen = over_real_ground(seen, memory, snapshot, wishes.terrain, body)
    cause = cause_of_fall(seen, snapshot, body, t, memory.left_ground[2] if memory.phase == "single" else math.inf)
    if cause:
        return go_limp(snapshot, altered(memory, phase="fallen", cause=cause))
    terrain = wishes.terrain
    if terrain is not None and terrain.is_patched:
        wishes, t = on_slippery(wishes, memory, seen, t, body)
    if terrain is not None and memory.time is not None:
        usual = usual_width(cycle.style, body, t)
        wishes, memory = on_narrow_way(wishes, memory, seen, usual, terrain, body)
        foot = seen.flat[memory.stance].tolist()
        wishes = with_care(wishes, memory, on_line(memory, seen) if wishes.narrow else foot, terrain, body)
    elif is_set(memory.felt):
        wishes = with_felt_care(wishes, memory, body)
    wishes, m, dt = follow_wishes(snapshot, memory, seen, wishes, body, t)
    m = _spinning(m, snapshot, dt, t.spin_time * body.leg_time)
    shape = _shape(m, seen, wishes, cycle, body, t)
    if m.phase in ("stand", "shift"):
        m = _drifting(m, seen, dt)
    elif m.capture is not None:  # when it stands again, the capture point has not come from there in one tick
        m = altered(m, capture=None, drift=np.zeros(2))
    lands = m.steps == 0 and m.phase == "stand" and snapshot.contact_force is not None and not any(seen.bears)
    if m.phase in ("stand", "shift") and not lands and is_tipping(snapshot, seen, body, t.tipping):
        m = altered(m, catches=True, speed=0.0, aside=0.0)
        shape = _shape(m, seen, wishes, cycle, body, t)
        m = catch_step(m, seen, shape, snapshot, body, t)
    else:
        m = next_phase(m, seen, wishes, shape, character, t)
    m = feel_feet(m, memory, snapshot, seen, wishes.terrain, dt)
    own = walk_objectives(character, t)
    if m.turn != 0.0:
        wishes = wishes._replace(bank=bank_of(m.speed, m.turn, body))
    posture = WalkPosture(cycle, own, body, t, wishes)
    if m.phase in ("stand", "shift"):
        m, levels, held, share = stand_still(m, snapshot, seen, shape, posture)
        cost = 0.0
    else:
        landing = _landing_heading(m, wishes, shape)
        m, plan = plan_on_ground(m, seen, shape, landing, wishes.terrain, character, dt, t)
        uneven = wishes.terrain is not None
        if not uneven and looks_ahead(m, plan, wishes, t):
            m, plan = preview_step(m, seen, shape, landing, plan, character, dt, t)
        elif m.preview is not None:
            m = altered(m, preview=None)
        m = altered(m, left=plan.left, foothold=plan.foothold, pressure=plan.reference, cost=plan.cost)
        if not m.catches and plan.cost > catch_cost(m, shape, body, t) * (UNEVEN_CATCH if uneven else 1.0):
            m = altered(m, catches=True)
        if m.phase == "single" and differ(m.ground[1 - m.stance], plan.ground):
            rows = (m.ground[0], plan.ground) if m.stance == 0 else (plan.ground, m.ground[1])
            m = altered(m, ground=np.array(rows))
        m, levels, held, share = _step(m, snapshot, seen, plan, shape, landing, posture, dt)
        cost = plan.cost
        seen = _put_down(m, seen, body)
    notes = {"phase": m.phase, "steps": float(m.steps), "cost": cost}
    near = FLATTENING if m.phase in ("stand", "shift") and body.legs[0].is_bent else TOUCHING
    return solve_moves(snapshot, m, seen, Moves(levels, held, share, near), dt, notes, t)


def watched(m: WalkMemory, snapshot: Snapshot, seen: SeenBody) -> WalkMemory:
    """Returns the memory of a walker while another law stands: its heading, its capture point."""
    now = snapshot.time
    dt = 0.0 if m.time is None else max(now - m.time, 0.0)
    yaw = mean_yaw(seen.yaw)
    place = seen.com[:2].copy()
    m = altered(
        m, phase="stand", time=now, began=now, heading=yaw, line=place, started=place, held=np.zeros(0, bool), spin=None
    )
    return _drifting(m, seen, dt)


def _put_down(m: WalkMemory, seen: SeenBody, body: WalkingBody) -> SeenBody:
    """Returns what is seen, with a foot that has landed and still floats taken to be on the ground.

    The force that it is then planned to bear puts it down.
    """
    assert m.time is not None
    over = None
    for i, foot in enumerate(m.feet):
        swings = m.phase == "single" and i != m.stance
        if swings or seen.low[i] < FLOATING * body.hips_height or m.time - foot.landed < FLOATS * body.leg_time:
            continue
        over = seen.over.copy() if over is None else over
        over[body.legs[i].points] -= seen.low[i]
    return seen if over is None else seen._replace(over=over)


def _drifting(m: WalkMemory, seen: SeenBody, dt: float) -> WalkMemory:
    """Returns the memory with the velocity of the capture point, smoothed over a few ticks."""
    if m.capture is None or dt <= 0.0:
        return altered(m, capture=seen.capture, drift=np.zeros(2))
    drift = m.drift + DRIFT_SHARE * ((seen.capture - m.capture) / dt - m.drift)
    return altered(m, capture=seen.capture, drift=drift)


def _spinning(m: WalkMemory, snapshot: Snapshot, dt: float, lag: float) -> WalkMemory:
    """Returns the memory with the rate of the angular momentum about the CoM, smoothed."""
    x, y = snapshot.momentum[:2].tolist()
    if m.spin is None or dt <= 0.0:
        return altered(m, spin=(x, y), spin_rate=(0.0, 0.0))
    share, (was_x, was_y), (rate_x, rate_y) = dt / (dt + lag), m.spin, m.spin_rate
    rate = rate_x + share * ((x - was_x) / dt - rate_x), rate_y + share * ((y - was_y) / dt - rate_y)
    return altered(m, spin=(x, y), spin_rate=rate)


# -- what is asked ----------------------------------------------------------------------------------------------------


def follow_wishes(
    snapshot: Snapshot, m: WalkMemory, seen: SeenBody, wishes: Wishes, body: WalkingBody, t: WalkTuning
) -> tuple[Wishes, WalkMemory, float]:
    """Returns the wishes within what the body can do, the memory at this tick's time, and the time since the last."""
    now, clock = snapshot.time, body.leg_time
    g = body.leg_speed**2 / body.hips_height
    asked = min(max(wishes.speed, -t.fastest_back * body.leg_speed), t.fastest * body.leg_speed)
    aside = min(max(wishes.aside, -t.fastest_aside * body.leg_speed), t.fastest_aside * body.leg_speed)
    if asked != wishes.speed or aside != wishes.aside:
        wishes = wishes._replace(speed=asked, aside=aside)
    if m.time is None:
        yaw = mean_yaw(seen.yaw)
        place = seen.com[:2].copy()
        return wishes, altered(m, time=now, began=now, heading=yaw, line=place, started=place), 0.0
    dt = max(now - m.time, 0.0)
    away = math.remainder(wishes.heading - m.heading, 2.0 * math.pi)
    line = seen.com[:2].copy() if abs(away) > STRAIGHT or aside != 0.0 else m.line
    if m.phase in ("stand", "shift"):
        most = t.fastest_first * body.leg_speed
        speed, beside = (min(max(t.first_speed * v, -most), most) for v in (asked, aside))
        return wishes, altered(m, time=now, speed=speed, aside=beside, turn=0.0, line=line), dt
    if m.catches and body.feet_alone:  # only its steps correct it: a speed far from its own would be one more error
        way = math.cos(m.heading) * float(seen.velocity[0]) + math.sin(m.heading) * float(seen.velocity[1])
        asked = min(asked, max(way + CATCH_LEAD * body.leg_speed, 0.0))
    if m.turn != 0.0:  # it slows down for a turn
        most = t.curve * g / abs(m.turn)
        asked = min(max(asked, -most), most)
    slows = wishes.calm and abs(asked) < abs(m.speed)
    quick = (t.stop_brake if wishes.stays else t.calm_brake if slows else t.brake) / t.brake
    rise = t.bent_ramp if body.legs[0].is_bent else t.ramp
    speed, beside = (_ramped(v, to, quick * g * dt, rise, t.brake) for v, to in ((m.speed, asked), (m.aside, aside)))
    slower = clock / t.alone_turn if body.feet_alone else clock
    turn = next_turn(away, m.turn, t.turn_rate / slower, t.turn_ramp / slower**2, dt)
    return (
        wishes,
        altered(m, time=now, speed=speed, aside=beside, turn=turn, heading=m.heading + turn * dt, line=line),
        dt,
    )


def _ramped(now: float, asked: float, step: float, rise: float, brake: float) -> float:
    """Returns a speed on its way to the one asked for; it grows by `rise`, falls by `brake` [g]. `step` is g x time."""
    up, down = (rise, brake) if now >= 0.0 else (brake, rise)
    return now + min(max(asked - now, -down * step), up * step)


def _shape(
    m: WalkMemory, seen: SeenBody, wishes: Wishes, cycle: GaitCycle, body: WalkingBody, t: WalkTuning
) -> StepShape:
    """Returns the step that is asked for now."""
    asked = wishes.speed
    trim = m.trim if asked != 0.0 else 0.0
    c, s = math.cos(m.heading), math.sin(m.heading)
    way = c * float(seen.velocity[0]) + s * float(seen.velocity[1])
    real = way if abs(asked) < abs(m.speed) else 0.0
    if asked == 0.0:
        real = math.hypot(float(seen.velocity[0]), float(seen.velocity[1]))
    if m.longest < wishes.longest:
        wishes = wishes._replace(longest=m.longest)
    shape = step_shape(m.speed, trim, real, m.catches or wishes.stays, wishes, cycle.style, body, t)
    limp = cycle.style.limp * SIGN[m.stance]
    if limp:
        shape = shape._replace(time=shape.time * (1.0 + limp))
    aside = m.aside * shape.time + _sideways(m, seen, wishes.narrow, body, t)
    left = math.remainder(wishes.heading - _landing_heading(m, wishes, shape), 2.0 * math.pi)
    turn = math.copysign(min(abs(left), abs(m.turn) * shape.time), left)
    return shape._replace(aside=aside, turn=turn, width=max(shape.width, 2.0 * abs(m.aside) * shape.time))


def _landing_heading(m: WalkMemory, wishes: Wishes, shape: StepShape) -> float:
    """Returns the heading when the swinging foot lands, or will land after this double support [rad]."""
    assert m.time is not None
    left = max(shape.time - (m.time - m.began), 0.0)
    away = math.remainder(wishes.heading - m.heading, 2.0 * math.pi)
    return m.heading + math.copysign(min(abs(away), abs(m.turn) * left), m.turn)


def _sideways(m: WalkMemory, seen: SeenBody, narrow: bool, body: WalkingBody, t: WalkTuning) -> float:
    """Returns how far this step goes to the left, back to the line that is walked [m]; on a narrow way more."""
    x, y = (m.line - seen.com[:2]).tolist()
    across = -math.sin(m.heading) * x + math.cos(m.heading) * y
    most = t.line_limit * body.hips_height
    keen = NARROW_KEEN if narrow else 1.0
    return min(max(keen * t.line_gain * across, -keen * most), keen * most)


# -- stepping ---------------------------------------------------------------------------------------------------------


def _step(
    m: WalkMemory,
    snapshot: Snapshot,
    seen: SeenBody,
    plan: StepPlan,
    shape: StepShape,
    landing: float,
    posture: WalkPosture,
    dt: float,
) -> tuple[WalkMemory, tuple[tuple[Objective, ...], ...], Flags, Array]:
    """Returns the objectives of a step, and which points are held and may push."""
    body, t, own, style = posture.body, posture.tuning, posture.own, posture.cycle.style
    strike = (
        body.strike_share
        * style.strike
        * t.strike
        * min(max(shape.length / (t.strike_step * body.hips_height), 0.0), 1.15)
    )
    lever = body.omega**2 / snapshot.character.weight  # limbs that swing push the CoM: it may follow (step_plan.py)
    com = (body.omega**2 * (seen.com[:2] - plan.pressure)).tolist()
    com = [com[0] - lever * m.spin_rate[1], com[1] + lever * m.spin_rate[0]]
    hips = hips_acceleration(m, seen, plan, shape, strike, style, body, t)
    stride, rate = _stride_phase(m, plan, body.leg_time, dt)
    p = len(snapshot.contact_position)
    held, share = np.zeros(p, bool), np.zeros(p)
    feet, goals, uneven = list(m.feet), list[Objective](), posture.wishes.terrain is not None
    for i in range(2):
        if m.phase == "single" and i != m.stance:
            continue
        feet[i], extra = planted_foot(i, m, snapshot, seen, plan, body, own, t, dt, held, share, uneven)
        goals += extra
    if m.phase == "single":
        i = 1 - m.stance
        asked = posture.wishes.height
        asked = None if asked is None else max(asked + m.lift_trim, 0.0)
        lift, late = _clearances(asked, style, body, t)
        goal = swing_goal(
            m, seen, plan, landing, strike, lift, late, shape.catches, snapshot, posture.wishes.terrain, body, t
        )
        if goal.waits:
            m = altered(m, began=m.began + dt)
        feet[i] = feet[i]._replace(goal_pitch=goal.pitch, released=0.0)
        swing = (own.catch if m.catches else own.swing)[i]
        goals.append(swing.aimed(acceleration=goal.acceleration, value=seen.ankle[i]))
        turn = foot_goal(body.legs[i], landing, goal.pitch, goal.pitch_rate, goal.roll)
        goals.append(own.swing_turn[i].aimed(**turn))
    m = altered(m, stride=stride, feet=(feet[0], feet[1]))
    if uneven:
        lean = posture.wishes.lean + lean_over(m, seen, plan, body)
        posture = posture._replace(wishes=posture.wishes._replace(lean=lean))
    level = upper_body(posture, m, com, hips, rate, snapshot)
    hands = low_hands(m, snapshot, body, t)
    if hands is not None:
        goals.append(hands)
    return m, ((own.contact,), (*level, *goals)), held, share


def _clearances(asked: float | None, style: WalkStyle, body: WalkingBody, t: WalkTuning) -> tuple[float, float]:
    """Returns by how much the swinging sole rises in mid-swing, and how high it stays until it lands [m]."""
    unit = body.hips_height
    late = t.late_clearance * unit
    if asked is None:
        return style.lift * t.clearance * unit, late
    return max(asked - late, 0.0), min(late, asked)


def _stride_phase(m: WalkMemory, plan: StepPlan, clock: float, dt: float) -> tuple[float, float]:
    """Returns the phase of the stride and its rate [1/s]: it follows the feet smoothly."""
    assert m.time is not None
    gone = m.time - m.began
    whole = gone + max(plan.double_left + plan.left, 0.005)
    target = 0.5 * gone / whole + 0.5 * m.stance
    error = math.remainder(target - m.stride, 1.0)
    base = 0.5 / whole
    rate = base + min(max(PHASE_GAIN / clock * error, -0.5 * base), base)
    return (m.stride + rate * dt) % 1.0, rate


# -- solving ----------------------------------------------------------------------------------------------------------


class _Solving(NamedTuple):
    """What `solve_moves` needs to know of a body and a tuning."""

    footing: Footing
    solver: WholeBodyTuning
    foot_of: Ints  # (p,) 0 for contact points of the left foot, 1 for those of the right one


@kept_with_character
def _solving(character: Character, t: WalkTuning) -> _Solving:
    return _Solving(
        Footing(friction=t.friction, strength=t.force_limit),
        WholeBodyTuning(rank=t.rank, force_weight=t.force_weight),
        foot_of_points(character),
    )


def solve_moves(
    snapshot: Snapshot, m: Any, seen: SeenBody, moves: Moves, dt: float, notes: dict[str, Any], t: WalkTuning
) -> Action:
    """Returns the torques of one tick. `m` is the memory of a walk or of a run."""
    body, at, held = walking_body(snapshot.character), _solving(snapshot.character, t), moves.held
    p = len(held)
    planted, share = np.empty((p, 3)), np.empty(p)
    left, right = m.feet
    uneven = hold_points(
        snapshot.contact_position, held, m.held if len(m.held) == p else _NONE_HELD, m.planted,
        left.on_heel or left.released > 0.0, right.on_heel or right.released > 0.0, at.foot_of, m.ground, seen.over,
        moves.near * body.hips_height, moves.share, planted, share,
    )  # fmt: skip
    surfaces = None
    if uneven:
        under = [surface_of(plane) for plane in m.ground]
        surfaces = [under[i] for i in at.foot_of]
    stance = make_stance(snapshot, held, share, planted, surfaces=surfaces, footing=at.footing)
    solution = solve_whole_body(snapshot, moves.levels, tuning=at.solver, memory=m.solver, stance=stance)
    torque = solution.torque
    if m.torque is not None and len(m.torque) == len(torque) and t.torque_time > 0.0:
        lag = t.torque_time * body.leg_time
        torque = m.torque + (torque - m.torque) * (dt / (lag + dt))
    after = altered(m, solver=solution.memory, torque=torque, planted=planted, held=held)
    return Action(torque, after, {**solution.notes(), **notes})


def go_limp(snapshot: Snapshot, memory: Any) -> Action:
    """Returns the action of a body that has fallen."""
    notes = {"status": "fallen", "phase": "fallen", "cause": memory.cause}
    return Action(limp_torque(snapshot, LIMP_DAMPING), memory, notes)


def cause_of_fall(seen: SeenBody, snapshot: Snapshot, body: WalkingBody, t: WalkTuning, left: float = math.inf) -> str:
    """Returns why a walk or a run is over; empty where it is not.

    `left` is the height of the ground that a swinging foot left [m]: on a high step the hips are low over the upper
    one.
    """
    base = seen.base if left == math.inf else np.minimum(seen.base, left)
    height = hips_over_feet(float(seen.hips[0, 2]), base, seen.low, snapshot.contact_position)
    if height < t.fallen * body.hips_height:
        return f"the hips are {height:.2f} m high at {snapshot.time:.2f} s; they stand at {body.hips_height:.2f} m"
    return ""


_NONE_HELD = np.zeros(0, bool)
