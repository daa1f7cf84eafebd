"""Features that compiled rows can follow: which of three numbers of the body a feature is, and its record.

A Setpoint or Target on one of these is written by the kernels of `writing`; on other features by its `rows`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.features.base import Feature
from counterpoise.features.com import ComPosition, PositionFromCom
from counterpoise.features.components import Components
from counterpoise.features.frame import ORIGIN, BodyOrientation, Point, PointPosition
from counterpoise.features.surface import Height
from counterpoise.objectives.writing import BODY_POINT, BODY_TURN, THREE_AXES, Record

UPWARD: Point = (0.0, 0.0, 1.0)
NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Followed:
    """A feature as components of the CoM, of a point of a body, or of a body's orientation."""

    kind: float  # THREE_AXES: the CoM; BODY_POINT; BODY_TURN
    size: int  # of the feature's tangent space
    components: tuple[int, ...]  # of three, that the feature has
    axes: tuple[int, ...]  # of three, that count
    counted: tuple[float, float, float]  # 1 for an axis that counts, 0 for the others
    body: str = ""
    point: Point = ORIGIN  # body frame [m]
    from_com: bool = False  # the point is seen from the CoM

    def record(
        self, character: Character, beta: float, name: str, reference: tuple[Any, Any, Any], k_p: float, k_v: float,
        limit: float | None,
    ) -> Record | None:  # fmt: skip
        """Returns the rows y'' = k_p (y_r - y) + k_v (y_r' - y') + y_r'', times `beta`, as a record."""
        value, velocity, acceleration = reference
        most = math.inf if limit is None else limit
        kind, whole = self.kind, self.size == 3
        if kind == THREE_AXES and whole and _are_threes(value, velocity, acceleration):
            return (
                THREE_AXES, beta, 3.0, 1.0, character.mass, *value.tolist(), *velocity.tolist(),
                *acceleration.tolist(), *self.counted, k_p, k_v, most,
            )  # fmt: skip
        v = velocity if whole and type(velocity) is tuple and len(velocity) == 3 else self.three(velocity, name)
        a = NOTHING if type(acceleration) is float and acceleration == 0.0 else self.three(acceleration, name)
        if kind == BODY_TURN:
            q, body = quaternion(value, name), float(character.body_id(self.body))
            return (BODY_TURN, beta, body, *q, *v, *a, *self.counted, k_p, k_v, most)
        y = self.three(value, name)
        if kind == BODY_POINT:
            mass, body = character.mass if self.from_com else 0.0, float(character.body_id(self.body))
            return (BODY_POINT, beta, body, mass, *self.point, *y, *v, *a, *self.counted, k_p, k_v, most)
        return (THREE_AXES, beta, 3.0, 1.0, character.mass, *y, *v, *a, *self.counted, k_p, k_v, most)

    def three(self, given: Any, name: str) -> Sequence[float]:
        """Returns numbers given for the whole feature, or for the picked axes, as three; zero on the others."""
        kind = type(given)
        if kind is tuple and len(given) == 3 and self.size == 3:
            return given
        if kind is float and given == 0.0:
            return NOTHING
        array: Array = given if kind is np.ndarray else np.asarray(given, float)
        if array.shape == (3,) and self.size == 3:
            return array.tolist()
        if array.size == self.size and self.size > 1:
            array, axes = array.reshape(-1), self.components
        elif array.size in (1, len(self.axes)):
            axes = self.axes
        else:
            raise BadValue(f"the reference of {name!r} has {array.size} numbers for {len(self.axes)} axes")
        full = [0.0, 0.0, 0.0]
        for axis, number in zip(axes, array.tolist() if array.size > 1 else [array.item()] * len(axes), strict=True):
            full[axis] = number
        return full


def _are_threes(*given: Any) -> bool:
    """Returns whether all are arrays of three numbers."""
    return all([type(one) is np.ndarray and one.shape == (3,) for one in given])


def followed(feature: Feature, axes: list[int] | None) -> Followed | None:
    """Returns what a feature is for compiled rows, with the axes that count; None where they do not know it."""
    components: tuple[int, ...] = (0, 1, 2)
    whole = feature
    if type(feature) is Components:
        components, whole = feature.rows, feature.whole
        if isinstance(whole, BodyOrientation) or list(components) != sorted(set(components)) or components[-1] > 2:
            return None
    if type(feature) is Height and feature.origin == ORIGIN and feature.normal == UPWARD:
        components = (2,)
    size = len(components)
    picked = range(size) if axes is None else axes
    if any(not 0 <= k < size for k in picked):
        return None
    on = tuple(components[k] for k in picked)
    counted = (float(0 in on), float(1 in on), float(2 in on))
    if type(whole) is ComPosition:
        return Followed(THREE_AXES, size, components, on, counted)
    if type(whole) is PointPosition or type(whole) is PositionFromCom or (type(whole) is Height and size == 1):
        from_com = type(whole) is PositionFromCom
        return Followed(BODY_POINT, size, components, on, counted, whole.body, point_of(whole.point), from_com)
    if type(whole) is BodyOrientation:
        return Followed(BODY_TURN, size, components, on, counted, whole.body)
    return None


def point_of(point: Point) -> Point:
    """Returns a point of a body as three plain numbers."""
    x, y, z = np.asarray(point, float).tolist()
    return x, y, z


def quaternion(given: Any, name: str) -> Sequence[float]:
    """Returns an orientation as four numbers; raises BadValue where it is none."""
    if type(given) is tuple and len(given) == 4:
        return given
    array: Array = given if type(given) is np.ndarray else np.asarray(given, float)
    if array.shape != (4,):
        raise BadValue(f"the reference of {name!r} is a quaternion (w, x, y, z); got shape {array.shape}")
    return array.tolist()
