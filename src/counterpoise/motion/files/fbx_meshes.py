"""The skinned meshes that `fbx_process` found in a file, checked and tied to the joints that are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.motion.bound_mesh import BoundMesh, MeshMaterial
from counterpoise.motion.files.names import clean_name
from counterpoise.motion.skeleton import Skeleton

MAX_PLACE = 1e6  # [m]
PLAIN = MeshMaterial("plain", (0.5, 0.5, 0.5))


def bound_meshes(
    head: dict[str, Any], data: memoryview, joint_of: dict[int, int], sizes: dict[int, float], skeleton: Skeleton
) -> tuple[tuple[BoundMesh, ...], list[str]]:
    """Returns the meshes, in metres and y up, and remarks on what is not kept.

    `joint_of` says which joint a node is, `sizes` the scale of its frame.
    """
    reader, meshes, lost = _Reader(data), [], [str(name) for name in head.get("left_out", ())]
    raw = [(entry, _arrays(reader, entry)) for entry in head.get("meshes", ())]
    images = [reader.take(int(size)) for size in head.get("images", ())]
    frames = skeleton.world()
    for entry, arrays in raw:
        made = _mesh(entry, arrays, images, head["parents"], joint_of, sizes, frames)
        if made is None:
            lost.append(str(entry["name"]))
        else:
            meshes.append(made)
    remarks = []
    if lost:
        shown = ", ".join(repr(clean_name(name)) for name in lost[:3])
        remarks.append(f"{len(lost)} mesh(es) left out, which no joint moves or which cannot be read: {shown}")
    return tuple(meshes), remarks


class _Reader:
    """Takes arrays from the front of bytes."""

    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        out = bytes(self.data[self.at : self.at + size])
        self.at += size
        return out

    def reals(self, *shape: int) -> Array:
        return np.frombuffer(self.take(8 * int(np.prod(shape))), "<f8").reshape(shape).astype(np.float64)

    def whole(self, *shape: int) -> Ints:
        return np.frombuffer(self.take(4 * int(np.prod(shape))), "<i4").reshape(shape).astype(np.int64)


def _arrays(reader: _Reader, entry: dict[str, Any]) -> tuple[Any, ...]:
    k, m, n = int(entry["points"]), int(entry["faces"]), len(entry["joints"])
    return (
        reader.reals(k, 3), reader.reals(k, 3), reader.reals(k, 2), reader.reals(k, 4), reader.reals(n + 1, 3, 4),
        reader.whole(k, 4), reader.whole(m, 3), reader.whole(m),
    )  # fmt: skip


def _mesh(
    entry: dict[str, Any],
    arrays: tuple[Any, ...],
    images: list[bytes],
    parents: list[int],
    joint_of: dict[int, int],
    sizes: dict[int, float],
    frames: tuple[Array, Array],
) -> BoundMesh | None:
    """Returns one mesh; None where no joint moves it, or where its numbers are none."""
    points, normals, uvs, weights, matrices, follows, faces, material_of = arrays
    nodes = [int(node) for node in entry["joints"]]
    joints = [joint_of[n] for n in nodes if n in joint_of]
    place = {number: k for k, number in enumerate(i for i, n in enumerate(nodes) if n in joint_of)}
    binds = [sizes[n] * matrices[i] for i, n in enumerate(nodes) if n in joint_of]
    known = np.array([place.get(i, -1) for i in range(len(nodes))] + [-1], dtype=np.int64)
    follows = known[follows]  # -1, of no joint, stays -1
    weights = np.where(follows >= 0, weights, 0.0)
    free = weights.sum(axis=1) < 1e-6
    if free.any():  # what follows no joint is carried by the mesh's own node
        carrier = _joint_above(int(entry["node"]), parents, joint_of)
        carrier = 0 if carrier is None and joints else carrier
        if carrier is None:
            return None
        follows[free, 0], weights[free, 0] = len(joints), 1.0
        joints.append(carrier)
        binds.append(_rest_bind(frames, carrier, matrices[-1]))
    numbers = (points, normals, uvs, np.array(binds))
    good = all(np.isfinite(one).all() for one in numbers) and np.abs(points).max() < MAX_PLACE
    if not good or np.abs(numbers[3]).max() > MAX_PLACE or faces.min() < 0 or faces.max() >= len(points):
        return None
    if np.abs(np.linalg.det(numbers[3][:, :, :3])).min() < 1e-18:  # a bind that flattens the mesh
        return None
    points, normals, bound = _at_rest(points, normals, numbers[3], joints[0], frames)
    weights = weights / weights.sum(axis=1, keepdims=True)
    materials = tuple(_material(one, images) for one in entry["materials"]) or (PLAIN,)
    return BoundMesh(
        clean_name(str(entry["name"]) or "mesh"), points, _unit(normals),
        np.stack([uvs[:, 0], 1.0 - uvs[:, 1]], axis=1), faces, np.clip(material_of, 0, len(materials) - 1), materials,
        tuple(joints), bound, np.maximum(follows, 0), weights,
    )  # fmt: skip


def _joint_above(node: int, parents: list[int], joint_of: dict[int, int]) -> int | None:
    while node >= 0:
        if node in joint_of:
            return joint_of[node]
        node = parents[node]
    return None


def _rest_bind(frames: tuple[Array, Array], joint: int, to_world: Array) -> Array:
    """Returns the matrix from a mesh to a joint at rest."""
    back = spatial.to_matrix(frames[1][joint]).T
    out: Array = back @ to_world
    out[:, 3] -= back @ frames[0][joint]
    return out


def _at_rest(points: Array, normals: Array, binds: Array, joint: int, frames: tuple[Array, Array]) -> tuple[Array, ...]:
    """Returns a mesh in the world, as it lies when `joint`, its first one, is at rest; its binds are then rigid.

    With X the matrix from the mesh to there, points become X x and binds B_j X^-1. Every bend stays as it is.
    """
    X = np.eye(4)
    turn = spatial.to_matrix(frames[1][joint])
    X[:3, :3] = turn @ binds[0, :, :3]
    X[:3, 3] = turn @ binds[0, :, 3] + frames[0][joint]
    back = np.linalg.inv(X)
    return points @ X[:3, :3].T + X[:3, 3], normals @ back[:3, :3], binds @ back


def _unit(normals: Array) -> Array:
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(length > 1e-9, normals / np.maximum(length, 1e-9), np.array([0.0, 1.0, 0.0]))


def _material(entry: dict[str, Any], images: list[bytes]) -> MeshMaterial:
    red, green, blue = (min(max(float(c), 0.0), 1.0) for c in entry["colour"])
    number = int(entry["image"])
    return MeshMaterial(
        clean_name(str(entry["name"]) or "material"),
        (red, green, blue),
        images[number] if 0 <= number < len(images) else b"",
    )
