"""What a recording is worth: did it stand, where did it press, what did it cost."""

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
    support_polygon,
)
from counterpoise.measure.mechanics import Energy, Summary, com, energy, momentum, power, summary
from counterpoise.measure.pushes import (
    AnkleLimit,
    Bar,
    PushLimit,
    Survival,
    ankle_limit,
    push_limit,
    push_map,
    survival,
)
from counterpoise.solve.geometry import convex_hull

__all__ = [
    "AnkleLimit", "Bar", "Energy", "Fall", "GroundContacts", "PushLimit", "Summary", "Survival", "ankle_limit", "com",
    "convex_hull", "cop", "energy", "fell", "foot_forces", "foot_lift", "foot_slip", "ground_contacts", "ground_force",
    "momentum", "power", "push_limit", "push_map", "summary", "support_polygon", "survival",
]  # fmt: skip
