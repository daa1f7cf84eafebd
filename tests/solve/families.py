"""Random hierarchies of every kind that breaks solvers; all feasible, data of like size unless scaled afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array

KINDS = ("full", "deficient", "pairs", "vertex", "saturated", "redundant", "integer", "equal", "free", "thin")


@dataclass
class Case:
    levels: list[tuple[Array, Array]]
    G: Array
    low: Array
    high: Array
    lower: Array
    upper: Array

    @property
    def rows(self) -> tuple[Array, Array, Array]:
        return self.G, self.low, self.high

    @property
    def bounds(self) -> tuple[Array, Array]:
        return self.lower, self.upper

    @property
    def constraints(self) -> tuple[Array, Array, Array]:
        """One set of rows of unit length."""
        size = np.linalg.norm(self.G, axis=1)
        size[size == 0.0] = 1.0
        C = np.vstack([np.eye(len(self.lower)), self.G / size[:, None]])
        return C, np.concatenate([self.lower, self.low / size]), np.concatenate([self.upper, self.high / size])


def make_case(kind: str, rng: np.random.Generator, biggest: int = 20, most_rows: int = 100, levels: int = 6) -> Case:
    """A problem of the kind; its first point is feasible by construction."""
    n = int(rng.integers(1, biggest + 1))
    m = int(rng.integers(0, most_rows + 1)) if rng.random() < 0.3 else int(rng.integers(0, 2 * n + 2))
    count = int(rng.integers(1, levels + 1))
    whole = kind in ("integer", "vertex")
    point = rng.integers(-3, 4, n).astype(float) if whole else rng.standard_normal(n)

    def matrix(rows: int, rank: int | None = None) -> Array:
        if whole:
            M = rng.integers(-2, 3, (rows, n)).astype(float)
        elif rank is None:
            M = rng.standard_normal((rows, n))
        else:
            M = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(max(rank, 1))
        return M

    parts = []
    for _ in range(count):
        rows = int(rng.integers(0, n + 3)) if kind != "thin" else int(rng.integers(0, 3))
        rank = (
            int(rng.integers(0, min(rows, n) + 1)) if kind in ("deficient", "redundant") or rng.random() < 0.2 else None
        )
        far = 100.0 if kind == "saturated" else 3.0
        A = matrix(rows, rank)
        parts.append((A, rng.integers(-4, 5, rows).astype(float) if whole else far * rng.standard_normal(rows)))
    if kind == "redundant":
        k = int(rng.integers(0, count))
        A, b = parts[k]
        parts.insert(int(rng.integers(0, count + 1)), (np.vstack([A, -2.0 * A]), np.concatenate([b, -2.0 * b])))
        parts = parts[:levels]
    G = matrix(m)
    value = G @ point
    width = np.abs(rng.integers(0, 4, (2, m))).astype(float) if whole else rng.exponential(1.0, (2, m))
    if kind in ("vertex", "redundant", "saturated"):
        width *= rng.random((2, m)) < 0.5
    low = np.where(rng.random(m) < 0.3, -np.inf, value - width[0])
    high = np.where(rng.random(m) < 0.3, np.inf, value + width[1])
    if kind == "equal" and m:
        few = rng.permutation(m)[: int(rng.integers(0, max(n // 2, 1) + 1))]
        low[few] = high[few] = value[few]
    if kind == "pairs" and m:
        few = rng.permutation(m)[: int(rng.integers(1, max(n // 2, 1) + 1))]
        G = np.vstack([G, G[few], -G[few]])
        low = np.concatenate([low, value[few], -value[few]])
        high = np.concatenate([high, np.full(2 * len(few), np.inf)])
    if kind == "redundant" and m:
        mix = np.abs(rng.standard_normal((3, m))) * (rng.random((3, m)) < 0.3)
        G = np.vstack([G, G, mix @ G])
        low = np.concatenate([low, low, np.full(3, -np.inf)])
        high = np.concatenate([high, high, mix @ np.where(np.isfinite(high), high, value + 5.0)])
    tight = rng.integers(0, 3, (2, n)).astype(float) if whole else rng.exponential(0.5, (2, n))
    lower = np.where(rng.random(n) < 0.5, -np.inf, point - tight[0])
    upper = np.where(rng.random(n) < 0.5, np.inf, point + tight[1])
    if kind == "free":
        G, low, high = np.zeros((0, n)), np.zeros(0), np.zeros(0)
        lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    return Case(parts, G, low, high, lower, upper)


def badly_scaled(case: Case, rng: np.random.Generator, decades: float = 6.0) -> tuple[Case, Array]:
    """The same problem in other units (variables, rows, levels times 10^+-decades), and the factors of the levels."""

    def factors(count: int) -> Array:
        return 10.0 ** rng.uniform(-decades, decades, count)

    d, r, f = factors(len(case.lower)), factors(len(case.low)), factors(len(case.levels))
    return (
        Case(
            [(s * A * d, s * b) for s, (A, b) in zip(f, case.levels, strict=True)],
            r[:, None] * case.G * d,
            r * case.low,
            r * case.high,
            case.lower / d,
            case.upper / d,
        ),
        f,
    )
