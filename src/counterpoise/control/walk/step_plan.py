"""The plan of the present step: when and where the foot lands, and the centre of pressure until then."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.stepping import (
    capture_after,
    capture_before,
    choose_step,
    periodic_across,
    periodic_along,
)
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody
from counterpoise.control.walk.wishes import StepShape


class StepPlan(NamedTuple):
    """Times in seconds from now; places in the world."""

    double_left: float  # of double support
    left: float  # until the foot lands
    foothold: Array  # (2,) where the ankle will be, the foot flat
    landing_com: Array  # (2,) where the CoM will be then
    reference: Array  # (2,) of the centre of pressure now
    pressure: Array  # (2,) the centre of pressure now, with feedback
    cost: float


def plan_step(
    m: WalkMemory, seen: SeenBody, shape: StepShape, sideways: float, body: WalkingBody, dt: float, t: WalkTuning
) -> StepPlan:
    """Returns the plan of a step that is under way. `sideways` [m] is how far it goes to the left."""
    assert m.time is not None
    now, stance, swing = m.time, m.stance, 1 - m.stance
    leg, sign, omega = body.legs[stance], SIGN[1 - m.stance], body.omega
    c, s = math.cos(m.heading), math.sin(m.heading)
    frame = np.array([[c, s], [-s, c]])
    origin = seen.flat[stance]
    xi = frame @ (seen.capture - origin)
    sole = leg.front_at - leg.heel_at
    turn = seen.yaw[stance] - m.heading
    along = np.array([math.cos(turn), math.sin(turn)])
    first, last = (leg.heel_at + share * sole for share in (t.first_pressure, t.last_pressure))
    gone = now - m.began
    single = shape.time - shape.double
    # where the capture point shall be when the foot lands: from the stance foot, and from the one that lands
    end = np.array(
        [
            periodic_along(shape.length, first, last, shape.double, single, omega),
            sign * periodic_across(shape.width, shape.double, single, omega)
            + periodic_along(sideways, 0.0, 0.0, shape.double, single, omega),
        ]
    )
    place = np.array([shape.length, sign * shape.width + sideways])
    if m.phase == "double":
        double_left = max(m.double - gone, 0.0)
        reference = frame @ (m.pressure - origin)
        goal = first * along
        reference = goal if double_left <= dt else reference + (goal - reference) * (dt / (double_left + dt))
        ahead = [capture_after(xi[k], reference[k], goal[k], double_left, omega) for k in range(2)]
        path = np.array([goal, last * along])
        usual, swung = single, 0.0
    else:
        double_left, swung = 0.0, now - m.lifted
        ahead = [xi[0], xi[1]]
        usual = max(shape.time - gone, t.least_left * body.leg_time)
        share = swung / (swung + max(m.left, 1e-3))
        reference = (first + (last - first) * min(share, 1.0)) * along
        path = np.array([reference, last * along])
    unit, clock = body.hips_height, body.leg_time
    least = max(t.least_left * clock, t.least_swing * clock - swung)
    out = np.empty(6)
    choose_step(
        np.array(ahead), path, omega, np.array([least, max(usual, least), max(usual, least) + t.longest_left * clock]),
        np.array([*place, *(end - place), sign, t.narrowest * shape.width, -t.backward_reach * unit,
                  t.longest_reach * unit, t.widest * shape.width]),
        np.array([*(frame @ (seen.ankle[swing, :2] - origin)), t.swing_speed * body.leg_speed]),
        np.array([t.time_weight / clock**2, t.along_weight / unit**2, t.across_weight / unit**2,
                  t.capture_weight / unit**2, t.capture_weight / unit**2, t.hurry_weight / clock**2]), out,
    )  # fmt: skip
    left = float(out[0])
    wanted = end.copy()
    for k in range(2):
        wanted[k] = capture_before(end[k], path[0, k], path[1, k], left, omega)
        if double_left > 0.0:
            wanted[k] = capture_before(wanted[k], reference[k], path[0, k], double_left, omega)
    error = t.pressure_gain * (xi - wanted)
    side = np.array([-along[1], along[0]])
    far, wide = t.pressure_along * sole, t.pressure_across * leg.half_width
    if m.phase == "double":
        wide = far
    error = _bounded(error @ along, far) * along + _bounded(error @ side, wide) * side
    pressure = reference + error
    if m.phase == "single":
        lowest = leg.heel_at if m.feet[stance].released <= 0.0 else 0.75 * leg.ball_at
        at = min(max(float(pressure @ along), lowest), leg.front_at)
        pressure = at * along + (pressure @ side) * side
    com = frame @ (seen.com[:2] - origin)
    landing = [_com_then(com[k], xi[k], reference[k], path[:, k], double_left, left, omega) for k in range(2)]
    back = frame.T
    return StepPlan(
        double_left, left, origin + back @ out[1:3], origin + back @ np.array(landing), origin + back @ reference,
        origin + back @ pressure, float(out[3]),
    )  # fmt: skip


def _bounded(value: float, largest: float) -> float:
    return min(max(float(value), -largest), largest)


def _com_then(com: float, xi: float, pressure: float, path: Array, double: float, left: float, omega: float) -> float:
    """Returns where the CoM will be at the landing; c' = omega (xi - c) is integrated with the mean of xi's ends."""
    steps = 8
    total = double + left
    h = total / steps
    c = com
    for k in range(steps):
        at = (k + 0.5) * h
        if at < double:
            p1 = pressure + (path[0] - pressure) * at / double
            x = capture_after(xi, pressure, p1, at, omega)
        else:
            start = capture_after(xi, pressure, path[0], double, omega)
            p1 = path[0] + (path[1] - path[0]) * (at - double) / max(left, 1e-6)
            x = capture_after(start, path[0], p1, at - double, omega)
        c = x + (c - x) * math.exp(-omega * h)
    return c
