"""Files beside a take: columns of numbers that belong to its frames, such as efforts of joints or paths of props."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from counterpoise.arrays import Array
from counterpoise.errors import CounterpoiseError
from counterpoise.files import open_archive


def read_beside(take: Path, ending: str, what: str, columns: Mapping[str, tuple[str, int]]) -> dict[str, Array] | None:
    """Returns columns by name from the file beside a take: kind ("f", "i") and dimensions of each are checked.

    None where there is no such file, or where it cannot be read.
    """
    beside = take.with_name(take.stem + ending)
    if not beside.is_file():
        return None
    try:
        with open_archive(beside, what) as archive:
            return {name: archive.read(name, kind, dimensions) for name, (kind, dimensions) in columns.items()}
    except (CounterpoiseError, ValueError):
        return None
