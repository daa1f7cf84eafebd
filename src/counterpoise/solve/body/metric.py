"""Phase 1, the metric: coordinates u in which the last level is the squared length of a vector.

    |sqrt(w)(a - a_ref)|^2 + |A_e a - b_e|^2 = |u|^2 + constant

Scaling a = a_ref + x / sqrt(w) makes the first term |x|^2. Reflectors V rotate the scaled extra rows to a lower
triangle [L 0] in the first d coordinates y of x. There the sum is |y|^2 + |L y - c|^2 with c = b_e - A_e a_ref: least
squares with the rows [L; I]. Its optimum is `centre`, and its Hessian I + L'L = R'R, with R by QR so that weights of
any size cost no digits. So u = R (y - centre) for these coordinates and u = x for the others. "Solve the last level"
now means "take the shortest u", and an LQ factorisation gives that at no extra cost.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import dot, inner_kernel
from counterpoise.solve.body.workspace import BodyMetric, LastLevel
from counterpoise.solve.reflections import reflect, reflect_back, reflect_rows, reflector, subtract_scaled


@inner_kernel
def make_metric(last: LastLevel, metric: BodyMetric) -> None:
    """Writes the scaling, the reflectors, R and the centre."""
    scale, V, beta, R, centre = metric.scale, metric.V, metric.beta, metric.R, metric.centre
    rows, v, w = metric.rows, metric.v, metric.spare
    (e, n), d = last.A_e.shape, len(beta)
    for j in range(n):
        scale[j] = 1.0 / np.sqrt(last.weight[j])
    for i in range(e):
        w[i] = last.b_e[i] - dot(last.A_e[i], last.a_ref)
        for j in range(n):
            rows[i, j] = last.A_e[i, j] * scale[j]
    for i in range(d):
        beta[i] = reflector(rows[i, i:n], V[i, i:n])
        reflect_rows(rows, i + 1, e, V, beta, i, i + 1, n)
    height = e + d
    for j in range(d):
        for i in range(e):
            R[j, i] = rows[i, j]
        for i in range(e, height):
            R[j, i] = 0.0
        R[j, e + j] = 1.0
    for i in range(e, height):
        w[i] = 0.0
    for j in range(d):
        b = reflector(R[j, j:height], v[j:height])
        for i in range(j + 1, d):
            reflect(v[j:height], R[i, j:height], b)
        reflect(v[j:height], w[j:height], b)
    for j in range(d):
        centre[j] = w[j]
    for j in range(d - 1, -1, -1):
        centre[j] /= R[j, j]
        subtract_scaled(R[j, :j], centre[j], centre)


@inner_kernel
def to_metric(rows: Array, target: Array, size: Array, first: int, last: int, metric: BodyMetric) -> None:
    """Turns rows first..last, and their targets, from accelerations to u; `size` receives the norms of the rows.

    The block scaled by R goes last: its columns are short, and a factorisation that meets long columns first (those of
    the root, of little weight) keeps rounding small where it matters.
    """
    scale, a_ref, R, centre, w = metric.scale, metric.a_ref, metric.R, metric.centre, metric.spare
    n, d = len(scale), len(centre)
    for i in range(first, last):
        target[i] -= dot(rows[i], a_ref)
        for j in range(n):
            rows[i, j] *= scale[j]
    if d > 0:
        reflect_rows(rows, first, last, metric.V, metric.beta, 0, d, n)
        for i in range(first, last):
            target[i] -= dot(rows[i, :d], centre)
            for j in range(d):
                w[j] = (rows[i, j] - dot(R[j, :j], w)) / R[j, j]
            for j in range(n - d):
                rows[i, j] = rows[i, j + d]
            for j in range(d):
                rows[i, n - d + j] = w[j]
    for i in range(first, last):
        size[i] = np.sqrt(dot(rows[i], rows[i]))


@inner_kernel
def from_metric(u: Array, metric: BodyMetric, a: Array) -> None:
    """Turns u, which is overwritten, into the acceleration a."""
    scale, R, centre, w = metric.scale, metric.R, metric.centre, metric.spare
    n, d = len(scale), len(centre)
    for j in range(d):
        w[j] = u[n - d + j]
    for j in range(d - 1, -1, -1):
        w[j] /= R[j, j]
        subtract_scaled(R[j, :j], w[j], w)
    if d > 0:
        for j in range(n - 1, d - 1, -1):
            u[j] = u[j - d]
        for j in range(d):
            u[j] = w[j] + centre[j]
    reflect_back(u, metric.V, metric.beta, 0, d, n)
    for j in range(n):
        a[j] = metric.a_ref[j] + scale[j] * u[j]
