"""C3D: labelled markers of optical capture, read by our own reader.

A C3D file is blocks of 512 bytes: a header, parameters in groups, then frames of points (and analog samples, which are
skipped). Numbers are whole numbers or floats, in Intel, MIPS or DEC order (c3d.org, "The C3D file format user guide").
The library ezc3d ends the whole program on many damaged files, so only the tests use it, to compare. Here every count
is compared first with the number of bytes that are there.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import Refused, one_line
from counterpoise.motion.files.glb import read_plain_file
from counterpoise.motion.files.markers import Markers
from counterpoise.motion.motion import Motion

BLOCK = 512  # [bytes]
MAX_BYTES = 1 << 30
INTEL, DEC, MIPS = 84, 85, 86
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "inch": 0.0254, "ft": 0.3048}  # [m]
MAX_DISTANCE = 1000.0  # [m] a marker further away means wrong units
MAX_PARAMETERS = 10_000


def read_markers(path: str | os.PathLike[str], *, units: str | float | None = None, up: str | None = None) -> Markers:
    """Returns the markers of a C3D file, in metres, z up.

    Units and up axis are the file's own (POINT:UNITS, POINT:Y_SCREEN) unless they are given: "mm", metres a unit, "y".
    Points with a negative residual, at NaN or exactly at the origin were not seen.
    """
    try:
        data = read_plain_file(Path(path), MAX_BYTES)
        return _read(data, Path(path).stem, units, up)
    except FileNotFoundError:
        raise BadFile(f"no file {str(path)!r}", path=str(path)) from None
    except (OSError, Refused, struct.error) as error:
        why = one_line(error)
        raise BadFile(f"{str(path)!r} is not a C3D file this program can read: {why}", path=str(path)) from None


def read_c3d(
    path: str | os.PathLike[str],
    character: Character,
    *,
    units: str | float | None = None,
    up: str | None = None,
    placement: Mapping[str, Any] | None = None,
    height: float | None = None,
) -> Motion:
    """Returns the motion of a character fitted to a file's markers; see `counterpoise.pose.markers.fit_markers`."""
    from counterpoise.pose.markers import fit_markers

    return fit_markers(read_markers(path, units=units, up=up), character, placement, height=height).motion


def _read(data: bytes, name: str, units: str | float | None, up: str | None) -> Markers:
    if len(data) < 2 * BLOCK or data[1] != 0x50:
        raise Refused("byte 1: no C3D header")
    at = (data[0] - 1) * BLOCK
    if at < BLOCK or at + 4 > len(data):
        raise Refused(f"byte 0: parameters in block {data[0]}, beyond the end of the file")
    order = data[at + 3]
    if order not in (INTEL, DEC, MIPS):
        raise Refused(f"byte {at + 3}: processor type {order} is none of {INTEL}, {DEC}, {MIPS}")
    e = ">" if order == MIPS else "<"
    points, analog, first, last = struct.unpack_from(f"{e}4H", data, 2)
    scale, rate = _float(data, 12, order), _float(data, 20, order)
    (start_block,) = struct.unpack_from(f"{e}H", data, 16)
    parameters = _parameters(data, at, order)
    point = parameters.get("POINT", {})
    points = _whole(point.get("USED"), points)
    scale, rate = _real(point.get("SCALE"), scale), _real(point.get("RATE"), rate)
    start_block = _whole(point.get("DATA_START"), start_block)
    if points == 0:
        raise Refused("it holds no points, only analog samples")
    if not (np.isfinite(rate) and 0.0 < rate <= 1e5):
        raise Refused(f"byte 20: a rate of {rate:g} frames/s")
    if not np.isfinite(scale) or scale == 0.0:
        raise Refused(f"byte 12: a scale of {scale:g}")
    frames = _frame_count(parameters, first, last)
    places, seen = _points(data, order, (start_block - 1) * BLOCK, frames, points, analog, scale)
    factor, unit_note = _units(units, point.get("UNITS"))
    axis, up_note = _up(up, point.get("Y_SCREEN"))
    places = np.where(seen[..., None], places * factor, np.nan)
    if not np.all(np.abs(places[seen]) < MAX_DISTANCE):
        raise Refused(f"a marker is more than {MAX_DISTANCE:g} m away with {unit_note}; give `units`, such as mm")
    notes = {"format": "c3d", "remarks": (unit_note, up_note), "up": axis, "scale": factor, "first_frame": first}
    return Markers(_labels(point, points), float(rate), _z_up(places, axis), name, notes)


