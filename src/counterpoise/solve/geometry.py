"""Convex hulls in the plane."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array


def convex_hull(points: Array) -> Array:
    """Counter-clockwise hull of points (k, 2); fewer than three points are returned as they are (Andrew 1979)."""
    distinct = np.unique(np.asarray(points, float).reshape(-1, 2), axis=0)
    if len(distinct) < 3:
        return distinct

    def half(ordered: Array) -> list[Array]:
        chain: list[Array] = []
        for p in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(distinct) + half(distinct[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
