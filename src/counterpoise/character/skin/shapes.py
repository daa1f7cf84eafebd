"""Round shapes that a smooth body is made of, and how they melt into each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array

CUT_ROUNDING = 0.15  # [half axes] by which the edge of a cut is rounded


@dataclass(frozen=True, eq=False)
class RoundShape:
    """An ellipsoid, or the points within a radius of a line, in the world at rest. The radius may change along it."""

    body: int
    centre: Array  # (3,) [m]
    rotation: Array  # (3, 3) world from shape
    half: Array  # (3,) half axes of an ellipsoid, or (radius, radius, half length of the line)
    line: bool
    front: float = np.inf  # [m] along its own x, where it is cut flat
    radii: tuple[float, ...] = ()  # [m] of a line, at even places from its lower to its upper end; () for one radius

    def distance(self, points: Array) -> Array:
        """Returns the distance (n,) of points (n, 3) from the surface [m], negative inside; of ellipsoids about."""
        local = (points - self.centre) @ self.rotation
        whole = self._whole(local.copy())
        if np.isfinite(self.front):
            whole = -smooth_min(-whole, self.front - local[:, 0], CUT_ROUNDING * self.half[0])
        return whole

    def _whole(self, local: Array) -> Array:
        """Returns the distance (n,) of points in its own frame, without cuts."""
        if self.line and self.radii:
            return self._tube(local)
        if self.line:
            local[:, 2] -= np.clip(local[:, 2], -self.half[2], self.half[2])
            return np.linalg.norm(local, axis=1) - self.half[0]
        scaled = local / self.half
        size = np.linalg.norm(scaled, axis=1)
        slope = np.linalg.norm(scaled / self.half, axis=1)
        return np.where(size < 1e-6, -self.half.min(), size * (size - 1.0) / np.maximum(slope, 1e-9))

    def _tube(self, local: Array) -> Array:
        """Returns the distance (n,) from a tube whose radius changes along its line; exact where it changes slowly."""
        along = np.clip(local[:, 2], -self.half[2], self.half[2])
        place = (along + self.half[2]) / (2.0 * self.half[2]) * (len(self.radii) - 1)
        before = np.minimum(place.astype(int), len(self.radii) - 2)
        share, radii = place - before, np.array(self.radii)
        share = share * share * (3.0 - 2.0 * share)
        local[:, 2] -= along
        return np.linalg.norm(local, axis=1) - (radii[before] * (1.0 - share) + radii[before + 1] * share)


def smooth_min(a: Array, b: Array, width: float) -> Array:
    """Returns the minimum, rounded where the two differ by less than `width`."""
    near = np.maximum(width - np.abs(np.where(np.isfinite(a - b), a - b, np.inf)), 0.0) / width
    return np.minimum(a, b) - 0.25 * width * near * near


def largest_round(shapes: Sequence[RoundShape]) -> RoundShape | None:
    """Returns the largest ellipsoid."""
    found = [shape for shape in shapes if not shape.line]
    return max(found, key=lambda shape: float(np.prod(shape.half)), default=None)
