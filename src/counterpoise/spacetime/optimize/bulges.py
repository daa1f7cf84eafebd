"""What sticks out of a body: spheres that stand for its shapes, to be kept off the ground or above a height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character

RING = 12  # spheres that stand for an ellipsoid
WAYS = np.array([w for w in product((-1.0, 0.0, 1.0), repeat=3) if any(w)])  # directions in which a mesh is sounded


@dataclass(frozen=True)
class Bulge:
    """A sphere fixed to a body; of radius 0 a point."""

    name: str
    body: str
    position: tuple[float, float, float]  # [m] body's frame
    radius: float = 0.0  # [m]


def bulges_of(character: Character, names: Sequence[str]) -> list[Bulge]:
    """Of a foot (by its name or its body's) the contact points, of any other body all its shapes."""
    feet = {f.name: f for f in character.feet} | {f.body: f for f in character.feet}
    out: list[Bulge] = []
    for name in names:
        if name in feet:
            out += [Bulge(p.name, p.body, p.position) for p in feet[name].points]
        else:
            out += _shapes(character, character.body_id(name))
    return out


def other_bulges(character: Character) -> list[Bulge]:
    """Of every body that is no part of a foot."""
    soles = {p.body for f in character.feet for p in f.points}
    bodies = (b for b in range(1, character.model.nbody) if character.model.body(b).name not in soles)
    return [bulge for b in bodies for bulge in _shapes(character, b)]


def _shapes(character: Character, body: int) -> list[Bulge]:
    m, name = character.model, str(character.model.body(body).name)
    out: dict[tuple[float, ...], Bulge] = {}
    first = int(m.body_geomadr[body])
    for g in range(first, first + int(m.body_geomnum[body])):
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, m.geom_quat[g])
        for local, radius in _spheres(m, g):
            x, y, z = (round(float(c), 9) for c in m.geom_pos[g] + turn.reshape(3, 3) @ local)
            out[(x, y, z, radius)] = Bulge(name, name, (x, y, z), radius)
    return list(out.values())


def _spheres(m: mujoco.MjModel, g: int) -> list[tuple[Array, float]]:
    """Centres in the shape's frame and radii, whose hull is the shape or nearly so."""
    kind, size = int(m.geom_type[g]), np.array(m.geom_size[g])
    along = np.eye(3)
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return [(np.zeros(3), float(size[0]))]
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return [(s * size[1] * along[2], float(size[0])) for s in (-1.0, 1.0)]
    if kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
        round_ = np.stack([np.cos(a := np.arange(8) * np.pi / 4), np.sin(a), np.zeros(8)], axis=1)
        return [(size[0] * r + s * size[1] * along[2], 0.0) for r in round_ for s in (-1.0, 1.0)]
    if kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        c, b, a = np.argsort(size)  # as thick as its shortest axis, centres on an ellipse of the others
        ring = (np.arange(RING) * (2.0 * np.pi / RING))[:, None]
        centres = np.cos(ring) * (size[a] - size[c]) * along[a] + np.sin(ring) * (size[b] - size[c]) * along[b]
        return [(centre, float(size[c])) for centre in centres]
    if kind == int(mujoco.mjtGeom.mjGEOM_BOX):
        return [(size * np.array(c), 0.0) for c in product((-1.0, 1.0), repeat=3)]
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        mesh = int(m.geom_dataid[g])
        start = int(m.mesh_vertadr[mesh])
        corners = np.array(m.mesh_vert[start : start + int(m.mesh_vertnum[mesh])])
        return [(corners[i], 0.0) for i in sorted(set((corners @ WAYS.T).argmax(axis=0).tolist()))]
    return [(np.zeros(3), 0.0)]
