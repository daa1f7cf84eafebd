"""glTF 2.0: a clip is written as `.glb` or `.gltf` with a skinned body; reading is in `gltf_read`.

Files are in metres and y up, as glTF demands. The axes of joints are turned in the same way, so a program that reads
with z up (Blender) gets our places and axes exactly. The same clip always gives the same bytes.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.skin import is_library_person
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import one_line
from counterpoise.motion.bound_mesh import BoundMesh
from counterpoise.motion.files.glb import dump_json, pack, write_bytes
from counterpoise.motion.files.gltf_read import ENDS, GENERATOR, read_clip
from counterpoise.motion.files.gltf_skins import add_meshes, kept_joints
from counterpoise.motion.files.meshes import RGBA, MeshSurface, surfaces
from counterpoise.motion.files.names import clean_name, linear_light, unique_names
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import Clip, Skeleton, Source

NO_MOVEMENT = 1e-9  # [m, rad] smaller changes count as none
_FLOAT, _USHORT, _UBYTE, _UINT = 5126, 5123, 5121, 5125
_VERTICES, _INDICES = 34962, 34963
KeptMeshes = tuple[tuple[BoundMesh, ...], list[int]]  # and the joint of the clip for each joint of their file
_WIDTHS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def write_clip(
    path: str | os.PathLike[str],
    clip: Clip,
    *,
    motion: Motion | None = None,
    buffer: Literal["embedded", "beside"] = "embedded",
    body: Literal["kept", "shapes", "smooth"] | None = None,
    into: str | os.PathLike[str] | None = None,
    source: Source | None = None,
) -> None:
    """Writes a clip as `.glb`, or as `.gltf` with its numbers embedded or in a `.bin` in the same folder.

    `into` is a .glb that the motion was read from: the new file is this one, with everything in it, and the clip as its
    first animation. `source` is that of the motion.

    `motion` is the motion that the clip was made from: the shapes of its character become the body. Without it bones
    are drawn. `body` is "kept" (the meshes of the motion's file, which is the default where it has some), "smooth", one
    that bends at the joints (the default for the library's person), or "shapes". Rotations have a key a frame,
    translations only if they change.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".glb", ".gltf"):
        raise BadValue(f"a glTF file ends in .glb or .gltf, not {suffix or 'nothing'!r}", suffix=suffix)
    if buffer not in ("embedded", "beside"):
        raise BadValue(f"a buffer is 'embedded' or 'beside', not {buffer!r}", buffer=buffer)
    meshes = kept_body(clip, source, body)
    if into is not None:
        if suffix != ".glb" or body is not None:
            raise BadValue("a motion is put into a .glb, which keeps its own body; leave out `body`")
        from counterpoise.motion.files.gltf_into import glb_with_animation

        write_bytes(target, glb_with_animation(into, clip, source))
        return
    root, binary = build_gltf(clip, motion, wants_smooth(body, motion), meshes)
    try:
        if suffix == ".glb":
            write_bytes(target, pack(root, binary))
            return
        if buffer == "beside":
            beside = target.with_suffix(".bin")
            write_bytes(beside, binary)
            uri = quote(beside.name)
        else:
            uri = "data:application/octet-stream;base64," + base64.b64encode(binary).decode("ascii")
        root["buffers"][0]["uri"] = uri
        write_bytes(target, dump_json(root))
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


def kept_body(clip: Clip, source: Source | None, body: str | None) -> KeptMeshes | None:
    """Returns the meshes of the file that the motion was read from, where they are wanted and there."""
    if body not in (None, "kept", "shapes", "smooth"):
        raise BadValue(f"a body is 'kept', 'shapes' or 'smooth', not {body!r}", body=body)
    joints = kept_joints(clip, source)
    if body in (None, "kept") and source is not None and source.meshes and joints is not None:
        return source.meshes, joints
    if body == "kept":
        raise BadValue(
            "this motion keeps no meshes of a file: they are kept of .fbx files, as long as it is not retargeted"
        )
    return None


def wants_smooth(body: str | None, motion: Motion | None) -> bool:
    """Returns whether the body is drawn smooth: where that is asked for, and by default for the library's person."""
    return body == "smooth" or (body is None and motion is not None and is_library_person(motion.character))


def build_gltf(
    clip: Clip, motion: Motion | None = None, smooth: bool = False, kept: KeptMeshes | None = None
) -> tuple[dict[str, Any], bytes]:
    """Returns the JSON object and the one buffer of a clip's file, with the meshes of its file or a body of ours."""
    store = _Store()
    names = unique_names([clean_name(name) for name in clip.skeleton.names])
    figure = clean_name(motion.character.name if motion is not None else clip.name or "figure")
    nodes = _nodes(clip.skeleton, names, figure)
    root: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"name": clean_name(clip.name or figure), "nodes": [0]}],
        "nodes": nodes,
    }
    if kept is not None:
        add_meshes(root, store, *kept, name=figure)
        root["animations"] = [_animation(store, clip)]
    else:
        body = surfaces(clip, motion, smooth)
        materials, primitives = _body(store, body, len(names))
        root["animations"] = [_animation(store, clip)]
        inverse_binds = store.add(_inverse_binds(clip.skeleton), _FLOAT)
        root["scenes"][0]["nodes"].append(len(nodes))
        nodes.append({"name": unique_names([*names, figure, f"{figure}_body"])[-1], "mesh": 0, "skin": 0})
        root["meshes"] = [{"name": f"{figure}_body", "primitives": primitives}]
        root["materials"] = materials
        joints = list(range(1, 1 + len(names)))
        root["skins"] = [{"name": figure, "inverseBindMatrices": inverse_binds, "skeleton": 0, "joints": joints}]
    root |= {"accessors": store.accessors, "bufferViews": store.views, "buffers": [{"byteLength": len(store.data)}]}
    return root, bytes(store.data)


