"""Nonlinear programs: the one door to IPOPT.

    minimise f(x)   subject to   row_low <= g(x) <= row_high,   low <= x <= high

with sparse first derivatives of g and the lower triangle of the Hessian of f; second derivatives of g are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.solve.ipopt import run_ipopt
from counterpoise.solve.ipopt_library import linear_solver

STATUS = {
    0: "solved", 1: "solved", 2: "infeasible", 3: "search direction too small", 4: "diverging", 5: "stopped",
    6: "solved", -1: "iteration limit", -2: "restoration failed", -3: "step computation failed", -4: "time limit",
    -5: "time limit", -13: "invalid number",
}  # fmt: skip
NO_OPTION_FILE = {"option_file_name": ""}  # a file ipopt.opt in the working folder changes nothing


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
    chosen = {"linear_solver": linear_solver(), **NO_OPTION_FILE, **options}
    z, status = run_ipopt(program, np.clip(x, program.low, program.high), chosen, watch)
    return z, STATUS.get(status, f"status {status}")
