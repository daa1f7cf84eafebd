"""Figures drawn and changed by hand (after Bawa 1995): every edit takes a Character and returns a new one."""

from counterpoise.character.editing.builder import Builder, build, build_on
from counterpoise.character.editing.checks import Limits, Oval
from counterpoise.character.editing.edits import (
    add_segment,
    add_segments,
    empty_figure,
    mirror_limb,
    remove_segment,
    rename,
    reroot,
    rerooted_pose,
    segment_line,
    set_angle,
    set_feet,
    set_hands,
    set_length,
    set_limits,
    set_mass,
    set_shape,
)
from counterpoise.character.editing.history import History
from counterpoise.character.editing.limit_sides import set_limit_side
from counterpoise.character.editing.parts import NewSegment

__all__ = [
    "Builder", "History", "Limits", "NewSegment", "Oval", "add_segment", "add_segments", "build", "build_on",
    "empty_figure", "mirror_limb", "remove_segment", "rename", "reroot", "rerooted_pose", "segment_line", "set_angle",
    "set_feet", "set_hands", "set_length", "set_limit_side", "set_limits", "set_mass", "set_shape",
]  # fmt: skip
