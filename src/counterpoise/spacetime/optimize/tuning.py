"""The numbers of the motion optimiser."""

from __future__ import annotations

import math
from dataclasses import dataclass

from counterpoise.errors import BadValue


@dataclass(frozen=True)
class ImpactTuning:
    """Numbers of an impact, as people take one with their feet."""

    seconds: float = 0.02  # [s] it stands for: a force of one body weight gives this times the body weight
    approach: float = 2.5  # [m/s] at which a point that touches moves into its surface at most: a fall from 0.3 m
    slide: float = 0.5  # [m/s] along it, in each direction
    most_force: float = 4.0  # [body weights] with which all contacts together press at most while it lasts
    strength_share: float = 1.0  # of its strength that a joint gives at most
    effort: float = 10.0  # cost of the squared share that each joint gives

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value >= 0.0:
                raise BadValue(f"ImpactTuning.{name} is a number, at least 0; got {value!r}")
        if not 0.0 < self.seconds < math.inf:
            raise BadValue(f"ImpactTuning.seconds is a time above 0; got {self.seconds!r}")


@dataclass(frozen=True)
class MotionTuning:
    """Numbers of the method. Violations are scaled: body weights, m, rad."""

    tolerance: float = 1e-6  # largest violation of a motion that counts as solved
    strides: int = 1  # strides downhill after the first exact motion
    rounds: int = 4  # of adding rows for limits and ground that a candidate breaks
    terrain_rounds: int = 4  # more of them where there is terrain to keep out of
    refinements: int = 3  # rounds of putting more knots where the motion is not right between them
    refined_knots: float = 3.0  # factor on the number of knots above which no more are put

    # the search for a good motion
    search_iterations: int = 60
    search_curvature: float = 4.0  # factor on the cost's Hessian
    cost_per_barrier: float = 1000.0  # cost divided by the barrier with which the search begins
    barrier_range: tuple[float, float] = (1.0, 30.0)  # of that barrier
    near_enough: float = 0.1  # violation at which the search ends and the motion is made exact
    least_iterations: int = 8  # of a search
    hopeless_after: int = 20  # iterations without improvement after which a search ends

    # making it exact
    exact_iterations: int = 40
    exact_curvature: float = 10.0  # factor on the metric
    soft_above: float = 2e-2  # violation above which limits are soft at first
    soft_until: float = 1e-3  # violation at which the soft limits become hard
    rows_within: float = 0.3  # [m, rad] rows further from their bounds than this are left out at first

    # strides downhill
    stride_iterations: int = 4
    stride_curvature: float = 2.0  # factor on the metric
    stride_share: float = 0.5  # of the way to the unconstrained optimum
    least_gain: float = 0.01  # share of the cost below which a gain is not worth another stride
    follow_iterations: int = 3  # of the stride that follows keys moved since an earlier result
    follow_curvature: float = 1.0  # factor on the metric then: more goes only a part of the way
    follow_above: float = 1e-6  # change of the cost's slope above which there is anything to follow

    # where parts are inside each other
    spoilt_cost: float = 2.0  # factor on the cost above which parting them is given up

    # what cannot hold together
    slack_prices: tuple[float, ...] = (1e2, 1e4, 1e6)  # of squared violations, one after the other [1/m^2, 1/rad^2]
    slack_strides: int = 4  # strides at each price
    named_above: float = 1e-4  # [m, rad] violations above this are named ...
    named_share: float = 1e-2  # ... and above this share of the worst
