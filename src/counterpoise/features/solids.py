"""How high the lowest points of a body's shapes are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.shapes import Corners, body_corners
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.frame import BodyFeature


@dataclass(frozen=True)
class LowestPoints(BodyFeature):
    """Heights of the lowest points of a body's solids above z = 0, one row for every corner [m].

    About a corner c with half-axes E and radius r (world frame, z the vertical) it is

        h = z.c - |u| - r,    u = E^T z,    h' = z.p' of the body's point p = c - E u / |u|,
        h'' = z.c'' - (u.u'' + u'.u') / |u| + (u.u')^2 / |u|^3.
    """

    body: str
    unit = "m"

    @property
    def name(self) -> str:
        return f"lowest points of {self.body}"

    def value(self, kinematics: Kinematics) -> Array:
        corners = body_corners(kinematics.character, self.body)
        up = kinematics.rotation(self.body)[..., 2, :]  # the vertical, body's frame
        height = kinematics.position(self.body)[..., 2, None] + up @ corners.place.T
        return np.asarray(height - np.linalg.norm(_across(corners, up), axis=-1) - corners.radius)

    def jacobian(self, kinematics: Kinematics) -> Array:
        corners = body_corners(kinematics.character, self.body)
        R = kinematics.rotation(self.body)
        u = _across(corners, R[..., 2, :])
        away = corners.place - np.einsum("kij,...kj->...ki", corners.axes, u / _length(u)[..., None])
        arm = away @ R.swapaxes(-1, -2)  # from the body's origin, world
        turn, move = kinematics.angular_jacobian(self.body), kinematics.jacobian(self.body)
        around = arm[..., 1, None] * turn[..., None, 0, :] - arm[..., 0, None] * turn[..., None, 1, :]
        return np.asarray(move[..., None, 2, :] + around)

    def drift(self, snapshot: Snapshot) -> Array:
        """h'' (k,) when the joints do not accelerate."""
        corners = body_corners(snapshot.character, self.body)
        R, w = snapshot.rotation(self.body), snapshot.angular_velocity(self.body)
        alpha, z = snapshot.angular_drift(self.body), np.array([0.0, 0.0, 1.0])
        first = R.T @ np.cross(z, w)  # (R x)_z changes by first.x and second.x
        second = R.T @ (np.cross(np.cross(z, w), w) + np.cross(z, alpha))
        u, rate, bend = (_across(corners, way) for way in (R[2], first, second))
        size = _length(u)
        along = np.sum(u * rate, axis=-1)
        curving = (np.sum(u * bend + rate * rate, axis=-1) - (along / size) ** 2) / size
        return np.asarray(
            snapshot.drift(self.body)[2] + corners.place @ second - np.where(u.any(axis=-1), curving, 0.0)
        )


def _across(corners: Corners, way: Array) -> Array:
    """Returns E^T way (..., k, 3) of every corner; `way` (..., 3) in the body's frame."""
    return np.asarray(np.einsum("kij,...i->...kj", corners.axes, way))


def _length(u: Array) -> Array:
    """Returns lengths (..., k), with one in place of zero so that dividing by them is safe."""
    length = np.linalg.norm(u, axis=-1)
    return np.where(length > 0.0, length, 1.0)
