"""Compiled passes over the links: aggregate force, momentum, and all their first derivatives.

Everything is in world axes about a fixed point of the world; motion vectors are [w; u], force vectors [n; f] (angular,
linear). Let V and A be the velocity and acceleration of the link that carries joint j, and U the velocity of the link
that the joint moves. One pass from the root to the leaves finds, for every degree of freedom j,

    s_j = [axis; origin x axis] or [0; axis],   s'_j = V x s_j,   e_j = A x s_j + V x s'_j,   g_j = s'_j + U x s_j.

One pass back sums mass, first moment, inertia J, its rate J', momentum p = [N; l] and force [n; f] over subtrees. Then

    dF/da_j = I s_j
    dF/dv_j = I' s_j + I g_j + s_j x* p
    dF/dq_j = s_j x* f + s'_j x* p + I' s'_j + I e_j

with the sums of j's own subtree: constant work per degree of freedom (after Fang & Pollard 2003, 2004). A ball's three
axes turn with its body. A step d of its orientation (q exp(d)) therefore turns the subtree and the axes together, and
the third line holds unchanged, with V and A of the parent. In the second line g_j contains U x s_j instead of a second
V x s_j, because the three rates of a ball act together; for a single axis both are equal and g = 2 s'. A free joint is
three slides along the world's axes that carry a ball. I' follows from J' and the linear momentum l:
I' [w; u] = [J' w + l x u; -l x w].

Frames are processed eight at a time (`lanes`).
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel
from counterpoise.spacetime.aggregate.column_kernels import (
    columns,
    columns_about_com,
    force_columns,
    momentum_columns,
)
from counterpoise.spacetime.aggregate.lanes import (
    ANGULAR,
    BY_A,
    BY_Q,
    BY_V,
    COLUMN_ROWS,
    DERIVATIVE_ROWS,
    FIRST_MOMENT,
    FORCE,
    LANES,
    TORQUE,
    cross,
    lanes_from,
    three,
)
from counterpoise.spacetime.aggregate.link_kernels import (
    add_to_parent,
    inward,
    link_rows,
    links_outward,
    total_mass,
)
from counterpoise.spacetime.aggregate.tables import (
    FIRST_V,
    SUBTREE_MASS,
    SUMS_LINK,
    LinkTables,
)


# ------------------------------------------------------------------------------------------------------- batches
@kernel
def aggregate_batch(
    tables: LinkTables, q: Array, v: Array, a: Array, about: Array, F: Array, Fq: Array, Fv: Array, Fa: Array
) -> None:
    """Writes the aggregate force F (n, 6) and its derivatives (n, 6, nv) about fixed points ((1, 3) or (n, 3))."""
    n, links = len(q), len(tables.links)
    S, x, y = working_space(tables)
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, a, about, first, width, S, True)
        for i in range(links - 1, -1, -1):
            add_to_parent(tables, S, i)
            for k in range(columns(tables, S, i, x, width)):
                j = tables.links[i, FIRST_V] + k
                force_columns(S[tables.links[i, SUMS_LINK] + 1], x[k], tables.numbers[i, SUBTREE_MASS], y, width)
                for m in range(6):
                    for t in range(width):
                        Fq[first + t, m, j] = y[LANES * (BY_Q + m) + t]
                        Fv[first + t, m, j] = y[LANES * (BY_V + m) + t]
                        Fa[first + t, m, j] = y[LANES * (BY_A + m) + t]
        for k in range(6):
            for t in range(width):
                F[first + t, k] = S[links + 1, LANES * (TORQUE + k) + t]


@kernel
def aggregate_com_batch(
    tables: LinkTables,
    q: Array,
    v: Array,
    a: Array,
    about: Array,
    com: Array,
    F: Array,
    Fq: Array,
    Fv: Array,
    Fa: Array,
) -> None:
    """As `aggregate_batch`, but about the moving centre of mass, which is written to `com` (n, 3).

    With c measured from `about`: n_c = n - c x f, dn_c = dn - dc x f - c x df. The choice of `about` does not change
    the result; a point near the character keeps it exact.
    """
    n, links = len(q), len(tables.links)
    mass = total_mass(tables)
    S, x, y = working_space(tables)
    whole = S[links + 1]
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, a, about, first, width, S, True)
        inward(tables, S)
        for t in range(width):
            h, f = three(whole, FIRST_MOMENT, t), three(whole, FORCE, t)
            turn = cross(h, f)
            here = about[first + t if len(about) > 1 else 0]
            for k in range(3):
                com[first + t, k] = here[k] + h[k] / mass
                F[first + t, k] = whole[LANES * (TORQUE + k) + t] - turn[k] / mass
                F[first + t, 3 + k] = f[k]
        for i in range(links):
            for k in range(columns(tables, S, i, x, width)):
                j = tables.links[i, FIRST_V] + k
                force_columns(S[tables.links[i, SUMS_LINK] + 1], x[k], tables.numbers[i, SUBTREE_MASS], y, width)
                columns_about_com(whole, 1.0 / mass, y, width)
                for m in range(6):
                    for t in range(width):
                        Fq[first + t, m, j] = y[LANES * (BY_Q + m) + t]
                        Fv[first + t, m, j] = y[LANES * (BY_V + m) + t]
                        Fa[first + t, m, j] = y[LANES * (BY_A + m) + t]


@kernel
def aggregate_force_batch(tables: LinkTables, q: Array, v: Array, a: Array, about: Array, F: Array) -> None:
    """Writes the aggregate force F (n, 6) alone."""
    n, links = len(q), len(tables.links)
    S, _, _ = working_space(tables)
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, a, about, first, width, S, True)
        inward(tables, S)
        for k in range(6):
            for t in range(width):
                F[first + t, k] = S[links + 1, LANES * (TORQUE + k) + t]


@kernel
def momentum_batch(
    tables: LinkTables, q: Array, v: Array, about: Array, com: Array, H: Array, Hq: Array, Hv: Array
) -> None:
    """Writes the momentum H (n, 6) about `about`, its derivatives (n, 6, nv), and the centre of mass (n, 3).

    dH/dv_j = I s_j,  dH/dq_j = s_j x* p + I s'_j.
    """
    n, links = len(q), len(tables.links)
    mass = total_mass(tables)
    S, x, y = working_space(tables)
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        links_outward(tables, q, v, v, about, first, width, S, True)
        inward(tables, S)
        for t in range(width):
            for k in range(6):
                H[first + t, k] = S[links + 1, LANES * (ANGULAR + k) + t]
            for k in range(3):
                here = about[first + t if len(about) > 1 else 0, k]
                com[first + t, k] = here + S[links + 1, LANES * (FIRST_MOMENT + k) + t] / mass
        for i in range(links):
            for k in range(columns(tables, S, i, x, width)):
                momentum_columns(S[tables.links[i, SUMS_LINK] + 1], x[k], tables.numbers[i, SUBTREE_MASS], y, width)
                j = tables.links[i, FIRST_V] + k
                for m in range(6):
                    for t in range(width):
                        Hq[first + t, m, j] = y[LANES * (BY_Q + m) + t]
                        Hv[first + t, m, j] = y[LANES * (BY_V + m) + t]


# -------------------------------------------------------------------------------------------------------- passes
@kernel
def working_space(tables: LinkTables) -> tuple[Array, Array, Array]:
    """Returns rows of links (see `link_rows`), columns of all degrees of freedom, and the results of one column."""
    columns = np.empty((max(len(tables.dof_link), 3), COLUMN_ROWS * LANES))
    return link_rows(tables), columns, np.empty(DERIVATIVE_ROWS * LANES)


@kernel
def outward(
    tables: LinkTables, q: Array, v: Array, a: Array, about: Array, first: int, width: int, S: Array, X: Array
) -> None:
    """Writes the rows of all links, each body with its own sums, and [s, s', e, g] of every degree of freedom."""
    links_outward(tables, q, v, a, about, first, width, S, True)
    for i in range(len(tables.links)):
        columns(tables, S, i, X[tables.links[i, FIRST_V] :], width)
