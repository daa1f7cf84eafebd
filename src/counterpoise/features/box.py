"""The distance of a point of a body from a box in the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.frame import ORIGIN, BodyFeature, Point

Rotation = tuple[Point, Point, Point]


@dataclass(frozen=True)
class BoxDistance(BodyFeature):
    """Distance of a point of a body from a box [m]; inside it is minus the way to the nearest face.

    In the box's frame x and with half edges h, let o = |x| - h. Outside, with e = max(o, 0) and s the signs of x,

        d = |e|,    d' = g.x',    d'' = g.x'' + (x' P x' - (g.x')^2) / d,    g = s e / d,

    P picking the axes along which the point is outside. Inside, d = max(o), along that axis alone.
    """

    body: str
    center: Point  # [m], world
    half: Point  # half edges [m]
    rotation: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # world from box
    point: Point = ORIGIN
    unit = "m"

    @property
    def name(self) -> str:
        return f"distance of {self.body} from a box"

    def value(self, kinematics: Kinematics) -> Array:
        return self._distance(kinematics.position(self.body, self.point))[0][..., None]

    def jacobian(self, kinematics: Kinematics) -> Array:
        gradient = self._distance(kinematics.position(self.body, self.point))[1]
        return np.einsum("...i,...ij->...j", gradient, kinematics.jacobian(self.body, self.point))[..., None, :]

    def drift(self, snapshot: Snapshot) -> Array:
        distance, gradient, outside = self._distance(snapshot.position(self.body, self.point))
        velocity = snapshot.jacobian(self.body, self.point) @ snapshot.v
        bend = 0.0
        if outside.any() and distance > 0.0:
            along = (np.asarray(self.rotation, float).T @ velocity)[outside]
            bend = (float(along @ along) - float(gradient @ velocity) ** 2) / float(distance)
        return np.array([float(gradient @ snapshot.drift(self.body, self.point)) + bend])

    def _distance(self, places: Array) -> tuple[Array, Array, Array]:
        """Returns distance (...), its gradient in the world (..., 3), and the axes outside, (..., 3), of places."""
        R = np.asarray(self.rotation, float)
        x = (places - np.asarray(self.center, float)) @ R
        over = np.abs(x) - np.asarray(self.half, float)
        outside = over > 0.0
        beyond = np.maximum(over, 0.0)
        distance = np.linalg.norm(beyond, axis=-1)
        nearest = over == over.max(axis=-1, keepdims=True)
        nearest &= np.cumsum(nearest, axis=-1) == 1  # one face only
        out = outside.any(axis=-1)
        way = np.where(out[..., None], beyond / np.where(out, distance, 1.0)[..., None], nearest.astype(float))
        gradient = (way * np.where(x < 0.0, -1.0, 1.0)) @ R.T
        return np.where(out, distance, over.max(axis=-1)), gradient, outside
