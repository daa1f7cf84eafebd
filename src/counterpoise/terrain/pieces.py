"""Pieces of terrain: boxes, ramps, stairs, stones, gaps, patches. Lengths are metres, yaw is degrees to the left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.terrain.solids import BoxSolid, Cut, column, number, pair, positive, positive_pair, turned

STEEPEST_RAMP = 60.0  # [deg]
MOST_STEPS = 1000  # of stairs, and stones of one piece
PATCH_DEPTH = 0.1  # [m] of a patch of other ground
MOST_FRICTION = 10.0


class Piece(ABC):
    """One part of a terrain: solids that stand on the ground, or a place cut out of it."""

    @abstractmethod
    def solids(self, bottom: float) -> list[BoxSolid]:
        """Returns its boxes, filled down to `bottom` [m]."""

    def cut(self) -> Cut | None:
        """Returns what it takes out of the ground."""
        return None

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Box(Piece):
    """A block with a level top at `height` above the ground around it."""

    center: tuple[float, float] = (0.0, 0.0)  # [m]
    size: tuple[float, float] = (1.0, 1.0)  # along its own x and y [m]
    height: float = 0.3  # of its top, z [m]
    yaw: float = 0.0  # [deg]

    def __post_init__(self) -> None:
        self._set(
            center=pair(self.center, "the centre of a box"),
            size=positive_pair(self.size, "the size of a box"),
            height=number(self.height, "the height of a box's top [m]"),
            yaw=number(self.yaw, "the yaw of a box [deg]"),
        )

    @staticmethod
    def between(corner: tuple[float, float], opposite: tuple[float, float], height: float) -> Box:
        """Returns the box between two corners seen from above, with its top at `height`."""
        (x0, y0), (x1, y1) = pair(corner, "a corner of a box"), pair(opposite, "a corner of a box")
        return Box((0.5 * (x0 + x1), 0.5 * (y0 + y1)), (abs(x1 - x0), abs(y1 - y0)), height)

    def solids(self, bottom: float) -> list[BoxSolid]:
        return [column("box", np.array(self.center), self.size, self.height, bottom, self.yaw)]


@dataclass(frozen=True)
class Ramp(Piece):
    """A slope that rises from the ground by `height` over `length`, along its yaw.

    It is one tilted box: its upper end is square to the slope, so it leans out below by height^2 / length. A `landing`
    is a level box behind it, at its upper height.
    """

    start: tuple[float, float] = (0.0, 0.0)  # middle of its lower edge [m]
    length: float = 2.0  # seen from above [m]
    height: float = 0.3  # [m]
    width: float = 2.0  # [m]
    landing: float = 0.0  # length of the level part behind the slope [m]
    yaw: float = 0.0  # [deg]

    def __post_init__(self) -> None:
        self._set(
            start=pair(self.start, "the start of a ramp"),
            length=positive(self.length, "the length of a ramp [m]"),
            height=positive(self.height, "the height of a ramp [m]"),
            width=positive(self.width, "the width of a ramp [m]"),
            landing=number(self.landing, "the landing of a ramp [m]"),
            yaw=number(self.yaw, "the yaw of a ramp [deg]"),
        )
        if self.landing < 0.0:
            raise BadValue(f"the landing of a ramp is a length >= 0; got {self.landing!r}")
        if self.slope > STEEPEST_RAMP:
            raise BadValue(
                f"a ramp is at most {STEEPEST_RAMP:g} degrees steep; {self.height:g} m over {self.length:g} m is "
                f"{self.slope:.0f} degrees: make it longer, or use a Box"
            )

    @property
    def slope(self) -> float:
        """Its angle [deg]."""
        return float(np.degrees(np.arctan2(self.height, self.length)))

    def solids(self, bottom: float) -> list[BoxSolid]:
        """Returns the tilted box, deep enough to reach `bottom` below its upper end, and the landing."""
        turn, slant = turned(self.yaw), float(np.hypot(self.length, self.height))
        c, s = self.length / slant, self.height / slant
        rotation = turn @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        half = np.array([0.5 * slant, 0.5 * self.width, 0.5 * (self.height - bottom) / c])
        origin = np.array([*self.start, 0.0])
        middle = origin + turn @ np.array([0.5 * self.length, 0.0, 0.5 * self.height])
        out = [BoxSolid(middle - half[2] * rotation[:, 2], rotation, half, "ramp")]
        if self.landing > 0.0:
            behind = origin + turn @ np.array([self.length + 0.5 * self.landing, 0.0, 0.0])
            out.append(column("landing", behind, (self.landing, self.width), self.height, bottom, self.yaw))
        return out


@dataclass(frozen=True)
class Stairs(Piece):
    """Steps that rise along the yaw of the stairs. For stairs that go down, turn them by 180 degrees."""

    start: tuple[float, float] = (0.0, 0.0)  # middle of the lowest step's front edge [m]
    steps: int = 4
    rise: float = 0.15  # of each step [m]
    tread: float = 0.3  # depth of each step [m]
    width: float = 2.0  # [m]
    landing: float | None = None  # depth of the last step [m]; None: as the others
    yaw: float = 0.0  # [deg]

    def __post_init__(self) -> None:
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or not 1 <= self.steps <= MOST_STEPS:
            raise BadValue(f"stairs have a whole number of steps, 1 to {MOST_STEPS}; got {self.steps!r}")
        self._set(
            start=pair(self.start, "the start of stairs"),
            rise=positive(self.rise, "the rise of a step [m]"),
            tread=positive(self.tread, "the tread of a step [m]"),
            width=positive(self.width, "the width of stairs [m]"),
            landing=None if self.landing is None else positive(self.landing, "the landing of stairs [m]"),
            yaw=number(self.yaw, "the yaw of stairs [deg]"),
        )

    def solids(self, bottom: float) -> list[BoxSolid]:
        turn, out = turned(self.yaw), []
        for i in range(self.steps):
            depth = self.landing if self.landing is not None and i == self.steps - 1 else self.tread
            middle = np.array([*self.start, 0.0]) + turn @ np.array([i * self.tread + 0.5 * depth, 0.0, 0.0])
            out.append(column("step", middle, (depth, self.width), (i + 1) * self.rise, bottom, self.yaw))
        return out


@dataclass(frozen=True)
class SteppingStones(Piece):
    """Square stones with level tops; in a gap they stand on its floor."""

    centers: Sequence[tuple[float, float]] = ((0.0, 0.0),)  # [m]
    size: float = 0.4  # edge of each [m]
    height: float | Sequence[float] = 0.1  # z of the tops [m], one for all or one for each
    yaw: float | Sequence[float] = 0.0  # [deg], one for all or one for each

    def __post_init__(self) -> None:
        centers = tuple(pair(center, "the centre of a stone") for center in self.centers)
        if not 1 <= len(centers) <= MOST_STEPS:
            raise BadValue(f"stepping stones are 1 to {MOST_STEPS}; got {len(centers)} centres")
        self._set(
            centers=centers,
            size=positive(self.size, "the size of a stone [m]"),
            height=_each(self.height, len(centers), "the height of stones [m]"),
            yaw=_each(self.yaw, len(centers), "the yaw of stones [deg]"),
        )

    @staticmethod
    def in_row(
        start: tuple[float, float] = (0.0, 0.0), count: int = 6, spacing: float = 0.5, *, size: float = 0.4,
        height: float = 0.1, scatter: float = 0.0, height_scatter: float = 0.0, yaw: float = 0.0, seed: int = 0,
    ) -> SteppingStones:  # fmt: skip
        """Returns stones `spacing` apart along a yaw [deg], from `start` on.

        Places are moved by up to `scatter` [m] along and across, heights by up to `height_scatter` [m], by `seed`.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_STEPS:
            raise BadValue(f"a row has 1 to {MOST_STEPS} stones; got {count!r}")
        random = np.random.default_rng(seed)
        places = np.array([*pair(start, "the start of a row of stones")]) + _along(count, spacing, scatter, yaw, random)
        heights = height + height_scatter * random.uniform(-1.0, 1.0, count)
        return SteppingStones([(float(x), float(y)) for x, y in places], size, [float(h) for h in heights], yaw)

    def solids(self, bottom: float) -> list[BoxSolid]:
        heights, yaws = (v if isinstance(v, tuple) else (v,) * len(self.centers) for v in (self.height, self.yaw))
        return [
            column("stone", np.array(center), (self.size, self.size), float(height), bottom, float(yaw))
            for center, height, yaw in zip(self.centers, heights, yaws, strict=True)
        ]


