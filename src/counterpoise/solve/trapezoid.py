"""Least squares with the trapezoid that a pivoted LQ leaves of one level, compiled.

After the LQ of m rows with rank r, what matters of them is L = K[order[i0:i0+m], k0:k0+r] (m, r), lower trapezoidal in
the order of its pivots. A square L is solved by substitution. A tall one has a QR factorisation of its own,

    L = Q [R; 0]        Q: reflectors W with factors `beta`;   row j of `R` is column j of R

which `fit_trapezoid` leaves behind for `trapezoid_residual` and `solve_transposed`.
"""

from __future__ import annotations

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.reflections import reflect, reflector, subtract_scaled


@inner_kernel
def fit_trapezoid(
    K: Array, order: Ints, i0: int, m: int, k0: int, r: int, rhs: Array, y: Array, R: Array, W: Array, beta: Array,
    w: Array,
) -> None:  # fmt: skip
    """y[k0:k0+r] = argmin |L y - rhs|. `rhs` is indexed by row of K. Where L is tall, w becomes Q' rhs."""
    if r == m:
        for q in range(m):
            i = order[i0 + q]
            y[k0 + q] = (rhs[i] - dot(K[i, k0 : k0 + q], y[k0:])) / K[i, k0 + q]
        return
    for j in range(r):
        for q in range(m):
            R[j, q] = K[order[i0 + q], k0 + j]
    for q in range(m):
        w[q] = rhs[order[i0 + q]]
    for j in range(r):
        b = reflector(R[j, j:m], W[j, j:m])
        beta[j] = b
        for i in range(j + 1, r):
            reflect(W[j, j:m], R[i, j:m], b)
        reflect(W[j, j:m], w[j:m], b)
    for j in range(r):
        y[k0 + j] = w[j]
    for j in range(r - 1, -1, -1):
        y[k0 + j] /= R[j, j]
        subtract_scaled(R[j, :j], y[k0 + j], y[k0:])


@inner_kernel
def trapezoid_residual(
    order: Ints, i0: int, m: int, r: int, W: Array, beta: Array, w: Array, residual: Array
) -> None:  # fmt: skip
    """residual = L y - rhs of the last `fit_trapezoid`, by row of K: zero for a square L, else -Q [0; rest of w]."""
    for q in range(m):
        residual[order[i0 + q]] = 0.0 if q < r else -w[q]
    if r < m:
        _apply_q(order, i0, m, r, W, beta, residual)


@inner_kernel
def solve_transposed(
    K: Array, order: Ints, i0: int, m: int, k0: int, r: int, R: Array, W: Array, beta: Array, t: Array, eta: Array
) -> None:
    """The shortest eta, by row of K, with L' eta = t[k0:k0+r]. That part of t is overwritten."""
    if r == m:
        for q in range(m - 1, -1, -1):
            i = order[i0 + q]
            eta[i] = t[k0 + q] / K[i, k0 + q]
            subtract_scaled(K[i, k0 : k0 + q], eta[i], t[k0:])
        return
    for j in range(r):
        t[k0 + j] = (t[k0 + j] - dot(R[j, :j], t[k0:])) / R[j, j]
        eta[order[i0 + j]] = t[k0 + j]
    for q in range(r, m):
        eta[order[i0 + q]] = 0.0
    _apply_q(order, i0, m, r, W, beta, eta)


@inner_kernel
def _apply_q(order: Ints, i0: int, m: int, r: int, W: Array, beta: Array, x: Array) -> None:
    """x[order] <- Q x[order]"""
    for j in range(r - 1, -1, -1):
        s = 0.0
        for q in range(j, m):
            s += W[j, q] * x[order[i0 + q]]
        s *= beta[j]
        for q in range(j, m):
            x[order[i0 + q]] -= s * W[j, q]
