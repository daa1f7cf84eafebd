"""IPOPT by its C interface: a published program, what callbacks raise, Ctrl-C, options, and which library is used."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoise.errors import BadFile, BadValue
from counterpoise.solve.callbacks import CallbackGuard
from counterpoise.solve.ipopt_library import BLAS_IN_CASADI, LIBRARY_VARIABLE, SOLVER_VARIABLE, library_path
from counterpoise.solve.nonlinear import NonlinearProgram, solve_nonlinear

QUIET = {"print_level": 0, "sb": "yes", "tol": 1e-9}
FUNCTIONS = ("value", "gradient", "rows", "jacobian", "hessian")


def always(objective: float, violation: float) -> bool:
    return True


def published() -> NonlinearProgram:
    """Hock and Schittkowski (1981), problem 35: quadratic, with one row."""
    i, j = np.tril_indices(3)
    H = np.array([[4.0, 2.0, 2.0], [2.0, 4.0, 0.0], [2.0, 0.0, 2.0]])
    g = np.array([-8.0, -6.0, -4.0])
    return NonlinearProgram(
        np.zeros(3), np.full(3, np.inf), np.array([-np.inf]), np.array([3.0]), (np.zeros(3, int), np.arange(3)), (i, j),
        value=lambda x: 9.0 + g @ x + 0.5 * x @ H @ x,
        gradient=lambda x: g + H @ x,
        rows=lambda x: np.array([x[0] + x[1] + 2 * x[2]]),
        jacobian=lambda x: np.array([1.0, 1.0, 2.0]),
        hessian=lambda x, factor: factor * H[i, j],
    )  # fmt: skip


def curved() -> NonlinearProgram:
    """Hock and Schittkowski (1981), problem 71: curved rows, one of them an equality."""
    nothing = np.zeros(0, int), np.zeros(0, int)
    return NonlinearProgram(
        np.ones(4), np.full(4, 5.0), np.array([25.0, 40.0]), np.array([np.inf, 40.0]),
        (np.repeat([0, 1], 4), np.tile(np.arange(4), 2)), nothing,
        value=lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
        gradient=lambda x: np.array([
            x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1.0, x[0] * (x[0] + x[1] + x[2]),
        ]),
        rows=lambda x: np.array([x.prod(), (x**2).sum()]),
        jacobian=lambda x: np.concatenate([x.prod() / x, 2 * x]),
        hessian=lambda x, factor: np.zeros(0),
    )  # fmt: skip


START = np.full(3, 0.5)
ANSWER = np.array([12.0, 7.0, 4.0]) / 9.0


def test_a_published_program_is_solved():
    seen: list[float] = []
    x, status = solve_nonlinear(published(), START, QUIET, lambda f, off: seen.append(f) or True)
    assert status == "solved"
    assert np.allclose(x, ANSWER, atol=1e-6)
    assert np.isclose(seen[-1], 1.0 / 9.0, atol=1e-6)


def test_a_program_with_curved_rows_is_solved():
    options = {**QUIET, "hessian_approximation": "limited-memory"}
    x, status = solve_nonlinear(curved(), np.array([1.0, 5.0, 5.0, 1.0]), options, always)
    assert status == "solved"
    assert np.allclose(x, [1.0, 4.74299964, 3.82114998, 1.37940829], atol=1e-6)


def test_a_program_without_rows():
    empty = np.zeros(0, int), np.zeros(0, int)
    program = NonlinearProgram(
        np.full(2, -np.inf), np.full(2, np.inf), np.zeros(0), np.zeros(0), empty, (np.arange(2), np.arange(2)),
        value=lambda x: float((x - [1.0, 2.0]) @ (x - [1.0, 2.0])), gradient=lambda x: 2 * (x - [1.0, 2.0]),
        rows=lambda x: np.zeros(0), jacobian=lambda x: np.zeros(0), hessian=lambda x, factor: np.full(2, 2 * factor),
    )  # fmt: skip
    x, status = solve_nonlinear(program, np.zeros(2), QUIET, always)
    assert status == "solved" and np.allclose(x, [1.0, 2.0])


def test_watch_ends_the_run():
    seen: list[float] = []
    _, status = solve_nonlinear(published(), START, QUIET, lambda f, off: seen.append(f) or len(seen) < 3)
    assert status == "stopped" and len(seen) == 3


def test_an_iteration_limit_is_named():
    assert solve_nonlinear(published(), START, {**QUIET, "max_iter": 2}, always)[1] == "iteration limit"


# -- what goes wrong in callbacks -----------------------------------------------------------------------------------
@pytest.mark.parametrize("calls_before", [0, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_raises_reaches_the_caller(name: str, calls_before: int):
    program, count = published(), [0]
    works = getattr(program, name)

    def fails(*arguments: Any) -> Any:
        count[0] += 1
        if count[0] > calls_before:
            raise ArithmeticError(name)
        return works(*arguments)

    with pytest.raises(ArithmeticError, match=name):
        solve_nonlinear(replace(program, **{name: fails}), START, QUIET, always)
    assert count[0] == calls_before + 1  # nothing was asked after the exception


def test_what_watch_raises_reaches_the_caller():
    def fails(objective: float, violation: float) -> bool:
        raise ArithmeticError("watch")

    with pytest.raises(ArithmeticError, match="watch"):
        solve_nonlinear(published(), START, QUIET, fails)


def test_a_result_of_the_wrong_length_reaches_the_caller():
    with pytest.raises(ValueError, match="broadcast"):
        solve_nonlinear(replace(published(), rows=lambda x: np.zeros(3)), START, QUIET, always)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ctrl_c_reaches_the_caller(name: str):
    before, program = signal.getsignal(signal.SIGINT), published()
    works = getattr(program, name)

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return works(*arguments)

    with pytest.raises(KeyboardInterrupt):
        solve_nonlinear(replace(program, **{name: interrupted}), START, QUIET, always)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_between_callbacks_is_handled_in_the_next():
    guard, ran = CallbackGuard(), []
    call = guard.guarded(lambda: ran.append(1))
    with guard.interruptible():
        assert call()
        signal.raise_signal(signal.SIGINT)  # as if the solver were factorising
        assert not call() and not call()
    assert ran == [1]
    with pytest.raises(KeyboardInterrupt):
        guard.reraise()


def test_ctrl_c_after_the_last_callback_is_not_lost():
    guard = CallbackGuard()
    with pytest.raises(KeyboardInterrupt), guard.interruptible():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def own_handler() -> Iterator[list[int]]:
    """A handler that notes the first Ctrl-C and leaves the second to Python, as the command line does."""
    asked: list[int] = []

    def handler(number: int, frame: Any) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, handler)
    yield asked
    signal.signal(signal.SIGINT, before)


def test_a_handler_of_the_caller_is_used(own_handler: list[int]):
    guard = CallbackGuard()
    call = guard.guarded(lambda: True)
    with guard.interruptible():
        signal.raise_signal(signal.SIGINT)
        assert call() and own_handler == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
        assert not call()
    assert isinstance(guard.error, KeyboardInterrupt)


def test_it_runs_in_other_threads():
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(solve_nonlinear(published(), START, QUIET, always)))
    thread.start()
    thread.join()
    assert np.allclose(found[0][0], ANSWER, atol=1e-6)


# -- options and library --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, given", [("no_such_option", 1.0), ("tol", -1.0), ("linear_solver", "none such")])
def test_a_wrong_option_is_named(name: str, given: object):
    with pytest.raises(BadValue, match=name):
        solve_nonlinear(published(), START, {**QUIET, name: given}, always)


def test_an_option_file_nearby_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ipopt.opt").write_text("max_iter 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert solve_nonlinear(published(), START, QUIET, always)[1] == "solved"


def test_another_library_is_used_when_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    ours = library_path()
    link = tmp_path / Path(ours).name
    link.symlink_to(ours)
    monkeypatch.setenv(LIBRARY_VARIABLE, str(link))
    assert library_path() == str(link)
    assert solve_nonlinear(published(), START, QUIET, always)[1] == "solved"


def test_a_linear_solver_is_used_when_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SOLVER_VARIABLE, "abacus")
    with pytest.raises(BadValue, match="'abacus'"):
        solve_nonlinear(published(), START, QUIET, always)


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has its own linear algebra, and Windows is not tested")
def test_linear_algebra_uses_one_thread():
    solve_nonlinear(published(), START, QUIET, always)
    blas = ctypes.CDLL(str(Path(library_path()).parent / BLAS_IN_CASADI["linux"]))
    assert blas.openblas_get_num_threads() == 1


def test_a_library_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(LIBRARY_VARIABLE, str(tmp_path / "libipopt.so"))
    with pytest.raises(BadFile, match=LIBRARY_VARIABLE):
        solve_nonlinear(published(), START, QUIET, always)


def test_a_system_without_ipopt_is_told_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(LIBRARY_VARIABLE, "system")
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(BadFile, match="linker finds no libipopt"):
        solve_nonlinear(published(), START, QUIET, always)
