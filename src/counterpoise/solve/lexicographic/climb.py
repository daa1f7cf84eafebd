"""The way that cannot fail, compiled: from a feasible point, level by level along the faces of the constraints.

Each level is a primal active-set method in the coordinates that those above left free. Where a release does not move
the point, the gradient is projected on the cone of *all* active constraints: what is left of it is a direction in which
the residual really falls, so that no working set can come back; if nothing is left, the level is proved. A closed level
fixes its rows at their attained values and locks the constraints that hold it back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.kernels import swift_kernel
from counterpoise.solve.lexicographic.cone import nonnegative, nothing_at
from counterpoise.solve.lexicographic.kernels import ATTAINED, LOCK, PRICE, ROUNDING
from counterpoise.solve.orthogonal import (
    RANK,
    append_row,
    fit,
    pivoted_lq,
    reflect_back,
    reflect_forth,
    reflect_rows,
    solve_upper,
)


@swift_kernel
def values_at(CQ: Any, z: Any, value: Any) -> None:
    for i in range(CQ.shape[0]):
        s = 0.0
        for j in range(CQ.shape[1]):
            s += CQ[i, j] * z[j]
        value[i] = s


@swift_kernel
def misfit(R: Any, rhs: Any, z: Any, r: Any, g: Any, out: Any) -> None:
    """r = R z - rhs and g = R' r; out: ||r||^2, the same of its terms' sizes, and the largest size of g's terms."""
    m, n = R.shape
    here, all_ = 0.0, 0.0
    terms = np.empty(m)
    for i in range(m):
        s, a = -rhs[i], abs(rhs[i])
        for j in range(n):
            v = R[i, j] * z[j]
            s += v
            a += abs(v)
        r[i] = s
        terms[i] = abs(s) + ROUNDING * a
        here += s * s
        all_ += a * a
    size = np.zeros(n)
    for j in range(n):
        g[j] = 0.0
    for i in range(m):
        for j in range(n):
            g[j] += R[i, j] * r[i]
            size[j] += abs(R[i, j]) * terms[i]
    out[0], out[1], out[2] = here, all_, 0.0
    for j in range(n):
        out[2] = max(out[2], size[j])


@swift_kernel
def walk(
    CQ: Any, lo: Any, hi: Any, z: Any, p: Any, k: int, length: float, sides: Any, still: Any, leaving: Any, out: Any
) -> int:
    """z moves along p (columns k..n) by at most `length`; out[0] is the step. Returns what stops it: 2 i + side, or -1.

    An end that p is known to leave (`leaving`: its side) does not stop it. Of those that stop it within rounding, the
    one met most squarely is taken (Harris's two passes).
    """
    nc, n = CQ.shape
    value, rate = np.empty(nc), np.zeros(nc)
    values_at(CQ, z, value)
    pp = 0.0
    for j in range(k, n):
        pp += p[j] * p[j]
    flat = RANK * np.sqrt(pp)
    slack = nothing_at(z)
    reach = length
    for i in range(nc):
        if sides[i] != 0 or still[i] != 0:
            continue
        s = 0.0
        for j in range(k, n):
            s += CQ[i, j] * p[j]
        if abs(s) <= flat or leaving[i] * s > 0.0:
            continue
        rate[i] = s
        room = (hi[i] - value[i]) if s > 0.0 else (value[i] - lo[i])
        reach = min(reach, (max(room, 0.0) + slack) / abs(s))
    hit, best, step = -1, 0.0, length
    for i in range(nc):
        if rate[i] == 0.0:
            continue
        room = max((hi[i] - value[i]) if rate[i] > 0.0 else (value[i] - lo[i]), 0.0)
        if room <= reach * abs(rate[i]) and room < length * abs(rate[i]) and abs(rate[i]) > best:
            best, hit, step = abs(rate[i]), i, room / abs(rate[i])
    for j in range(k, n):
        z[j] += step * p[j]
    out[0] = step
    return -1 if hit < 0 else 2 * hit + (1 if rate[hit] > 0.0 else 0)


@swift_kernel
def newton(R: Any, own: Any, r: Any, k: int, nw: int, VW: Any, bW: Any, p: Any) -> None:
    """Shortest p that minimises ||R p + r|| and keeps the working rows: least squares in their null space."""
    m, n = R.shape
    k0 = k + nw
    for j in range(n):
        p[j] = 0.0
    if k0 == n:
        return
    X, rhs = R.copy(), np.empty(m)
    for i in range(m):
        rhs[i] = -r[i]
    reflect_rows(X, 0, m, VW, bW, k, k0, n)
    VX, bX, perm, left = np.zeros((n, n)), np.zeros(n), np.empty(m, np.int64), np.empty(m)
    rank = pivoted_lq(X, 0, m, k0, n, VX, bX, perm, own, left)
    if rank > 0:
        fit(X, perm, 0, m, k0, rank, rhs, p, np.zeros((rank, m)), np.zeros((rank, m)), np.zeros(rank))
    reflect_back(p, VX, bX, k0, k0 + rank, n)
    reflect_back(p, VW, bW, k, k0, n)


