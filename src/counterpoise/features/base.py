"""A feature: a quantity of the body, read from its kinematics, with its Jacobian and its drift.

    d(value)/dt = J v,      d^2(value)/dt^2 = J a + drift,

where the derivative of a value on a manifold (an orientation, a posture) is taken in its tangent space by `difference`.
Posing reads value and Jacobian of one pose, spacetime of many poses at once, control adds the drift of a snapshot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot

XYZ: tuple[str, ...] = ("x", "y", "z")


class Feature(ABC):
    """One quantity. Asking changes nothing: the same kinematics gives the same answer every time.

    Kinematics of many poses have leading axes (...); values and Jacobians then have the same.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name used in results: `position of hand_left`."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of its tangent space: m, rad. A feature that has always the same says `unit = "m"`."""

    @abstractmethod
    def value(self, kinematics: Kinematics) -> Array:
        """Returns the value (..., size); for rotations a quaternion (..., 4) in the order w, x, y, z."""

    @abstractmethod
    def jacobian(self, kinematics: Kinematics) -> Array:
        """Returns J (..., size, nv)."""

    @abstractmethod
    def drift(self, snapshot: Snapshot) -> Array:
        """Returns the second derivative of the value (size,) when the joints do not accelerate."""

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """Returns the tangent vector (..., size) from one value to another."""
        return np.asarray(end, float) - np.asarray(start, float)

    def difference_rate(self, difference: Array) -> Array | None:
        """Returns the matrix (..., size, size) by which `difference` changes when its end moves in the tangent space.

        None stands for the identity: the values are plain vectors.
        """
        return None

    def error(self, kinematics: Kinematics, target: ArrayLike) -> tuple[Array, Array]:
        """Returns the error from `target` (..., size) and the Jacobian of that error (..., size, nv)."""
        error = self.difference(target, self.value(kinematics))
        rate, J = self.difference_rate(error), self.jacobian(kinematics)
        return error, J if rate is None else rate @ J

    def moved_by(self, character: Character) -> Flags:
        """Returns which dofs (nv,) can change the value; all of them where a feature does not say."""
        return np.ones(character.nv, bool)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its components where they have any: x, y, z."""
        return ()