def _points(
    data: bytes, order: int, start: int, frames: int, points: int, analog: int, scale: float
) -> tuple[Array, Flags]:
    """Returns places (f, m, 3) in the file's units, and whether each was seen (f, m)."""
    whole = scale > 0.0
    word = 2 if whole else 4
    row = (4 * points + analog) * word
    if start < 2 * BLOCK:
        raise Refused(f"byte 16: data from byte {start}, inside the header")
    there = (len(data) - start) // row if start < len(data) else 0
    if frames > there:
        raise Refused(f"byte {len(data)}: {frames} frames of {row} bytes are declared from byte {start}, {there} fit")
    raw = np.frombuffer(data, np.uint8, frames * row, start).reshape(frames, row)[:, : 4 * points * word]
    raw = np.ascontiguousarray(raw)
    values = raw.view(">i2" if order == MIPS else "<i2") if whole else _floats(raw, order)
    with np.errstate(invalid="ignore"):  # copying some NaN raises a warning
        cells = values.reshape(frames, points, 4).astype(np.float64)
    places = cells[..., :3] * (scale if whole else 1.0)
    real: Flags = np.asarray(np.isfinite(places).all(axis=2))
    seen = real & ~(cells[..., 3] < 0.0) & (np.where(real[..., None], places, 0.0) != 0.0).any(axis=2)
    return places, seen


def _frame_count(parameters: Mapping[str, Mapping[str, Any]], first: int, last: int) -> int:
    """Returns the number of frames: from TRIAL's 32-bit fields, else POINT:LONG_FRAMES, else the header's 16 bits."""
    trial = parameters.get("TRIAL", {})
    ends = [trial.get(f"ACTUAL_{which}_FIELD") for which in ("START", "END")]
    if all(isinstance(x, np.ndarray) and x.size == 2 and x.dtype.kind == "i" for x in ends):
        start, end = (int(x[0]) % 65536 + 65536 * (int(x[1]) % 65536) for x in ends if x is not None)
        frames = end - start + 1
    else:
        frames = last - first + 1
        point = parameters.get("POINT", {})
        if "LONG_FRAMES" in point:
            frames = _whole(point["LONG_FRAMES"], frames)
        elif last == 65535:
            frames = max(frames, _whole(point.get("FRAMES"), frames))
    if frames < 1:
        raise Refused(f"byte 6: frames from {first} to {last}")
    return frames


# -------------------------------------------------------------------------------------------------- parameters


def _parameters(data: bytes, start: int, order: int) -> dict[str, dict[str, Any]]:
    """Returns values by group and name: arrays of numbers, or lists of texts."""
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Any]] = []
    for record, where, number, name in _records(data, start + 4, ">" if order == MIPS else "<"):
        if number < 0:
            groups[-number] = name
        else:
            found.append((number, name, _value(record, where, order)))
    out: dict[str, dict[str, Any]] = {}
    for number, name, value in found:
        out.setdefault(groups.get(number, f"#{number}"), {})[name] = value
    return out


def _records(data: bytes, at: int, e: str) -> Iterator[tuple[bytes, int, int, str]]:
    """Yields of each group or parameter: its bytes after name and offset, where they start, its number, its name."""
    for _ in range(MAX_PARAMETERS):
        if at + 2 > len(data):
            raise Refused(f"byte {at}: the parameters run beyond the end of the file")
        length, number = abs(struct.unpack_from("b", data, at)[0]), struct.unpack_from("b", data, at + 1)[0]
        if length == 0 or number == 0:
            return
        offset_at = at + 2 + length
        if offset_at + 2 > len(data):
            raise Refused(f"byte {at}: a parameter's name runs beyond the end of the file")
        name = data[at + 2 : offset_at].decode("latin-1").strip().upper()
        (offset,) = struct.unpack_from(f"{e}H", data, offset_at)
        end = offset_at + offset if offset else len(data)
        if end > len(data) or (offset and offset < 2):
            raise Refused(f"byte {offset_at}: parameter {name[:20]!r} points {offset} bytes on, beyond the end")
        yield data[offset_at + 2 : min(end, offset_at + 2 + 131_072)], offset_at + 2, number, name
        if not offset:
            return
        at = end
    raise Refused(f"it has more than {MAX_PARAMETERS} parameters")


