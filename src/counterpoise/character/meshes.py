"""Meshes of loaded bodies: kept inside the specification, and exchanged for steadier shapes under the feet.

MuJoCo gives a mesh on a plane three points of contact or fewer, which jump from vertex to vertex as the foot rocks. A
mesh that a foot stands on therefore becomes visual. In its place come a small ball at each contact point and, for what
else the foot may touch, a box inside the mesh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.physics import make_contact
from counterpoise.character.shapes.solid import Solid, drawn_in

if TYPE_CHECKING:
    from counterpoise.character.character import Character

BALL_RADIUS = 0.005  # [m] of the ball at each contact point of a mesh foot
NEAR_SOLE = 0.005  # [m] a mesh that ends within this of the ground is stood on
LEAST_HALF = 0.002  # [m] half the least side of the box inside a mesh


def keep_assets_inside(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Puts the vertices of meshes into the specification and removes images, so that no file is needed again."""
    for mesh in spec.meshes:
        if mesh.file:
            _inline(mesh, model)
    for skin in list(spec.skins):
        spec.delete(skin)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for texture in list(spec.textures):
        spec.delete(texture)
    spec.meshdir = spec.texturedir = ""
    spec.compiler.meshdir = spec.compiler.texturedir = ""


def _inline(mesh: mujoco.MjsMesh, model: mujoco.MjModel) -> None:
    i = model.mesh(mesh.name).id
    v0, nv = int(model.mesh_vertadr[i]), int(model.mesh_vertnum[i])
    f0, nf = int(model.mesh_faceadr[i]), int(model.mesh_facenum[i])
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.mesh_quat[i])
    places = model.mesh_vert[v0 : v0 + nv] @ turn.reshape(3, 3).T + model.mesh_pos[i]
    mesh.file, mesh.content_type = "", ""
    mesh.scale, mesh.refpos, mesh.refquat = [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    mesh.uservert = places.astype(np.float32).reshape(-1)
    mesh.userface = model.mesh_face[f0 : f0 + nf].astype(np.int32).reshape(-1)


def steady_feet(character: Character, spec: mujoco.MjSpec) -> bool:
    """Exchanges the meshes that the character's feet stand on in `spec`. Returns whether there were any."""
    model, data, changed = character.model, mujoco.MjData(character.model), False
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(model, data)
    for body in dict.fromkeys(p.body for p in character.contact_points):
        b = character.body_id(body)
        R, host = data.xmat[b].reshape(3, 3), spec.body(body)
        own_points = [np.array(p.position) for p in character.contact_points if p.body == body]
        sole = min(float((data.xpos[b] + R @ place)[2]) for place in own_points)
        mesh = None  # the last that this body stands on
        for solid in (s for s in drawn_in(model) if int(model.body_weldid[s.body]) == int(model.body_weldid[b])):
            geom = _geom(spec, model, solid.geom)
            own = data.xmat[solid.body].reshape(3, 3)
            lowest = data.xpos[solid.body][2] - float(solid.reach(-own[2]))
            if not solid.collides or not geom.meshname or lowest > NEAR_SOLE:
                continue
            geom.contype = geom.conaffinity = 0
            half = np.maximum(solid.half - 2.0 * BALL_RADIUS, LEAST_HALF)
            half = half * _share_above(sole, data, solid, half)
            box = spec.body(model.body(solid.body).name).add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=solid.centre, quat=spatial.from_matrix(solid.frame)
            )
            _make_hidden(box, geom)
            mesh, changed = geom, True
        for point in character.contact_points:
            if mesh is not None and point.body == body:
                place = np.array(point.position) + BALL_RADIUS * R[2]
                ball = host.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[BALL_RADIUS, 0.0, 0.0], pos=place)
                _make_hidden(ball, mesh)
    return changed


def _share_above(sole: float, data: mujoco.MjData, solid: Solid, half: Array) -> float:
    """Returns the share of its size at which the box inside a mesh ends above the balls: its sides may be tilted."""
    up = data.xmat[solid.body].reshape(3, 3)[2]
    room = float(data.xpos[solid.body][2] + up @ solid.centre) - sole - 2.0 * BALL_RADIUS
    below = float(half @ np.abs(up @ solid.frame))
    return min(1.0, max(room, LEAST_HALF) / below)


def _geom(spec: mujoco.MjSpec, model: mujoco.MjModel, index: int) -> mujoco.MjsGeom:
    """Returns the geom of the specification that a compiled geom came from."""
    body = int(model.geom_bodyid[index])
    return list(spec.body(model.body(body).name).geoms)[index - int(model.body_geomadr[body])]


def _make_hidden(geom: mujoco.MjsGeom, like: mujoco.MjsGeom) -> None:
    """Gives a new geom contact like another's, no mass, and no place in pictures."""
    geom.contype = geom.conaffinity = 1
    geom.friction, geom.condim, geom.mass = like.friction, like.condim, 0.0
    geom.group, geom.rgba = 3, [0.5, 0.5, 0.5, 0.0]
    make_contact(geom)