@swift_kernel
def cone_of_active(
    CQ: Any, lo: Any, hi: Any, z: Any, g: Any, k: int, sides: Any, still: Any, mu: Any, leaving: Any, p: Any
) -> float:
    """Multipliers mu of all active constraints that explain the gradient best; p is what is left. Returns ||p||^2.

    `leaving` marks the active ends: p moves away from them or along them.
    """
    nc, n = CQ.shape
    nz = n - k
    value = np.empty(nc)
    values_at(CQ, z, value)
    slack = 10.0 * nothing_at(z)
    act, na = np.empty(nc, np.int64), 0
    for i in range(nc):
        leaving[i] = 0
        mu[i] = 0.0
        if still[i] != 0:
            continue
        if sides[i] < 0 or (sides[i] == 0 and value[i] <= lo[i] + slack):
            leaving[i] = -1
        elif sides[i] > 0 or value[i] >= hi[i] - slack:
            leaving[i] = 1
        if leaving[i] != 0:
            act[na] = i
            na += 1
    B, part, price, rest = np.empty((na, nz)), np.empty(nz), np.zeros(na), np.empty(nz)
    for i in range(na):
        for j in range(nz):
            B[i, j] = -leaving[act[i]] * CQ[act[i], k + j]
    for j in range(nz):
        part[j] = g[k + j]
    nonnegative(B, part, na, nz, price, rest)
    for i in range(na):
        mu[act[i]] = -leaving[act[i]] * price[i]
    s = 0.0
    for j in range(n):
        p[j] = rest[j - k] if j >= k else 0.0
        s += p[j] * p[j]
    return s


