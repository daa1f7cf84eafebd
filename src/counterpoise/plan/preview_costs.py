"""PlanCosts: what the steps of a plan cost, in one table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue

# places of the weights in the array that kernels read
TIME, ALONG, ACROSS, CAPTURE, ON_THE_WAY, LATE, REACH, LIMIT, CROSS, SPEED, SAME_PLACE, SAME_TIME = range(12)
_LENGTH, _SECONDS, _RATE, _NUMBER = range(4)  # what a weight multiplies the square of
_KINDS = (
    _SECONDS, _LENGTH, _LENGTH, _LENGTH, _LENGTH, _SECONDS, _LENGTH, _LENGTH, _NUMBER, _RATE, _LENGTH, _SECONDS,
)  # fmt: skip


@dataclass(frozen=True)
class PlanCosts:
    """Weights of squares. Lengths are in leg lengths (hips above the soles), times in sqrt(leg length / g).

    `heading` has no weight of its own: every place is judged in the heading of its landing.
    """

    time: float = 6.0  # a step is longer or shorter than usual
    along: float = 0.6  # its length along the heading
    across: float = 2.0  # its width
    capture: float = 30.0  # the capture point after the last step, from where a steady walk has it
    on_the_way: float = 3.0  # the same after the steps before
    late: float = 1000.0  # a foot cannot be there so soon
    reach: float = 1000.0  # a foot is out of reach of its leg when it lands
    limit: float = 1000.0  # a step is narrower, wider or longer than allowed, or crosses where the other foot stands
    cross: float = 8.0  # a step to the other side of the stance foot
    speed: float = 1.0  # the mean speed of the steps [sqrt(leg x g)]
    same_place: float = 0.3  # a foothold differs from that of the last plan
    same_time: float = 0.3  # a landing is sooner or later than in the last plan

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value < np.inf:
                raise BadValue(f"PlanCosts.{name} is a number >= 0; got {value!r}")

    def roots(self, leg: float, clock: float) -> Array:
        """Returns the square roots of the weights in metres and seconds, (12,)."""
        scale = np.array([1.0 / leg, 1.0 / clock, clock / leg, 1.0])
        return np.sqrt(np.array(list(vars(self).values()))) * scale[list(_KINDS)]


NAMES = tuple(PlanCosts.__dataclass_fields__)  # in the order of the array
