"""What makes compiling cheaper: no garbage is collected meanwhile, and an error of numba's has a short text."""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event
from numba.np import arrayobj


class _GarbageLater(event.Listener):
    """Puts the collection of garbage off while numba compiles: it takes a tenth of that time and finds little.

    Compilations are nested, since a kernel compiles those that it calls. They hold one lock, so one count serves all
    threads.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.collects = False  # whether garbage is collected otherwise

    def on_start(self, _: Any) -> None:
        if self.depth == 0:
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, _: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()


def compile_cheaply() -> None:
    """Sets numba up, once: `kernels.py` calls it before the first kernel is made."""
    events: Any = event  # it has no types
    events.register("numba:compile", _GarbageLater())
    _shorten_shape_error()


def _shorten_shape_error() -> None:
    """Lets `a[:] = b` with sizes that differ raise an error that does not tell the sizes.

    numba puts the sizes into a text at run time. That needs 20 functions on strings, which are compiled once a process
    and are then a part of every kernel that assigns rows. numba has the short text too, for targets without strings.
    A numba that is made otherwise is left as it is.
    """
    from numba.core.registry import cpu_target

    short = getattr(arrayobj, "ol_raise_with_shape_context_generic", None)
    long = getattr(arrayobj, "ol_raise_with_shape_context_cpu", None)
    known = getattr(arrayobj, "raise_with_shape_context", None)
    if short is None or long is None or known is None:
        return
    context: Any = cpu_target
    context.typing_context.refresh()
    for template in getattr(context.typing_context.resolve_value_type(known), "templates", ()):
        if getattr(template, "_overload_func", None) is long:
            template._overload_func = staticmethod(short)
