"""A whole motion from keyframes, contacts and physics; and whether a motion is physically possible."""

from counterpoise.spacetime.aggregate import (
    AggregateForce,
    Momentum,
    aggregate_force,
    aggregate_force_derivatives,
    momentum,
    momentum_derivatives,
)
from counterpoise.spacetime.asks import (
    Apart,
    Apex,
    Clear,
    Cycle,
    Effort,
    Facing,
    Key,
    Place,
    Taste,
    TorqueLimit,
    Touch,
)
from counterpoise.spacetime.check import CheckReport, CheckTuning, check_motion
from counterpoise.spacetime.fix import FixResult, FixTuning, fix_motion
from counterpoise.spacetime.forces import ContactForces, Strain
from counterpoise.spacetime.moments import Moment
from counterpoise.spacetime.optimize import (
    Result,
    Violation,
    optimize_motion,
    solve_motion,
)
from counterpoise.spacetime.places import Places, Turns, point_jacobians, turn_jacobians
from counterpoise.spacetime.problem import MotionProblem, build_motion_problem
from counterpoise.spacetime.solving import Progress
from counterpoise.spacetime.stunt import Stunt, read_stunt
from counterpoise.spacetime.torques import JointTorques, joint_torque_derivatives, joint_torques

__all__ = [
    "AggregateForce", "Apart", "Apex", "CheckReport", "CheckTuning", "Clear", "ContactForces", "Cycle", "Effort",
    "Facing", "FixResult", "FixTuning", "JointTorques", "Key", "Moment", "Momentum", "MotionProblem", "Place",
    "Places", "Progress", "Result", "Strain", "Stunt", "Taste", "TorqueLimit", "Touch", "Turns", "Violation",
    "aggregate_force", "aggregate_force_derivatives", "build_motion_problem", "check_motion", "fix_motion",
    "joint_torque_derivatives", "joint_torques", "momentum", "momentum_derivatives", "optimize_motion",
    "point_jacobians", "read_stunt", "solve_motion", "turn_jacobians",
]  # fmt: skip
