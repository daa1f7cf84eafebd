"""Figures drawn and changed by hand (after Bawa 1995): every edit takes a Character and returns a new one."""

from counterpoise.character.editing.edits import *  # noqa: F403
from counterpoise.character.editing.edits import __all__ as __all__
