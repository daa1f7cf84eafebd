"""Quantities of the body we measure: each with a value, a Jacobian and a drift at a snapshot."""

from collections.abc import Callable

from counterpoise.character.character import Character
from counterpoise.features.base import Feature
from counterpoise.features.com import ComPosition, ComSupport
from counterpoise.features.frame import (
    AxisAim,
    AxisDirection,
    BodyOrientation,
    PointPosition,
    RelativeOrientation,
    RelativePosition,
)
from counterpoise.features.posture import JointValue, WholePosture
from counterpoise.features.solids import LowestPoints
from counterpoise.features.surface import Curve, CurveOffset, Height, PlaneDistance

# One example of every feature on any body: a new feature adds a line here, and the laws then apply to it.
EXAMPLES: dict[str, Callable[[Character], Feature]] = {
    "PointPosition": lambda who: PointPosition(who.segments[-1], (0.1, -0.05, 0.2)),
    "BodyOrientation": lambda who: BodyOrientation(who.segments[-1]),
    "AxisDirection": lambda who: AxisDirection(who.segments[-1], (1.0, 2.0, -0.5)),
    "AxisAim": lambda who: AxisAim(who.segments[-1], (1.0, 0.2, 0.0), (1.5, 0.7, 1.2), (0.05, 0.0, 0.1)),
    "RelativePosition": lambda who: RelativePosition(
        who.segments[-1], who.segments[len(who.segments) // 2], (0.1, 0.0, 0.1)
    ),
    "RelativeOrientation": lambda who: RelativeOrientation(who.segments[-1], who.segments[len(who.segments) // 2]),
    "ComPosition": lambda who: ComPosition(),
    "ComSupport": lambda who: ComSupport(((0.0, 0.0), (0.3, 0.0), (0.2, 0.4), (-0.1, 0.2))),
    "WholePosture": lambda who: WholePosture(who),
    "JointValue": lambda who: JointValue(who, who.joints[-1].name),
    "PlaneDistance": lambda who: PlaneDistance(who.segments[-1], (0.1, 0.2, 0.3), (1.0, 1.0, 2.0), (0.0, 0.1, 0.0)),
    "Height": lambda who: Height(who.segments[-1]),
    "LowestPoints": lambda who: LowestPoints(who.root),
    "CurveOffset": lambda who: CurveOffset(
        who.segments[-1], Curve([(0.0, 0.0, 1.0), (0.5, 0.2, 1.2), (0.8, 0.8, 1.0), (0.2, 1.0, 0.7)], closed=True)
    ),
}

__all__ = [
    "EXAMPLES", "AxisAim", "AxisDirection", "BodyOrientation", "ComPosition", "ComSupport", "Curve", "CurveOffset",
    "Feature", "Height", "JointValue", "LowestPoints", "PlaneDistance", "PointPosition", "RelativeOrientation",
    "RelativePosition", "WholePosture",
]  # fmt: skip
