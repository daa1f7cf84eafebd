"""The shapes of a body: one description (`Solid`), and what is read from it: corners, spheres, rods, ends."""

from counterpoise.character.shapes.corners import Corners, body_corners, corners_of
from counterpoise.character.shapes.ends import end_of, middle_of
from counterpoise.character.shapes.rods import Rod, main_rod, rods_of, whole_rods
from counterpoise.character.shapes.solid import (
    Solid,
    body_solids,
    drawn_height,
    drawn_in,
    solids_in,
    solids_of,
    world_reach,
)
from counterpoise.character.shapes.spheres import Spheres, spheres_of, undersides

__all__ = [
    "Corners",
    "Rod",
    "Solid",
    "Spheres",
    "body_corners",
    "body_solids",
    "corners_of",
    "drawn_height",
    "drawn_in",
    "end_of",
    "main_rod",
    "middle_of",
    "rods_of",
    "solids_in",
    "solids_of",
    "spheres_of",
    "undersides",
    "whole_rods",
    "world_reach",
]  # fmt: skip
