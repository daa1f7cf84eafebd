"""A TOML text that is changed entry by entry: everything else stays as a person wrote it, to the byte."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from counterpoise.errors import BadValue
from counterpoise.scene.values import plain_value, toml_key, toml_value
from counterpoise.spacetime.stunt.lines import Path, TomlEntry, TomlLayout, layout_of


@dataclass(frozen=True)
class TomlDocument:
    """A valid TOML text. A path such as ("key", 1, "time") names an entry; every change returns a new document."""

    text: str

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the text says. Do not change it."""
        return tomllib.loads(self.text)

    @cached_property
    def layout(self) -> TomlLayout:
        return layout_of(self.text)

    def get(self, path: Path, default: Any = None) -> Any:
        """Returns the value at a path, or the default."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    # -- changes ----------------------------------------------------------------------------------------------------

    def with_value(self, path: Path, value: Any) -> TomlDocument:
        """Returns the document in which the entry at `path` has this value; a missing table is added."""
        if not path or not isinstance(path[-1], str):
            raise BadValue(f"an entry has a name; got the path {_words(path)}")
        written = self._entry(path)
        if written is not None:
            return self._replaced(written.value, written.end, toml_value(value))
        host = self._host(path)
        if host is not None:  # inside an inline table or list
            return self._changed_inside(host, path, value)
        if isinstance(self.get(path), dict):
            raise BadValue(f"{_words(path)} is a table: set its entries one by one, or remove it first")
        return self._added(path[:-1], path[-1], toml_value(value))

    def without(self, path: Path) -> TomlDocument:
        """Returns the document without an entry or a table, with all that belongs to it."""
        if not path or self.get(path) is None:
            raise BadValue(f"there is no entry {_words(path)}")
        written = self._entry(path)
        if written is not None:
            return self._replaced(self._line_start(written.start), self._line_end(written.end), "")
        host = self._host(path)
        if host is not None:
            return self._changed_inside(host, path, None)
        spans = [self._span(i) for i, h in enumerate(self.layout.headers) if h.path[: len(path)] == path]
        spans += [
            (self._line_start(e.start), self._line_end(e.end))
            for e in self.layout.entries
            if e.path[: len(path)] == path and (e.table < 0 or self.layout.headers[e.table].path[: len(path)] != path)
        ]
        text = self.text
        for start, end in sorted(spans, reverse=True):
            text = text[:start] + text[end:]
        return TomlDocument(text)

    def with_table(self, path: Path, entries: Mapping[str, Any]) -> TomlDocument:
        """Returns the document with one more table [[path]], behind the last one of that name."""
        given = {k: v for k, v in entries.items() if v is not None}
        host = self._entry(path) or self._host(path)
        if host is not None:
            return self._changed_inside(host, (*path, len(self.get(path, []))), given)
        return self._with_block(self._name(path), "[[{}]]", given, self._place_of(path))

    def with_new_table(self, path: Path, entries: Mapping[str, Any]) -> TomlDocument:
        """Returns the document with a table [path] that was not there, at the end."""
        given = {k: v for k, v in entries.items() if v is not None}
        if self.get(path) is not None:
            raise BadValue(f"there is already a table {_words(path)}")
        return self._with_block(self._name(path), "[{}]", given, self._place_of(path))

    # -- where things are -------------------------------------------------------------------------------------------

    def _entry(self, path: Path) -> TomlEntry | None:
        return next((e for e in self.layout.entries if e.path == path), None)

    def _host(self, path: Path) -> TomlEntry | None:
        """Returns the entry whose value, an inline table or list, holds the path."""
        return next((e for e in self.layout.entries if e.path == path[: len(e.path)] and len(e.path) < len(path)), None)

    def _name(self, path: Path) -> str:
        """Returns a path as it is written in a header: a list's name means the table above of that name."""
        return ".".join(toml_key(p) for p in path if isinstance(p, str))

    def _span(self, header: int) -> tuple[int, int]:
        """Returns where a table begins, with the comment just above it, and where the next one begins."""
        headers = self.layout.headers
        end = self._top(headers[header + 1].start) if header + 1 < len(headers) else len(self.text)
        return self._top(headers[header].start), end

    def _top(self, start: int) -> int:
        """Returns the beginning of the comment lines directly above a place, or of its own line."""
        at = self._line_start(start)
        while at > 0:
            above = self._line_start(at - 1)
            if not self.text[above:at].lstrip().startswith("#"):
                return at
            at = above
        return at

    def _end_of(self, path: Path) -> int | None:
        """Returns where the last table of this path, or inside of it, ends; None where there is none."""
        mine = [i for i, h in enumerate(self.layout.headers) if h.path[: len(path)] == path]
        return self._span(mine[-1])[1] if mine else None

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1

    # -- writing ----------------------------------------------------------------------------------------------------

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def _replaced(self, start: int, end: int, new: str) -> TomlDocument:
        return TomlDocument(self.text[:start] + new + self.text[end:])

    def _changed_inside(self, host: TomlEntry, path: Path, value: Any) -> TomlDocument:
        """Writes an inline value anew, with what is at `path` in it changed; None removes it."""
        whole = deepcopy(self.get(host.path))
        inner: Any = whole
        *way, last = path[len(host.path) :]
        try:
            for part in way:
                inner = inner.setdefault(part, {}) if isinstance(inner, dict) else inner[part]
            if value is None:
                del inner[last]
            elif isinstance(inner, list) and last == len(inner):
                inner.append(plain_value(value))
            else:
                inner[last] = plain_value(value)
        except (TypeError, IndexError, KeyError):
            name, there = (".".join(map(str, one)) for one in (path, host.path))
            raise BadValue(
                f"there is no entry {name!r} to change: {there!r} is {toml_value(self.get(host.path))}"
            ) from None
        return self._replaced(host.value, host.end, toml_value(whole))

    def _added(self, table: Path, name: str, written: str) -> TomlDocument:
        """Adds an entry below the last one of its table."""
        line = f"{toml_key(name)} = {written}"
        index = next((i for i, h in enumerate(self.layout.headers) if h.path == table), None)
        if index is None and table:
            dotted = [e for e in self.layout.entries if e.path[:-1] == table]
            if not dotted:
                if any(isinstance(part, int) for part in table) and self.get(table) is None:
                    raise BadValue(f"there is no {_words(table)}")
                return self._with_block(self._name(table), "[{}]", {}, self._place_of(table), line)
            names = self.text[dotted[-1].start : dotted[-1].value].partition("=")[0].rpartition(".")[0].rstrip()
            return self._insert_line(self._line_end(dotted[-1].end), f"{names}.{line}")
        mine = [e for e in self.layout.entries if e.table == (-1 if index is None else index)]
        if mine:
            return self._insert_line(self._line_end(mine[-1].end), line)
        if index is not None:
            return self._insert_line(self._line_end(self.layout.headers[index].end), line)
        if not self.layout.headers:
            return self._insert_line(len(self.text), line)
        above = self._top(self.layout.headers[0].start)
        return self._insert_line(above, line + self._newline)

    def _place_of(self, table: Path) -> int:
        """Returns where a new table goes: behind those of its name, or behind what it belongs to, or at the end."""
        while table:
            found = self._end_of(table)
            if found is not None:
                return found
            table = table[:-1]
        return len(self.text)

    def _insert_line(self, at: int, line: str) -> TomlDocument:
        before, newline = self.text[:at], self._newline
        if before and not before.endswith("\n"):
            before += newline
        return TomlDocument(before + line + newline + self.text[at:])

    def _with_block(
        self, name: str, brackets: str, entries: Mapping[str, Any], at: int, line: str = ""
    ) -> TomlDocument:
        newline = self._newline
        rows = [brackets.format(name), *(f"{toml_key(k)} = {toml_value(v)}" for k, v in entries.items())]
        block = newline.join([*rows, *([line] if line else [])]) + newline
        before, after = self.text[:at], self.text[at:]
        if before and not before.endswith("\n"):
            before += newline
        if before and not before.endswith(newline * 2):
            before += newline
        return TomlDocument(before + block + (newline + after if after else ""))


def _words(path: Path) -> str:
    """Returns a path in words: `key[1].time`."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else str(part)
    return repr(out)
