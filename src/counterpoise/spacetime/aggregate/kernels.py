"""Compiled passes over the links: aggregate force, momentum, and all their first derivatives.

Everything is in world axes about a fixed point of the world; motion vectors are [w; u], force vectors [n; f] (angular,
linear). One pass from the root to the leaves finds, for every degree of freedom j with velocity V and acceleration A of
what carries its joint and velocity U of what the joint moves,

    s_j = [axis; origin x axis] or [0; axis],   s'_j = V x s_j,   e_j = A x s_j + V x s'_j,   g_j = s'_j + U x s_j.

One pass back sums mass, first moment, inertia J, its rate J', momentum p = [N; l] and force [n; f] over subtrees. Then

    dF/da_j = I s_j
    dF/dv_j = I' s_j + I g_j + s_j x* p
    dF/dq_j = s_j x* f + s'_j x* p + I' s'_j + I e_j

with the sums of j's own subtree: constant work per degree of freedom (after Fang & Pollard 2003, 2004). A ball's three
axes turn with its body, so a step d of its orientation (q exp(d)) carries subtree and axes along and the third
line holds as it stands, with V and A of the parent; in the second, U x s_j replaces V x s_j because the three rates are
felt together. For a single axis both agree and g = 2 s'. A free joint is three slides along the world's axes that carry
a ball. I' is known by J' and the linear momentum l alone: I' [w; u] = [J' w + l x u; -l x w].

Frames are worked on eight at a time, so that the processor's vector units do eight frames for the price of one: every
number of a link is a row of eight lanes, and `s[8 * k + t]` is number k of frame t.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import swift_kernel
from counterpoise.spacetime.aggregate.tables import Tables

Vec: TypeAlias = tuple[float, float, float]
Sym: TypeAlias = tuple[float, float, float, float, float, float]  # xx xy xz yy yz zz
Mat: TypeAlias = tuple[float, float, float, float, float, float, float, float, float]

LANES = 8
_FREE, _BALL, _SLIDE = 0, 1, 2  # kinds of links
# a link's rows: rotation 9, origin 3, w 3, u 3, their accelerations 6, then sums: first moment, J, J', momentum, force
_R, _O, _W, _U, _WD, _UD, _SUMS, ROWS = 0, 9, 12, 15, 18, 21, 24, 51
_H, _J, _K, _N, _L, _NF, _FF = 24, 27, 33, 39, 42, 45, 48
# rows of what drives a joint: coordinates (or displacement, cosine, sine), rates, accelerations
_Q, _V, _A, _GIVEN = 0, 4, 7, 10
# rows of a column: s, s', e, g
_S, _SD, _E, _G, COLUMN = 0, 6, 12, 18, 24


# ------------------------------------------------------------------------------------------------------- batches
@swift_kernel
def aggregate_batch(
    tables: Tables, q: Array, v: Array, a: Array, about: Array, F: Array, Fq: Array, Fv: Array, Fa: Array
) -> None:
    """Aggregate force F (n, 6) and its derivatives (n, 6, nv) about `about` ((1, 3) or (n, 3)), held fixed."""
    n, links = len(q), len(tables.links)
    S, x, y = working_space(tables)
    for block in range(0, n, LANES):
        first, width = _lanes(block, n)
        _outward(tables, q, v, a, about, first, width, S)
        for i in range(links - 1, -1, -1):
            add_to_parent(tables, S, i)
            for k in range(columns(tables, S, i, x, width)):
                j = tables.links[i, 3] + k
                force_columns(S[tables.links[i, 4] + 1], x[k], tables.numbers[i, 23], y, width)
                for m in range(6):
                    for t in range(width):
                        Fq[first + t, m, j] = y[LANES * m + t]
                        Fv[first + t, m, j] = y[LANES * (6 + m) + t]
                        Fa[first + t, m, j] = y[LANES * (12 + m) + t]
        for k in range(6):
            for t in range(width):
                F[first + t, k] = S[links + 1, LANES * (_NF + k) + t]


@swift_kernel
def aggregate_com_batch(
    tables: Tables, q: Array, v: Array, a: Array, about: Array, com: Array, F: Array, Fq: Array, Fv: Array, Fa: Array
) -> None:
    """As `aggregate_batch`, but about the moving centre of mass, which is written to `com` (n, 3).

    With c from `about`: n_c = n - c x f, dn_c = dn - dc x f - c x df. `about` is only where the arithmetic is done.
    """
    n, links = len(q), len(tables.links)
    mass = total_mass(tables)
    S, x, y = working_space(tables)
    whole = S[links + 1]
    for block in range(0, n, LANES):
        first, width = _lanes(block, n)
        _outward(tables, q, v, a, about, first, width, S)
        inward(tables, S)
        for t in range(width):
            h, f = _three(whole, _H, t), _three(whole, _FF, t)
            turn = _cross(h, f)
            here = about[first + t if len(about) > 1 else 0]
            for k in range(3):
                com[first + t, k] = here[k] + h[k] / mass
                F[first + t, k] = whole[LANES * (_NF + k) + t] - turn[k] / mass
                F[first + t, 3 + k] = f[k]
        for i in range(links):
            for k in range(columns(tables, S, i, x, width)):
                j = tables.links[i, 3] + k
                force_columns(S[tables.links[i, 4] + 1], x[k], tables.numbers[i, 23], y, width)
                _to_com(whole, 1.0 / mass, y, width)
                for m in range(6):
                    for t in range(width):
                        Fq[first + t, m, j] = y[LANES * m + t]
                        Fv[first + t, m, j] = y[LANES * (6 + m) + t]
                        Fa[first + t, m, j] = y[LANES * (12 + m) + t]


@swift_kernel
def aggregate_force_batch(tables: Tables, q: Array, v: Array, a: Array, about: Array, F: Array) -> None:
    """Aggregate force (n, 6) alone."""
    n, links = len(q), len(tables.links)
    S, _, _ = working_space(tables)
    for block in range(0, n, LANES):
        first, width = _lanes(block, n)
        _outward(tables, q, v, a, about, first, width, S)
        inward(tables, S)
        for k in range(6):
            for t in range(width):
                F[first + t, k] = S[links + 1, LANES * (_NF + k) + t]


@swift_kernel
def momentum_batch(
    tables: Tables, q: Array, v: Array, about: Array, com: Array, H: Array, Hq: Array, Hv: Array
) -> None:
    """Momentum H (n, 6), its derivatives (n, 6, nv) about `about`, and the centre of mass (n, 3).

    dH/dv_j = I s_j,  dH/dq_j = s_j x* p + I s'_j.
    """
    n, links = len(q), len(tables.links)
    mass = total_mass(tables)
    S, x, y = working_space(tables)
    for block in range(0, n, LANES):
        first, width = _lanes(block, n)
        _outward(tables, q, v, v, about, first, width, S)
        inward(tables, S)
        for t in range(width):
            for k in range(6):
                H[first + t, k] = S[links + 1, LANES * (_N + k) + t]
            for k in range(3):
                here = about[first + t if len(about) > 1 else 0, k]
                com[first + t, k] = here + S[links + 1, LANES * (_H + k) + t] / mass
        for i in range(links):
            for k in range(columns(tables, S, i, x, width)):
                _momentum_columns(S[tables.links[i, 4] + 1], x[k], tables.numbers[i, 23], y, width)
                j = tables.links[i, 3] + k
                for m in range(6):
                    for t in range(width):
                        Hq[first + t, m, j] = y[LANES * m + t]
                        Hv[first + t, m, j] = y[LANES * (6 + m) + t]


# -------------------------------------------------------------------------------------------------------- passes
@swift_kernel
def working_space(tables: Tables) -> tuple[Array, Array, Array]:
    """Rows of the world, of the links, and of the whole figure; columns; one column's results."""
    S = np.empty((len(tables.links) + 2, ROWS * LANES))
    S[0] = 0.0
    for t in range(LANES):
        for k in range(3):
            S[0, LANES * (_R + 4 * k) + t] = 1.0
            S[0, LANES * (_UD + k) + t] = -tables.gravity[k]
    return S, np.empty((max(len(tables.dof_link), 3), COLUMN * LANES)), np.empty(18 * LANES)