def _value(record: bytes, where: int, order: int) -> Any:
    if len(record) < 2:
        raise Refused(f"byte {where}: a parameter without a type")
    (kind,), count = struct.unpack_from("b", record), record[1]
    sizes = {-1: 1, 1: 1, 2: 2, 4: 4}
    if kind not in sizes or count > 7 or len(record) < 2 + count:
        raise Refused(f"byte {where}: a parameter of type {kind} with {count} dimensions")
    dims = list(record[2 : 2 + count])
    total = int(np.prod(dims, dtype=object)) if dims else 1
    if total * sizes[kind] > len(record) - 2 - count:
        raise Refused(f"byte {where}: a parameter of {total} values does not fit its {len(record)} bytes")
    body = record[2 + count : 2 + count + total * sizes[kind]]
    if kind == -1:
        width = dims[0] if dims else 1
        texts = [body[i : i + width] for i in range(0, len(body), width)] if width else []
        return [text.decode("utf-8", "replace").replace("\0", " ").strip() for text in texts]
    raw = np.frombuffer(body, np.uint8)
    if kind == 4:
        with np.errstate(invalid="ignore"):
            return _floats(raw, order).astype(np.float64)
    kinds = {1: "i1", 2: ">i2" if order == MIPS else "<i2"}
    return raw.view(kinds[kind]).astype(np.int64)


def _labels(point: Mapping[str, Any], count: int) -> tuple[str, ...]:
    """Returns a name for every point, from LABELS, LABELS2, ...; points of equal names, or without, get numbers."""
    names: list[str] = []
    for key in ("LABELS", *(f"LABELS{k}" for k in range(2, 300))):
        more = point.get(key)
        if not isinstance(more, list):
            break
        names += more
    names = names[:count] + [""] * (count - len(names))
    seen: dict[str, int] = {}
    out = []
    for i, name in enumerate(names):
        clean = "".join(c for c in name if c.isprintable()) or f"*{i + 1}"
        seen[clean] = seen.get(clean, 0) + 1
        out.append(clean if seen[clean] == 1 else f"{clean}#{seen[clean]}")
    return tuple(out)


def _whole(value: Any, otherwise: int) -> int:
    """Returns a count of 16 bits, which some files keep as a float."""
    if isinstance(value, np.ndarray) and value.size and np.isfinite(value.flat[0]):
        number = int(value.flat[0])
        return number % 65536 if value.dtype.kind == "i" else number
    return otherwise


def _real(value: Any, otherwise: float) -> float:
    good = isinstance(value, np.ndarray) and value.size and np.isfinite(value.flat[0]) and value.flat[0] != 0.0
    return float(value.flat[0]) if good else otherwise


def _float(data: bytes, at: int, order: int) -> float:
    return float(_floats(np.frombuffer(data, np.uint8, 4, at), order)[0])


def _floats(raw: NDArray[np.uint8], order: int) -> NDArray[Any]:
    """Returns 32-bit floats; those of DEC have their halves swapped and are four times too large."""
    if order == DEC:
        swapped = np.ascontiguousarray(raw.reshape(-1, 2, 2)[:, ::-1]).reshape(raw.shape)
        with np.errstate(invalid="ignore"):
            return swapped.view("<f4") / np.float32(4.0)
    return raw.view(">f4" if order == MIPS else "<f4")


# ----------------------------------------------------------------------------------------------- units and axes


def _units(given: str | float | None, found: Any) -> tuple[float, str]:
    """Returns metres a unit and a remark, from what was given or `found` in the file."""
    if isinstance(given, int | float):
        if not (np.isfinite(given) and 1e-9 < given < 1e6):
            raise BadValue(f"units are metres a unit, a positive number, not {given!r}", units=given)
        return float(given), f"units given: {given:g} m"
    word = given if given is not None else next((t for t in found if t), "") if isinstance(found, list) else ""
    key = word.strip().lower()
    if key in UNITS:
        return UNITS[key], f"units {'given' if given is not None else 'in the file'}: {key}"
    if given is not None:
        raise BadValue(f"units are one of {', '.join(UNITS)} or metres a unit, not {given!r}", units=given)
    return UNITS["mm"], "units taken as mm: the file does not name them"


def _up(given: str | None, found: Any) -> tuple[str, str]:
    """Returns the up axis and a remark, from what was given or `found` in the file."""
    word = given if given is not None else next((t for t in found if t), "") if isinstance(found, list) else ""
    key = word.strip().lower().lstrip("+")
    if key in ("x", "y", "z", "-x", "-y", "-z"):
        return key, f"up axis {'given' if given is not None else 'in the file'}: {key}"
    if given is not None:
        raise BadValue(f"an up axis is x, y or z, with a minus where it points down, not {given!r}", up=given)
    return "z", "up axis taken as z: the file does not name it"


def _z_up(places: Array, up: str) -> Array:
    """Returns the places with axes permuted so that `up` is z; a downward axis is first turned about x or z."""
    if up.startswith("-"):
        places = places * ([1.0, -1.0, -1.0] if up != "-x" else [-1.0, -1.0, 1.0])
    return np.roll(places, {"x": 2, "y": 1, "z": 0}[up[-1]], axis=-1)


__all__ = ["read_c3d", "read_markers"]
