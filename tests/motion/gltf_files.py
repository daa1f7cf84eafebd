"""glTF files made by hand, so that the reader meets what other programs write."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {"<f4": 5126, "i1": 5120, "u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125}
TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Handmade:
    """A glTF document under construction; `root` may be spoilt at will before it is written."""

    def __init__(self, nodes: list[dict[str, Any]], joints: list[int] | None = None) -> None:
        self.data = bytearray()
        self.root: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "hand"},
            "nodes": nodes,
            "accessors": [],
            "bufferViews": [],
            "animations": [{"name": "walk", "channels": [], "samplers": []}],
        }
        if joints is not None:
            self.root["skins"] = [{"joints": joints}]

    def view(self, data: bytes, **more: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        self.root["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **more})
        self.data += data
        return len(self.root["bufferViews"]) - 1

    def accessor(self, values: Any, kind: str = "<f4", **more: Any) -> int:
        stored = np.asarray(values, dtype=kind)
        stored = stored.reshape(len(stored), -1)
        entry = {
            "bufferView": self.view(stored.tobytes()),
            "componentType": KINDS[kind],
            "count": len(stored),
            "type": TYPES[stored.shape[1]],
            **more,
        }
        self.root["accessors"].append({k: v for k, v in entry.items() if v is not None})
        return len(self.root["accessors"]) - 1

    def channel(self, node: int, path: str, times: int, values: int, mode: str | None = None) -> None:
        animation = self.root["animations"][0]
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}})
        animation["samplers"].append({"input": times, "output": values, **({"interpolation": mode} if mode else {})})

    def embedded(self) -> dict[str, Any]:
        uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(self.data)).decode()
        return {**self.root, "buffers": [{"byteLength": len(self.data), "uri": uri}]}

    def gltf(self, path: Path) -> Path:
        path.write_text(json.dumps(self.embedded()))
        return path

    def beside(self, path: Path, uri: str) -> Path:
        path.write_text(json.dumps({**self.root, "buffers": [{"byteLength": len(self.data), "uri": uri}]}))
        return path

    def glb(self, path: Path) -> Path:
        path.write_bytes(packed({**self.root, "buffers": [{"byteLength": len(self.data)}]}, bytes(self.data)))
        return path


def packed(root: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary


def swinging(keys: int = 5) -> Handmade:
    """Two joints, the second a metre above the first, which turns about z from 0 to 1 rad in a second."""
    doc = Handmade([{"name": "hip", "children": [1]}, {"name": "knee", "translation": [0, 1, 0]}], [0, 1])
    angle = np.linspace(0.0, 1.0, keys)
    turns = np.stack([0 * angle, 0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1)
    doc.channel(0, "rotation", doc.accessor(np.linspace(0.0, 1.0, keys)), doc.accessor(turns))
    return doc