@swift_kernel
def _lanes(block: int, n: int) -> tuple[int, int]:
    """First frame and number of frames; the last block reaches back so as to be full."""
    if n < LANES:
        return 0, n
    return min(block, n - LANES), LANES


@swift_kernel
def outward(
    tables: Tables, q: Array, v: Array, a: Array, about: Array, first: int, width: int, S: Array, X: Array
) -> None:
    """Rows of all links, each body with its own sums, and [s, s', e, g] of every degree of freedom."""
    _outward(tables, q, v, a, about, first, width, S)
    for i in range(len(tables.links)):
        columns(tables, S, i, X[tables.links[i, 3] :], width)


@swift_kernel
def _outward(tables: Tables, q: Array, v: Array, a: Array, about: Array, first: int, width: int, S: Array) -> None:
    """Frames, velocities and accelerations of links, and each body's own sums."""
    links, numbers = tables.links, tables.numbers
    given = np.empty(_GIVEN * LANES)
    for t in range(width):
        for k in range(3):
            S[0, LANES * (_O + k) + t] = -about[first + t if len(about) > 1 else 0, k]
    for i in range(len(links)):
        kind, at, j = links[i, 1], links[i, 2], links[i, 3]
        up, s, fixed = S[links[i, 0] + 1], S[i + 1], numbers[i]
        if kind <= _BALL:
            for t in range(width):
                for k in range(3):
                    given[LANES * (_V + k) + t] = v[first + t, j + k]
                    given[LANES * (_A + k) + t] = a[first + t, j + k]
                for k in range(3 if kind == _FREE else 4):
                    given[LANES * (_Q + k) + t] = q[first + t, at + k]
            if kind == _FREE:
                _move(up, s, given)
            else:
                _turn_ball(up, s, given, fixed, width)
        else:
            for t in range(width):
                away = q[first + t, at] - fixed[12]
                given[LANES * _Q + t] = away
                given[LANES * _V + t] = v[first + t, j]
                given[LANES * _A + t] = a[first + t, j]
                if kind != _SLIDE:
                    given[LANES * (_Q + 1) + t] = np.cos(away)
                    given[LANES * (_Q + 2) + t] = np.sin(away)
            if kind == _SLIDE:
                _slide(up, s, given, fixed, width)
            else:
                _turn_hinge(up, s, given, fixed, width)
        if links[i, 4] == i:
            _own_sums(s, fixed, width)
    _still_sums(tables, S[0], S[len(links) + 1], width)


