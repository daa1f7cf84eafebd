"""Places and orientations of a body as seen from another body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics, dofs_moving
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import XYZ, Feature
from counterpoise.features.frame import ORIGIN, Point, RotationFeature


class RelativeFeature(Feature):
    """Features of a body in another body's frame: dofs that move both bodies together do not change them."""

    body: str
    frame: str

    def moved_by(self, character: Character) -> Flags:
        moves = dofs_moving(character)
        relative: Flags = moves[character.body_id(self.body)] ^ moves[character.body_id(self.frame)]
        return relative


@dataclass(frozen=True)
class RelativePosition(RelativeFeature):
    """Position of a point of a body as seen from another body's frame [m]."""

    body: str
    frame: str
    point: Point = ORIGIN
    unit = "m"
    labels = XYZ

    @property
    def name(self) -> str:
        return f"position of {self.body} in {self.frame}"

    def value(self, kinematics: Kinematics) -> Array:
        away = kinematics.position(self.body, self.point) - kinematics.position(self.frame)
        return np.asarray(np.einsum("...ij,...i->...j", kinematics.rotation(self.frame), away))

    def jacobian(self, kinematics: Kinematics) -> Array:
        """R^T (J_point - J_frame), with the frame's own point now at the same place."""
        R, here = kinematics.rotation(self.frame), kinematics.position(self.body, self.point)
        arm = here - kinematics.position(self.frame)
        carried = kinematics.jacobian(self.frame) - spatial.skew(arm) @ kinematics.angular_jacobian(self.frame)
        return np.asarray(R.swapaxes(-1, -2) @ (kinematics.jacobian(self.body, self.point) - carried))

    def drift(self, snapshot: Snapshot) -> Array:
        R, here = snapshot.rotation(self.frame), self.value(snapshot)
        w = snapshot.angular_velocity(self.frame)
        v = snapshot.velocity(self.body, self.point) - snapshot.velocity(self.frame, here)
        a = snapshot.drift(self.body, self.point) - snapshot.drift(self.frame, here)
        return R.T @ (a - 2.0 * np.cross(w, v))


@dataclass(frozen=True)
class RelativeOrientation(RotationFeature, RelativeFeature):
    """Orientation of a body as seen from another body's frame."""

    body: str
    frame: str

    @property
    def name(self) -> str:
        return f"orientation of {self.body} in {self.frame}"

    def value(self, kinematics: Kinematics) -> Array:
        back = kinematics.rotation(self.frame).swapaxes(-1, -2)
        return spatial.from_matrix(back @ kinematics.rotation(self.body))

    def jacobian(self, kinematics: Kinematics) -> Array:
        back = kinematics.rotation(self.frame).swapaxes(-1, -2)
        turn = kinematics.angular_jacobian(self.body) - kinematics.angular_jacobian(self.frame)
        return np.asarray(back @ turn)

    def drift(self, snapshot: Snapshot) -> Array:
        R, w = snapshot.rotation(self.frame), snapshot.angular_velocity(self.frame)
        bias = snapshot.angular_drift(self.body) - snapshot.angular_drift(self.frame)
        return R.T @ (bias - np.cross(w, snapshot.angular_velocity(self.body)))
