"""An animation put into a GLB that is there: meshes, skins, materials and other animations stay as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile
from counterpoise.files import Refused, one_line
from counterpoise.motion.files.axes import to_ours
from counterpoise.motion.files.glb import Document, pack
from counterpoise.motion.files.gltf_nodes import NodeTree
from counterpoise.motion.files.gltf_read import RestedNodes, read_joints
from counterpoise.motion.skeleton import Clip, Source

_FLOAT = 5126
_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


def glb_with_animation(path: str | os.PathLike[str], clip: Clip, source: Source | None) -> bytes:
    """Returns the GLB at `path` with the clip as its first animation; everything else is kept.

    The clip is one of the file's own skeleton: `source` says which joint is which, and how the file's axes lie.
    """
    try:
        return _with_animation(Document(Path(path)), clip, source)
    except FileNotFoundError:
        raise BadFile(f"no file {str(path)!r}", path=str(path)) from None
    except (OSError, Refused) as error:
        raise BadFile(f"cannot write into {str(path)!r}: {one_line(error)}", path=str(path)) from None


def _with_animation(doc: Document, clip: Clip, source: Source | None) -> bytes:
    if not doc.binary:
        raise Refused("it is no binary glTF (.glb): convert it first")
    tree = NodeTree(doc)
    joints, names = read_joints(doc, tree)
    if source is None or source.skeleton.names != names or not set(source.bodies) <= set(clip.skeleton.names):
        raise Refused("its joints are not those of the motion: read the motion from this file, and do not retarget it")
    back = clip.turned(to_ours(str(source.notes["up"]), str(source.notes["forward"])).T, 1.0)
    order = [clip.skeleton.names.index(name) for name in source.bodies]
    turns, moves = _locals(RestedNodes(doc, tree, joints), back.rotations[:, order], back.translations[:, order])
    root, data = dict(doc.root), bytearray(doc.chunk())
    store = _Appended(root, data)
    animation = _animation(store, joints, np.arange(len(clip)) / clip.rate, turns, moves)
    known = {str(entry.get("name")) for entry in doc.items("animations")}
    name = base = f"{source.notes.get('animation', 'motion')} changed"
    for number in range(2, len(known) + 3):
        if name not in known:
            break
        name = f"{base} {number}"
    animation["name"] = name
    root["animations"] = [animation, *doc.items("animations")]
    root["nodes"] = [_without_matrix(tree, i) if i in set(joints) else node for i, node in enumerate(tree.nodes)]
    return pack(root, bytes(data))


def _locals(nodes: RestedNodes, turns: Array, moves: Array) -> tuple[Array, Array]:
    """Returns rotations (f, n, 4) and translations (f, n, 3) of nodes, of joints whose roots are in the world."""
    turns, moves = turns.copy(), moves.copy()
    for i, node in enumerate(nodes.joints):
        parent = int(nodes.tree.parent[node])
        if parent in nodes.rests:  # above the skeleton: it stays at rest
            moves[:, i], turns[:, i] = spatial.compose(spatial.inverse(nodes.rests[parent]), (moves[:, i], turns[:, i]))
        moves[:, i] /= nodes.sizes[parent]
    return spatial.align_signs(spatial.normalize(turns)), moves


def _animation(store: _Appended, joints: list[int], times: Array, turns: Array, moves: Array) -> dict[str, Any]:
    """Returns an animation with a key a frame for every joint."""
    every = store.add(times[:, None], bounds=True)
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    for i, node in enumerate(joints):
        for path, values in (("rotation", np.roll(turns[:, i], -1, axis=1)), ("translation", moves[:, i])):
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
            samplers.append({"input": every, "interpolation": "LINEAR", "output": store.add(values)})
    return {"channels": channels, "samplers": samplers}


def _without_matrix(tree: NodeTree, node: int) -> dict[str, Any]:
    """Returns a node with translation, rotation and scale in place of a matrix: animated nodes have none."""
    entry = tree.nodes[node]
    if "matrix" not in entry:
        return entry
    move, turn, scale = tree.rest(node)
    kept = {name: value for name, value in entry.items() if name != "matrix"}
    return {**kept, "translation": move.tolist(), "rotation": turn.tolist(), "scale": scale.tolist()}


class _Appended:
    """Numbers added behind the binary chunk of a file."""

    def __init__(self, root: dict[str, Any], data: bytearray) -> None:
        self.root, self.data = root, data
        for name in ("bufferViews", "accessors", "buffers"):
            root[name] = list(root.get(name, []))
        self.data += b"\0" * (-len(self.data) % 4)

    def add(self, values: Array, bounds: bool = False) -> int:
        """Adds numbers (count, width) as an accessor. Returns its index."""
        stored = np.ascontiguousarray(values, dtype="<f4")
        views, accessors = self.root["bufferViews"], self.root["accessors"]
        views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": stored.nbytes})
        self.data += stored.tobytes()
        entry: dict[str, Any] = {
            "bufferView": len(views) - 1, "componentType": _FLOAT, "count": len(stored),
            "type": _KINDS[stored.shape[1]],
        }  # fmt: skip
        if bounds:
            entry |= {"min": [float(stored.min())], "max": [float(stored.max())]}
        accessors.append(entry)
        self.root["buffers"][0] = {**self.root["buffers"][0], "byteLength": len(self.data)}
        return len(accessors) - 1
