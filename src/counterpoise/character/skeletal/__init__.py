"""A body for a bare skeleton: which joints are which parts, how thick and heavy each segment is, where soles are."""

from counterpoise.character.skeletal.build import character_from_skeleton

__all__ = ["character_from_skeleton"]
