"""LQ factorisations by rows, compiled: what the strict hierarchy is made of.

A = L Q: rows are reflected from the right, one after another, until they form a lower triangle L. Every row keeps its
own relative accuracy, and it counts as dependent on the rows before it when what is left of it is RANK_TOLERANCE of its
*own* length.
"""

from __future__ import annotations

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.reflections import reflect, reflect_forth, reflector, subtract_scaled

RANK_TOLERANCE = 1e-10  # a row of which less than this part is left counts as dependent
TRUSTED_REST = (
    1e-6  # below this part of a row's squared length, what is left is summed again: down-dating has lost digits
)


@inner_kernel
def square(row: Array) -> float:
    """|row|^2"""
    return dot(row, row)


@inner_kernel
def append_row(row: Array, L: Array, V: Array, beta: Array, at: int, first: int, n: int, size: float) -> bool:
    """Adds `row` (columns first..n) as row `at` of an LQ factor that begins at column `first`.

    Returns False, and adds nothing, where the row (of length `size`) depends on those before it.
    """
    target, k = L[at], first + at
    for j in range(first, n):
        target[j] = row[j]
    reflect_forth(target, V, beta, first, k, n)
    if k >= n or square(target[k:n]) <= (RANK_TOLERANCE * size) ** 2:
        return False
    beta[k] = reflector(target[k:n], V[k, k:n])
    return True


@inner_kernel
def pivoted_lq(
    K: Array, i0: int, i1: int, k0: int, n: int, V: Array, beta: Array, order: Ints, size: Array, rest: Array
) -> int:
    """LQ of rows i0..i1 of K, already reflected by the rows before, from column k0 on; longest rest first.

    Returns the rank. order[i0:i1] lists the rows, pivots first; `size` holds their full lengths, `rest` is scratch.
    """
    m = i1 - i0
    for i in range(i0, i1):
        order[i] = i
        rest[i] = square(K[i, k0:n])
    rank = 0
    while rank < m and k0 + rank < n:
        k = k0 + rank
        best, at = 0.0, -1
        for q in range(rank, m):
            i = order[i0 + q]
            if rest[i] < TRUSTED_REST * size[i] * size[i]:
                rest[i] = square(K[i, k:n])
            if rest[i] > (RANK_TOLERANCE * size[i]) ** 2 and rest[i] > best:
                best, at = rest[i], q
        if at < 0:
            break
        i = order[i0 + at]
        order[i0 + at] = order[i0 + rank]
        order[i0 + rank] = i
        beta[k] = reflector(K[i, k:n], V[k, k:n])
        for q in range(rank + 1, m):
            o = order[i0 + q]
            reflect(V[k, k:n], K[o, k:n], beta[k])
            rest[o] -= K[o, k] * K[o, k]
        rank += 1
    return rank


@inner_kernel
def solve_lower(L: Array, first: int, count: int, rhs: Array, out: Array) -> None:
    """L c = rhs for the `count` rows of a factor that begins at column `first`; c goes to out[first:first+count]."""
    for i in range(count):
        s = rhs[i] - dot(L[i, first : first + i], out[first:])
        out[first + i] = s / L[i, first + i]


@inner_kernel
def solve_upper(L: Array, first: int, count: int, t: Array, mu: Array) -> None:
    """L' mu = t[first:first+count]"""
    for i in range(count):
        mu[i] = t[first + i]
    for i in range(count - 1, -1, -1):
        mu[i] /= L[i, first + i]
        subtract_scaled(L[i, first : first + i], mu[i], mu)
