"""The ground under a swinging foot: from the plane that it left to the plane of its foothold."""

from __future__ import annotations

from typing import NamedTuple

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import foot_angles, plane_at
from counterpoise.objectives.base import smooth_step

UP_BY = 0.45  # share of a swing by which a foot that goes up has reached the height of its foothold
DOWN_FROM, DOWN_BY = 0.4, 0.85  # shares of a swing between which a foot that goes down leaves the height that it had


class GroundLine(NamedTuple):
    """Between two planes; zeros on level ground."""

    left: Array  # (5,) plane that the foot left
    goal: Array  # (5,) plane of its foothold
    yaw: float
    place: Array  # (3,) of the ankle [m]
    speed: Array  # (3,) [m/s]

    def height(self, u: float) -> float:
        """Returns the height of the ground that counts at a share of the swing [m]: first up, last down."""
        x, y, _ = self.place.tolist()
        left, goal = plane_at(self.left, x, y), plane_at(self.goal, x, y)
        return float(left + (goal - left) * self._share(u, goal > left))

    def climb(self, u: float) -> float:
        """Returns how fast it rises where the foot goes, at this share of the swing [m/s]."""
        x, y, _ = self.place.tolist()
        share = self._share(u, plane_at(self.goal, x, y) > plane_at(self.left, x, y))
        along = self.left[3:] + (self.goal[3:] - self.left[3:]) * share
        return float(along @ self.speed[:2])

    def pitch(self, u: float) -> float:
        """Returns the pitch of a foot that lies along the ground [rad]."""
        left, goal = foot_angles(self.left, self.yaw)[0], foot_angles(self.goal, self.yaw)[0]
        return left + (goal - left) * smooth_step((u - 0.2) / 0.6)

    def roll(self, u: float) -> float:
        left, goal = foot_angles(self.left, self.yaw)[1], foot_angles(self.goal, self.yaw)[1]
        return left + (goal - left) * smooth_step((u - 0.2) / 0.6)

    def _share(self, u: float, up: bool) -> float:
        return smooth_step(u / UP_BY) if up else smooth_step((u - DOWN_FROM) / (DOWN_BY - DOWN_FROM))
