"""Aggregate force, momentum, joint torques, places and rotations of bodies over many frames, with all derivatives."""

from counterpoise.spacetime.aggregate.force import (
    AggregateForce,
    MomentumDerivatives,
    aggregate_force,
    aggregate_force_derivatives,
    momentum,
    momentum_derivatives,
)
from counterpoise.spacetime.aggregate.places import Places, Turns, point_jacobians, turn_jacobians
from counterpoise.spacetime.aggregate.torques import JointTorques, joint_torque_derivatives, joint_torques

__all__ = [
    "AggregateForce", "JointTorques", "MomentumDerivatives", "Places", "Turns", "aggregate_force",
    "aggregate_force_derivatives", "joint_torque_derivatives", "joint_torques", "momentum", "momentum_derivatives",
    "point_jacobians", "turn_jacobians",
]  # fmt: skip