def build_static(name: str, surfaces: list[MeshSurface]) -> tuple[dict[str, Any], bytes]:
    """Returns the JSON object and the one buffer of surfaces that stand still."""
    store, title = _Store(), clean_name(name)
    materials, primitives = _body(store, surfaces, 0)
    root: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"name": title, "nodes": [0]}],
        "nodes": [{"name": title, "mesh": 0}],
        "meshes": [{"name": title, "primitives": primitives}],
        "materials": materials,
        "accessors": store.accessors,
        "bufferViews": store.views,
        "buffers": [{"byteLength": len(store.data)}],
    }
    return root, bytes(store.data)


class _Store:
    """One buffer, its views and accessors, each aligned to four bytes."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: Array | NDArray[Any], component: int, target: int | None = None, bounds: bool = False) -> int:
        """Adds numbers (count, width) as an accessor. Returns its index."""
        kinds = {_FLOAT: "<f4", _USHORT: "<u2", _UBYTE: "u1", _UINT: "<u4"}
        stored = np.ascontiguousarray(values, dtype=kinds[component])
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": stored.nbytes}
        if target is not None:
            view["target"] = target
        self.data += stored.tobytes()
        self.data += b"\0" * (-len(self.data) % 4)
        self.views.append(view)
        entry: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": component,
            "count": len(stored),
            "type": _WIDTHS[stored.shape[1]],
        }
        if bounds:  # of the numbers as they are stored, with 32 bits
            entry["min"] = [float(x) for x in stored.min(axis=0)]
            entry["max"] = [float(x) for x in stored.max(axis=0)]
        self.accessors.append(entry)
        return len(self.accessors) - 1


def _nodes(skeleton: Skeleton, names: tuple[str, ...], figure: str) -> list[dict[str, Any]]:
    """Returns a node for the figure, then one a joint."""
    roots = [i + 1 for i, parent in enumerate(skeleton.parents) if parent < 0]
    figure_name = unique_names([*names, figure])[-1]
    nodes: list[dict[str, Any]] = [{"name": figure_name, "children": roots}]
    moves, turns = to_y_up(skeleton.offsets), np.roll(turn_y_up(spatial.normalize(skeleton.rest)), -1, axis=1)
    for i, name in enumerate(names):
        node: dict[str, Any] = {"name": name}
        node["translation"] = [float(x) for x in moves[i].astype(np.float32)]
        node["rotation"] = [float(x) for x in turns[i].astype(np.float32)]
        ends = [to_y_up(np.array(end)).tolist() for joint, end in skeleton.ends if joint == i]
        if ends:
            node["extras"] = {ENDS: ends}
        nodes.append(node)
    for i, parent in enumerate(skeleton.parents):
        if parent >= 0:
            nodes[parent + 1].setdefault("children", []).append(i + 1)
    return nodes


def _inverse_binds(skeleton: Skeleton) -> Array:
    """Returns the matrices (n, 16) from the world at rest to each joint, column by column."""
    places, turns = skeleton.world()
    back_places, back_turns = spatial.inverse((places, turns))
    M = np.zeros((len(places), 4, 4))
    M[:, :3, :3] = spatial.to_matrix(turn_y_up(back_turns))
    M[:, :3, 3] = to_y_up(back_places)
    M[:, 3, 3] = 1.0
    return M.transpose(0, 2, 1).reshape(-1, 16)


def _body(store: _Store, body: list[MeshSurface], joints: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns materials, and a primitive for each: surfaces of one colour are joined; without joints, unskinned."""
    colours: dict[RGBA, list[MeshSurface]] = {}
    for surface in body:
        colours.setdefault(surface.colour, []).append(surface)
    materials, primitives = [], []
    index_kind = _UBYTE if joints <= 256 else _USHORT
    for number, (colour, parts) in enumerate(colours.items()):
        starts = np.cumsum([0, *(len(p.points) for p in parts)])
        points = to_y_up(np.concatenate([p.points for p in parts]))
        normals = to_y_up(np.concatenate([p.normals for p in parts]))
        faces = np.concatenate([p.faces + start for p, start in zip(parts, starts, strict=False)])
        follow = np.zeros((len(points), 4), dtype=np.int64)
        follow[:, 0] = np.repeat([p.joint for p in parts], [len(p.points) for p in parts])
        weights = np.zeros((len(points), 4))
        weights[:, 0] = 1.0
        for part, start in zip(parts, starts, strict=False):
            if part.follows is not None and part.weights is not None:
                rows = slice(start, start + len(part.points))
                follow[rows], weights[rows] = np.where(part.weights > 0.0, part.follows, 0), part.weights
        attributes = {
            "POSITION": store.add(points, _FLOAT, _VERTICES, bounds=True),
            "NORMAL": store.add(unit_in_32_bits(normals), _FLOAT, _VERTICES),
        }
        if joints:
            attributes["JOINTS_0"] = store.add(follow, index_kind, _VERTICES)
            attributes["WEIGHTS_0"] = store.add(weights, _FLOAT, _VERTICES)
        primitives.append(
            {
                "attributes": attributes,
                "indices": store.add(
                    faces.reshape(-1, 1), _USHORT if len(points) < 65535 else _UINT, _INDICES, bounds=True
                ),
                "material": number,
                "mode": 4,
            }
        )
        materials.append(_material(colour, number))
    return materials, primitives