@swift_kernel
def inward(tables: Tables, S: Array) -> None:
    """Sums over subtrees; the last row of S becomes the whole figure's."""
    for i in range(len(tables.links) - 1, -1, -1):
        add_to_parent(tables, S, i)


@swift_kernel
def add_to_parent(tables: Tables, S: Array, i: int) -> None:
    """A body's sums, complete once all later links have been here, to the body that carries it."""
    links = tables.links
    if links[i, 4] == i:
        above, s = S[links[i, 5] + 1 if links[i, 5] >= 0 else len(links) + 1], S[i + 1]
        for k in range(LANES * _SUMS, LANES * ROWS):
            above[k] += s[k]


# -------------------------------------------------------------------------------------------------------- joints
@swift_kernel
def _move(up: Array, s: Array, given: Array) -> None:
    """A free joint's first half: places, rates and accelerations along the world's axes."""
    for k in range(LANES * _SUMS):
        s[k] = up[k]
    for k in range(3 * LANES):
        s[LANES * _O + k] += given[LANES * _Q + k]
        s[LANES * _U + k] += given[LANES * _V + k]
        s[LANES * _UD + k] += given[LANES * _A + k]


@swift_kernel
def _slide(up: Array, s: Array, given: Array, fixed: Array, width: int) -> None:
    """A slide's frame, velocity and acceleration: the motion vector is [0; axis]."""
    f, p = _nine(fixed), (fixed[9], fixed[10], fixed[11])
    for t in range(width):
        r = _rotation(up, t)
        o = _add(_three(up, _O, t), _by(r, p))
        r = _product(r, f)
        axis, rate, push = (r[2], r[5], r[8]), given[_at(_V, t)], given[_at(_A, t)]
        w, u, al, b = _three(up, _W, t), _three(up, _U, t), _three(up, _WD, t), _three(up, _UD, t)
        _put_rotation(s, t, r)
        _put(s, _O, t, _add(o, _scaled(given[_at(_Q, t)], axis)))
        _put(s, _W, t, w)
        _put(s, _U, t, _add(u, _scaled(rate, axis)))
        _put(s, _WD, t, al)
        _put(s, _UD, t, _add(b, _add(_scaled(push, axis), _scaled(rate, _cross(w, axis)))))


