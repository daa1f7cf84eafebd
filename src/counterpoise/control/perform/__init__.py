"""Planned motions, done by a simulated body: `Perform` for any, `Jump` for jumps."""

from counterpoise.control.perform.clip import ClipTuning, prepare_clip
from counterpoise.control.perform.jump import Jump
from counterpoise.control.perform.jump_box import jump_terrain
from counterpoise.control.perform.jump_plan import JumpPlanTuning, JumpWish, jump_stunt
from counterpoise.control.perform.margin import with_reserve
from counterpoise.control.perform.perform import Perform
from counterpoise.control.perform.plan_of_motion import plan_of_motion
from counterpoise.control.perform.plan_store import JumpNotPlanned, JumpPlan, plan_jump
from counterpoise.control.perform.planned_motion import PlannedMotion, plan_of_result
from counterpoise.control.perform.routine import Routine
from counterpoise.control.perform.tuning import PerformTuning

__all__ = [
    "ClipTuning", "Jump", "JumpNotPlanned", "JumpPlan", "JumpPlanTuning", "JumpWish", "Perform", "PerformTuning",
    "PlannedMotion", "Routine", "jump_stunt", "jump_terrain", "plan_jump", "plan_of_motion", "plan_of_result",
    "prepare_clip", "with_reserve",
]  # fmt: skip
