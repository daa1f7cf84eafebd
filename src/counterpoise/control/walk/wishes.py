"""What is asked of a walk at one moment: numbers, in metres and seconds, for one body."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from counterpoise.control.walk.styles import WalkStyle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.errors import BadValue
from counterpoise.terrain import Terrain

Live = float | Callable[[float], float]  # a number, or a function of time [s]
WIDEST_STANCE = 1.15  # [distances of the hips] a wider neutral pose counts as this


class Wishes(NamedTuple):
    """What is asked of a walk at one moment; None: as the style does it."""

    speed: float  # [m/s] along the heading
    aside: float = 0.0  # [m/s] to the left of the heading
    heading: float = 0.0  # [rad] that the body faces, from x towards y
    step: float | None = None  # [m] length of a step
    time: float | None = None  # [s] of a step
    height: float | None = None  # [m] by which the sole of the swinging foot rises
    lean: float = 0.0  # [rad] of the trunk forward
    bank: float = 0.0  # [rad] of the trunk to the right
    width: float | None = None  # [m] between the feet
    lower: float = 0.0  # [m] by which the hips are lower
    arms: float = 1.0  # [the style's arm swing]
    longest: float = math.inf  # [s] of a step
    narrow: bool = False  # it keeps closely to its line
    terrain: Terrain | None = None  # the ground that is seen; None: level ground at z = 0
    calm: bool = False  # it slows down over several steps
    even: bool = False  # it stands only with its feet side by side

    @property
    def stays(self) -> bool:
        """Whether it shall stay where it is."""
        return self.speed == 0.0 and self.aside == 0.0


def live_value(given: Live | None, time: float) -> float | None:
    """Returns a number, or what a function of time returns now."""
    if given is None or not callable(given):
        return given
    value = float(given(time))
    if not math.isfinite(value):
        raise BadValue(f"a function of time that a walk was given returned {value!r} at {time:g} s")
    return value


class StepShape(NamedTuple):
    """The steady step of a speed."""

    length: float  # [m]
    time: float  # [s]
    double: float  # [s] of it in double support
    width: float  # [m]
    aside: float = 0.0  # [m] to the left
    turn: float = 0.0  # [rad] of the heading, after this step
    catches: bool = False  # it catches a fall
    lower: float = 0.0  # [m] by which the hips are lower
    dip: float = 0.0  # [leg lengths] by which the hips may sink for the foot to reach its place


def usual_time(speed: float, body: WalkingBody, t: WalkTuning) -> float:
    """Returns the time of a step at a speed [s], as people take it."""
    share = max(speed / body.leg_speed, 1e-3)
    time = min(max(t.step_time * share**t.step_power, t.shortest_step), t.longest_step)
    return float(time * body.leg_time)


def step_shape(
    speed: float, trim: float, real_speed: float, catches: bool, wishes: Wishes, style: WalkStyle, body: WalkingBody,
    t: WalkTuning,
) -> StepShape:  # fmt: skip
    """Returns the step at a speed on the way to the one asked for; `trim` [m/s] makes it longer, not quicker.

    A body that is faster than that speed, `real_speed`, takes quick steps: it has to brake.
    """
    if catches:
        duration = t.catch_step * body.leg_time
    elif wishes.time is not None:
        duration = wishes.time
    elif wishes.step is not None and wishes.speed != 0.0:
        duration = wishes.step / abs(wishes.speed)
    else:
        duration = style.time * usual_time(max(abs(speed), real_speed), body, t)
    duration = min(duration, wishes.longest)
    clock = body.leg_time
    if body.is_quick:
        duration = min(duration, t.quick_step * clock)
    duration = min(max(duration, t.least_step * clock), t.most_step * clock)
    usual = usual_time(t.usual_speed * body.leg_speed, body, t)
    double = t.double_time * body.leg_time * (duration / usual) ** t.double_power
    width = usual_width(style, body, t) if wishes.width is None else wishes.width
    dip = t.catch_dip if catches else t.deepest_dip
    double, length = min(double, 0.5 * duration), (speed + trim) * duration
    return StepShape(length, duration, double, width, catches=catches, lower=wishes.lower, dip=dip)


def usual_width(style: WalkStyle, body: WalkingBody, t: WalkTuning) -> float:
    """Returns the distance between the feet [m]: a share of that of the ankles in the neutral pose, where a distance
    much larger than that of the hips does not count."""
    return style.width * t.width * min(body.stance_width, WIDEST_STANCE * 2.0 * body.half_width)
