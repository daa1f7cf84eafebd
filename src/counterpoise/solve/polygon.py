"""Convex polygons as half-planes, compiled: the support polygon of a controller, every tick.

A polygon is a list of half-planes n . x <= d with unit normals n. A single point, or points in a line, get a small
width, so that every set of points has a polygon and a distance to its edges.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel

THIN_HALF_WIDTH = 5e-3  # [m] half the width given to points in a line


@kernel
def hull_edges(corners: Array) -> Array:
    """Half-planes (e, 3) [n_x, n_y, d] of the hull of points (k, 2), k >= 1 (monotone chain: Andrew 1979).

    Positions are rounded to a nanometre first. Otherwise points with the same x but for rounding would be sorted by
    their last bit, and the chain could lose a corner.
    """
    k = len(corners)
    points = np.empty((k, 2))
    for i in range(k):
        for c in range(2):
            points[i, c] = np.floor(corners[i, c] * 1e9 + 0.5) * 1e-9
    order = np.empty(k, np.int64)
    for i in range(k):  # insertion sort by x, then y: there are about a dozen points
        j = i
        while j > 0:
            a, b = points[order[j - 1]], points[i]
            if a[0] < b[0] or (a[0] == b[0] and a[1] <= b[1]):
                break
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    chain, size = np.empty((2 * k + 1, 2)), 0
    for sweep in range(2):
        start = size
        for step in range(k):
            p = points[order[step if sweep == 0 else k - 1 - step]]
            while size >= start + 2:
                a, b = chain[size - 2], chain[size - 1]
                if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 1e-12:
                    break
                size -= 1
            chain[size] = p
            size += 1
        size -= 1  # the last of one sweep is the first of the other
    edges, used = np.empty((max(size, 4), 3)), 0
    for i in range(size):
        a, b = chain[i], chain[(i + 1) % size]
        x, y = b[0] - a[0], b[1] - a[1]
        length = np.sqrt(x * x + y * y)
        if length > 1e-9:
            edges[used, 0], edges[used, 1] = y / length, -x / length
            edges[used, 2] = edges[used, 0] * a[0] + edges[used, 1] * a[1]
            used += 1
    if used >= 3:
        return edges[:used]
    return _box(points)


@kernel
def _box(points: Array) -> Array:
    """Returns the half-planes of a thin box about points in a line."""
    n = len(points)
    x, y = 0.0, 0.0
    for i in range(n):
        x += points[i, 0] / n
        y += points[i, 1] / n
    far, ux, uy = 0.0, 1.0, 0.0
    for i in range(n):
        r = np.sqrt((points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2)
        if r > far:
            far, ux, uy = r, (points[i, 0] - x) / r, (points[i, 1] - y) / r
    edges = np.empty((4, 3))
    for e in range(4):
        nx, ny = (ux, uy) if e % 2 == 0 else (-uy, ux)
        s = 1.0 if e < 2 else -1.0
        edges[e, 0], edges[e, 1] = s * nx, s * ny
        edges[e, 2] = s * (nx * x + ny * y) + (far if e % 2 == 0 else 0.0) + THIN_HALF_WIDTH
    return edges


@kernel
def nearest_inside(edges: Array, x: float, y: float, margin: float) -> tuple[float, float]:
    """Returns the point nearest to (x, y) in the polygon shrunk by `margin`, or by less if the polygon is small.

    It is (x, y) itself, its projection on an edge, or a corner. All of them are tried.
    """
    return nearest_about(edges, x, y, margin, deepest(edges))


@kernel
def nearest_about(
    edges: Array, x: float, y: float, margin: float, middle: tuple[float, float, float]
) -> tuple[float, float]:
    """Returns the same as `nearest_inside`, with `deepest` of the polygon known."""
    n = len(edges)
    cx, cy, depth = middle
    room = min(margin, 0.9 * max(depth, 0.0))
    if _holds(edges, x, y, room):
        return x, y
    best, bx, by = np.inf, cx, cy
    for i in range(n):
        over = edges[i, 0] * x + edges[i, 1] * y - edges[i, 2] + room
        px, py = x - over * edges[i, 0], y - over * edges[i, 1]
        if over > 0.0 and over < best and _holds(edges, px, py, room):
            best, bx, by = over, px, py
        for j in range(i):
            det = edges[i, 0] * edges[j, 1] - edges[i, 1] * edges[j, 0]
            if abs(det) < 1e-12:
                continue
            di, dj = edges[i, 2] - room, edges[j, 2] - room
            px, py = (di * edges[j, 1] - dj * edges[i, 1]) / det, (edges[i, 0] * dj - edges[j, 0] * di) / det
            far = np.sqrt((px - x) ** 2 + (py - y) ** 2)
            if far < best and _holds(edges, px, py, room):
                best, bx, by = far, px, py
    return bx, by


@inner_kernel
def _holds(edges: Array, x: float, y: float, room: float) -> bool:
    """Whether (x, y) is inside, at least `room` from every edge."""
    worst = -np.inf
    for i in range(len(edges)):
        worst = max(worst, edges[i, 0] * x + edges[i, 1] * y - edges[i, 2])
    return worst <= 1e-9 - room


@kernel
def deepest(edges: Array) -> tuple[float, float, float]:
    """Returns a point (x, y) well inside and its distance to the nearest edge, by steps away from the nearest edge."""
    n = len(edges)
    x, y = 0.0, 0.0
    for i in range(n):  # start from the mean of the edges' points nearest to the origin
        x += edges[i, 0] * edges[i, 2] / n
        y += edges[i, 1] * edges[i, 2] / n
    best, bx, by = -np.inf, x, y
    step = 0.0
    for i in range(n):
        step = max(step, abs(edges[i, 2] - edges[i, 0] * x - edges[i, 1] * y))
    for _ in range(80):
        near, which = np.inf, 0
        for i in range(n):
            room = edges[i, 2] - edges[i, 0] * x - edges[i, 1] * y
            if room < near:
                near, which = room, i
        if near > best:
            best, bx, by = near, x, y
        x, y = x - step * edges[which, 0], y - step * edges[which, 1]
        step *= 0.9
    return bx, by, best


@kernel
def share_of_way(edges: Array, x: float, y: float, to_x: float, to_y: float) -> float:
    """Returns how far (to_x, to_y) is on the way from (x, y) to the polygon's edge: 0 at (x, y), 1 on the edge.

    A distance to the edge below half the polygon's depth counts as that half: near an edge small moves stay small.
    """
    least = max(0.5 * deepest(edges)[2], 1e-3)
    share = 0.0
    for i in range(len(edges)):
        room = max(edges[i, 2] - edges[i, 0] * x - edges[i, 1] * y, least)
        share = max(share, (edges[i, 0] * (to_x - x) + edges[i, 1] * (to_y - y)) / room)
    return share
