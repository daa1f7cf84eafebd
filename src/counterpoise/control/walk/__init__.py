"""Walking by priorities: `Walk`, its styles and its planner (de Lasa 2011, chapter 4)."""

from counterpoise.control.walk.gait_cycle import GaitCycle, gait_from
from counterpoise.control.walk.styles import STYLES, WalkStyle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk import Walk
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, walking_body

__all__ = [
    "STYLES", "GaitCycle", "Walk", "WalkMemory", "WalkStyle", "WalkTuning", "WalkingBody", "gait_from", "walking_body",
]  # fmt: skip
