"""Tuning tables as the page shows them: names, values, units and meanings, read from the frozen dataclasses."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from counterpoise.errors import BadValue, unknown_name

OWN = "controller"  # the table of a controller's own numbers
JUMP = "jump"  # the table of the wishes for a jump on the way
TABLES = ("tuning", "running")  # fields of controllers that are tables
_COMMENT = re.compile(r"^    (\w+):\s*[^#=\n]+=[^#\n]*#\s*(.+)$", re.MULTILINE)
_UNIT = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True)
class Slider:
    """One number of a table: what a slider on the page needs."""

    table: str
    name: str
    value: float | bool | str | None  # None: nothing is asked, the controller does as usual
    unit: str
    meaning: str
    low: float
    high: float
    choices: tuple[str, ...] = ()  # of a text


def sliders_of(controller: Any) -> tuple[Slider, ...]:
    """Returns the numbers of a controller and of its tuning tables that a person may turn."""
    out = _table(controller, OWN)
    for field in fields(controller) if is_dataclass(controller) else ():
        value = getattr(controller, field.name)
        if is_dataclass(value) and field.name in TABLES:
            out += _table(value, field.name)
    return tuple(out)


def tuned(controller: Any, table: str, name: str, value: float | bool) -> Any:
    """Returns the controller with one number changed."""
    known = {(one.table, one.name): one for one in sliders_of(controller)}
    if (table, name) not in known:
        raise unknown_name("tuning", name, [n for t, n in known if t == table], table)
    is_flag = isinstance(known[table, name].value, bool)
    if is_flag != isinstance(value, bool):
        raise BadValue(f"{name} is {'true or false' if is_flag else 'a number'}; got {value!r}")
    if table == OWN:
        return replace(controller, **{name: value})
    return replace(controller, **{table: replace(getattr(controller, table), **{name: value})})


def _table(owner: Any, table: str) -> list[Slider]:
    if not is_dataclass(owner):
        return []
    words = comments_of(type(owner))
    out = []
    for field in fields(owner):
        value = getattr(owner, field.name)
        if field.name in ("rate", "seed") or not isinstance(value, int | float):
            continue
        meaning = words.get(field.name, "")
        size = abs(float(value))
        high = 1.0 if size <= 1.0 else 4.0 * size
        out.append(Slider(table, field.name, value, unit_of(meaning), meaning, 0.0, high))
    return out


def unit_of(meaning: str) -> str:
    """Returns the unit in a comment; empty where it has none."""
    found = _UNIT.search(meaning)
    return found.group(1) if found else ""


def comments_of(kind: type) -> dict[str, str]:
    """Returns the comment that stands beside each field of a class."""
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        return {}
    return {name: text.strip() for name, text in _COMMENT.findall(source)}
