"""Terrain: ground that is more than a plane, and what can be asked of it: height, normal, surface and edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.objectives.obstacles import Obstacles, highest
from counterpoise.objectives.surface import LEVEL, Surface
from counterpoise.terrain.edges import find_edges
from counterpoise.terrain.height_field import HeightField
from counterpoise.terrain.pieces import Piece
from counterpoise.terrain.solids import SINK, BoxSolid, ground_around

SOLE_RELIEF = 0.08  # [m] below the highest point of a sole's ground within which ground counts for it
LEAST_WIDTH = 0.02  # [m] across which points must spread to tell a plane
LEAST_UPRIGHT = 0.7  # least z of a normal that a sole can rest on


@dataclass(frozen=True, eq=False)
class Terrain:
    """Level ground at z = 0 with pieces on and in it. Where pieces overlap, the highest counts.

        terrain = cp.Terrain([cp.Box((1.0, 0.0), (1.0, 2.0), 0.3), cp.Gap((3.0, 0.0), (0.5, 4.0))])
        world = cp.World(terrain=terrain)

    Heights and normals are those of what bodies collide with. Questions take numbers or arrays of places.
    """

    pieces: Piece | Sequence[Piece] = ()
    floor: float = field(init=False)  # z of the lowest ground, a plane [m]
    boxes: tuple[BoxSolid, ...] = field(init=False)  # all solids but the floor and the fields
    fields: tuple[HeightField, ...] = field(init=False)
    obstacles: Obstacles = field(init=False, repr=False)  # the same as tables, for kernels and `Clearance`

    def __post_init__(self) -> None:
        given = (self.pieces,) if isinstance(self.pieces, Piece) else tuple(self.pieces)
        for one in given:
            if not isinstance(one, Piece):
                raise BadValue(
                    "terrain is made of Box, Ramp, Stairs, SteppingStones, Gap and HeightField; "
                    f"got {type(one).__name__}: {one!r}"
                )
        cuts = [cut for piece in given if (cut := piece.cut()) is not None]
        floor = -max((cut.depth for cut in cuts), default=0.0)
        bottom = floor - SINK
        solids = ground_around(cuts, bottom) if cuts else []
        for number, piece in enumerate(given):
            for solid in piece.solids(bottom):
                if solid.name not in ("ramp",) and solid.centre[2] + solid.half[2] <= floor:
                    raise BadValue(f"{piece!r} lies below the lowest ground, at {floor:g} m: make it higher")
                solids.append(replace(solid, name=f"terrain_{number}_{solid.name}_{len(solids)}"))
        for name, value in {"pieces": given, "floor": floor, "boxes": tuple(solids)}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "fields", tuple(piece for piece in given if isinstance(piece, HeightField)))
        self._lay_out()

    def _lay_out(self) -> None:
        """Makes the tables that kernels read."""
        rows: list[list[float]] = []
        data: list[Array] = []
        for one in self.fields:
            (x, y), (a, b), (r, c) = one.center, one.size, one.grid.shape
            start = sum(len(before) for before in data)
            rows.append([x - 0.5 * a, y - 0.5 * b, a / (c - 1), b / (r - 1), r, c, start])
            data.append(one.surface_heights().ravel())
        boxes = np.array([solid.row() for solid in self.boxes]).reshape(-1, 15)
        fields, heights = np.array(rows, np.float64).reshape(-1, 7), np.concatenate(data) if data else np.zeros(0)
        object.__setattr__(self, "obstacles", Obstacles(self.floor, boxes, fields, heights))

    # -- questions ---------------------------------------------------------------------------------------------------

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Returns the height of the ground at places, z [m]; a number for a number, or the shape of the arrays."""
        found, _, _, shape = self._tops(x, y)
        return found.reshape(shape) if shape else found[0]

    def normal(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Returns the upward normal of the ground at places, (3,) for a number, else (..., 3)."""
        _, found, _, shape = self._tops(x, y)
        return found.reshape((*shape, 3))

    def surface(self, x: float, y: float) -> Surface:
        """Returns the plane of the ground at a place. The same plane has the same origin, wherever it is asked for."""
        height, normal, _, shape = self._tops(x, y)
        if shape:
            raise BadValue(f"a surface is asked for at one place, x and y; got arrays of shape {shape}")
        z, n = float(height[0]), normal[0]
        if n[2] == 1.0:
            return LEVEL if z == 0.0 else Surface((0.0, 0.0, z))
        at_axis = z + (n[0] * float(np.asarray(x)) + n[1] * float(np.asarray(y))) / n[2]
        return Surface.tilted(n, (0.0, 0.0, at_axis))

    def surface_under(self, x: ArrayLike, y: ArrayLike) -> Surface:
        """Returns the plane on which a sole with points above these places, (n,) each, comes to rest.

        It goes through the ground below its highest points. Where these are fewer than three, lie on a line or are too
        uneven for a plane, it is the surface at the highest place.
        """
        height, normal, _, _ = self._tops(x, y)
        places = np.column_stack([np.broadcast_to(x, height.shape), np.broadcast_to(y, height.shape), height])
        top = int(height.argmax())
        if normal[top, 2] == 1.0 and np.all((height == height[top]) | (height < height[top] - SOLE_RELIEF)):
            return self.surface(*places[top, :2])
        high = places[height > height[top] - SOLE_RELIEF]
        if len(high) >= 3:
            centre = high.mean(axis=0)
            _, sizes, axes = np.linalg.svd(high - centre)
            n = axes[2] if axes[2, 2] > 0.0 else -axes[2]
            if sizes[1] > LEAST_WIDTH and n[2] > LEAST_UPRIGHT:
                above = float(((high - centre) @ n).max())  # the sole rests on its highest points
                return Surface.tilted(n, centre + above * n)
        return self.surface(*places[top, :2])

    def least_friction(self, x: ArrayLike, y: ArrayLike) -> float | None:
        """Returns the least friction of patches at places; None where no patch has one of its own."""
        if not self.is_patched:
            return None
        which = self._tops(x, y)[2]
        own = [self.boxes[i].friction for i in which.tolist() if 0 <= i < len(self.boxes)]
        return min((one for one in own if one is not None), default=None)

    @cached_property
    def is_patched(self) -> bool:
        """Whether a part of it has a friction of its own."""
        return any(solid.friction is not None for solid in self.boxes)

    def edges(self) -> Array:
        """Returns the segments (k, 2, 3) [m] along which the ground falls away: by a step, or steeper than 63 degrees.

        They lie on the upper side. Ground with gaps ends far away, at edges of its own.
        """
        return self._edges.copy()

    @cached_property
    def _edges(self) -> Array:
        return find_edges(self.boxes, self.fields, self.height)

    def _tops(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, Ints, tuple[int, ...]]:
        """Returns height (n,), normal (n, 3) and number (n,) of the highest solids, and the shape of the places."""
        try:
            xs, ys = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        except ValueError:
            raise BadValue(f"x and y of places fit together; got {np.shape(x)} and {np.shape(y)}") from None
        if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
            raise BadValue("places on a terrain are finite numbers [m]")
        n = xs.size
        height, normal, which = np.empty(n), np.empty((n, 3)), np.empty(n, np.int64)
        highest(xs.ravel(), ys.ravel(), self.obstacles, height, normal, which)
        return height, normal, which, xs.shape
