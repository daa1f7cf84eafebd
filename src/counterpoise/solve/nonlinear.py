"""Nonlinear programs: the one door to IPOPT.

    minimise f(x)   subject to   row_low <= g(x) <= row_high,   low <= x <= high

with sparse first derivatives of g and the lower triangle of the Hessian of f; second derivatives of g are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ipyopt
import numpy as np

from counterpoise.arrays import Array, Ints

STATUS = {
    0: "solved", 1: "solved", 2: "infeasible", 3: "search direction too small", 4: "diverging", 5: "stopped",
    6: "solved", -1: "iteration limit", -2: "restoration failed", -3: "step computation failed", -4: "time limit",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class NonlinearProgram:
    """A program as IPOPT takes it. Functions return what they are named after."""

    low: Array  # (n,)
    high: Array
    row_low: Array  # (m,)
    row_high: Array
    jacobian_pattern: tuple[Ints, Ints]  # rows, columns
    hessian_pattern: tuple[Ints, Ints]  # rows, columns; lower triangle
    value: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    rows: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    hessian: Callable[[Array, float], Array]  # of factor x f


def solve_nonlinear(
    program: NonlinearProgram,
    x: Array,
    options: Mapping[str, Any],
    watch: Callable[[float, float], bool],
) -> tuple[Array, str]:
    """Runs IPOPT from x. Returns where it ended and its status in words.

    `watch(objective, violation)` is called after every iteration and ends the run by returning False.
    """
    n, m = len(program.low), len(program.row_low)

    def gradient(z: Array, out: Array) -> Array:
        out[:] = program.gradient(z)
        return out

    def rows(z: Array, out: Array) -> Array:
        out[:] = program.rows(z)
        return out

    def jacobian(z: Array, out: Array) -> Array:
        out[:] = program.jacobian(z)
        return out

    def hessian(z: Array, multipliers: Array, factor: float, out: Array) -> Array:
        out[:] = program.hessian(z, factor)
        return out

    def after_iteration(*state: Any) -> bool:
        return watch(float(state[2]), float(state[3]))

    problem = ipyopt.Problem(
        n, program.low, program.high, m, program.row_low, program.row_high, program.jacobian_pattern,
        program.hessian_pattern, program.value, gradient, rows, jacobian, hessian, after_iteration,
        ipopt_options=dict(options),
    )  # fmt: skip
    start = np.clip(x, program.low, program.high)
    z, _, status = problem.solve(start, mult_g=np.zeros(m), mult_x_L=np.zeros(n), mult_x_U=np.zeros(n))
    return np.asarray(z), STATUS.get(int(status), f"status {status}")
