"""Slippery ground that is seen: slower steps, and forces within its narrower friction cones."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes

SURE = 0.8  # share of the friction that is planned with
AHEAD = (0.0, 0.4, 0.8, 1.2, 1.6)  # [leg lengths] along the heading where it looks
SPEED = 1.15  # [sqrt(leg x g)] of a walk, for a friction of 1: 0.7 m/s for a person where it is 0.2


def on_slippery(
    wishes: Wishes, m: WalkMemory, seen: SeenBody, t: WalkTuning, body: WalkingBody
) -> tuple[Wishes, WalkTuning]:
    """Returns the wishes and the tuning for the ground under the feet and ahead of them."""
    assert wishes.terrain is not None
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    places = (seen.flat[:, None] + np.array(AHEAD)[:, None] * body.hips_height * d).reshape(-1, 2)
    least = wishes.terrain.least_friction(places[:, 0], places[:, 1])
    if least is None or SURE * least >= t.friction:
        return wishes, t
    most = SPEED * least * body.leg_speed
    speed, aside = (min(max(one, -most), most) for one in (wishes.speed, wishes.aside))
    return wishes._replace(speed=speed, aside=aside), _careful(t, SURE * least)


@lru_cache(maxsize=64)
def _careful(t: WalkTuning, friction: float) -> WalkTuning:
    return replace(t, friction=friction)
