"""Getting up from the ground, and bracing in a fall."""

from counterpoise.control.bracing.falling import BraceTuning
from counterpoise.control.getting_up.getting_up import GetUp, GetUpMemory, GetUpTuning
from counterpoise.control.getting_up.lying import way_of_lying
from counterpoise.control.getting_up.lying_start import lying_state
from counterpoise.control.getting_up.plan import (
    GettingUpNotPlanned,
    GettingUpPlanTuning,
    getting_up_stunt,
    plan_getting_up,
)

__all__ = [
    "BraceTuning", "GetUp", "GetUpMemory", "GetUpTuning", "GettingUpNotPlanned", "GettingUpPlanTuning",
    "getting_up_stunt", "lying_state", "plan_getting_up", "way_of_lying",
]  # fmt: skip
