"""FBX 7.4, binary: a skeleton and its movement, for Maya, MotionBuilder, Unreal, Unity and Blender.

Centimetres and y up, as these programs expect. Rotations are Euler angles in the order XYZ (x first), continuous over
time, with linear keys, one a frame. There is no mesh. The same clip always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import one_line, whole_file
from counterpoise.motion.files.euler import angles_of
from counterpoise.motion.files.gltf import to_y_up, turn_y_up
from counterpoise.motion.files.names import clean_name, unique_names
from counterpoise.motion.skeleton import Clip

CREATOR = "Counterpoise"
ENDS = "counterpoise_ends"  # a property of a bone: where limbs end
VERSION = 7400
TICKS = 46_186_158_000  # of FBX's clock in a second
CENTIMETRES = 100.0  # in a metre
HEAD = b"Kaydara FBX Binary  \x00\x1a\x00"
SEPARATOR = "\x00\x01"  # between the name of an object and its kind
LINEAR = 0x04 | 0x2000  # flags of a key: linear, and its tangents belong to both sides
NULL_RECORD = b"\0" * 13
FOOT_ID = bytes.fromhex("fabcab09d0c8d466b176fb83 1cf7267e".replace(" ", ""))
FOOT_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
FILE_ID = bytes.fromhex("28b32aebb624cc2bbfc8b02aa92bfcf1")  # that belongs to CREATION_TIME
CREATION_TIME = "1970-01-01 10:00:00:000"
XYZ = (2, 1, 0)  # R = R_z R_y R_x


@dataclass
class FbxRecord:
    """A node of the file's tree: a name, values, and records inside."""

    name: str
    values: tuple[Any, ...] = ()
    inside: list[FbxRecord] = field(default_factory=list)

    def add(self, name: str, *values: Any) -> FbxRecord:
        made = FbxRecord(name, values)
        self.inside.append(made)
        return made

    def packed(self, start: int) -> bytes:
        """Returns the record as bytes, when it begins at byte `start` of the file."""
        name = self.name.encode("ascii")
        values = b"".join(_packed_value(value) for value in self.values)
        head = 13 + len(name)
        body = bytearray()
        for record in self.inside:
            body += record.packed(start + head + len(values) + len(body))
        if self.inside or not self.values:
            body += NULL_RECORD
        end = start + head + len(values) + len(body)
        return struct.pack("<IIIB", end, len(self.values), len(values), len(name)) + name + values + bytes(body)


def _packed_value(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"C" + struct.pack("<?", value)
    if isinstance(value, np.ndarray):
        kind = {"<i4": b"i", "<i8": b"l", "<f4": b"f", "<f8": b"d"}[value.dtype.newbyteorder("<").str]
        return (
            kind
            + struct.pack("<III", len(value), 0, value.nbytes)
            + value.astype(value.dtype.newbyteorder("<")).tobytes()
        )
    if isinstance(value, np.int64):
        return b"L" + struct.pack("<q", int(value))
    if isinstance(value, int):
        return b"I" + struct.pack("<i", value)
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, bytes):
        return b"R" + struct.pack("<I", len(value)) + value
    text = str(value).encode("utf-8")
    return b"S" + struct.pack("<I", len(text)) + text


def write_clip(path: str | os.PathLike[str], clip: Clip) -> None:
    """Writes the skeleton and the movement of a clip."""
    target = Path(path)
    if target.suffix.lower() != ".fbx":
        raise BadValue(f"an FBX file ends in .fbx, not {target.suffix or 'nothing'!r}", suffix=target.suffix)
    data = build_fbx(clip)
    try:
        with whole_file(target) as place:
            place.write_bytes(data)
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


def build_fbx(clip: Clip) -> bytes:
    """Returns the bytes of a clip's file."""
    out = bytearray(HEAD + struct.pack("<I", VERSION))
    for record in _records(clip):
        out += record.packed(len(out))
    out += NULL_RECORD + FOOT_ID + b"\0" * 4
    out += b"\0" * (-len(out) % 16 or 16)
    return bytes(out + struct.pack("<I", VERSION) + b"\0" * 120 + FOOT_END)


