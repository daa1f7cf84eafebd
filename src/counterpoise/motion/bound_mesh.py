"""Meshes of a file that follow joints: kept with a motion, so that other formats can be written with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Ints


@dataclass(frozen=True)
class MeshMaterial:
    """The look of some faces of a mesh."""

    name: str
    colour: tuple[float, float, float]  # linear light, 0 to 1
    image: bytes = b""  # a PNG or JPEG picture that is multiplied with the colour; b"" for none


@dataclass(frozen=True, eq=False)
class BoundMesh:
    """Triangles that follow joints, as their file has them.

    A point x is at sum_j w_j T_j B_j x, with T_j the frame of joint j in the world and B_j its bind. Binds are those of
    the file: its rest pose may be another than the one its mesh was bound in.
    """

    name: str
    points: Array  # (k, 3) [m]
    normals: Array  # (k, 3)
    uvs: Array  # (k, 2) places in the picture, from its upper left corner
    faces: Ints  # (m, 3) anticlockwise, seen from outside
    material_of: Ints  # (m,)
    materials: tuple[MeshMaterial, ...]
    joints: tuple[int, ...]  # of the skeleton, that the mesh follows
    binds: Array  # (joints, 3, 4) B_j
    follows: Ints  # (k, 4) among `joints`
    weights: Array  # (k, 4) sum 1

    def turned(self, axes: Array, scale: float) -> BoundMesh:
        """Returns the mesh in other axes and units: every vector x becomes scale * axes x."""
        turn = np.asarray(axes, dtype=np.float64)
        binds = np.empty_like(self.binds)
        binds[:, :, :3] = turn @ self.binds[:, :, :3] @ turn.T
        binds[:, :, 3] = scale * self.binds[:, :, 3] @ turn.T
        points, normals = scale * self.points @ turn.T, self.normals @ turn.T
        return replace(self, points=points, normals=normals, binds=binds)

    def posed(self, places: Array, rotations: Array) -> Array:
        """Returns the points (k, 3), with the skeleton's joints at places (n, 3) and rotations (n, 3, 3), world."""
        chosen = list(self.joints)
        turns = rotations[chosen] @ self.binds[:, :, :3]
        moves = np.einsum("jab,jb->ja", rotations[chosen], self.binds[:, :, 3]) + places[chosen]
        out = np.zeros_like(self.points)
        for slot in range(self.follows.shape[1]):
            at, share = self.follows[:, slot], self.weights[:, slot, None]
            out += share * (np.einsum("kab,kb->ka", turns[at], self.points) + moves[at])
        return out
