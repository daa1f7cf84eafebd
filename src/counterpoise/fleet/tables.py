"""Tables: named columns of numbers and text, as CSV and Parquet files and as pandas data frames."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.files import check_writable, one_line, whole_file

Cell = float | int | str | bool | None
SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class SweepTable:
    """Rows of cells with named columns. Equal tables give equal CSV bytes."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    complete: bool = True  # every row was run; not so after Ctrl-C

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Cell]], complete: bool = True) -> SweepTable:
        """Returns a table of dictionaries; columns in the order in which they first appear, "error" last."""
        names = list(dict.fromkeys(name for row in rows for name in row if name != "error"))
        columns = (*names, "error") if any("error" in row for row in rows) else tuple(names)
        return cls(columns, tuple(tuple(row.get(name) for name in columns) for row in rows), complete)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def column(self, name: str) -> list[Cell]:
        """Returns the cells of one column."""
        if name not in self.columns:
            raise unknown_name("column", name, self.columns)
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def csv_text(self) -> str:
        """Returns the table as CSV; numbers are written so that they are read back exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_written(cell) for cell in row] for row in self.rows)
        return text.getvalue()

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Writes a CSV file, and a Parquet file beside it where pyarrow is installed. Returns what was written."""
        target = table_path(path)
        with whole_file(target) as place:
            place.write_text(self.csv_text(), encoding="utf-8", newline="")
        if find_spec("pyarrow") is None:
            return (target,)
        parquet = target.with_suffix(".parquet")
        self._save_parquet(parquet)
        return target, parquet

    def _save_parquet(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        columns = {name: _one_kind(self.column(name)) for name in self.columns}
        with whole_file(path) as place:
            pyarrow.parquet.write_table(pyarrow.table(columns), place)

    def frame(self) -> Any:
        """Returns a pandas DataFrame."""
        return data_frame({name: self.column(name) for name in self.columns})


def table_path(path: str | os.PathLike[str]) -> Path:
    """Returns where a table is written as CSV; raises an error where that is not possible."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise BadValue(f"a table is written as .csv (and .parquet); got {str(path)!r}")
    target = target.with_suffix(".csv")
    check_writable(target)
    return target


def refuse_other_table(target: Path, columns: Sequence[str]) -> None:
    """Raises an error if a file is there, or Parquet beside it, that is not a table which begins with these columns."""
    with_parquet = (target.with_suffix(".parquet"),) if find_spec("pyarrow") is not None else ()
    for path in (target, *with_parquet):
        if path.is_file() and path.stat().st_size > 0 and _first_columns(path, len(columns)) != list(columns):
            raise BadFile(
                f"{str(path)!r} is there and is not a table of this sweep, which begins with the columns "
                f"{', '.join(columns)}: write into another file, or delete it",
                path=str(path),
            )


def _first_columns(path: Path, count: int) -> list[str]:
    """Returns the names of the first columns of a table; none if it cannot be read."""
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(path).names)[:count]
        with path.open(encoding="utf-8", newline="") as stream:
            return next(csv.reader(stream), [])[:count]
    except (OSError, ValueError, csv.Error):  # UnicodeDecodeError and errors of pyarrow are ValueErrors
        return []


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Returns a pandas DataFrame of columns."""
    if find_spec("pandas") is None:
        raise BadValue("data frames need the package 'pandas': pip install 'counterpoise[tables]'")
    import pandas

    return pandas.DataFrame(dict(columns))


def read_table_rows(path: Path) -> list[dict[str, str]]:
    """Returns the rows of a CSV file as text."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadFile(f"cannot read {str(path)!r}: {one_line(error)}", path=str(path)) from error


def _written(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return repr(cell) if isinstance(cell, float) else str(cell)


def _one_kind(cells: list[Cell]) -> list[Any]:
    """Cells of a column for Parquet, which holds one kind: numbers, or else text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {bool} or kinds <= {str}:
        return list(cells)
    if kinds <= {int}:
        return list(cells)
    if kinds <= {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    return [None if cell is None else str(cell) for cell in cells]
