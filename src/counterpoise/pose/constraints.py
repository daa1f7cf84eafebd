"""Constraints of a pose: what is held exactly. Each is a small frozen constructor of a `features.Goal`, or a relation
among joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.character.character import Character
from counterpoise.character.shapes import body_corners
from counterpoise.errors import BadValue, MissingRole, unknown_name
from counterpoise.features import (
    BodyOrientation,
    ComSupport,
    Curve,
    CurveOffset,
    JointValue,
    LowestPoints,
    PlaneDistance,
    PointPosition,
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
from counterpoise.pose.relation import Relation
from counterpoise.solve.geometry import convex_hull

GROUND_TOLERANCE = 1e-4  # [m]: how deep a shape may dip into the ground


@dataclass(frozen=True)
class Pin:
    """A point of a body stays at a place [m]: `at`, or where it is at the start."""

    body: str
    point: ArrayLike = ORIGIN
    at: ArrayLike | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        character.body_id(self.body)
        feature = PointPosition(self.body, body_point(self.point))
        place = (
            feature.value(start.snapshot)
            if self.at is None
            else three_numbers(self.at, f"the place of Pin({self.body!r})")
        )
        return [Goal(feature, place, name=f"pin {self.body}")]

    def anchored(self, start: Start) -> Pin:
        """Returns the same pin with the place at the start written in."""
        if self.at is not None:
            return self
        return replace(self, at=as_point(PointPosition(self.body, body_point(self.point)).value(start.snapshot)))


@dataclass(frozen=True)
class Lock:
    """A body keeps an orientation: `to`, or the one it has at the start."""

    body: str
    to: ArrayLike | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        character.body_id(self.body)
        feature = BodyOrientation(self.body)
        goal = (
            feature.value(start.snapshot)
            if self.to is None
            else unit_quaternion(self.to, f"the orientation of Lock({self.body!r})")
        )
        return [Goal(feature, goal, name=f"lock {self.body}")]

    def anchored(self, start: Start) -> Lock:
        """Returns the same lock with the orientation at the start written in."""
        if self.to is not None:
            return self
        return replace(self, to=tuple(BodyOrientation(self.body).value(start.snapshot).tolist()))


@dataclass(frozen=True)
class FixJoint:
    """A joint keeps a value (angles, a ball's rotation vector or quaternion), or the one it has at the start."""

    joint: str
    value: ArrayLike | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        joint = character.joint(self.joint)
        feature = JointValue(character, self.joint)
        if self.value is None:
            return [Goal(feature, feature.value(start.snapshot), name=f"fix {self.joint}")]
        given = np.atleast_1d(finite_numbers(self.value, f"the value of FixJoint({self.joint!r})"))
        if joint.kind == "ball" and given.shape == (3,):
            given = spatial.exp(given)
        if given.shape != (joint.nq,):
            raise BadValue(f"FixJoint({self.joint!r}) needs {joint.nq} number(s); got {given.size}")
        if joint.kind == "ball":
            given = spatial.normalize(given)
        return [Goal(feature, given, name=f"fix {self.joint}")]

    def anchored(self, start: Start) -> FixJoint:
        """Returns the same with the joint's value at the start written in."""
        if self.value is not None:
            return self
        return replace(self, value=tuple(JointValue(start.character, self.joint).value(start.snapshot).tolist()))


@dataclass(frozen=True)
class Couple:
    """A linear relation among joint coordinates: low <= sum of factor x coordinate <= high.

    Coordinates are named by joint (`knee_left`), by part of a universal (`ankle_left.0`) or by component of a ball's
    rotation vector (`spine.y`), as in Couple({"waist.y": 1.0, "spine.y": -1.0}, equals=0.0).
    """

    coefficients: Mapping[str, float]
    low: float | None = None
    high: float | None = None
    equals: float | None = None

    def relation(self, character: Character) -> Relation:
        if (self.equals is None) == (self.low is None and self.high is None):
            raise BadValue("Couple takes `equals`, or `low` and/or `high`")
        low = self.equals if self.equals is not None else (-np.inf if self.low is None else self.low)
        high = self.equals if self.equals is not None else (np.inf if self.high is None else self.high)
        if not low <= high or np.isnan([low, high]).any():
            raise BadValue(f"Couple needs low <= high; got {low} and {high}")
        parts = tuple(self._part(character, key, factor) for key, factor in self.coefficients.items())
        if not parts:
            raise BadValue("Couple names no joint")
        return Relation("couple " + " ".join(self.coefficients), parts, float(low), float(high))

    @staticmethod
    def _part(character: Character, key: str, factor: float) -> tuple[str, int, float]:
        name, _, piece = key.partition(".")
        joint = character.joint(name)
        if joint.kind == "free":
            raise BadValue("Couple relates joints; the free root has none of its own")
        index = {"": 0, "0": 0, "1": 1, "2": 2, "x": 0, "y": 1, "z": 2}.get(piece)
        if index is None or index >= joint.nv or (piece == "" and joint.nv > 1):
            names = [f"{name}.{c}" for c in ("xyz" if joint.kind == "ball" else "01")[: joint.nv]]
            raise unknown_name("coordinate", key, names if joint.nv > 1 else [name], character.name)
        if not np.isfinite(factor):
            raise BadValue(f"the factor of {key!r} in Couple is not a number")
        return name, index, float(factor)


@dataclass(frozen=True)
class OnPlane:
    """A point of a body stays on a plane through `origin` with `normal` (or on its upper side with `side="above"`)."""

    body: str
    origin: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)
    point: ArrayLike = ORIGIN
    side: str = "on"

    def goals(self, character: Character, start: Start) -> list[Goal]:
        character.body_id(self.body)
        if self.side not in ("on", "above"):
            raise BadValue(f"OnPlane's side is 'on' or 'above'; got {self.side!r}")
        origin = as_point(three_numbers(self.origin, f"the origin of OnPlane({self.body!r})"))
        normal = unit_direction(self.normal, f"the normal of OnPlane({self.body!r})")
        feature = PlaneDistance(self.body, origin, normal, body_point(self.point))
        if self.side == "above":
            return [Goal(feature, low=np.zeros(1), high=np.full(1, np.inf), name=f"above plane {self.body}")]
        return [Goal(feature, np.zeros(1), name=f"on plane {self.body}")]