@swift_kernel
def _turn_hinge(up: Array, s: Array, given: Array, fixed: Array, width: int) -> None:
    """A hinge's frame, velocity and acceleration: the motion vector is [axis; origin x axis]."""
    f, p = _nine(fixed), (fixed[9], fixed[10], fixed[11])
    for t in range(width):
        r = _rotation(up, t)
        o = _add(_three(up, _O, t), _by(r, p))
        r = _product(r, f)
        axis, rate, push = (r[2], r[5], r[8]), given[_at(_V, t)], given[_at(_A, t)]
        arm = _cross(o, axis)
        cos, sin = given[_at(_Q + 1, t)], given[_at(_Q + 2, t)]
        r = (
            r[0] * cos + r[1] * sin, r[1] * cos - r[0] * sin, r[2],
            r[3] * cos + r[4] * sin, r[4] * cos - r[3] * sin, r[5],
            r[6] * cos + r[7] * sin, r[7] * cos - r[6] * sin, r[8],
        )  # fmt: skip
        w, u, al, b = _three(up, _W, t), _three(up, _U, t), _three(up, _WD, t), _three(up, _UD, t)
        _put_rotation(s, t, r)
        _put(s, _O, t, o)
        _put(s, _W, t, _add(w, _scaled(rate, axis)))
        _put(s, _U, t, _add(u, _scaled(rate, arm)))
        _put(s, _WD, t, _add(al, _add(_scaled(push, axis), _scaled(rate, _cross(w, axis)))))
        shift = _add(_cross(w, arm), _cross(u, axis))
        _put(s, _UD, t, _add(b, _add(_scaled(push, arm), _scaled(rate, shift))))


@swift_kernel
def _turn_ball(up: Array, s: Array, given: Array, fixed: Array, width: int) -> None:
    """A ball's frame (quaternions of any length but zero), velocity and acceleration."""
    f, p = _nine(fixed), (fixed[9], fixed[10], fixed[11])
    for t in range(width):
        r = _rotation(up, t)
        o = _add(_three(up, _O, t), _by(r, p))
        c, x = given[_at(_Q, t)], given[_at(_Q + 1, t)]
        y, z = given[_at(_Q + 2, t)], given[_at(_Q + 3, t)]
        two = 2.0 / (c * c + x * x + y * y + z * z)
        turn = (
            1.0 - two * (y * y + z * z), two * (x * y - c * z), two * (x * z + c * y),
            two * (x * y + c * z), 1.0 - two * (x * x + z * z), two * (y * z - c * x),
            two * (x * z - c * y), two * (y * z + c * x), 1.0 - two * (x * x + y * y),
        )  # fmt: skip
        r = _product(_product(r, f), turn)
        w, u, al, b = _three(up, _W, t), _three(up, _U, t), _three(up, _WD, t), _three(up, _UD, t)
        spin, gain = _by(r, _three(given, _V, t)), _by(r, _three(given, _A, t))
        slip, drop = _cross(o, spin), _cross(o, gain)
        _put_rotation(s, t, r)
        _put(s, _O, t, o)
        _put(s, _W, t, _add(w, spin))
        _put(s, _U, t, _add(u, slip))
        _put(s, _WD, t, _add(al, _add(gain, _cross(w, spin))))
        _put(s, _UD, t, _add(b, _add(drop, _add(_cross(w, slip), _cross(u, spin)))))


