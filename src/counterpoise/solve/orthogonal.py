"""Orthogonal factorisations by rows, compiled: what the strict hierarchy is made of.

Rows are reflected from the right (LQ), so every row keeps its own accuracy whatever its size, and a row counts as
dependent when what is left of it is RANK of its *own* length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.kernels import swift_kernel

RANK = 1e-10  # relative length below which a row counts as dependent


@swift_kernel
def reflect(v: Any, row: Any, k: int, n: int, beta: float) -> None:
    """row <- row (I - beta v v') on columns k..n."""
    s = 0.0
    for j in range(k, n):
        s += v[j] * row[j]
    s *= beta
    for j in range(k, n):
        row[j] -= s * v[j]


@swift_kernel
def reflector(row: Any, v: Any, k: int, n: int) -> float:
    """v, beta that turn row[k:n] into (row[k], 0, ..., 0), which is done; returns beta."""
    s = 0.0
    for j in range(k + 1, n):
        s += row[j] * row[j]
    a = row[k]
    if s == 0.0:
        for j in range(k, n):
            v[j] = 0.0
        return 0.0
    size = np.sqrt(a * a + s)
    head = a + size if a > 0.0 else a - size
    v[k] = head
    for j in range(k + 1, n):
        v[j] = row[j]
        row[j] = 0.0
    row[k] = -size if a > 0.0 else size
    return 2.0 / (head * head + s)


@swift_kernel
def dot(v: Any, w: Any, k: int, n: int) -> float:
    s = 0.0
    for j in range(k, n):
        s += v[j] * w[j]
    return s


@swift_kernel
def reflect_rows(X: Any, first: int, last: int, V: Any, beta: Any, q0: int, q1: int, n: int) -> None:
    """Reflections q0..q1 on rows first..last of X, four at a time: I - V T V' (Schreiber & Van Loan 1989).

    A reflector is zero before its own column.
    """
    q = q0
    while q + 3 < q1:
        a, b, c, d = V[q], V[q + 1], V[q + 2], V[q + 3]
        t0, t1, t2, t3 = beta[q], beta[q + 1], beta[q + 2], beta[q + 3]
        ab, ac, ad = dot(a, b, q + 1, n), dot(a, c, q + 2, n), dot(a, d, q + 3, n)
        bc, bd, cd = dot(b, c, q + 2, n), dot(b, d, q + 3, n), dot(c, d, q + 3, n)
        T01 = -t1 * t0 * ab
        T02, T12 = -t2 * (t0 * ac + T01 * bc), -t2 * t1 * bc
        T03, T13, T23 = -t3 * (t0 * ad + T01 * bd + T02 * cd), -t3 * (t1 * bd + T12 * cd), -t3 * t2 * cd
        for i in range(first, last):
            row = X[i]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(q, n):
                v = row[j]
                s0 += a[j] * v
                s1 += b[j] * v
                s2 += c[j] * v
                s3 += d[j] * v
            u0, u1 = s0 * t0, s0 * T01 + s1 * t1
            u2, u3 = s0 * T02 + s1 * T12 + s2 * t2, s0 * T03 + s1 * T13 + s2 * T23 + s3 * t3
            for j in range(q, n):
                row[j] -= u0 * a[j] + u1 * b[j] + u2 * c[j] + u3 * d[j]
        q += 4
    for o in range(q, q1):
        for i in range(first, last):
            reflect(V[o], X[i], o, n, beta[o])


@swift_kernel
def reflect_forth(t: Any, V: Any, beta: Any, q0: int, q1: int, n: int) -> None:
    """One vector into the coordinates of reflections q0..q1."""
    for q in range(q0, q1):
        reflect(V[q], t, q, n, beta[q])


@swift_kernel
def reflect_back(t: Any, V: Any, beta: Any, q0: int, q1: int, n: int) -> None:
    """One vector out of the coordinates of reflections q0..q1."""
    for q in range(q1 - 1, q0 - 1, -1):
        reflect(V[q], t, q, n, beta[q])


@swift_kernel
def rest_of(row: Any, k: int, n: int) -> float:
    s = 0.0
    for j in range(k, n):
        s += row[j] * row[j]
    return s


@swift_kernel
def append_row(row: Any, L: Any, V: Any, beta: Any, at: int, first: int, n: int, size: float) -> bool:
    """Add `row` (columns first..n used) as row `at` of an LQ factor that begins at column `first`; False: dependent."""
    target = L[at]
    for j in range(first, n):
        target[j] = row[j]
    for q in range(at):
        reflect(V[first + q], target, first + q, n, beta[first + q])
    k = first + at
    if k >= n or rest_of(target, k, n) <= (RANK * size) ** 2:
        return False
    beta[k] = reflector(target, V[k], k, n)
    return True


@swift_kernel
def pivoted_lq(K: Any, i0: int, i1: int, k0: int, n: int, V: Any, beta: Any, perm: Any, size: Any, left: Any) -> int:
    """LQ of rows i0..i1 of K (already reflected by what came before) from column k0, largest row first; the rank.

    A row whose rest is RANK of its own `size` is dependent. perm[i0:i1] becomes the order; the first `rank` are pivots.
    """
    m = i1 - i0
    for q in range(m):
        perm[i0 + q] = i0 + q
        left[i0 + q] = rest_of(K[i0 + q], k0, n)
    r = 0
    while r < m and k0 + r < n:
        best, at = 0.0, -1
        for q in range(r, m):
            i = perm[i0 + q]
            floor = (RANK * size[i]) ** 2
            if left[i] < 1e-6 * size[i] * size[i]:
                left[i] = rest_of(K[i], k0 + r, n)
            if left[i] > floor and left[i] > best:
                best, at = left[i], q
        if at < 0:
            break
        i = perm[i0 + at]
        perm[i0 + at] = perm[i0 + r]
        perm[i0 + r] = i
        k = k0 + r
        beta[k] = reflector(K[i], V[k], k, n)
        for q in range(r + 1, m):
            o = perm[i0 + q]
            reflect(V[k], K[o], k, n, beta[k])
            left[o] -= K[o, k] * K[o, k]
        r += 1
    return r


@swift_kernel
def fit(K: Any, perm: Any, i0: int, m: int, k0: int, r: int, rhs: Any, y: Any, T: Any, H: Any, tau: Any) -> None:
    """min ||L c - rhs|| for L = K[perm[i0:i0+m], k0:k0+r], lower trapezoidal; c goes to y[k0:k0+r].

    With more rows than rank, L = H-reflections times T' (T holds columns of R as rows), kept for `fit_transposed`.
    """
    if r == m:
        for q in range(m):
            i = perm[i0 + q]
            s = rhs[i]
            for j in range(q):
                s -= K[i, k0 + j] * y[k0 + j]
            y[k0 + q] = s / K[i, k0 + q]
        return
    w = np.empty(m)
    for q in range(m):
        w[q] = rhs[perm[i0 + q]]
    for j in range(r):
        for q in range(m):
            T[j, q] = K[perm[i0 + q], k0 + j] if q >= j else 0.0
    for j in range(r):
        tau[j] = reflector(T[j], H[j], j, m)
        for o in range(j + 1, r):
            reflect(H[j], T[o], j, m, tau[j])
        reflect(H[j], w, j, m, tau[j])
    for j in range(r - 1, -1, -1):
        s = w[j]
        for o in range(j + 1, r):
            s -= T[o, j] * y[k0 + o]
        y[k0 + j] = s / T[j, j]


@swift_kernel
def fit_transposed(
    K: Any, perm: Any, i0: int, m: int, k0: int, r: int, t: Any, T: Any, H: Any, tau: Any, eta: Any
) -> None:
    """eta[i0:i0+m], of minimum norm, with L' eta = t[k0:k0+r] for the L of `fit`."""
    if r == m:
        for q in range(m - 1, -1, -1):
            s = t[k0 + q]
            for o in range(q + 1, m):
                s -= K[perm[i0 + o], k0 + q] * eta[perm[i0 + o]]
            eta[perm[i0 + q]] = s / K[perm[i0 + q], k0 + q]
        return
    w = np.zeros(m)
    for j in range(r):
        s = t[k0 + j]
        for o in range(j):
            s -= T[j, o] * w[o]
        w[j] = s / T[j, j]
    for j in range(r - 1, -1, -1):
        reflect(H[j], w, j, m, tau[j])
    for q in range(m):
        eta[perm[i0 + q]] = w[q]


@swift_kernel
def solve_lower(L: Any, first: int, count: int, rhs: Any, out: Any) -> None:
    """L c = rhs for the rows of a factor that begins at column `first`; c goes to out[first:first+count]."""
    for i in range(count):
        s = rhs[i]
        for j in range(i):
            s -= L[i, first + j] * out[first + j]
        out[first + i] = s / L[i, first + i]


@swift_kernel
def solve_upper(L: Any, first: int, count: int, t: Any, mu: Any) -> None:
    """L' mu = t[first:first+count]."""
    for i in range(count - 1, -1, -1):
        s = t[first + i]
        for o in range(i + 1, count):
            s -= L[o, first + i] * mu[o]
        mu[i] = s / L[i, first + i]
