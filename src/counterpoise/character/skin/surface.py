"""The surface of a distance field as triangles: cells of a grid cut into tetrahedra, points drawn onto the surface."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterpoise.arrays import Array, Flags, Ints

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
TETRAHEDRA = np.array([[0, 5, 1, 6], [0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6]])
NEWTON_STEPS = 3
SHORTEST = 0.1  # of an edge of the grid, between a point and its ends, before points are drawn onto the surface
Distance = Callable[[Array], Array]


def surface_of(distance: Distance, low: Array, high: Array, step: float) -> tuple[Array, Ints]:
    """Returns points (k, 3) and faces (m, 3), anticlockwise from outside, of the zero level in a box. It is closed."""
    counts = np.ceil((high - low) / step).astype(int) + 1
    axes = [low[k] + step * np.arange(counts[k]) for k in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = np.concatenate([distance(part) for part in np.array_split(grid, max(1, len(grid) // 50_000))])
    inside = (values < 0.0).reshape(counts)
    pairs, outward = _crossings(inside, counts)
    flat = np.sort(pairs.reshape(-1, 2), axis=1)
    edges, index = np.unique(flat, axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)
    a, b = values[edges[:, 0]], values[edges[:, 1]]
    share = np.clip(a / (a - b), SHORTEST, 1.0 - SHORTEST)[:, None]  # no triangle without a size
    points = grid[edges[:, 0]] * (1.0 - share) + grid[edges[:, 1]] * share
    sides = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    wrong = np.sum(sides * outward, axis=1) < 0.0
    faces[wrong] = faces[wrong][:, ::-1]
    for _ in range(NEWTON_STEPS):
        normals = gradient(distance, points, 0.1 * step)
        points = points - np.clip(distance(points), -step, step)[:, None] * normals
    return points, faces


def _crossings(inside: Flags, counts: Ints) -> tuple[Ints, Array]:
    """Triangles (m, 3, 2), each corner between two points of the grid, by their numbers; and the way out (m, 3)."""
    spans = np.array([counts[1] * counts[2], counts[2], 1])
    cell = np.stack(np.meshgrid(*[np.arange(n - 1) for n in counts], indexing="ij"), axis=-1).reshape(-1, 3)
    numbers = (cell[:, None, :] + CORNERS) @ spans  # (cells, 8)
    full = inside.reshape(-1)[numbers]
    mixed = full.any(axis=1) & ~full.all(axis=1)
    tets = numbers[mixed][:, TETRAHEDRA].reshape(-1, 4)
    within = inside.reshape(-1)[tets]
    count = within.sum(axis=1)
    order = np.argsort(~within, axis=1, kind="stable")  # inside corners first
    tets = np.take_along_axis(tets, order, axis=1)
    out = []
    one, two, three = (tets[count == n] for n in (1, 2, 3))
    out.append(np.stack([one[:, [0, 1]], one[:, [0, 2]], one[:, [0, 3]]], axis=1))
    out.append(np.stack([three[:, [3, 0]], three[:, [3, 1]], three[:, [3, 2]]], axis=1))
    out.append(np.stack([two[:, [0, 2]], two[:, [0, 3]], two[:, [1, 3]]], axis=1))
    out.append(np.stack([two[:, [0, 2]], two[:, [1, 3]], two[:, [1, 2]]], axis=1))
    ways = [_way_out(part, n, spans) for part, n in ((one, 1), (three, 3), (two, 2), (two, 2))]
    return np.concatenate(out), np.concatenate(ways)


def _way_out(tets: Ints, within: int, spans: Ints) -> Array:
    """The direction (m, 3) from the inner corners of tetrahedra, `within` of them, to the outer ones."""
    places = np.stack([tets // spans[0], tets % spans[0] // spans[1], tets % spans[1]], axis=-1).astype(float)
    return places[:, within:].mean(axis=1) - places[:, :within].mean(axis=1)


def gradient(distance: Distance, points: Array, width: float) -> Array:
    """Returns the unit direction (n, 3) in which the distance grows."""
    out = np.empty_like(points)
    for k in range(3):
        away = np.zeros(3)
        away[k] = width
        out[:, k] = distance(points + away) - distance(points - away)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
