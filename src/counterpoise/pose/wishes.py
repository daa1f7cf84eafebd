"""What a pose should be like: goals (wanted, with weights) and constraints (held exactly).

Each is a small frozen value that names bodies and places. `terms(character, snapshot)` turns it into features with
targets, reading "where it is now" from the snapshot of the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.shapes import body_corners
from counterpoise.character.snapshot import Snapshot, take_kinematics
from counterpoise.errors import BadValue, MissingRole, unknown_name
from counterpoise.features import (
    AxisAim,
    AxisDirection,
    BodyOrientation,
    ComPosition,
    ComSupport,
    Curve,
    CurveOffset,
    Feature,
    JointValue,
    LowestPoints,
    PlaneDistance,
    PointPosition,
    RelativeOrientation,
    RelativePosition,
)
from counterpoise.solve.geometry import convex_hull

FARTHEST = 1e6  # [m]: targets beyond this are surely a mistake of units
SKIN = 1e-4  # [m]: how deep a shape may dip into the ground
HERE = (0.0, 0.0, 0.0)  # a body's own origin
TURN = 0.3  # [m/rad]: how much a radian weighs beside a metre


class Start:
    """The pose a problem starts from; its snapshot is taken only when something asks where things are now."""

    def __init__(self, character: Character, q: Array) -> None:
        self.character, self.q = character, q

    @cached_property
    def snapshot(self) -> Snapshot:
        return take_kinematics(self.character, self.q)


@dataclass(frozen=True, eq=False)
class Term:
    """A feature with what is wanted of it: `target` for goals and equalities, `low`/`high` for inequalities."""

    name: str
    feature: Feature
    target: Array | None = None
    weight: float = 1.0
    low: Array | None = None  # inequality: low <= value <= high
    high: Array | None = None

    def aimed(self, target: Array) -> Term:
        """The same with another target."""
        copy = object.__new__(Term)
        copy.__dict__.update(self.__dict__, target=target)
        return copy


@dataclass(frozen=True, eq=False)
class Relation:
    """A linear relation among joint coordinates, low <= sum c_i x_i <= high, as one row over rotation-vector
    coordinates.
    """

    name: str
    coefficients: tuple[tuple[str, int, float], ...]  # joint, component, factor
    low: float
    high: float


@dataclass(frozen=True)
class Reach:
    """A point of a body comes to a place [m]; with `relative_to` the place is in another body's frame."""

    body: str
    target: ArrayLike
    point: ArrayLike = HERE
    weight: float = 1.0
    relative_to: str | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        place = _three(self.target, f"the target of Reach({self.body!r})")
        at = _point(self.point)
        who.body_id(self.body)
        if self.relative_to is not None:
            who.body_id(self.relative_to)
            feature: Feature = RelativePosition(self.body, self.relative_to, at)
            return [Term(f"reach {self.body} from {self.relative_to}", feature, place, _weight(self))]
        return [Term(f"reach {self.body}", PointPosition(self.body, at), place, _weight(self))]


@dataclass(frozen=True)
class Orient:
    """A body turns to an orientation: a quaternion (w, x, y, z) or a rotation matrix, world frame or another body's."""

    body: str
    target: ArrayLike
    weight: float = 1.0
    relative_to: str | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        goal = turn_from(self.target, f"the target of Orient({self.body!r})")
        who.body_id(self.body)
        if self.relative_to is not None:
            who.body_id(self.relative_to)
            feature: Feature = RelativeOrientation(self.body, self.relative_to)
            return [Term(f"orient {self.body} in {self.relative_to}", feature, goal, TURN * _weight(self))]
        return [Term(f"orient {self.body}", BodyOrientation(self.body), goal, TURN * _weight(self))]


