"""Quantities of the body we measure: each with a value, a Jacobian and a drift; and goals, what we ask of them."""

from collections.abc import Callable

from counterpoise.character.character import Character
from counterpoise.features.base import Feature
from counterpoise.features.box import BoxDistance
from counterpoise.features.com import ComPosition, ComSupport, PositionFromCom
from counterpoise.features.components import Components
from counterpoise.features.frame import AxisAim, AxisComponent, AxisDirection, BodyOrientation, PointPosition
from counterpoise.features.goal import Goal
from counterpoise.features.posture import JointValue, WholePosture
from counterpoise.features.relative import RelativeOrientation, RelativePosition
from counterpoise.features.solids import LowestPoints
from counterpoise.features.surface import Curve, CurveOffset, Height, PlaneDistance

# One example of every feature on any body: a new feature adds a line here, and the laws then apply to it.
EXAMPLES: dict[str, Callable[[Character], Feature]] = {
    "PointPosition": lambda c: PointPosition(c.segments[-1], (0.1, -0.05, 0.2)),
    "BodyOrientation": lambda c: BodyOrientation(c.segments[-1]),
    "AxisDirection": lambda c: AxisDirection(c.segments[-1], (1.0, 2.0, -0.5)),
    "AxisComponent": lambda c: AxisComponent(c.segments[-1], (1.0, 2.0, -0.5), (0.3, -1.0, 0.2)),
    "Components": lambda c: Components(ComPosition(), (0, 2)),
    "AxisAim": lambda c: AxisAim(c.segments[-1], (1.0, 0.2, 0.0), (1.5, 0.7, 1.2), (0.05, 0.0, 0.1)),
    "RelativePosition": lambda c: RelativePosition(c.segments[-1], c.segments[len(c.segments) // 2], (0.1, 0.0, 0.1)),
    "RelativeOrientation": lambda c: RelativeOrientation(c.segments[-1], c.segments[len(c.segments) // 2]),
    "ComPosition": lambda c: ComPosition(),
    "PositionFromCom": lambda c: PositionFromCom(c.segments[-1], (0.1, -0.05, 0.2)),
    "ComSupport": lambda c: ComSupport(((0.0, 0.0), (0.3, 0.0), (0.2, 0.4), (-0.1, 0.2))),
    "WholePosture": lambda c: WholePosture(c),
    "JointValue": lambda c: JointValue(c, c.joints[-1].name),
    "PlaneDistance": lambda c: PlaneDistance(c.segments[-1], (0.1, 0.2, 0.3), (1.0, 1.0, 2.0), (0.0, 0.1, 0.0)),
    "BoxDistance": lambda c: BoxDistance(c.segments[-1], (1.0, 0.5, -1.5), (0.2, 0.3, 0.4), point=(0.0, 0.1, 0.0)),
    "LowestPoints": lambda c: LowestPoints(c.root),
    "Height": lambda c: Height(c.segments[-1]),
    "CurveOffset": lambda c: CurveOffset(
        c.segments[-1], Curve([(0.0, 0.0, 1.0), (0.5, 0.2, 1.2), (0.8, 0.8, 1.0), (0.2, 1.0, 0.7)], closed=True)
    ),
}

__all__ = [
    "EXAMPLES", "AxisAim", "AxisComponent", "AxisDirection", "BodyOrientation", "BoxDistance", "ComPosition",
    "ComSupport", "Components", "Curve", "CurveOffset", "Feature", "Goal", "Height", "JointValue", "LowestPoints",
    "PlaneDistance", "PointPosition", "PositionFromCom", "RelativeOrientation", "RelativePosition", "WholePosture",
]  # fmt: skip
