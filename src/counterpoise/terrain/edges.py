"""Edges of a terrain: segments along which the ground falls away."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array
from counterpoise.solve.geometry import convex_hull
from counterpoise.terrain.height_field import HeightField
from counterpoise.terrain.solids import BoxSolid

PROBE = 0.005  # [m] to either side of a segment where heights are compared
LEAST_FALL = 0.01  # [m] between the two sides of an edge: a step, or a slope of more than 63 degrees
SAME = 1e-9  # of a segment's length: cuts nearer than this are one

Heights = Callable[[Array, Array], Array]  # heights at places x (n,), y (n,)


def find_edges(boxes: tuple[BoxSolid, ...], fields: tuple[HeightField, ...], height: Heights) -> Array:
    """Returns the segments (k, 2, 3) along which the ground falls by LEAST_FALL within PROBE of them, at its top.

    Every edge of an upper face is divided where it meets other solids. Of the parts those are kept that are not covered
    and have lower ground on one side.
    """
    outlines = [convex_hull(box.corners()[:, :2]) for box in boxes] + [_rectangle(one) for one in fields]
    whole = [edge for box in boxes for edge in _sides(box.top_corners())]
    parts: list[Array] = []
    kept_with: list[int] = []  # number of the edge that a part belongs to
    for number, (a, b) in enumerate(whole):
        cuts = np.array(sorted({0.0, 1.0, *_crossings(a, b, outlines), *_entries(a, b, boxes)}))
        cuts = cuts[np.concatenate([[True], np.diff(cuts) > SAME])]
        for s, t in pairwise(cuts.tolist()):
            parts.append(np.array([a + s * (b - a), a + t * (b - a)]))
            kept_with.append(number)
    found = np.array(parts).reshape(-1, 2, 3)
    falls = _falls(found, height)
    merged: list[Array] = []
    last = -1
    for part, number, falling in zip(found, kept_with, falls, strict=True):
        if falling and number == last:
            merged[-1] = np.array([merged[-1][0], part[1]])
        elif falling:
            merged.append(part)
        last = number if falling else -1
    grid = np.concatenate([_grid_edges(one) for one in fields]) if fields else np.zeros((0, 2, 3))
    grid = grid[_falls(grid, height)]
    return _without_doubles(np.concatenate([np.array(merged).reshape(-1, 2, 3), grid]))


def _falls(segments: Array, height: Heights) -> Array:
    """Returns (k,): whether the ground beside the middle of a segment is lower on one side, and nowhere above it."""
    if len(segments) == 0:
        return np.zeros(0, bool)
    middle, along = segments.mean(axis=1), segments[:, 1] - segments[:, 0]
    length = np.hypot(along[:, 0], along[:, 1])
    long = length > 1e-9
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.where(long, length, 1.0)[:, None] * PROBE
    left = height(middle[:, 0] + across[:, 0], middle[:, 1] + across[:, 1])
    right = height(middle[:, 0] - across[:, 0], middle[:, 1] - across[:, 1])
    upper, lower = np.maximum(left, right), np.minimum(left, right)
    return np.asarray(long & (middle[:, 2] - lower > LEAST_FALL) & (upper - middle[:, 2] < LEAST_FALL))


def _sides(corners: Array) -> list[tuple[Array, Array]]:
    return [(corners[i], corners[(i + 1) % len(corners)]) for i in range(len(corners))]


def _rectangle(field: HeightField) -> Array:
    (x, y), (a, b) = field.center, field.size
    return np.array([x, y]) + 0.5 * np.array([[-a, -b], [a, -b], [a, b], [-a, b]])


def _crossings(a: Array, b: Array, outlines: list[Array]) -> list[float]:
    """Returns where the segment a-b crosses outlines or passes their corners, seen from above, as shares of it."""
    out: list[float] = []
    d = (b - a)[:2]
    size = float(d @ d)
    for outline in outlines:
        for p, q in _sides(outline):
            e, w = q - p, p - a[:2]
            turn = float(d[0] * e[1] - d[1] * e[0])
            if abs(turn) <= 1e-12 * np.sqrt(size * float(e @ e)):  # parallel: they may lie on one line
                out.append(float(w @ d) / size)
                continue
            t = float(w[0] * e[1] - w[1] * e[0]) / turn
            s = float(w[0] * d[1] - w[1] * d[0]) / turn
            if -SAME <= s <= 1.0 + SAME:
                out.append(t)
    return [t for t in out if SAME < t < 1.0 - SAME]


def _entries(a: Array, b: Array, boxes: tuple[BoxSolid, ...]) -> list[float]:
    """Returns where the segment a-b enters or leaves boxes, as shares of it."""
    out: list[float] = []
    for box in boxes:
        p, d = box.rotation.T @ (a - box.centre), box.rotation.T @ (b - a)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(-box.half - p) / d, (box.half - p) / d])
        first, last = float(np.nanmax(ends.min(axis=0))), float(np.nanmin(ends.max(axis=0)))
        if first <= last:
            out += [first, last]
    return [t for t in out if SAME < t < 1.0 - SAME]


def _grid_edges(field: HeightField) -> Array:
    """Returns the edges of a field's border and of its steep cells, (k, 2, 3) [m]."""
    z, (rows, columns) = field.surface_heights(), field.grid.shape
    corners = _rectangle(field)
    x, y = np.linspace(corners[0, 0], corners[1, 0], columns), np.linspace(corners[0, 1], corners[2, 1], rows)
    points = np.stack([*np.meshgrid(x, y), z], axis=-1)
    slope_x = np.abs(np.diff(z, axis=1)) / (x[1] - x[0])  # (rows, columns - 1) along the lines of the grid
    slope_y = np.abs(np.diff(z, axis=0)) / (y[1] - y[0])  # (rows - 1, columns)
    steep = LEAST_FALL / PROBE
    beside_x, beside_y = np.zeros(slope_x.shape, bool), np.zeros(slope_y.shape, bool)
    cells = np.maximum(slope_y[:, :-1], slope_y[:, 1:]) > steep
    beside_x[:-1] |= cells
    beside_x[1:] |= cells
    cells = np.maximum(slope_x[:-1], slope_x[1:]) > steep
    beside_y[:, :-1] |= cells
    beside_y[:, 1:] |= cells
    beside_x[[0, -1]] = True
    beside_y[:, [0, -1]] = True
    lengthwise = np.stack([points[:, :-1], points[:, 1:]], axis=2)[beside_x]
    crosswise = np.stack([points[:-1], points[1:]], axis=2)[beside_y]
    return np.concatenate([lengthwise, crosswise])


def _without_doubles(segments: Array) -> Array:
    """Returns the segments, each once, in the order in which they were found."""
    seen: set[tuple[float, ...]] = set()
    out = []
    for one in segments:
        key = min(tuple(np.round(one, 6).ravel()), tuple(np.round(one[::-1], 6).ravel()))
        if key not in seen:
            seen.add(key)
            out.append(one)
    return np.array(out).reshape(-1, 2, 3)