@dataclass(frozen=True)
class Aim:
    """An axis of a body points at a place (`at`) or along a direction (`along`); exactly one of the two."""

    body: str
    axis: ArrayLike
    at: ArrayLike | None = None
    along: ArrayLike | None = None
    point: ArrayLike = HERE
    weight: float = 1.0

    def terms(self, who: Character, start: Start) -> list[Term]:
        who.body_id(self.body)
        axis = _direction(self.axis, f"the axis of Aim({self.body!r})")
        if (self.at is None) == (self.along is None):
            raise BadValue(f"Aim({self.body!r}) takes a place `at` or a direction `along`, one of the two")
        weight = TURN * _weight(self)
        if self.at is not None:
            place = _three(self.at, f"the place of Aim({self.body!r})")
            aim = AxisAim(self.body, axis, _tuple(place), _point(self.point))
            return [Term(f"aim {self.body}", aim, np.zeros(3), weight)]
        assert self.along is not None
        way: Array = np.asarray(_direction(self.along, f"the direction of Aim({self.body!r})"), float)
        return [Term(f"aim {self.body}", AxisDirection(self.body, axis), way, weight)]


@dataclass(frozen=True)
class CenterOfMass:
    """The centre of mass comes to a place [m]; `None` for a coordinate leaves it free: (0.0, 0.0, None)."""

    target: Sequence[float | None]
    weight: float = 1.0

    def terms(self, who: Character, start: Start) -> list[Term]:
        if len(self.target) != 3:
            raise BadValue(f"the target of CenterOfMass has three coordinates (or None); got {self.target!r}")
        rows = [i for i, x in enumerate(self.target) if x is not None]
        if not rows:
            raise BadValue("CenterOfMass leaves every coordinate free: nothing to do")
        goal = _finite([float(x) for x in self.target if x is not None], "the target of CenterOfMass")
        feature: Feature = ComPosition() if len(rows) == 3 else Rows(ComPosition(), tuple(rows))
        return [Term("centre of mass", feature, goal, _weight(self))]


@dataclass(frozen=True, eq=False)
class Posture:
    """The tie-breaker: of many solutions the one nearest to `pose` (the start when None)."""

    pose: ArrayLike | None = None
    weight: float = 1e-4


@dataclass(frozen=True)
class Pin:
    """A point of a body stays at a place [m]: `at`, or where it is at the start."""

    body: str
    point: ArrayLike = HERE
    at: ArrayLike | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        who.body_id(self.body)
        feature = PointPosition(self.body, _point(self.point))
        place = (
            feature.value(start.snapshot) if self.at is None else _three(self.at, f"the place of Pin({self.body!r})")
        )
        return [Term(f"pin {self.body}", feature, place)]


@dataclass(frozen=True)
class Lock:
    """A body keeps an orientation: `to`, or the one it has at the start."""

    body: str
    to: ArrayLike | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        who.body_id(self.body)
        feature = BodyOrientation(self.body)
        goal = (
            feature.value(start.snapshot)
            if self.to is None
            else turn_from(self.to, f"the orientation of Lock({self.body!r})")
        )
        return [Term(f"lock {self.body}", feature, goal)]


@dataclass(frozen=True)
class FixJoint:
    """A joint keeps a value (angles, a ball's rotation vector or quaternion), or the one it has at the start."""

    joint: str
    value: ArrayLike | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        joint = who.joint(self.joint)
        feature = JointValue(who, self.joint)
        if self.value is None:
            return [Term(f"fix {self.joint}", feature, feature.value(start.snapshot))]
        given = np.atleast_1d(_finite(self.value, f"the value of FixJoint({self.joint!r})"))
        if joint.kind == "ball" and given.shape == (3,):
            given = spatial.exp(given)
        if given.shape != (joint.nq,):
            raise BadValue(f"FixJoint({self.joint!r}) needs {joint.nq} number(s); got {given.size}")
        if joint.kind == "ball":
            given = spatial.normalize(given)
        return [Term(f"fix {self.joint}", feature, given)]


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

    def relation(self, who: Character) -> Relation:
        if (self.equals is None) == (self.low is None and self.high is None):
            raise BadValue("Couple takes `equals`, or `low` and/or `high`")
        low = self.equals if self.equals is not None else (-np.inf if self.low is None else self.low)
        high = self.equals if self.equals is not None else (np.inf if self.high is None else self.high)
        if not low <= high or np.isnan([low, high]).any():
            raise BadValue(f"Couple needs low <= high; got {low} and {high}")
        parts = tuple(self._part(who, key, factor) for key, factor in self.coefficients.items())
        if not parts:
            raise BadValue("Couple names no joint")
        return Relation("couple " + " ".join(self.coefficients), parts, float(low), float(high))

    @staticmethod
    def _part(who: Character, key: str, factor: float) -> tuple[str, int, float]:
        name, _, piece = key.partition(".")
        joint = who.joint(name)
        if joint.kind == "free":
            raise BadValue("Couple relates joints; the free root has none of its own")
        index = {"": 0, "0": 0, "1": 1, "2": 2, "x": 0, "y": 1, "z": 2}.get(piece)
        if index is None or index >= joint.nv or (piece == "" and joint.nv > 1):
            names = [f"{name}.{c}" for c in ("xyz" if joint.kind == "ball" else "01")[: joint.nv]]
            raise unknown_name("coordinate", key, names if joint.nv > 1 else [name], who.name)
        if not np.isfinite(factor):
            raise BadValue(f"the factor of {key!r} in Couple is not a number")
        return name, index, float(factor)