# ---------------------------------------------------------------------------------------------------------- sums
@swift_kernel
def _own_sums(s: Array, fixed: Array, width: int) -> None:
    """One body's first moment, inertia, its rate, momentum p = I v and force f = I a + v x* p."""
    m, local = fixed[13], (fixed[14], fixed[15], fixed[16])
    I = (fixed[17], fixed[18], fixed[19], fixed[20], fixed[21], fixed[22])
    for t in range(width):
        r = _rotation(s, t)
        w, u, al, b = _three(s, _W, t), _three(s, _U, t), _three(s, _WD, t), _three(s, _UD, t)
        c = _add(_three(s, _O, t), _by(r, local))
        h = _scaled(m, c)
        X, Y, Z = _sym(I, (r[0], r[1], r[2])), _sym(I, (r[3], r[4], r[5])), _sym(I, (r[6], r[7], r[8]))
        xx, yy, zz = h[0] * c[0], h[1] * c[1], h[2] * c[2]
        J = (
            X[0] * r[0] + X[1] * r[1] + X[2] * r[2] + yy + zz,
            X[0] * r[3] + X[1] * r[4] + X[2] * r[5] - h[0] * c[1],
            X[0] * r[6] + X[1] * r[7] + X[2] * r[8] - h[0] * c[2],
            Y[0] * r[3] + Y[1] * r[4] + Y[2] * r[5] + xx + zz,
            Y[0] * r[6] + Y[1] * r[7] + Y[2] * r[8] - h[1] * c[2],
            Z[0] * r[6] + Z[1] * r[7] + Z[2] * r[8] + xx + yy,
        )
        N, l = _add(_sym(J, w), _cross(h, u)), _add(_scaled(m, u), _cross(w, h))
        n = _add(_add(_sym(J, al), _cross(h, b)), _add(_cross(w, N), _cross(u, l)))
        f = _add(_add(_scaled(m, b), _cross(al, h)), _cross(w, l))
        # J' = [w]J + ([w]J)^T + 2 (u.h) 1 - u h^T - h u^T
        X, Y, Z = _cross(w, (J[0], J[1], J[2])), _cross(w, (J[1], J[3], J[4])), _cross(w, (J[2], J[4], J[5]))
        xx, yy, zz = 2.0 * u[0] * h[0], 2.0 * u[1] * h[1], 2.0 * u[2] * h[2]
        K = (
            2.0 * X[0] + yy + zz,
            X[1] + Y[0] - u[0] * h[1] - u[1] * h[0],
            X[2] + Z[0] - u[0] * h[2] - u[2] * h[0],
            2.0 * Y[1] + xx + zz,
            Y[2] + Z[1] - u[1] * h[2] - u[2] * h[1],
            2.0 * Z[2] + xx + yy,
        )
        _put(s, _H, t, h)
        _put_six(s, _J, t, J)
        _put_six(s, _K, t, K)
        _put(s, _N, t, N)
        _put(s, _L, t, l)
        _put(s, _NF, t, n)
        _put(s, _FF, t, f)


@swift_kernel
def _still_sums(tables: Tables, world: Array, whole: Array, width: int) -> None:
    """What bodies fixed to the world add: the world carries their weight."""
    for k in range(LANES * _SUMS, LANES * ROWS):
        whole[k] = 0.0
    m = tables.fixed[0]
    if m == 0.0:
        return
    moment = (tables.fixed[1], tables.fixed[2], tables.fixed[3])
    for t in range(width):
        h, b = _add(moment, _scaled(m, _three(world, _O, t))), _three(world, _UD, t)
        _put(whole, _H, t, h)
        _put(whole, _NF, t, _cross(h, b))
        _put(whole, _FF, t, _scaled(m, b))


@swift_kernel
def total_mass(tables: Tables) -> float:
    mass = tables.fixed[0]
    for i in range(len(tables.links)):
        mass += tables.numbers[i, 13]
    return mass


# ------------------------------------------------------------------------------------------------------- columns
@swift_kernel
def columns(tables: Tables, S: Array, i: int, x: Array, width: int) -> int:
    """[s, s', e, g] of link i's degrees of freedom into the rows of x; returns how many there are."""
    kind = tables.links[i, 1]
    up, s = S[tables.links[i, 0] + 1], S[i + 1]
    if kind == _FREE:  # the world's axes: nothing turns them
        for k in range(3):
            for m in range(COLUMN * LANES):
                x[k, m] = 1.0 if m // LANES == 3 + k else 0.0
        return 3
    if kind == _BALL:
        for k in range(3):
            _ball_column(up, s, x[k], k, width)
        return 3
    _axis_column(up, s, x[0], 0.0 if kind == _SLIDE else 1.0, width)
    return 1


