"""Goals of a pose: what is wanted, with weights. Each is a small frozen constructor of a `features.Goal`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.features import (
    AxisAim,
    AxisDirection,
    BodyOrientation,
    Components,
    ComPosition,
    Feature,
    PointPosition,
    RelativeOrientation,
    RelativePosition,
)
from counterpoise.features.frame import ORIGIN
from counterpoise.features.goal import Goal, Start
from counterpoise.pose.checks import (
    as_point,
    body_point,
    finite_numbers,
    three_numbers,
    unit_direction,
    unit_quaternion,
)

METRES_PER_RADIAN = 0.3  # [m/rad]: how much a radian of error counts beside a metre


@dataclass(frozen=True)
class Reach:
    """A point of a body comes to a place [m]; with `relative_to` the place is in another body's frame."""

    body: str
    target: ArrayLike
    point: ArrayLike = ORIGIN
    weight: float = 1.0
    relative_to: str | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        place = three_numbers(self.target, f"the target of Reach({self.body!r})")
        at = body_point(self.point)
        character.body_id(self.body)
        if self.relative_to is not None:
            character.body_id(self.relative_to)
            feature: Feature = RelativePosition(self.body, self.relative_to, at)
            return [Goal(feature, place, self.weight, name=f"reach {self.body} from {self.relative_to}")]
        return [Goal(PointPosition(self.body, at), place, self.weight, name=f"reach {self.body}")]


@dataclass(frozen=True)
class Orient:
    """A body turns to an orientation: a quaternion (w, x, y, z) or a rotation matrix, world frame or another body's."""

    body: str
    target: ArrayLike
    weight: float = 1.0
    relative_to: str | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        goal = unit_quaternion(self.target, f"the target of Orient({self.body!r})")
        character.body_id(self.body)
        if self.relative_to is not None:
            character.body_id(self.relative_to)
            feature: Feature = RelativeOrientation(self.body, self.relative_to)
            return [
                Goal(feature, goal, METRES_PER_RADIAN * self.weight, name=f"orient {self.body} in {self.relative_to}")
            ]
        return [Goal(BodyOrientation(self.body), goal, METRES_PER_RADIAN * self.weight, name=f"orient {self.body}")]


@dataclass(frozen=True)
class Aim:
    """An axis of a body points at a place (`at`) or along a direction (`along`); exactly one of the two."""

    body: str
    axis: ArrayLike
    at: ArrayLike | None = None
    along: ArrayLike | None = None
    point: ArrayLike = ORIGIN
    weight: float = 1.0

    def goals(self, character: Character, start: Start) -> list[Goal]:
        character.body_id(self.body)
        axis = unit_direction(self.axis, f"the axis of Aim({self.body!r})")
        if (self.at is None) == (self.along is None):
            raise BadValue(f"Aim({self.body!r}) takes a place `at` or a direction `along`, one of the two")
        weight = METRES_PER_RADIAN * self.weight
        if self.at is not None:
            place = three_numbers(self.at, f"the place of Aim({self.body!r})")
            aim = AxisAim(self.body, axis, as_point(place), body_point(self.point))
            return [Goal(aim, np.zeros(3), weight, name=f"aim {self.body}")]
        assert self.along is not None
        way: Array = np.asarray(unit_direction(self.along, f"the direction of Aim({self.body!r})"), float)
        return [Goal(AxisDirection(self.body, axis), way, weight, name=f"aim {self.body}")]


@dataclass(frozen=True)
class CenterOfMass:
    """The centre of mass comes to a place [m]; `None` for a coordinate leaves it free: (0.0, 0.0, None)."""

    target: Sequence[float | None]
    weight: float = 1.0

    def goals(self, character: Character, start: Start) -> list[Goal]:
        if len(self.target) != 3:
            raise BadValue(f"the target of CenterOfMass has three coordinates (or None); got {self.target!r}")
        rows = [i for i, x in enumerate(self.target) if x is not None]
        if not rows:
            raise BadValue("CenterOfMass leaves every coordinate free; give at least one of them")
        goal = finite_numbers([float(x) for x in self.target if x is not None], "the target of CenterOfMass")
        feature: Feature = ComPosition() if len(rows) == 3 else Components(ComPosition(), tuple(rows))
        return [Goal(feature, goal, self.weight, name="centre of mass")]


@dataclass(frozen=True, eq=False)
class Posture:
    """Of many solutions the one nearest to `pose` (the start when None)."""

    pose: ArrayLike | None = None
    weight: float = 1e-4


PoseGoal: TypeAlias = Reach | Orient | Aim | CenterOfMass | Posture | Goal
