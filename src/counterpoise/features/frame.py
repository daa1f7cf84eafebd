"""Places and directions of bodies: points, orientations, axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics, dofs_moving
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import XYZ, Feature

Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)


class BodyFeature(Feature):
    """Features of one body in the world: only the dofs above that body move them."""

    body: str

    def moved_by(self, character: Character) -> Flags:
        moves: Flags = dofs_moving(character)[character.body_id(self.body)]
        return moves


@dataclass(frozen=True)
class PointPosition(BodyFeature):
    """Position of a point of a body, world frame [m]."""

    body: str
    point: Point = ORIGIN  # in the body's frame
    unit = "m"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"position of {self.body}"

    def value(self, kinematics: Kinematics) -> Array:
        return kinematics.position(self.body, self.point)

    def jacobian(self, kinematics: Kinematics) -> Array:
        return kinematics.jacobian(self.body, self.point)

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.drift(self.body, self.point)


class RotationFeature(Feature):
    """Features whose value is a quaternion; differences are rotation vectors in the frame it is expressed in."""

    unit = "rad"
    labels = XYZ

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        return spatial.log(spatial.multiply(np.asarray(end, float), spatial.conjugate(start)))

    def difference_rate(self, difference: Array) -> Array:
        """e = log(R R_target^T) changes by J_l(e)^-1 w."""
        return spatial.left_jacobian_inverse(difference)


@dataclass(frozen=True)
class BodyOrientation(RotationFeature, BodyFeature):
    """Orientation of a body, world frame; its rate is the angular velocity."""

    body: str

    @property
    def name(self) -> str:
        return f"orientation of {self.body}"

    def value(self, kinematics: Kinematics) -> Array:
        return spatial.from_matrix(kinematics.rotation(self.body))

    def jacobian(self, kinematics: Kinematics) -> Array:
        return kinematics.angular_jacobian(self.body)

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.angular_drift(self.body)


@dataclass(frozen=True)
class AxisDirection(BodyFeature):
    """Direction u = R a of an axis a of a body, world frame, unit length; du/dt = w x u."""

    body: str
    axis: Point
    unit = "rad"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"axis of {self.body}"

    def value(self, kinematics: Kinematics) -> Array:
        return np.asarray(kinematics.rotation(self.body) @ _unit(self.axis))

    def jacobian(self, kinematics: Kinematics) -> Array:
        return np.asarray(-spatial.skew(self.value(kinematics)) @ kinematics.angular_jacobian(self.body))

    def drift(self, snapshot: Snapshot) -> Array:
        u, w = self.value(snapshot), snapshot.angular_velocity(self.body)
        return np.cross(snapshot.angular_drift(self.body), u) + np.cross(w, np.cross(w, u))


@dataclass(frozen=True)
class AxisComponent(BodyFeature):
    """Component u . d of a body's axis u = R a along a direction d of the world; its rate is (u x d) . w."""

    body: str
    axis: Point
    direction: Point
    unit = "rad"

    @property
    def name(self) -> str:
        return f"axis of {self.body} along a direction"

    def value(self, kinematics: Kinematics) -> Array:
        return np.asarray(self._axis.value(kinematics) @ _unit(self.direction))[..., None]

    def jacobian(self, kinematics: Kinematics) -> Array:
        return np.asarray(_unit(self.direction) @ self._axis.jacobian(kinematics))[..., None, :]

    def drift(self, snapshot: Snapshot) -> Array:
        return np.array([float(_unit(self.direction) @ self._axis.drift(snapshot))])

    @property
    def _axis(self) -> AxisDirection:
        return AxisDirection(self.body, self.axis)


@dataclass(frozen=True)
class AxisAim(BodyFeature):
    """How an axis of a body misses a place: u - d/|d| with d from a point of the body to the place; zero when it aims
    at it.
    """

    body: str
    axis: Point
    at: Point  # world [m]
    point: Point = ORIGIN  # where the line of sight begins, body frame
    unit = "rad"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"aim of {self.body}"

    def value(self, kinematics: Kinematics) -> Array:
        return self._axis.value(kinematics) - self._line(kinematics)[0]

    def jacobian(self, kinematics: Kinematics) -> Array:
        d, length = self._line(kinematics)
        across = (np.eye(3) - d[..., :, None] * d[..., None, :]) / length[..., None, None]
        return self._axis.jacobian(kinematics) + across @ kinematics.jacobian(self.body, self.point)

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

    def _line(self, kinematics: Kinematics) -> tuple[Array, Array]:
        """Unit vector to the place and its distance."""
        d = np.asarray(self.at, float) - kinematics.position(self.body, self.point)
        length = np.maximum(np.linalg.norm(d, axis=-1), 1e-9)
        return d / length[..., None], np.asarray(length)


def _unit(axis: Point) -> Array:
    a = np.asarray(axis, float)
    return a / np.linalg.norm(a)
