"""The workspace of a whole-body solve, cut from two arrays that the caller keeps.

A solve allocates nothing. Nothing in the workspace is cleared: every phase writes before it reads.
"""

from __future__ import annotations

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel
from counterpoise.solve.body.workspace import (
    BodyBounds,
    BodyCandidate,
    BodyMetric,
    BodyWorkspace,
    BoundPrices,
    CascadeSystem,
    HeldBounds,
    LevelChain,
    MassRows,
    TickMemory,
    TickResult,
    TickScratch,
)


@inner_kernel
def _vector(numbers: Array, at: int, size: int) -> tuple[Array, int]:
    return numbers[at : at + size], at + size


@inner_kernel
def _matrix(numbers: Array, at: int, rows: int, columns: int) -> tuple[Array, int]:
    return numbers[at : at + rows * columns].reshape(rows, columns), at + rows * columns


@inner_kernel
def _integers(integers: Ints, at: int, size: int) -> tuple[Ints, int]:
    return integers[at : at + size], at + size


@inner_kernel
def lay_out(
    scratch: TickScratch, memory: TickMemory, result: TickResult, a_ref: Array, k: int, m: int, e: int, p: int
) -> BodyWorkspace:  # fmt: skip
    """The workspace of a problem of this size, with the memory and the results in their places."""
    n, f, i = len(a_ref), scratch.numbers, scratch.integers
    d, rows, columns = min(e, n), n + m, n + k

    low, at = _vector(f, 0, columns)
    high, at = _vector(f, at, columns)
    below, at = _vector(f, at, columns)
    above, at = _vector(f, at, columns)
    bounds = BodyBounds(low, high, below, above)

    lock, to = _integers(i, 0, columns)
    tried, to = _integers(i, to, columns)
    free, to = _integers(i, to, k)
    equal, to = _integers(i, to, n)
    working = HeldBounds(memory.held, memory.point, lock, tried, free, equal)

    scale, at = _vector(f, at, n)
    V, at = _matrix(f, at, d, n)
    beta, at = _vector(f, at, d)
    R, at = _matrix(f, at, d, e + d)
    centre, at = _vector(f, at, d)
    extra, at = _matrix(f, at, e, n)
    v, at = _vector(f, at, e + d)
    spare, at = _vector(f, at, e + d)
    metric = BodyMetric(scale, a_ref, V, beta, R, centre, extra, v, spare)

    V, at = _matrix(f, at, n, n)
    beta, at = _vector(f, at, n)
    level_rows, at = _matrix(f, at, m, n)
    target, at = _vector(f, at, m)
    size, at = _vector(f, at, m)
    y, at = _vector(f, at, n)
    first, to = _integers(i, to, p)
    height, to = _integers(i, to, p)
    corner, to = _integers(i, to, p + 1)
    chain = LevelChain(V, beta, level_rows, target, size, y, first, height, corner)

    mass_rows, at = _matrix(f, at, n, n)
    target, at = _vector(f, at, n)
    size, at = _vector(f, at, n)
    slot, to = _integers(i, to, n)
    reach, to = _integers(i, to, n)
    mass = MassRows(mass_rows, target, size, slot, reach)

    K, at = _matrix(f, at, rows, columns)
    target, at = _vector(f, at, rows)
    size, at = _vector(f, at, rows)
    starts, to = _integers(i, to, p + 1)
    rank, to = _integers(i, to, p)
    order, to = _integers(i, to, rows)
    V, at = _matrix(f, at, columns, columns)
    beta, at = _vector(f, at, columns)
    y, at = _vector(f, at, columns)
    w, at = _vector(f, at, columns)
    residual, at = _vector(f, at, rows)
    R, at = _matrix(f, at, rows, m)
    W, at = _matrix(f, at, rows, m)
    tau, at = _vector(f, at, rows)
    rest, at = _vector(f, at, rows)
    spare, at = _vector(f, at, rows)
    system = CascadeSystem(K, target, size, starts, rank, order, V, beta, y, w, residual, R, W, tau, rest, spare)

    u, at = _vector(f, at, n)
    candidate = BodyCandidate(u, result.values[:n], result.values[n : n + columns])

    t, at = _vector(f, at, columns)
    eta, at = _vector(f, at, rows)
    mu, at = _vector(f, at, n)
    edge, at = _vector(f, at, n)
    price, at = _vector(f, at, columns)
    prices = BoundPrices(t, eta, mu, edge, price)
    return BodyWorkspace(bounds, working, metric, chain, mass, system, candidate, prices)


def scratch_size(n: int, k: int, m: int, e: int, p: int) -> tuple[int, int]:
    """How many numbers and integers `lay_out` cuts from the scratch."""
    d, rows, columns = min(e, n), n + m, n + k
    matrices = d * n + d * (e + d) + e * n + 2 * n * n + m * n + rows * columns + columns * columns + 2 * rows * m
    vectors = 9 * columns + 7 * rows + 8 * n + 2 * m + 2 * d + 2 * (e + d)
    return matrices + vectors, 2 * columns + k + 3 * n + rows + 5 * p + 2
