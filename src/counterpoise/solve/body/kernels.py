"""The compiled core of the whole-body problem: a metric, a chain of levels, and an active set on two boxes.

In the variables (torque, multiplier) every inequality is a box, so clipping gives a feasible point at once, and the
rows held as equalities (root rows, torques at a limit) are rows of the mass matrix: always independent. Four ideas make
it fast, each one function below.

1. *Metric.* The last level |sqrt(w)(a - a_ref)|^2 + |A_e a - b_e|^2 is |u|^2 + constant in coordinates u about its own
   optimum: scale the columns, rotate the extra rows to the front (LQ), and scale that small block by R, R'R = I + L'L.
   From there on "solve the last level" means "take the shortest vector", which an LQ factorisation gives for nothing.
2. *Chain.* Once a tick the strict levels are reduced, one after another, to triangles of leading coordinates of u.
   While the equalities can be met by the coordinates the first `depth` levels leave free, those levels sit at their
   unconstrained optimum and drop out of the iteration altogether. Where they cannot, the chain is entered earlier.
3. *Cascade.* With a working set given: LQ of the equalities, then pivoted LQ of each remaining level in what is left,
   small least squares, shortest vector. Multipliers of the equalities follow by going back through the triangles.
4. *Active set.* Ratio test from the feasible point; a blocking bound joins the working set; after a full step levels
   are closed in order: steepest-edge pricing releases the worst bound, and where none is left the level's target is
   replaced by what was attained, which describes its optimal set exactly (a strictly convex function of A x).

Escande, Mansard, Wieber 2014 (hierarchical quadratic programming); de Lasa 2011, chapter 6.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import swift_kernel

RANK = 1e-13  # a row shorter than this part of its level's longest row is dependent
DEPTH = 1e-9  # equalities closer than this to dependence enter the chain one level earlier
PRICE = 1e-13  # multipliers below this part of the level's gradient are noise
ATTAINED = 1e-10  # a level is attained when its residual is below this part of 1 + |b|
FORCE_SLACK = 1e-7  # [N] by which a candidate's multiplier may pass its bound before it blocks
TORQUE_SLACK = 1e-9  # the same for torques, as part of the limit
SOUND = 1e-7  # a candidate that misses an equality by more than this came from a nearly singular system
STALL = 10  # steps of zero length before the first index is taken instead of the steepest
GAIN = 1e-9  # relative fall of a level's objective that counts as progress
PATIENCE = 3  # how often one bound may be released without progress

SOLVED, OUT_OF_STEPS, DEPENDENT, NOT_FINITE = 0, 1, 2, 3
# places in `stat`
STATUS, LEVEL, STEPS, ADDED, RELEASED, ZERO_STEPS, CASCADES, DEPTH_USED, STAT_SIZE = 0, 1, 2, 3, 4, 5, 6, 7, 8


# -- reflections ------------------------------------------------------------------------------------------------------
@swift_kernel
def _reflect(v: Array, row: Array, beta: float) -> None:
    """row -= beta (v . row) v"""
    s = 0.0
    for j in range(v.size):
        s += v[j] * row[j]
    s *= beta
    for j in range(v.size):
        row[j] -= s * v[j]


@swift_kernel
def _reflect3(v: Array, x: Array, y: Array, z: Array, beta: float) -> None:
    """Three rows at once: the reflector is read once for all."""
    a, b, c = 0.0, 0.0, 0.0
    for j in range(v.size):
        t = v[j]
        a += t * x[j]
        b += t * y[j]
        c += t * z[j]
    a *= beta
    b *= beta
    c *= beta
    for j in range(v.size):
        t = v[j]
        x[j] -= a * t
        y[j] -= b * t
        z[j] -= c * t


@swift_kernel
def _householder(row: Array, v: Array) -> float:
    """Reflector v, beta that turns `row` into (diagonal, 0, ..., 0); row is overwritten by that."""
    s = 0.0
    for j in range(1, row.size):
        s += row[j] * row[j]
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


@swift_kernel
def _rotate_rows(K: Array, first: int, last: int, V: Array, beta: Array, k0: int, k1: int, n: int) -> None:
    """Apply reflectors k0..k1 to rows first..last."""
    i = first
    while i + 3 <= last:
        for k in range(k0, k1):
            _reflect3(V[k, k:n], K[i, k:n], K[i + 1, k:n], K[i + 2, k:n], beta[k])
        i += 3
    while i < last:
        for k in range(k0, k1):
            _reflect(V[k, k:n], K[i, k:n], beta[k])
        i += 1


@swift_kernel
def _lq_pivoted(
    K: Array, order: Ints, i0: int, m: int, k0: int, n: int, V: Array, beta: Array, size: Array, now: Array, tol: float
) -> int:
    """Row-pivoted LQ of rows i0..i0+m from column k0: K[order[i], k0 + q] is lower trapezoidal; returns the rank.

    `size` holds the rows' full norms; `now` is scratch for squared norms of what is left, down-dated.
    """
    longest = 0.0
    for i in range(i0, i0 + m):
        order[i] = i
        longest = max(longest, size[i])
        s = 0.0
        for j in range(k0, n):
            s += K[i, j] * K[i, j]
        now[i] = s
    floor = (tol * longest) ** 2
    rank = 0
    while rank < m and k0 + rank < n:
        k = k0 + rank
        while True:
            best, at = -1.0, rank
            for q in range(rank, m):
                if now[order[i0 + q]] > best:
                    best, at = now[order[i0 + q]], q
            i = order[i0 + at]
            s = 0.0
            for j in range(k, n):
                s += K[i, j] * K[i, j]
            if s >= 0.25 * best or best <= floor:  # the down-dated norm can be trusted
                best = s
                break
            now[i] = s
        if best <= floor:
            break
        order[i0 + at] = order[i0 + rank]
        order[i0 + rank] = i
        b = _householder(K[i, k:n], V[k, k:n])
        beta[k] = b
        q = rank + 1
        while q + 3 <= m:
            x, y, z = order[i0 + q], order[i0 + q + 1], order[i0 + q + 2]
            _reflect3(V[k, k:n], K[x, k:n], K[y, k:n], K[z, k:n], b)
            now[x] = max(now[x] - K[x, k] * K[x, k], 0.0)
            now[y] = max(now[y] - K[y, k] * K[y, k], 0.0)
            now[z] = max(now[z] - K[z, k] * K[z, k], 0.0)
            q += 3
        while q < m:
            x = order[i0 + q]
            _reflect(V[k, k:n], K[x, k:n], b)
            now[x] = max(now[x] - K[x, k] * K[x, k], 0.0)
            q += 1
        rank += 1
    for q in range(rank, m):  # what is left is rounding
        for j in range(k0 + rank, n):
            K[order[i0 + q], j] = 0.0
    return rank


# -- the small least squares of one level ------------------------------------------------------------------------------
@swift_kernel
def _fit_trapezoid(
    K: Array, order: Ints, i0: int, m: int, k0: int, r: int, rhs: Array, y: Array, res: Array, R: Array, W: Array,
    beta: Array, w: Array,
) -> None:  # fmt: skip
    """y[k0:k0+r] = argmin |L y - rhs| with L = K[order[i0:i0+m], k0:k0+r]; res = L y - rhs by row.

    Square: forward substitution. Tall: Householder QR of L, kept in R (rows are columns of L) and W for multipliers;
    w is left holding Q' rhs.
    """
    if r == m:
        for q in range(m):
            i = order[i0 + q]
            s = rhs[i]
            for j in range(q):
                s -= K[i, k0 + j] * y[k0 + j]
            y[k0 + q] = s / K[i, k0 + q]
            res[i] = 0.0
        return
    for j in range(r):
        for q in range(m):
            R[j, q] = K[order[i0 + q], k0 + j]
    for q in range(m):
        w[q] = rhs[order[i0 + q]]
    for j in range(r):
        b = _householder(R[j, j:m], W[j, j:m])
        beta[j] = b
        for i in range(j + 1, r):
            _reflect(W[j, j:m], R[i, j:m], b)
        _reflect(W[j, j:m], w[j:m], b)
    for j in range(r - 1, -1, -1):
        s = w[j]
        for i in range(j + 1, r):
            s -= R[i, j] * y[k0 + i]
        y[k0 + j] = s / R[j, j]
    for q in range(m):
        res[order[i0 + q]] = 0.0 if q < r else -w[q]
    _apply_left(order, i0, m, r, W, beta, res)


@swift_kernel
def _apply_left(order: Ints, i0: int, m: int, r: int, W: Array, beta: Array, x: Array) -> None:
    """x[order] <- Q x[order], Q the product of the reflectors W."""
    for j in range(r - 1, -1, -1):
        s = 0.0
        for q in range(j, m):
            s += W[j, q] * x[order[i0 + q]]
        s *= beta[j]
        for q in range(j, m):
            x[order[i0 + q]] -= s * W[j, q]


@swift_kernel
def _back_trapezoid(
    K: Array, order: Ints, i0: int, m: int, k0: int, r: int, R: Array, W: Array, beta: Array, t: Array, eta: Array
) -> None:
    """eta (by row), in the range of L, with L' eta = t[k0:k0+r]."""
    if r == m:
        for q in range(m - 1, -1, -1):
            s = t[k0 + q]
            for p in range(q + 1, m):
                s -= K[order[i0 + p], k0 + q] * eta[order[i0 + p]]
            eta[order[i0 + q]] = s / K[order[i0 + q], k0 + q]
        return
    for j in range(r):
        s = t[k0 + j]
        for i in range(j):
            s -= R[j, i] * eta[order[i0 + i]]
        eta[order[i0 + j]] = s / R[j, j]
    for q in range(r, m):
        eta[order[i0 + q]] = 0.0
    _apply_left(order, i0, m, r, W, beta, eta)


