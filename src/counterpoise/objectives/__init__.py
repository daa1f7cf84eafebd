"""Objectives: goals of a controller, as rows on accelerations, torques or contact forces."""

from collections.abc import Callable

import numpy as np

from counterpoise.character.character import Character
from counterpoise.features import BodyOrientation, Components, ComPosition, Height, PointPosition, PositionFromCom
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, faded
from counterpoise.objectives.clearance import Clearance
from counterpoise.objectives.contact import Contact
from counterpoise.objectives.footing import Footing, FootingMemory, Stance, take_stance
from counterpoise.objectives.momentum import Momentum, momentum_scale
from counterpoise.objectives.point_stance import make_stance
from counterpoise.objectives.posture import TrackPose, per_dof
from counterpoise.objectives.setpoint import Setpoint, along
from counterpoise.objectives.stops import JointStops
from counterpoise.objectives.surface import LEVEL, Surface, moving_surface
from counterpoise.objectives.target import Target
from counterpoise.objectives.torque import MinimumTorque, RelaxedJoints, SmallAccelerations, SmallForces

# One example of every objective, for any character: a new objective adds a line here, and the laws test it.
EXAMPLES: dict[str, Callable[[Character], Objective]] = {
    "Setpoint": lambda character: Setpoint(ComPosition(), (0.1, 0.0, 0.9), stiffness=50.0),
    "Setpoint of an orientation": lambda character: Setpoint(
        BodyOrientation(character.segments[-1]), (1.0, 0.0, 0.0, 0.0)
    ),
    "Setpoint of two axes of an orientation": lambda character: Setpoint(
        BodyOrientation(character.segments[-1]), (0.6, 0.0, 0.8, 0.0), velocity=(0.3, 0.1), acceleration=2.0, axes="xz"
    ),
    "Setpoint of a place": lambda character: Setpoint(
        PointPosition(character.segments[-1], (0.1, 0.0, -0.2)),
        (0.1, 0.2, 0.9),
        (0.3, 0.1, 0.0),
        (1.0, -2.0, 3.0),
        limit=40.0,
    ),
    "Setpoint from the CoM": lambda character: Setpoint(
        PositionFromCom(character.segments[-1], (0.1, 0.0, -0.2)), (0.1, 0.9), (0.3, 0.1), damping=3.0, axes="xz"
    ),
    "Setpoint of components": lambda character: Setpoint(Components(ComPosition(), (0, 2)), (0.1, 0.9), axes=(1,)),
    "Setpoint of a height": lambda character: Setpoint(Height(character.segments[-1]), 0.4, velocity=0.1),
    "RelaxedJoints": lambda character: RelaxedJoints((character.joints[-1].name,), damping=0.5),
    "Target": lambda character: Target(PointPosition(character.segments[-1]), (0.3, 0.1, 0.5), time=0.4),
    "Momentum": lambda character: Momentum("angular", axes="xy"),
    "Momentum, linear": lambda character: Momentum("linear", value=np.array([1.0, 0.0, 0.0])),
    "MinimumTorque": lambda character: MinimumTorque((character.joints[-1].name,)),
    "SmallForces": lambda character: SmallForces(),
    "SmallAccelerations": lambda character: SmallAccelerations(),
    "TrackPose": lambda character: TrackPose(stiffness=80.0),
    "Contact": lambda character: Contact(),
    "JointStops": lambda character: JointStops(),
    "Clearance": lambda character: Clearance(margin=0.2),
}

__all__ = [
    "EXAMPLES", "LEVEL", "Clearance", "Contact", "DiagonalRows", "Footing", "FootingMemory", "JointStops",
    "MinimumTorque", "Momentum", "Objective", "RelaxedJoints", "Rows", "Setpoint", "SmallAccelerations", "SmallForces",
    "Stance", "Surface", "Target", "TrackPose", "along", "faded", "make_stance", "momentum_scale", "moving_surface",
    "per_dof", "take_stance",
]  # fmt: skip
