"""Places and directions of bodies: points, orientations, axes, and all of these relative to another body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import Feature

Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PointPosition(Feature):
    """Position of a point of a body, world frame [m]."""

    body: str
    point: Point = ORIGIN  # in the body's frame

    @property
    def name(self) -> str:
        return f"position of {self.body}"

    @property
    def unit(self) -> str:
        return "m"

    def value(self, snapshot: Snapshot) -> Array:
        return snapshot.position(self.body, self.point)

    def jacobian(self, snapshot: Snapshot) -> Array:
        return snapshot.jacobian(self.body, self.point)

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.drift(self.body, self.point)


class _Rotation(Feature):
    """Features whose value is a quaternion; differences are rotation vectors in the frame it is expressed in."""

    @property
    def unit(self) -> str:
        return "rad"

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        return spatial.log(spatial.multiply(np.asarray(end, float), spatial.conjugate(start)))


@dataclass(frozen=True)
class BodyOrientation(_Rotation):
    """Orientation of a body, world frame; its rate is the angular velocity."""

    body: str

    @property
    def name(self) -> str:
        return f"orientation of {self.body}"

    def value(self, snapshot: Snapshot) -> Array:
        return spatial.from_matrix(snapshot.rotation(self.body))

    def jacobian(self, snapshot: Snapshot) -> Array:
        return snapshot.angular_jacobian(self.body)

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.angular_drift(self.body)


@dataclass(frozen=True)
class AxisDirection(Feature):
    """Direction u = R a of an axis a of a body, world frame, unit length; du/dt = w x u."""

    body: str
    axis: Point

    @property
    def name(self) -> str:
        return f"axis of {self.body}"

    @property
    def unit(self) -> str:
        return "rad"

    def value(self, snapshot: Snapshot) -> Array:
        return snapshot.rotation(self.body) @ _unit(self.axis)

    def jacobian(self, snapshot: Snapshot) -> Array:
        return -spatial.skew(self.value(snapshot)) @ snapshot.angular_jacobian(self.body)

    def drift(self, snapshot: Snapshot) -> Array:
        u, w = self.value(snapshot), snapshot.angular_velocity(self.body)
        return np.cross(snapshot.angular_drift(self.body), u) + np.cross(w, np.cross(w, u))


@dataclass(frozen=True)
class AxisAim(Feature):
    """How an axis of a body misses a place: u - d/|d| with d from a point of the body to the place; zero when it aims
    at it.
    """

    body: str
    axis: Point
    at: Point  # world [m]
    point: Point = ORIGIN  # where the line of sight begins, body frame

    @property
    def name(self) -> str:
        return f"aim of {self.body}"

    @property
    def unit(self) -> str:
        return "rad"

    def value(self, snapshot: Snapshot) -> Array:
        return self._axis.value(snapshot) - self._line(snapshot)[0]

    def jacobian(self, snapshot: Snapshot) -> Array:
        d, length = self._line(snapshot)
        across = (np.eye(3) - np.outer(d, d)) / length
        return self._axis.jacobian(snapshot) + across @ snapshot.jacobian(self.body, self.point)

    def drift(self, snapshot: Snapshot) -> Array:
        d, length = self._line(snapshot)
        v = -snapshot.velocity(self.body, self.point)  # of the vector from the point to the place
        a = -snapshot.drift(self.body, self.point)
        along = float(d @ v)
        d_rate = (v - along * d) / length
        across = (a - float(d @ a) * d) / length
        bend = (-2.0 * along * d_rate) / length - float(d_rate @ d_rate) * d
        return self._axis.drift(snapshot) - (across + bend)

    @property
    def _axis(self) -> AxisDirection:
        return AxisDirection(self.body, self.axis)

    def _line(self, snapshot: Snapshot) -> tuple[Array, float]:
        d = np.asarray(self.at, float) - snapshot.position(self.body, self.point)
        length = max(float(np.linalg.norm(d)), 1e-9)
        return d / length, length


@dataclass(frozen=True)
class RelativePosition(Feature):
    """Position of a point of a body as seen from another body's frame [m]."""

    body: str
    frame: str
    point: Point = ORIGIN

    @property
    def name(self) -> str:
        return f"position of {self.body} in {self.frame}"

    @property
    def unit(self) -> str:
        return "m"

    def value(self, snapshot: Snapshot) -> Array:
        return snapshot.rotation(self.frame).T @ (
            snapshot.position(self.body, self.point) - snapshot.position(self.frame)
        )

    def jacobian(self, snapshot: Snapshot) -> Array:
        R, here = snapshot.rotation(self.frame), self.value(snapshot)  # the frame's own point now at the same place
        return R.T @ (snapshot.jacobian(self.body, self.point) - snapshot.jacobian(self.frame, here))

    def drift(self, snapshot: Snapshot) -> Array:
        R, here = snapshot.rotation(self.frame), self.value(snapshot)
        w = snapshot.angular_velocity(self.frame)
        v = snapshot.velocity(self.body, self.point) - snapshot.velocity(self.frame, here)
        a = snapshot.drift(self.body, self.point) - snapshot.drift(self.frame, here)
        return R.T @ (a - 2.0 * np.cross(w, v))


@dataclass(frozen=True)
class RelativeOrientation(_Rotation):
    """Orientation of a body as seen from another body's frame."""

    body: str
    frame: str

    @property
    def name(self) -> str:
        return f"orientation of {self.body} in {self.frame}"

    def value(self, snapshot: Snapshot) -> Array:
        return spatial.from_matrix(snapshot.rotation(self.frame).T @ snapshot.rotation(self.body))

    def jacobian(self, snapshot: Snapshot) -> Array:
        R = snapshot.rotation(self.frame)
        return R.T @ (snapshot.angular_jacobian(self.body) - snapshot.angular_jacobian(self.frame))

    def drift(self, snapshot: Snapshot) -> Array:
        R, w = snapshot.rotation(self.frame), snapshot.angular_velocity(self.frame)
        bias = snapshot.angular_drift(self.body) - snapshot.angular_drift(self.frame)
        return R.T @ (bias - np.cross(w, snapshot.angular_velocity(self.body)))


def _unit(axis: Point) -> Array:
    a = np.asarray(axis, float)
    return a / np.linalg.norm(a)
