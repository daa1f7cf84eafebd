"""Setpoint: a spring and a damper draw a feature to a reference (de Lasa 2011, section 3.2.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.features.base import Feature
from counterpoise.features.frame import RotationFeature
from counterpoise.motion.motion import Motion
from counterpoise.objectives.base import Objective, Rows, capped, check_weight
from counterpoise.objectives.followed import Followed, followed, quaternion
from counterpoise.objectives.writing import Record

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

AXES = {"x": 0, "y": 1, "z": 2}
Axes = str | Sequence[int] | None


@dataclass(frozen=True, eq=False)
class Setpoint(Objective):
    """y'' = k_p (y_r - y) + k_v (y_r' - y') + y_r'' (eq. 3.16), differences taken on the feature's manifold.

    `value` is the reference, or a function of time that returns it, alone or as (value, velocity, acceleration).
    `axes` picks components of the feature: "xy", "z" or indices; the reference may then be given for these alone.
    """

    feature: Feature
    value: Any  # array-like, or time [s] -> array-like or (value, velocity, acceleration)
    velocity: ArrayLike = 0.0  # of the reference, per s
    acceleration: ArrayLike = 0.0  # of the reference, per s^2
    stiffness: float = 100.0  # k_p [1/s^2]
    damping: float | None = None  # k_v [1/s]; None: critical, 2 sqrt(k_p)
    limit: float | None = None  # largest acceleration that is asked for, per s^2; None: no limit
    axes: Axes = None  # components that count; None: all
    weight: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.feature.name)
        check_weight(self)
        check_gains(self.name, self.stiffness, self.damping, self.limit)
        object.__setattr__(self, "axes", picked(self.axes))
        _ = self._followed  # found now, so that `aimed` copies it
        if not callable(self.value):
            if not np.isfinite(np.asarray(self.value, float)).all():
                raise BadValue(f"the reference of {self.name!r} holds NaN or infinity: {self.value!r}")
            if isinstance(self.feature, RotationFeature) and not any(quaternion(self.value, self.name)):
                raise BadValue(f"the reference of {self.name!r} is no orientation: all four numbers are zero")

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        feature, axes = self.feature, indices(self.axes)
        J, drift = feature.jacobian(snapshot), feature.drift(snapshot)
        value, velocity, acceleration = reference(self, snapshot.time)
        error = error_to(feature, snapshot, value, axes, self.name)
        if axes is not None:
            whole = len(drift)
            J, drift = J[axes], drift[axes]
            velocity, acceleration = (r[axes] if r.shape == (whole,) else r for r in (velocity, acceleration))
        k_v = 2.0 * np.sqrt(self.stiffness) if self.damping is None else self.damping
        wanted = self.stiffness * error + k_v * (velocity - J @ snapshot.v) + acceleration
        return Rows(J, capped(wanted, self.limit) - drift)

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        known = self._followed
        if known is None:
            return None
        k_v = 2.0 * math.sqrt(self.stiffness) if self.damping is None else self.damping
        value = self.value
        wanted = (value, self.velocity, self.acceleration) if not callable(value) else reference(self, snapshot.time)
        return known.record(snapshot.character, beta, self.name, wanted, self.stiffness, k_v, self.limit)

    @cached_property
    def _followed(self) -> Followed | None:
        return followed(self.feature, indices(self.axes))


def along(feature: Feature, motion: Motion, speed: float = 1.0) -> Callable[[float], tuple[Array, Array, Array]]:
    """Returns a function of time: a feature's value, velocity and acceleration along a motion, for `Setpoint.value`."""
    character = motion.character

    def at(time: float) -> tuple[Array, Array, Array]:
        s = motion.sample(speed * time)
        snapshot = character.snapshot(character.state(s.q, s.v * speed))
        J = feature.jacobian(snapshot)
        return (
            feature.value(snapshot),
            J @ snapshot.v,
            J @ (s.a * speed**2) + feature.drift(snapshot),
        )

    return at


def reference(objective: Any, time: float) -> tuple[Any, Array, Array]:
    """Returns value, velocity and acceleration of an objective's reference at a time."""
    if not callable(objective.value):
        return objective.value, np.asarray(objective.velocity), np.asarray(objective.acceleration)
    given = objective.value(time)
    if isinstance(given, tuple) and len(given) == 3 and np.ndim(given[0]) > 0:
        return given[0], np.asarray(given[1], float), np.asarray(given[2], float)
    return given, np.asarray(objective.velocity), np.asarray(objective.acceleration)


def error_to(feature: Feature, snapshot: Snapshot, wanted: ArrayLike, axes: list[int] | None, name: str) -> Array:
    """Returns the difference from the feature's value to the wanted one, in its tangent space, for the picked axes."""
    here, there = feature.value(snapshot), np.asarray(wanted, float)
    if axes is None:
        if there.shape != here.shape:
            there = _spread(there, here, name)
        return feature.difference(here, there)
    if there.shape == here.shape:
        return feature.difference(here, there)[axes]
    full = here.copy()
    if there.size not in (1, len(axes)):
        raise BadValue(f"the reference of {name!r} has {there.size} numbers for {len(axes)} axes")
    full[axes] = there
    return feature.difference(here, full)[axes]


def _spread(there: Array, here: Array, name: str) -> Array:
    if there.size != 1:
        raise BadValue(f"the reference of {name!r} has shape {here.shape}; got {there.shape}")
    return np.full(here.shape, float(there.reshape(-1)[0]))


def picked(axes: Axes) -> list[int] | None:
    """Returns axes as indices: "xz" gives [0, 2]; indices stay as they are."""
    if axes is None:
        return None
    try:
        chosen = [AXES[a] for a in axes] if isinstance(axes, str) else [int(a) for a in axes]
    except (KeyError, TypeError, ValueError):
        raise BadValue(f"axes are letters of 'xyz' or indices such as (0, 2); got {axes!r}") from None
    if not chosen or len(set(chosen)) != len(chosen):
        raise BadValue(f"axes name at least one component, each once; got {axes!r}")
    return chosen


def indices(axes: Axes) -> list[int] | None:
    """Returns axes that `picked` has already made into indices."""
    return None if axes is None else [int(a) for a in axes] if not isinstance(axes, list) else axes


def counted(axes: Axes) -> list[float]:
    """Returns three numbers: 1 for an axis that counts, 0 for the others."""
    chosen = indices(axes)
    return [float(chosen is None or k in chosen) for k in range(3)]


def on_axes(given: Array, axes: list[int]) -> list[float]:
    """Returns numbers given for some of three axes, or one for all of them, as three; zero on the others."""
    full = [0.0, 0.0, 0.0]
    for axis, number in zip(axes, given.tolist() if given.ndim else [float(given)] * len(axes), strict=True):
        full[axis] = number
    return full


def check_gains(name: str, stiffness: float, damping: float | None, limit: float | None) -> None:
    """Raises BadValue unless gains are finite and not negative and a limit is positive."""
    if not 0.0 <= stiffness < np.inf or (damping is not None and not 0.0 <= damping < np.inf):
        raise BadValue(f"{name!r}: stiffness and damping are numbers >= 0; got {stiffness!r}, {damping!r}")
    if limit is not None and not limit > 0.0:
        raise BadValue(f"{name!r}: a limit is positive, or None; got {limit!r}")
