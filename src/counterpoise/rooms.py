"""Packages that can be called: `cp.character("human")`, `cp.simulate(...)`.

Both are packages that share their name with their most used function. Python binds the name to the package as soon as
anything imports it, so the package itself takes the call and passes it on to the function. Its signature and its help
are those of the function too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import Signature, signature
from types import ModuleType
from typing import Any


def answer_calls(room: str, home: str, function: str) -> None:
    """Makes the package `room` callable: it passes calls on to `function` of the module `home`.

    `help(room)` shows the function below the package's own description; `inspect.signature(room)` returns its
    signature. The function is imported when it is first needed.
    """
    package = sys.modules[room]
    description = (package.__doc__ or "").strip()

    def target() -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(home), function)
        return found

    class CallableRoom(ModuleType):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return target()(*args, **kwargs)

        @property
        def __signature__(self) -> Signature:
            return signature(target())

        @property
        def __doc__(self) -> str:  # type: ignore[override]
            from pydoc import plain, text  # imported here: only help needs it

            return f"{description}\n\nCalled, it is this function:\n\n{plain(text.document(target()))}"

    package.__class__ = CallableRoom
