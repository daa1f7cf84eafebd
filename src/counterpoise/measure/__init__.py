"""Measures of recordings: standing and falls, contact forces, mechanics, and how large a push is survived."""

from counterpoise.measure.balance import (
    Fall,
    GroundContacts,
    cop,
    fell,
    foot_forces,
    foot_lift,
    foot_slip,
    ground_contacts,
    ground_force,
    penetration,
    support_polygon,
)
from counterpoise.measure.difference import MotionDifference, compare_motions
from counterpoise.measure.foot_strength import strength_limit
from counterpoise.measure.gait import Gait, gait, loaded
from counterpoise.measure.jumps import JumpFlight, jumps
from counterpoise.measure.mechanics import Energy, Summary, com, energy, momentum, power, summary
from counterpoise.measure.performance import Performance, performance
from counterpoise.measure.push_survival import AnkleLimit, Bar, Survival, ankle_limit, survival
from counterpoise.measure.pushes import PushLimit, push_limit, push_map
from counterpoise.measure.thrown import PropHit, prop_hit
from counterpoise.solve.geometry import convex_hull

__all__ = [
    "AnkleLimit", "Bar", "Energy", "Fall", "Gait", "GroundContacts", "JumpFlight", "MotionDifference", "Performance",
    "PropHit", "PushLimit", "Summary", "Survival", "ankle_limit", "com", "compare_motions", "convex_hull", "cop",
    "energy", "fell", "foot_forces", "foot_lift", "foot_slip", "gait", "ground_contacts", "ground_force", "jumps",
    "loaded", "momentum", "penetration", "performance", "power", "prop_hit", "push_limit", "push_map",
    "strength_limit", "summary", "support_polygon", "survival",
]  # fmt: skip
