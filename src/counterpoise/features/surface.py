"""Distances of a point of a body: to a plane, above the ground, from a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from counterpoise.arrays import Array
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.features.base import XYZ
from counterpoise.features.frame import ORIGIN, BodyFeature, Point


@dataclass(frozen=True)
class PlaneDistance(BodyFeature):
    """Signed distance of a point of a body from a plane through `origin` with `normal` [m]."""

    body: str
    origin: Point
    normal: Point
    point: Point = ORIGIN
    unit = "m"

    @property
    def name(self) -> str:
        return f"distance of {self.body} from a plane"

    def value(self, kinematics: Kinematics) -> Array:
        away = kinematics.position(self.body, self.point) - np.asarray(self.origin, float)
        return np.asarray(away @ self.unit_normal)[..., None]

    def jacobian(self, kinematics: Kinematics) -> Array:
        return np.asarray(self.unit_normal @ kinematics.jacobian(self.body, self.point))[..., None, :]

    def drift(self, snapshot: Snapshot) -> Array:
        return np.array([float(self.unit_normal @ snapshot.drift(self.body, self.point))])

    @property
    def unit_normal(self) -> Array:
        n = np.asarray(self.normal, float)
        return n / np.linalg.norm(n)


@dataclass(frozen=True)
class Height(PlaneDistance):
    """Height of a point of a body above z = 0 [m]."""

    body: str
    origin: Point = ORIGIN
    normal: Point = (0.0, 0.0, 1.0)
    point: Point = ORIGIN

    @property
    def name(self) -> str:
        return f"height of {self.body}"


class Curve:
    """A smooth path through points (k, 3), by a cubic spline over its length; open or closed."""

    def __init__(self, points: ArrayLike, closed: bool = False) -> None:
        knots = np.asarray(points, float)
        if knots.ndim != 2 or knots.shape[1] != 3 or len(knots) < 2 or not np.isfinite(knots).all():
            raise BadValue(f"a curve needs at least two finite points (k, 3); got shape {knots.shape}")
        if closed:
            knots = np.vstack([knots, knots[:1]])
        gaps = np.linalg.norm(np.diff(knots, axis=0), axis=1)
        if gaps.min() <= 1e-12:
            raise BadValue("two neighbouring points of a curve coincide")
        self.knots = np.concatenate([[0.0], np.cumsum(gaps)])
        self.closed = closed
        ends: Literal["periodic", "not-a-knot", "natural"] = "not-a-knot" if len(knots) > 3 else "natural"
        if closed:
            ends = "periodic"
        self._last: tuple[bytes, float] = (b"", 0.0)
        self._spline = CubicSpline(self.knots, knots, bc_type=ends)

    @property
    def length(self) -> float:
        """Of the chords between the points [m]."""
        return float(self.knots[-1])

    def at(self, s: float, order: int = 0) -> Array:
        """The point, or a derivative of it, at chord length s."""
        return np.asarray(self._spline(s, order), float)

    def nearest(self, place: ArrayLike) -> float:
        """Returns the chord length of the point nearest to `place`: the best of a fine sampling, then Newton's method.

        The last answer is remembered, since value, Jacobian and drift ask for the same.
        """
        p = np.asarray(place, float)
        if self._last[0] != p.tobytes():
            self._last = (p.tobytes(), self._nearest(p))
        return self._last[1]

    def _nearest(self, p: Array) -> float:
        grid = np.linspace(0.0, self.length, 16 * len(self.knots) + 1)
        s = float(grid[int(np.argmin(np.sum((self._spline(grid) - p) ** 2, axis=1)))])
        for _ in range(12):
            away, first, second = self.at(s) - p, self.at(s, 1), self.at(s, 2)
            slope = float(first @ first + away @ second)
            step = float(away @ first) / slope if slope > 1e-9 else 0.0
            s = s - step
            s = s % self.length if self.closed else min(max(s, 0.0), self.length)
            if abs(step) < 1e-14 * max(self.length, 1.0):
                break
        return s


@dataclass(frozen=True, eq=False)
class CurveOffset(BodyFeature):
    """Vector from the nearest point of a curve to a point of a body [m].

    With e = p - c(s) and (c - p) . c' = 0 at the nearest s: ds/dt = c'.v / D with D = |c'|^2 + (c - p).c'', and e,
    its rate and its second derivative follow; beyond an open curve's end s stays.
    """

    body: str
    curve: Curve
    point: Point = ORIGIN
    unit = "m"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"distance of {self.body} from a curve"

    def value(self, kinematics: Kinematics) -> Array:
        places = kinematics.position(self.body, self.point)
        away = [p - self.curve.at(self.curve.nearest(p)) for p in places.reshape(-1, 3)]
        return np.array(away).reshape(places.shape)

    def jacobian(self, kinematics: Kinematics) -> Array:
        places = kinematics.position(self.body, self.point)
        slides = np.array([self._slide(p)[0] for p in places.reshape(-1, 3)]).reshape(*places.shape, 3)
        return np.asarray(slides @ kinematics.jacobian(self.body, self.point))

    def drift(self, snapshot: Snapshot) -> Array:
        p, v = snapshot.position(self.body, self.point), snapshot.velocity(self.body, self.point)
        G, s, D = self._slide(p)
        bias = G @ snapshot.drift(self.body, self.point)
        if D is None:
            return bias
        c, c1, c2, c3 = (self.curve.at(s, k) for k in range(4))
        rate = float(c1 @ v) / D
        pull = float(c2 @ c1) * rate**2 + 2.0 * float((c1 * rate - v) @ c2) * rate + float((c - p) @ c3) * rate**2
        return bias - c2 * rate**2 + c1 * (pull / D)

    def _slide(self, p: Array) -> tuple[Array, float, float | None]:
        """How the offset moves with the point (3, 3), the nearest chord length s, and D (None beyond an end)."""
        s = self.curve.nearest(p)
        if not self.curve.closed and not 0.0 < s < self.curve.length:
            return np.eye(3), s, None
        c, c1, c2 = (self.curve.at(s, k) for k in range(3))
        D = float(c1 @ c1 + (c - p) @ c2)
        return np.eye(3) - np.outer(c1, c1) / D, s, D
