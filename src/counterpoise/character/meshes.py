"""Meshes of loaded bodies, kept inside the specification."""

from __future__ import annotations

import mujoco
import numpy as np


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
