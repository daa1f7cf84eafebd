"""A whole motion from keyframes, contacts and physics; and whether a motion is physically possible."""

from counterpoise.spacetime.aggregate import (
    AggregateForce,
    JointTorques,
    MomentumDerivatives,
    Places,
    Turns,
    aggregate_force,
    aggregate_force_derivatives,
    joint_torque_derivatives,
    joint_torques,
    momentum,
    momentum_derivatives,
    point_jacobians,
    turn_jacobians,
)
from counterpoise.spacetime.check import CheckReport, CheckTuning, check_motion
from counterpoise.spacetime.fix import FixResult, FixTuning, fix_motion
from counterpoise.spacetime.optimize import (
    Apart,
    Apex,
    Clear,
    ContactForces,
    Cycle,
    Effort,
    Facing,
    Key,
    Moment,
    MotionFault,
    MotionProblem,
    MotionTuning,
    Place,
    Progress,
    Require,
    Requirement,
    Result,
    Strain,
    Taste,
    TorqueLimit,
    Touch,
    Velocity,
    Violation,
    build_motion_problem,
    optimize_motion,
    solve_motion,
)
from counterpoise.spacetime.stunt import Stunt, read_stunt

__all__ = [
    "AggregateForce", "Apart", "Apex", "CheckReport", "CheckTuning", "Clear", "ContactForces", "Cycle", "Effort",
    "Facing", "FixResult", "FixTuning", "JointTorques", "Key", "Moment", "MomentumDerivatives", "MotionFault",
    "MotionProblem", "MotionTuning", "Place", "Places", "Progress", "Require", "Requirement", "Result", "Strain",
    "Stunt", "Taste", "TorqueLimit", "Touch", "Turns", "Velocity", "Violation", "aggregate_force",
    "aggregate_force_derivatives",
    "build_motion_problem", "check_motion", "fix_motion", "joint_torque_derivatives", "joint_torques", "momentum",
    "momentum_derivatives", "optimize_motion", "point_jacobians", "read_stunt", "solve_motion", "turn_jacobians",
]  # fmt: skip
