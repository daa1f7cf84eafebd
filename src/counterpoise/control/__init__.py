"""Controllers: from what a body is doing to the torques of its joints."""

from counterpoise.control.basic import Action, Controller, HoldPose, Passive
from counterpoise.control.controller import WholeBody
from counterpoise.control.stand import Stand, StandMemory, StandTuning
from counterpoise.control.whole_body import (
    WholeBodyMemory,
    WholeBodyProblem,
    WholeBodySolution,
    WholeBodyTuning,
    build_whole_body,
    solve_whole_body,
)

__all__ = [
    "Action", "Controller", "HoldPose", "Passive", "Stand", "StandMemory", "StandTuning", "WholeBody", "WholeBodyMemory", "WholeBodyProblem",
    "WholeBodySolution", "WholeBodyTuning", "build_whole_body", "solve_whole_body",
]  # fmt: skip
