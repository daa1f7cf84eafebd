"""Sweeps: a function run for every combination of parameters, several times, on processes or a cluster; one table.

    table = cp.sweep(push, over={"force": [100, 200, 300], "compliance": [0.2, 0.5]}, repeats=5, seed=1,
    out="pushes.csv")

Finished rows are kept while it runs (`pushes.rows`): after Ctrl-C or a crash the same call does the rest. A row whose
process dies is tried again; a row that raises an error has it in its column `error`. The table does not depend on the
engine, the number of processes or the order in which rows were finished.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.files import one_line
from counterpoise.fleet.clip_tasks import TASKS
from counterpoise.fleet.engines import check_engine, engine_answers
from counterpoise.fleet.tables import Cell, SweepTable, refuse_other_table, table_path
from counterpoise.fleet.workers import TaskAnswer, attempt, load_function
from counterpoise.progress import Reporter, Watch, watching

MOST_ROWS = 1_000_000
TRIES = 3  # of a row whose process dies
ROWS_SUFFIX = ".rows"  # of the file with finished rows, beside the table
RESERVED = ("row", "repeat", "seed", "error")  # columns of every table


@runtime_checkable
class Sweepable(Protocol):
    """A thing that a sweep can run, such as a scene."""

    @property
    def sweep_task(self) -> tuple[str, dict[str, str]]:
        """The task that runs it, "module:name", and what the task is called with."""


@dataclass(frozen=True)
class SweepPlan:
    """What a sweep runs: one task a row."""

    function: str  # "module:name" or "file.py:name"; "" for a function that only this process has
    rows: tuple[dict[str, Any], ...]  # parameters of each row, with repeat and seed
    takes_seed: bool
    fixed: Mapping[str, Any]

    def arguments(self, row: int) -> dict[str, Any]:
        """Returns what the function is called with."""
        given = {name: value for name, value in self.rows[row].items() if name != "repeat"}
        if not self.takes_seed:
            del given["seed"]
        return {**self.fixed, **given}

    def digest(self) -> str:
        """Returns a text that is the same for the same plan."""
        text = json.dumps([self.function, self.rows, dict(self.fixed)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def sweep(
    run: Callable[..., Any] | str | Sweepable,
    over: Mapping[str, Sequence[Any]],
    *,
    repeats: int = 1,
    seed: int = 0,
    fixed: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    engine: str = "processes",
    out: str | os.PathLike[str] | None = None,
    progress: Watch | None = None,
) -> SweepTable:
    """Runs a function for every combination of the values in `over`, `repeats` times each. Returns a table.

    `run` is a function, "module:name", "file.py:name", one of the tasks "check", "fix", "optimize", "scene", or a
    scene, whose entries are then the parameters ({"push.0.force": [...]}). It is called with the parameters by name,
    those in `fixed`, and `seed` where it takes one: a number of its own for every row, made from `seed`. It returns a
    number, or a dictionary of numbers and text. `engine` is "processes" (`jobs` of them; all cores by default),
    "serial", "ray" or "ray://address". Functions that only this process knows (in a notebook, or inside others) are run
    serially. `out` is a .csv file; finished rows are kept beside it, and a file that is there and is no table of this
    sweep is refused. Ctrl-C stops, and so does an answer of `progress` that counts as false: the table then has
    `complete` False.
    """
    check_engine(engine)
    if isinstance(run, Sweepable):
        run, given = run.sweep_task
        fixed = {**given, **(fixed or {})}
    plan = plan_sweep(run, over, repeats, seed, fixed or {})
    target = table_path(out) if out is not None else None
    if target is not None and not target.with_suffix(ROWS_SUFFIX).is_file():  # else that file says whose it is
        refuse_other_table(target, ("row", *plan.rows[0]))
    kept = _RowsFile(target.with_suffix(ROWS_SUFFIX), plan) if target is not None else None
    results: dict[int, dict[str, Any]] = dict(kept.finished) if kept is not None else {}
    complete = True
    try:
        left = [r for r in range(len(plan.rows)) if r not in results]
        with watching(progress) as reporter:  # Ctrl-C asks it to stop, as an answer that counts as false does
            _report(reporter, len(results), len(plan.rows))
            for row, result in _run_rows(plan, run, left, jobs, engine, lambda: reporter.stopped):
                results[row] = result
                if kept is not None:
                    kept.add(row, result)
                _report(reporter, len(results), len(plan.rows))
                if reporter.stopped:
                    break
        complete = len(results) == len(plan.rows)
    except KeyboardInterrupt:
        complete = False
    finally:
        if kept is not None:
            kept.close()
    table = SweepTable.of([{"row": r, **_cells(plan.rows[r]), **results[r]} for r in sorted(results)], complete)
    if target is not None and complete:
        table.save(target)
    return table


def _report(reporter: Reporter, done: int, count: int) -> None:
    reporter.report("sweeping", done / max(count, 1), f"{done} of {count} rows")


def plan_sweep(
    run: Callable[..., Any] | str, over: Mapping[str, Sequence[Any]], repeats: int, seed: int, fixed: Mapping[str, Any]
) -> SweepPlan:
    """Returns the rows of a sweep: every combination, the last parameter fastest, each `repeats` times."""
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise BadValue(f"repeats is a whole number, at least 1; got {repeats!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise BadValue(f"seed is a whole number, at least 0; got {seed!r}")
    axes: dict[str, list[Any]] = {}
    for name, values in over.items():
        if name in RESERVED:
            raise BadValue(f"{name!r} is a column of every table: give the parameter another name")
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
            raise BadValue(f"over[{name!r}] is a list of values, at least one; got {values!r}")
        axes[name] = [_plain(value, name) for value in values]
    count = repeats * int(np.prod([len(values) for values in axes.values()], dtype=object))
    if count > MOST_ROWS:
        raise BadValue(f"{count} rows are too many for one sweep: at most {MOST_ROWS}")
    function, found = _function(run)
    wanted = inspect.signature(found).parameters
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in wanted.values())
    for name in (*axes, *fixed):
        if not open_ended and name not in wanted:
            raise unknown_name("parameter", name, wanted, getattr(found, "__name__", "the function"))
    seeds = np.random.SeedSequence(seed).generate_state(count, np.uint32)
    combinations = itertools.product(*axes.values(), range(repeats))
    rows = tuple(
        {**dict(zip((*axes, "repeat"), values, strict=True)), "seed": int(seeds[k])}
        for k, values in enumerate(combinations)
    )
    plain = {name: _plain(value, name) for name, value in fixed.items()}
    return SweepPlan(function, rows, open_ended or "seed" in wanted, plain)


# ------------------------------------------------------------------------------------------------------- running


def _run_rows(
    plan: SweepPlan,
    run: Callable[..., Any] | str,
    rows: list[int],
    jobs: int | None,
    engine: str,
    stopped: Callable[[], bool],
) -> Generator[tuple[int, dict[str, Any]]]:
    """Yields the results of rows as they are ready; rows whose process died are tried again."""
    if not plan.function or engine == "serial":
        for row in rows:
            answer = attempt(plan.function, row, plan.arguments(row)) if plan.function else _call(run, plan, row)
            yield row, _result(answer)
        return
    left, tries = rows, 1
    while left:
        crashed = []
        with closing(engine_answers(engine, plan.function, [plan.arguments(r) for r in left], jobs, stopped)) as coming:
            for answer in coming:
                if answer.crashed and tries < TRIES:
                    crashed.append(left[answer.task])
                else:
                    yield left[answer.task], _result(answer)
        left, tries = ([] if stopped() else crashed), tries + 1


def _call(run: Callable[..., Any] | str, plan: SweepPlan, row: int) -> TaskAnswer:
    assert not isinstance(run, str)
    try:
        return TaskAnswer(row, run(**plan.arguments(row)))
    except Exception as error:
        return TaskAnswer(row, error=f"{type(error).__name__}: {one_line(error)}")


def _result(answer: TaskAnswer) -> dict[str, Any]:
    if answer.error:
        return {"error": answer.error}
    value = answer.value
    if not isinstance(value, Mapping):
        value = {"value": value}
    out: dict[str, Any] = {}
    for name, cell in value.items():
        if name in RESERVED:
            return {"error": f"the function returned a column {name!r}, which every table has already"}
        try:
            out[str(name)] = _plain(cell, str(name), cells=True)
        except BadValue as error:
            return {"error": one_line(error)}
    return out


def _cells(values: Mapping[str, Any]) -> dict[str, Cell]:
    """Parameters as cells; lists as JSON text."""
    return {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in values.items()}


def _plain(value: Any, name: str, cells: bool = False) -> Any:
    """Returns a value as JSON has it; `cells` allows no lists."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and not cells:
        value = value.tolist()
    if isinstance(value, tuple | list) and not cells:
        return [_plain(item, name) for item in value]
    if isinstance(value, Mapping) and not cells:
        return {str(key): _plain(item, name) for key, item in value.items()}
    if isinstance(value, float) and math.isnan(value) and not cells:
        raise BadValue(f"{name!r} is NaN: a parameter has a value")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind = "a number or text" if cells else "a number, text, a list or a table of them"
    raise BadValue(f"{name!r} is {kind}; got {type(value).__name__}")


