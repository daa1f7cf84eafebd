"""Target: a feature reaches a value at a given time (de Lasa 2011, section 3.2.2 and appendix A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.features.base import Feature
from counterpoise.objectives.base import Objective, Rows, capped, check_weight
from counterpoise.objectives.setpoint import Axes, error_to, indices, picked

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance


@dataclass(frozen=True, eq=False)
class Target(Objective):
    """y(T) = y_T and y'(T) = y_T', by an acceleration that is linear in time, (1 - t/T) a + (t/T) b.

    T is the time left; a and b are found at every tick. They follow from eq. 3.22, in the least-squares sense of A.20,

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
        if not np.isfinite(np.asarray(self.value, float)).all():
            raise BadValue(f"the target of {self.name!r} holds NaN or infinity: {self.value!r}")

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        J, drift = self.feature.jacobian(snapshot), self.feature.drift(snapshot)
        axes = indices(self.axes)
        error = error_to(self.feature, snapshot, self.value, axes, self.name)
        if axes is not None:
            J, drift = J[axes], drift[axes]
        T = max(self.time - snapshot.time, 0.0)
        a, _ = arrival(error, J @ snapshot.v, np.asarray(self.velocity, float), T, self.softness)
        return Rows(J, capped(a, self.limit) - drift)


def arrival(error: Array, speed: Array, end_speed: Array, T: float, softness: float) -> tuple[Array, Array]:
    """Returns the accelerations (a, b) now and on arrival that cover `error` in time T and end at `end_speed`.

    Eq. A.20 and A.21.
    """
    A = np.array([[T * T / 3.0, T * T / 6.0], [T / 2.0, T / 2.0]])
    wanted = np.stack([error - speed * T, end_speed - speed + 0.0 * error])
    a, b = np.linalg.solve(A.T @ A + softness**2 * np.eye(2), A.T @ wanted)
    return a, b