@dataclass(frozen=True)
class Gap(Piece):
    """A rectangular trench: the ground inside lies `depth` below the ground around it.

    Ground with a gap is made of boxes. They end `GROUND_REACH` (50 m) beyond the outermost gap.
    """

    center: tuple[float, float] = (1.0, 0.0)  # [m]
    size: tuple[float, float] = (0.5, 4.0)  # along x and y [m]
    depth: float = 1.0  # [m]

    def __post_init__(self) -> None:
        self._set(
            center=pair(self.center, "the centre of a gap"),
            size=positive_pair(self.size, "the size of a gap"),
            depth=positive(self.depth, "the depth of a gap [m]"),
        )

    def solids(self, bottom: float) -> list[BoxSolid]:
        return []

    def cut(self) -> Cut:
        (x, y), (a, b) = self.center, self.size
        return Cut(x - 0.5 * a, x + 0.5 * a, y - 0.5 * b, y + 0.5 * b, self.depth)


@dataclass(frozen=True)
class Patch(Piece):
    """A rectangle of the level ground with a friction of its own, such as ice. Around it, see `Gap`."""

    center: tuple[float, float] = (1.0, 0.0)  # [m]
    size: tuple[float, float] = (1.0, 4.0)  # along x and y [m]
    friction: float = 0.2

    def __post_init__(self) -> None:
        self._set(
            center=pair(self.center, "the centre of a patch"),
            size=positive_pair(self.size, "the size of a patch"),
            friction=number(self.friction, "the friction of a patch"),
        )
        if not 0.0 <= self.friction <= MOST_FRICTION:
            raise BadValue(f"the friction of a patch is from 0 to {MOST_FRICTION:g}; got {self.friction!r}")

    def solids(self, bottom: float) -> list[BoxSolid]:
        return [replace(column("patch", np.array(self.center), self.size, 0.0, bottom), friction=self.friction)]

    def cut(self) -> Cut:
        (x, y), (a, b) = self.center, self.size
        return Cut(x - 0.5 * a, x + 0.5 * a, y - 0.5 * b, y + 0.5 * b, PATCH_DEPTH)


def _each(value: object, count: int, what: str) -> float | tuple[float, ...]:
    """Returns one number, or a tuple of `count` numbers."""
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        return number(value, what)
    if len(value) != count:
        raise BadValue(f"{what} is one number, or one for each of the {count} stones; got {len(value)}")
    return tuple(number(one, what) for one in value)


def _along(count: int, spacing: float, scatter: float, yaw: float, random: np.random.Generator) -> Array:
    """Returns places (count, 2) in a row, moved at random."""
    gap = positive(spacing, "the spacing of stones [m]")
    places = np.stack([gap * np.arange(count), np.zeros(count)], axis=1)
    return np.asarray((places + scatter * random.uniform(-1.0, 1.0, (count, 2))) @ turned(yaw)[:2, :2].T)