@dataclass(frozen=True)
class OnPlane:
    """A point of a body stays on a plane through `origin` with `normal` (or on its upper side with `side="above"`)."""

    body: str
    origin: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)
    point: ArrayLike = HERE
    side: str = "on"

    def terms(self, who: Character, start: Start) -> list[Term]:
        who.body_id(self.body)
        if self.side not in ("on", "above"):
            raise BadValue(f"OnPlane's side is 'on' or 'above'; got {self.side!r}")
        origin = _tuple(_three(self.origin, f"the origin of OnPlane({self.body!r})"))
        normal = _direction(self.normal, f"the normal of OnPlane({self.body!r})")
        feature = PlaneDistance(self.body, origin, normal, _point(self.point))
        if self.side == "above":
            return [Term(f"above plane {self.body}", feature, low=np.zeros(1), high=np.full(1, np.inf))]
        return [Term(f"on plane {self.body}", feature, np.zeros(1))]


@dataclass(frozen=True, eq=False)
class OnCurve:
    """A point of a body stays on a curve: a `Curve`, or points (k, 3) to draw one through."""

    body: str
    curve: Curve | ArrayLike
    point: ArrayLike = HERE

    def terms(self, who: Character, start: Start) -> list[Term]:
        who.body_id(self.body)
        path = self.curve if isinstance(self.curve, Curve) else Curve(self.curve)
        return [Term(f"on curve {self.body}", CurveOffset(self.body, path, _point(self.point)), np.zeros(3))]


@dataclass(frozen=True)
class Balanced:
    """The centre of mass stays over a support polygon, `margin` inside its edges [m].

    The polygon is given by corners (k, 2), or is the hull of the feet's contact points as they are at the start.
    """

    corners: ArrayLike | None = None
    margin: float = 0.0
    feet: Sequence[str] | None = None

    def terms(self, who: Character, start: Start) -> list[Term]:
        if self.corners is None:
            who.need_feet("Balanced")
            chosen = [who.foot(name) for name in self.feet] if self.feet is not None else list(who.feet)
            places = [start.snapshot.position(p.body, p.position)[:2] for foot in chosen for p in foot.points]
            hull = convex_hull(np.array(places))
        else:
            hull = convex_hull(_finite(self.corners, "the corners of Balanced"))
        if len(hull) < 3:
            raise MissingRole("Balanced needs a support polygon with an area; these points lie on a line")
        feature = ComSupport(tuple((float(x), float(y)) for x, y in hull))
        k = len(hull)
        return [Term("balanced", feature, low=np.full(k, -np.inf), high=np.full(k, -float(self.margin)))]


@dataclass(frozen=True)
class AboveGround:
    """The shapes of bodies (hands and feet unless named) stay above z = `height` [m], to a tenth of a millimetre."""

    bodies: Sequence[str] | None = None
    height: float = 0.0

    def terms(self, who: Character, start: Start) -> list[Term]:
        names = list(self.bodies) if self.bodies is not None else [*who.hands, *(f.body for f in who.feet)]
        found = []
        for name in names:
            if rows := len(body_corners(who, name)):
                low = np.full(rows, float(self.height) - SKIN)
                found.append(Term(f"above ground {name}", LowestPoints(name), low=low, high=np.full(rows, np.inf)))
        return found


