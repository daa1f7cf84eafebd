"""The one door to numba: hot loops compiled once and cached beside their source.

numba's own cache looks only at the date of the file a kernel stands in. Ours looks at the kernel's code and at what it
uses, also from other files: the kernels it calls, the constants it reads, and the fields of its named tuples. So
kernels may call each other across files, and an edit of one compiles its callers anew, and nothing else
(`kernel_cache.py`).
"""

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core import cgutils as code_generation
from numba.core import event
from numba.extending import intrinsic

from counterpoise.arrays import Array
from counterpoise.compiling import compile_cheaply
from counterpoise.kernel_cache import ShippedKernels, shipped_kernels, tie_cache
from counterpoise.linking import linking_options

code = cast(Any, code_generation)  # it has no types
ir = code.ir  # llvmlite's, which numba brings along
F = TypeVar("F", bound=Callable[..., object])
LEAN = {"_nrt": False}  # no allocations, no counting of references
COUNTED = {"_nrt": True}  # said aloud: without it numba takes what the kernel has that calls it first
NOTICE_DELAY = 1.5  # [s] a compilation shorter than this prints nothing
LANES = 8  # partial sums of `dot`

compile_cheaply()


def kernel(function: F) -> F:
    """Compile `function` to machine code on first call, strict IEEE arithmetic, cached on disk."""
    return _compiled(function, **COUNTED)


def lean_kernel(function: F) -> F:
    """As `kernel`, for kernels that allocate no arrays, return none and are given none by the kernels they call.

    Arrays are borrowed from the caller and not counted, so slices and named tuples of arrays cost nothing.
    """
    return _compiled(function, **LEAN)


def inner_kernel(function: F) -> F:
    """As `lean_kernel`, for kernels that only kernels call. It compiles in half the time.

    No entry from Python is made, and an integer constant as argument makes no version of its own. To a lean or inner
    kernel it may return a tuple with views of its arguments.
    """
    return _without_entry(function, **LEAN)


def inner_kernel_with_arrays(function: F) -> F:
    """As `inner_kernel`, for kernels that allocate arrays, return them or are given them by the kernels they call."""
    return _without_entry(function, **COUNTED)


def merged_kernel(function: F) -> F:
    """As `inner_kernel`, for a kernel that one kernel calls, in one place: it is compiled as a part of that one.

    Compiled by itself it would become machine code that nobody calls, and so would the next one on the way to Python:
    for the upper floors of a deep tower of kernels. A function that becomes very long compiles slower, not faster.
    """
    return _compiled(function, inline="always", **COUNTED)


