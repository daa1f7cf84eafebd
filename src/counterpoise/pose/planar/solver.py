"""Solving a planar chain: descents from the given start, and from others where a target is missed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.pose.planar.checks import checked_chain, checked_limits, checked_pins
from counterpoise.pose.planar.derivatives import planar_points
from counterpoise.pose.planar.newton import descend_planar
from counterpoise.pose.planar.problem import PlanarProblem

PlanarStatus: TypeAlias = Literal["solved", "unreachable", "infeasible", "lagging", "out_of_time"]
"""`solved`: within tolerance. `unreachable`: a minimum that is not. `infeasible`: the pins cannot be held. `lagging`:
the bound on a frame's turn holds the drag back. `out_of_time`: the iterations are used up."""

PINS_ALONE_TOLERANCE = 1e-11  # of the pins where they are first reached as goals, in units of the chain's length


@dataclass(frozen=True)
class PlanarPose:
    """A solved pose of a planar chain, and how it was found."""

    angles: Array  # (n,) [rad]
    status: PlanarStatus
    iterations: int
    residual: float  # [m] distance of tip and target
    pin_residual: float  # [m] the largest distance of a pinned point from its place
    errors: Array  # (iterations + 1,) [m] the residual before each iteration and after the last

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def solve_planar(
    lengths: ArrayLike,
    angles: ArrayLike,
    target: ArrayLike,
    limits: ArrayLike | None = None,
    pins: Mapping[int, ArrayLike | None] | None = None,
    tolerance: float = 1e-9,
    iterations: int = 200,
    restarts: int = 8,
) -> PlanarPose:
    """Returns the joint angles that bring the tip of a planar chain to `target`, or as near as limits and pins allow.

    `limits` is (n, 2) [rad], infinite where there is none; they are never passed. `pins` maps a joint's number - k is
    the end of link k, counted from 1 - to the place [m] it is locked at, None for where it is now. Starting angles
    outside the limits are first brought inside. `tolerance` [m] is the distance that counts as reached.

    Where limits or pins stop the chain short, up to `restarts` other starts, always the same ones, look for a better
    minimum. Without limits and pins there are no false minima, only saddle points, which are left along the
    direction of negative curvature.
    """
    a, theta, goal = checked_chain(lengths, angles, target)
    lower, upper = checked_limits(limits, a.size)
    places = checked_pins(planar_points(a, theta), pins)
    return solve_chain(a, theta, goal, lower, upper, places, tolerance, iterations, restarts)


def solve_chain(
    a: Array, theta: Array, goal: Array, lower: Array, upper: Array, places: dict[int, Array],
    tolerance: float, iterations: int, restarts: int,
) -> PlanarPose:  # fmt: skip
    """As `solve_planar`, for arguments that are checked already."""
    if not (np.isfinite(tolerance) and tolerance > 0.0):
        raise BadValue(f"the tolerance is a distance above zero [m]; got {tolerance}", tolerance=tolerance)
    size = float(a.sum())
    problem = PlanarProblem(
        a / size, lower, upper,
        goals=((a.size, goal[0] / size, goal[1] / size),),
        pins=tuple((k, x / size, y / size) for k, (x, y) in places.items()),
    )  # fmt: skip
    best = _from_start(problem, theta, tolerance / size, iterations)
    others = 0 if not places and np.isinf(lower).all() and np.isinf(upper).all() else restarts
    low, high = np.where(np.isinf(lower), -np.pi, lower), np.where(np.isinf(upper), np.pi, upper)
    for trial in range(others):
        if best.status not in ("unreachable", "infeasible"):
            break
        part = np.modf((trial + 1) * np.sqrt(2.0) * np.arange(1.0, a.size + 1.0) ** 1.5)[0]
        other = _from_start(problem, low + part * (high - low), tolerance / size, iterations)
        if (other.status == "infeasible", other.residual) < (best.status == "infeasible", best.residual * (1.0 - 1e-9)):
            best = other
    return replace(
        best,
        residual=best.residual * size, pin_residual=best.pin_residual * size, errors=best.errors * size,
    )  # fmt: skip


def _from_start(problem: PlanarProblem, theta: Array, tolerance: float, iterations: int) -> PlanarPose:
    """Returns one descent from `theta`: first the pins, then the target."""
    theta = problem.clip(theta)
    status: PlanarStatus = "infeasible"
    errors = [float(np.sqrt(problem.value(theta)))]
    held = problem.restore(theta)
    if held is None:
        pins_alone = replace(problem, goals=problem.pins, pins=())
        theta, _, _ = descend_planar(pins_alone, theta, PINS_ALONE_TOLERANCE, iterations)
        held = problem.restore(theta)
    if held is not None:
        theta, status, errors = descend_planar(problem, held, tolerance, iterations)
    c, _ = problem.constraints(theta)
    off = float(np.hypot(c[::2], c[1::2]).max(initial=0.0))
    return PlanarPose(theta, status, len(errors) - 1, float(np.sqrt(problem.value(theta))), off, np.array(errors))
