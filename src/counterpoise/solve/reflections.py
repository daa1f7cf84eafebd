"""Householder reflections of rows, compiled: the tool that both solvers share.

A reflection (v, beta) changes a row x to x - beta (v . x) v. `reflector` finds the one that turns a row into (diagonal,
0, ..., 0). Row q of V holds the reflector that begins at column q, and beta[q] its factor. Rows are reflected from the
right, so every row keeps its own relative accuracy whatever its length.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import dot, fma, inner_kernel


@inner_kernel
def reflect(v: Array, row: Array, beta: float) -> None:
    """row <- row - beta (v . row) v"""
    s = -beta * dot(v, row)
    for j in range(v.size):
        row[j] = fma(s, v[j], row[j])


@inner_kernel
def reflect_three(v: Array, x: Array, y: Array, z: Array, beta: float) -> None:
    """The same reflection of three rows; the reflector is read once for all of them."""
    a, b, c = -beta * dot(v, x), -beta * dot(v, y), -beta * dot(v, z)
    for j in range(v.size):
        t = v[j]
        x[j] = fma(a, t, x[j])
        y[j] = fma(b, t, y[j])
        z[j] = fma(c, t, z[j])


@inner_kernel
def subtract_scaled(row: Array, factor: float, x: Array) -> None:
    """x <- x - factor row, over the length of the row: one step of a substitution through the rows of a triangle."""
    for j in range(row.size):
        x[j] = fma(-factor, row[j], x[j])


@inner_kernel
def reflector(row: Array, v: Array) -> float:
    """Writes the reflector v that turns `row` into (diagonal, 0, ..., 0), applies it to `row`, and returns beta."""
    s = dot(row[1:], row[1:])
    if s == 0.0:
        for j in range(row.size):
            v[j] = 0.0
        return 0.0
    first = row[0]
    size = np.sqrt(first * first + s)
    diagonal = -size if first > 0.0 else size
    head = first - diagonal
    for j in range(1, row.size):
        v[j] = row[j]
        row[j] = 0.0
    v[0] = head
    row[0] = diagonal
    return 2.0 / (head * head + s)


@inner_kernel
def reflect_rows(K: Array, first: int, last: int, V: Array, beta: Array, q0: int, q1: int, n: int) -> None:
    """Applies reflectors q0..q1 of V to rows first..last of K, columns up to n; three rows at a time."""
    i = first
    while i + 3 <= last:
        for q in range(q0, q1):
            reflect_three(V[q, q:n], K[i, q:n], K[i + 1, q:n], K[i + 2, q:n], beta[q])
        i += 3
    while i < last:
        for q in range(q0, q1):
            reflect(V[q, q:n], K[i, q:n], beta[q])
        i += 1


@inner_kernel
def reflect_forth(t: Array, V: Array, beta: Array, q0: int, q1: int, n: int) -> None:
    """Takes the vector t into the coordinates of reflectors q0..q1."""
    for q in range(q0, q1):
        reflect(V[q, q:n], t[q:n], beta[q])


@inner_kernel
def reflect_back(t: Array, V: Array, beta: Array, q0: int, q1: int, n: int) -> None:
    """Takes the vector t out of the coordinates of reflectors q0..q1: the inverse of `reflect_forth`."""
    for q in range(q1 - 1, q0 - 1, -1):
        reflect(V[q, q:n], t[q:n], beta[q])