# -- 1. metric ---------------------------------------------------------------------------------------------------------
@swift_kernel
def _make_metric(
    n: int, e: int, ne: int, scale: Array, a_ref: Array, A_e: Array, b_e: Array,
    B: Array, Ve: Array, beta: Array, X: Array, W: Array, w: Array, centre: Array,
) -> None:  # fmt: skip
    """Reflectors Ve that turn the scaled extra rows into L, R of [L; I] (rows of X are its columns), and the optimum.

    `centre` (ne,) is the last level's optimum in the rotated coordinates before R.
    """
    for i in range(e):
        s = b_e[i]
        for j in range(n):
            s -= A_e[i, j] * a_ref[j]
            B[i, j] = A_e[i, j] * scale[j]
        w[i] = s
    for i in range(ne):
        beta[i] = _householder(B[i, i:n], Ve[i, i:n])
        _rotate_rows(B, i + 1, e, Ve, beta, i, i + 1, n)
    rows = e + ne
    for j in range(ne):
        for i in range(e):
            X[j, i] = B[i, j]
        for i in range(e, rows):
            X[j, i] = 0.0
        X[j, e + j] = 1.0
    for i in range(e, rows):
        w[i] = 0.0
    for j in range(ne):
        b = _householder(X[j, j:rows], W[0, j:rows])
        for i in range(j + 1, ne):
            _reflect(W[0, j:rows], X[i, j:rows], b)
        _reflect(W[0, j:rows], w[j:rows], b)
    for j in range(ne - 1, -1, -1):
        s = w[j]
        for i in range(j + 1, ne):
            s -= X[i, j] * centre[i]
        centre[j] = s / X[j, j]


