"""Values as TOML text: numbers with all their digits, so that reading returns the same value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from counterpoise.errors import BadValue

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def toml_value(value: Any) -> str:
    """Returns a value as it is written behind the `=`: a number, a text, true or false, a list or an inline table."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            raise BadValue(f"a scene holds finite numbers; got {number!r}")
        return repr(number)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, np.ndarray):
        return toml_value(value.tolist())
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items() if v is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(v) for v in value)}]"
    raise BadValue(f"a scene holds numbers, texts, true or false, lists and tables; got {type(value).__name__}")


def toml_key(name: str) -> str:
    """Returns the name of an entry, in quotes where it needs them."""
    return name if _BARE.match(name) else _text(name)


def _text(value: str) -> str:
    quoted = json.dumps(value, ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")


def plain_value(value: Any, keep_none: bool = False) -> Any:
    """Returns a value as plain numbers, texts, lists and dicts, as a TOML reader would return it.

    TOML has no None: entries of tables that are None are left out, unless `keep_none`.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain_value(v, keep_none) for k, v in value.items() if keep_none or v is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain_value(v, keep_none) for v in value]
    return value
