"""Compiled columns of derivatives, one for each degree of freedom: first s, s', e, g, then the derivatives themselves.

The formulas are in `kernels`.
"""

from __future__ import annotations

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel
from counterpoise.spacetime.aggregate.lanes import (
    ANGULAR,
    AXIS,
    AXIS_E,
    AXIS_G,
    AXIS_RATE,
    BY_A,
    BY_Q,
    BY_V,
    COLUMN_ROWS,
    FIRST_MOMENT,
    FORCE,
    INERTIA,
    INERTIA_RATE,
    LANES,
    LINEAR,
    ORIGIN,
    SPEED,
    SPEED_RATE,
    SPIN,
    SPIN_RATE,
    TORQUE,
    cross,
    lane,
    plus,
    put,
    scaled,
    six,
    sym_times,
    three,
)
from counterpoise.spacetime.aggregate.tables import (
    BALL,
    FREE,
    KIND,
    PARENT,
    SLIDE,
    LinkTables,
)


@inner_kernel
def columns(tables: LinkTables, S: Array, i: int, x: Array, width: int) -> int:
    """Writes [s, s', e, g] of the degrees of freedom of link i to the rows of x. Returns their number."""
    kind = tables.links[i, KIND]
    up, s = S[tables.links[i, PARENT] + 1], S[i + 1]
    if kind == FREE:  # along the world's axes, which do not turn
        for k in range(3):
            for m in range(COLUMN_ROWS * LANES):
                x[k, m] = 1.0 if m // LANES == 3 + k else 0.0
        return 3
    if kind == BALL:
        for k in range(3):
            _ball_column(up, s, x[k], k, width)
        return 3
    _axis_column(up, s, x[0], 0.0 if kind == SLIDE else 1.0, width)
    return 1


@inner_kernel
def _axis_column(up: Array, s: Array, x: Array, turns: float, width: int) -> None:
    """Writes s, s', e, g of a hinge (turns = 1) or a slide (turns = 0)."""
    for t in range(width):
        w, u, al, b = three(up, SPIN, t), three(up, SPEED, t), three(up, SPIN_RATE, t), three(up, SPEED_RATE, t)
        axis = (s[lane(2, t)], s[lane(5, t)], s[lane(8, t)])
        sw = scaled(turns, axis)
        su = plus(cross(three(s, ORIGIN, t), sw), scaled(1.0 - turns, axis))
        dw, du = cross(w, sw), plus(cross(w, su), cross(u, sw))
        put(x, AXIS, t, sw)
        put(x, AXIS + 3, t, su)
        put(x, AXIS_RATE, t, dw)
        put(x, AXIS_RATE + 3, t, du)
        put(x, AXIS_E, t, plus(cross(al, sw), cross(w, dw)))
        put(x, AXIS_E + 3, t, plus(plus(cross(al, su), cross(b, sw)), plus(cross(w, du), cross(u, dw))))
        put(x, AXIS_G, t, scaled(2.0, dw))
        put(x, AXIS_G + 3, t, scaled(2.0, du))


@inner_kernel
def _ball_column(up: Array, s: Array, x: Array, k: int, width: int) -> None:
    """Writes s, s', e, g of axis k of a ball."""
    for t in range(width):
        w, u, al, b = three(up, SPIN, t), three(up, SPEED, t), three(up, SPIN_RATE, t), three(up, SPEED_RATE, t)
        sw = (s[lane(k, t)], s[lane(k + 3, t)], s[lane(k + 6, t)])
        su = cross(three(s, ORIGIN, t), sw)
        dw, du = cross(w, sw), plus(cross(w, su), cross(u, sw))
        spin, speed = three(s, SPIN, t), three(s, SPEED, t)  # of the body that the ball moves
        put(x, AXIS, t, sw)
        put(x, AXIS + 3, t, su)
        put(x, AXIS_RATE, t, dw)
        put(x, AXIS_RATE + 3, t, du)
        put(x, AXIS_E, t, plus(cross(al, sw), cross(w, dw)))
        put(x, AXIS_E + 3, t, plus(plus(cross(al, su), cross(b, sw)), plus(cross(w, du), cross(u, dw))))
        put(x, AXIS_G, t, plus(dw, cross(spin, sw)))
        put(x, AXIS_G + 3, t, plus(du, plus(cross(spin, su), cross(speed, sw))))


