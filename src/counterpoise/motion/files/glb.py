"""The container of a glTF 2.0 file: JSON, buffers and accessors, checked when read, and always written in the same way.

Every count, offset and type is compared with the bytes that are there before memory is reserved for it. Anything wrong
raises `Refused` with the byte or the place in the JSON.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import re
import stat
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.files import Refused, one_line, whole_file

MAGIC, JSON_CHUNK, BIN_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
MAX_BYTES = 1 << 30  # of a file or a buffer
MAX_ITEMS = 1_000_000  # commas and brackets in the JSON
SPARE_NUMBERS = 1_000_000  # that accessors may have without bytes in the file
MAX_NUMBER = 1e30
_DTYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_HARMLESS = (  # extensions of surfaces and their storage, which do not change how joints move
    "KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "KHR_draco_", "KHR_mesh_quantization",
)  # fmt: skip
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")


class Document:
    """A glTF file opened for reading: its JSON, and buffers that are read when they are needed."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        data = read_plain_file(path, MAX_BYTES)
        self.binary, text, start = data[:4] == MAGIC, data, 0
        self._chunk: memoryview | None = None
        if self.binary:
            text, start, self._chunk = _chunks(data)
        self.root = parse_json(text, start)
        self._items: dict[str, list[dict[str, Any]]] = {}
        self._buffers: dict[int, memoryview] = {}
        self._arrays: dict[int, NDArray[Any]] = {}
        self._spare = SPARE_NUMBERS + len(data)
        self.size = len(data)  # [bytes], of the file and of the files beside it that were read
        asset = member(self.root, "", "asset", dict)
        version = asset.get("version")
        if not isinstance(version, str) or not re.fullmatch(r"2\.\d{1,4}", version):
            raise Refused(f"/asset/version is {_shown(version)}; this program reads glTF 2.0")
        for i, name in enumerate(member(self.root, "", "extensionsRequired", list, [])):
            if not isinstance(name, str) or not name.startswith(_HARMLESS):
                raise Refused(f"/extensionsRequired/{i} is {_shown(name)}, which this program cannot read")

    def items(self, name: str) -> list[dict[str, Any]]:
        """Returns a top-level list of objects, such as nodes."""
        if name not in self._items:
            found = member(self.root, "", name, list, [])
            for i, item in enumerate(found):
                if not isinstance(item, dict):
                    raise Refused(f"/{name}/{i} is {_shown(item)}, not an object")
            self._items[name] = found
        return self._items[name]

    def accessor(self, index: int, kind: str) -> NDArray[Any]:
        """Returns the numbers of an accessor, (count, width), as floats if it is normalized or of floats.

        `kind` is SCALAR, VEC3, ...
        """
        where = f"/accessors/{index}"
        entry = self.items("accessors")[index]
        if entry.get("type") != kind:
            raise Refused(f"{where}/type is {_shown(entry.get('type'))} where {kind} is needed")
        if index not in self._arrays:
            self._arrays[index] = self._read_accessor(entry, where, _WIDTHS[kind])
        return self._arrays[index]

    def forget(self, index: int) -> None:
        """Frees the memory of an accessor's numbers."""
        self._arrays.pop(index, None)

    def count(self, index: int) -> int:
        """Returns how many elements an accessor declares; its numbers are not read for it."""
        return number(self.items("accessors")[index], f"/accessors/{index}", "count", 1, MAX_BYTES)

    def _read_accessor(self, entry: dict[str, Any], where: str, width: int) -> NDArray[Any]:
        code = number(entry, where, "componentType", 0, 65535)
        if code not in _DTYPES:
            raise Refused(f"{where}/componentType {code} is none of {', '.join(map(str, _DTYPES))}")
        dtype = np.dtype(_DTYPES[code])
        count = number(entry, where, "count", 1, MAX_BYTES)
        offset = number(entry, where, "byteOffset", 0, MAX_BYTES, 0)
        self._spare -= count * width
        if self._spare < 0:
            raise Refused(f"{where}/count {count} makes too many numbers for a file of this size")
        if "bufferView" in entry:
            view = number(entry, where, "bufferView", 0, MAX_BYTES)
            values = self._strided(view, f"{where}/bufferView", offset, count, width, dtype).copy()
        else:
            values = np.zeros((count, width), dtype)
        if "sparse" in entry:
            self._replace(values, member(entry, where, "sparse", dict), f"{where}/sparse")
        if code == 5126:
            with np.errstate(invalid="ignore"):  # copying some NaN raises a warning
                out = values.astype(np.float64)
            if not np.isfinite(out).all():
                raise Refused(f"{where} holds NaN or infinity at element {int(np.argwhere(~np.isfinite(out))[0, 0])}")
            return out
        if member(entry, where, "normalized", bool, False):
            if code == 5125:
                raise Refused(f"{where} is normalized, which 32-bit whole numbers cannot be")
            return np.maximum(values.astype(np.float64) / np.iinfo(dtype).max, -1.0)
        return values

    def _replace(self, values: NDArray[Any], sparse: dict[str, Any], where: str) -> None:
        """Replaces the few values that a sparse accessor lists."""
        count = number(sparse, where, "count", 1, len(values))
        at, put = (member(sparse, where, name, dict) for name in ("indices", "values"))
        code = number(at, f"{where}/indices", "componentType", 0, 65535)
        if code not in (5121, 5123, 5125):
            raise Refused(f"{where}/indices/componentType {code} is none of 5121, 5123, 5125")
        rows, cells = (
            self._strided(
                number(part, f"{where}/{name}", "bufferView", 0, MAX_BYTES),
                f"{where}/{name}/bufferView",
                number(part, f"{where}/{name}", "byteOffset", 0, MAX_BYTES, 0),
                count,
                width,
                dtype,
            )
            for part, name, width, dtype in (
                (at, "indices", 1, np.dtype(_DTYPES[code])),
                (put, "values", values.shape[1], values.dtype),
            )
        )
        where_to = rows[:, 0].astype(np.int64)
        if where_to[-1] >= len(values) or np.any(np.diff(where_to) <= 0):
            raise Refused(f"{where}/indices must increase and stay below {len(values)}")
        values[where_to] = cells

    def _strided(
        self, view: int, where: str, offset: int, count: int, width: int, dtype: np.dtype[Any]
    ) -> NDArray[Any]:
        """Returns `count` rows of `width` numbers from a buffer view, which may have other bytes between the rows."""
        views = self.items("bufferViews")
        if view >= len(views):
            raise Refused(f"{where} {view} is not one of the {len(views)} buffer views")
        entry, at = views[view], f"/bufferViews/{view}"
        start = number(entry, at, "byteOffset", 0, MAX_BYTES, 0)
        length = number(entry, at, "byteLength", 1, MAX_BYTES)
        size = width * dtype.itemsize
        stride = number(entry, at, "byteStride", 4, 252, None) if "byteStride" in entry else size
        if stride < size:
            raise Refused(f"{at}/byteStride {stride} is less than an element's {size} bytes")
        if offset + stride * (count - 1) + size > length:
            raise Refused(f"{where}: {count} elements from byte {offset} do not fit the view's {length} bytes")
        buffer = self._buffer(number(entry, at, "buffer", 0, MAX_BYTES), f"{at}/buffer")
        if start + length > len(buffer):
            raise Refused(f"{at} ends at byte {start + length} of a buffer of {len(buffer)}")
        span = stride * (count - 1) + size
        flat = np.frombuffer(buffer[start + offset : start + offset + span], np.uint8)
        rows = np.lib.stride_tricks.as_strided(flat, (count, size), (stride, 1), writeable=False)
        return np.ascontiguousarray(rows).view(dtype)

    def chunk(self) -> bytes:
        """Returns the bytes of the first buffer, which must be the binary chunk of the file."""
        buffers = self.items("buffers")
        if self._chunk is None or not buffers or "uri" in buffers[0]:
            raise Refused("its first buffer is not in the file itself")
        return bytes(self._buffer(0, "/buffers/0"))

    def _buffer(self, index: int, where: str) -> memoryview:
        if index in self._buffers:
            return self._buffers[index]
        buffers = self.items("buffers")
        if index >= len(buffers):
            raise Refused(f"{where} {index} is not one of the {len(buffers)} buffers")
        entry, at = buffers[index], f"/buffers/{index}"
        length = number(entry, at, "byteLength", 1, MAX_BYTES)
        if "uri" not in entry:
            if self._chunk is None or index != 0:
                raise Refused(f"{at} has no uri, and the file no binary chunk for it")
            data = self._chunk
        else:
            data = memoryview(_fetch(self._folder, member(entry, at, "uri", str), f"{at}/uri", length))
        if length > len(data):
            raise Refused(f"{at}/byteLength is {length}, but only {len(data)} bytes are there")
        if "uri" in entry and not str(entry["uri"]).startswith("data:"):
            self._spare, self.size = self._spare + length, self.size + length
        self._buffers[index] = data[:length]
        return self._buffers[index]


