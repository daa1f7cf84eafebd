"""Seams of a skin: triangles between two parts are cut where both are followed equally, for clean colours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterpoise.arrays import Array, Ints

NEAREST = 0.04  # of an edge, between a cut and its ends


def cut_seams(points: Array, normals: Array, share: Array, faces: Ints) -> tuple[Array, Array, Array, Ints, Ints]:
    """Returns points, normals, shares and faces with cut triangles, and the part (m,) that each face belongs to.

    `share` (k, parts) says how much a point follows each part; it belongs to the one that it follows most.
    """
    label = share.argmax(axis=1)
    of = label[faces]
    same = (of == of[:, :1]).all(axis=1)
    mixed = faces[~same]
    edges = np.sort(np.concatenate([mixed[:, [0, 1]], mixed[:, [1, 2]], mixed[:, [2, 0]]]), axis=1)
    edges = np.unique(edges[label[edges[:, 0]] != label[edges[:, 1]]], axis=0)
    where = _crossings(share, label, edges)
    number = {(int(a), int(b)): len(points) + k for k, (a, b) in enumerate(edges)}
    made: list[list[int]] = []
    parts: list[int] = []
    centres: list[Ints] = []
    first_centre = len(points) + len(edges)

    def cut(a: int, b: int) -> int:
        return number[(a, b) if a < b else (b, a)]

    for triangle in mixed:
        p, q, r = (int(v) for v in triangle)
        if label[q] == label[r]:
            _two_parts(p, q, r, cut, made)
        elif label[p] == label[r]:
            _two_parts(q, r, p, cut, made)
        elif label[p] == label[q]:
            _two_parts(r, p, q, cut, made)
        else:
            middle = first_centre + len(centres)
            centres.append(triangle)
            for a, b, c in ((p, q, r), (q, r, p), (r, p, q)):
                made += [[a, cut(a, b), middle], [a, middle, cut(c, a)]]
        parts += [int(label[row[0]]) if row[0] < len(points) else int(label[row[1]]) for row in made[len(parts) :]]
    corners = np.array(centres, dtype=np.int64).reshape(-1, 3)

    def extended(values: Array) -> Array:
        crossed = values[edges[:, 0]] * (1.0 - where) + values[edges[:, 1]] * where
        return np.concatenate([values, crossed, values[corners].mean(axis=1)])

    longer = extended(normals)
    longer /= np.maximum(np.linalg.norm(longer, axis=1, keepdims=True), 1e-15)
    out = np.concatenate([faces[same], np.array(made, dtype=faces.dtype).reshape(-1, 3)])
    belongs = np.concatenate([of[same, 0], np.array(parts, dtype=np.int64)])
    return extended(points), longer, extended(share), out, belongs


def _crossings(share: Array, label: Ints, edges: Ints) -> Array:
    """Returns where, from 0 to 1 along an edge, its two parts are followed equally, (edges, 1)."""
    a, b = edges[:, 0], edges[:, 1]
    first, second = label[a], label[b]
    here = share[a, first] - share[a, second]
    there = share[b, second] - share[b, first]
    out: Array = np.clip(here / np.maximum(here + there, 1e-12), NEAREST, 1.0 - NEAREST)[:, None]
    return out


def _two_parts(p: int, q: int, r: int, cut: Callable[[int, int], int], made: list[list[int]]) -> None:
    """Cuts a triangle whose corner p belongs to another part than q and r; orders stay."""
    x, y = cut(p, q), cut(p, r)
    made += [[p, x, y], [q, r, x], [r, y, x]]


__all__ = ["cut_seams"]
