"""A whole scene as GLB bytes: its characters, with their motions as animations, and the terrain they stand on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from counterpoise.motion.files.glb_bytes import GltfPart, character_part, joined_glb, motion_part, static_part
from counterpoise.motion.files.meshes import MeshSurface, flat
from counterpoise.motion.motion import Motion
from counterpoise.scene.scene import Scene
from counterpoise.simulate.terrain_geoms import FIELD_COLOUR, GROUND_COLOUR, PIECE_COLOUR
from counterpoise.terrain import HeightField, Terrain

_BOX_FACES = [
    (0, 1, 2), (0, 2, 3), (4, 6, 5), (4, 7, 6), (0, 4, 5), (0, 5, 1), (1, 5, 6), (1, 6, 2), (2, 6, 7), (2, 7, 3),
    (3, 7, 4), (3, 4, 0),
]  # fmt: skip


def scene_glb(scene: Scene, motions: Mapping[str, Motion] | None = None, rate: float | None = 60.0) -> bytes:
    """Returns a scene as a GLB: every character with a skinned body, and the pieces of terrain.

    `motions` are motions of the scene by name, such as `scene.run().motions`: each becomes an animation of its
    character. Characters without one are in their neutral pose. Of several motions of a character the first is taken.
    """
    parts: list[GltfPart] = []
    moving: dict[str, Motion] = {}
    for name, motion in (motions or {}).items():
        moving.setdefault(scene.motion(name).character, motion)
    for name, one in scene.characters.items():
        found = moving.get(name)
        parts.append(character_part(one.character) if found is None else motion_part(found, rate))
    if scene.world.terrain is not None:
        parts.append(static_part("terrain", terrain_surfaces(scene.world.terrain)))
    return joined_glb(scene.name, parts)


def terrain_surfaces(terrain: Terrain) -> list[MeshSurface]:
    """Returns the solids and fields of a terrain as triangles."""
    out = []
    for solid in terrain.boxes:
        colour = GROUND_COLOUR if solid.is_ground else PIECE_COLOUR
        out.append(MeshSurface(0, *flat(solid.corners(), _BOX_FACES), colour))
    return [*out, *(_field_surface(field) for field in terrain.fields)]


def _field_surface(field: HeightField) -> MeshSurface:
    heights = field.surface_heights()
    rows, columns = heights.shape
    x = field.center[0] + np.linspace(-0.5, 0.5, columns) * field.size[0]
    y = field.center[1] + np.linspace(-0.5, 0.5, rows) * field.size[1]
    points = np.stack([*np.meshgrid(x, y), heights], axis=-1)
    dy, dx = np.gradient(heights, y, x)
    normals = np.stack([-dx, -dy, np.ones_like(heights)], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:])
    faces = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])
    return MeshSurface(0, points.reshape(-1, 3), normals.reshape(-1, 3), faces, FIELD_COLOUR)
