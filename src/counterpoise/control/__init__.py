"""Controllers: from the state of a body to the torques of its joints."""

from counterpoise.control.balance import Balance, BalanceTuning
from counterpoise.control.basic import Action, Controller, HoldPose, Passive
from counterpoise.control.controller import WholeBody
from counterpoise.control.drag import Drag
from counterpoise.control.momentum_balance import MomentumBalance, MomentumTuning
from counterpoise.control.stand import Stand, StandMemory
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.control.whole_body import WholeBodyMemory, WholeBodySolution, build_whole_body, solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyProblem, WholeBodyTuning

__all__ = [
    "Action", "Balance", "BalanceTuning", "Controller", "Drag", "HoldPose", "MomentumBalance", "MomentumTuning",
    "Passive", "Stand", "StandMemory", "StandTuning", "WholeBody", "WholeBodyMemory", "WholeBodyProblem",
    "WholeBodySolution", "WholeBodyTuning", "build_whole_body", "solve_whole_body",
]  # fmt: skip
