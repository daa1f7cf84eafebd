"""Triangle meshes and height fields for the ray caster: sorted under a balanced tree of boxes."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.render.raycast import LEAF, Meshes


def no_meshes() -> Meshes:
    return Meshes(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros((0, 6)), np.zeros((0, 4), dtype=np.int64))


def mesh_tree(corners: Array, normals: Array) -> Meshes:
    """Returns one mesh of triangle corners and corner normals, both (m, 3, 3) in the mesh's frame.

    Its triangles are sorted by `tree_order`.
    """
    order = tree_order(corners.mean(axis=1))
    return ordered_tree(corners[order], normals[order])


def tree_order(middle: Array) -> Ints:
    """Returns the order of triangles with these middles (m, 3) under a tree of boxes.

    Every group of triangles is sorted along its longest side and halved, down to leaves of four. Node i of the tree has
    the children 2i+1 and 2i+2. Triangles are repeated to make the halves equal.
    """
    leaves = 1
    while leaves * LEAF < len(middle):
        leaves *= 2
    order = np.resize(np.arange(len(middle)), (1, leaves * LEAF))
    while order.shape[1] > LEAF:
        points = middle[order]  # (groups, triangles, 3)
        longest = np.ptp(points, axis=1).argmax(axis=1)
        along = np.take_along_axis(points, longest[:, None, None], axis=2)[:, :, 0]
        order = np.take_along_axis(order, np.argsort(along, axis=1, kind="stable"), axis=1)
        order = order.reshape(2 * len(order), -1)
    return order.ravel()


def ordered_tree(corners: Array, normals: Array) -> Meshes:
    """Returns one mesh of triangles that are sorted already, with the boxes around them."""
    level = _merged(np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1), LEAF)
    levels = [level]
    while len(level) > 1:
        level = _merged(level, 2)
        levels.append(level)
    spans = np.array([[0, len(corners), 0, len(levels[0]) - 1]], dtype=np.int64)
    return Meshes(np.ascontiguousarray(corners), np.ascontiguousarray(normals), np.concatenate(levels[::-1]), spans)


def _merged(boxes: Array, count: int) -> Array:
    """Boxes around groups of `count` boxes."""
    groups = boxes.reshape(-1, count, 6)
    return np.concatenate([groups[:, :, :3].min(axis=1), groups[:, :, 3:].max(axis=1)], axis=1)


def joined_meshes(parts: Iterable[Meshes]) -> Meshes:
    """Returns several collections as one; the meshes keep their order."""
    parts = [part for part in parts if len(part.spans)]
    if not parts:
        return no_meshes()
    if len(parts) == 1:
        return parts[0]
    spans, triangles, nodes = [], 0, 0
    for part in parts:
        spans.append(part.spans + np.array([triangles, 0, nodes, 0]))
        triangles, nodes = triangles + len(part.corners), nodes + len(part.boxes)
    return Meshes(
        np.concatenate([p.corners for p in parts]),
        np.concatenate([p.normals for p in parts]),
        np.concatenate([p.boxes for p in parts]),
        np.concatenate(spans),
    )


def mesh_of_model(model: mujoco.MjModel, index: int) -> Meshes:
    """Returns a mesh asset of a model, with MuJoCo's normals."""
    vertex, face, normal = model.mesh_vertadr[index], model.mesh_faceadr[index], model.mesh_normaladr[index]
    faces = slice(face, face + model.mesh_facenum[index])
    corners = model.mesh_vert[vertex + model.mesh_face[faces]].astype(float)
    normals = model.mesh_normal[normal + model.mesh_facenormal[faces]].astype(float)
    return mesh_tree(corners, normals)


def field_of_model(model: mujoco.MjModel, index: int) -> Meshes:
    """Returns a height field as two triangles a cell, with smooth normals and walls down to its base."""
    rows, cols = int(model.hfield_nrow[index]), int(model.hfield_ncol[index])
    rx, ry, top, base = model.hfield_size[index]
    start = model.hfield_adr[index]
    height = model.hfield_data[start : start + rows * cols].reshape(rows, cols).astype(float) * top
    x, y = np.linspace(-rx, rx, cols), np.linspace(-ry, ry, rows)
    points = np.stack([*np.meshgrid(x, y), height], axis=-1)  # (rows, cols, 3)
    slope_y, slope_x = np.gradient(height, y, x)
    normals = np.stack([-slope_x, -slope_y, np.ones_like(height)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)

    def cells(grid: Array) -> Array:
        a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, 1:]
        return np.concatenate([np.stack([a, b, d], -2), np.stack([a, d, c], -2)]).reshape(-1, 3, 3)

    corners, facing = [cells(points)], [cells(normals)]
    edges = (
        (points[0], (0.0, -1.0)),
        (points[-1], (0.0, 1.0)),
        (points[:, 0], (-1.0, 0.0)),
        (points[:, -1], (1.0, 0.0)),
    )
    for rim, outward in edges:
        foot = rim.copy()
        foot[:, 2] = -base
        wall = cells(np.stack([foot, rim]))
        corners.append(wall)
        facing.append(np.broadcast_to(np.array([*outward, 0.0]), wall.shape))
    return mesh_tree(np.concatenate(corners), np.concatenate(facing))
