"""Swing cones: their faces from corners, or from three points of a face."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue


def cone_from_corners(directions: ArrayLike) -> tuple[Array, Array]:
    """Faces (normals, offsets) of the smallest convex spherical polygon around `directions` (k, 3).

    The directions must lie in one open half sphere; they are projected from its centre and their planar hull taken.
    """
    from scipy.spatial import ConvexHull

    points = np.asarray(directions, float)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    centre = _cone_centre(points)
    if np.min(points @ centre) < 1e-3:
        raise BadValue("the corners of a swing cone must lie within one half sphere; use faces through small circles")
    side = np.cross(centre, np.eye(3)[int(np.argmin(np.abs(centre)))])
    side /= np.linalg.norm(side)
    up = np.cross(centre, side)
    flat = np.stack([points @ side, points @ up], axis=1) / (points @ centre)[:, None]
    ring = points[ConvexHull(flat).vertices]
    normals = np.cross(ring, np.roll(ring, -1, axis=0))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals *= -np.sign(normals @ centre)[:, None]
    return normals, np.zeros(len(normals))


def face_through(points: ArrayLike, inside: ArrayLike) -> tuple[Array, float]:
    """The half space n . a' <= k whose boundary circle passes through three directions, with `inside` within."""
    a, b, c = (np.asarray(p, float) / np.linalg.norm(p) for p in np.asarray(points, float))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    offset = float(normal @ a)
    if normal @ np.asarray(inside, float) > offset:
        return -normal, -offset
    return normal, offset


def _cone_centre(points: Array) -> Array:
    """A unit vector (3,) near the centre of the smallest cap about unit vectors (k, 3)."""
    centre = points.mean(axis=0)
    centre /= np.linalg.norm(centre)
    for _ in range(200):  # each time a little towards the farthest corner: near the centre of the smallest cap
        worst = points[int(np.argmin(points @ centre))]
        centre = centre + 0.02 * (worst - centre)
        centre /= np.linalg.norm(centre)
    return centre
