"""Soles that stay where the feet's own shapes are: a shoe is drawn no lower than what the physics stands on.

A foot is rigid, and in every tilt its lowest point is on the convex hull of its shapes. So points of a shoe are kept
within that hull, widened by a thin sole: u . p <= h(u) + thickness for directions u that point down in some tilt, where
h is the support function of the shapes.
"""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.skin.dressing import shod_bodies

THICKNESS = 0.0036  # [body heights] of what is drawn around the hull
DIRECTIONS = 600  # on a whole sphere
LOWEST_TILT = 0.10  # how far down a direction points at least: the sides above the sole keep their form
ROUNDS = 8  # times that points are moved onto the hull


def within_soles(character: Character, points: Array, nearest: Ints) -> Array:
    """Returns points (k, 3) at rest, with those of shoes moved within the hulls; `nearest` is the body of each."""
    out = points.copy()
    shod = shod_bodies(character)
    if not shod:
        return out
    data = mujoco.MjData(character.model)
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(character.model, data)
    down = _directions()
    for body in sorted(shod):
        mine: Flags = nearest == body
        if mine.any():
            reach = _support(character, data, body, down) + THICKNESS * character.height
            out[mine] = _moved(out[mine], down, reach)
    return out


def _moved(points: Array, down: Array, reach: Array) -> Array:
    """Points (k, 3), moved along the direction in which each is farthest outside, until none is."""
    for _ in range(ROUNDS):
        outside = points @ down.T - reach
        worst = outside.argmax(axis=1)
        over = np.maximum(outside[np.arange(len(points)), worst], 0.0)
        if not over.any():
            break
        points = points - over[:, None] * down[worst]
    return points


def _support(character: Character, data: mujoco.MjData, body: int, down: Array) -> Array:
    """h(u) (m,) of the shapes of a body and of the shod bodies joined to it: how far they reach along each u."""
    model, shod = character.model, shod_bodies(character)
    joined = {body} | {
        other for other in shod if model.body_parentid[other] == body or model.body_parentid[body] == other
    }
    out = np.full(len(down), -np.inf)
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) not in joined or model.geom_group[geom] >= 3:
            continue
        place, turn = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)
        size, kind = model.geom_size[geom], int(model.geom_type[geom])
        local = down @ turn
        if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
            far = size[0] + np.abs(local[:, 2]) * size[1]
        elif kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
            far = np.full(len(down), size[0])
        elif kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
            far = np.linalg.norm(local * size, axis=1)
        elif kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
            far = np.linalg.norm(local[:, :2], axis=1) * size[0] + np.abs(local[:, 2]) * size[1]
        elif kind == int(mujoco.mjtGeom.mjGEOM_BOX):
            far = np.abs(local) @ size
        else:
            far = np.full(len(down), model.geom_rbound[geom])
        out = np.maximum(out, down @ place + far)
    return out


def _directions() -> Array:
    """Directions (m, 3) spread evenly (a Fibonacci lattice), those that point down."""
    k = np.arange(DIRECTIONS) + 0.5
    z = 1.0 - 2.0 * k / DIRECTIONS
    angle = np.pi * (1.0 + 5.0**0.5) * k
    wide = np.sqrt(1.0 - z * z)
    spread = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), z])
    return np.vstack([spread[spread[:, 2] < -LOWEST_TILT], [[0.0, 0.0, -1.0]]])
