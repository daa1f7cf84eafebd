"""FollowPoints: contact points in the air follow places that move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.kernels import kernel
from counterpoise.objectives import Objective, Rows
from counterpoise.objectives.writing import BlockFull

if TYPE_CHECKING:
    from counterpoise.objectives import Stance


@dataclass(frozen=True, eq=False)
class FollowPoints(Objective):
    """J a = k (p_r - p) + 2 sqrt(k) (v_r - v) + a_r - drift at every chosen contact point.

    The correction, without a_r and the drift, is at most `limit`.
    """

    which: Flags  # (p,)
    goal: Array  # (3, p, 3) place, velocity, acceleration
    stiffness: float  # k [1/s^2]
    limit: float  # [m/s^2]
    weight: float = 1.0
    name: str = "feet in the air"

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        count = 3 * int(self.which.sum())
        A, b = np.empty((count, snapshot.character.nv)), np.empty(count)
        self.write(snapshot, stance, A, b, 0, 1.0)
        return Rows(A, b)

    def write(self, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, at: int, beta: float) -> int:
        if at + 3 * len(self.which) > len(b) and at + 3 * int(self.which.sum()) > len(b):
            raise BlockFull
        return _write_points(
            A, b, at, beta, self.which, snapshot.contact_jacobian, snapshot.contact_position,
            snapshot.contact_velocity, snapshot.contact_drift, self.goal, self.stiffness,
            2.0 * math.sqrt(self.stiffness), self.limit,
        )  # fmt: skip


@kernel
def _write_points(
    A: Array, b: Array, at: int, beta: float, which: Flags, jacobian: Array, position: Array, velocity: Array,
    drift: Array, goal: Array, k_p: float, k_v: float, limit: float,
) -> int:  # fmt: skip
    """Writes three rows for each chosen point. Returns their number."""
    row = at
    pull = np.empty(3)
    for i in range(len(which)):
        if not which[i]:
            continue
        size = 0.0
        for k in range(3):
            pull[k] = k_p * (goal[0, i, k] - position[i, k]) + k_v * (goal[1, i, k] - velocity[i, k])
            size += pull[k] * pull[k]
        size = np.sqrt(size)
        shorter = 1.0 if size <= limit else limit / size
        for k in range(3):
            for j in range(A.shape[1]):
                A[row, j] = beta * jacobian[i, k, j]
            b[row] = beta * (shorter * pull[k] + goal[2, i, k] - drift[i, k])
            row += 1
    return row - at
