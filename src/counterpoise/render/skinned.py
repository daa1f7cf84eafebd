"""A smooth body drawn in place of a figure's shapes: its skin at one moment, a mesh for each colour."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.skin import skin_of, toned
from counterpoise.render.meshes import joined_meshes, mesh_tree
from counterpoise.render.model_solids import geom_colour
from counterpoise.render.palette import RGBA
from counterpoise.render.raycast import CASTS_SHADOW, MESH
from counterpoise.render.scene import DrawnScene, Look


class SkinnedFigure:
    """The skin of one character whose bodies begin at `first_body` of a model."""

    def __init__(self, character: Character, first_body: int = 1, tint: RGBA | None = None) -> None:
        self.character, self.skin = character, skin_of(character)
        self.bodies = np.arange(first_body, first_body + character.model.nbody - 1)
        pairs = zip(self.skin.body.tolist(), self.skin.tone.tolist(), strict=True)
        colours = [tint or toned(_colour_of(character, body), tone) for body, tone in pairs]
        self.groups = {c: self.skin.faces[[k for k, other in enumerate(colours) if other == c]] for c in set(colours)}

    def scene(self, places: Array, rotations: Array, look: Look) -> DrawnScene:
        """Returns the skin for the places (nbody, 3) and rotations (nbody, 3, 3) of the model's bodies."""
        at = np.concatenate([[0], self.bodies])
        points, normals = self.skin.posed(places[at], rotations[at])
        colours = sorted(self.groups)
        meshes = [mesh_tree(points[self.groups[c]], normals[self.groups[c]]) for c in colours]
        n = len(colours)
        return DrawnScene(
            kind=np.full(n, MESH),
            size=np.array([np.abs(mesh.corners).max(axis=(0, 1)) + 1e-6 for mesh in meshes]),
            position=np.zeros((n, 3)),
            rotation=np.tile(np.eye(3), (n, 1, 1)),
            rgba=np.array(colours),
            flags=np.full(n, CASTS_SHADOW),
            mesh=np.arange(n),
            meshes=joined_meshes(meshes),
            look=look,
        )


def _colour_of(character: Character, body: int) -> RGBA:
    model = character.model
    return geom_colour(model, int(np.flatnonzero(model.geom_bodyid == body)[0]))
