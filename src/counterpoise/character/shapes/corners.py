"""The corners of a character's solids as arrays: the exact form for kernels and features that keep shapes off a plane.

The point about a corner c that lies lowest along a unit normal n is c - E E^T n / |E^T n| - r n (see `solid`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes.solid import Solid, solids_of

if TYPE_CHECKING:
    from counterpoise.character.character import Character

MESH_SHORTFALL = 0.1  # share of half the thickness of a mesh by which its chosen vertices may fall short of it ...
LEAST_SHORTFALL = 2e-3  # [m] ... or this much where that is more
DIRECTIONS = 1500  # along which the vertices of a mesh are compared


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of solids, each with the ellipsoid and the ball about it."""

    body: Ints  # (n,)
    place: Array  # (n, 3) in the body's frame [m]
    axes: Array  # (n, 3, 3) half-axes of the ellipsoid in the columns, body's frame [m]; zero for none
    radius: Array  # (n,) of the ball [m]

    def __len__(self) -> int:
        return len(self.body)

    def only(self, chosen: Flags) -> Corners:
        """Some of them."""
        return Corners(self.body[chosen], self.place[chosen], self.axes[chosen], self.radius[chosen])


@kept_with_character
def corners_of(character: Character) -> Corners:
    """The corners of all solids of a character, in the order of its geoms; of meshes only a few."""
    found = [(solid, corner) for solid in solids_of(character) for corner in few_corners(solid)]
    return Corners(
        np.array([solid.body for solid, _ in found], np.int64),
        np.array([corner for _, corner in found], float).reshape(-1, 3),
        np.array([solid.axes for solid, _ in found], float).reshape(-1, 3, 3),
        np.array([solid.radius for solid, _ in found], float),
    )


@kept_with_character
def body_corners(character: Character, body: str) -> Corners:
    """Those of one body."""
    corners = corners_of(character)
    return corners.only(corners.body == character.body_id(body))


def few_corners(solid: Solid) -> Array:
    """The corners (k, 3) of a solid; of a mesh as few as reach as far as all do, to within MESH_SHORTFALL.

    Greedy: the vertex that is missed most along any of DIRECTIONS is added until none is missed by more. Between these
    directions the shortfall may be half as much again.
    """
    corners = solid.corners
    if len(corners) <= 8:  # no more than a box has
        return corners
    allowed = max(MESH_SHORTFALL * float(solid.half.min()), LEAST_SHORTFALL)
    winners = np.unique([int((corners @ way).argmax()) for way in _WAYS])
    reach = corners[winners] @ _WAYS.T  # (winners, directions)
    farthest = reach.max(axis=0)
    chosen = [int(reach[:, 0].argmax())]
    short = farthest - reach[chosen[0]]
    while short.max() > allowed:
        chosen.append(int(reach[:, int(short.argmax())].argmax()))
        short = np.minimum(short, farthest - reach[chosen[-1]])
    return np.asarray(corners[winners[sorted(chosen)]])


def _evenly_spread(count: int) -> Array:
    """Unit vectors (count, 3) spread evenly over the sphere: equal steps of height, the golden angle between them."""
    z = (2.0 * np.arange(count) + 1.0) / count - 1.0
    angle = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(count)
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)


_LATTICE = np.array([way for way in product((-1.0, 0.0, 1.0), repeat=3) if any(way)])
_WAYS = np.concatenate([_LATTICE / np.linalg.norm(_LATTICE, axis=1, keepdims=True), _evenly_spread(DIRECTIONS)])
