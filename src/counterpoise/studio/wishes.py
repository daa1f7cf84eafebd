"""Wishes of a live `Locomotion` as the page shows them: sliders in the units of the body, and choices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from counterpoise.character.character import Character
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.locomotion.gait_change import GAITS
from counterpoise.control.walk.styles import STYLES
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.studio.tuning import OWN, Slider, comments_of, unit_of

USUAL = "normal"  # the style of a Locomotion without one


class WishRange(NamedTuple):
    """Where a slider begins and ends, in units of the body."""

    low: float
    high: float
    unit: str = ""  # "speed": sqrt(leg x g), "length": leg lengths, "time": sqrt(leg / g)


RANGES = {
    "speed": WishRange(-0.2, 1.33, "speed"),
    "heading": WishRange(-math.pi, math.pi),
    "step_length": WishRange(0.2, 1.0, "length"),
    "step_time": WishRange(1.0, 3.5, "time"),
    "width": WishRange(0.05, 0.45, "length"),
    "foot_height": WishRange(0.01, 0.3, "length"),
    "hip_height": WishRange(0.8, 1.0, "length"),
    "lean": WishRange(-0.3, 0.5),
    "arm_swing": WishRange(0.0, 2.0),
}


def wish_sliders(controller: Locomotion, character: Character) -> tuple[Slider, ...]:
    """Returns the wishes of a Locomotion: numbers, which are None where nothing is asked, and gait and style."""
    body, words = walking_body(character), comments_of(Locomotion)
    units = {"": 1.0, "speed": body.leg_speed, "length": body.hips_height, "time": body.leg_time}
    out = []
    for name, one in RANGES.items():
        value: Any = getattr(controller, name)
        size, meaning = units[one.unit], words.get(name, "")
        low, high = round(one.low * size, 2), round(one.high * size, 2)
        out.append(Slider(OWN, name, value, unit_of(meaning), meaning, low, high))
    style = controller.style if isinstance(controller.style, str) else USUAL
    gait = controller.gait if isinstance(controller.gait, str) else GAITS[0]
    for name, chosen, choices in (("gait", gait, GAITS), ("style", style, tuple(STYLES))):
        out.append(Slider(OWN, name, chosen, "", words.get(name, ""), 0.0, 0.0, choices))
    return tuple(out)
