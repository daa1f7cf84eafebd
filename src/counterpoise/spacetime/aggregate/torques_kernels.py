"""Compiled torques at chosen joints and their derivatives, in O(K D) for K degrees of freedom.

Degree of freedom k feels tau_k = s_k . (f_k - W_k) + armature_k a_k: f_k is the force that moves its subtree, W_k the
wrenches the world lays on that subtree. By what lies below k the derivatives are s_k . dF/dx_j, with the aggregate
force's own columns. By what carries k (and by k's own joint) the subtree turns as one with s_k, which costs nothing;
what remains needs only three covectors of k,

    A = I s_k,    B = [N x w + J' w + 2 l x u; 0] with s_k = [w; u],    G = s_k x* W_k,

    d tau/dq_j = B . s'_j + A . e_j - G . s_j,    d tau/dv_j = B . s_j + A . g_j,    d tau/da_j = A . s_j,

with the sums of k's subtree. Other branches are not felt. (Fang & Pollard 2004, section 4.)
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import swift_kernel
from counterpoise.spacetime.aggregate.kernels import (
    _FF,
    _K,
    _L,
    _N,
    _NF,
    LANES,
    _add,
    _at,
    _cross,
    _lanes,
    _put,
    _scaled,
    _six,
    _sym,
    _three,
    force_columns,
    inward,
    outward,
    working_space,
)
from counterpoise.spacetime.aggregate.tables import Tables


@swift_kernel
def torques_batch(
    tables: Tables,
    q: Array,
    v: Array,
    a: Array,
    about: Array,
    chosen: Ints,
    bodies: Ints,
    wrenches: Array,
    tau: Array,
    axes: Array,
    Tq: Array,
    Tv: Array,
    Ta: Array,
    slopes: bool,
) -> None:
    """Torques (n, K) of degrees of freedom `chosen`, their axes (n, K, 6) and, if asked, derivatives (n, K, nv).

    `wrenches` (n, m, 6) act on `bodies` (m,); they and `axes` are about the world's origin. `about` ((1, 3) or
    (n, 3)) is only where the arithmetic is done: near the figure is best.
    """
    n, dofs, count = len(q), len(tables.dof_link), len(chosen)
    S, X, _ = working_space(tables)
    W = np.zeros((len(tables.links) + 1, 6 * LANES))
    Y = np.zeros((dofs if slopes else 0, 18 * LANES))
    c, row = np.zeros(18 * LANES), np.zeros(3 * LANES)
    kin = _relations(tables, chosen)
    for block in range(0, n, LANES):
        first, width = _lanes(block, n)
        outward(tables, q, v, a, about, first, width, S, X)
        inward(tables, S)
        _gather(tables, about, bodies, wrenches, first, width, W)
        if slopes:
            for j in range(dofs):
                i = tables.dof_link[j]
                force_columns(S[tables.links[i, 4] + 1], X[j], tables.numbers[i, 23], Y[j], width)
        for k in range(count):
            d = chosen[k]
            whole = tables.links[tables.dof_link[d], 4]
            s, x, load = S[whole + 1], X[d], W[whole]
            for t in range(width):
                w, u = _three(x, 0, t), _three(x, 3, t)
                f, m = _three(s, _FF, t), _three(s, _NF, t)
                carried, twist = _three(load, 3, t), _three(load, 0, t)
                total = 0.0
                for b in range(3):
                    total += w[b] * (m[b] - twist[b]) + u[b] * (f[b] - carried[b])
                tau[first + t, k] = total + tables.armature[d] * a[first + t, d]
                here = about[first + t if len(about) > 1 else 0]
                back = _add(u, _cross((here[0], here[1], here[2]), w))
                for b in range(3):
                    axes[first + t, k, b] = w[b]
                    axes[first + t, k, 3 + b] = back[b]
            if not slopes:
                continue
            _covectors(s, x, load, Y[d], c, width)
            for j in range(dofs):
                how = kin[k, tables.dof_link[j]]
                if how == 0:
                    row[:] = 0.0
                elif how == 1:
                    _felt_from_above(c, X[j], row, width)
                else:
                    _felt_from_below(x, Y[j], row, width)
                own = tables.armature[d] if j == d else 0.0
                for t in range(width):
                    Tq[first + t, k, j] = row[t]
                    Tv[first + t, k, j] = row[LANES + t]
                    Ta[first + t, k, j] = row[2 * LANES + t] + own


@swift_kernel
def _relations(tables: Tables, chosen: Ints) -> Ints:
    """(K, links): 1 for the joint of `chosen` and what carries it, 2 for what it carries, 0 for the rest."""
    links = tables.links
    out = np.zeros((len(chosen), len(links)), np.int64)
    for k in range(len(chosen)):
        here = tables.dof_link[chosen[k]]
        for i in range(here + 1, len(links)):
            up = links[i, 0]
            if up == here or (up >= 0 and out[k, up] == 2):
                out[k, i] = 2
        while here >= 0:
            out[k, here] = 1
            here = links[here, 0]
    return out


@swift_kernel
def _gather(tables: Tables, about: Array, bodies: Ints, wrenches: Array, first: int, width: int, W: Array) -> None:
    """Sum the wrenches over subtrees, taken about `about`."""
    links = tables.links
    W[:] = 0.0
    for b in range(len(bodies)):
        link = tables.body_link[bodies[b]]
        if link < 0:
            continue
        for t in range(width):
            here, given = about[first + t if len(about) > 1 else 0], wrenches[first + t, b]
            f = (given[3], given[4], given[5])
            turn = _cross((here[0], here[1], here[2]), f)
            for k in range(3):
                W[link, LANES * k + t] += given[k] - turn[k]
                W[link, LANES * (3 + k) + t] += f[k]
    for i in range(len(links) - 1, -1, -1):
        if links[i, 4] == i and links[i, 5] >= 0:
            above, own = W[links[i, 5]], W[i]
            for k in range(6 * LANES):
                above[k] += own[k]


@swift_kernel
def _covectors(s: Array, x: Array, load: Array, y: Array, c: Array, width: int) -> None:
    """A (rows 0 to 5), B (6 to 8), G (9 to 14) of one degree of freedom."""
    for t in range(width):
        w, u = _three(x, 0, t), _three(x, 3, t)
        twist, carried = _three(load, 0, t), _three(load, 3, t)
        _put(c, 0, t, _three(y, 12, t))
        _put(c, 3, t, _three(y, 15, t))
        turn = _add(_cross(_three(s, _N, t), w), _scaled(2.0, _cross(_three(s, _L, t), u)))
        _put(c, 6, t, _add(turn, _sym(_six(s, _K, t), w)))
        _put(c, 9, t, _add(_cross(w, twist), _cross(u, carried)))
        _put(c, 12, t, _cross(w, carried))


@swift_kernel
def _felt_from_above(c: Array, x: Array, row: Array, width: int) -> None:
    for t in range(width):
        by_q, by_v, by_a = 0.0, 0.0, 0.0
        for k in range(6):
            A, s = c[_at(k, t)], x[_at(k, t)]
            by_q += A * x[_at(12 + k, t)] - c[_at(9 + k, t)] * s
            by_v += A * x[_at(18 + k, t)]
            by_a += A * s
        for k in range(3):
            B = c[_at(6 + k, t)]
            by_q += B * x[_at(6 + k, t)]
            by_v += B * x[_at(k, t)]
        row[t], row[LANES + t], row[2 * LANES + t] = by_q, by_v, by_a


@swift_kernel
def _felt_from_below(x: Array, y: Array, row: Array, width: int) -> None:
    for t in range(width):
        by_q, by_v, by_a = 0.0, 0.0, 0.0
        for k in range(6):
            s = x[_at(k, t)]
            by_q += s * y[_at(k, t)]
            by_v += s * y[_at(6 + k, t)]
            by_a += s * y[_at(12 + k, t)]
        row[t], row[LANES + t], row[2 * LANES + t] = by_q, by_v, by_a
