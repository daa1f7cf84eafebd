"""The one door to numba: hot loops compiled once and cached beside their source.

numba's own cache looks only at the file a kernel stands in. Ours also looks at what the kernel uses from other files:
the kernels it calls, and the constants it reads. So kernels may call each other across files, and an edit of one
compiles its callers anew.
"""

import hashlib
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` to machine code on first call, strict IEEE arithmetic, cached on disk."""
    return _compiled(function)


def swift_kernel(function: F) -> F:
    """As `kernel`, with sums reordered and fused so that they vectorise; NaN and infinity keep their meaning."""
    return _compiled(function, fastmath={"reassoc", "contract", "arcp"})


def fast_kernel(function: F) -> F:
    """As `kernel`, with fused and reordered arithmetic: for pictures, where the last bit does not matter."""
    return _compiled(function, fastmath=True)


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


def _used(function: Any) -> Iterator[str]:
    """One line for every kernel and constant of the module that the function names."""
    for name in sorted(set(_names(function.__code__))):
        value = function.__globals__.get(name)
        cache = getattr(getattr(value, "_cache", None), "_cache_file", None)
        if cache is not None:
            yield f"{name} {cache._source_stamp}"
        elif isinstance(value, (int, float, str, bytes, tuple, np.generic)):
            yield f"{name} {value!r}"
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
