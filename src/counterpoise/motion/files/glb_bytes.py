"""GLB in memory: a character, a motion, solids that stand still, and several of them joined in one file."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.glb import pack
from counterpoise.motion.files.gltf import GENERATOR, build_gltf, build_static, wants_smooth
from counterpoise.motion.files.meshes import MeshSurface
from counterpoise.motion.files.names import clean_name, unique_names
from counterpoise.motion.motion import Motion

GltfPart = tuple[dict[str, Any], bytes]  # the JSON object and the one buffer of a file
_LISTS = ("nodes", "meshes", "materials", "skins", "animations", "accessors", "bufferViews")


def character_glb(character: Character, pose: ArrayLike | None = None) -> bytes:
    """Returns a character as a GLB: its skeleton with a skinned body, in a pose (nq,); None: the neutral one."""
    return pack(*character_part(character, pose))


def motion_glb(motion: Motion, rate: float | None = None) -> bytes:
    """Returns a motion as a GLB, the same bytes as `motion.write("....glb", rate=rate)`."""
    return pack(*motion_part(motion, rate))


def character_part(character: Character, pose: ArrayLike | None = None) -> GltfPart:
    """Returns a character in one pose, to be joined with others."""
    q = character.neutral if pose is None else character.check_pose(pose)
    return motion_part(Motion(character, np.zeros(1), np.array(q)[None], name=character.name))


def motion_part(motion: Motion, rate: float | None = None) -> GltfPart:
    """Returns a motion, to be joined with others; the library's person has its smooth body."""
    return build_gltf(clip_of_motion(motion, rate, None, None), motion, wants_smooth(None, motion))


def static_part(name: str, surfaces: Sequence[MeshSurface]) -> GltfPart:
    """Returns surfaces that stand still, to be joined with others."""
    return build_static(name, list(surfaces))


def joined_glb(name: str, parts: Sequence[GltfPart]) -> bytes:
    """Returns several parts as one GLB with one scene; names of nodes that occur twice get a number."""
    out: dict[str, Any] = {"asset": {"version": "2.0", "generator": GENERATOR}, "scene": 0}
    out |= {"scenes": [{"name": clean_name(name), "nodes": []}], **{key: [] for key in _LISTS}}
    binary = bytearray()
    for root, data in parts:
        part = deepcopy(root)
        first = {key: len(out[key]) for key in _LISTS}
        _shift(part, first, len(binary))
        out["scenes"][0]["nodes"] += [node + first["nodes"] for node in root["scenes"][0]["nodes"]]
        for key in _LISTS:
            out[key] += part.get(key, [])
        binary += data
        binary += b"\0" * (-len(binary) % 4)
    for node, unique in zip(out["nodes"], unique_names([n["name"] for n in out["nodes"]]), strict=True):
        node["name"] = unique
    out["buffers"] = [{"byteLength": len(binary)}]
    return pack({key: value for key, value in out.items() if value != []}, bytes(binary))


def _shift(part: dict[str, Any], first: dict[str, int], start: int) -> None:
    """Moves all indices of a part behind those that are there already."""
    for node in part["nodes"]:
        for key, kind in (("mesh", "meshes"), ("skin", "skins")):
            if key in node:
                node[key] += first[kind]
        if "children" in node:
            node["children"] = [child + first["nodes"] for child in node["children"]]
    for mesh in part.get("meshes", ()):
        for primitive in mesh["primitives"]:
            attributes = primitive["attributes"]
            primitive["attributes"] = {k: v + first["accessors"] for k, v in attributes.items()}
            primitive["indices"] += first["accessors"]
            primitive["material"] += first["materials"]
    for skin in part.get("skins", ()):
        skin["inverseBindMatrices"] += first["accessors"]
        skin["skeleton"] += first["nodes"]
        skin["joints"] = [joint + first["nodes"] for joint in skin["joints"]]
    for animation in part.get("animations", ()):
        for channel in animation["channels"]:
            channel["target"]["node"] += first["nodes"]
        for sampler in animation["samplers"]:
            sampler["input"] += first["accessors"]
            sampler["output"] += first["accessors"]
    for accessor in part.get("accessors", ()):
        accessor["bufferView"] += first["bufferViews"]
    for view in part.get("bufferViews", ()):
        view["byteOffset"] += start


__all__ = ["GltfPart", "character_glb", "character_part", "joined_glb", "motion_glb", "motion_part", "static_part"]
