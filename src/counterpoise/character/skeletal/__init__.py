"""A character built on a bare skeleton: the parts of its joints, shapes and masses of its segments, and its soles."""

from counterpoise.character.skeletal.build import character_from_skeleton

__all__ = ["character_from_skeleton"]
