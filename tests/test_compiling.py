"""Compiling is made cheaper without a difference to what is computed."""

from __future__ import annotations

import gc
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import compiler, event, targetconfig

from counterpoise.kernels import fast_kernel, for_reading, kernel


class Seen(event.Listener):
    """Writes down what is compiled, and whether garbage is collected meanwhile."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self.collecting: list[bool] = []

    def on_start(self, happened: Any) -> None:
        self.modules.append(happened.data["dispatcher"].py_func.__module__)
        self.collecting.append(gc.isenabled())

    def on_end(self, _: Any) -> None:
        pass


def copy_rows(target: np.ndarray, source: np.ndarray) -> None:
    target[1:] = source


def test_rows_of_other_sizes_are_refused_without_functions_on_strings():
    compiled = numba.njit(copy_rows)
    with event.install_listener("numba:compile", seen := Seen()):
        compiled(there := np.zeros(3), np.array([1.0, 2.0]))
    assert there.tolist() == [0.0, 1.0, 2.0]
    assert __name__ in seen.modules and not [name for name in seen.modules if "unicode" in name]
    with pytest.raises(ValueError, match="cannot assign slice"):
        compiled(np.zeros(3), np.ones(4))


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_compiling_as_before(collects: bool):
    def wrong(x: float) -> float:
        return x.nothing  # type: ignore[attr-defined, no-any-return]

    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        with event.install_listener("numba:compile", seen := Seen()):
            numba.njit(copy_rows)(np.zeros(2), np.zeros(1))
        assert seen.collecting and not any(seen.collecting) and gc.isenabled() == collects
        with pytest.raises(numba.errors.TypingError):
            numba.njit(wrong)(1.0)
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()


def test_one_version_of_a_kernel_serves_arrays_of_both_kinds():
    @numba.njit
    def total(x):
        return x.sum()

    own = np.arange(6.0)
    fixed = own.copy()
    fixed.flags.writeable = False
    for array in (own, fixed, own[::2], [0.0, 1.0]):
        assert total(for_reading(array)) == np.sum(array)
    assert len(total.signatures) == 1 and own.flags.writeable


def test_what_a_torn_compilation_leaves_does_not_reach_our_kernels():
    """numba keeps the options of what is being compiled; one that is torn off there leaves them to all that follow."""

    def made(n: int) -> np.ndarray:
        return np.zeros(n)

    left = compiler.Flags()
    left.nrt = False
    with targetconfig.ConfigStack().enter(left):
        with pytest.raises(numba.errors.TypingError, match="Only accept returning of array"):
            numba.njit(made)(3)
        for ours in (kernel, fast_kernel):
            fresh = ours(made)
            fresh._cache.disable()  # type: ignore[attr-defined]
            assert fresh(3).tolist() == [0.0, 0.0, 0.0]