@swift_kernel
def _to_metric(
    K: Array, rhs: Array, size: Array, first: int, last: int, n: int, ne: int,
    scale: Array, a_ref: Array, Ve: Array, beta: Array, X: Array, centre: Array, w: Array,
) -> None:  # fmt: skip
    """Rows (and their right-hand sides) of accelerations -> rows of u; `size` receives their norms.

    The block scaled by R goes last: its columns are short, and a factorisation that meets long columns first (the
    root's, of little weight) keeps rounding small where it matters.
    """
    for i in range(first, last):
        s = rhs[i]
        for j in range(n):
            s -= K[i, j] * a_ref[j]
        rhs[i] = s
        for j in range(n):
            K[i, j] *= scale[j]
    if ne > 0:
        _rotate_rows(K, first, last, Ve, beta, 0, ne, n)
        for i in range(first, last):
            s = rhs[i]
            for j in range(ne):
                s -= K[i, j] * centre[j]
            rhs[i] = s
            for j in range(ne):
                s = K[i, j]
                for q in range(j):
                    s -= X[j, q] * w[q]
                w[j] = s / X[j, j]
            for j in range(n - ne):
                K[i, j] = K[i, j + ne]
            for j in range(ne):
                K[i, n - ne + j] = w[j]
    for i in range(first, last):
        s = 0.0
        for j in range(n):
            s += K[i, j] * K[i, j]
        size[i] = np.sqrt(s)


@swift_kernel
def _from_metric(
    u: Array, n: int, ne: int, scale: Array, a_ref: Array, Ve: Array, beta: Array, X: Array, centre: Array, w: Array,
    a: Array,
) -> None:  # fmt: skip
    """u -> accelerations; u is overwritten."""
    for j in range(ne - 1, -1, -1):
        s = u[n - ne + j]
        for i in range(j + 1, ne):
            s -= X[i, j] * w[i]
        w[j] = s / X[j, j]
    if ne > 0:
        for j in range(n - 1, ne - 1, -1):
            u[j] = u[j - ne]
        for j in range(ne):
            u[j] = w[j] + centre[j]
    for k in range(ne - 1, -1, -1):
        _reflect(Ve[k, k:n], u[k:n], beta[k])
    for j in range(n):
        a[j] = a_ref[j] + scale[j] * u[j]