def _without_entry(function: F, **options: Any) -> F:
    made = _compiled(function, inner=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    dispatcher, plain = cast(Any, made), cast(Any, numba.types.unliteral)
    find = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return find([plain(a) for a in args], {name: plain(a) for name, a in kws.items()})

    dispatcher.get_call_template = get_call_template
    return made


def fast_kernel(function: F) -> F:
    """As `kernel`, with fused and reordered arithmetic: for pictures, where the last bit does not matter."""
    return _compiled(function, fastmath=True, **COUNTED)


def threaded_fast_kernel(function: F) -> F:
    """As `fast_kernel`, for a long kernel: other threads of Python run meanwhile."""
    return _compiled(function, fastmath=True, nogil=True, **COUNTED)


# -- arithmetic for kernels ------------------------------------------------------------------------------------------
# A compiler that may reorder sums does so as it likes: a kernel compiled in this process and the same kernel inlined
# into a caller that was compiled in another differ in the last bit, and a simulation in what happens a few seconds
# later. So kernels are strict, and what they need for speed is written out: the order of the sums and what is fused.


def _fma(_: Any, a: Any, b: Any, c: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.fma(*given)

    return numba.float64(numba.float64, numba.float64, numba.float64), write


def _row_sum(sizes: bool) -> Any:
    """Returns what numba compiles `dot` and `dot_sizes` from."""

    def one_by_one(x: Array, y: Array) -> float:
        total = 0.0
        for j in range(len(x)):
            total += abs(x[j] * y[j]) if sizes else x[j] * y[j]
        return total

    def typed(_: Any, x: Any, y: Any) -> Any:
        if not all(
            isinstance(one, numba.types.Array) and one.ndim == 1 and one.dtype == numba.float64 for one in (x, y)
        ):
            raise numba.errors.TypingError(f"a dot product takes rows of floats; got {x} and {y}")
        signature = numba.float64(x, y)

        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            if x.layout != "C" or y.layout != "C":  # not in one piece
                return context.compile_internal(builder, one_by_one, signature, given)
            arrays = [context.make_array(kind)(context, builder, one) for kind, one in zip((x, y), given, strict=True)]
            size = builder.extract_value(arrays[0].shape, 0)
            return _write_dot(builder, size, arrays[0].data, arrays[1].data, sizes)

        return signature, write

    return typed


def _write_dot(builder: Any, size: Any, x: Any, y: Any, sizes: bool) -> Any:
    """Writes the loops of `dot`: blocks of LANES numbers, then the rest, with lanes that are done set to zero.

    With `sizes`, absolute values are summed.
    """
    real, number = ir.DoubleType(), size.type
    row = ir.VectorType(real, LANES)
    whole = builder.and_(size, number(-LANES))
    of_three, of_one = ir.FunctionType(row, [row] * 3), ir.FunctionType(row, [row])
    fused = code.get_or_insert_function(builder.module, of_three, f"llvm.fma.v{LANES}f64")
    absolute = code.get_or_insert_function(builder.module, of_one, f"llvm.fabs.v{LANES}f64")
    block = [code.alloca_once_value(builder, ir.Constant(kind, None)) for kind in (row, real)]

    def load(start: Any, at: Any) -> Any:
        place = builder.bitcast(builder.gep(start, [at]), row.as_pointer())
        found = builder.load(place, align=8)
        return builder.call(absolute, [found]) if sizes else found

    with builder.if_else(builder.icmp_signed(">=", size, number(LANES))) as (long, short):
        with long:
            with code.for_range_slice(builder, number(0), whole, number(LANES), number) as (at, _):
                sums = builder.call(fused, [load(x, at), load(y, at), builder.load(block[0])])
                builder.store(sums, block[0])
            last, done = builder.sub(size, number(LANES)), builder.sub(number(LANES), builder.sub(size, whole))
            lane = ir.Constant(ir.VectorType(number, LANES), list(range(LANES)))
            least = builder.insert_element(ir.Constant(lane.type, ir.Undefined), done, ir.IntType(32)(0))
            least = builder.shuffle_vector(least, least, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
            left = builder.icmp_signed(">=", lane, least)
            rest = [builder.select(left, load(start, last), ir.Constant(row, None)) for start in (x, y)]
            sums = builder.call(fused, [*rest, builder.load(block[0])])
            width = LANES
            while width > 1:
                width //= 2
                halves = [
                    ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(k, k + width))) for k in (0, width)
                ]
                sums = builder.fadd(*(builder.shuffle_vector(sums, sums, half) for half in halves))
            builder.store(builder.extract_element(sums, ir.IntType(32)(0)), block[1])
        with short, code.for_range(builder, size, intp=number) as loop:
            pair = [builder.load(builder.gep(start, [loop.index])) for start in (x, y)]
            if sizes:
                single = code.get_or_insert_function(builder.module, ir.FunctionType(real, [real]), "llvm.fabs.f64")
                pair = [builder.call(single, [one]) for one in pair]
            builder.store(builder.fma(*pair, builder.load(block[1])), block[1])
    return builder.load(block[1])


if TYPE_CHECKING:

    def fma(a: float, b: float, c: float) -> float:
        """Returns a b + c, rounded once. Only for kernels."""

    def dot(x: Array, y: Array) -> float:
        """Returns the sum of x_j y_j over the length of x: LANES partial sums, then the sum of these in a fixed order.

        Only for kernels; y is at least as long as x. Rows that do not lie in one piece are summed one by one.
        """

    def dot_sizes(x: Array, y: Array) -> float:
        """Returns the sum of |x_j y_j|, as `dot`."""

else:
    fma, dot, dot_sizes = intrinsic(_fma), intrinsic(_row_sum(False)), intrinsic(_row_sum(True))


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


@contextmanager
def count_compilations() -> Iterator[list[str]]:
    """Yields a list to which the name of every kernel that is compiled inside the block is added."""
    compiled: list[str] = []
    with event.install_listener("numba:compile", _Counter(compiled)):
        yield compiled


class _Counter(event.Listener):
    """Writes down what is compiled, without what numba compiles for itself."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def on_start(self, happened: Any) -> None:
        function = happened.data["dispatcher"].py_func
        if function.__module__.startswith("counterpoise."):
            self.names.append(f"{function.__module__}.{function.__qualname__}")

    def on_end(self, _: Any) -> None:
        """Nothing to do."""


def for_reading(array: Array) -> Array:
    """Returns the same numbers in one piece, as an array that cannot be written.

    numba compiles a kernel once more for arrays that can be written. Where a kernel only reads what people hand in,
    this leaves it one version.
    """
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def compiled_target() -> tuple[str, ...]:
    """Returns numba's description of the processor that kernels are compiled for here."""
    from numba.core.registry import cpu_target

    target = cast(Any, cpu_target).target_context.codegen().magic_tuple()
    return tuple(str(part) for part in target)


def processor_has() -> dict[str, bool]:
    """Returns the instructions of this processor by name."""
    import llvmlite.binding as llvm  # numba brings it along

    return dict(llvm.get_host_cpu_features())


@cache
def usable_shipped_kernels() -> ShippedKernels | None:
    """Returns the compiled kernels that came with the package, where they run here."""
    found = shipped_kernels()
    if found is None:
        return None
    return found if found.fit(numba.__version__, compiled_target()[0], processor_has()) else None


def _compiled(function: F, inner: bool = False, **options: Any) -> F:
    made = numba.njit(cache=True, error_model="numpy", **linking_options(inner), **options)(function)
    tie_cache(made, f"{_source()} {sorted(options.items())!r}", usable_shipped_kernels())
    return cast(F, made)


@cache
def _source() -> str:
    """A stamp of this file: how a kernel is compiled belongs to what it was made from."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
