"""Paths: where a point of a body goes, and when (after Bawa 1995)."""

from counterpoise.pose.paths.path import Path
from counterpoise.pose.paths.speeds import SPEEDS, Speed

__all__ = ["SPEEDS", "Path", "Speed"]
