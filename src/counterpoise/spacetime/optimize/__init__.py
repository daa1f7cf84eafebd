"""From keys, contacts and requirements to a physically valid motion: build the problem, solve it."""

from counterpoise.spacetime.optimize.build import build_motion_problem
from counterpoise.spacetime.optimize.forces import ContactForces, Strain
from counterpoise.spacetime.optimize.judge import MotionFault
from counterpoise.spacetime.optimize.moments import Moment
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.request import Key, Taste, Touch
from counterpoise.spacetime.optimize.requirements.apart import Apart
from counterpoise.spacetime.optimize.requirements.apex import Apex
from counterpoise.spacetime.optimize.requirements.base import Requirement
from counterpoise.spacetime.optimize.requirements.clear import Clear
from counterpoise.spacetime.optimize.requirements.cycle import Cycle
from counterpoise.spacetime.optimize.requirements.facing import Facing
from counterpoise.spacetime.optimize.requirements.place import Place
from counterpoise.spacetime.optimize.requirements.require import Require
from counterpoise.spacetime.optimize.requirements.torque import Effort, TorqueLimit
from counterpoise.spacetime.optimize.requirements.velocity import Velocity
from counterpoise.spacetime.optimize.result import Result, Violation
from counterpoise.spacetime.optimize.run import OptimizeProgress
from counterpoise.spacetime.optimize.solve import optimize_motion, solve_motion
from counterpoise.spacetime.optimize.tuning import ImpactTuning, MotionTuning

__all__ = [
    "Apart",
    "Apex",
    "Clear",
    "ContactForces",
    "Cycle",
    "Effort",
    "Facing",
    "ImpactTuning",
    "Key",
    "Moment",
    "MotionFault",
    "MotionProblem",
    "MotionTuning",
    "OptimizeProgress",
    "Place",
    "Require",
    "Requirement",
    "Result",
    "Strain",
    "Taste",
    "TorqueLimit",
    "Touch",
    "Velocity",
    "Violation",
    "build_motion_problem",
    "optimize_motion",
    "solve_motion",
]  # fmt: skip
