"""Wishes for a live jump as the page shows them: how high, how far, how it turns, and what the legs do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from counterpoise.character.character import Character
from counterpoise.control.perform.jump_plan import STYLES, JumpWish
from counterpoise.control.standing_body import standing_body
from counterpoise.studio.tuning import Slider

FIRST_HEIGHT = 0.3  # [standing CoM heights] of the first jump
WITHOUT_FEET = 0.3  # [m] likewise, of a figure without feet
JUMP_RANGES = {  # wish -> lowest, highest [standing CoM heights, or deg], unit, meaning
    "height": (0.05, 0.65, "m", "rise of the centre of mass above standing [m]"),
    "forward": (-0.5, 1.3, "m", "where it lands, ahead [m]"),
    "side": (-0.7, 0.7, "m", "where it lands, to the left [m]"),
    "twist": (-360.0, 360.0, "deg", "how far it turns to the left [deg]"),
}


def first_jump(character: Character) -> JumpWish:
    """Returns the jump that is asked for until a person asks for another."""
    high = round(FIRST_HEIGHT * standing_body(character).height, 2) if character.feet else WITHOUT_FEET
    return JumpWish(height=high)


def jump_sliders(wish: JumpWish, character: Character, table: str) -> tuple[Slider, ...]:
    """Returns the wishes for a jump as rows of a table."""
    size = standing_body(character).height
    out = []
    for name, (low, high, unit, meaning) in JUMP_RANGES.items():
        scale = size if unit == "m" else 1.0
        low, high = round(low * scale, 2), round(high * scale, 2)
        out.append(Slider(table, name, getattr(wish, name), unit, meaning, low, high))
    return (*out, Slider(table, "style", wish.style, "", "what the legs do in the air", 0.0, 0.0, STYLES))


def with_wish(wish: JumpWish, name: str, value: float | str) -> JumpWish:
    """Returns the wishes with another value of one."""
    changes: dict[str, Any] = {name: value}
    return replace(wish, **changes)
