"""A smooth body drawn in place of a figure's shapes: its skin at one moment, a mesh for each colour."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.skin import skin_of, toned
from counterpoise.render.meshes import joined_meshes, ordered_tree, tree_order
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
        middle = self.skin.points[self.skin.faces].mean(axis=1)
        self.groups: list[tuple[RGBA, Ints]] = []  # the triangles of a colour, in the order of their tree
        for colour in sorted(set(colours)):
            own = np.array([k for k, other in enumerate(colours) if other == colour])
            self.groups.append((colour, self.skin.faces[own[tree_order(middle[own])]]))  # kept in every pose

    def scene(self, places: Array, rotations: Array, look: Look) -> DrawnScene:
        """Returns the skin for the places (nbody, 3) and rotations (nbody, 3, 3) of the model's bodies."""
        at = np.concatenate([[0], self.bodies])
        points, normals = self.skin.posed(places[at], rotations[at])
        meshes = [ordered_tree(points[faces], normals[faces]) for _, faces in self.groups]
        n = len(meshes)
        return DrawnScene(
            kind=np.full(n, MESH),
            size=np.array([np.abs(mesh.corners).max(axis=(0, 1)) + 1e-6 for mesh in meshes]),
            position=np.zeros((n, 3)),
            rotation=np.tile(np.eye(3), (n, 1, 1)),
            rgba=np.array([colour for colour, _ in self.groups]),
            flags=np.full(n, CASTS_SHADOW),
            mesh=np.arange(n),
            meshes=joined_meshes(meshes),
            look=look,
        )


def _colour_of(character: Character, body: int) -> RGBA:
    model = character.model
    return geom_colour(model, int(np.flatnonzero(model.geom_bodyid == body)[0]))
