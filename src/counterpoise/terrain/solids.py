"""What terrain is made of: boxes in any position, places cut out of the ground, and the ground around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue

SINK = 0.1  # [m] that solids reach below the lowest ground, so that nothing gets under them
GROUND_REACH = 50.0  # [m] to every side of the cuts that ground with a cut reaches
FARTHEST = 1e4  # [m] largest coordinate or size of a piece


@dataclass(frozen=True, eq=False)
class BoxSolid:
    """A box in any position: one convex solid of a terrain."""

    centre: Array  # (3,) [m], world
    rotation: Array  # (3, 3) world from box
    half: Array  # (3,) half edges [m]
    name: str  # of its geom
    is_ground: bool = False  # part of the ground itself, not of something on it
    friction: float | None = None  # of its own; None: that of the world

    def row(self) -> Array:
        """Returns (15,), for kernels: centre, rotation row by row, half edges."""
        return np.concatenate([self.centre, self.rotation.ravel(), self.half])

    def top_corners(self) -> Array:
        """Returns the corners of its upper face, counter-clockwise from above, (4, 3) [m]."""
        signs = np.array([[-1.0, -1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
        return self.centre + (signs * self.half) @ self.rotation.T

    def corners(self) -> Array:
        """Returns all corners, (8, 3) [m]."""
        top = self.top_corners()
        return np.concatenate([top, top - 2.0 * self.half[2] * self.rotation[:, 2]])


@dataclass(frozen=True)
class Cut:
    """A rectangle that is taken out of the ground at z = 0, with its floor `depth` below."""

    x0: float  # [m]
    x1: float
    y0: float
    y1: float
    depth: float


def turned(yaw: float) -> Array:
    """Returns the rotation about the vertical by `yaw` [deg], (3, 3); exact for right angles."""
    quarter, rest = divmod(yaw, 90.0)
    c, s = (1.0, 0.0) if rest == 0.0 else (float(np.cos(np.radians(rest))), float(np.sin(np.radians(rest))))
    for _ in range(int(quarter) % 4):
        c, s = -s, c
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def column(
    name: str, centre: Array, size: tuple[float, float], top: float, bottom: float, yaw: float = 0.0,
    is_ground: bool = False,
) -> BoxSolid:  # fmt: skip
    """Returns an upright box from its top [m] down to `bottom` [m]."""
    half = np.array([0.5 * size[0], 0.5 * size[1], 0.5 * (top - bottom)])
    return BoxSolid(np.array([centre[0], centre[1], top - half[2]]), turned(yaw), half, name, is_ground)


def ground_around(cuts: Sequence[Cut], bottom: float) -> list[BoxSolid]:
    """Returns the ground at z = 0 outside of the cuts as boxes down to `bottom`, and floors of the shallower cuts.

    The ground reaches GROUND_REACH beyond the cuts. Where cuts overlap, the deepest counts.
    """
    ordered = sorted(cuts, key=lambda cut: -cut.depth)
    xs = sorted({x for cut in cuts for x in (cut.x0, cut.x1)})
    ys = sorted({y for cut in cuts for y in (cut.y0, cut.y1)})
    xs = [xs[0] - GROUND_REACH, *xs, xs[-1] + GROUND_REACH]
    ys = [ys[0] - GROUND_REACH, *ys, ys[-1] + GROUND_REACH]
    deepest = max(cut.depth for cut in cuts)
    strips: list[tuple[float, float, tuple[tuple[float, float, float], ...]]] = []
    for x0, x1 in pairwise(xs):
        runs: list[tuple[float, float, float]] = []  # y0, y1, depth
        for y0, y1 in pairwise(ys):
            depth = _depth_at(ordered, 0.5 * (x0 + x1), 0.5 * (y0 + y1))
            if runs and runs[-1][2] == depth:
                runs[-1] = (runs[-1][0], y1, depth)
            else:
                runs.append((y0, y1, depth))
        if strips and strips[-1][2] == tuple(runs):
            strips[-1] = (strips[-1][0], x1, tuple(runs))
        else:
            strips.append((x0, x1, tuple(runs)))
    out: list[BoxSolid] = []
    for x0, x1, found in strips:
        for y0, y1, depth in found:
            if depth < deepest:
                middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
                out.append(column(f"ground_{len(out)}", middle, (x1 - x0, y1 - y0), -depth, bottom, is_ground=True))
    return out


def _depth_at(ordered: Sequence[Cut], x: float, y: float) -> float:
    for cut in ordered:
        if cut.x0 < x < cut.x1 and cut.y0 < y < cut.y1:
            return cut.depth
    return 0.0


# -- checks of what is given -----------------------------------------------------------------------------------------


def pair(value: object, what: str) -> tuple[float, float]:
    """Returns two finite numbers; raises BadValue otherwise."""
    try:
        x, y = (number(v, what) for v in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise BadValue(f"{what} is two numbers [m], such as (1.0, 0.5); got {value!r}", given=value) from None
    return x, y


def positive_pair(value: object, what: str) -> tuple[float, float]:
    """Returns two positive numbers; raises BadValue otherwise."""
    x, y = pair(value, what)
    if not (x > 0.0 and y > 0.0):
        raise BadValue(f"{what} is two positive numbers [m]; got {value!r}", given=value)
    return x, y


def positive(value: object, what: str) -> float:
    """Returns a positive number; raises BadValue otherwise."""
    found = number(value, what)
    if not found > 0.0:
        raise BadValue(f"{what} must be positive; got {value!r}", given=value)
    return found


def number(value: object, what: str) -> float:
    """Returns a finite number; raises BadValue otherwise."""
    try:
        if isinstance(value, (str, bool)):
            raise TypeError
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadValue(f"{what} is a number; got {value!r}", given=value) from None
    if not abs(found) <= FARTHEST:
        raise BadValue(f"{what} is a finite number of at most {FARTHEST:g}; got {value!r}", given=value)
    return found
