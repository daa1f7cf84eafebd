"""The ground under a swinging foot: on the line from the place that it left to its foothold."""

from __future__ import annotations

import math
from typing import NamedTuple

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import foot_angles
from counterpoise.objectives.base import smooth_step

SHORT_WAY = 0.05  # [m] on shorter ways the time tells how far the foot is


class GroundLine(NamedTuple):
    """Between two planes; zeros on level ground."""

    left: Array  # (5,) plane that the foot left
    goal: Array  # (5,) plane of its foothold, at the foothold
    yaw: float
    place: Array  # (3,) of the ankle [m]
    speed: Array  # (3,) [m/s]

    def height(self, u: float) -> float:
        """Returns the height of the line where the foot is; `u` is the share of the swing that is over [m]."""
        rise = float(self.goal[2] - self.left[2])
        if rise == 0.0:
            return float(self.goal[2])
        return float(self.left[2]) + rise * self._progress(u)

    def climb(self) -> float:
        """Returns how fast the line rises where the foot goes [m/s]."""
        rise = float(self.goal[2] - self.left[2])
        x, y, far = self._way()
        if rise == 0.0 or far < SHORT_WAY or not 0.0 < self._progress(0.0) < 1.0:
            return 0.0
        return rise * float(self.speed[0] * x + self.speed[1] * y) / far**2

    def pitch(self, u: float) -> float:
        """Returns the pitch of a foot that lies along the ground [rad]."""
        left, goal = foot_angles(self.left, self.yaw)[0], foot_angles(self.goal, self.yaw)[0]
        return left + (goal - left) * smooth_step((u - 0.2) / 0.6)

    def roll(self, u: float) -> float:
        left, goal = foot_angles(self.left, self.yaw)[1], foot_angles(self.goal, self.yaw)[1]
        return left + (goal - left) * smooth_step((u - 0.2) / 0.6)

    def _way(self) -> tuple[float, float, float]:
        x, y = float(self.goal[0] - self.left[0]), float(self.goal[1] - self.left[1])
        return x, y, math.hypot(x, y)

    def _progress(self, u: float) -> float:
        """Returns the share of the way that the foot has gone."""
        x, y, far = self._way()
        if far < SHORT_WAY:
            return u
        gone = (float(self.place[0] - self.left[0]) * x + float(self.place[1] - self.left[1]) * y) / far**2
        return min(max(gone, 0.0), 1.0)