Goal = Reach | Orient | Aim | CenterOfMass | Posture
Constraint = Pin | Lock | FixJoint | Couple | OnPlane | OnCurve | Balanced | AboveGround


@dataclass(frozen=True)
class Rows(Feature):
    """Some rows of another feature."""

    whole: Feature
    rows: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def unit(self) -> str:
        return self.whole.unit

    def value(self, snapshot: Snapshot) -> Array:
        return self.whole.value(snapshot)[list(self.rows)]

    def jacobian(self, snapshot: Snapshot) -> Array:
        return self.whole.jacobian(snapshot)[list(self.rows)]

    def drift(self, snapshot: Snapshot) -> Array:
        return self.whole.drift(snapshot)[list(self.rows)]


def _weight(goal: Any) -> float:
    if not (np.isfinite(goal.weight) and goal.weight > 0.0):
        raise BadValue(f"a goal's weight is a positive number; got {goal.weight!r} for {type(goal).__name__}")
    return float(goal.weight)


def _finite(values: ArrayLike, what: str) -> Array:
    try:
        out = np.asarray(values, float)
    except (TypeError, ValueError):
        raise BadValue(f"{what} must be numbers; got {values!r}") from None
    if not np.isfinite(out).all():
        raise BadValue(f"{what} holds NaN or infinity: {values!r}")
    return out


def _three(values: ArrayLike, what: str) -> Array:
    if isinstance(values, np.ndarray) and values.shape == (3,) and values.dtype == np.float64:
        x, y, z = values.tolist()
        if -FARTHEST <= x <= FARTHEST and -FARTHEST <= y <= FARTHEST and -FARTHEST <= z <= FARTHEST:
            return values
    out = _finite(values, what)
    if out.shape != (3,):
        raise BadValue(f"{what} is three numbers [m]; got shape {out.shape}")
    if np.abs(out).max() > FARTHEST:
        raise BadValue(f"{what} is {np.abs(out).max():.3g} m away: are these metres? (at most {FARTHEST:g})")
    return out


def _tuple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _point(values: ArrayLike) -> tuple[float, float, float]:
    if values is HERE:
        return HERE
    return _tuple(_three(values, "a point on a body"))


def _direction(values: ArrayLike, what: str) -> tuple[float, float, float]:
    out = _finite(values, what)
    if out.shape != (3,) or np.linalg.norm(out) < 1e-12:
        raise BadValue(f"{what} is a non-zero direction of three numbers; got {values!r}")
    return _tuple(out / np.linalg.norm(out))


def turn_from(values: ArrayLike, what: str) -> Array:
    """A unit quaternion from a quaternion or a rotation matrix (plain floats: it runs once a goal and frame)."""
    out = _finite(values, what)
    if out.shape == (3, 3):
        (a, b, c), (d, e, f), (g, h, i) = out.tolist()
        units = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
        crosses = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
        right_handed = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
        if max(abs(u - 1.0) for u in units) > 1e-6 or max(map(abs, crosses)) > 1e-6 or not right_handed:
            raise BadValue(f"{what} is not a rotation matrix")
        rows = (  # four times w, x, y, z times the vector; the longest is the best conditioned
            (1.0 + a + e + i, h - f, c - g, d - b),
            (h - f, 1.0 + a - e - i, b + d, c + g),
            (c - g, b + d, 1.0 - a + e - i, f + h),
            (d - b, c + g, f + h, 1.0 - a - e + i),
        )
        best = max(range(4), key=lambda k: rows[k][k])
        out = np.array(rows[best])
    if out.shape != (4,) or not out.any():
        raise BadValue(f"{what} is a quaternion (w, x, y, z) or a 3x3 rotation matrix; got shape {out.shape}")
    w, x, y, z = out.tolist()
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if size < 1e-9:
        raise BadValue(f"{what} is a quaternion (w, x, y, z) of some length; got {values!r}")
    return out / size