@swift_kernel
def descend(
    R: Any, rhs: Any, own: Any, exact: bool, CQ: Any, lo: Any, hi: Any, k: int, z: Any, sides: Any, still: Any,
    W: Any, LW: Any, VW: Any, bW: Any, mu: Any, limit: int, out: Any,
) -> int:  # fmt: skip
    """One level, ||R z - rhs||, from a feasible z. Returns the working rows (in W, factored in LW, VW, bW); mu: theirs.

    out: 0-2 as `misfit`, 3 steps used, 4 relative gradient left over. `exact`: a level that may be attained.
    """
    nc, n = CQ.shape
    m = R.shape[0]
    r, g, p, t, price = np.empty(m), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    leaving, length = np.zeros(nc, np.int64), np.zeros(1)
    nw = 0
    for i in range(nc):
        if sides[i] != 0 and still[i] == 0:
            if k + nw < n and append_row(CQ[i], LW, VW, bW, nw, k, n, 1.0):
                W[nw] = i
                nw += 1
            else:
                sides[i] = 0
    out[3], out[4] = 0.0, 0.0
    stuck, begun, quiet, best = False, False, 0, np.inf
    while True:
        out[3] += 1.0
        last = out[3] >= limit
        misfit(R, rhs, z, r, g, out)
        newton(R, own, r, k, nw, VW, bW, p)
        top, far = 0.0, 0.0
        for j in range(n):
            top, far = max(top, abs(z[j])), max(far, abs(p[j]))
        if far > 1e-15 * top:
            for i in range(nc):
                leaving[i] = 0
            hit = walk(CQ, lo, hi, z, p, k, 1.0, sides, still, leaving, length)
            if hit >= 0:
                stuck = stuck or (begun and length[0] * far <= 1e-14 * top)
                if append_row(CQ[hit // 2], LW, VW, bW, nw, k, n, 1e-2):
                    W[nw] = hit // 2
                    sides[hit // 2] = 1 if hit % 2 == 1 else -1
                    nw += 1
                if not last:
                    continue
        # stationary on its working set: is it on the whole?
        misfit(R, rhs, z, r, g, out)
        here, grade = out[0], out[2]
        for i in range(nc):
            mu[i] = 0.0
        if exact and here <= ATTAINED * ATTAINED * out[1]:
            return nw
        for j in range(n):
            t[j] = g[j]
        reflect_forth(t, VW, bW, k, k + nw, n)
        solve_upper(LW, k, nw, t, price)
        worst, at = -PRICE * grade, -1
        for i in range(nw):
            mu[W[i]] = price[i]
            if -sides[W[i]] * price[i] < worst:
                worst, at = -sides[W[i]] * price[i], i
        if at < 0 or last:
            out[4] = -worst / grade if at >= 0 else 0.0
            return nw
        begun = True
        if not stuck:
            sides[W[at]] = 0
            nw -= 1
            for i in range(at, nw):
                W[i] = W[i + 1]
                append_row(CQ[W[i]], LW, VW, bW, i, k, n, 1e-3)
            continue
        # degenerate: ask the cone of all that is active
        rest = cone_of_active(CQ, lo, hi, z, g, k, sides, still, mu, leaving, p)
        for i in range(nw):
            sides[W[i]] = 0
        nw = 0
        for i in range(nc):
            if mu[i] != 0.0 and append_row(CQ[i], LW, VW, bW, nw, k, n, 1e-2):
                W[nw] = i
                sides[i] = leaving[i]
                nw += 1
        quiet = quiet + 1 if here >= best * (1.0 - 1e-14) else 0
        best = min(best, here)
        if np.sqrt(rest) <= PRICE * grade or quiet >= 5:
            out[4] = np.sqrt(rest) / grade if grade > 0.0 else 0.0
            return nw
        curve = 0.0
        for i in range(m):
            s = 0.0
            for j in range(k, n):
                s += R[i, j] * p[j]
            curve += s * s
        hit = walk(CQ, lo, hi, z, p, k, rest / curve if curve > 0.0 else 0.0, sides, still, leaving, length)
        if hit >= 0 and append_row(CQ[hit // 2], LW, VW, bW, nw, k, n, 1e-2):
            W[nw] = hit // 2
            sides[hit // 2] = 1 if hit % 2 == 1 else -1
            nw += 1
        stuck = False


@swift_kernel
def climb(
    A: Any, b: Any, ends: Any, size: Any, C: Any, lo: Any, hi: Any, d: Any, near: Any, y: Any, sides: Any,
    defect: Any, limit: int,
) -> int:  # fmt: skip
    """All levels from a feasible y with working set `sides`; both become the answer. The steps (negative: too many).

    defect[l] is the relative gradient that level l left over (zero but for rounding).
    """
    nc, n = C.shape
    N = len(ends) - 1
    Q, CQ, z = np.eye(n), C.copy(), y.copy()  # y = Q z; the first k of z are fixed
    most = max(nc, A.shape[0], n)
    perm, left, ones = np.empty(most, np.int64), np.empty(most), np.ones(most)
    still = np.zeros(nc, np.int64)  # equal for good
    W, LW, VW, bW = np.empty(n + 1, np.int64), np.zeros((n + 1, n)), np.zeros((n, n)), np.zeros(n)
    mu, out = np.zeros(nc), np.zeros(5)
    E, ne = np.zeros((nc, n)), 0
    for i in range(nc):
        if lo[i] == hi[i]:
            still[i] = 1
            for j in range(n):
                E[ne, j] = C[i, j]
            ne += 1
    k = pivoted_lq(E, 0, ne, 0, n, VW, bW, perm, ones, left)
    reflect_rows(CQ, 0, nc, VW, bW, 0, k, n)
    reflect_rows(Q, 0, n, VW, bW, 0, k, n)
    reflect_forth(z, VW, bW, 0, k, n)
    steps = 0
    for l in range(N + 1):
        m = ends[l + 1] - ends[l] if l < N else n
        defect[l] = 0.0
        if k == n or m == 0:
            continue
        R, rhs, own = np.empty((m, n)), np.empty(m), np.empty(m)
        if l < N:
            R[:, :] = np.dot(A[ends[l] : ends[l + 1]], Q)
        for i in range(m):
            rhs[i] = b[ends[l] + i] if l < N else near[i]
            own[i] = size[ends[l] + i] if l < N else d[i]
            if l == N:
                for j in range(n):
                    R[i, j] = d[i] * Q[i, j]
        nw = descend(R, rhs, own, l < N, CQ, lo, hi, k, z, sides, still, W, LW, VW, bW, mu, limit - steps, out)
        steps += int(out[3])
        defect[l] = out[4]
        # close the level: lock what holds it back, fix its rows where they are
        ne = 0
        for i in range(nw):
            if -sides[W[i]] * mu[W[i]] > LOCK * out[2]:
                still[W[i]] = 1
                append_row(CQ[W[i]], LW, VW, bW, ne, k, n, 1e-3)
                ne += 1
        reflect_rows(R, 0, m, VW, bW, k, k + ne, n)
        top = k + ne
        if top < n:
            top += pivoted_lq(R, 0, m, top, n, VW, bW, perm, own, left)
        reflect_rows(CQ, 0, nc, VW, bW, k, top, n)
        reflect_rows(Q, 0, n, VW, bW, k, top, n)
        reflect_forth(z, VW, bW, k, top, n)
        k = top
    values_at(Q, z, y)
    return steps if steps < limit else -steps - 1
