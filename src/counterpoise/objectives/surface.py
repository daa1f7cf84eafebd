"""Surface: the plane that a foot stands on, fixed or moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.objectives.base import numbers


@dataclass(frozen=True, eq=False)
class Surface:
    """A plane through `origin` whose third axis is its normal, with the motion of the rigid body it belongs to."""

    origin: ArrayLike = (0.0, 0.0, 0.0)  # [m], world
    rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # world from surface
    velocity: ArrayLike = (0.0, 0.0, 0.0)  # of the origin [m/s]
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)  # [rad/s]
    acceleration: ArrayLike = (0.0, 0.0, 0.0)  # of the origin [m/s^2]
    angular_acceleration: ArrayLike = (0.0, 0.0, 0.0)  # [rad/s^2]

    def __post_init__(self) -> None:
        for name in ("origin", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
            object.__setattr__(self, name, numbers(getattr(self, name), f"a surface's {name}", 3))
        R = numbers(self.rotation, "a surface's rotation")
        if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-6):
            raise BadValue(f"a surface's rotation is a rotation matrix (3, 3); got {self.rotation!r}")
        object.__setattr__(self, "rotation", R)

    @property
    def normal(self) -> Array:
        return np.asarray(self.rotation)[:, 2]

    @staticmethod
    def tilted(normal: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Surface:
        """Returns the fixed plane with this normal: the level plane, turned by the smallest angle."""
        n = numbers(normal, "a normal", 3)
        length = float(np.linalg.norm(n))
        if length < 1e-9 or n[2] / length < -1.0 + 1e-9:
            raise BadValue(f"a surface's normal is a vector that does not point straight down; got {normal!r}")
        x, y, z = n / length
        c = 1.0 / (1.0 + z)
        R = [[1.0 - x * x * c, -x * y * c, x], [-x * y * c, 1.0 - y * y * c, y], [-x, -y, z]]
        return Surface(origin=origin, rotation=R)

    def state_row(self) -> Array:
        """Returns (24,), for kernels: origin, rotation row by row, velocities, accelerations."""
        return self._state_row

    @cached_property
    def _state_row(self) -> Array:
        parts = (
            self.origin, np.ravel(self.rotation), self.velocity, self.angular_velocity, self.acceleration,
            self.angular_acceleration,
        )  # fmt: skip
        return np.concatenate([np.asarray(p, float) for p in parts])


LEVEL = Surface()


def moving_surface(pose: Callable[[float], ArrayLike], step: float = 1e-3) -> Callable[[float], Surface]:
    """Returns the function time -> Surface of a surface whose pose is (x, y, z, roll, pitch, yaw) at any time.

    `pose` is for example `platform.pose`. Velocities and accelerations are central differences over `step` [s]. The
    rotation is yaw, then pitch, then roll about the surface's own axes, in the order of the platform's hinges.
    """

    def at(time: float) -> Surface:
        before, now, after = (np.asarray(pose(time + k * step), float) for k in (-1.0, 0.0, 1.0))
        R0, R, R1 = (_rotation_matrix(p[3:]) for p in (before, now, after))
        back, ahead = _rotation_vector(R0 @ R.T), _rotation_vector(R1 @ R.T)
        return Surface(
            origin=now[:3],
            rotation=R,
            velocity=(after - before)[:3] / (2.0 * step),
            angular_velocity=(ahead - back) / (2.0 * step),
            acceleration=(after - 2.0 * now + before)[:3] / step**2,
            angular_acceleration=(ahead + back) / step**2,
        )

    return at


def _rotation_matrix(angles: Array) -> Array:
    """Returns the rotation of (roll, pitch, yaw)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _rotation_vector(R: Array) -> Array:
    """Returns the rotation vector of a small rotation."""
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = float(np.linalg.norm(sine))
    return sine * (np.arcsin(min(size, 1.0)) / size) if size > 1e-12 else sine
