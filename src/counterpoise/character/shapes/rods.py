"""A body's solids as rods, for keeping limbs apart: all points within a radius of a line.

The rod of a solid lies along the longest side of the box about it, is as long as that side and as thick as the next.
That is the shape itself for spheres and capsules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.character.shapes.solid import Solid, solids_of

if TYPE_CHECKING:
    from counterpoise.character.character import Character

Vector = tuple[float, float, float]
AS_LARGE = 0.99  # of the volume of the largest rod: rods of at least this share count as large as it


@dataclass(frozen=True)
class Rod:
    """All points within a radius of a line from one place of a body to another."""

    body: str
    start: Vector  # [m] body's frame
    end: Vector
    radius: float  # [m]

    @property
    def length(self) -> float:
        """Of the line [m]."""
        return float(np.linalg.norm(np.subtract(self.end, self.start)))


def rods_of(character: Character, body: str) -> list[Rod]:
    """One rod for every solid of a body."""
    index = character.body_id(body)
    return [_rod(body, solid) for solid in solids_of(character) if solid.body == index]


def main_rod(character: Character, body: str) -> Rod | None:
    """The largest of a body's rods, or of several as large (a foot's) their mean; None where it has no solid."""
    rods = rods_of(character, body)
    if not rods:
        return None
    size = [rod.radius**2 * (rod.radius + rod.length) for rod in rods]
    large = [rod for rod, volume in zip(rods, size, strict=True) if volume > AS_LARGE * max(size)]
    first = np.array([large[0].start, large[0].end])
    ends = [np.array([rod.start, rod.end]) for rod in large]
    ends = [p if np.abs(p - first).sum() <= np.abs(p[::-1] - first).sum() else p[::-1] for p in ends]
    start, end = np.mean(ends, axis=0)
    return Rod(body, _rounded(start), _rounded(end), max(rod.radius for rod in large))


def whole_rods(character: Character, body: str) -> list[Rod]:
    """All rods of a body whose solids are spheres and capsules, which rods show exactly; of any other its main rod."""
    index = character.body_id(body)
    own = [solid for solid in solids_of(character) if solid.body == index]
    if all(len(solid.corners) <= 2 and not solid.axes.any() for solid in own):
        return [_rod(body, solid) for solid in own]
    main = main_rod(character, body)
    return [] if main is None else [main]


def _rod(body: str, solid: Solid) -> Rod:
    _, middle, longest = np.argsort(solid.half)
    along = solid.frame[:, longest] * (solid.half[longest] - solid.half[middle])
    return Rod(body, _rounded(solid.centre - along), _rounded(solid.centre + along), float(solid.half[middle]))


def _rounded(place: np.ndarray) -> Vector:
    x, y, z = (round(float(c), 9) for c in place)
    return (x, y, z)
