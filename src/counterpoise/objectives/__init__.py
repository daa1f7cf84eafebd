"""Objectives: what we want of a body, as rows on accelerations, torques or contact forces."""

from collections.abc import Callable

import numpy as np

from counterpoise.character.character import Character
from counterpoise.features import BodyOrientation, ComPosition, PointPosition
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, faded
from counterpoise.objectives.clearance import Clearance
from counterpoise.objectives.contact import Contact
from counterpoise.objectives.footing import Footing, FootingMemory, Stance, take_stance
from counterpoise.objectives.momentum import Momentum, momentum_scale
from counterpoise.objectives.posture import TrackPose, per_dof
from counterpoise.objectives.setpoint import Setpoint, along
from counterpoise.objectives.stops import JointStops
from counterpoise.objectives.surface import LEVEL, Surface, moving_surface
from counterpoise.objectives.target import Target
from counterpoise.objectives.torque import MinimumTorque, SmallAccelerations, SmallForces

# One example of every objective on any body: a new objective adds a line here, and the laws then apply to it.
EXAMPLES: dict[str, Callable[[Character], Objective]] = {
    "Setpoint": lambda who: Setpoint(ComPosition(), (0.1, 0.0, 0.9), stiffness=50.0),
    "Setpoint of an orientation": lambda who: Setpoint(BodyOrientation(who.segments[-1]), (1.0, 0.0, 0.0, 0.0)),
    "Target": lambda who: Target(PointPosition(who.segments[-1]), (0.3, 0.1, 0.5), time=0.4),
    "Momentum": lambda who: Momentum("angular", axes="xy"),
    "Momentum, linear": lambda who: Momentum("linear", value=np.array([1.0, 0.0, 0.0])),
    "MinimumTorque": lambda who: MinimumTorque((who.joints[-1].name,)),
    "SmallForces": lambda who: SmallForces(),
    "SmallAccelerations": lambda who: SmallAccelerations(),
    "TrackPose": lambda who: TrackPose(stiffness=80.0),
    "Contact": lambda who: Contact(),
    "JointStops": lambda who: JointStops(),
    "Clearance": lambda who: Clearance(margin=0.2),
}

__all__ = [
    "EXAMPLES", "LEVEL", "Clearance", "Contact", "DiagonalRows", "Footing", "FootingMemory", "JointStops",
    "MinimumTorque", "Momentum", "Objective", "Rows", "Setpoint", "SmallAccelerations", "SmallForces", "Stance",
    "Surface", "Target", "TrackPose", "along", "faded", "momentum_scale", "moving_surface", "per_dof", "take_stance",
]  # fmt: skip
