"""From keys, contacts and requirements to a physically valid motion: build the problem, solve it."""

from counterpoise.spacetime.optimize.asks import (
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
from counterpoise.spacetime.optimize.forces import ContactForces, Strain
from counterpoise.spacetime.optimize.moments import Moment
from counterpoise.spacetime.optimize.problem import MotionProblem, build_motion_problem
from counterpoise.spacetime.optimize.solve import Result, Violation, optimize_motion, solve_motion
from counterpoise.spacetime.optimize.solving import Progress

__all__ = [
    "Apart", "Apex", "Clear", "ContactForces", "Cycle", "Effort", "Facing", "Key", "Moment", "MotionProblem", "Place",
    "Progress", "Result", "Strain", "Taste", "TorqueLimit", "Touch", "Violation", "build_motion_problem",
    "optimize_motion", "solve_motion",
]  # fmt: skip
