"""Rooms that share their name with the function people come for: `cp.character("human")`, `cp.simulate(...)`.

Python puts a package's module where the function's name should be, whenever anything imports it. So the module itself
answers the call: `cp.simulate` is the room, and calling it calls the room's function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def answer_calls(room: str, home: str, function: str) -> None:
    """Make the module `room` callable: it passes calls on to `function` of the module `home`."""

    class Room(ModuleType):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(home), function)(*args, **kwargs)

        @property
        def __signature__(self) -> Any:
            import inspect

            return inspect.signature(getattr(import_module(home), function))

    sys.modules[room].__class__ = Room