@dataclass(frozen=True, eq=False)
class OnCurve:
    """A point of a body stays on a curve: a `Curve`, or points (k, 3) to draw one through."""

    body: str
    curve: Curve | ArrayLike
    point: ArrayLike = ORIGIN

    def goals(self, character: Character, start: Start) -> list[Goal]:
        character.body_id(self.body)
        path = self.curve if isinstance(self.curve, Curve) else Curve(self.curve)
        return [Goal(CurveOffset(self.body, path, body_point(self.point)), np.zeros(3), name=f"on curve {self.body}")]


@dataclass(frozen=True)
class Balanced:
    """The centre of mass stays over a support polygon, `margin` inside its edges [m].

    The polygon is given by corners (k, 2), or is the hull of the feet's contact points as they are at the start.
    """

    corners: ArrayLike | None = None
    margin: float = 0.0
    feet: Sequence[str] | None = None

    def goals(self, character: Character, start: Start) -> list[Goal]:
        corners = self.anchored(start).corners
        assert corners is not None
        hull = convex_hull(finite_numbers(corners, "the corners of Balanced"))
        if len(hull) < 3:
            raise MissingRole("Balanced needs a support polygon with an area; these points lie on a line")
        feature = ComSupport(tuple((float(x), float(y)) for x, y in hull))
        k = len(hull)
        return [Goal(feature, low=np.full(k, -np.inf), high=np.full(k, -float(self.margin)), name="balanced")]

    def anchored(self, start: Start) -> Balanced:
        """Returns the same with the contact points at the start written in as corners."""
        if self.corners is not None:
            return self
        character = start.character
        character.need_feet("Balanced")
        chosen = [character.foot(name) for name in self.feet] if self.feet is not None else list(character.feet)
        places = [start.snapshot.position(p.body, p.position)[:2] for foot in chosen for p in foot.points]
        return Balanced([(float(x), float(y)) for x, y in places], self.margin)


@dataclass(frozen=True)
class AboveGround:
    """The shapes of bodies (hands and feet unless named) stay above z = `height` [m], to a tenth of a millimetre."""

    bodies: Sequence[str] | None = None
    height: float = 0.0

    def goals(self, character: Character, start: Start) -> list[Goal]:
        names = list(self.bodies) if self.bodies is not None else [*character.hands, *(f.body for f in character.feet)]
        found = []
        for name in names:
            if rows := len(body_corners(character, name)):
                low = np.full(rows, float(self.height) - GROUND_TOLERANCE)
                found.append(Goal(LowestPoints(name), low=low, name=f"above ground {name}"))
        return found


PoseConstraint: TypeAlias = Pin | Lock | FixJoint | Couple | OnPlane | OnCurve | Balanced | AboveGround | Goal
