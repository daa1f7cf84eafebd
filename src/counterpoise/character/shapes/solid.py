"""Solid: one geom of a body as the convex hull of its corners, each grown by half-axes E and a radius r.

    h(n) = max_i n . c_i + |E^T n| + r |n|        support function: how far the shape reaches along n

    sphere      one corner and a radius
    capsule     two corners and a radius
    box         eight corners
    ellipsoid   one corner and three half-axes
    cylinder    two corners and two half-axes (a disc)
    mesh        the vertices of its convex hull

This is exact for all of them. Planes and height fields are no parts of a body and are left out.

Which geoms count: a geom is solid if it can collide (contype or conaffinity is set). Only solid geoms are kept off the
ground, kept apart from each other, or stood on: a visual geom passes through everything in the simulation too. There
are three exceptions. If no geom of a model collides, all its geoms are solid. The height of a character is that of all
its geoms, as it is drawn. A single body without solid geoms has no spheres and no rods, but its end, its middle and
(if it is a foot) its sole are those of its visual geoms. The markers of ball limits are sites and never count.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.kept import kept_with_character

if TYPE_CHECKING:
    from counterpoise.character.character import Character

_SPHERE, _CAPSULE = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_BOX, _CYLINDER = int(mujoco.mjtGeom.mjGEOM_BOX), int(mujoco.mjtGeom.mjGEOM_CYLINDER)
_ELLIPSOID = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
_MESHES = (int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_SDF))
_KINDS = {"sphere": _SPHERE, "capsule": _CAPSULE, "box": _BOX, "ellipsoid": _ELLIPSOID, "cylinder": _CYLINDER}
_CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True, eq=False)
class Solid:
    """One geom of a body; everything in the body's frame [m]."""

    body: int
    geom: int
    collides: bool
    corners: Array  # (k, 3)
    axes: Array  # (3, 3) half-axes in the columns, the same about every corner; zero columns where there are none
    radius: float  # of the ball about every corner
    frame: Array  # (3, 3) the geom's axes in the columns
    centre: Array  # (3,) of the box about the geom, whose sides lie along `frame`
    half: Array  # (3,) half the sides of that box

    def reach(self, directions: Array) -> Array:
        """The support function h(n) (...,) [m] of unit vectors (..., 3)."""
        return (
            (directions @ self.corners.T).max(axis=-1) + np.linalg.norm(directions @ self.axes, axis=-1) + self.radius
        )

    def farthest(self, direction: Array) -> Array:
        """For every corner the point (k, 3) of what is about it that lies farthest along a unit vector."""
        along = direction @ self.axes
        length = float(np.linalg.norm(along))
        bulge = self.axes @ along / length if length > 0.0 else np.zeros(3)
        return np.asarray(self.corners + bulge + self.radius * direction)


def drawn_in(model: mujoco.MjModel) -> tuple[Solid, ...]:
    """All geoms of the bodies, visual ones included, in MuJoCo's order."""
    found = (_read(model, g) for g in range(model.ngeom) if model.geom_bodyid[g] != 0)
    return tuple(solid for solid in found if solid is not None)


def solids_in(model: mujoco.MjModel) -> tuple[Solid, ...]:
    """The geoms that can collide; all of them in a model where none can."""
    drawn = drawn_in(model)
    return tuple(s for s in drawn if s.collides) or drawn


@kept_with_character
def solids_of(character: Character) -> tuple[Solid, ...]:
    """The solid geoms of a character."""
    return solids_in(character.model)


@kept_with_character
def body_solids(character: Character, body: int) -> tuple[Solid, ...]:
    """The solid geoms of one body, or its visual ones where it has no others."""
    solid = tuple(s for s in solids_of(character) if s.body == body)
    return solid or tuple(s for s in drawn_in(character.model) if s.body == body)


def world_reach(solids: tuple[Solid, ...], data: mujoco.MjData, direction: Array) -> Array:
    """How far each solid reaches along a unit vector of the world (n,) [m], with the bodies where `data` has them."""
    out = [
        direction @ data.xpos[s.body] + s.reach(data.xmat[s.body].reshape(3, 3).T @ direction)
        for s in solids
    ]  # fmt: skip
    return np.array(out, float)


def drawn_height(model: mujoco.MjModel, q: Array) -> float:
    """From the lowest to the highest point of all geoms in a pose, visual ones included [m]."""
    drawn, up, data = drawn_in(model), np.array([0.0, 0.0, 1.0]), mujoco.MjData(model)
    if not drawn:
        return 0.0
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return float(world_reach(drawn, data, up).max() + world_reach(drawn, data, -up).max())


def read_primitive(kind: str, size: Array, place: Array, frame: Array) -> Solid | None:
    """A geom by MuJoCo's numbers ("capsule", its size, place and axes); None where its kind is no primitive."""
    solid = _solid(_KINDS.get(kind, -1), np.concatenate([size, np.zeros(3)])[:3], place, frame)
    return None if solid is None else Solid(0, -1, True, *solid)


def _read(model: mujoco.MjModel, geom: int) -> Solid | None:
    """A geom of a model; None for a plane or a height field."""
    kind, mesh, turn = int(model.geom_type[geom]), int(model.geom_dataid[geom]), np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
    vertices = _hull(model, mesh) if kind in _MESHES and mesh >= 0 else None
    size, place = np.array(model.geom_size[geom], float), np.array(model.geom_pos[geom], float)
    solid = _solid(kind, size, place, turn.reshape(3, 3), vertices)
    if solid is None:
        return None
    collides = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    return Solid(int(model.geom_bodyid[geom]), geom, collides, *solid)


def _solid(
    kind: int, size: Array, place: Array, R: Array, vertices: Array | None = None
) -> tuple[Array, Array, float, Array, Array, Array] | None:
    """Corners, half-axes, radius, frame, centre and half box of a geom at `place` with axes R."""
    local, axes, radius, centre, half = np.zeros((1, 3)), np.zeros(3), 0.0, place, size  # in the geom's frame
    if kind == _SPHERE:
        radius, half = float(size[0]), np.full(3, size[0])
    elif kind == _CAPSULE:
        local, radius = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
        half = np.array([size[0], size[0], size[1] + size[0]])
    elif kind == _BOX:
        local = _CUBE * size
    elif kind == _ELLIPSOID:
        axes = size
    elif kind == _CYLINDER:
        local, axes = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), np.array([size[0], size[0], 0.0])
        half = np.array([size[0], size[0], size[1]])
    elif vertices is not None:
        local, low, high = vertices, vertices.min(axis=0), vertices.max(axis=0)
        centre, half = place + R @ (0.5 * (low + high)), 0.5 * (high - low)
    else:
        return None
    return place + local @ R.T, R * axes, radius, R, centre, half


def _hull(model: mujoco.MjModel, mesh: int) -> Array:
    """The vertices (k, 3) of a mesh's convex hull where MuJoCo has made one, else all vertices; the mesh's frame."""
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = np.array(model.mesh_vert[start : start + count], float)
    graph = int(model.mesh_graphadr[mesh])
    if graph < 0:
        return vertices
    corners = int(model.mesh_graph[graph])  # the graph: numbers of corners and faces, corners' edges, corners' vertices
    ids = model.mesh_graph[graph + 2 + corners : graph + 2 + 2 * corners]
    return np.asarray(vertices[np.sort(ids)])
