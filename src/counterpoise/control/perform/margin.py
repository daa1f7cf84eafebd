"""A stunt planned with something in reserve, so that feedback can correct what goes wrong."""

from __future__ import annotations

from dataclasses import replace

from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize import TorqueLimit
from counterpoise.spacetime.stunt.stunt import Stunt

STRENGTH_SHARE = 0.85  # of every joint's strength that is planned
FRICTION = 0.6  # largest friction that is planned with
SOLE = 0.8  # share of the sole on which forces are planned


def with_reserve(
    stunt: Stunt, strength: float = STRENGTH_SHARE, friction: float = FRICTION, sole: float = SOLE
) -> Stunt:
    """Returns the stunt with its torques within a share of the strength and its forces in narrower friction cones
    and off the edges of the soles. Feet roll over their toes only where the stunt says so, and posture is left out:
    plans with it are performed less well."""
    if not (0.0 < strength <= 1.0 and friction > 0.0):
        raise BadValue(f"strength is a share from 0 to 1 and friction is positive; got {strength!r}, {friction!r}")
    wishes = [
        replace(one, share=one.share * strength) if isinstance(one, TorqueLimit) and one.limit is None else one
        for one in stunt.wishes
    ]
    if not any(isinstance(one, TorqueLimit) and one.joints is None for one in wishes):
        wishes.append(TorqueLimit(share=strength))
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
    return replace(stunt, wishes=tuple(wishes), contacts=tuple(contacts), taste=taste)
