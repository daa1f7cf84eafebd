"""Terrain: ground of boxes, ramps, stairs, stones, gaps and height fields, with height, normal and edges to ask for."""

from counterpoise.terrain.height_field import HeightField, rough_ground
from counterpoise.terrain.pieces import Box, Gap, Patch, Piece, Ramp, Stairs, SteppingStones
from counterpoise.terrain.terrain import Terrain

__all__ = [
    "Box", "Gap", "HeightField", "Patch", "Piece", "Ramp", "Stairs", "SteppingStones", "Terrain", "rough_ground",
]  # fmt: skip