@swift_kernel
def _axis_column(up: Array, s: Array, x: Array, turns: float, width: int) -> None:
    """s, s', e, g of a hinge (turns = 1) or a slide (0)."""
    for t in range(width):
        w, u, al, b = _three(up, _W, t), _three(up, _U, t), _three(up, _WD, t), _three(up, _UD, t)
        axis = (s[_at(2, t)], s[_at(5, t)], s[_at(8, t)])
        sw = _scaled(turns, axis)
        su = _add(_cross(_three(s, _O, t), sw), _scaled(1.0 - turns, axis))
        dw, du = _cross(w, sw), _add(_cross(w, su), _cross(u, sw))
        _put(x, _S, t, sw)
        _put(x, _S + 3, t, su)
        _put(x, _SD, t, dw)
        _put(x, _SD + 3, t, du)
        _put(x, _E, t, _add(_cross(al, sw), _cross(w, dw)))
        _put(x, _E + 3, t, _add(_add(_cross(al, su), _cross(b, sw)), _add(_cross(w, du), _cross(u, dw))))
        _put(x, _G, t, _scaled(2.0, dw))
        _put(x, _G + 3, t, _scaled(2.0, du))


@swift_kernel
def _ball_column(up: Array, s: Array, x: Array, k: int, width: int) -> None:
    """s, s', e, g of a ball's axis k."""
    for t in range(width):
        w, u, al, b = _three(up, _W, t), _three(up, _U, t), _three(up, _WD, t), _three(up, _UD, t)
        sw = (s[_at(k, t)], s[_at(k + 3, t)], s[_at(k + 6, t)])
        su = _cross(_three(s, _O, t), sw)
        dw, du = _cross(w, sw), _add(_cross(w, su), _cross(u, sw))
        spin, slip = _three(s, _W, t), _three(s, _U, t)  # of what the ball moves
        _put(x, _S, t, sw)
        _put(x, _S + 3, t, su)
        _put(x, _SD, t, dw)
        _put(x, _SD + 3, t, du)
        _put(x, _E, t, _add(_cross(al, sw), _cross(w, dw)))
        _put(x, _E + 3, t, _add(_add(_cross(al, su), _cross(b, sw)), _add(_cross(w, du), _cross(u, dw))))
        _put(x, _G, t, _add(dw, _cross(spin, sw)))
        _put(x, _G + 3, t, _add(du, _add(_cross(spin, su), _cross(slip, sw))))


@swift_kernel
def force_columns(s: Array, x: Array, m: float, y: Array, width: int) -> None:
    """dF/dq, dF/dv, dF/da of one column, with the sums `s` and mass m of its subtree, into the rows of y."""
    for t in range(width):
        h, J, K = _three(s, _H, t), _six(s, _J, t), _six(s, _K, t)
        N, l, n, f = _three(s, _N, t), _three(s, _L, t), _three(s, _NF, t), _three(s, _FF, t)
        w, u, dw = _three(x, _S, t), _three(x, _S + 3, t), _three(x, _SD, t)
        ew, eu, gw, gu = _three(x, _E, t), _three(x, _E + 3, t), _three(x, _G, t), _three(x, _G + 3, t)
        # l x u of I' s and u x l of s x* p cancel; -l x w of the one and w x l of the other add up
        top = _add(_add(_cross(w, n), _cross(u, f)), _add(_cross(dw, N), _sym(K, dw)))
        low = _add(_add(_cross(w, f), _cross(ew, h)), _add(_scaled(m, eu), _scaled(2.0, _cross(dw, l))))
        _put(y, 0, t, _add(top, _add(_sym(J, ew), _cross(h, eu))))
        _put(y, 3, t, low)
        _put(y, 6, t, _add(_add(_sym(K, w), _cross(w, N)), _add(_sym(J, gw), _cross(h, gu))))
        _put(y, 9, t, _add(_add(_cross(gw, h), _scaled(m, gu)), _scaled(2.0, _cross(w, l))))
        _put(y, 12, t, _add(_sym(J, w), _cross(h, u)))
        _put(y, 15, t, _add(_cross(w, h), _scaled(m, u)))


