"""Strict priorities: lexicographic least squares under linear inequalities (de Lasa 2011, chapter 6).

    level i minimises ||A_i x - b_i||^2 among the minimisers of all levels above it,
    subject to  low <= G x <= high  and  lower <= x <= upper;  what no level decides is as near to `near` as possible.

Without inequalities this is his Algorithm 1, with them the result of Algorithm 2. The minimiser is unique: it does not
depend on the order of rows, on the units of an objective that is alone in its level, or on the start of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.errors import unknown_name
from counterpoise.solve.cascade import solve_cascade
from counterpoise.solve.level import Hierarchy, Level, build_hierarchy
from counterpoise.solve.lexicographic.plain import active_sides
from counterpoise.solve.lexicographic.proof import multipliers_at
from counterpoise.solve.lexicographic.strict import Scaled, solve_by_plain, solve_strict
from counterpoise.solve.weighted import solve_weighted

Method = Literal["strict", "weighted", "cascade", "plain"]


@dataclass(frozen=True)
class Constraint:
    """A bound or a row that is at one of its ends, and the first level that would gain if this end moved."""

    name: str
    kind: Literal["bound", "row"]
    index: int  # of the variable, or of the row of G
    side: Literal["low", "high", "equal"]
    level: str = ""  # the first level it holds back; "" where it holds back none
    multiplier: float = 0.0  # of that level; positive at a high end, negative at a low one


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Why a level cannot do better: A'(A x - b) + bounds + G' rows + sum_j A_j' above[j] = 0 (positive at high ends).

    A constraint that holds back a level above is an equality from there on, so its multiplier may have any sign.
    """

    bounds: Array
    rows: Array
    above: tuple[Array, ...]  # one vector for every level above
    defect: float  # relative size of what the equation leaves


@dataclass(frozen=True, eq=False)
class Warm:
    """Where the search for the next, similar problem may begin."""

    x: Array
    sides: Ints  # (variables + rows,): -1 at a low end, +1 at a high one, 0 inside
    scale: Array | None = None  # units in which the variables are of like size


@dataclass(frozen=True, eq=False)
class Solution:
    """x, and a report on it.

    status: "solved": the exact optimum. "infeasible": the constraints contradict each other; `conflict` names a
    smallest set of them that does, and x violates the rows least (the bounds hold). "inexact": the method stopped
    early; `note` says where.
    """

    problem: Hierarchy
    x: Array
    status: str
    sides: Ints  # (variables + rows,): -1 at a low end, +1 at a high one, 0 not in the working set
    work: dict[str, int] = field(default_factory=dict)
    contradiction: tuple[int, ...] = ()
    note: str = ""
    scale: Array | None = None

    def __post_init__(self) -> None:
        self.x.flags.writeable = False
        self.sides.flags.writeable = False

    def __bool__(self) -> bool:
        return self.status == "solved"

    @property
    def warm(self) -> Warm:
        return Warm(self.x, self.sides, self.scale)

    @cached_property
    def residuals(self) -> Array:
        """||sqrt(weights) (A x - b)|| of every level, in order."""
        p = self.problem
        squares = (p.A @ self.x - p.b) ** 2
        return np.array([np.sqrt(squares[s:e].sum()) for s, e in pairwise(p.ends)])

    @cached_property
    def objectives(self) -> dict[str, float]:
        """||A x - b|| of every objective by name, unweighted."""
        out: dict[str, float] = {}
        for level, name in zip(self.problem.levels, self.problem.names, strict=True):
            left = level.A @ self.x - level.b
            out |= {
                part or name: float(np.linalg.norm(left[span]))
                for part, span in zip(level.parts, level.spans, strict=True)
            }
        return out

    def residual(self, name: str) -> float:
        """Returns the residual of an objective or a level."""
        if name in self.objectives:
            return self.objectives[name]
        if name in self.problem.names:
            return float(self.residuals[self.problem.names.index(name)])
        raise unknown_name("objective", name, (*self.objectives, *self.problem.names))

    @cached_property
    def violation(self) -> float:
        """The largest violation of a constraint."""
        C, low, high = self.problem.constraints
        value = C @ self.x
        return float(max((low - value).max(initial=0.0), (value - high).max(initial=0.0)))

    @cached_property
    def multipliers(self) -> tuple[Multipliers, ...]:
        """One set for every level, and one for the nearness after the last; computed from x alone."""
        d = Scaled(self.problem).arrays.d if self.scale is None else self.scale
        return tuple(Multipliers(*one) for one in multipliers_at(self.problem, self.x, d))

    @cached_property
    def active(self) -> tuple[Constraint, ...]:
        """The constraints at an end, each with the first level that it holds back."""
        p = self.problem
        C, low, high = p.constraints
        sides = active_sides(C, low, high, self.x)
        out = []
        for i in np.flatnonzero(sides):
            values = [np.concatenate([m.bounds, m.rows])[i] for m in self.multipliers[:-1]]
            first = next((k for k, v in enumerate(values) if v != 0.0), None)
            out.append(
                Constraint(
                    p.constraint_name(int(i)),
                    "bound" if i < p.size else "row",
                    int(i if i < p.size else i - p.size),
                    "equal" if low[i] == high[i] else "low" if sides[i] < 0 else "high",
                    "" if first is None else p.names[first],
                    0.0 if first is None else float(values[first]),
                )
            )
        return tuple(out)

    @cached_property
    def conflict(self) -> tuple[str, ...]:
        """Names of constraints that cannot all hold; without any one of them the others can."""
        return tuple(self.problem.constraint_name(i) for i in self.contradiction)


def solve_hierarchy(
    levels: Sequence[Level] | Hierarchy,
    rows: tuple[ArrayLike, ArrayLike | None, ArrayLike | None] | None = None,
    bounds: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    *,
    near: ArrayLike | None = None,
    warm: Solution | Warm | None = None,
    method: Method = "strict",
    importance: Sequence[float] | None = None,
    row_names: Sequence[str] = (),
    variable_names: Sequence[str] = (),
) -> Solution:
    """Solves levels in strict order of priority. `warm` is the solution of a similar problem.

    `rows` is (G, low, high), `bounds` (lower, upper); None and infinities mean no limit, equal ends an equality. Other
    methods, for comparison: "weighted" adds the levels with weights `importance` (section 3.4), "cascade" holds each
    level's rows as equalities in the levels below (section 6.3.4), "plain" is the slow method that judges in tests.
    """
    if isinstance(levels, Hierarchy):
        problem = levels
    else:
        problem = build_hierarchy(levels, rows, bounds, near, row_names, variable_names)
    seed = warm.warm if isinstance(warm, Solution) else warm
    if seed is not None and (len(seed.x) != problem.size or len(seed.sides) != problem.size + len(problem.low)):
        seed = None  # of a problem of another size
    if method == "strict":
        outcome = solve_strict(problem) if seed is None else solve_strict(problem, seed.sides, seed.scale)
    elif method == "plain":
        outcome = solve_by_plain(problem)
    elif method == "weighted":
        outcome = solve_weighted(problem, importance)
    elif method == "cascade":
        outcome = solve_cascade(problem)
    else:
        raise unknown_name("method", method, ("strict", "weighted", "cascade", "plain"))
    return Solution(problem, *outcome)
