"""Where every table, entry and item of a TOML text stands, which the standard reader does not report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:\s|#[^\n]*)*")
_PLAIN = re.compile(r"[^,\]}\n#]*")  # a number, a date, true or false


@dataclass(frozen=True)
class TomlHeader:
    """The line [path] or [[path]] of a table. All places are offsets into the text."""

    path: Path  # of the table; of [[key]] with its number
    many: bool  # [[...]]
    start: int
    end: int  # after the last bracket


@dataclass(frozen=True)
class TomlEntry:
    """One entry `name = value` that stands directly in a table. All places are offsets into the text."""

    path: Path  # of the value
    table: int  # number of the header that it stands below; -1: above all headers
    start: int  # of the name
    value: int  # where the value begins
    end: int  # where the value ends


@dataclass(frozen=True)
class TomlLayout:
    """The places of a valid TOML text."""

    lines: dict[Path, int]  # path -> line, from 1
    headers: tuple[TomlHeader, ...]
    entries: tuple[TomlEntry, ...]


def lines_of(text: str) -> dict[Path, int]:
    """Returns path -> line (from 1) of a valid TOML text. `("key", 1, "pose")` is the pose of the second key."""
    return layout_of(text).lines


def layout_of(text: str) -> TomlLayout:
    """Returns where everything stands in a valid TOML text."""
    scanner = _Scanner(text)
    return TomlLayout(scanner.lines, tuple(scanner.headers), tuple(scanner.entries))


class _Scanner:
    """One pass over the text that records where everything begins."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, int] = {(): 1}
        self.counts: dict[Path, int] = {}
        self.headers: list[TomlHeader] = []
        self.entries: list[TomlEntry] = []
        self._line, self._counted = 1, 0  # the line of a place that was reached
        table: Path = ()
        while self._skip(_GAP) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table, True)

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def _skip(self, what: re.Pattern[str]) -> int:
        found = what.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _mark(self, path: Path) -> None:
        self.lines.setdefault(path, self.line)

    def _header(self) -> Path:
        """Reads [table] or [[table]]. The name of a list of tables means its last table. Returns the path."""
        begin, start, many = self.at, self.line, self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        words = self._names()
        self.at += 2 if many else 1
        path: Path = ()
        for i, word in enumerate(words):
            path = (*path, word)
            self.lines.setdefault(path, start)
            if many and i == len(words) - 1:
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
                self.lines.setdefault(path, start)
        self.headers.append(TomlHeader(path, many, begin, self.at))
        return path

    def _names(self) -> list[str]:
        out = []
        while True:
            self._skip(_BLANK)
            if self.text[self.at] in "'\"":
                start = self.at
                self._string()
                out.append(self.text[start + 1 : self.at - 1])
            else:
                start = self.at
                out.append(self.text[start : self._skip(_BARE)])
            self._skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return out
            self.at += 1

    def _pair(self, table: Path, direct: bool = False) -> None:
        """Reads `name = value`; `direct` where it stands in a table of its own, not in an inline one."""
        begin, start = self.at, self.line
        path = table
        for word in self._names():
            path = (*path, word)
            self.lines.setdefault(path, start)
        self.at += 1  # =
        value = self._skip(_BLANK)
        self._value(path)
        if direct:
            end = value + len(self.text[value : self.at].rstrip())
            self.entries.append(TomlEntry(path, len(self.headers) - 1, begin, value, end))

    def _value(self, path: Path) -> None:
        self._skip(_GAP)
        mark = self.text[self.at]
        if mark in "'\"":
            self._string()
        elif mark in "[{":
            self.at += 1
            item = 0
            while self._skip(_GAP) < len(self.text) and self.text[self.at] not in "]}":
                if mark == "[":
                    self._mark((*path, item))
                    self._value((*path, item))
                    item += 1
                else:
                    self._pair(path)
                self._skip(_GAP)
                if self.text.startswith(",", self.at):
                    self.at += 1
            self.at += 1
        else:
            self._skip(_PLAIN)

    def _string(self) -> None:
        quote = self.text[self.at]
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(mark)
        while not self.text.startswith(mark, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(mark)
        while len(mark) == 3 and self.text.startswith(quote, self.at):  # quotes just before the closing three
            self.at += 1
