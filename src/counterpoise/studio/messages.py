"""Messages between page and server: frozen dataclasses, written as JSON objects with the class's name as `type`.

`Command`s come from the page, `Event`s go to it. The client's types (`client/messages.d.ts`) are generated from these
classes by `typescript.py`. What a page sends is checked field by field before anybody uses it.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_origin

from counterpoise.errors import BadValue, unknown_name

Three: TypeAlias = tuple[float, float, float]
Four: TypeAlias = tuple[float, float, float, float]
M = TypeVar("M")
MAX_ITEMS = 100_000  # of a list in a command
MAX_TEXT = 4_000_000  # characters of a command


@dataclass(frozen=True)
class Command:
    """What a page asks for."""


@dataclass(frozen=True)
class Event:
    """What the server says to pages."""


def type_name(kind: type) -> str:
    """Returns the name of a message in JSON: DragBody is drag_body."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def dump_event(event: Event) -> str:
    """Returns an event as JSON text."""
    return json.dumps({"type": type_name(type(event)), **dataclasses.asdict(event)}, allow_nan=False)


@cache
def command_kinds() -> dict[str, type[Command]]:
    """All commands by their name in JSON."""
    from counterpoise.studio import commands  # the classes register themselves by being defined

    assert commands
    return {type_name(kind): kind for kind in _last_of(Command)}


@cache
def event_kinds() -> dict[str, type[Event]]:
    """All events by their name in JSON."""
    from counterpoise.studio import events

    assert events
    return {type_name(kind): kind for kind in _last_of(Event)}


def _last_of(kind: type[M]) -> list[type[M]]:
    """The classes below a class that nothing is derived from; the others only say what several share."""
    below = kind.__subclasses__()
    return [last for one in below for last in _last_of(one)] if below else [kind]


_HINTS: dict[Any, dict[str, Any]] = {}


def hints_of(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    if kind not in _HINTS:
        _HINTS[kind] = typing.get_type_hints(kind)
    return _HINTS[kind]


def read_command(text: str) -> Command:
    """Returns the command in a page's message; every mistake is a BadValue or UnknownName that names the field."""
    if len(text) > MAX_TEXT:
        raise BadValue(f"a message of {len(text)} characters; at most {MAX_TEXT} are read")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"a message must be a JSON object: {error}") from None
    if not isinstance(given, dict):
        raise BadValue("a message must be a JSON object with a `type`")
    name = given.pop("type", None)
    kinds = command_kinds()
    if not isinstance(name, str) or name not in kinds:
        raise unknown_name("command", name, kinds)
    return read_fields(kinds[name], given, name)


def read_fields(kind: type[Any], given: dict[str, Any], where: str) -> Any:
    """Returns an instance of a dataclass from a JSON object, with every field checked."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    values = {}
    for key, value in given.items():
        if key not in fields:
            raise unknown_name("field", key, fields, where)
        values[key] = _checked(value, hints_of(kind)[key], f"{where}.{key}")
    for key, field in fields.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and key not in values:
            raise BadValue(f"{where} needs {key!r}")
    return kind(**values)


def _checked(value: Any, hint: Any, where: str) -> Any:
    """Returns a JSON value as the type that a field has."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is types.UnionType or origin is typing.Union:
        if value is None and type(None) in inner:
            return None
        return _checked(value, next(one for one in inner if one is not type(None)), where)
    if origin is typing.Literal:
        if value not in inner:
            raise unknown_name("choice", value, [str(one) for one in inner], where)
        return value
    if origin is tuple:
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise BadValue(f"{where} must be a list; got {_shown(value)}")
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
        if len(kinds) != len(value):
            raise BadValue(f"{where} must have {len(kinds)} entries; got {len(value)}")
        return tuple(
            _checked(one, kind, f"{where}[{i}]") for i, (one, kind) in enumerate(zip(value, kinds, strict=True))
        )
    if origin is dict:
        if not isinstance(value, dict) or len(value) > MAX_ITEMS:
            raise BadValue(f"{where} must be an object; got {_shown(value)}")
        return {str(key): _checked(one, inner[1], f"{where}.{key}") for key, one in value.items()}
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            raise BadValue(f"{where} must be an object; got {_shown(value)}")
        return read_fields(typing.cast(type, hint), value, where)
    return _plain(value, hint, where)


def _plain(value: Any, hint: Any, where: str) -> Any:
    """Returns a number, a flag or a text."""
    if hint is Any:  # the values of an edit: the scene checks them
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is float and number and math.isfinite(value):
        return float(value)
    if hint is int and number and float(value).is_integer():
        return int(value)
    if (hint is bool and isinstance(value, bool)) or (hint is str and isinstance(value, str)):
        return value
    words = {float: "a finite number", int: "a whole number", bool: "true or false", str: "a text"}
    raise BadValue(f"{where} must be {words.get(hint, 'something else')}; got {_shown(value)}")


def _shown(value: Any) -> str:
    return repr(value)[:60]
