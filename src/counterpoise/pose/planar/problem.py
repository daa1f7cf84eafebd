"""The problem of a planar chain: squared distances to minimise inside limits, with points pinned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.pose.planar.derivatives import FGH, add_fgh, fill_lock

PIN_TOLERANCE = 1e-13  # error of a pin after restoration, in units of the chain's length
ROUNDING = 1e-10  # pin errors below this, in the same units, may stop falling because of rounding
RESTORATIONS = 20  # Newton steps back onto the pins


@dataclass(frozen=True)
class PlanarProblem:
    """Minimise the squared distances of `goals` inside limits, `pins` held; the whole chain has length one.

    A goal or pin (links, x, y) is the end of that many links and its place.
    """

    lengths: Array  # (n,)
    lower: Array  # (n,) [rad]
    upper: Array
    goals: tuple[tuple[int, float, float], ...]
    pins: tuple[tuple[int, float, float], ...] = ()

    def value(self, theta: Array) -> float:
        spare, none = np.zeros(theta.size), np.empty((0, 0))
        return float(sum(add_fgh(self.lengths[:k], theta[:k], x, y, spare[:k], none) for k, x, y in self.goals))

    def derivatives(self, theta: Array) -> FGH:
        n = theta.size
        g, H = np.zeros(n), np.zeros((n, n))
        F = sum(add_fgh(self.lengths[:k], theta[:k], x, y, g[:k], H[:k, :k]) for k, x, y in self.goals)
        return FGH(float(F), g, H)

    def constraints(self, theta: Array) -> tuple[Array, Array]:
        """Returns c (2 pins,) and its Jacobian (2 pins, n)."""
        c, J = np.zeros(2 * len(self.pins)), np.zeros((2 * len(self.pins), theta.size))
        for row, (k, x, y) in enumerate(self.pins):
            c[2 * row : 2 * row + 2] = fill_lock(self.lengths[:k], theta[:k], x, y, J[2 * row : 2 * row + 2, :k])
        return c, J

    def lagrangian_hessian(self, H: Array, J: Array, multipliers: Array) -> Array:
        """Returns the Hessian of F - multipliers . c; d2cx = -C_max(i,j) and d2cy = -S_max(i,j) are read off J."""
        W = H.copy()
        for row, (k, _, _) in enumerate(self.pins):
            mx, my = multipliers[2 * row : 2 * row + 2]
            bend = mx * J[2 * row + 1, :k] - my * J[2 * row, :k]
            W[:k, :k] += bend[np.maximum.outer(np.arange(k), np.arange(k))]
        return W

    def clip(self, theta: Array) -> Array:
        return np.minimum(np.maximum(theta, self.lower), self.upper)

    def restore(self, theta: Array) -> Array | None:
        """Returns the nearest pose, to first order, that holds the pins inside the limits; None where none is near."""
        best = np.inf
        for _ in range(RESTORATIONS):
            c, J = self.constraints(theta)
            error = float(np.abs(c).max(initial=0.0))
            if error <= PIN_TOLERANCE:
                return theta
            if error > 0.9 * best and best < ROUNDING:
                return theta
            best = min(best, error)
            free, move = self.lower < self.upper, np.zeros(theta.size)
            for _ in range(4):
                move[free] = -least_squares(J[:, free], c + J[:, ~free] @ move[~free])
                out = free & ((theta + move < self.lower) | (theta + move > self.upper))
                if not out.any():
                    break
                move[out] = (self.clip(theta + move) - theta)[out]
                free &= ~out
            theta = self.clip(theta + move)
        return None


def least_squares(A: Array, b: Array) -> Array:
    """Returns the shortest x that minimises |A x - b|."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=1e-12)[0])
