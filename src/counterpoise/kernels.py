"""The one door to numba: hot loops compiled once and cached beside their source.

numba's cache does not notice a change in a kernel that lives in *another* file, so kernels that call each other
stay in one file wherever they can.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` to machine code on first call, strict IEEE arithmetic, cached on disk."""
    return cast(F, numba.njit(cache=True, error_model="numpy")(function))


def swift_kernel(function: F) -> F:
    """As `kernel`, with sums reordered and fused so that they vectorise; NaN and infinity keep their meaning."""
    relaxed = {"reassoc", "contract", "arcp"}
    return cast(F, numba.njit(cache=True, error_model="numpy", fastmath=relaxed)(function))


def fast_kernel(function: F) -> F:
    """As `kernel`, with fused and reordered arithmetic: for pictures, where the last bit does not matter."""
    return cast(F, numba.njit(cache=True, error_model="numpy", fastmath=True)(function))
