"""Entries of a stunt replaced by others: {"duration": 1.8, "key.2.feet": [0.7, 0.0]}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterpoise.errors import BadValue, unknown_name


def change_entries(data: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Replaces entries of a document, in place; a path such as key.2.feet counts tables from 0."""
    for path, value in changes.items():
        *way, last = path.split(".")
        at: Any = data
        for step in way:
            at = _step_into(at, step, path)
        if isinstance(at, list):
            _step_into(at, last, path)
            at[int(last)] = value
        elif isinstance(at, dict):
            at[last] = value
        else:
            raise BadValue(f"{path!r}: {way[-1]!r} is no table")


def _step_into(at: Any, step: str, path: str) -> Any:
    if isinstance(at, list):
        if not step.isdecimal() or int(step) >= len(at):
            raise BadValue(f"{path!r}: there are {len(at)}, counted from 0; got {step!r}")
        return at[int(step)]
    if not isinstance(at, dict) or step not in at:
        raise unknown_name("entry", step, at if isinstance(at, dict) else (), path)
    return at[step]
