"""The line of every table, key and item of a TOML text, which the standard reader does not report."""

from __future__ import annotations

import re
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:\s|#[^\n]*)*")
_PLAIN = re.compile(r"[^,\]}\n#]*")  # a number, a date, true or false


def lines_of(text: str) -> dict[Path, int]:
    """Returns path -> line (from 1) of a valid TOML text. `("key", 1, "pose")` is the pose of the second key."""
    return _LineScanner(text).lines


class _LineScanner:
    """One pass over the text that records where everything begins."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text.replace("\r\n", "\n"), 0
        self.lines: dict[Path, int] = {(): 1}
        self.counts: dict[Path, int] = {}
        table: Path = ()
        while self._skip(_GAP) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _skip(self, what: re.Pattern[str]) -> int:
        found = what.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _mark(self, path: Path) -> None:
        self.lines.setdefault(path, self.line)

    def _header(self) -> Path:
        """Reads [table] or [[table]]. The name of a list of tables means its last table. Returns the path."""
        start, many = self.line, self.text.startswith("[[", self.at)
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

    def _pair(self, table: Path) -> None:
        start = self.line
        path = table
        for word in self._names():
            path = (*path, word)
            self.lines.setdefault(path, start)
        self.at += 1  # =
        self._value(path)

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
