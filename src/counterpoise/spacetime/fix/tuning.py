"""The settings of a fix: the ground, the weights of its cost, and the windows it works in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.errors import BadValue

MAY_BE_ZERO = (
    "friction",
    "smooth",
    "calm",
    "bend",
    "min_joint_mass",
    "rotation_lever",
    "longest_extension",
    "plant_reach",
)


@dataclass(frozen=True)
class FixTuning:
    """The settings of a fix. Each of `force`, `still`, `touch` and `near` is an error that costs 1 in one frame."""

    friction: float = PLANNED_FRICTION  # of the ground
    floor: float | Literal["fit"] = 0.0  # [m] height of the ground; "fit": the height at which the feet usually stand
    smooth: float = 0.02  # [s] width of the Gaussian for accelerations; see CheckTuning
    calm: float = 0.014  # [s] width of the Gaussian that removes captured jitter first; 0 keeps it
    knots: float = 30.0  # [1/s] of the deviation
    force: float = 5e-3  # [body weights] residual force
    still: float = 1e-4  # [m] distance of a planted point from its place, or depth of any point below the ground
    touch: float = 3e-3  # [m] height of a pressing point above the ground
    near: float = 0.01  # [m] movement of the bodies that a degree of freedom carries
    bend: float = 0.06  # [s] faster changes of the deviation cost more
    rotation_lever: float = 0.15  # [m/rad] a rotation counts as movement at this distance, too
    window: float = 2.0  # [s] solved at a time
    overlap: float = 0.7  # [s] that a window looks ahead
    steps: int = 14  # most Gauss-Newton steps in a window
    leap_jerk: float = 30000.0  # [m/s^3] rms over all segments of a person's size; more is an error of the capture
    longest_leap: float = 0.2  # [s] longer leaps cannot be bridged
    longest_extension: float = 0.15  # [s] by which a stance may be lengthened at each end
    low: float = 0.02  # [m] a part of a foot that is lower than this, for legs of 0.9 m, ...
    slow: float = 0.35  # [m/s] ... and slower than this is a candidate for standing, ...
    plant_reach: float = 0.03  # [m] ... and stands if it need not be moved further than this, rms; 0: none does
    raised_ground: float = 0.10  # [m] where nothing else carries the body, the lower foot stands if lower than this
    step_time: float = 0.15  # [s] of the step between two places where one would not do
    min_joint_mass: float = 0.006  # share of the body's mass: joints that carry less (fingers) are not changed
    give_up_residual: float = 0.15  # [body weights] frames with a larger residual in the end stay as they were ...
    give_up_margin: float = 0.12  # [s] ... with the frames this near to them
    give_up_distance: float = 0.3  # [m] the same for frames in which a body would move further than this

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "floor" and value == "fit":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise BadValue(f"{name} is a number, not {value!r}", **{name: value})
            if name in MAY_BE_ZERO and value < 0.0:
                raise BadValue(f"{name} is at least 0, not {value!r}", **{name: value})
            if name not in (*MAY_BE_ZERO, "floor") and value <= 0.0:
                raise BadValue(f"{name} is more than 0, not {value!r}", **{name: value})
