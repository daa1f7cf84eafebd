"""Stunts as TOML files: a character, keys, contacts and requirements, read with errors that name file and line."""

from counterpoise.spacetime.stunt.stunt import Stunt, read_stunt

__all__ = ["Stunt", "read_stunt"]