# -- 3. cascade --------------------------------------------------------------------------------------------------------
@swift_kernel
def _cascade(
    K: Array, rhs: Array, size: Array, nE: int, first: int, count: int, ks: Ints, n: int, tol: float, rank_tol: float,
    V: Array, beta: Array, order: Ints, now: Array, y: Array, w: Array, res: Array, rank: Ints,
    R: Array, W: Array, tau: Array, ls: Array,
) -> bool:  # fmt: skip
    """Lexicographic least squares with equality rows 0..nE, then levels first..count with rows ks[l]..ks[l + 1].

    Leaves K in triangles, y the coordinates, w the shortest vector, res the levels' residuals. False where the
    equalities are dependent to `tol`.
    """
    if nE > n:
        return False
    for i in range(nE):
        beta[i] = _householder(K[i, i:n], V[i, i:n])
        if abs(K[i, i]) <= tol * size[i]:
            return False
        _rotate_rows(K, i + 1, nE, V, beta, i, i + 1, n)
    for i in range(nE):
        s = rhs[i]
        for j in range(i):
            s -= K[i, j] * y[j]
        y[i] = s / K[i, i]
    k = nE
    for l in range(first, count):
        i0, m = ks[l], ks[l + 1] - ks[l]
        _rotate_rows(K, i0, i0 + m, V, beta, 0, k, n)
        r = _lq_pivoted(K, order, i0, m, k, n, V, beta, size, now, rank_tol)
        rank[l] = r
        for i in range(i0, i0 + m):
            s = rhs[i]
            for j in range(k):
                s -= K[i, j] * y[j]
            ls[i] = s
        if r > 0:
            _fit_trapezoid(K, order, i0, m, k, r, ls, y, res, R[i0:], W[i0:], tau[i0:], now)
        else:
            for i in range(i0, i0 + m):
                res[i] = -ls[i]
        k += r
    for j in range(k):
        w[j] = y[j]
    for j in range(k, n):
        w[j] = 0.0
    for q in range(k - 1, -1, -1):
        _reflect(V[q, q:n], w[q:n], beta[q])
    return True


@swift_kernel
def _multipliers(
    K: Array, nE: int, first: int, level: int, count: int, ks: Ints, order: Ints, y: Array, res: Array, rank: Ints,
    R: Array, W: Array, tau: Array, t: Array, eta: Array, mu: Array,
) -> None:  # fmt: skip
    """mu (nE,): how fast the optimum of `level` (count: the last one) changes with the equalities' right-hand sides."""
    k = nE
    for l in range(first, level):
        k += rank[l]
    if level < count:
        for j in range(k):
            t[j] = 0.0
        for i in range(ks[level], ks[level + 1]):
            for j in range(k):
                t[j] += K[i, j] * res[i]
    else:
        for j in range(k):
            t[j] = y[j]
    for l in range(level - 1, first - 1, -1):
        i0, m, r = ks[l], ks[l + 1] - ks[l], rank[l]
        k -= r
        if r > 0:
            _back_trapezoid(K, order, i0, m, k, r, R[i0:], W[i0:], tau[i0:], t, eta)
            for i in range(i0, i0 + m):
                for j in range(k):
                    t[j] -= K[i, j] * eta[i]
    for i in range(nE - 1, -1, -1):
        s = t[i]
        for q in range(i + 1, nE):
            s -= K[q, i] * mu[q]
        mu[i] = s / K[i, i]


@swift_kernel
def _finite(x: Array) -> bool:
    s = 0.0
    for i in range(x.size):
        s += x[i] * 0.0
    return s == 0.0


@swift_kernel
def _carve(work: Array, at: int, rows: int, columns: int) -> tuple[Array, int]:
    return work[at : at + rows * columns].reshape(rows, columns), at + rows * columns


@swift_kernel
def work_size(n: int, k: int, m: int, e: int) -> int:
    """Numbers of scratch that `solve_core` needs for n dofs, k multipliers, m strict rows and e extra rows."""
    ne, columns, rows = min(e, n), n + k, n + m
    square = e * n + ne * n + ne * (e + ne) + n * n + m * n + n * n + rows * columns + columns * columns + 2 * rows * m
    return square + 2 * ne + 2 * (e + ne) + 12 * n + 12 * rows + 12 * columns + 4 * k


