"""Points of a character's shapes that can touch the ground first."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character import Character
from counterpoise.character.kept import kept_with_character

RIM_POINTS = 12  # on each rim of a cylinder


@dataclass(frozen=True, eq=False)
class ShapePoints:
    """Points of the colliding shapes, each the centre of a ball: the lowest ball is the lowest part of the body."""

    bodies: Ints  # (k,)
    places: Array  # (k, 3) in the body's frame [m]
    radii: Array  # (k,) [m]


@kept_with_character
def shape_points(character: Character) -> ShapePoints:
    """Returns centres of spheres, ends of capsules, corners of boxes, points of cylinders, ellipsoids and meshes."""
    m = character.model
    bodies: list[int] = []
    places: list[Array] = []
    radii: list[float] = []
    for g in range(m.ngeom):
        body = int(m.geom_bodyid[g])
        if body == 0 or not (m.geom_contype[g] or m.geom_conaffinity[g]):
            continue
        points, radius = _points_of_shape(m, g)
        points = np.asarray(m.geom_pos[g]) + spatial.rotate(np.asarray(m.geom_quat[g]), points)
        bodies += [body] * len(points)
        places += list(points)
        radii += [radius] * len(points)
    made = ShapePoints(np.array(bodies, np.int64), np.array(places, float).reshape(-1, 3), np.array(radii, float))
    for array in vars(made).values():
        array.flags.writeable = False
    return made


def _points_of_shape(m: mujoco.MjModel, g: int) -> tuple[Array, float]:
    """Returns points (k, 3) in the frame of a shape, and the radius of the balls about them [m]."""
    kinds = mujoco.mjtGeom
    kind, size = int(m.geom_type[g]), np.asarray(m.geom_size[g])
    if kind == int(kinds.mjGEOM_SPHERE):
        return np.zeros((1, 3)), float(size[0])
    if kind == int(kinds.mjGEOM_CAPSULE):
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    if kind == int(kinds.mjGEOM_BOX):
        points = _lattice() * size
        return points[np.all(np.abs(points) == size, axis=1)], 0.0
    if kind == int(kinds.mjGEOM_CYLINDER):
        ring = np.linspace(0.0, 2.0 * np.pi, RIM_POINTS, endpoint=False)
        rims = [[size[0] * np.cos(x), size[0] * np.sin(x), z * size[1]] for x in ring for z in (-1, 1)]
        return np.array(rims), 0.0
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        ways = _lattice()
        ways = ways[np.any(ways != 0.0, axis=1)]
        return np.asarray(size * ways / np.linalg.norm(ways, axis=1, keepdims=True)), 0.0
    if kind == int(kinds.mjGEOM_MESH):
        mesh = int(m.geom_dataid[g])
        start, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
        corners = np.asarray(m.mesh_vert[start : start + count], dtype=np.float64)
        return corners[np.unique((corners @ _lattice().T).argmax(axis=0))], 0.0
    return np.zeros((0, 3)), 0.0


def _lattice() -> Array:
    """Returns the 27 points of a cube's lattice: corners, middles of edges and faces, and the centre."""
    return np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
