"""Target: a feature reaches a value at a given time (de Lasa 2011, section 3.2.2 and appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.features.base import Feature
from counterpoise.features.frame import RotationFeature
from counterpoise.objectives.base import Objective, Rows, capped, check_weight
from counterpoise.objectives.followed import Followed, followed, quaternion
from counterpoise.objectives.setpoint import Axes, error_to, indices, picked
from counterpoise.objectives.writing import Record

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance


@dataclass(frozen=True, eq=False)
class Target(Objective):
    """y(T) = y_T and y'(T) = y_T', by an acceleration that is linear in time, (1 - t/T) a + (t/T) b.

    T is the time left; a and b are found at every tick, in closed form. They follow from eq. 3.22, in the least-squares
    sense of A.20,

        [T^2/3  T^2/6; T/2  T/2; eps 0; 0 eps] [a; b] = [y_T - y - y' T; y_T' - y'; 0; 0],

    For T well above sqrt(10 eps) this is cubic Hermite interpolation. As T -> 0 the acceleration goes to zero instead
    of infinity.
    """

    feature: Feature
    value: ArrayLike  # y_T
    time: float  # [s] of arrival, on the clock of the simulation
    velocity: ArrayLike = 0.0  # y_T' on arrival, per s
    softness: float = 1e-4  # eps of eq. A.20: it has an effect in the last few hundredths of a second only
    limit: float | None = None  # largest acceleration that is asked for, per s^2; None: no limit
    axes: Axes = None  # components that count; None: all
    weight: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.feature.name)
        check_weight(self)
        if not (np.isfinite(self.time) and self.softness > 0.0):
            raise BadValue(f"{self.name!r}: a target needs a finite time and a softness > 0; got {self.time!r}")
        object.__setattr__(self, "axes", picked(self.axes))
        _ = self._followed  # found now, so that `aimed` copies it
        if not np.isfinite(np.asarray(self.value, float)).all():
            raise BadValue(f"the target of {self.name!r} holds NaN or infinity: {self.value!r}")
        if isinstance(self.feature, RotationFeature) and not any(quaternion(self.value, self.name)):
            raise BadValue(f"the target of {self.name!r} is no orientation: all four numbers are zero")

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        """Returns the rows of the acceleration that leads to the target in the time left."""
        J, drift = self.feature.jacobian(snapshot), self.feature.drift(snapshot)
        axes = indices(self.axes)
        error = error_to(self.feature, snapshot, self.value, axes, self.name)
        whole = len(drift)
        if axes is not None:
            J, drift = J[axes], drift[axes]
        T = max(self.time - snapshot.time, 0.0)
        velocity = np.asarray(self.velocity, float)
        if axes is not None and velocity.shape == (whole,):
            velocity = velocity[axes]
        a, _ = arrival(error, J @ snapshot.v, velocity, T, self.softness)
        return Rows(J, capped(a, self.limit) - drift)

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        """a = A (y_T - y - y' T) + B (y_T' - y') is the law of a Setpoint with gains A and A T + B."""
        known = self._followed
        if known is None:
            return None
        T = max(self.time - snapshot.time, 0.0)
        (A, B), _ = arrival_gains(T, self.softness)
        velocity = np.asarray(self.velocity, float)
        reference = self.value, velocity, (-A * T) * velocity
        return known.record(snapshot.character, beta, self.name, reference, A, A * T + B, self.limit)

    @cached_property
    def _followed(self) -> Followed | None:
        return followed(self.feature, indices(self.axes))


def arrival(error: Array, speed: Array, end_speed: Array, T: float, softness: float) -> tuple[Array, Array]:
    """Returns the accelerations (a, b) now and on arrival that cover `error` in time T and end at `end_speed`.

    Eq. A.20 and A.21.
    """
    (a_place, a_speed), (b_place, b_speed) = arrival_gains(T, softness)
    place, change = error - speed * T, end_speed - speed
    return a_place * place + a_speed * change, b_place * place + b_speed * change


def arrival_gains(T: float, softness: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Returns the factors of (y_T - y - y' T) and (y_T' - y') in the accelerations a, now, and b, on arrival.

    They are (A^T A + e^2 I)^-1 A^T for A = [T^2/3 T^2/6; T/2 T/2] and e the softness, in closed form: for a 2x2 matrix
    this is (det A adj A + e^2 A^T) / (det A^2 + e^2 |A|^2 + e^4), with det A = T^3/12.
    """
    e, det = softness * softness, T**3 / 12.0
    scale = 1.0 / (det * det + e * (T**4 * (5.0 / 36.0) + T * T / 2.0) + e * e)
    a_place, a_speed = det * T / 2.0 + e * T * T / 3.0, e * T / 2.0 - det * T * T / 6.0
    b_place, b_speed = e * T * T / 6.0 - det * T / 2.0, det * T * T / 3.0 + e * T / 2.0
    return (scale * a_place, scale * a_speed), (scale * b_place, scale * b_speed)