@swift_kernel
def _momentum_columns(s: Array, x: Array, m: float, y: Array, width: int) -> None:
    """dH/dq, dH/dv of one column."""
    for t in range(width):
        h, J, N, l = _three(s, _H, t), _six(s, _J, t), _three(s, _N, t), _three(s, _L, t)
        w, u, dw, du = _three(x, _S, t), _three(x, _S + 3, t), _three(x, _SD, t), _three(x, _SD + 3, t)
        _put(y, 0, t, _add(_add(_cross(w, N), _cross(u, l)), _add(_sym(J, dw), _cross(h, du))))
        _put(y, 3, t, _add(_add(_cross(w, l), _cross(dw, h)), _scaled(m, du)))
        _put(y, 6, t, _add(_sym(J, w), _cross(h, u)))
        _put(y, 9, t, _add(_cross(w, h), _scaled(m, u)))


@swift_kernel
def _to_com(whole: Array, inverse: float, y: Array, width: int) -> None:
    """The torques of a column taken about the centre of mass, which moves with q as dF/da's linear rows say."""
    for t in range(width):
        c, f = _scaled(-inverse, _three(whole, _H, t)), _scaled(inverse, _three(whole, _FF, t))
        fq, fv, fa = _three(y, 3, t), _three(y, 9, t), _three(y, 15, t)
        _put(y, 0, t, _add(_three(y, 0, t), _add(_cross(c, fq), _cross(f, fa))))
        _put(y, 6, t, _add(_three(y, 6, t), _cross(c, fv)))
        _put(y, 12, t, _add(_three(y, 12, t), _cross(c, fa)))


# ------------------------------------------------------------------------------------------------------ geometry
@swift_kernel
def _at(k: int, t: int) -> np.uint64:
    """Where number k of lane t lies; unsigned, for a test of its sign at each use would keep loops from vectorising."""
    return np.uint64(LANES * k + t)


@swift_kernel
def _three(s: Array, k: int, t: int) -> Vec:
    return (s[_at(k, t)], s[_at(k + 1, t)], s[_at(k + 2, t)])


@swift_kernel
def _six(s: Array, k: int, t: int) -> Sym:
    return (
        s[_at(k, t)], s[_at(k + 1, t)], s[_at(k + 2, t)], s[_at(k + 3, t)], s[_at(k + 4, t)], s[_at(k + 5, t)]
    )  # fmt: skip


@swift_kernel
def _rotation(s: Array, t: int) -> Mat:
    return (
        s[_at(0, t)], s[_at(1, t)], s[_at(2, t)], s[_at(3, t)], s[_at(4, t)], s[_at(5, t)],
        s[_at(6, t)], s[_at(7, t)], s[_at(8, t)],
    )  # fmt: skip


@swift_kernel
def _nine(f: Array) -> Mat:
    return (f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8])


@swift_kernel
def _put(s: Array, k: int, t: int, a: Vec) -> None:
    s[_at(k, t)], s[_at(k + 1, t)], s[_at(k + 2, t)] = a[0], a[1], a[2]


@swift_kernel
def _put_six(s: Array, k: int, t: int, a: Sym) -> None:
    _put(s, k, t, (a[0], a[1], a[2]))
    _put(s, k + 3, t, (a[3], a[4], a[5]))


@swift_kernel
def _put_rotation(s: Array, t: int, r: Mat) -> None:
    _put(s, 0, t, (r[0], r[1], r[2]))
    _put(s, 3, t, (r[3], r[4], r[5]))
    _put(s, 6, t, (r[6], r[7], r[8]))


@swift_kernel
def _product(a: Mat, b: Mat) -> Mat:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6], a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6], a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6], a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )  # fmt: skip


@swift_kernel
def _by(r: Mat, p: Vec) -> Vec:
    return (
        r[0] * p[0] + r[1] * p[1] + r[2] * p[2],
        r[3] * p[0] + r[4] * p[1] + r[5] * p[2],
        r[6] * p[0] + r[7] * p[1] + r[8] * p[2],
    )


@swift_kernel
def _sym(J: Sym, w: Vec) -> Vec:
    return (
        J[0] * w[0] + J[1] * w[1] + J[2] * w[2],
        J[1] * w[0] + J[3] * w[1] + J[4] * w[2],
        J[2] * w[0] + J[4] * w[1] + J[5] * w[2],
    )


@swift_kernel
def _scaled(k: float, a: Vec) -> Vec:
    return (k * a[0], k * a[1], k * a[2])


@swift_kernel
def _add(a: Vec, b: Vec) -> Vec:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@swift_kernel
def _cross(a: Vec, b: Vec) -> Vec:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
