"""The height of the hips over a step: high over the stance leg, low enough for the leading leg to reach its foothold.

By cubics from wherever the hips are to the next of three places: the top in mid-stance, and the place from which both
legs reach at landing and at lift-off. No carrying leg is pulled straight: its hip stays within its longest length.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import plane_at
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.styles import WalkStyle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody
from counterpoise.control.walk.wishes import StepShape
from counterpoise.kernels import kernel

STOP_STIFFNESS = 28.5  # [1/leg time^2] with which a hip is kept within the leg's length
STOP_DAMPING = 10.5  # [1/leg time]
NEAR_TOP = 0.2  # [leg times] before the top, the way down begins
SHORTEST = 0.16  # [leg times] in which the hips go to a place
ABSORBED = 0.15  # share of a step down by which the leading leg is bent when it lands
UNEVEN_FALL, UNEVEN_RISE = 0.35, 0.35  # [g] largest accelerations down and up over uneven ground: the pendulum of the
# plan has a constant height
LOWEST = 0.75  # [leg lengths] of the hips above the ankle of a leg that reaches far
FOOT_BELOW = 1.3  # hips less high than the fallen height above the lowest foot, by this factor, have fallen as well


def hips_acceleration(
    m: WalkMemory, seen: SeenBody, plan: StepPlan, shape: StepShape, strike: float,
    style: WalkStyle, body: WalkingBody, t: WalkTuning,
) -> float:  # fmt: skip
    """Returns the vertical acceleration of the hips that is asked for [m/s^2]."""
    assert m.time is not None
    unit, g = body.hips_height, body.leg_speed**2 / body.hips_height
    bend = max(t.bend(body.legs[0].is_bent), t.catch_bend if m.catches else 0.0)
    top = (1.0 - bend - style.crouch + style.bounce) * unit - shape.lower
    leg = body.legs[1 - m.stance]
    c, s = math.cos(m.heading), math.sin(m.heading)
    side = SIGN[1 - m.stance] * body.half_width
    x, y = (plan.foothold - plan.landing_com).tolist()
    out = math.hypot(x - (c * body.hips_ahead - s * side), y - (s * body.hips_ahead + c * side))
    ankle = leg.ankle_height * math.cos(strike) - leg.heel_at * math.sin(strike)
    low = ankle + math.sqrt(max(leg.longest**2 - out**2, (LOWEST * leg.longest) ** 2))
    here, there, rear = _heights(m, seen, plan)
    dip = t.hips_dip
    if not m.catches:
        dip = max(dip, min(t.step_dip * (shape.length / unit) ** 2, t.deepest_dip))
    lowest, highest = top - shape.dip * unit, top - (dip + 2.0 * style.bounce) * unit
    landing = min(max(there + low, min(here, there) + lowest), here + highest)
    landing = min(landing, there + highest - ABSORBED * max(here - there, 0.0))
    low = min(max(low, lowest), highest)
    leave, middle, climb, fastest = here + low, here + top, 0.0, t.hips_speed * body.leg_speed
    fall, rise = t.hips_fall * g, t.hips_rise * g
    if not here == there == rear:  # on the line from the last landing to the next one
        last = min(max(here + low, min(rear, here) + lowest), rear + highest)
        climb = (landing - last) / max(shape.time, 1e-3)
        fastest += max(climb, 0.0)
        fall, rise = UNEVEN_FALL * g, UNEVEN_RISE * g
        leave, middle = last + climb * m.double, min(0.5 * (last + landing) + top - low, middle)
    whole = max(shape.time, 1e-3)
    turn = math.pi * min(m.double / whole, 0.5)
    speed = (top - low) / (0.5 * (1.0 + math.cos(turn))) * math.pi / whole * math.sin(turn)
    height, rate = seen.hips[:, 2].tolist()
    if m.phase == "double":
        goal, end, time = leave, speed + climb, plan.double_left
        if m.steps == 0:
            goal, end = rear + top - t.hips_dip * unit, 0.0
    else:
        swung = m.time - m.lifted
        rest = 0.5 * (swung + plan.left) - swung
        goal, end, time = (
            (middle, climb, rest) if rest > NEAR_TOP * body.leg_time else (landing, climb - speed, plan.left)
        )
    time = max(time, SHORTEST * body.leg_time)
    wanted = 6.0 * (goal - height) / time**2 - (4.0 * rate + 2.0 * end) / time
    wanted = min(max(wanted, -fall), rise)
    slow = (fastest - rate) / (SHORTEST * body.leg_time)  # or it leaves the ground
    return max(min(wanted, slow, leg_stop(m, seen, body)), -0.8 * g)


def _heights(m: WalkMemory, seen: SeenBody, plan: StepPlan) -> tuple[float, float, float]:
    """Returns the heights of the ground under the stance foot, at the foothold, and under the rear foot [m]."""
    there = plane_at(plan.ground, plan.foothold[0], plan.foothold[1])
    rear = m.left_ground[2] if m.phase == "single" else seen.base[1 - m.stance]
    return float(seen.base[m.stance]), float(there), float(rear)


def leg_stop(m: WalkMemory, seen: SeenBody, body: WalkingBody) -> float:
    """Returns the largest acceleration of the hips at which no carrying leg is pulled straight [m/s^2]."""
    single, (left, right) = m.phase == "single" or m.catches, body.legs  # a rear leg too short for a catch leaves
    return _leg_stop(
        not single or m.stance == 0, not single or m.stance == 1, left.longest, right.longest, body.leg_time, seen.hip,
        seen.hip_velocity, seen.ankle, seen.ankle_velocity, float(seen.hips[1, 2]),
    )  # fmt: skip


@kernel
def _leg_stop(
    left: bool, right: bool, left_longest: float, right_longest: float, clock: float, hip: Array, hip_velocity: Array,
    ankle: Array, ankle_velocity: Array, rate: float,
) -> float:  # fmt: skip
    """Returns the largest acceleration of the hips, which rise at a rate [m/s], for the legs that carry."""
    most = math.inf
    for i in range(2):
        if not (left if i == 0 else right):
            continue
        longest = left_longest if i == 0 else right_longest
        x, y = hip[i, 0] - ankle[i, 0], hip[i, 1] - ankle[i, 1]
        apart = x * (hip_velocity[i, 0] - ankle_velocity[i, 0]) + y * (hip_velocity[i, 1] - ankle_velocity[i, 1])
        rise = math.sqrt(max(longest**2 - (x * x + y * y), (0.6 * longest) ** 2))
        change = ankle_velocity[i, 2] - apart / rise
        away = ankle[i, 2] + rise - hip[i, 2]
        most = min(most, STOP_STIFFNESS / clock**2 * away + STOP_DAMPING / clock * (change - rate))
    return most


@kernel
def hips_over_feet(hips: float, base: Array, low: Array, points: Array) -> float:
    """Returns the height of the hips above the ground, or above the lowest foot where that is less [m]."""
    lowest = np.inf
    for i in range(len(points)):
        lowest = min(lowest, points[i, 2])
    height = hips - (min(base[0], base[1]) + min(low[0], low[1], 0.0))
    return min(height, FOOT_BELOW * (hips - lowest))