def _function(run: Callable[..., Any] | str) -> tuple[str, Callable[..., Any]]:
    """Returns the name by which workers find a function ("" if they cannot), and the function."""
    if isinstance(run, str):
        name = TASKS.get(run, run)
        if ":" not in name:
            raise unknown_name("task", run, [*TASKS, "module:function", "file.py:function"])
        return name, load_function(name)
    if not callable(run):
        raise BadValue(f"a sweep runs a function, or the name of one; got {type(run).__name__}")
    name, home = getattr(run, "__qualname__", ""), getattr(run, "__module__", "")
    if not name.isidentifier() or name == "<lambda>":
        return "", run
    if home == "__main__":
        file = getattr(sys.modules["__main__"], "__file__", None)
        return (f"{Path(file).resolve()}:{name}" if file and Path(file).suffix == ".py" else ""), run
    return f"{home}:{name}", run


# ------------------------------------------------------------------------------------------------------ keeping


class _RowsFile:
    """Finished rows, one a line in JSON, after a line that names the plan. Errors are not kept, but tried again."""

    def __init__(self, path: Path, plan: SweepPlan) -> None:
        self.path, self.finished = path, dict[int, dict[str, Any]]()
        head = json.dumps({"sweep": plan.digest(), "rows": len(plan.rows)})
        lines = self._lines()
        if lines and lines[0] != head:
            raise BadFile(
                f"{str(path)!r} holds rows of another sweep: delete it, or write this one into another file",
                path=str(path),
            )
        for line in lines[1:]:
            try:
                row, result = json.loads(line)
                self.finished[int(row)] = dict(result)
            except (ValueError, TypeError):
                continue  # the line that was being written when the program died
        self._stream = path.open("a", encoding="utf-8", newline="\n")
        if not lines:
            self._write(head)
        elif not path.read_bytes().endswith(b"\n"):
            self._write("")

    def _lines(self) -> list[str]:
        try:
            return self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(f"cannot read {str(self.path)!r}: {one_line(error)}", path=str(self.path)) from error

    def add(self, row: int, result: dict[str, Any]) -> None:
        if "error" not in result:
            self._write(json.dumps([row, result]))

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()
