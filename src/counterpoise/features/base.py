"""A feature: a quantity of the body that is measured at a snapshot, with its Jacobian and its drift.

    d(value)/dt = J v,      d^2(value)/dt^2 = J a + drift,

where the derivative of a value on a manifold (an orientation, a posture) is taken in its tangent space by `difference`.
Posing reads value and Jacobian, control adds the drift, spacetime stacks features over time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot


class Feature(ABC):
    """One quantity. Asking touches nothing: the same snapshot gives the same answer every time."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in results: `position of hand_left`."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of its tangent space: m, rad."""

    @abstractmethod
    def value(self, snapshot: Snapshot) -> Array:
        """The value; for rotations a quaternion (w, x, y, z)."""

    @abstractmethod
    def jacobian(self, snapshot: Snapshot) -> Array:
        """(size, nv)"""

    @abstractmethod
    def drift(self, snapshot: Snapshot) -> Array:
        """(size,): the second derivative of the value when the joints do not accelerate."""

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """The tangent vector (size,) from one value to another."""
        return np.asarray(end, float) - np.asarray(start, float)
