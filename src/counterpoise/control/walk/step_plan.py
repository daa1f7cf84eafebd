"""The plan of the present step: when and where the foot lands, and the centre of pressure until then."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.walk.planes import FLAT_GROUND
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.stepping import StepCosts, StepWish, choose_step
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, WalkingLeg, walking_body
from counterpoise.control.walk.wishes import StepShape
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.plan.pendulum import capture_after, capture_before, periodic_capture

COM_STEPS = 8  # of the integration that tells where the CoM will be at the landing
ANYWHERE = np.full(5, np.nan)
ANY_ACCELERATION = 1e9  # [m/s^2] no limit
NO_LIMIT = 1e9  # [m]
OVERDUE = 0.4  # [leg times] after which a foot no longer waits until it reaches its place
LEAST_REACH = 0.3  # [leg lengths] of a foot that lands ahead of its hip
BALL_SHARE = 1.0  # of the ball's distance from the ankle: the centre of pressure stays beyond it while the heel rises


class StepPlan(NamedTuple):
    """Times in seconds from now; places in the world."""

    double_left: float  # of double support
    left: float  # until the foot lands, after double support
    foothold: Array  # (2,) where the ankle will be, the foot flat
    landing_com: Array  # (2,) where the CoM will be then
    landing_capture: Array  # (2,) where the capture point will be then
    reference: Array  # (2,) of the centre of pressure now
    pressure: Array  # (2,) the centre of pressure now, with feedback
    cost: float
    leaving_capture: Array  # (2,) [m] when the rear foot leaves, ahead of the stance foot and towards the rear one
    ground: Array = FLAT_GROUND[0]  # (5,) plane under the foothold


class _PlanTables(NamedTuple):
    """Numbers of a body and a tuning, in metres and seconds."""

    omega: float
    unit: float  # [m] leg length
    clock: float  # [s]
    sole: Array  # (2, 4) of each foot, as far as its ankle carries the body: heel, ball, front; half width [m]
    first: float  # [soles] centre of pressure at the beginning of single support
    last: float  # [soles] and at its end
    roll_step: float  # [m] length of a step from which the centre of pressure goes all the way
    gain: float
    along: float  # [soles]
    across: float  # [half widths]
    alarm: float  # [m] correction of the centre of pressure from which it may leave the foot
    beyond: float  # [m] by this at most
    least_left: float  # [s]
    least_swing: float  # [s]
    longest_left: float  # [s]
    narrowest: float  # [widths]
    apart: float  # [m] feet that are closer than this touch each other
    widest: float  # [widths]
    backward: float  # [m]
    forward: float  # [m]
    hips_ahead: float  # [m] of the CoM
    half_hips: float  # [m] half the distance of the hips
    leg_reach: float  # [m] of a foot that lands, ahead of its hip or behind it
    catch_reach: float  # [m] the same, in a step that catches a fall
    swing_speed: float  # [m/s] highest mean speed of a swinging foot
    catch_limit: float  # [m/s^2] its largest acceleration in a step that catches a fall
    clear: float  # [m] ahead of the stance ankle, or behind it, where a foot may cross
    crossed: float  # [m]


@kept_with_character
def _plan_tables(character: Character, t: WalkTuning) -> _PlanTables:
    body = walking_body(character)
    unit, clock = body.hips_height, body.leg_time
    sole = np.array([[leg.heel_at, leg.ball_at, leg.front_at, leg.half_width] for leg in body.legs])
    clear = t.cross_clear * float((sole[:, 2] - sole[:, 0]).max())
    carried = np.array([carried_sole(leg) for leg in body.legs])
    return _PlanTables(
        body.omega, unit, clock, carried, t.first_pressure, t.last_pressure,
        t.roll_step * unit, t.pressure_gain, t.pressure_along,
        t.pressure_across, t.alarm * unit, t.beyond * unit,
        t.least_left * clock, t.least_swing * clock, t.longest_left * clock, t.narrowest,
        t.feet_apart * (sole[0, 3] + sole[1, 3]), t.widest,
        t.backward_reach * unit, t.longest_reach * unit, body.hips_ahead, body.half_width,
        _leg_reach(body, t, t.deepest_dip), _leg_reach(body, t, t.catch_dip),
        t.swing_speed * body.leg_speed,
        t.catch_effort * t.catch_limit * unit / clock**2, clear, t.crossed * unit,
    )  # fmt: skip


@kept_with_character
def _plain_tables(character: Character, t: WalkTuning) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """Returns a _PlanTables and a StepCosts as plain tuples, which kernels read faster than named ones."""
    body = walking_body(character)
    length, clock = 1.0 / body.hips_height**2, body.leg_time
    costs = StepCosts(
        t.time_weight / clock**2, t.along_weight * length, t.across_weight * length, t.capture_weight * length,
        t.hurry_weight / clock**2, t.cross_cost,
    )  # fmt: skip
    return tuple(_plan_tables(character, t)), tuple(costs)


def carried_sole(leg: WalkingLeg) -> tuple[float, float, float, float]:
    """Returns heel, ball and front of a sole ahead of the ankle, and its half width, where the weight may rest [m]."""
    heel, ball, front = (min(max(x, -leg.reach), leg.reach) for x in (leg.heel_at, leg.ball_at, leg.front_at))
    return heel, ball, front, leg.half_width if leg.can_roll else 0.0


def _leg_reach(body: WalkingBody, t: WalkTuning, dip: float) -> float:
    """Returns how far ahead of its hip a foot can land, with the hips as low as they may be [m]."""
    low = (1.0 - t.bend(body.legs[0].is_bent) - dip) * body.hips_height
    return min(
        math.sqrt(max(leg.longest**2 - (low - leg.ankle_height) ** 2, (LEAST_REACH * leg.longest) ** 2))
        for leg in body.legs
    )


def plan_step(
    m: WalkMemory, seen: SeenBody, shape: StepShape, landing: float, character: Character, dt: float, t: WalkTuning,
    place: Array = ANYWHERE, careful: bool = False,
) -> StepPlan:  # fmt: skip
    """Returns the plan of a step that is under way. `landing` [rad] is the heading when the foot lands.

    `place` (5,) is where the foot must land, how far to the right and to the left of it, and the length of the step
    after; NaN: where it is best.
    `careful`: steps that are longer or shorter than usual are followed by usual ones.
    """
    assert m.time is not None
    swing = 1 - m.stance
    times = np.array([m.time - m.began, m.time - m.lifted, m.left, m.double, dt])
    wish = np.array(
        [shape.length, shape.time, shape.double, shape.width, shape.aside, shape.turn, shape.dip > t.deepest_dip]
    )
    capture = spun_capture(m, seen, character)
    found = _plan(
        m.stance, SIGN[swing], m.phase == "double", m.feet[m.stance].released > 0.0, landing,
        float(seen.yaw[m.stance]), times, wish, capture, seen.com, seen.flat[m.stance], seen.ankle[swing],
        seen.ankle_velocity[swing], m.pressure, place, careful, *_plain_tables(character, t),
    )  # fmt: skip
    return StepPlan(
        float(found[0]), float(found[1]), found[2:4], found[4:6], found[11:13], found[6:8], found[8:10],
        float(found[10]), found[13:15],
    )  # fmt: skip


def spun_capture(m: WalkMemory, seen: SeenBody, character: Character) -> Array:
    """Returns the capture point, moved by the angular momentum H about the CoM, world (2,) [m].

    Limbs that swing push the CoM: c_x'' = omega^2 (c_x - p_x) - H_y'/(m z), and c_y'' with + H_x'. The point
    (xi_x + H_y/(m z omega), xi_y - H_x/(m z omega)) does not feel H', only H itself, whose mean over a step is small.
    """
    if m.spin is None:
        return seen.capture
    lever = walking_body(character).omega / character.weight
    return np.array([seen.capture[0] + lever * m.spin[1], seen.capture[1] - lever * m.spin[0]])


@kernel
def _plan(
    stance: int, sign: float, double: bool, rolling: bool, heading: float, yaw: float, times: Array, wish: Array,
    capture: Array, com: Array, origin: Array, swing: Array, rate: Array, pressure: Array, pin: Array, careful: bool,
    tables: tuple[Any, ...], costs: tuple[float, ...],
) -> Array:  # fmt: skip
    """Returns the numbers of a StepPlan, (15,).

    `pin` (5,) is where the foot must land, and the room beside it, or NaN. `times` are those since the step began and
    since the foot left, the time left at the last tick, the double support's and the tick's. `wish` is length, time,
    double support, width, way to the left, turn of the step, and whether it catches a fall. `heading` is that of the
    landing, in whose frame all is planned.
    """
    t = _PlanTables(*tables)
    gone, swung, was_left, double_time, dt = times[0], times[1], times[2], times[3], times[4]
    length, whole, double_usual, width, sideways, turn = wish[0], wish[1], wish[2], wish[3], wish[4], wish[5]
    c, s = math.cos(heading), math.sin(heading)
    xi, at, foot, reference = np.empty(2), np.empty(2), np.empty(6), np.empty(2)
    _seen_from(capture, origin, c, s, xi)
    _seen_from(com, origin, c, s, at)
    _seen_from(swing, origin, c, s, foot)
    foot[2], foot[3] = c * rate[0] + s * rate[1], c * rate[1] - s * rate[0]
    foot[4] = t.catch_limit if wish[6] > 0.5 else ANY_ACCELERATION
    foot[5] = t.swing_speed
    _seen_from(pressure, origin, c, s, reference)
    heel, ball, front, half = t.sole[stance, 0], t.sole[stance, 1], t.sole[stance, 2], t.sole[stance, 3]
    sole = front - heel
    ax, ay = math.cos(yaw - heading), math.sin(yaw - heading)
    first, last = heel + t.first * sole, heel + t.last * sole
    last = first + (last - first) * min(max(length, 0.0) / t.roll_step, 1.0)
    single = whole - double_usual
    # where the capture point shall be when the foot lands, from the stance foot
    place = np.array([length, sign * width + sideways])
    steady = periodic_capture(complex(length, sideways), width, sign, turn, first, last, double_usual, single, t.omega)
    end = np.array([place[0] + steady.real, place[1] + steady.imag])
    path, ahead = np.empty((2, 2)), xi.copy()
    path[1, 0], path[1, 1] = last * ax, last * ay
    double_left = 0.0
    if double:
        double_left = max(double_time - gone, 0.0)
        path[0, 0], path[0, 1] = first * ax, first * ay
        for k in range(2):
            share = 1.0 if double_left <= dt else dt / (double_left + dt)
            reference[k] += (path[0, k] - reference[k]) * share
            ahead[k] = capture_after(xi[k], reference[k], path[0, k], double_left, t.omega)
        usual, swung = single, 0.0
    else:
        usual = max(whole - gone, t.least_left)
        share = min(swung / (swung + max(was_left, 1e-3)), 1.0)
        reference[0], reference[1] = (first + (last - first) * share) * ax, (first + (last - first) * share) * ay
        path[0] = reference
    least = max(t.least_left, t.least_swing - swung)
    usual = max(usual, least)
    reach = t.catch_reach if wish[6] > 0.5 else t.leg_reach
    hip = np.empty(2)
    for k in range(2):
        hip[k] = _com_then(at[k], xi[k], reference[k], path[0, k], path[1, k], double_left, usual, t.omega)
    hip[0] += t.hips_ahead
    hip[1] += sign * t.half_hips
    # the rear leg of a longer step pushes for longer: the capture point may be farther back when the foot lands
    late = t.omega * double_usual
    push = 1.0 - (1.0 - math.exp(-late)) / late if careful and late > 1e-6 else 0.0
    x, capture_x, near, far_place = (
        place[0],
        steady.real,
        max(-t.backward, hip[0] - reach),
        min(t.forward, hip[0] + reach),
    )
    narrow, widest, clear = max(t.narrowest * width, t.apart), t.widest * width, t.clear
    if not math.isnan(pin[0]):
        fixed = np.empty(2)
        _seen_from(pin, origin, c, s, fixed)
        end[0] += (1.0 - push) * (fixed[0] - place[0])
        capture_x -= push * (fixed[0] - place[0])
        x, near, far_place = fixed[0], fixed[0], fixed[0]
        inner, outer = (pin[2], pin[3]) if sign > 0.0 else (-pin[3], -pin[2])
        narrow = min(max(narrow, sign * fixed[1] + inner), sign * fixed[1] + outer)
        widest = max(min(widest, sign * fixed[1] + outer), narrow)
        reach, clear = NO_LIMIT, NO_LIMIT  # its place is given, and it does not cross
    goal = StepWish(
        x, place[1], capture_x, steady.imag, sign, near, far_place, narrow, widest, hip[0], hip[1], reach, clear,
        t.crossed, push,
    )  # fmt: skip
    w = StepCosts(*costs)
    # a foot that is overdue (the other leg may be in its way) is put down where it is
    patience = min(max(1.0 - (gone - whole) / (OVERDUE * t.clock), 0.0), 1.0)
    w = StepCosts(w.time, w.along, w.across, w.capture, w.late * patience, w.cross)
    best = np.empty(6)
    choose_step(ahead, path, t.omega, np.array([least, usual, usual + t.longest_left]), goal, foot, w, best)
    left = best[0]
    best[1] += (1.0 - patience) * (foot[0] - best[1])
    best[2] += (1.0 - patience) * (foot[1] - best[2])
    # the centre of pressure with feedback of the capture point's error
    error = np.empty(2)
    for k in range(2):
        wanted = capture_before(end[k], path[0, k], path[1, k], left, t.omega)
        if double_left > 0.0:
            wanted = capture_before(wanted, reference[k], path[0, k], double_left, t.omega)
        error[k] = t.gain * (xi[k] - wanted)
    size = math.sqrt(error[0] ** 2 + error[1] ** 2)
    beyond = t.beyond * min(max(size / t.alarm - 1.0, 0.0), 1.0)  # [m] outside the foot, by turning trunk and arms
    far = t.along * sole + beyond
    wide = far if double else t.across * half + beyond
    along = min(max(error[0] * ax + error[1] * ay, -far), far) + reference[0] * ax + reference[1] * ay
    across = min(max(error[1] * ax - error[0] * ay, -wide), wide) + reference[1] * ax - reference[0] * ay
    if not double:
        along = min(max(along, (BALL_SHARE * ball if rolling else heel) - beyond), front + beyond)
    out = np.empty(15)
    out[0], out[1], out[10], out[13], out[14] = double_left, left, best[3], ahead[0], sign * ahead[1]
    landing = np.empty(2)
    for k in range(2):
        landing[k] = _com_then(at[k], xi[k], reference[k], path[0, k], path[1, k], double_left, left, t.omega)
    _in_world(best[1], best[2], origin, c, s, out[2:4])
    _in_world(landing[0], landing[1], origin, c, s, out[4:6])
    _in_world(reference[0], reference[1], origin, c, s, out[6:8])
    _in_world(best[4], best[5], origin, c, s, out[11:13])
    _in_world(along * ax - across * ay, along * ay + across * ax, origin, c, s, out[8:10])
    return out


def first_capture(shape: StepShape, stance: int, character: Character, t: WalkTuning) -> float:
    """Returns where the capture point is, ahead of the stance ankle, when the other foot leaves in a steady walk."""
    at = _plan_tables(character, t)
    heel, front = at.sole[stance, 0], at.sole[stance, 2]
    first, last = heel + at.first * (front - heel), heel + at.last * (front - heel)
    last = first + (last - first) * min(max(shape.length, 0.0) / at.roll_step, 1.0)
    single = shape.time - shape.double
    steady = periodic_capture(complex(shape.length, 0.0), 0.0, 1.0, 0.0, first, last, shape.double, single, at.omega)
    end = shape.length + steady.real
    return float(capture_before(end, first, last, single, at.omega))


@inner_kernel
def _seen_from(place: Array, origin: Array, c: float, s: float, out: Array) -> None:
    """Fills a place of the world as seen from an origin and a heading."""
    x, y = place[0] - origin[0], place[1] - origin[1]
    out[0], out[1] = c * x + s * y, c * y - s * x


@kernel
def _in_world(x: float, y: float, origin: Array, c: float, s: float, out: Array) -> None:
    """Fills the place in the world."""
    out[0], out[1] = origin[0] + c * x - s * y, origin[1] + s * x + c * y


@inner_kernel
def _com_then(
    com: float, xi: float, pressure: float, first: float, last: float, double: float, left: float, omega: float
) -> float:
    """Returns where the CoM will be at the landing; c' = omega (xi - c), with xi constant over short steps."""
    start = capture_after(xi, pressure, first, double, omega)
    h = (double + left) / COM_STEPS
    c = com
    for k in range(COM_STEPS):
        at = (k + 0.5) * h
        if at < double:
            x = capture_after(xi, pressure, pressure + (first - pressure) * at / double, at, omega)
        else:
            on = at - double
            x = capture_after(start, first, first + (last - first) * on / max(left, 1e-6), on, omega)
        c = x + (c - x) * math.exp(-omega * h)
    return c
