"""The settings of a check: how it reads a motion, and the thresholds of every finding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.errors import BadValue


@dataclass(frozen=True)
class CheckTuning:
    """How to read a motion, and what to allow.

    The default limits of physics are what captures of real people show (benchmarks/check.py): twice the value that 90%
    of them do not exceed, for strength one and a half times. Those of cleanness allow what a good capture shows.
    """

    friction: float = PLANNED_FRICTION  # of the ground
    floor: float | Literal["fit"] = 0.0  # [m] height of the ground; "fit": the height at which the feet usually stand
    smooth: float = 0.02  # [s] width of the Gaussian for accelerations; those up to 6.6 Hz pass
    low: float = 0.025  # [m] a point nearer to the ground than this may press on it ...
    slow: float = 0.6  # [m/s] ... if it is slower than this
    still: float = 0.2  # [m/s] a foot that is slower than this may stand up to `reach` above the ground
    touch: float = 0.12  # [body heights] other parts than feet may press from up to here: shapes are estimates ...
    touch_speed: float = 1.0  # [m/s] ... if they are slower than this
    reach: float = 0.10  # [m] feet that stand still higher than this, or parts deeper than this, are not on the ground
    stop_margin: float = 0.03  # [rad, m] a joint nearer to its limit than this may rest against its stop
    shortest_slide: float = 0.15  # [s] feet that carry the body this long without standing still count as skating
    shortest_flight: float = 0.06  # [s] shorter flights are not judged, ...
    shortest_spin: float = 0.2  # [s] ... and in flights shorter than this noise hides what happens to angular momentum
    shortest_carried: float = 0.25  # [s] something unseen carries the body for at least this time, ...
    carried_weight: float = 0.5  # [body weights] ... and at least this much of it on average
    shortest_lean: float = 0.5  # [s] the body leans on something unseen for at least this time, ...
    force_time: float = 0.3  # [s] over which residual forces are averaged: noise cancels, forces from nowhere do not
    lean_residual: float = 0.08  # [body weights] ... with a larger residual than this throughout
    lean_time: float = 1.0  # [s] a residual that is never smaller for this long is no noise
    max_skate: float = 3.0  # [cm/s] rms over planted feet
    max_penetration: float = 1.5  # [cm] largest
    max_float: float = 2.0  # [cm] in 95% of the frames in which a foot stands
    max_limit: float = 3.0  # [deg] largest
    max_force: float = 12.0  # [% of body weight] rms of the averaged residual: the wrench that contacts cannot supply
    max_lean: float = 5.0  # [% of body weight] residual that lasts for `lean_time`; captures show up to 1.1
    max_leap: float = 390.0  # [m/s^2] largest acceleration from frame to frame, rms over the body's mass
    max_balance: float = 15.0  # [cm] rms distance of the centre of pressure from the support area
    max_carried: float = 0.0  # [s] in which something unseen carries the body
    max_flight: float = 40.0  # [% of gravity] error of the acceleration with which it falls, over all flights
    max_drift: float = 65.0  # [%] change of angular momentum in the worst flight
    max_torque: float = 180.0  # [% of strength] in 99% of the frames
    max_jitter: float = 3.0  # [mm] rms
    max_jerk: float = 10000.0  # [m/s^3] in 95% of the frames; capture at 120 frames a second has 3,000 to 8,000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "floor" and value == "fit":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                raise BadValue(f"{name} is a number, not {value!r}", **{name: value})
            if name != "floor" and value < 0.0:
                raise BadValue(f"{name} is at least 0, not {value!r}", **{name: value})

    def without_doubt(self) -> CheckTuning:
        """Returns the same, but only what is at the ground may press: no raised feet, no parts of uncertain shape."""
        return replace(self, still=0.0, touch=0.0, touch_speed=self.slow)

    @property
    def blur(self) -> float:
        """By how much smoothing widens a contact, at each end [s]."""
        return 2.0 * self.smooth
