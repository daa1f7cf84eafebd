"""A stunt planned with something in reserve, so that feedback can correct what goes wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize import Apart, TorqueLimit
from counterpoise.spacetime.optimize.rods import gap_of_lines, rod_pairs
from counterpoise.spacetime.stunt.stunt import Stunt

STRENGTH_SHARE = 0.85  # of every joint's strength that is planned
FRICTION = 0.6  # largest friction that is planned with
SOLE = 0.8  # share of the sole on which forces are planned
ROOM = 0.017  # [body heights] between parts that are kept apart: 3 cm for a person
REST_SHARE = 0.5  # of the smallest gap of the neutral pose, which that room does not exceed


def with_reserve(
    stunt: Stunt, strength: float = STRENGTH_SHARE, friction: float = FRICTION, sole: float = SOLE
) -> Stunt:
    """Returns the stunt with its torques within a share of the strength, its forces in narrower friction cones and off
    the edges of the soles, and with room between parts that are kept apart: an arm that passes the hip by a hair in
    the plan hits it when it is performed. Feet roll over their toes only where the stunt says so, and posture is left
    out: plans with it are performed less well. Feet land at rest for the same reason."""
    if not (0.0 < strength <= 1.0 and friction > 0.0):
        raise BadValue(f"strength is a share from 0 to 1 and friction is positive; got {strength!r}, {friction!r}")
    wishes = [
        replace(one, share=one.share * strength) if isinstance(one, TorqueLimit) and one.limit is None else one
        for one in stunt.wishes
    ]
    if not any(isinstance(one, TorqueLimit) and one.joints is None for one in wishes):
        wishes.append(TorqueLimit(share=strength))
    room = room_between_parts(stunt.character)
    wishes = [replace(one, room=max(one.room, room)) if isinstance(one, Apart) else one for one in wishes]
    contacts = [
        touch
        if touch.how == "bar"
        else replace(
            touch,
            friction=min(touch.friction, friction),
            sole=min(touch.sole, sole),
            roll=touch.roll or 0.0,
            land=touch.land or 0.0,
        )
        for touch in stunt.contacts
    ]
    taste = replace(stunt.taste, posture=0.0)
    return replace(stunt, wishes=tuple(wishes), contacts=tuple(contacts), taste=taste, landing="still")


@kept_with_character
def room_between_parts(character: Character) -> float:
    """Returns the room that a plan leaves between parts of the body [m]."""
    rest = character.snapshot()

    def place(body: str, local: tuple[float, float, float]) -> Array:
        return np.asarray(rest.position(body, local)[None])

    gaps = [
        float(np.linalg.norm(gap_of_lines(*(place(r.body, p) for r in pair for p in (r.start, r.end)))))
        - sum(r.radius for r in pair)
        for pair in rod_pairs(character)
    ]
    return min(ROOM * character.height, REST_SHARE * min(gaps, default=np.inf))