def _records(clip: Clip) -> list[FbxRecord]:
    skeleton = clip.skeleton
    names = unique_names([clean_name(name) for name in skeleton.names])
    objects, connections = FbxRecord("Objects"), FbxRecord("Connections")
    take = clean_name(clip.name or "motion")
    end = np.int64(round((len(clip) - 1) / clip.rate * TICKS))
    places = CENTIMETRES * to_y_up(clip.translations)
    angles = angles_of(XYZ, turn_y_up(spatial.align_signs(spatial.normalize(clip.rotations))))[..., ::-1]
    still = CENTIMETRES * to_y_up(skeleton.offsets)
    still_angles = angles_of(XYZ, turn_y_up(spatial.normalize(skeleton.rest))[None])[0][..., ::-1]
    numbers = _Numbers(take)
    stack, layer = numbers.next(), numbers.next()
    one = objects.add("AnimationStack", stack, f"{take}{SEPARATOR}AnimStack", "")
    _properties(one, [
        ("LocalStart", "KTime", "Time", "", np.int64(0)), ("LocalStop", "KTime", "Time", "", end),
        ("ReferenceStart", "KTime", "Time", "", np.int64(0)), ("ReferenceStop", "KTime", "Time", "", end),
    ])  # fmt: skip
    objects.add("AnimationLayer", layer, f"BaseLayer{SEPARATOR}AnimLayer", "")
    connections.add("C", "OO", layer, stack)
    times = np.array([round(k / clip.rate * TICKS) for k in range(len(clip))], np.int64)
    models = [numbers.next() for _ in names]
    for k, name in enumerate(names):
        ends = [to_y_up(CENTIMETRES * np.array(place)).tolist() for joint, place in skeleton.ends if joint == k]
        _bone(objects, models[k], numbers.next(), name, still[:, :][k], still_angles[k], ends, connections)
        parent = skeleton.parents[k]
        connections.add("C", "OO", models[k], models[parent] if parent >= 0 else np.int64(0))
        for letter, label, values in (("T", "Lcl Translation", places[:, k]), ("R", "Lcl Rotation", angles[:, k])):
            node = numbers.next()
            made = objects.add("AnimationCurveNode", node, f"{letter}{SEPARATOR}AnimCurveNode", "")
            _properties(made, [(f"d|{a}", "Number", "", "A", float(v)) for a, v in zip("XYZ", values[0], strict=True)])
            connections.add("C", "OO", node, layer)
            connections.add("C", "OP", node, models[k], label)
            for a, column in zip("XYZ", values.T, strict=True):
                curve = numbers.next()
                _curve(objects, curve, times, column)
                connections.add("C", "OP", curve, node, f"d|{a}")
    kinds = {
        "GlobalSettings": 1, "AnimationStack": 1, "AnimationLayer": 1, "Model": len(names), "NodeAttribute": len(names),
        "AnimationCurveNode": 2 * len(names), "AnimationCurve": 6 * len(names),
    }  # fmt: skip
    return [*_opening(clip.rate, end), _definitions(kinds), objects, connections, _takes(take, end)]


class _Numbers:
    """Numbers of objects, the same for the same name."""

    def __init__(self, name: str) -> None:
        self.last = 1_000_000 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")

    def next(self) -> np.int64:
        self.last += 1
        return np.int64(self.last)


