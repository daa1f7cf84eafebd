"""A character's solids as a few spheres, for optimisers that keep fixed points off the ground.

sphere, capsule, box   exact: their corners, with their radius
mesh                   a few vertices of its hull; they fall short of it by at most MESH_SHORTFALL (see `corners`)
cylinder               RIM points on the rim of each end; they fall short of it by at most 8 % of its radius
ellipsoid              ELLIPSOID_RING spheres as thick as its shortest axis, centres on an ellipse of the other two:
                       exact along the axes; elsewhere at most 4 % of its longest half-axis inside, and outside by
                       up to a tenth of it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes.corners import few_corners
from counterpoise.character.shapes.solid import Solid, solids_of

if TYPE_CHECKING:
    from counterpoise.character.character import Character

ELLIPSOID_RING = 12  # spheres that stand for an ellipsoid
RIM = 8  # points that stand for the rim of a disc


@dataclass(frozen=True, eq=False)
class Spheres:
    """Spheres fixed to bodies; a sphere of radius zero is a point."""

    bodies: Ints  # (k,)
    places: Array  # (k, 3) centres in the body's frame [m]
    radii: Array  # (k,) [m]

    def on(self, body: int) -> list[tuple[Array, float]]:
        """(centre, radius) of the spheres of one body."""
        mine = np.flatnonzero(self.bodies == body)
        return [(self.places[i], float(self.radii[i])) for i in mine]


@kept_with_character
def spheres_of(character: Character) -> Spheres:
    """The spheres that stand for the solids of a character, in the order of its geoms."""
    found = [(s.body, place, radius) for s in solids_of(character) for place, radius in spheres_in(s)]
    return Spheres(
        np.array([body for body, _, _ in found], np.int64),
        np.array([place for _, place, _ in found], float).reshape(-1, 3),
        np.array([radius for _, _, radius in found], float),
    )


def spheres_in(solid: Solid) -> list[tuple[Array, float]]:
    """(centre, radius) of the spheres that stand for a solid."""
    lengths = np.linalg.norm(solid.axes, axis=0)
    if not lengths.any():
        return [(corner, solid.radius) for corner in few_corners(solid)]
    c, b, a = np.argsort(lengths)
    count = ELLIPSOID_RING if lengths[c] > 0.0 else RIM
    angles = (np.arange(count) * (2.0 * np.pi / count))[:, None]
    long, short = (lengths[a] - lengths[c]) * solid.frame[:, a], (lengths[b] - lengths[c]) * solid.frame[:, b]
    ring = np.cos(angles) * long + np.sin(angles) * short
    return [(corner + place, float(lengths[c])) for place in ring for corner in solid.corners]


def undersides(solid: Solid, down: Array) -> Array:
    """Points (n, 3) of a solid that would touch a floor below it; `down` is a unit vector in the body's frame.

    For every corner the lowest point; of a cylinder also the rims, since it may stand on all of its end.
    """
    lowest = solid.farthest(down)
    if not solid.axes.any() or len(solid.corners) == 1:
        return lowest
    return np.concatenate([lowest, [place for place, _ in spheres_in(solid)]])
