"""Levels of priority, and the hierarchy that they form together with the constraints above them.

    lexicographically minimise   ||A_1 x - b_1||,  ||A_2 x - b_2||,  ...,  ||x - near||
    subject to                   low <= G x <= high,   lower <= x <= upper      (infinite: no limit; equal: an equality)

Several objectives share a level by their weights alpha_j: rows times sqrt(alpha_j) (de Lasa 2011, eq. 6.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue


class HierarchyOutcome(NamedTuple):
    """What a method returns: the point, its status in a word, and how much work it took."""

    x: Array
    status: str
    sides: Ints  # (variables + rows,): -1 at a low end, +1 at a high one, 0 not in the working set
    work: dict[str, int]
    contradiction: tuple[int, ...] = ()
    note: str = ""
    scale: Array | None = None  # units in which the variables are of like size


@dataclass(frozen=True, eq=False)
class Part:
    """One objective of a level: weight * ||A x - b||^2. With weight zero it is only reported."""

    A: Array  # (m, n)
    b: Array  # (m,)
    weight: float = 1.0  # alpha of eq. 6.35
    name: str = ""

    def __post_init__(self) -> None:
        label = f"objective {self.name!r}" if self.name else "an objective without a name"
        A, b = _rows_of(self.A, self.b, label)
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "b", b)
        weight = float(self.weight)
        if not (np.isfinite(weight) and weight >= 0.0):
            raise BadValue(f"{label}: weight {self.weight!r}; a weight is finite and not negative", weight=self.weight)
        object.__setattr__(self, "weight", weight)


class Level:
    """All objectives of one priority: minimise sum_j alpha_j ||A_j x - b_j||^2.

    `Level(A, b, name=...)` has one objective (`weights`: a number, or one for every row), `Level(objectives=[Part(...),
    ...], name=...)` several.
    """

    __slots__ = ("A", "b", "name", "parts", "spans", "weights")

    A: Array  # (m, n), all rows of all objectives, unweighted
    b: Array  # (m,)
    name: str
    weights: Array | None  # (m,), alpha of every row; None: all one
    parts: tuple[str, ...]  # names of the objectives
    spans: tuple[slice, ...]  # their rows

    def __init__(
        self,
        A: ArrayLike | None = None,
        b: ArrayLike | None = None,
        name: str = "",
        weights: float | ArrayLike | None = None,
        objectives: Sequence[Part] = (),
    ) -> None:
        label = f"level {name!r}" if name else "a level without a name"
        if objectives:
            if A is not None or b is not None or weights is not None:
                raise BadValue(f"{label}: give A and b, or objectives, not both; a Part carries its own weight")
            widths = sorted({part.A.shape[1] for part in objectives})
            if len(widths) > 1:
                which = ", ".join(f"{part.name or '?'}: {part.A.shape[1]}" for part in objectives)
                raise BadValue(f"{label}: objectives with {widths} columns; all must have as many ({which})")
            ends = np.cumsum([0, *(len(part.b) for part in objectives)])
            self.A = _still(np.concatenate([part.A for part in objectives]))
            self.b = _still(np.concatenate([part.b for part in objectives]))
            alphas = np.concatenate([np.full(len(part.b), part.weight) for part in objectives])
            self.weights = None if np.all(alphas == 1.0) else _still(alphas)
            self.parts = tuple(part.name or f"{name or 'objective'}[{i}]" for i, part in enumerate(objectives))
            self.spans = tuple(slice(int(s), int(e)) for s, e in pairwise(ends))
        else:
            self.A, self.b = _rows_of(A, b, label)
            self.weights = None
            if weights is not None:
                alphas = np.array(np.broadcast_to(np.asarray(weights, float), self.b.shape))
                if not (np.isfinite(alphas).all() and (alphas >= 0.0).all()):
                    raise BadValue(f"{label}: weights {weights!r}; weights are finite and not negative")
                self.weights = _still(alphas)
            self.parts, self.spans = (name,), (slice(0, len(self.b)),)
        self.name = name

    @classmethod
    def of(cls, objectives: Sequence[Part], name: str = "") -> Level:
        return cls(name=name, objectives=objectives)

    def weighted(self) -> tuple[Array, Array]:
        """Returns (A, b) as they are minimised: rows times the square roots of their weights (eq. 6.36)."""
        if self.weights is None:
            return self.A, self.b
        beta = np.sqrt(self.weights)
        return beta[:, None] * self.A, beta * self.b

    def __repr__(self) -> str:
        return f"Level({self.name!r}, {self.A.shape[0]} rows, {self.A.shape[1]} variables, {list(self.parts)})"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The whole problem, checked. `build_hierarchy` makes it, `solve_hierarchy` solves it."""

    levels: tuple[Level, ...]
    names: tuple[str, ...]  # of the levels
    A: Array  # (M, n), weighted rows of all levels
    b: Array  # (M,)
    ends: Ints  # (levels + 1,), where each level's rows begin
    G: Array  # (m, n)
    low: Array
    high: Array
    lower: Array
    upper: Array
    near: Array
    row_names: tuple[str, ...] = ()
    variable_names: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of variables."""
        return int(self.A.shape[1])

    @cached_property
    def constraints(self) -> tuple[Array, Array, Array]:
        """(C, low, high): bounds, then rows, as one matrix of rows and its ends."""
        return (
            np.vstack([np.eye(self.size), self.G]),
            np.concatenate([self.lower, self.low]),
            np.concatenate([self.upper, self.high]),
        )

    def rows_of(self, level: int) -> tuple[Array, Array]:
        """Returns the weighted rows (A, b) of a level; the level after the last one is the nearness to `near`."""
        if level == len(self.levels):
            return np.eye(self.size), self.near
        span = slice(self.ends[level], self.ends[level + 1])
        return self.A[span], self.b[span]

    def constraint_name(self, index: int) -> str:
        """Returns the name of a bound (`index` < size) or of row `index` - size."""
        if index < self.size:
            return self.variable_names[index] if self.variable_names else f"variable {index}"
        row = index - self.size
        return self.row_names[row] if self.row_names else f"row {row}"


def build_hierarchy(
    levels: Sequence[Level],
    rows: tuple[ArrayLike, ArrayLike | None, ArrayLike | None] | None = None,
    bounds: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    near: ArrayLike | None = None,
    row_names: Sequence[str] = (),
    variable_names: Sequence[str] = (),
) -> Hierarchy:
    """Checks the input once: shapes, finite numbers, ends in order. An error names its level, objective or row."""
    levels = tuple(levels)
    for i, level in enumerate(levels):
        if not isinstance(level, Level):
            raise BadValue(f"level {i + 1} is {type(level).__name__}; levels are made by Level(A, b, name=...)")
    n = _size(levels, rows, bounds, near)
    names = tuple(level.name or f"level {i + 1}" for i, level in enumerate(levels))
    for level, name in zip(levels, names, strict=True):
        if level.A.shape[1] != n:
            raise BadValue(f"level {name!r} has {level.A.shape[1]} columns; this problem has {n} variables", size=n)
    _distinct(levels, names)
    G, low, high = _checked_rows(rows, n, row_names)
    lower, upper = (None, None) if bounds is None else bounds
    bottom, top = _ends(lower, -np.inf, n, "lower bounds"), _ends(upper, np.inf, n, "upper bounds")
    _in_order(bottom, top, variable_names, "variable", "lower", "upper")
    if variable_names and len(variable_names) != n:
        raise BadValue(f"{len(variable_names)} variable_names for {n} variables")
    nearest = np.zeros(n) if near is None else _vector(near, n, "near")
    pairs = [level.weighted() for level in levels]
    return Hierarchy(
        levels=levels,
        names=names,
        A=_still(np.concatenate([A for A, _ in pairs]) if pairs else np.zeros((0, n))),
        b=_still(np.concatenate([b for _, b in pairs]) if pairs else np.zeros(0)),
        ends=np.cumsum([0, *(len(b) for _, b in pairs)]),
        G=G,
        low=low,
        high=high,
        lower=bottom,
        upper=top,
        near=_still(nearest),
        row_names=tuple(row_names),
        variable_names=tuple(variable_names),
    )


# -- checks -----------------------------------------------------------------------------------------------------------
def _still(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _rows_of(A: Any, b: Any, label: str) -> tuple[Array, Array]:
    if A is None or b is None:
        raise BadValue(f"{label}: A and b are needed (zero rows are fine: np.zeros((0, n)), np.zeros(0))")
    try:
        A_, b_ = np.array(A, float, ndmin=2, order="C"), np.array(b, float, ndmin=1)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{label}: A and b must be arrays of numbers ({error})") from error
    if A_.ndim != 2 or b_.ndim != 1 or A_.shape[0] != b_.shape[0]:
        raise BadValue(
            f"{label}: A {A_.shape} and b {b_.shape} do not fit; A is (m, n), b (m,)", A=A_.shape, b=b_.shape
        )
    if not (np.isfinite(A_).all() and np.isfinite(b_).all()):
        bad = np.argwhere(~np.isfinite(np.column_stack([A_, b_])))[0]
        where = f"b[{bad[0]}]" if bad[1] == A_.shape[1] else f"A[{bad[0]}, {bad[1]}]"
        raise BadValue(f"{label}: {where} is not a finite number", row=int(bad[0]))
    return _still(A_), _still(b_)


def _size(levels: tuple[Level, ...], rows: Any, bounds: Any, near: Any) -> int:
    if levels:
        return int(levels[0].A.shape[1])
    if rows is not None:
        return int(np.shape(rows[0])[-1])
    ends = [end for end in (*(bounds or ()), near) if end is not None and np.ndim(end)]
    if not ends:
        raise BadValue("no levels, rows or bounds: the number of variables is unknown")
    return int(np.shape(ends[0])[0])


def _vector(value: ArrayLike, n: int, label: str) -> Array:
    array = np.array(np.broadcast_to(np.asarray(value, float), (n,))) if np.ndim(value) == 0 else np.array(value, float)
    if array.shape != (n,):
        raise BadValue(f"{label} has shape {array.shape}; expected ({n},)", shape=array.shape)
    if not np.isfinite(array).all():
        raise BadValue(f"{label}[{int(np.argmin(np.isfinite(array)))}] is not a finite number")
    return array


def _ends(value: ArrayLike | None, default: float, n: int, label: str) -> Array:
    if value is None:
        return _still(np.full(n, default))
    array = np.full(n, float(np.asarray(value))) if np.ndim(value) == 0 else np.array(value, float)
    if array.shape != (n,):
        raise BadValue(f"{label}: shape {array.shape}; expected ({n},) or a number", shape=array.shape)
    wrong = np.isnan(array) | (array == -default)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise BadValue(f"{label}[{i}] is {array[i]}; write {default} for no limit", index=i)
    return _still(array)


def _in_order(low: Array, high: Array, names: Sequence[str], kind: str, below: str, above: str) -> None:
    wrong = np.flatnonzero(low > high)
    if wrong.size:
        i = int(wrong[0])
        name = f" {names[i]!r}" if len(names) == len(low) else ""
        raise BadValue(f"{kind} {i}{name}: {below} {low[i]} is above {above} {high[i]}; swap or widen them", index=i)


def _checked_rows(rows: Any, n: int, names: Sequence[str]) -> tuple[Array, Array, Array]:
    if rows is None:
        return _still(np.zeros((0, n))), _still(np.zeros(0)), _still(np.zeros(0))
    if len(rows) != 3:
        raise BadValue(f"rows has {len(rows)} entries; it is (G, low, high), with None for no limit")
    G = np.array(rows[0], float, ndmin=2, order="C")
    if G.size == 0:
        G = G.reshape(0, n)
    if G.ndim != 2 or G.shape[1] != n:
        raise BadValue(f"rows: G {G.shape} does not fit; expected (m, {n})", G=G.shape)
    if not np.isfinite(G).all():
        i, j = np.argwhere(~np.isfinite(G))[0]
        raise BadValue(f"rows: G[{i}, {j}] is not a finite number", row=int(i))
    m = len(G)
    if names and len(names) != m:
        raise BadValue(f"{len(names)} row_names for {m} rows")
    low, high = _ends(rows[1], -np.inf, m, "rows: low"), _ends(rows[2], np.inf, m, "rows: high")
    _in_order(low, high, names, "row", "low", "high")
    return _still(G), low, high


def _distinct(levels: tuple[Level, ...], names: tuple[str, ...]) -> None:
    seen: dict[str, str] = {}
    for level, name in zip(levels, names, strict=True):
        for part in level.parts:
            part = part or name
            if part in seen:
                raise BadValue(f"two objectives are called {part!r} (levels {seen[part]!r} and {name!r}); rename one")
            seen[part] = name
