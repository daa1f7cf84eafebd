"""Height fields: ground of any shape from an array of heights, and rough ground made at random from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.terrain.pieces import Piece
from counterpoise.terrain.solids import BoxSolid, Cut, pair, positive, positive_pair

MOST_CELLS = 1_000_000  # of one field
LEAST_RANGE = 1e-6  # [m] between the highest and the lowest point of a field, as MuJoCo needs it


@dataclass(frozen=True, eq=False)
class HeightField(Piece):
    """A rectangle of ground whose heights are given on an even grid, two triangles a cell.

    Row 0 of `heights` is at the least y, column 0 at the least x. Where a height is below zero, the ground under the
    field is cut out, as under a Gap.
    """

    heights: ArrayLike  # (rows, columns) z [m]
    center: tuple[float, float] = (0.0, 0.0)  # [m]
    size: tuple[float, float] = (4.0, 4.0)  # along x and y [m]

    def __post_init__(self) -> None:
        try:
            heights = np.array(self.heights, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadValue("the heights of a field are numbers in rows of the same length") from None
        if heights.ndim != 2 or min(heights.shape) < 2 or heights.size > MOST_CELLS:
            raise BadValue(
                f"the heights of a field are an array (rows, columns) with at least 2 of each and at most "
                f"{MOST_CELLS} in all; got shape {heights.shape}",
                given=heights.shape,
            )
        if not np.isfinite(heights).all() or np.abs(heights).max() > 1e3:
            raise BadValue("the heights of a field are finite numbers of at most 1000 m")
        heights.flags.writeable = False
        self._set(
            heights=heights,
            center=pair(self.center, "the centre of a height field"),
            size=positive_pair(self.size, "the size of a height field"),
        )

    @property
    def grid(self) -> Array:
        """The given heights, (rows, columns) [m]."""
        return np.asarray(self.heights)

    @property
    def lowest(self) -> float:
        return float(self.grid.min())

    @property
    def range(self) -> float:
        """Highest less lowest [m]."""
        return max(float(self.grid.max()) - self.lowest, LEAST_RANGE)

    def stored(self) -> Array:
        """Returns the heights as MuJoCo keeps them: shares of the range in single precision, (rows, columns)."""
        return ((self.grid - self.lowest) / self.range).astype(np.float32).astype(np.float64)

    def surface_heights(self) -> Array:
        """Returns the heights that bodies collide with, (rows, columns) [m]."""
        return self.lowest + self.range * self.stored()

    def solids(self, bottom: float) -> list[BoxSolid]:
        return []

    def cut(self) -> Cut | None:
        if self.lowest >= 0.0:
            return None
        (x, y), (a, b) = self.center, self.size
        return Cut(x - 0.5 * a, x + 0.5 * a, y - 0.5 * b, y + 0.5 * b, -self.lowest)


def rough_ground(
    center: tuple[float, float] = (0.0, 0.0), size: tuple[float, float] = (6.0, 6.0), roughness: float = 0.05,
    grain: float = 0.4, cell: float = 0.05, level: float = 0.0, seed: int = 0,
) -> HeightField:  # fmt: skip
    """Returns uneven ground, the same for the same seed.

    Heights are between -`roughness` and `roughness` [m], in bumps about `grain` [m] wide, on cells of `cell` [m]. They
    go down to zero along the border, so that the field joins the ground. Within `level` [m] of the centre of the world
    the ground is level: a place to start from.
    """
    length, width = positive_pair(size, "the size of rough ground")
    height, bump, step = (
        positive(roughness, "the roughness of ground [m]"),
        positive(grain, "the grain of ground [m]"),
        positive(cell, "the cell of rough ground [m]"),
    )
    columns, rows = (max(2, round(side / step) + 1) for side in (length, width))
    if rows * columns > MOST_CELLS:
        raise BadValue(f"rough ground has at most {MOST_CELLS} heights; {rows} x {columns} asked: use a larger cell")
    (cx, cy), random = pair(center, "the centre of rough ground"), np.random.default_rng(seed)
    x, y = np.linspace(-0.5 * length, 0.5 * length, columns), np.linspace(-0.5 * width, 0.5 * width, rows)
    coarse = random.uniform(-1.0, 1.0, (max(2, round(width / bump) + 2), max(2, round(length / bump) + 2)))
    heights = height * _between(coarse, rows, columns)
    rim = np.minimum.outer(0.5 * width - np.abs(y), 0.5 * length - np.abs(x))
    heights = heights * _eased(rim / bump)
    if level > 0.0:
        far = np.hypot.outer(y + cy, x + cx)
        heights = heights * _eased((far - level) / bump)
    return HeightField(heights, (cx, cy), (length, width))


def _between(coarse: Array, rows: int, columns: int) -> Array:
    """Returns a coarse grid interpolated smoothly onto a finer one, (rows, columns)."""

    def weights(count: int, knots: int) -> tuple[Array, Array]:
        at = np.linspace(0.0, knots - 1.0, count)
        low = np.minimum(at.astype(np.int64), knots - 2)
        return low, _eased(at - low)

    r, u = weights(rows, coarse.shape[0])
    c, v = weights(columns, coarse.shape[1])
    upper = coarse[r][:, c] * (1.0 - v) + coarse[r][:, c + 1] * v
    lower = coarse[r + 1][:, c] * (1.0 - v) + coarse[r + 1][:, c + 1] * v
    return np.asarray(upper * (1.0 - u)[:, None] + lower * u[:, None])


def _eased(share: Array) -> Array:
    """Returns 0 below 0, 1 above 1, and a smooth step between."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s * s * (3.0 - 2.0 * s))
