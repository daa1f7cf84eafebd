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
from counterpoise.solve.geometry import convex_hull

__all__ = [
    "Energy", "Fall", "GroundContacts", "Summary", "com", "convex_hull", "cop", "energy", "fell", "foot_forces",
    "foot_lift", "foot_slip", "ground_contacts", "ground_force", "momentum", "power", "summary", "support_polygon",
]  # fmt: skip
