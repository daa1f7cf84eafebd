"""The plan of the next steps (plan/preview.py) of a body: what a walker sees, written as its problem."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.styles import style_of
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import mean_yaw
from counterpoise.control.walk.walking_body import WalkingBody, WalkingLeg, walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes, step_shape
from counterpoise.errors import BadValue
from counterpoise.plan import FootstepPlan, LegFrame, PlanCosts, PlanStart, PlanWish, build_plan, solve_plan

IN_THE_AIR = 0.012  # [leg lengths] a foot whose lowest point is higher than this swings
LONGEST_STEP = 1.15  # [leg lengths]; a leg out of reach is a cost of its own
RISEN = 0.8  # of the way from ankle to ball by which a rear leg is longer on its ball
ROOM_BETWEEN = 2.0  # [widths of a sole] between the ankles of feet that land side by side
LEAST_REACH = 0.3  # [leg lengths] from its hip


@kept_with_character
def leg_frame(character: Character, t: WalkTuning) -> LegFrame:
    """Returns what a plan of steps must know of a body. Raises BadValue where it has no two legs."""
    body = walking_body(character)
    unit, clock = body.hips_height, body.leg_time
    soles = np.array([[leg.heel_at, leg.ball_at, leg.front_at, leg.half_width] for leg in body.legs])
    low = (1.0 - t.bend(body.legs[0].is_bent) - t.catch_dip) * unit
    return LegFrame(
        omega=body.omega, leg=unit, clock=clock, soles=soles, first_pressure=t.first_pressure,
        last_pressure=t.last_pressure, roll_step=t.roll_step * unit, narrowest=t.narrowest,
        apart=ROOM_BETWEEN * float(soles[:, 3].sum()), widest=t.widest, forward=LONGEST_STEP * unit,
        backward=LONGEST_STEP * unit, hips_ahead=body.hips_ahead, half_hips=body.half_width,
        reach=min(_reach(leg, low, 0.0) for leg in body.legs),
        rear_reach=min(_reach(leg, low, RISEN) for leg in body.legs),
        foot_speed=t.swing_speed * body.leg_speed, foot_acceleration=t.catch_effort * t.catch_limit * unit / clock**2,
        clear=t.cross_clear * float((soles[:, 2] - soles[:, 0]).max()), crossed=t.crossed * unit,
        least_swing=t.least_swing * clock, least_left=t.least_left * clock, longest_left=t.longest_left * clock,
    )  # fmt: skip


def _reach(leg: WalkingLeg, low: float, risen: float) -> float:
    """Returns how far from its hip a foot can be along the ground, the hips at the height `low` [m]."""
    longest = leg.longest + risen * math.hypot(leg.ball_at, leg.ankle_height)
    return math.sqrt(max(longest**2 - (low - leg.ankle_height) ** 2, (LEAST_REACH * leg.longest) ** 2))


def plan_wish(shape: StepShape, heading: float) -> PlanWish:
    """Returns a step that is asked for, as a plan reads it."""
    return PlanWish(shape.length, shape.time, shape.double, shape.width, shape.aside, heading, shape.turn)


def steps_ahead(
    snapshot: Snapshot, speed: float = 0.0, aside: float = 0.0, heading: float | None = None, steps: int = 3,
    stance: int | None = None, costs: PlanCosts | None = None, tuning: WalkTuning | None = None,
) -> FootstepPlan:  # fmt: skip
    """Returns the plan of the next steps of a body in any state, on level ground.

    `speed` and `aside` [m/s] are asked for along and to the left of the `heading` [rad] (None: that of the feet).
    `stance` is the foot that stands, 0 for the left one and 1 for the right one. None: the lower one; where both are on
    the ground, the one whose plan costs less.
    """
    for name, value in (("speed", speed), ("aside", aside), ("heading", heading)):
        if value is not None and (isinstance(value, bool) or not math.isfinite(value)):
            raise BadValue(f"steps_ahead: {name} is a finite number; got {value!r}")
    if stance not in (None, 0, 1):
        raise BadValue(f"steps_ahead: stance is 0 (left), 1 (right) or None; got {stance!r}")
    t = tuning or WalkTuning()
    body = walking_body(snapshot.character)
    seen = see(snapshot, body)
    facing = mean_yaw(seen.yaw) if heading is None else float(heading)
    wishes = Wishes(float(speed), float(aside), facing)
    shape = step_shape(float(speed), 0.0, 0.0, wishes.stays, wishes, style_of("normal"), body, t)
    shape = shape._replace(aside=float(aside) * shape.time)
    frame, wish = leg_frame(snapshot.character, t), plan_wish(shape, facing)
    high = seen.low > IN_THE_AIR * body.hips_height
    if stance is None and high[0] != high[1]:
        stance = 1 if high[0] else 0
    found = []
    for foot in (0, 1) if stance is None else (stance,):
        start = _start(seen, foot, bool(high[1 - foot]), shape, body, frame)
        found.append(solve_plan(build_plan(frame, start, wish, steps, costs)))
    return min(found, key=lambda plan: plan.cost)


def _start(
    seen: SeenBody, stance: int, swings: bool, shape: StepShape, body: WalkingBody, frame: LegFrame
) -> PlanStart:
    """Returns the moment that is seen. A foot in the air is taken to be half through its swing, one on the ground to
    leave it now."""
    swung = 0.5 * (shape.time - shape.double) if swings else 0.0
    yaw = float(seen.yaw[stance])
    sole = frame.soles[stance]
    at = sole[0] + frame.first_pressure * (sole[2] - sole[0])
    pressure = seen.flat[stance] + at * np.array([math.cos(yaw), math.sin(yaw)])
    return plan_start(seen, stance, seen.capture, pressure, shape.double + swung, swung, 0.0)


def plan_start(
    seen: SeenBody, stance: int, capture: Array, pressure: Array, gone: float, swung: float | None, double_left: float,
    shift: Array | None = None,
) -> PlanStart:  # fmt: skip
    """Returns the moment that is seen, as a plan reads it."""
    swing = 1 - stance
    return PlanStart(
        stance, seen.com[:2], capture, seen.flat[stance], float(seen.yaw[stance]), seen.ankle[swing, :2],
        seen.ankle_velocity[swing, :2], pressure, gone, swung, double_left, np.zeros(2) if shift is None else shift,
    )  # fmt: skip