def _material(colour: RGBA, number: int) -> dict[str, Any]:
    linear = [round(float(linear_light(c)), 6) for c in colour[:3]]
    out: dict[str, Any] = {
        "name": f"skin_{number + 1}",
        "pbrMetallicRoughness": {
            "baseColorFactor": [*linear, float(colour[3])],
            "metallicFactor": 0.0,
            "roughnessFactor": 0.8,
        },
    }
    if colour[3] < 1.0:
        out["alphaMode"] = "BLEND"
    return out


def _animation(store: _Store, clip: Clip) -> dict[str, Any]:
    """Returns the animation: a key a frame for what changes, one key for what differs from rest, none for the rest."""
    skeleton, f = clip.skeleton, len(clip)
    every = store.add((np.arange(f) / clip.rate)[:, None], _FLOAT, bounds=True)
    once: list[int] = [every] if f == 1 else []
    turns = np.roll(turn_y_up(spatial.align_signs(spatial.normalize(clip.rotations))), -1, axis=2)
    moves = to_y_up(clip.translations)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def add(joint: int, path: str, values: Array, from_rest: float, always: bool) -> None:
        moving = float(np.ptp(values, axis=0).max()) > NO_MOVEMENT
        if not (moving or always) and from_rest <= NO_MOVEMENT:
            return
        whole = moving or always
        if not whole and not once:
            once.append(store.add(np.zeros((1, 1)), _FLOAT, bounds=True))
        output = store.add(values if whole else values[:1], _FLOAT)
        channels.append({"sampler": len(samplers), "target": {"node": joint + 1, "path": path}})
        samplers.append({"input": every if whole else once[0], "interpolation": "LINEAR", "output": output})

    for joint in range(len(skeleton)):
        root = skeleton.parents[joint] < 0
        away = float(np.abs(spatial.difference(skeleton.rest[joint], clip.rotations[0, joint])).max())
        add(joint, "rotation", turns[:, joint], away, root)
        away = float(np.abs(skeleton.offsets[joint] - clip.translations[0, joint]).max())
        add(joint, "translation", moves[:, joint], away, root)
    return {
        "name": clean_name(clip.name or "motion"),
        "channels": channels,
        "samplers": samplers,
        "extras": {"rate": float(clip.rate)},
    }


# ------------------------------------------------------------------------------------------------------ details


def to_y_up(v: Array) -> Array:
    """Returns (x, y, z) with z up as (x, z, -y) with y up."""
    return np.stack([v[..., 0], v[..., 2], -v[..., 1]], axis=-1)


def turn_y_up(q: Array) -> Array:
    """Returns the same rotation (w, x, y, z) in axes of which y is up."""
    return np.concatenate([q[..., :1], to_y_up(q[..., 1:])], axis=-1)


def unit_in_32_bits(normals: Array) -> Array:
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


__all__ = ["GENERATOR", "build_gltf", "build_static", "read_clip", "write_clip"]
