"""The meshes that a motion keeps of its file, as glTF: each with its own skin, materials and pictures."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from counterpoise.arrays import Array
from counterpoise.motion.bound_mesh import BoundMesh, MeshMaterial
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.skeleton import Clip, Source

_FLOAT, _USHORT, _UINT = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # x, y, z with z up -> x, z, -y


class Store(Protocol):
    """Where numbers are put."""

    data: bytearray
    views: list[dict[str, Any]]

    def add(self, values: Any, component: int, target: int | None = None, bounds: bool = False) -> int:
        """Adds numbers (count, width) as an accessor. Returns its index."""
        ...


def kept_joints(clip: Clip, source: Source | None) -> list[int] | None:
    """Returns the joint of the clip for each joint of the file; None where the clip does not have them all."""
    if source is None:
        return None
    place = {name: k for k, name in enumerate(clip.skeleton.names)}
    found = [place.get(name, -1) for name in source.bodies]
    return found if min(found) >= 0 else None


def add_meshes(root: dict[str, Any], store: Store, meshes: tuple[BoundMesh, ...], joints: list[int], name: str) -> None:
    """Adds meshes to a document: `joints` are those of the clip for the joints of the file, each one node later."""
    root |= {"meshes": [], "materials": [], "skins": []}
    known: dict[MeshMaterial, int] = {}
    for mesh in meshes:
        primitives = [_primitive(root, store, mesh, k, known) for k in sorted(set(mesh.material_of.tolist()))]
        title = unique_names([*(one["name"] for one in root["nodes"]), mesh.name])[-1]
        binds = np.zeros((len(mesh.joints), 4, 4))
        binds[:, :3, :3] = Y_UP @ mesh.binds[:, :, :3] @ Y_UP.T
        binds[:, :3, 3], binds[:, 3, 3] = mesh.binds[:, :, 3] @ Y_UP.T, 1.0
        matrices = store.add(binds.transpose(0, 2, 1).reshape(-1, 16), _FLOAT)
        nodes = [joints[j] + 1 for j in mesh.joints]
        root["skins"].append({"name": name, "inverseBindMatrices": matrices, "skeleton": 0, "joints": nodes})
        root["meshes"].append({"name": mesh.name, "primitives": primitives})
        root["scenes"][0]["nodes"].append(len(root["nodes"]))
        root["nodes"].append({"name": title, "mesh": len(root["meshes"]) - 1, "skin": len(root["skins"]) - 1})


def _primitive(
    root: dict[str, Any], store: Store, mesh: BoundMesh, material: int, known: dict[MeshMaterial, int]
) -> dict[str, Any]:
    """Returns the faces of one material."""
    chosen, inverse = np.unique(mesh.faces[mesh.material_of == material], return_inverse=True)
    look = mesh.materials[material]
    if look not in known:
        known[look] = len(root["materials"])
        root["materials"].append(_material(root, store, look))
    normals = mesh.normals[chosen] @ Y_UP.T
    attributes = {
        "POSITION": store.add(mesh.points[chosen] @ Y_UP.T, _FLOAT, _VERTICES, bounds=True),
        "NORMAL": store.add(normals / np.linalg.norm(normals, axis=1, keepdims=True), _FLOAT, _VERTICES),
        "JOINTS_0": store.add(_used(mesh, chosen), _USHORT, _VERTICES),
        "WEIGHTS_0": store.add(mesh.weights[chosen], _FLOAT, _VERTICES),
    }
    if look.image:
        attributes["TEXCOORD_0"] = store.add(mesh.uvs[chosen], _FLOAT, _VERTICES)
    kind = _USHORT if len(chosen) < 65535 else _UINT
    indices = store.add(inverse.reshape(-1, 1), kind, _INDICES, bounds=True)
    return {"attributes": attributes, "indices": indices, "material": known[look], "mode": 4}


def _used(mesh: BoundMesh, chosen: Any) -> Array:
    """Returns the joints (k, 4) that points follow; those without weight are 0, as glTF demands."""
    out: Array = np.where(mesh.weights[chosen] > 0.0, mesh.follows[chosen], 0)
    return out


def _material(root: dict[str, Any], store: Store, look: MeshMaterial) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "baseColorFactor": [*(round(c, 6) for c in look.colour), 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8,
    }  # fmt: skip
    if look.image:
        images, textures = root.setdefault("images", []), root.setdefault("textures", [])
        start = len(store.data)
        store.data += look.image + b"\0" * (-len(look.image) % 4)
        store.views.append({"buffer": 0, "byteOffset": start, "byteLength": len(look.image)})
        kind = "image/png" if look.image.startswith(b"\x89PNG") else "image/jpeg"
        images.append({"bufferView": len(store.views) - 1, "mimeType": kind})
        textures.append({"source": len(images) - 1})
        plain["baseColorTexture"] = {"index": len(textures) - 1}
        plain["baseColorFactor"] = [1.0, 1.0, 1.0, 1.0]  # the colour of such materials is the picture's
    return {"name": look.name, "pbrMetallicRoughness": plain}
