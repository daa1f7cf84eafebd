"""The centre of mass, and where it lies over a support polygon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import XYZ, Feature
from counterpoise.features.frame import ORIGIN, Point


@dataclass(frozen=True)
class ComPosition(Feature):
    """Centre of mass, world frame [m]."""

    unit = "m"
    labels = XYZ

    @property
    def name(self) -> str:
        return "centre of mass"

    def value(self, kinematics: Kinematics) -> Array:
        return kinematics.com.copy()

    def jacobian(self, kinematics: Kinematics) -> Array:
        return kinematics.com_jacobian.copy()

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.com_drift.copy()


@dataclass(frozen=True)
class PositionFromCom(Feature):
    """Position of a point of a body as seen from the centre of mass, world axes [m]: p - c."""

    body: str
    point: Point = ORIGIN  # in the body's frame
    unit = "m"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"position of {self.body} from the centre of mass"

    def value(self, kinematics: Kinematics) -> Array:
        return kinematics.position(self.body, self.point) - kinematics.com

    def jacobian(self, kinematics: Kinematics) -> Array:
        return kinematics.jacobian(self.body, self.point) - kinematics.com_jacobian

    def drift(self, snapshot: Snapshot) -> Array:
        return snapshot.drift(self.body, self.point) - snapshot.com_drift


@dataclass(frozen=True)
class ComSupport(Feature):
    """Distance of the CoM's projection beyond each edge of a support polygon [m]; negative inside.

    The polygon's corners (k, 2) are given counter-clockwise, world frame.
    """

    corners: tuple[tuple[float, float], ...]
    unit = "m"

    @property
    def name(self) -> str:
        return "centre of mass over the support"

    def value(self, kinematics: Kinematics) -> Array:
        normals, offsets = self._edges
        return np.asarray(kinematics.com[..., :2] @ normals.T - offsets)

    def jacobian(self, kinematics: Kinematics) -> Array:
        return np.asarray(self._edges[0] @ kinematics.com_jacobian[..., :2, :])

    def drift(self, snapshot: Snapshot) -> Array:
        return self._edges[0] @ snapshot.com_drift[:2]

    @cached_property
    def _edges(self) -> tuple[Array, Array]:
        """Outward normals (k, 2) of the edges, and their offsets (k,) [m]."""
        corners = np.asarray(self.corners, float)
        along = np.roll(corners, -1, axis=0) - corners
        outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        return outward, np.einsum("ki,ki->k", outward, corners)
