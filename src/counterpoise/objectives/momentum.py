"""Momentum: the linear or angular momentum about the CoM follows a reference (de Lasa 2011, section 3.2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.objectives.base import Objective, Rows, capped, check_weight
from counterpoise.objectives.setpoint import Axes, counted, indices, on_axes, picked
from counterpoise.objectives.writing import THREE_AXES, Record

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

GYRATION_RADIUS = 0.25  # [body heights] about that of a standing body


@dataclass(frozen=True, eq=False)
class Momentum(Objective):
    """dL/dt = gain (L_r - L) + dL_r/dt (eq. 3.25), with dL/dt = A_G a + dA_G/dt v; a zero reference damps rotation.

    Rows are divided by the body's mass (linear) or by m (h/4)^2 (angular), so that they are accelerations
    [m/s^2, rad/s^2] and one weight suits bodies of every size.
    """

    kind: Literal["angular", "linear"] = "angular"
    value: ArrayLike = 0.0  # L_r [kg m^2/s or kg m/s], world axes
    rate: ArrayLike = 0.0  # dL_r/dt [N m or N]
    gain: float = 10.0  # [1/s]
    limit: float | None = None  # largest dL/dt that is asked for [N m or N]; None: no limit
    axes: Axes = None  # components that count; None: all
    weight: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("angular", "linear"):
            raise BadValue(f"momentum is 'angular' or 'linear'; got {self.kind!r}")
        if not self.name:
            object.__setattr__(self, "name", f"{self.kind} momentum")
        check_weight(self)
        if not 0.0 <= self.gain < np.inf:
            raise BadValue(f"{self.name!r}: a gain is a number >= 0 [1/s]; got {self.gain!r}")
        for given in (self.value, self.rate):
            if not np.isfinite(np.asarray(given, float)).all():
                raise BadValue(f"the reference of {self.name!r} holds NaN or infinity: {given!r}")
        object.__setattr__(self, "axes", picked(self.axes))
        _ = self._counted  # found now, so that `aimed` copies it

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        part = slice(0, 3) if self.kind == "angular" else slice(3, 6)
        A, drift, now = snapshot.momentum_matrix[part], snapshot.momentum_drift[part], snapshot.momentum[part]
        axes = indices(self.axes)
        if axes is not None:
            A, drift, now = A[axes], drift[axes], now[axes]
        wanted = capped(self.gain * (np.asarray(self.value) - now) + np.asarray(self.rate), self.limit)
        scale = 1.0 / momentum_scale(snapshot.character, self.kind)
        return Rows(A * scale, (wanted - drift) * scale)

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        unit = momentum_scale(snapshot.character, self.kind)
        x, y, z = self._three(self.rate)
        return (
            THREE_AXES, beta, 0.0 if self.kind == "angular" else 3.0, 0.0, unit, *self._three(self.value),
            0.0, 0.0, 0.0, x / unit, y / unit, z / unit, *self._counted, self.gain / unit, 0.0,
            math.inf if self.limit is None else self.limit / unit,
        )  # fmt: skip

    @cached_property
    def _counted(self) -> list[float]:
        return counted(self.axes)

    def _three(self, given: ArrayLike) -> list[float]:
        """Returns numbers given for the axes that count as three; zero on the others."""
        if type(given) is float and given == 0.0:
            return [0.0, 0.0, 0.0]
        array: Array = given if type(given) is np.ndarray else np.asarray(given, float)
        if self.axes is None and array.shape == (3,):
            return array.tolist()
        return on_axes(array, indices(self.axes) or [0, 1, 2])


def momentum_scale(character: Character, kind: str) -> float:
    """Returns the divisor that turns a rate of momentum into an acceleration of the whole body: m, or m (h/4)^2."""
    return character.mass if kind == "linear" else character.mass * (GYRATION_RADIUS * max(character.height, 1e-3)) ** 2
