"""Edits written as Python, such as `MoveKey(2, 0.5)`: read as values, never run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from counterpoise.errors import BadValue, unknown_name
from counterpoise.scene.edits.base import SceneEdit

_WANTED = 'an edit is written as in Python, such as MoveKey(2, 0.5) or AddPush("head", (0, 30, 0), start=1.0)'


def edit_from_python(text: str, known: Mapping[str, type[SceneEdit]]) -> SceneEdit:
    """Returns the edit that a line of Python describes, with or without `cp.scene.` and `scene = cp.apply_edit(...)`.

    Only literals are read: numbers, texts, lists, tuples, dicts, True, False, None, and other edits.
    """
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:
        raise BadValue(f"{_WANTED}; got {text!r}") from None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr | ast.Assign):
        raise BadValue(f"{_WANTED}; got {text!r}")
    call = tree.body[0].value
    if isinstance(call, ast.Call) and _name(call) == "apply_edit" and len(call.args) == 2:
        call = call.args[1]
    found = _value(call, known)
    if not isinstance(found, SceneEdit):
        raise BadValue(f"{_WANTED}; got {text!r}")
    return found


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _value(node: ast.expr, known: Mapping[str, type[SceneEdit]]) -> Any:
    """Returns a literal, an edit, or a list of edits."""
    if isinstance(node, ast.List | ast.Tuple) and any(isinstance(one, ast.Call) for one in node.elts):
        return tuple(_value(one, known) for one in node.elts)
    if not isinstance(node, ast.Call):
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise BadValue(f"an edit holds numbers, texts, lists and tables; got {ast.unparse(node)!r}") from None
    name = _name(node)
    if name not in known:
        raise unknown_name("edit", name, known)
    if any(isinstance(one, ast.Starred) for one in node.args) or any(word.arg is None for word in node.keywords):
        raise BadValue(f"{_WANTED}; got {ast.unparse(node)!r}")
    given = {str(word.arg): _value(word.value, known) for word in node.keywords}
    try:
        return known[name](*(_value(one, known) for one in node.args), **given)
    except TypeError as error:
        raise BadValue(f"the edit {name!r} is not complete: {error}") from None
