"""What a solver minimises: the motion's cost, or the distance to a motion that is nearly right."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from counterpoise.arrays import Array
from counterpoise.spacetime.optimize.program import MotionProgram


class Merit(Protocol):
    """A function of candidates with its gradient, and its Hessian in the pattern of the problem's cost."""

    exact: bool  # whether it makes a motion exact, for progress reports

    def value(self, x: Array) -> float: ...

    def gradient(self, x: Array) -> Array: ...

    def hessian(self, x: Array) -> Array: ...


class CostMerit:
    """The motion's own cost."""

    exact = False

    def __init__(self, program: MotionProgram, curvature: float) -> None:
        """`curvature` multiplies the Hessian: it makes up for second derivatives of rows, which are left out."""
        self.program, self.curvature = program, curvature

    def value(self, x: Array) -> float:
        self.program.evaluate(x)
        return self.program.problem.cost.value(self.program.problem.evaluation, x)

    def gradient(self, x: Array) -> Array:
        self.program.evaluate(x)
        out = np.empty(len(x))
        self.program.problem.cost.gradient(self.program.problem.evaluation, x, out)
        return out

    def hessian(self, x: Array) -> Array:
        self.program.evaluate(x)
        cost = self.program.problem.cost
        out = np.empty(len(cost.rows))
        cost.hessian(self.program.problem.evaluation, self.curvature, out)
        return out


class NearMerit:
    """1/2 |x - goal|^2 in the metric of the cost's Hessian at a candidate: the nearest exact motion has the least."""

    exact = True

    def __init__(self, program: MotionProgram, x: Array, curvature: float, slope: Array | None = None) -> None:
        """The goal is x, or with a `slope` of the cost the point that it leads to: x - metric^-1 slope."""
        problem = program.problem
        program.evaluate(x)
        cost = problem.cost
        self._values = np.empty(len(cost.rows))
        cost.hessian(problem.evaluation, 1.0, self._values)
        lower = sp.coo_matrix((self._values, (cost.rows, cost.cols)), (len(x), len(x))).tocsr()
        self.metric: Any = (lower + sp.tril(lower, -1).T).tocsr()
        self.curvature, self.goal = curvature, x.copy()
        if slope is not None:
            k = problem.layout.curve
            self.goal[:k] -= spsolve(self.metric[:k, :k].tocsc(), slope[:k])
            for block in problem.elastic:
                self.goal[block.slacks] -= slope[block.slacks] / cost.prices[block.slacks]

    def value(self, x: Array) -> float:
        d = x - self.goal
        return 0.5 * float(d @ (self.metric @ d))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self.metric @ (x - self.goal))

    def hessian(self, x: Array) -> Array:
        return self.curvature * self._values
