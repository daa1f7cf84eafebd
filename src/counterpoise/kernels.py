"""The one door to numba: hot loops compiled once and cached beside their source.

numba's own cache looks only at the file a kernel stands in. Ours also looks at what the kernel uses from other files:
the kernels it calls, the constants it reads, and the fields of its named tuples. So kernels may call each other across
files, and an edit of one compiles its callers anew.
"""

import hashlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event

F = TypeVar("F", bound=Callable[..., object])
SWIFT = {"reassoc", "contract", "arcp"}  # sums may be reordered, products fused, divisions turned into products
LEAN = {"_nrt": False}  # no allocations, no counting of references
NOTICE_DELAY = 1.5  # [s] a compilation shorter than this prints nothing


def kernel(function: F) -> F:
    """Compile `function` to machine code on first call, strict IEEE arithmetic, cached on disk."""
    return _compiled(function)


def swift_kernel(function: F) -> F:
    """As `kernel`, with sums reordered and fused so that they vectorise; NaN and infinity keep their meaning."""
    return _compiled(function, fastmath=SWIFT)


def lean_kernel(function: F) -> F:
    """As `swift_kernel`, for kernels that allocate no arrays and return none.

    Arrays are borrowed from the caller and not counted, so slices and named tuples of arrays cost nothing.
    """
    return _compiled(function, fastmath=SWIFT, **LEAN)


def inner_kernel(function: F) -> F:
    """As `lean_kernel`, for kernels that only kernels call. It compiles in half the time.

    No entry from Python is made, and an integer constant as argument makes no version of its own. To a lean or inner
    kernel it may return a tuple with views of its arguments.
    """
    made = _compiled(function, fastmath=SWIFT, no_cpython_wrapper=True, no_cfunc_wrapper=True, **LEAN)
    dispatcher, plain = cast(Any, made), cast(Any, numba.types.unliteral)
    find = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return find([plain(a) for a in args], {name: plain(a) for name, a in kws.items()})

    dispatcher.get_call_template = get_call_template
    return made


def fast_kernel(function: F) -> F:
    """As `kernel`, with fused and reordered arithmetic: for pictures, where the last bit does not matter."""
    return _compiled(function, fastmath=True)


@contextmanager
def compile_notice(what: str) -> Iterator[None]:
    """Prints to the error stream that `what` is compiled, if kernels are compiled inside the block and it takes long.

    numba reports every compilation. Kernels that are loaded from the cache are not reported, so they print nothing.
    """
    listener = _CompileListener(f"counterpoise: compiling {what}; this happens once and takes about half a minute")
    with event.install_listener("numba:compile", listener):
        try:
            yield
        finally:
            listener.timer.cancel()


class _CompileListener(event.Listener):
    """Prints a text some time after the first compilation began."""

    def __init__(self, text: str) -> None:
        self.timer = threading.Timer(NOTICE_DELAY, lambda: print(text, file=sys.stderr, flush=True))
        self.timer.daemon = True
        self.started = False

    def on_start(self, _: Any) -> None:
        if not self.started:
            self.started = True
            self.timer.start()

    def on_end(self, _: Any) -> None:
        """Nothing to do: `compile_notice` cancels the timer."""


def _compiled(function: F, **options: Any) -> F:
    made = numba.njit(cache=True, error_model="numpy", **options)(function)
    _stamp_cache(made)
    return cast(F, made)


def _stamp_cache(made: Any) -> None:
    """Ties the cached machine code of a kernel to everything it was compiled from."""
    file = getattr(made._cache, "_cache_file", None)
    if file is not None:  # None where no folder can be written: then nothing is cached
        used = "\n".join(_used(made.py_func))
        file._source_stamp = f"{file._source_stamp} {hashlib.sha256(used.encode()).hexdigest()}"
        file._version = f"{file._version} {file._source_stamp}"  # read first: nothing outdated is unpickled


def _used(function: Any) -> Iterator[str]:
    """One line for every kernel, constant and named tuple of the module that the function names."""
    for name in sorted({*_names(function.__code__), *_annotated(function)}):
        value = function.__globals__.get(name)
        file = getattr(getattr(value, "_cache", None), "_cache_file", None)
        if file is not None:
            yield f"{name} {file._source_stamp}"
        elif isinstance(value, type) and issubclass(value, tuple):
            yield _fields(value)
        elif isinstance(value, (int, float, str, bytes, tuple, np.generic)):
            yield f"{name} {value!r}"
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"


@cache
def _fields(kind: type) -> str:
    """The fields of a named tuple in order, and those of the named tuples in it."""
    there = vars(sys.modules[kind.__module__])
    inside = [there.get(name) for name in _annotated(kind)]
    parts = [_fields(value) for value in inside if isinstance(value, type) and issubclass(value, tuple)]
    return " ".join([kind.__name__, *getattr(kind, "_fields", ()), *parts])


def _annotated(thing: Any) -> list[str]:
    """Every word in the annotations of a function or class."""
    notes = getattr(thing, "__annotations__", {}).values()  # strings, forward references or types
    words = (str(getattr(note, "__forward_arg__", getattr(note, "__name__", note))) for note in notes)
    return re.findall(r"\w+", " ".join(words))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