@inner_kernel
def force_columns(s: Array, x: Array, m: float, y: Array, width: int) -> None:
    """Writes dF/dq, dF/dv, dF/da of one column x to the rows of y; s and m are sums and mass of its subtree."""
    for t in range(width):
        h, J, K = three(s, FIRST_MOMENT, t), six(s, INERTIA, t), six(s, INERTIA_RATE, t)
        N, l, n, f = three(s, ANGULAR, t), three(s, LINEAR, t), three(s, TORQUE, t), three(s, FORCE, t)
        w, u, dw = three(x, AXIS, t), three(x, AXIS + 3, t), three(x, AXIS_RATE, t)
        ew, eu, gw, gu = three(x, AXIS_E, t), three(x, AXIS_E + 3, t), three(x, AXIS_G, t), three(x, AXIS_G + 3, t)
        # in dF/dv, l x u of I' s and u x l of s x* p cancel; -l x w of the first and w x l of the second add up
        top = plus(plus(cross(w, n), cross(u, f)), plus(cross(dw, N), sym_times(K, dw)))
        low = plus(plus(cross(w, f), cross(ew, h)), plus(scaled(m, eu), scaled(2.0, cross(dw, l))))
        put(y, BY_Q, t, plus(top, plus(sym_times(J, ew), cross(h, eu))))
        put(y, BY_Q + 3, t, low)
        put(y, BY_V, t, plus(plus(sym_times(K, w), cross(w, N)), plus(sym_times(J, gw), cross(h, gu))))
        put(y, BY_V + 3, t, plus(plus(cross(gw, h), scaled(m, gu)), scaled(2.0, cross(w, l))))
        put(y, BY_A, t, plus(sym_times(J, w), cross(h, u)))
        put(y, BY_A + 3, t, plus(cross(w, h), scaled(m, u)))


@inner_kernel
def momentum_columns(s: Array, x: Array, m: float, y: Array, width: int) -> None:
    """Writes dH/dq, dH/dv of one column x to the rows of y; s and m are sums and mass of its subtree."""
    for t in range(width):
        h, J, N, l = three(s, FIRST_MOMENT, t), six(s, INERTIA, t), three(s, ANGULAR, t), three(s, LINEAR, t)
        w, u, dw, du = three(x, AXIS, t), three(x, AXIS + 3, t), three(x, AXIS_RATE, t), three(x, AXIS_RATE + 3, t)
        put(y, BY_Q, t, plus(plus(cross(w, N), cross(u, l)), plus(sym_times(J, dw), cross(h, du))))
        put(y, BY_Q + 3, t, plus(plus(cross(w, l), cross(dw, h)), scaled(m, du)))
        put(y, BY_V, t, plus(sym_times(J, w), cross(h, u)))
        put(y, BY_V + 3, t, plus(cross(w, h), scaled(m, u)))


@inner_kernel
def columns_about_com(whole: Array, inverse: float, y: Array, width: int) -> None:
    """Refers the torques of a column y to the centre of mass. The linear rows of dF/da say how it moves with q."""
    for t in range(width):
        c, f = scaled(-inverse, three(whole, FIRST_MOMENT, t)), scaled(inverse, three(whole, FORCE, t))
        fq, fv, fa = three(y, BY_Q + 3, t), three(y, BY_V + 3, t), three(y, BY_A + 3, t)
        put(y, BY_Q, t, plus(three(y, BY_Q, t), plus(cross(c, fq), cross(f, fa))))
        put(y, BY_V, t, plus(three(y, BY_V, t), cross(c, fv)))
        put(y, BY_A, t, plus(three(y, BY_A, t), cross(c, fa)))
