"""The client's types, generated from the messages. `python -m counterpoise.studio.typescript` writes them anew."""

from __future__ import annotations

import dataclasses
import types
import typing
from pathlib import Path
from typing import Any, get_args, get_origin

from counterpoise.studio.messages import command_kinds, event_kinds, hints_of

PATH = Path(__file__).with_name("client") / "messages.d.ts"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}


def client_types() -> str:
    """Returns the TypeScript declarations of all commands and events."""
    parts: dict[str, str] = {}
    for name, kind in [*command_kinds().items(), *event_kinds().items()]:
        _declare(kind, parts, name)
    unions = [
        f"export type {title} = {' | '.join(kind.__name__ for kind in kinds.values())};"
        for title, kinds in (("Command", command_kinds()), ("Event", event_kinds()))
    ]
    head = "// Generated from studio/commands.py and studio/events.py by studio/typescript.py. Do not edit.\n\n"
    return head + "\n".join([*parts.values(), *unions]) + "\n"


def _declare(kind: type[Any], parts: dict[str, str], name: str = "") -> str:
    """Adds a declaration of a dataclass, after those of the dataclasses it has as fields. Returns its name."""
    if kind.__name__ in parts:
        return kind.__name__
    lines = [f'  type: "{name}";'] if name else []
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        mark = "?" if name in command_kinds() and has_default else ""
        lines.append(f"  {field.name}{mark}: {_written(hints_of(kind)[field.name], parts)};")
    parts[kind.__name__] = f"export type {kind.__name__} = {{\n" + "\n".join(lines) + "\n};\n"
    return kind.__name__


def _written(hint: Any, parts: dict[str, str]) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is types.UnionType or origin is typing.Union:
        return " | ".join(_written(one, parts) for one in inner)
    if origin is typing.Literal:
        return " | ".join(f'"{one}"' for one in inner)
    if origin is tuple:
        if inner[-1] is Ellipsis:
            return f"Array<{_written(inner[0], parts)}>"
        return "[" + ", ".join(_written(one, parts) for one in inner) + "]"
    if origin is dict:
        return f"Record<string, {_written(inner[1], parts)}>"
    if dataclasses.is_dataclass(hint):
        return _declare(typing.cast(type, hint), parts)
    return _PLAIN[hint]


if __name__ == "__main__":
    PATH.write_text(client_types(), encoding="utf-8")