def _bone(
    objects: FbxRecord, model: np.int64, attribute: np.int64, name: str, place: Array, angles: Array,
    ends: list[list[float]], connections: FbxRecord,
) -> None:  # fmt: skip
    made = objects.add("NodeAttribute", attribute, f"{name}{SEPARATOR}NodeAttribute", "LimbNode")
    _properties(made, [("Size", "double", "Number", "", 1.0)])
    made.add("TypeFlags", "Skeleton")
    made = objects.add("Model", model, f"{name}{SEPARATOR}Model", "LimbNode")
    made.add("Version", 232)
    rows: list[tuple[Any, ...]] = [
        ("InheritType", "enum", "", "", 1), ("DefaultAttributeIndex", "int", "Integer", "", 0),
        ("Lcl Translation", "Lcl Translation", "", "A", *map(float, place)),
        ("Lcl Rotation", "Lcl Rotation", "", "A", *map(float, angles)),
        ("Lcl Scaling", "Lcl Scaling", "", "A", 1.0, 1.0, 1.0),
    ]  # fmt: skip
    if ends:
        rows.append((ENDS, "KString", "", "U", json.dumps(ends)))
    _properties(made, rows)
    made.add("Shading", True)
    made.add("Culling", "CullingOff")
    connections.add("C", "OO", attribute, model)


def _curve(objects: FbxRecord, number: np.int64, times: Array | Any, values: Array) -> None:
    made = objects.add("AnimationCurve", number, f"{SEPARATOR}AnimCurve", "")
    made.add("Default", float(values[0]))
    made.add("KeyVer", 4008)
    made.add("KeyTime", times)
    made.add("KeyValueFloat", np.asarray(values, np.float32))
    made.add("KeyAttrFlags", np.array([LINEAR], np.int32))
    made.add("KeyAttrDataFloat", np.zeros(4, np.float32))
    made.add("KeyAttrRefCount", np.array([len(values)], np.int32))


def _opening(rate: float, end: np.int64) -> list[FbxRecord]:
    """The records before the objects: who wrote it, axes, units and rate."""
    head = FbxRecord("FBXHeaderExtension")
    head.add("FBXHeaderVersion", 1003)
    head.add("FBXVersion", VERSION)
    head.add("Creator", CREATOR)
    settings = FbxRecord("GlobalSettings")
    settings.add("Version", 1000)
    axes = [
        ("UpAxis", 1),
        ("UpAxisSign", 1),
        ("FrontAxis", 2),
        ("FrontAxisSign", 1),
        ("CoordAxis", 0),
        ("CoordAxisSign", 1),
    ]
    _properties(settings, [
        *((name, "int", "Integer", "", value) for name, value in axes),
        ("UnitScaleFactor", "double", "Number", "", 1.0), ("OriginalUnitScaleFactor", "double", "Number", "", 1.0),
        ("TimeMode", "enum", "", "", 14), ("CustomFrameRate", "double", "Number", "", float(rate)),
        ("TimeSpanStart", "KTime", "Time", "", np.int64(0)), ("TimeSpanStop", "KTime", "Time", "", end),
    ])  # fmt: skip
    documents = FbxRecord("Documents")
    documents.add("Count", 1)
    document = documents.add("Document", np.int64(1), "", "Scene")
    document.add("RootNode", np.int64(0))
    return [
        head, FbxRecord("FileId", (FILE_ID,)), FbxRecord("CreationTime", (CREATION_TIME,)),
        FbxRecord("Creator", (CREATOR,)), settings, documents, FbxRecord("References"),
    ]  # fmt: skip


def _definitions(kinds: dict[str, int]) -> FbxRecord:
    made = FbxRecord("Definitions")
    made.add("Version", 100)
    made.add("Count", sum(kinds.values()))
    for kind, count in kinds.items():
        made.add("ObjectType", kind).add("Count", count)
    return made


def _takes(take: str, end: np.int64) -> FbxRecord:
    made = FbxRecord("Takes")
    made.add("Current", take)
    one = made.add("Take", take)
    one.add("FileName", f"{take}.tak")
    one.add("LocalTime", np.int64(0), end)
    one.add("ReferenceTime", np.int64(0), end)
    return made


def _properties(record: FbxRecord, rows: Sequence[tuple[Any, ...]]) -> None:
    made = record.add("Properties70")
    for row in rows:
        made.add("P", *row)
