"""The projection on a cone, compiled: what the climb does at a degenerate corner.

min |N' mu - g|   subject to   mu >= 0                     (non-negative least squares, Lawson & Hanson 1974)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel, inner_kernel_with_arrays
from counterpoise.solve.orthogonal import RANK_TOLERANCE, append_row, solve_upper, square
from counterpoise.solve.reflections import reflect_back, reflect_forth

MIN_GAIN = 1e-12  # part of |g| by which a row must reduce what is left to be worth taking
KNOWN_INDEPENDENT = 1e-3  # part of its length that a row counts with when it is factored again


class PassiveRows(NamedTuple):
    """The rows of positive multiplier with their factor, and scratch."""

    rows: Ints  # (nz + 1,) the first `count` entries
    old: Array  # (nz + 1,) their multipliers
    full: Array  # (nz + 1,) the same without the sign condition
    L: Array  # (nz + 1, nz)
    V: Array  # (nz, nz)
    beta: Array  # (nz,)
    t: Array  # (nz,)
    size: Array  # (na,) lengths of all rows
    inside: Ints  # (na,) 1: a row is in the set
    refused: Ints  # (na,) 1: it cannot join before the next change


@inner_kernel_with_arrays
def nonnegative(N: Array, g: Array, mu: Array, left: Array) -> None:
    """Writes mu (na,) for the rows N (na, nz), and left = N' mu - g."""
    na, nz = N.shape
    passive = PassiveRows(
        np.empty(nz + 1, np.int64), np.zeros(nz + 1), np.empty(nz + 1), np.zeros((nz + 1, nz)), np.zeros((nz, nz)),
        np.zeros(nz), np.empty(nz), np.empty(na), np.zeros(na, np.int64), np.zeros(na, np.int64),
    )  # fmt: skip
    for j in range(nz):
        left[j] = -g[j]
    for i in range(na):
        mu[i] = 0.0
        passive.size[i] = np.sqrt(square(N[i]))
    enough = MIN_GAIN * np.sqrt(square(g))
    count = 0
    for _ in range(4 * na + 20):
        new = _most_helpful(N, left, passive, enough)
        if new < 0 or count >= nz:
            return
        if append_row(N[new], passive.L, passive.V, passive.beta, count, 0, nz, passive.size[new]):
            passive.rows[count], passive.old[count], passive.inside[new] = new, 0.0, 1
            count = _restore_signs(N, g, mu, left, passive, count + 1)
        else:
            passive.refused[new] = 1


@inner_kernel
def _most_helpful(N: Array, left: Array, passive: PassiveRows, enough: float) -> int:
    """The row outside the set along which |left| falls fastest; -1: none by more than `enough`."""
    best, new = enough, -1
    for i in range(len(N)):
        size = passive.size[i]
        if passive.inside[i] == 1 or passive.refused[i] == 1 or size <= RANK_TOLERANCE:
            continue
        s = -dot(N[i], left)
        if s > best * size:
            best, new = s / size, i
    return new


@inner_kernel
def _restore_signs(N: Array, g: Array, mu: Array, left: Array, passive: PassiveRows, count: int) -> int:
    """Least squares on the set; rows whose multiplier is not positive leave it. Returns how many are left in it.

    The row that joined last is refused at once if its own multiplier is not positive: then it came in by rounding.
    """
    rows, old, full, t, nz = passive.rows, passive.old, passive.full, passive.t, N.shape[1]
    first = True
    while count > 0:
        for j in range(nz):
            t[j] = g[j]
        reflect_forth(t, passive.V, passive.beta, 0, count, nz)
        solve_upper(passive.L, 0, count, t, full)
        if first and full[count - 1] <= 0.0:
            passive.inside[rows[count - 1]], passive.refused[rows[count - 1]] = 0, 1
            return count - 1
        first = False
        step, at = 1.0, -1
        for i in range(count):
            if full[i] <= 0.0 and old[i] <= step * (old[i] - full[i]):
                step, at = old[i] / (old[i] - full[i]), i
        if at < 0:
            break
        for i in range(count):
            old[i] += step * (full[i] - old[i])
        passive.inside[rows[at]] = 0
        count -= 1
        for i in range(at, count):
            rows[i], old[i] = rows[i + 1], old[i + 1]
        for i in range(at, count):
            append_row(
                N[rows[i]], passive.L, passive.V, passive.beta, i, 0, nz, KNOWN_INDEPENDENT * passive.size[rows[i]]
            )  # fmt: skip
    if count > 0:
        _accept(mu, left, passive, count)
    return count


@inner_kernel
def _accept(mu: Array, left: Array, passive: PassiveRows, count: int) -> None:
    """Writes mu and what is left of g for the multipliers `full`, all positive."""
    t, nz = passive.t, len(left)
    for i in range(len(mu)):
        passive.refused[i] = 0
        mu[i] = 0.0
    for i in range(count):
        passive.old[i] = passive.full[i]
        mu[passive.rows[i]] = passive.full[i]
    for j in range(count):
        t[j] = 0.0
    reflect_back(t, passive.V, passive.beta, 0, count, nz)
    for j in range(nz):
        left[j] = -t[j]
