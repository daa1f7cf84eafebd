"""Kernels of the strict hierarchy: scaling, the hierarchy on a given working set, and guessing that set.

All is in scaled variables, constraint rows of unit length. Signs in here: the gradient of a level is sum_i mu_i c_i, so
mu >= 0 at a low end (side -1) and mu <= 0 at a high end (+1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.kernels import swift_kernel
from counterpoise.solve.orthogonal import (
    append_row,
    fit,
    fit_transposed,
    pivoted_lq,
    reflect_back,
    reflect_forth,
    reflect_rows,
)

ATTAINED = 1e-11  # relative residual that counts as zero
PRICE = 1e-10  # relative multiplier that counts as negative
LOCK = 1e-9  # relative multiplier that counts as positive
ROUNDING = 1e-4  # share of its terms that counts as the size of a residual: times PRICE, still above rounding
SLACK = 1e-11  # relative violation that counts as none


# -- scaling ----------------------------------------------------------------------------------------------------------
@swift_kernel
def scale_columns(A: Any, G: Any, d: Any) -> bool:
    """Powers of two d so that A diag(d), G diag(d) have columns of like size among rows of like size; False: all one.

    First by the largest entries, then by geometric means (Curtis & Reid 1972), which find the units of sparse rows too.
    Entries that are nothing beside the rest of their row have no say; a spread below 2^10 is left as it is.
    """
    n = A.shape[1]
    m = A.shape[0] + G.shape[0]
    for j in range(n):
        d[j] = 1.0
    wide = False
    for i in range(m):
        row = A[i] if i < A.shape[0] else G[i - A.shape[0]]
        top, least = 0.0, np.inf
        for j in range(n):
            top = max(top, abs(row[j]))
        for j in range(n):
            if abs(row[j]) > 1e-13 * top:
                least = min(least, abs(row[j]))
        wide = wide or top > 1e4 * least
    if not wide:
        return False
    for _ in range(3):
        big = np.zeros(n)
        for i in range(m):
            row = A[i] if i < A.shape[0] else G[i - A.shape[0]]
            top = 0.0
            for j in range(n):
                top = max(top, abs(row[j]) * d[j])
            if top > 0.0:
                for j in range(n):
                    big[j] = max(big[j], abs(row[j]) * d[j] / top)
        for j in range(n):
            if big[j] > 0.0:
                d[j] /= big[j]
    logs = np.zeros((m, n))
    there = np.zeros((m, n), np.bool_)
    r, c = np.zeros(m), np.zeros(n)
    for i in range(m):
        row = A[i] if i < A.shape[0] else G[i - A.shape[0]]
        top = 0.0
        for j in range(n):
            top = max(top, abs(row[j]) * d[j])
        for j in range(n):
            if abs(row[j]) * d[j] > 1e-13 * top:
                there[i, j] = True
                logs[i, j] = np.log2(abs(row[j]) * d[j])
    for _ in range(30):
        for i in range(m):
            s, k = 0.0, 0
            for j in range(n):
                if there[i, j]:
                    s += logs[i, j] + c[j]
                    k += 1
            r[i] = s / max(k, 1)
        for j in range(n):
            s, k = 0.0, 0
            for i in range(m):
                if there[i, j]:
                    s += logs[i, j] - r[i]
                    k += 1
            c[j] = -s / max(k, 1)
    low, high = np.inf, -np.inf
    for j in range(n):
        c[j] += np.log2(d[j])
        low, high = min(low, c[j]), max(high, c[j])
    for j in range(n):
        d[j] = 2.0 ** np.round(c[j]) if high - low > 10.0 else 1.0
    return high - low > 10.0


@swift_kernel
def scale_problem(
    A: Any, G: Any, low: Any, high: Any, lower: Any, upper: Any, d: Any, As: Any, size: Any, C: Any, lo: Any, hi: Any,
    length: Any,
) -> None:  # fmt: skip
    """As = A diag(d), its row lengths `size`; C = G diag(d) at unit length; ends lo, hi of bounds, then rows."""
    M, n = A.shape
    for i in range(M):
        s = 0.0
        for j in range(n):
            v = A[i, j] * d[j]
            As[i, j] = v
            s += v * v
        size[i] = np.sqrt(s)
    for j in range(n):
        lo[j] = lower[j] / d[j]
        hi[j] = upper[j] / d[j]
    for i in range(G.shape[0]):
        s = 0.0
        for j in range(n):
            v = G[i, j] * d[j]
            C[i, j] = v
            s += v * v
        s = np.sqrt(s)
        length[i] = s
        f = 1.0 / s if s > 0.0 else 0.0
        for j in range(n):
            C[i, j] *= f
        lo[n + i] = low[i] * f if s > 0.0 else -np.inf
        hi[n + i] = high[i] * f if s > 0.0 else np.inf


# -- the hierarchy on a given working set -----------------------------------------------------------------------------
@swift_kernel
def settle(
    A: Any, b: Any, ends: Any, size: Any, C: Any, lo: Any, hi: Any, d: Any, near: Any, plain: bool,
    sides: Any, y: Any, mu: Any, grade: Any, residual: Any, K: Any, V: Any, beta: Any, T: Any, H: Any, tau: Any,
) -> int:  # fmt: skip
    """Lexicographic least squares, the working set `sides` held as equalities: one LQ of [working rows; A_1; A_2; ...].

    Fills y, the multipliers mu (levels + 1, constraints) and the size `grade` of each level's gradient. Working rows
    that depend on others leave the set. Returns the rank.
    """
    n = A.shape[1]
    m = C.shape[0]
    N = len(ends) - 1
    M = A.shape[0]
    F = np.empty(n, np.int64)
    nf = 0
    for j in range(n):
        if sides[j] == 0:
            F[nf] = j
            nf += 1
            y[j] = 0.0
        else:
            y[j] = lo[j] if sides[j] < 0 else hi[j]
    # working rows: equalities first
    W = np.empty(m, np.int64)
    c = np.zeros(n)
    nw = 0
    gather = np.empty(n)
    for turn in range(2):
        for i in range(m):
            if sides[n + i] == 0 or (lo[n + i] == hi[n + i]) != (turn == 0):
                continue
            rhs = lo[n + i] if sides[n + i] < 0 else hi[n + i]
            for j in range(nf):
                gather[j] = C[i, F[j]]
            for j in range(n):
                if sides[j] != 0:
                    rhs -= C[i, j] * y[j]
            if nw < nf and append_row(gather, K, V, beta, nw, 0, nf, 1.0):
                for j in range(nw):
                    rhs -= K[nw, j] * c[j]
                c[nw] = rhs / K[nw, nw]
                W[nw] = i
                nw += 1
            elif lo[n + i] != hi[n + i]:
                sides[n + i] = 0
    # levels
    k = nw
    perm = np.empty(m + M, np.int64)
    full = np.empty(m + M)
    left = np.empty(m + M)
    right = np.zeros(m + M)
    eta = np.zeros(m + M)
    start = np.zeros(N + 1, np.int64)
    rank = np.zeros(N + 1, np.int64)
    for l in range(N):
        start[l] = k
        i0, i1 = ends[l], ends[l + 1]
        if k == nf or i1 == i0:
            continue
        for i in range(i0, i1):
            row = K[m + i]
            rhs = b[i]
            for j in range(nf):
                row[j] = A[i, F[j]]
            for j in range(n):
                if sides[j] != 0:
                    rhs -= A[i, j] * y[j]
            right[m + i] = rhs
            full[m + i] = size[i]
        reflect_rows(K, m + i0, m + i1, V, beta, 0, k, nf)
        for i in range(m + i0, m + i1):
            for j in range(k):
                right[i] -= K[i, j] * c[j]
        r = pivoted_lq(K, m + i0, m + i1, k, nf, V, beta, perm, full, left)
        rank[l] = r
        if r > 0:
            fit(K, perm, m + i0, i1 - i0, k, r, right, c, T[l], H[l], tau[l])
        k += r
    start[N] = k
    # what is left goes as near to `near` as it can
    t = np.empty(n)
    if k < nf:
        if plain:
            for j in range(nf):
                t[j] = near[F[j]]
            reflect_forth(t, V, beta, 0, k, nf)
            for j in range(k, nf):
                c[j] = t[j]
            for j in range(nf):
                t[j] = c[j]
        else:
            free = nf - k
            B = np.zeros((nf, nf))
            rhs_ = np.empty(nf)
            order = np.empty(nf, np.int64)
            own = np.empty(nf)
            spare = np.empty(nf)
            V2 = np.zeros((nf, nf))
            beta2 = np.zeros(nf)
            for i in range(nf):
                B[i, i] = d[F[i]]
                own[i] = d[F[i]] * 1e-6
                reflect_forth(B[i], V, beta, 0, k, nf)
                s = near[F[i]]
                for j in range(k):
                    s -= B[i, j] * c[j]
                rhs_[i] = s
            r = pivoted_lq(B, 0, nf, k, nf, V2, beta2, order, own, spare)
            T2, H2, tau2 = np.zeros((free, nf)), np.zeros((free, nf)), np.zeros(free)
            fit(B, order, 0, nf, k, r, rhs_, c, T2, H2, tau2)
            for j in range(nf):
                t[j] = c[j]
            reflect_back(t, V2, beta2, k, k + r, nf)
    else:
        for j in range(nf):
            t[j] = c[j]
    reflect_back(t, V, beta, 0, k, nf)
    for j in range(nf):
        y[F[j]] = t[j]
    # multipliers, level by level
    g = np.empty(n)
    terms = np.empty(M)
    for l in range(N + 1):
        for i in range(n + m):
            mu[l, i] = 0.0
        for j in range(n):
            g[j] = 0.0
        grade[l] = 0.0
        if l < N:
            big, all_, here = 0.0, 0.0, 0.0
            for i in range(ends[l], ends[l + 1]):
                s, a = -b[i], abs(b[i])
                for j in range(n):
                    v = A[i, j] * y[j]
                    s += v
                    a += abs(v)
                residual[i] = s
                terms[i] = abs(s) + ROUNDING * a
                here += s * s
                all_ += a * a
            if here <= (ATTAINED * ATTAINED) * all_:
                continue
            t2 = np.zeros(n)
            for i in range(ends[l], ends[l + 1]):
                for j in range(n):
                    g[j] += A[i, j] * residual[i]
                    t2[j] += abs(A[i, j]) * terms[i]
            for j in range(n):
                big = max(big, t2[j])
            grade[l] = big
        else:
            big = 0.0
            for j in range(n):
                g[j] = d[j] * (d[j] * y[j] - near[j])
                big = max(big, d[j] * (abs(d[j] * y[j]) + abs(near[j])))
            grade[l] = big
        for j in range(nf):
            t[j] = g[F[j]]
        reflect_forth(t, V, beta, 0, start[l], nf)
        for q in range(l - 1, -1, -1):
            r = rank[q]
            if r == 0:
                continue
            i0, i1, kq = m + ends[q], m + ends[q + 1], start[q]
            fit_transposed(K, perm, i0, i1 - i0, kq, r, t, T[q], H[q], tau[q], eta)
            for i in range(i0, i1):
                e = eta[i]
                if e != 0.0:
                    for j in range(kq):
                        t[j] -= K[i, j] * e
                    for j in range(n):
                        g[j] -= A[i - m, j] * e
        for i in range(nw - 1, -1, -1):
            s = t[i]
            for o in range(i + 1, nw):
                s -= K[o, i] * mu[l, n + W[o]]
            s /= K[i, i]
            mu[l, n + W[i]] = s
            for j in range(n):
                g[j] -= C[W[i], j] * s
        for j in range(n):
            if sides[j] != 0:
                mu[l, j] = g[j]
    return k


@swift_kernel
def judge(C: Any, lo: Any, hi: Any, y: Any, sides: Any, mu: Any, grade: Any, change: Any) -> int:
    """change[i]: 1 + the side a constraint should change to, or -1 to stay; returns how many should change."""
    n = C.shape[1]
    m = C.shape[0]
    N = mu.shape[0]
    count = 0
    top = 0.0
    for j in range(n):
        top = max(top, abs(y[j]))
    for i in range(n + m):
        change[i] = -1
        if sides[i] == 0 or lo[i] == hi[i]:
            if lo[i] == -np.inf and hi[i] == np.inf:
                continue
            if i < n:
                value, sum_ = y[i], abs(y[i])
            else:
                value, sum_ = 0.0, 0.0
                for j in range(n):
                    v = C[i - n, j] * y[j]
                    value += v
                    sum_ += abs(v)
            slack = SLACK * (sum_ + 0.1 * top)
            if value < lo[i] - slack - SLACK * abs(lo[i]):
                change[i] = 0
                count += 1
            elif value > hi[i] + slack + SLACK * abs(hi[i]):
                change[i] = 2
                count += 1
        else:
            for l in range(N):
                v = -sides[i] * mu[l, i]
                if v > LOCK * grade[l]:
                    break
                if v < -PRICE * grade[l]:
                    change[i] = 1
                    count += 1
                    break
    return count


@swift_kernel
def pivot(
    A: Any, b: Any, ends: Any, size: Any, C: Any, lo: Any, hi: Any, d: Any, near: Any, plain: bool,
    sides: Any, y: Any, mu: Any, grade: Any, limit: int, best_y: Any,
) -> int:  # fmt: skip
    """Guess, settle, judge, and change all that is wrong at once (block principal pivoting, Judice & Pires 1994).

    Returns the iterations used, negative when it gave up; then best_y is the point that broke fewest rules.
    """
    n = A.shape[1]
    m = C.shape[0]
    N = len(ends) - 1
    wide = 1
    for l in range(N):
        wide = max(wide, ends[l + 1] - ends[l])
    deep = min(wide, n)
    K = np.zeros((m + A.shape[0], n))
    V = np.zeros((n, n))
    beta = np.zeros(n)
    T, H, tau = np.zeros((N, deep, wide)), np.zeros((N, deep, wide)), np.zeros((N, deep))
    residual = np.zeros(A.shape[0])
    change = np.empty(n + m, np.int64)
    best, patience = n + m + 1, 3
    for it in range(1, limit + 1):
        settle(A, b, ends, size, C, lo, hi, d, near, plain, sides, y, mu, grade, residual, K, V, beta, T, H, tau)
        count = judge(C, lo, hi, y, sides, mu, grade, change)
        if count == 0:
            return it
        if count < best:
            best, patience = count, 3
            for j in range(n):
                best_y[j] = y[j]
        else:
            patience -= 1
        if patience >= 0:
            for i in range(n + m):
                if change[i] >= 0:
                    sides[i] = change[i] - 1
        else:
            for i in range(n + m - 1, -1, -1):
                if change[i] >= 0:
                    sides[i] = change[i] - 1
                    break
    return -limit
