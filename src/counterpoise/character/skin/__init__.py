"""A smooth body over a character's shapes, made from its measurements: it follows the bones, and is only drawn."""

from counterpoise.character.skin.dressing import is_library_person, toned
from counterpoise.character.skin.skin import Skin, skin_of

__all__ = ["Skin", "is_library_person", "skin_of", "toned"]
