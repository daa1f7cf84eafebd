"""Reads TOML files strictly: every entry by its name and type, every mistake reported with its line."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from counterpoise.errors import BadFile, CounterpoiseError, nearest_name
from counterpoise.spacetime.stunt.lines import Path, lines_of

MAX_FILE_SIZE = 4 << 20  # [bytes]


def open_toml(
    source: str | os.PathLike[str], what: str, name: str | None = None, folder: FilePath | None = None
) -> Table:
    """Returns the top table of a TOML file, or of a TOML text (it has several lines, or an `=`).

    With a `name`, `source` is a text that came from a file of that name in `folder`.
    """
    text, found, own = text_of(source, what) if name is None else (str(source), name, FilePath())
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(_located(found, str(error)), path=found) from None
    except RecursionError:
        raise BadFile(f"{found!r} is nested too deeply: not a {what}", path=found) from None
    return Table(data, (), "the file", TomlSource(found, own if folder is None else folder, lines_of(text)))


def text_of(source: str | os.PathLike[str], what: str) -> tuple[str, str, FilePath]:
    """Returns the text of a file with its line ends as they are, its name and its folder; or the text itself."""
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return source, what, FilePath()
    path = FilePath(source)
    if not path.is_file():
        raise BadFile(f"no file {str(path)!r}", path=str(path))
    if path.stat().st_size > MAX_FILE_SIZE:
        raise BadFile(f"{str(path)!r} is larger than {MAX_FILE_SIZE >> 20} MiB: not a {what}", path=str(path))
    try:
        return path.read_bytes().decode("utf-8"), str(path), path.parent
    except UnicodeDecodeError:
        raise BadFile(f"{str(path)!r} is not text: a {what} is a TOML file", path=str(path)) from None


def _located(name: str, message: str) -> str:
    """Returns 'name:3: invalid value (column 8)' for 'Invalid value (at line 3, column 8)'."""
    head, _, tail = message.rpartition("(at ")
    if not tail.startswith("line "):
        return f"{name}: {message}"
    line, _, column = tail.rstrip(")").removeprefix("line ").partition(", ")
    return f"{name}:{line}: {head.strip()[:1].lower()}{head.strip()[1:]} ({column})"


class TomlSource:
    """The name of a file, its folder, and the lines of its entries."""

    def __init__(self, name: str, folder: FilePath, lines: dict[Path, int]) -> None:
        self.name, self.folder, self.lines = name, folder, lines

    def line(self, path: Path) -> int:
        """Returns the line of a path, or of its deepest part that exists."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]

    def fault(self, path: Path, message: str) -> BadFile:
        return BadFile(f"{self.name}:{self.line(path)}: {message}", path=self.name, line=self.line(path))


class Table:
    """One table of the file. Entries are read by name; `done` reports entries that were not read."""

    def __init__(self, data: dict[str, Any], path: Path, label: str, source: TomlSource) -> None:
        self.data, self.path, self.label, self.source = data, path, label, source
        self.known: list[str] = []

    @property
    def line(self) -> int:
        return self.source.line(self.path)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def fault(self, key: str | None, message: str) -> BadFile:
        """Returns an error at an entry (None: at the table itself), with its line."""
        return self.source.fault(self.path if key is None else (*self.path, key), message)

    @contextmanager
    def at(self, key: str | None) -> Iterator[None]:
        """Errors raised inside are reported with the line of this entry."""
        try:
            yield
        except BadFile as error:
            if "line" in error.evidence:
                raise
            raise self.fault(key, str(error)) from None
        except CounterpoiseError as error:
            raise self.fault(key, str(error)) from None

    def value(self, key: str, wanted: str, required: bool = False) -> Any:
        """Returns the value of an entry, or None."""
        self.known.append(key)
        if required and key not in self.data:
            raise self.fault(None, f"{self.label} has no {key}: {key} is {wanted}")
        return self.data.get(key)

    def number(self, key: str, wanted: str, required: bool = False, low: float = -math.inf) -> float | None:
        """Returns a finite number that is at least `low`, or None."""
        value = self.value(key, wanted, required)
        if value is None:
            return None
        if not is_number(value) or value < low:
            raise self.fault(key, f"{key} is {wanted}; got {value!r}")
        return float(value)

    def text(self, key: str, wanted: str, required: bool = False, choices: Sequence[str] = ()) -> str | None:
        """Returns a text, one of `choices` if there are any, or None."""
        value = self.value(key, wanted, required)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.fault(key, f"{key} is {wanted}; got {value!r}")
        if choices and value not in choices:
            guess = nearest_name(value, choices)
            cure = f"did you mean {guess!r}?" if guess else f"known: {', '.join(choices)}"
            raise self.fault(key, f"no {key} {value!r}; {cure}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """Returns true or false."""
        value = self.value(key, "true or false")
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.fault(key, f"{key} is true or false; got {value!r}")
        return value

    def numbers(self, key: str, wanted: str, lengths: Sequence[int], required: bool = False) -> list[float] | None:
        """Returns a list of numbers of an accepted length, or None."""
        value = self.value(key, wanted, required)
        if value is None:
            return None
        if not (isinstance(value, list) and len(value) in lengths and all(is_number(v) for v in value)):
            raise self.fault(key, f"{key} is {wanted}; got {value!r}")
        return [float(v) for v in value]

    def names(self, key: str, wanted: str, required: bool = False) -> list[str] | None:
        """Returns a list of texts from a text or a list of texts, or None."""
        value = self.value(key, wanted, required)
        if value is None:
            return None
        words = [value] if isinstance(value, str) else value
        if not (isinstance(words, list) and words and all(isinstance(w, str) for w in words)):
            raise self.fault(key, f"{key} is {wanted}; got {value!r}")
        return list(words)

    def table(self, key: str, label: str) -> Table | None:
        """Returns a table inside this one, or None."""
        value = self.value(key, "a table")
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.fault(key, f"{key} is a table: write [{key}] and entries below it; got {value!r}")
        return Table(value, (*self.path, key), label, self.source)

    def tables(self, key: str) -> list[Table]:
        """Returns all tables [[key]]."""
        value = self.value(key, "a list of tables")
        if value is None:
            return []
        if not (isinstance(value, list) and all(isinstance(v, dict) for v in value)):
            raise self.fault(key, f"{key} is written [[{key}]], in double brackets, once for each; got {_short(value)}")
        return [Table(v, (*self.path, key, i), f"this [[{key}]]", self.source) for i, v in enumerate(value)]

    def done(self) -> None:
        """Reports entries that were not read."""
        for key in self.data:
            if key not in self.known:
                guess = nearest_name(key, self.known)
                cure = f"did you mean {guess!r}?" if guess else f"known: {', '.join(self.known)}"
                raise self.fault(key, f"no entry {key!r} in {self.label}; {cure}")


def is_number(value: Any) -> bool:
    """Returns whether a value is a finite number (and not true or false)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
