"""Compiled torques at chosen joints and their derivatives, in O(K D) for K degrees of freedom.

The torque of degree of freedom k is tau_k = s_k . (f_k - W_k) + armature_k a_k: f_k is the force that moves its
subtree, W_k the sum of the world's wrenches on that subtree. By degrees of freedom below k, the derivatives are
s_k . dF/dx_j, with the columns of the aggregate force. A degree of freedom that carries k (or belongs to k's own joint)
turns the subtree together with s_k, which does not change tau_k. What remains needs three covectors of k,

    A = I s_k,    B = [N x w + J' w + 2 l x u; 0] with s_k = [w; u],    G = s_k x* W_k,

    d tau/dq_j = B . s'_j + A . e_j - G . s_j,    d tau/dv_j = B . s_j + A . g_j,    d tau/da_j = A . s_j,

with the sums of k's subtree. Other branches have no effect. (Fang & Pollard 2004, section 4.)
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.spacetime.aggregate.column_kernels import force_columns
from counterpoise.spacetime.aggregate.kernels import outward, working_space
from counterpoise.spacetime.aggregate.lanes import (
    ANGULAR,
    AXIS,
    AXIS_E,
    AXIS_G,
    AXIS_RATE,
    BY_A,
    BY_Q,
    BY_V,
    DERIVATIVE_ROWS,
    FORCE,
    INERTIA_RATE,
    LANES,
    LINEAR,
    TORQUE,
    cross,
    lane,
    lanes_from,
    plus,
    put,
    scaled,
    six,
    sym_times,
    three,
)
from counterpoise.spacetime.aggregate.link_kernels import inward
from counterpoise.spacetime.aggregate.tables import PARENT, SUBTREE_MASS, SUMS_LINK, SUMS_PARENT, LinkTables

UNRELATED, ABOVE, BELOW = 0, 1, 2  # how a link lies to a chosen joint
# first rows of the covectors of a degree of freedom: A (6), B (3), G (6)
COVECTOR_A, COVECTOR_B, COVECTOR_G, COVECTOR_ROWS = 0, 6, 9, 15


@kernel
def torques_batch(
    tables: LinkTables,
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
    derive: bool,
) -> None:
    """Writes torques (n, K) of degrees of freedom `chosen`, their axes (n, K, 6), if asked derivatives (n, K, nv).

    `wrenches` (n, m, 6) act on `bodies` (m,); they and `axes` are about the world's origin. The choice of `about`
    ((1, 3) or (n, 3)) does not change the result; a point near the character keeps it exact.
    """
    n, dofs, count = len(q), len(tables.dof_link), len(chosen)
    S, X, _ = working_space(tables)
    W = np.zeros((len(tables.links) + 1, 6 * LANES))
    Y = np.zeros((dofs if derive else 0, DERIVATIVE_ROWS * LANES))
    c, row = np.zeros(COVECTOR_ROWS * LANES), np.zeros(3 * LANES)
    relations = _relations(tables, chosen)
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        outward(tables, q, v, a, about, first, width, S, X)
        inward(tables, S)
        _sum_wrenches(tables, about, bodies, wrenches, first, width, W)
        if derive:
            for j in range(dofs):
                i = tables.dof_link[j]
                force_columns(S[tables.links[i, SUMS_LINK] + 1], X[j], tables.numbers[i, SUBTREE_MASS], Y[j], width)
        for k in range(count):
            d = chosen[k]
            subtree = tables.links[tables.dof_link[d], SUMS_LINK]
            s, x, load = S[subtree + 1], X[d], W[subtree]
            for t in range(width):
                w, u = three(x, AXIS, t), three(x, AXIS + 3, t)
                f, m = three(s, FORCE, t), three(s, TORQUE, t)
                pull, twist = three(load, 3, t), three(load, 0, t)
                total = 0.0
                for b in range(3):
                    total += w[b] * (m[b] - twist[b]) + u[b] * (f[b] - pull[b])
                tau[first + t, k] = total + tables.armature[d] * a[first + t, d]
                here = about[first + t if len(about) > 1 else 0]
                back = plus(u, cross((here[0], here[1], here[2]), w))
                for b in range(3):
                    axes[first + t, k, b] = w[b]
                    axes[first + t, k, 3 + b] = back[b]
            if not derive:
                continue
            _covectors(s, x, load, Y[d], c, width)
            for j in range(dofs):
                relation = relations[k, tables.dof_link[j]]
                if relation == UNRELATED:
                    row[:] = 0.0
                elif relation == ABOVE:
                    _derivatives_above(c, X[j], row, width)
                else:
                    _derivatives_below(x, Y[j], row, width)
                own = tables.armature[d] if j == d else 0.0
                for t in range(width):
                    Tq[first + t, k, j] = row[t]
                    Tv[first + t, k, j] = row[LANES + t]
                    Ta[first + t, k, j] = row[2 * LANES + t] + own


@kernel
def _relations(tables: LinkTables, chosen: Ints) -> Ints:
    """Returns (K, links): ABOVE for the chosen joint and the links that carry it, BELOW for those it carries."""
    links = tables.links
    out = np.zeros((len(chosen), len(links)), np.int64)
    for k in range(len(chosen)):
        here = tables.dof_link[chosen[k]]
        for i in range(here + 1, len(links)):
            up = links[i, PARENT]
            if up == here or (up >= 0 and out[k, up] == BELOW):
                out[k, i] = BELOW
        while here >= 0:
            out[k, here] = ABOVE
            here = links[here, PARENT]
    return out


@inner_kernel
def _sum_wrenches(
    tables: LinkTables, about: Array, bodies: Ints, wrenches: Array, first: int, width: int, W: Array
) -> None:
    """Sums the wrenches about `about` over subtrees."""
    links = tables.links
    W[:] = 0.0
    for b in range(len(bodies)):
        link = tables.body_link[bodies[b]]
        if link < 0:
            continue
        for t in range(width):
            here, given = about[first + t if len(about) > 1 else 0], wrenches[first + t, b]
            f = (given[3], given[4], given[5])
            turn = cross((here[0], here[1], here[2]), f)
            for k in range(3):
                W[link, LANES * k + t] += given[k] - turn[k]
                W[link, LANES * (3 + k) + t] += f[k]
    for i in range(len(links) - 1, -1, -1):
        if links[i, SUMS_LINK] == i and links[i, SUMS_PARENT] >= 0:
            above, own = W[links[i, SUMS_PARENT]], W[i]
            for k in range(6 * LANES):
                above[k] += own[k]


@inner_kernel
def _covectors(s: Array, x: Array, load: Array, y: Array, c: Array, width: int) -> None:
    """Writes the covectors A, B, G of one degree of freedom."""
    for t in range(width):
        w, u = three(x, AXIS, t), three(x, AXIS + 3, t)
        twist, pull = three(load, 0, t), three(load, 3, t)
        put(c, COVECTOR_A, t, three(y, BY_A, t))
        put(c, COVECTOR_A + 3, t, three(y, BY_A + 3, t))
        turn = plus(cross(three(s, ANGULAR, t), w), scaled(2.0, cross(three(s, LINEAR, t), u)))
        put(c, COVECTOR_B, t, plus(turn, sym_times(six(s, INERTIA_RATE, t), w)))
        put(c, COVECTOR_G, t, plus(cross(w, twist), cross(u, pull)))
        put(c, COVECTOR_G + 3, t, cross(w, pull))


@inner_kernel
def _derivatives_above(c: Array, x: Array, row: Array, width: int) -> None:
    """Writes the derivatives of a torque by a degree of freedom that carries its joint."""
    for t in range(width):
        by_q, by_v, by_a = 0.0, 0.0, 0.0
        for k in range(6):
            A, s = c[lane(COVECTOR_A + k, t)], x[lane(AXIS + k, t)]
            by_q += A * x[lane(AXIS_E + k, t)] - c[lane(COVECTOR_G + k, t)] * s
            by_v += A * x[lane(AXIS_G + k, t)]
            by_a += A * s
        for k in range(3):
            B = c[lane(COVECTOR_B + k, t)]
            by_q += B * x[lane(AXIS_RATE + k, t)]
            by_v += B * x[lane(AXIS + k, t)]
        row[t], row[LANES + t], row[2 * LANES + t] = by_q, by_v, by_a


@inner_kernel
def _derivatives_below(x: Array, y: Array, row: Array, width: int) -> None:
    """Writes the derivatives of a torque by a degree of freedom that its joint carries."""
    for t in range(width):
        by_q, by_v, by_a = 0.0, 0.0, 0.0
        for k in range(6):
            s = x[lane(AXIS + k, t)]
            by_q += s * y[lane(BY_Q + k, t)]
            by_v += s * y[lane(BY_V + k, t)]
            by_a += s * y[lane(BY_A + k, t)]
        row[t], row[LANES + t], row[2 * LANES + t] = by_q, by_v, by_a
