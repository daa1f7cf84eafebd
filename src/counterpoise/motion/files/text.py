"""What readers of text formats share: checks when a file is opened, and errors that name the line."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadFile

MAX_BYTES = 512 << 20  # half an hour of a hundred joints at 120 frames a second
MAX_VALUE = 1e9  # larger numbers are errors


class TextFile:
    """The bytes of a text file, without a byte-order mark, and where its lines are."""

    def __init__(self, path: str | os.PathLike[str], what: str, largest: int = MAX_BYTES) -> None:
        self.path, self.what = str(path), what
        source = Path(path)
        try:
            kind, size = source.stat().st_mode, source.stat().st_size
            if not stat.S_ISREG(kind):
                other = "a folder" if stat.S_ISDIR(kind) else "a pipe or a device"
                raise BadFile(f"{self.path!r} is {other}, not a {what} file", path=self.path)
            if size > largest:
                mebi = f"{size / (1 << 20):.1f} MiB"
                raise BadFile(f"{self.path!r} has {mebi}; a {what} file may have {largest >> 20}", path=self.path)
            with source.open("rb") as stream:
                data = stream.read(size)
        except FileNotFoundError:
            raise BadFile(f"no file {self.path!r}", path=self.path) from None
        except OSError as error:
            raise BadFile(f"cannot read {self.path!r}: {error.strerror or error}", path=self.path) from None
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise BadFile(f"{self.path!r} is UTF-16 text; save it as UTF-8 or plain ASCII", path=self.path)
        data = data.removeprefix(b"\xef\xbb\xbf")
        if (zero := data.find(b"\0")) >= 0:
            raise BadFile(f"{self.path!r} is not {what} text: byte {zero} is zero", path=self.path, byte=zero)
        if b"\r" in data and b"\n" not in data:
            data = data.replace(b"\r", b"\n")
        self.data = data

    def line_of(self, byte: int) -> int:
        """Returns the line of a byte, counted from 1."""
        return self.data.count(b"\n", 0, byte) + 1

    def lines(self, start: int = 0, longest: int = 1 << 16) -> Iterator[tuple[int, bytes]]:
        """Yields (line, bytes) of all lines from a byte on."""
        stream = io.BytesIO(self.data)
        stream.seek(start)
        for line, row in enumerate(stream, start=self.line_of(start)):
            if len(row) > longest:
                raise self.bad(line, f"a line of {len(row)} bytes; no line here needs more than {longest}")
            yield line, row

    def bad(self, line: int, why: str) -> BadFile:
        """Returns an error that begins with `'walk.bvh', line 7: `."""
        return BadFile(f"{self.path!r}, line {line}: {why}", path=self.path, line=line)

    def numbers(self, start: int) -> Array | None:
        """Returns all numbers from a byte to the end, or None if anything else is among them."""
        block = self.data[start:]
        if not block.strip():
            return np.empty(0)
        try:
            found: Array = np.fromstring(block, dtype=np.float64, sep=" ")
        except ValueError:
            return None
        return found

    def ragged(self, start: int, rows: int, width: int) -> bool:
        """Returns whether there is one line a row from a byte on, and some line does not have `width` words.

        False if lines are not rows (wrapped, or all in one).
        """
        data = np.frombuffer(self.data, dtype=np.uint8)[start:]
        space = (data == 32) | ((data >= 9) & (data <= 13))
        begins = ~space
        begins[1:] &= space[:-1]
        lines = np.concatenate([[0], np.flatnonzero(data == 10) + 1])
        counts = np.add.reduceat(begins, lines[lines < len(data)], dtype=np.int64)
        counts = counts[counts > 0]
        return len(counts) == rows and bool((counts != width).any())


def decoded(data: bytes) -> str:
    """Returns bytes as text: UTF-8 if possible, otherwise Latin-1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def number(token: str) -> float | None:
    """Returns a finite number of at most MAX_VALUE, or None."""
    if "_" in token:
        return None
    try:
        value = float(token)
    except ValueError:
        return None
    return value if abs(value) <= MAX_VALUE else None  # NaN compares false


def shown(token: str, most: int = 40) -> str:
    """Returns a token in quotes and of limited length, for a message."""
    return repr(token if len(token) <= most else token[:most] + "...")