# --------------------------------------------------------------------------------------------------- container


def read_plain_file(path: Path, largest: int) -> bytes:
    """Returns the bytes of an ordinary file; pipes and devices are refused before they are opened."""
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):
        raise Refused("it is not an ordinary file")
    if state.st_size > largest:
        raise Refused(f"it has {state.st_size} bytes, more than the {largest} this program reads")
    with open(path, "rb") as stream:
        return stream.read(state.st_size)


def _chunks(data: bytes) -> tuple[bytes, int, memoryview | None]:
    """Returns the JSON of a GLB, the byte it starts at, and its binary chunk."""
    if len(data) < 20:
        raise Refused(f"byte {len(data)}: the file ends inside its header")
    version, total = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise Refused(f"byte 4: container version {version}; this program reads version 2")
    if total > len(data) or total < 20:
        raise Refused(f"byte 8: the header declares {total} bytes, the file has {len(data)}")
    view, at, text, chunk = memoryview(data), 12, None, None
    while at + 8 <= total:
        length, kind = struct.unpack_from("<II", data, at)
        if at + 8 + length > total:
            raise Refused(f"byte {at}: a chunk of {length} bytes runs beyond the end at byte {total}")
        if at == 12:
            if kind != JSON_CHUNK:
                raise Refused(f"byte {at + 4}: the first chunk is not JSON")
            text = bytes(view[at + 8 : at + 8 + length])
        elif kind == BIN_CHUNK and chunk is None:
            chunk = view[at + 8 : at + 8 + length]
        at += 8 + length
    if at != total:
        raise Refused(f"byte {at}: {total - at} bytes are left over after the last chunk")
    assert text is not None
    return text, 20, chunk


