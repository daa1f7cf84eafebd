"""What a plan of steps must know of a biped, of its present step, and of what is asked: plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue


def _place(name: str, value: ArrayLike) -> Array:
    """Returns a checked, read-only place (2,)."""
    try:
        found = np.array(value, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (2,) or not np.isfinite(found).all():
        raise BadValue(f"{name} is a place (x, y) in metres; got {value!r}")
    found.flags.writeable = False
    return found


def _check_number(name: str, value: Any, least: float = -np.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not np.isfinite(value):
        raise BadValue(f"{name} is a finite number; got {value!r}")
    if value < least:
        raise BadValue(f"{name} is at least {least:g}; got {value!r}")


@dataclass(frozen=True, eq=False)
class LegFrame:
    """A biped, as a plan of steps sees it. `leg_frame` (control/walk/steps_ahead.py) makes it of a body."""

    omega: float  # [1/s] of the pendulum
    leg: float  # [m] hips above the soles: the unit of lengths
    clock: float  # [s] sqrt(leg / g): the unit of times
    soles: Array  # (2, 4) of the left and the right foot: heel, ball and front ahead of the ankle, half width [m]
    first_pressure: float  # [soles] centre of pressure at the beginning of single support
    last_pressure: float  # [soles] and at its end
    roll_step: float  # [m] shorter steps roll less
    narrowest: float  # [widths] of a step
    apart: float  # [m] feet never come closer across
    widest: float  # [widths]
    forward: float  # [m] longest step
    backward: float  # [m]
    hips_ahead: float  # [m] of the CoM
    half_hips: float  # [m] half the distance of the hips
    reach: float  # [m] of a foot that lands, from its hip, along the ground
    rear_reach: float  # [m] of the other foot then; its heel may rise
    foot_speed: float  # [m/s] highest mean speed of a swinging foot
    foot_acceleration: float  # [m/s^2] its largest acceleration
    clear: float  # [m] ahead of the stance ankle, or behind it, where a foot may cross
    crossed: float  # [m] at most, on the other side
    least_swing: float  # [s]
    least_left: float  # [s] of the present swing
    longest_left: float  # [s] beyond the usual time

    def __post_init__(self) -> None:
        soles = np.array(self.soles, dtype=float)
        if soles.shape != (2, 4) or not np.isfinite(soles).all():
            raise BadValue(f"LegFrame.soles is (2, 4): heel, ball, front, half width of each foot; got {self.soles!r}")
        soles.flags.writeable = False
        object.__setattr__(self, "soles", soles)
        for one in fields(self):
            if one.name != "soles":
                low = -np.inf if one.name == "hips_ahead" else 0.0
                _check_number(f"LegFrame.{one.name}", getattr(self, one.name), low)
        if min(self.omega, self.leg, self.clock, self.foot_speed, self.foot_acceleration) <= 0.0:
            raise BadValue("LegFrame: omega, leg, clock, foot_speed and foot_acceleration are positive")


@dataclass(frozen=True, eq=False)
class PlanStart:
    """The present moment, in the world. Feet are counted left 0, right 1."""

    stance: int  # the foot that carries the body, or the leading one in double support
    com: Array  # (2,)
    capture: Array  # (2,) the capture point
    stance_foot: Array  # (2,) its ankle, the foot flat
    stance_yaw: float  # [rad]
    swing_foot: Array  # (2,) the other ankle
    swing_velocity: Array  # (2,) [m/s]
    pressure: Array  # (2,) the centre of pressure
    gone: float = 0.0  # [s] since the last landing
    swung: float | None = None  # [s] since the swinging foot left; None: in double support
    double_left: float = 0.0  # [s] of double support
    shift: Array = field(default_factory=lambda: np.zeros(2))  # (2,) [m] of the centre of pressure until the landing

    def __post_init__(self) -> None:
        if self.stance not in (0, 1):
            raise BadValue(f"PlanStart.stance is 0 for the left foot or 1 for the right one; got {self.stance!r}")
        for name in ("com", "capture", "stance_foot", "swing_foot", "swing_velocity", "pressure", "shift"):
            object.__setattr__(self, name, _place(f"PlanStart.{name}", getattr(self, name)))
        _check_number("PlanStart.stance_yaw", self.stance_yaw)
        for name in ("gone", "double_left", "swung"):
            if getattr(self, name) is not None:
                _check_number(f"PlanStart.{name}", getattr(self, name), 0.0)
        if self.swung is not None and self.double_left > 0.0:
            raise BadValue(
                f"PlanStart: a foot that swings leaves no double support; got double_left {self.double_left!r}"
            )


@dataclass(frozen=True)
class PlanWish:
    """The step that is asked for."""

    length: float = 0.0  # [m] along the heading
    time: float = 0.5  # [s] from landing to landing
    double: float = 0.1  # [s] of it in double support
    width: float = 0.15  # [m] between the feet
    aside: float = 0.0  # [m] to the left
    heading: float = 0.0  # [rad] at the first landing
    turn: float = 0.0  # [rad] of the heading, by every step after

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _check_number(f"PlanWish.{name}", value, 0.0 if name in ("time", "double", "width") else -np.inf)
        if not self.double < self.time:
            raise BadValue(f"PlanWish: double support is a part of the step; got {self.double!r} of {self.time!r} s")
