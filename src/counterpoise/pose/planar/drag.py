"""Dragging a planar chain frame after frame, with a bound on how far a joint may turn in a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.errors import BadValue
from counterpoise.pose.planar.checks import checked_chain, checked_limits, checked_pins
from counterpoise.pose.planar.derivatives import planar_points
from counterpoise.pose.planar.solver import PlanarPose, solve_chain


class PlanarDrag:
    """Drags the tip of a planar chain. Each frame starts at the last pose; no joint turns more than `turn` [rad].

    The bound is a pair of limits around the last pose, so it holds exactly. A frame that cannot reach the target
    because of it has the status `lagging` and catches up in the next ones.
    """

    def __init__(
        self,
        lengths: ArrayLike,
        angles: ArrayLike,
        limits: ArrayLike | None = None,
        pins: Mapping[int, ArrayLike | None] | None = None,
        turn: float = np.radians(5.0),
        tolerance: float = 1e-6,
        iterations: int = 20,
    ) -> None:
        self._lengths, theta, _ = checked_chain(lengths, angles, (0.0, 0.0))
        self._lower, self._upper = checked_limits(limits, theta.size)
        self._pins = checked_pins(planar_points(self._lengths, theta), pins)
        if not turn > 0.0:
            raise BadValue(f"the turn a frame is an angle above zero [rad]; got {turn}", turn=turn)
        self.turn, self.tolerance, self.iterations = turn, tolerance, iterations
        self.angles = np.minimum(np.maximum(theta, self._lower), self._upper)

    def to(self, target: ArrayLike) -> PlanarPose:
        """Returns the next frame's pose, the tip at `target` [m] or on its way."""
        a, theta, goal = checked_chain(self._lengths, self.angles, target)
        lower, upper = np.maximum(self._lower, theta - self.turn), np.minimum(self._upper, theta + self.turn)
        pose = solve_chain(a, theta, goal, lower, upper, self._pins, self.tolerance, self.iterations, 0)
        moved = pose.angles
        held_back = ((moved <= lower) & (lower > self._lower)) | ((moved >= upper) & (upper < self._upper))
        if pose.status == "infeasible":
            pose = replace(pose, angles=theta)  # stays, because moving would break a pin
        elif pose.status == "unreachable" and held_back.any():
            pose = replace(pose, status="lagging")
        self.angles = pose.angles
        return pose
