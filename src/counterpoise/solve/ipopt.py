"""One run of IPOPT on a nonlinear program, through its C interface."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.solve.callbacks import CallbackGuard
from counterpoise.solve.ipopt_library import DOUBLE, HESSIAN, INT, ITERATION, JACOBIAN, ROWS, VALUE, loaded_library

if TYPE_CHECKING:
    from counterpoise.solve.nonlinear import NonlinearProgram

COUNT_FROM_ZERO = 0  # how rows and columns of the patterns are counted
INVALID_OPTION = -12  # a status of IPOPT


def run_ipopt(
    program: NonlinearProgram, start: Array, options: Mapping[str, Any], watch: Callable[[float, float], bool]
) -> tuple[Array, int]:
    """Runs IPOPT from `start`. Returns where it ended and its status as a number.

    An exception in one of the program's functions, or Ctrl-C, ends the run and is raised here.
    """
    library, guard = loaded_library(), CallbackGuard()
    low, high, row_low, row_high = (
        np.ascontiguousarray(v, np.float64) for v in (program.low, program.high, program.row_low, program.row_high)
    )
    n, m = len(low), len(row_low)
    calls = [kind(guard.guarded(call)) for kind, call in _callbacks(program, watch)]  # kept alive until the run is over
    problem = library.CreateIpoptProblem(
        n, low.ctypes.data, high.ctypes.data, m, row_low.ctypes.data, row_high.ctypes.data,
        len(program.jacobian_pattern[0]), len(program.hessian_pattern[0]), COUNT_FROM_ZERO, *calls[:5],
    )  # fmt: skip
    if not problem:
        raise BadValue(f"IPOPT accepts no program of {n} variables and {m} rows; at least one variable is needed")
    try:
        _set_options(library, problem, options)
        library.SetIntermediateCallback(problem, calls[5])
        x, reached = np.array(start, np.float64), DOUBLE()
        multipliers = np.zeros(m), np.zeros(n), np.zeros(n)  # of the rows, of the lower and of the upper bounds
        with guard.interruptible():
            status = library.IpoptSolve(
                problem, x.ctypes.data, None, ctypes.addressof(reached), *(v.ctypes.data for v in multipliers), None
            )
    finally:
        library.FreeIpoptProblem(problem)
    guard.reraise()
    if status == INVALID_OPTION:
        raise BadValue(f"IPOPT does not accept these options together: {dict(options)}", options=dict(options))
    return x, int(status)


def _callbacks(program: NonlinearProgram, watch: Callable[[float, float], bool]) -> tuple[tuple[Any, Any], ...]:
    """The program's functions as IPOPT calls them, each with its type; arguments are numbers and addresses."""
    pattern, curved = (
        tuple(np.ascontiguousarray(v, np.int32) for v in p) for p in (program.jacobian_pattern, program.hessian_pattern)
    )

    def value(n: int, x: int, _new: bool, out: int, _data: int) -> None:
        _doubles(out, 1)[0] = program.value(_doubles(x, n).copy())

    def gradient(n: int, x: int, _new: bool, out: int, _data: int) -> None:
        _doubles(out, n)[:] = program.gradient(_doubles(x, n).copy())

    def rows(n: int, x: int, _new: bool, m: int, out: int, _data: int) -> None:
        if m:
            _doubles(out, m)[:] = program.rows(_doubles(x, n).copy())

    def jacobian(n: int, x: int, _new: bool, _m: int, size: int, i: int, j: int, out: int, _data: int) -> None:
        if out:
            _doubles(out, size)[:] = program.jacobian(_doubles(x, n).copy())
        elif size:
            _ints(i, size)[:], _ints(j, size)[:] = pattern

    def hessian(
        n: int, x: int, _new: bool, factor: float, _m: int, _multipliers: int, _new_multipliers: bool, size: int,
        i: int, j: int, out: int, _data: int,
    ) -> None:  # fmt: skip
        if out:
            _doubles(out, size)[:] = program.hessian(_doubles(x, n).copy(), factor)
        elif size:
            _ints(i, size)[:], _ints(j, size)[:] = curved

    def after_iteration(_mode: int, _iteration: int, objective: float, violation: float, *_rest: Any) -> bool:
        return bool(watch(objective, violation))

    return (
        (VALUE, value), (ROWS, rows), (VALUE, gradient), (JACOBIAN, jacobian), (HESSIAN, hessian),
        (ITERATION, after_iteration),
    )  # fmt: skip


def _set_options(library: ctypes.CDLL, problem: int, options: Mapping[str, Any]) -> None:
    for name, given in options.items():
        key = name.encode()
        if isinstance(given, str):
            done = library.AddIpoptStrOption(problem, key, given.encode())
        elif isinstance(given, int | np.integer) and library.AddIpoptIntOption(problem, key, int(given)):
            done = True
        else:
            done = library.AddIpoptNumOption(problem, key, float(given))
        if not done:
            why = "its documentation lists its options and what they accept"
            raise BadValue(f"IPOPT has no option {name!r} that accepts {given!r}; {why}", name=name, given=given)


def _doubles(address: int, size: int) -> Array:
    """The solver's own numbers, to be read or written during a callback only."""
    return np.frombuffer(memoryview((DOUBLE * size).from_address(address)), np.float64)


def _ints(address: int, size: int) -> Ints:
    return np.frombuffer(memoryview((INT * size).from_address(address)), np.int32)
