"""Files that are written completely or not at all, and archives that are checked while they are read.

Archives are plain `.npz` files. Equal arrays give equal bytes, and nothing is pickled. The reader checks the header and
the declared size of every array before it reserves memory for it.
"""

from __future__ import annotations

import io
import json
import os
import re
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoise.errors import BadFile

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAX_ARRAY_BYTES = 8 << 30
_MAX_COMPRESSION = 200  # unpacked over packed size, for arrays above the next size
_ANY_COMPRESSION_BYTES = 64 << 20  # up to this size any compression is accepted
_KINDS = {"f": "numbers", "i": "whole numbers", "u": "bytes", "U": "text"}


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raises BadFile if a file cannot be written there; a file that is there already stays as it is."""
    target = Path(path)
    if target.is_dir():
        raise BadFile(f"cannot write {str(target)!r}: it is a folder", path=str(target))
    if not target.parent.is_dir():
        raise BadFile(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}", path=str(target))
    try:
        with whole_file(target.with_name(f".{secrets.token_hex(6)}")) as temporary:
            temporary.touch()
            raise _OnlyAsked
    except _OnlyAsked:
        return
    except OSError as error:
        raise BadFile(f"cannot write {str(target)!r}: {error.strerror or one_line(error)}", path=str(target)) from error


def check_writable_below(path: str | os.PathLike[str]) -> None:
    """As `check_writable`, for a file whose folders may have to be made first."""
    target = Path(path)
    there = next((folder for folder in target.parents if folder.exists()), target.parent)
    if there == target.parent:
        check_writable(target)
    elif there.is_dir():
        check_writable(there / f".{secrets.token_hex(6)}")
    else:
        raise BadFile(f"cannot write {str(target)!r}: {str(there)!r} is not a folder", path=str(target))


class _OnlyAsked(Exception):
    """Nothing is to be written after all."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary path beside `path`. It is renamed to `path` when the block ends, and deleted when it fails."""
    target = Path(path)
    if not target.parent.is_dir():
        raise BadFile(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}", path=str(target))
    temporary = target.with_name(f".{secrets.token_hex(6)}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_archive(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], compress: bool = True) -> None:
    """Writes arrays as an `.npz` file. Equal arrays give equal bytes."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    try:
        level = 3 if compress else None
        with whole_file(path) as temporary, zipfile.ZipFile(temporary, "x", method, compresslevel=level) as archive:
            for name, array in arrays.items():
                _write_array(archive, name, array, method)
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


class Archive:
    """An `.npz` file opened for reading. Arrays are read by name and must have the expected kind and number of axes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._zip = archive
        self.names = tuple(n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy"))

    def read(self, name: str, kind: str, ndim: int, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """Returns one array, after its header and its declared size have been checked.

        With `shape`, the array must have that shape. Without, it must not be much larger than its packed size.
        """
        try:
            entry = self._zip.getinfo(f"{name}.npy")
        except KeyError:
            raise Refused(f"array {name!r} is missing") from None
        most = _MAX_ARRAY_BYTES
        if shape is None:
            most = min(most, max(_ANY_COMPRESSION_BYTES, _MAX_COMPRESSION * entry.compress_size))
        if entry.file_size > most:
            raise Refused(f"array {name!r} declares {entry.file_size} bytes, more than a file of this size can hold")
        with self._zip.open(entry) as stream:
            declared, fortran, dtype = _read_header(stream, name)
            size = prod(declared) * dtype.itemsize
            if dtype.kind != kind or len(declared) != ndim or dtype.hasobject:
                raise Refused(
                    f"array {name!r} must be {_KINDS[kind]} with {ndim} axes, not {dtype} of shape {declared}"
                )
            if shape is not None and declared != shape:
                raise Refused(f"array {name!r} has shape {declared}; it must be {shape}")
            if stream.tell() + size != entry.file_size:
                raise Refused(f"array {name!r} of shape {declared} does not fit its {entry.file_size} bytes")
            data = stream.read(size)
            stream.read(1)  # reaching the end makes zipfile verify the checksum
        if len(data) != size:
            raise Refused(f"array {name!r} is cut short")
        return np.frombuffer(data, dtype=dtype).reshape(declared, order="F" if fortran else "C")

    def read_meta(self, fmt: str, version: int) -> dict[str, Any]:
        """Returns the JSON text `meta` as a dictionary; it must name the format and a version this program reads."""
        text = str(self.read("meta", "U", 0)[()])
        try:
            meta = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Refused(f"its meta is not JSON: {one_line(error)}") from error
        if not isinstance(meta, dict) or meta.get("format") != fmt:
            given = meta.get("format") if isinstance(meta, dict) else None
            raise Refused(f"its meta says format {given!r}, not {fmt!r}")
        if meta.get("version") != version:
            raise Refused(f"it has version {meta.get('version')!r}; this program reads version {version}")
        return meta


class Refused(Exception):
    """The reason why a file is rejected; `open_archive` turns it into a BadFile that names the file."""


@contextmanager
def open_archive(path: str | os.PathLike[str], what: str) -> Iterator[Archive]:
    """Opens an `.npz` file. Every problem with it is a BadFile: '... is not a recording: array ... is missing'."""
    source = str(path)
    try:
        if not stat.S_ISREG(os.stat(source).st_mode):  # opening a pipe would block
            raise Refused("it is a folder, a pipe or a device")
        with zipfile.ZipFile(source) as archive:
            yield Archive(archive)
    except FileNotFoundError:
        raise BadFile(f"no file {source!r}", path=source) from None
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        Refused,
    ) as error:
        raise BadFile(f"{source!r} is not a {what}: {one_line(error)}", path=source) from error


def one_line(error: BaseException) -> str:
    """Returns the message of an error as one line, without memory addresses: equal problems give equal lines."""
    message = re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(str(error).split()))
    return message[:200] or type(error).__name__


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any], method: int) -> None:
    entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
    entry.create_system, entry.external_attr, entry.compress_type = 3, 0o644 << 16, method
    little = np.asarray(array)
    little = little.astype(little.dtype.newbyteorder("<"), order="C", copy=False)
    with archive.open(entry, "w", force_zip64=little.nbytes > 1 << 30) as stream:
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, np.lib.format.header_data_from_array_1_0(little))
        stream.write(buffer.getvalue())
        flat = little.reshape(-1).view(np.uint8) if little.size else np.empty(0, np.uint8)
        for start in range(0, len(flat), 1 << 24):
            stream.write(flat[start : start + (1 << 24)].tobytes())


def _read_header(stream: Any, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(stream)
        if version not in readers:
            raise Refused(f"array {name!r} has an unknown header version {version}")
        shape, fortran, dtype = readers[version](stream)
    except Refused:
        raise
    except Exception as error:  # numpy parses headers with Python's tokenizer, which raises many kinds
        raise Refused(f"array {name!r} has a bad header: {one_line(error)}") from error
    return shape, fortran, dtype


__all__ = [
    "Archive", "Refused", "check_writable", "check_writable_below", "one_line", "open_archive", "whole_file",
    "write_archive",
]  # fmt: skip