@swift_kernel
def _solve_mass(M: Array, n: int, L: Array, x: Array) -> None:
    """x <- M^-1 x by Cholesky."""
    for j in range(n):
        s = M[j, j]
        for q in range(j):
            s -= L[j, q] * L[j, q]
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            s = M[i, j]
            for q in range(j):
                s -= L[i, q] * L[j, q]
            L[i, j] = s / L[j, j]
    for i in range(n):
        s = x[i]
        for q in range(i):
            s -= L[i, q] * x[q]
        x[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for q in range(i + 1, n):
            s -= L[q, i] * x[q]
        x[i] = s / L[i, i]


# -- 4. active set -----------------------------------------------------------------------------------------------------
@swift_kernel
def solve_core(
    M: Array, h: Array, root: int, G: Array, force_limit: Array, torque_low: Array, torque_high: Array,
    A: Array, b: Array, starts: Ints, weight: Array, a_ref: Array, A_e: Array, b_e: Array, force_weight: float,
    share: float, level_rank: float, max_steps: int, held: Ints, point: Array, work: Array, iwork: Ints, out: Array,
    stat: Ints,
) -> None:  # fmt: skip
    """One tick. `held` (k + n + 1) and `point` (k + n) are the memory, changed in place.

    held: -1 at the lower bound, 1 at the upper, 0 free, -2 off (no contact); the last entry is the depth of the chain.
    point: a box-feasible (multiplier, torque). out: a (n), multipliers (k), torque (n), residual of each level (p + 1).
    `share` [N] is the multiplier a contact edge starts from when it appears.
    """
    n, k, m, p, e = len(h), len(force_limit), len(b), len(starts) - 1, len(b_e)
    ne, columns, rows = min(e, n), n + k, n + m
    for i in range(STAT_SIZE):
        stat[i] = 0
    a, lam, tq, residual = out[:n], out[n : n + k], out[n + k : n + k + n], out[n + k + n :]
    # scratch
    B, at = _carve(work, 0, e, n)
    Ve, at = _carve(work, at, ne, n)
    X, at = _carve(work, at, ne, e + ne)
    V, at = _carve(work, at, n, n)
    P, at = _carve(work, at, m, n)
    D, at = _carve(work, at, n, n)
    K, at = _carve(work, at, rows, columns)
    U, at = _carve(work, at, columns, columns)
    R, at = _carve(work, at, rows, m)
    W, at = _carve(work, at, rows, m)
    We, at = _carve(work, at, 1, e + ne)
    beta_e, at = work[at : at + ne], at + ne
    centre, at = work[at : at + ne], at + ne
    wide, at = work[at : at + e + ne], at + e + ne
    scale, at = work[at : at + n], at + n
    beta, at = work[at : at + n], at + n
    chain, at = work[at : at + n], at + n
    dyn, at = work[at : at + n], at + n
    dyn_size, at = work[at : at + n], at + n
    u, at = work[at : at + n], at + n
    price_t, at = work[at : at + n], at + n
    target, at = work[at : at + rows], at + rows
    size, at = work[at : at + rows], at + rows
    now, at = work[at : at + rows], at + rows
    res, at = work[at : at + rows], at + rows
    fit_beta, at = work[at : at + rows], at + rows
    rhs, at = work[at : at + rows], at + rows
    row_size, at = work[at : at + rows], at + rows
    lower, at = work[at : at + rows], at + rows
    eta, at = work[at : at + rows], at + rows
    mu, at = work[at : at + rows], at + rows
    edge, at = work[at : at + rows], at + rows
    y, at = work[at : at + columns], at + columns
    w, at = work[at : at + columns], at + columns
    t, at = work[at : at + columns], at + columns
    ubeta, at = work[at : at + columns], at + columns
    price_l, at = work[at : at + k], at + k
    order, free = iwork[:rows], iwork[rows : rows + k]
    row_of, slot = iwork[rows + k : rows + k + n], iwork[rows + k + n : rows + k + 2 * n]
    lock_l, lock_t = iwork[rows + k + 2 * n : rows + 2 * k + 2 * n], iwork[rows + 2 * k + 2 * n : rows + 2 * k + 3 * n]
    o = rows + 2 * k + 3 * n
    tried, o = iwork[o : o + k + n], o + k + n
    reach, o = iwork[o : o + n], o + n
    count, place, ks, rank, corner = (
        iwork[o : o + p], iwork[o + p : o + 2 * p], iwork[o + 2 * p : o + 3 * p + 1],
        iwork[o + 3 * p + 1 : o + 4 * p + 1], iwork[o + 4 * p + 1 : o + 5 * p + 2],
    )  # fmt: skip

    # memory -> a feasible point on its working set
    for i in range(k):
        s, top = held[i], force_limit[i]
        lock_l[i] = 0
        if top <= 0.0:
            held[i], lock_l[i], point[i] = -2, 3, 0.0
        elif s == -2:
            held[i], point[i] = 0, min(share, top)
        elif s == -1:
            point[i] = 0.0
        elif s == 1 and top < np.inf:
            point[i] = top
        else:
            held[i], point[i] = 0, min(max(point[i], 0.0), top)
    for j in range(root, n):
        s, low, high = held[k + j], torque_low[j - root], torque_high[j - root]
        lock_t[j] = 0
        if high - low <= 0.0:
            held[k + j], lock_t[j], point[k + j] = -1, 3, low
        elif s == -1 and low > -np.inf:
            point[k + j] = low
        elif s == 1 and high < np.inf:
            point[k + j] = high
        else:
            held[k + j], point[k + j] = 0, min(max(point[k + j], low), high)

    ok = _finite(M.reshape(n * n)) and _finite(h) and _finite(G.reshape(n * k)) and _finite(A.reshape(m * n))
    if not (ok and _finite(b) and _finite(weight) and _finite(a_ref) and _finite(A_e.reshape(e * n)) and _finite(b_e)):
        stat[STATUS] = NOT_FINITE
        return

    # metric and chain
    for j in range(n):
        scale[j] = 1.0 / np.sqrt(weight[j])
        chain[j] = 0.0
    dl = 1.0 / np.sqrt(force_weight)
    _make_metric(n, e, ne, scale, a_ref, A_e, b_e, B, Ve, beta_e, X, We, wide, centre)
    used, corner[0] = 0, 0
    for l in range(p):
        i0, ml = starts[l], starts[l + 1] - starts[l]
        for i in range(i0, i0 + ml):
            target[i] = b[i]
            for j in range(n):
                P[i, j] = A[i, j]
        _to_metric(P, target, size, i0, i0 + ml, n, ne, scale, a_ref, Ve, beta_e, X, centre, wide)
        _rotate_rows(P, i0, i0 + ml, V, beta, 0, used, n)
        r = _lq_pivoted(P, order, i0, ml, used, n, V, beta, size, now, level_rank)
        for i in range(i0, i0 + ml):
            s = target[i]
            for j in range(used):
                s -= P[i, j] * chain[j]
            lower[i] = s
        if r > 0:
            _fit_trapezoid(P, order, i0, ml, used, r, lower, chain, res, R, W, fit_beta, now)
        place[l], count[l] = i0, ml
        if l == 0 and r < ml:  # the first level shrinks to its r independent rows, exactly
            for q in range(r):
                s = 0.0
                for j in range(n):
                    P[i0 + q, j] = R[j, q] if q <= j < r else 0.0
                    s += P[i0 + q, j] ** 2
                target[i0 + q], size[i0 + q] = now[q], np.sqrt(s)
            count[l] = r
        used += r
        corner[l + 1] = used
    for j in range(n):
        slot[j] = -1
    met, turned = 0, used  # rows of M rotated so far; coordinates beyond `turned` are zero in all of them

    deepest = p  # how far into the chain the cascade may still begin
    depth = min(max(held[k + n], 0) + 1, deepest)
    phase, steps, zero, status, best = 0, 0, 0, OUT_OF_STEPS, np.inf
    for i in range(k + n):
        tried[i] = 0
    left, left_side = -1, 0  # what was released last, and from which side
    while steps < max_steps:
        steps += 1
        # rows held as equalities, rotated when first met
        nF = 0
        for i in range(k):
            if held[i] == 0:
                free[nF] = i
                nF += 1
        nE = root
        for j in range(root):
            row_of[j] = j
        for j in range(root, n):
            if held[k + j] != 0:
                row_of[nE] = j
                nE += 1
        fresh = met
        for q in range(nE):
            i = row_of[q]
            if slot[i] < 0:
                slot[i], dyn[met] = met, -h[i]
                for j in range(n):
                    D[met, j] = M[i, j]
                met += 1
        if met > fresh:
            _to_metric(D, dyn, dyn_size, fresh, met, n, ne, scale, a_ref, Ve, beta_e, X, centre, wide)
            _rotate_rows(D, fresh, met, V, beta, 0, turned, n)
            for i in range(fresh, met):  # one reflector each: beyond it all rows met so far are zero
                if turned < n:
                    beta[turned] = _householder(D[i, turned:n], V[turned, turned:n])
                    turned += 1
                    _rotate_rows(D, i + 1, met, V, beta, turned - 1, turned, n)
                reach[i] = turned
        # the cascade, from as deep in the chain as the equalities allow
        tol, ok = RANK, False
        while not ok:
            c0 = corner[depth]
            nc = turned - c0
            ncol = nc + nF
            for q in range(nE):
                i, d = row_of[q], slot[row_of[q]]
                s, norm2 = dyn[d], dyn_size[d] * dyn_size[d]
                if i >= root:
                    s += point[k + i]
                for j in range(c0):
                    s -= D[d, j] * chain[j]
                last = reach[d] - c0
                for j in range(last):
                    K[q, j] = D[d, c0 + j]
                for j in range(last, nc):
                    K[q, j] = 0.0
                for j in range(nF):
                    v = -G[i, free[j]] * dl
                    K[q, nc + j] = v
                    norm2 += v * v
                for j in range(k):
                    if held[j] == 1:
                        s += G[i, j] * point[j]
                rhs[q], row_size[q] = s, np.sqrt(norm2)
            row = nE
            for l in range(depth, p):
                ks[l] = row
                for i in range(place[l], place[l] + count[l]):
                    s = target[i]
                    for j in range(c0):
                        s -= P[i, j] * chain[j]
                    last = corner[l + 1] - c0
                    for j in range(last):
                        K[row, j] = P[i, c0 + j]
                    for j in range(last, ncol):
                        K[row, j] = 0.0
                    rhs[row], row_size[row] = s, size[i]
                    row += 1
            ks[p] = row
            stat[CASCADES] += 1
            ok = _cascade(
                K, rhs, row_size, nE, depth, p, ks, ncol, DEPTH if depth > 0 else RANK, tol,
                U, ubeta, order, now, y, w, res, rank, R, W, fit_beta, lower,
            )  # fmt: skip
            if ok:  # the candidate; sound when it meets the equalities
                for j in range(c0):
                    u[j] = chain[j]
                for j in range(nc):
                    u[c0 + j] = w[j]
                for j in range(turned, n):
                    u[j] = 0.0
                for q in range(turned - 1, -1, -1):
                    _reflect(V[q, q:n], u[q:n], beta[q])
                _from_metric(u, n, ne, scale, a_ref, Ve, beta_e, X, centre, wide, a)
                for i in range(k):
                    lam[i] = point[i]
                for j in range(nF):
                    lam[free[j]] = w[nc + j] * dl
                for i in range(n):
                    s = h[i]
                    for j in range(n):
                        s += M[i, j] * a[j]
                    for j in range(k):
                        s -= G[i, j] * lam[j]
                    tq[i] = s
                sound = True
                for q in range(nE):
                    i = row_of[q]
                    v = point[k + i] if i >= root else 0.0
                    if not abs(tq[i] - v) <= SOUND * (1.0 + abs(v) + abs(h[i])):
                        sound = False
                ok = sound or depth == 0
            if not ok:
                if depth == 0:
                    break
                depth -= 1
        if not ok:
            status = DEPENDENT
            break
        # ratio test from the feasible point
        step, block, side = 1.0, -1, 0
        for j in range(nF):
            i = free[j]
            v = lam[i]
            if v < -FORCE_SLACK:
                r_ = point[i] / (point[i] - v)
                if r_ < step:
                    step, block, side = r_, i, -1
            elif v > force_limit[i] + FORCE_SLACK:
                r_ = (force_limit[i] - point[i]) / (v - point[i])
                if r_ < step:
                    step, block, side = r_, i, 1
        for j in range(root, n):
            if held[k + j] == 0:
                v, low, high = tq[j], torque_low[j - root], torque_high[j - root]
                if v < low - TORQUE_SLACK * (1.0 + abs(low)):
                    r_ = (point[k + j] - low) / (point[k + j] - v)
                    if r_ < step:
                        step, block, side = r_, k + j, -1
                elif v > high + TORQUE_SLACK * (1.0 + abs(high)):
                    r_ = (high - point[k + j]) / (v - point[k + j])
                    if r_ < step:
                        step, block, side = r_, k + j, 1
        step = max(step, 0.0)
        for i in range(k):
            if held[i] == 0:
                point[i] = min(max(point[i] + step * (lam[i] - point[i]), 0.0), force_limit[i])
        for j in range(root, n):
            if held[k + j] == 0:
                v = point[k + j] + step * (tq[j] - point[k + j])
                point[k + j] = min(max(v, torque_low[j - root]), torque_high[j - root])
        if block >= 0:
            if step < 1e-12:
                zero += 1
                stat[ZERO_STEPS] += 1
            else:
                zero = 0
            held[block] = side
            if block < k:
                point[block] = 0.0 if side < 0 else force_limit[block]
            else:
                j = block - k - root
                point[block] = torque_low[j] if side < 0 else torque_high[j]
            if block == left and side == left_side:  # released and blocked at once: its multiplier was noise
                if block < k:
                    lock_l[block] = 2
                else:
                    lock_t[block - k] = 2
            left = -1
            stat[ADDED] += 1
            continue
        # a full step: close levels in order, as far as the multipliers allow
        released = False
        while phase <= p and not released:
            settled = phase < depth
            if not settled and phase < p:
                worst, far = 0.0, 0.0
                for i in range(ks[phase], ks[phase] + count[phase]):
                    worst = max(worst, abs(res[i]))
                for i in range(place[phase], place[phase] + count[phase]):
                    far = max(far, abs(target[i]))
                settled = worst <= ATTAINED * (1.0 + far)
            if not settled:
                _multipliers(
                    K, nE, depth, phase, p, ks, order, y, res, rank, R, W, fit_beta, t, eta, mu
                )  # fmt: skip
                grad = 0.0
                if phase == p:
                    for j in range(ncol):
                        grad += w[j] * w[j]
                else:
                    for i in range(ks[phase], ks[phase] + count[phase]):
                        grad += (res[i] * row_size[i]) ** 2
                noise = PRICE * np.sqrt(grad) + 1e-300
                value = 0.0
                if phase == p:
                    value = grad
                    for j in range(c0):
                        value += chain[j] * chain[j]
                else:
                    for i in range(ks[phase], ks[phase] + count[phase]):
                        value += res[i] * res[i]
                if value < (1.0 - GAIN) * best:
                    best = value
                    for i in range(k + n):
                        tried[i] = 0
                worst, at_bound = 0.0, -1
                for i in range(k):
                    price_l[i] = 0.0
                    if held[i] != 0 and lock_l[i] == 0 and (phase < p or tried[i] < PATIENCE):
                        g = 0.0
                        for q in range(nE):
                            g += G[row_of[q], i] * mu[q]
                        if phase == p:
                            g += force_weight * point[i]
                        g *= -held[i]
                        if phase < p or (g < 0.0 and not (zero > STALL and at_bound >= 0)):
                            norm2 = force_weight
                            for q in range(nE):
                                v = G[row_of[q], i]
                                for j in range(q):
                                    v -= K[q, j] * edge[j]
                                v /= K[q, q]
                                edge[q] = v
                                norm2 += v * v
                            g /= np.sqrt(norm2)
                            price_l[i] = g
                            if g < -noise and g < worst and tried[i] < PATIENCE:
                                worst, at_bound = g, i
                for q in range(root, nE):
                    j_ = row_of[q]
                    price_t[j_] = 0.0
                    if lock_t[j_] == 0 and (phase < p or tried[k + j_] < PATIENCE):
                        g = -mu[q] * held[k + j_]
                        if phase < p or (g < 0.0 and not (zero > STALL and at_bound >= 0)):
                            norm2 = 0.0
                            for i in range(q, nE):
                                v = 1.0 if i == q else 0.0
                                for j in range(q, i):
                                    v -= K[i, j] * edge[j]
                                v /= K[i, i]
                                edge[i] = v
                                norm2 += v * v
                            g /= np.sqrt(norm2)
                            price_t[j_] = g
                            if g < -noise and g < worst and tried[k + j_] < PATIENCE:
                                worst, at_bound = g, k + j_
                if at_bound >= 0:
                    left, left_side = at_bound, held[at_bound]
                    held[at_bound] = 0
                    tried[at_bound] += 1
                    released = True
                    stat[RELEASED] += 1
                    break
                if phase < p:  # bounds that hold this level stay for good
                    for i in range(k):
                        if price_l[i] > noise:
                            lock_l[i] = 1
                    for q in range(root, nE):
                        if price_t[row_of[q]] > noise:
                            lock_t[row_of[q]] = 1
            if phase >= depth and phase < p:
                for i in range(count[phase]):
                    target[place[phase] + i] += res[ks[phase] + i]
                if not settled:
                    deepest = phase if phase < deepest else deepest
            phase, best = phase + 1, np.inf
            for i in range(k + n):
                tried[i] = 0
            for i in range(k):
                if lock_l[i] == 2:
                    lock_l[i] = 0
            for j in range(root, n):
                if lock_t[j] == 2:
                    lock_t[j] = 0
        if not released:
            status = SOLVED
            break
        depth = min(depth + 1, deepest)
    stat[STATUS], stat[LEVEL], stat[STEPS], stat[DEPTH_USED] = status, min(phase, p), steps, depth
    held[k + n] = depth
    if status == SOLVED:
        for i in range(k):
            lam[i] = min(max(lam[i], 0.0), force_limit[i])
        for j in range(root, n):
            tq[j] = min(max(tq[j], torque_low[j - root]), torque_high[j - root])
    else:  # the feasible point, and what it does
        for i in range(k):
            lam[i] = point[i]
        for j in range(n):
            tq[j] = point[k + j] if j >= root else 0.0
        for i in range(n):
            s = tq[i] - h[i]
            for j in range(k):
                s += G[i, j] * lam[j]
            a[i] = s
        _solve_mass(M, n, D, a)
    for j in range(root):
        tq[j] = 0.0
    for l in range(p):
        s = 0.0
        for i in range(starts[l], starts[l + 1]):
            v = -b[i]
            for j in range(n):
                v += A[i, j] * a[j]
            s += v * v
        residual[l] = np.sqrt(s)
    s = 0.0
    for j in range(n):
        s += weight[j] * (a[j] - a_ref[j]) ** 2
    for i in range(e):
        v = -b_e[i]
        for j in range(n):
            v += A_e[i, j] * a[j]
        s += v * v
    for i in range(k):
        s += force_weight * lam[i] * lam[i]
    residual[p] = np.sqrt(s)