def parse_json(text: bytes, start: int = 0) -> dict[str, Any]:
    """Returns the JSON object of a text with a limited number of items; `start` is the byte of the text in its file."""
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    items = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if items > MAX_ITEMS:
        raise Refused(f"its JSON has {items} items, more than the {MAX_ITEMS} this program reads")
    try:
        root = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Refused(f"byte {start + error.start}: its JSON is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = start + len(error.doc[: error.pos].encode("utf-8"))
        raise Refused(f"byte {where}: its JSON is broken: {error.msg}") from None
    except RecursionError:
        raise Refused("its JSON is nested too deeply") from None
    except ValueError as error:
        raise Refused(f"its JSON is broken: {one_line(error)}") from None
    if not isinstance(root, dict):
        raise Refused("its JSON is not an object")
    return root


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")


def _fetch(folder: Path, uri: str, where: str, length: int) -> bytes:
    """Returns the bytes of a uri: in the uri itself, or in a file inside the folder of the glTF file."""
    if uri.startswith("data:"):
        head, comma, body = uri.partition(",")
        if not comma or not head.endswith(";base64"):
            raise Refused(f"{where} is a data uri that is not base64")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise Refused(f"{where} is not proper base64: {one_line(error)}") from None
    cure = "buffers are read from the file itself or from files in its own folder only"
    try:
        name = unquote_to_bytes(uri).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{where} is not UTF-8") from None
    parts = re.split(r"[/\\]", name)
    if _SCHEME.match(name) or parts[0] == "" or "\\" in name or "\0" in name or ".." in parts:
        raise Refused(f"{where} leads to {_shown(uri)}; {cure}")
    try:
        target = (folder / name).resolve(strict=True)
        inside = target.is_relative_to(folder.resolve(strict=True))
        size = target.stat().st_size
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused(f"{where}: {_shown(uri)} cannot be opened: {one_line(error)}") from None
    if not inside:
        raise Refused(f"{where}: {_shown(uri)} is a link that leads outside; {cure}")
    if size < length:
        raise Refused(f"{where}: {_shown(uri)} has {size} bytes, fewer than the {length} declared")
    return read_plain_file(target, MAX_BYTES)


def pack(root: dict[str, Any], binary: bytes) -> bytes:
    """Returns a GLB of JSON and one binary chunk."""
    text = dump_json(root)
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<4sII", MAGIC, 2, total)
    return b"".join(
        [head, struct.pack("<II", len(text), JSON_CHUNK), text, struct.pack("<II", len(binary), BIN_CHUNK), binary]
    )


def dump_json(root: dict[str, Any]) -> bytes:
    """Returns the JSON text of an object; the same object always gives the same bytes."""
    return json.dumps(root, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode("utf-8")


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


# ------------------------------------------------------------------------------------------- checks of JSON values


def member(parent: dict[str, Any], where: str, name: str, kind: type, default: Any = ...) -> Any:
    """Returns a member of a JSON object, which must be of this kind."""
    value = parent.get(name, default)
    if value is ...:
        raise Refused(f"{where}/{name} is missing")
    if not isinstance(value, kind):
        raise Refused(f"{where}/{name} is {_shown(value)}, not {_KINDS[kind]}")
    return value


def number(parent: dict[str, Any], where: str, name: str, low: int, high: int, default: Any = ...) -> int:
    """Returns a whole number of a JSON object, which must be between its bounds."""
    value = parent.get(name, default)
    if value is ...:
        raise Refused(f"{where}/{name} is missing")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Refused(f"{where}/{name} is {_shown(value)}, not a whole number from {low} to {high}")
    return value


def index_of(parent: dict[str, Any], where: str, name: str, many: int, what: str) -> int:
    """Returns an index into a list of `many` things."""
    if not many:
        raise Refused(f"{where}/{name} points at {what}, of which the file has none")
    return number(parent, where, name, 0, many - 1)


def indices(parent: dict[str, Any], where: str, name: str, many: int) -> list[int]:
    """Returns a list of different indices into a list of `many` things."""
    values = member(parent, where, name, list, [])
    for i, value in enumerate(values):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < many:
            raise Refused(f"{where}/{name}/{i} is {_shown(value)}, not an index below {many}")
    if len(set(values)) != len(values):
        raise Refused(f"{where}/{name} names the same one twice")
    return values


def vector(parent: dict[str, Any], where: str, name: str, default: tuple[float, ...]) -> Array:
    """Returns a list of finite numbers, as long as its default."""
    values = parent.get(name, list(default))
    if not isinstance(values, list) or len(values) != len(default):
        raise Refused(f"{where}/{name} is {_shown(values)}, not {len(default)} numbers")
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MAX_NUMBER:
            raise Refused(f"{where}/{name} holds {_shown(value)}, not a finite number")
    return np.array(values, dtype=np.float64)


def positive(parent: dict[str, Any], name: str) -> float | None:
    """Returns a positive number if there is one, None for anything else."""
    value = parent.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6 and math.isfinite(value):
        return float(value)
    return None


def _shown(value: Any) -> str:
    """Returns a short text of a JSON value, for a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
