"""Passes over the links, eight poses at a time: kinematics from root to leaves, and sums over subtrees on the way back.

`character/kinematics.py` is the forward kinematics of all other rooms, one pose after the other. This second form stays
for speed: the vector units of the processor work on eight poses at once (places of points and their Jacobians took 1.3
to 1.9 times as long with the other), and the aggregate force also needs velocities and accelerations of links about any
reference point.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays
from counterpoise.spacetime.aggregate.lanes import (
    ANGULAR,
    FIRST_MOMENT,
    FORCE,
    INERTIA,
    INERTIA_RATE,
    LANES,
    LINEAR,
    LINK_ROWS,
    ORIGIN,
    ROTATION,
    SPEED,
    SPEED_RATE,
    SPIN,
    SPIN_RATE,
    SUMS,
    TORQUE,
    cross,
    lane,
    nine,
    plus,
    product,
    put,
    put_rotation,
    put_six,
    rotation_of,
    scaled,
    sym_times,
    three,
    turned,
)
from counterpoise.spacetime.aggregate.tables import (
    BALL,
    CENTRE,
    FIRST_Q,
    FIRST_V,
    FREE,
    HINGE,
    KIND,
    LINK_INERTIA,
    MASS,
    OFFSET,
    PARENT,
    REST,
    SUMS_LINK,
    SUMS_PARENT,
    LinkTables,
)

# rows of what drives one joint: coordinates (of a hinge: angle, cosine, sine), rates, accelerations
JOINT_Q, JOINT_V, JOINT_A, JOINT_ROWS = 0, 4, 7, 10


@inner_kernel_with_arrays
def link_rows(tables: LinkTables) -> Array:
    """Returns rows for the world (the first), the links, and the whole character (the last)."""
    S = np.empty((len(tables.links) + 2, LINK_ROWS * LANES))
    S[0] = 0.0
    for t in range(LANES):
        for k in range(3):
            S[0, LANES * (ROTATION + 4 * k) + t] = 1.0
            S[0, LANES * (SPEED_RATE + k) + t] = -tables.gravity[k]
    return S


# -------------------------------------------------------------------------------------------------------- passes
@inner_kernel_with_arrays
def links_outward(
    tables: LinkTables, q: Array, v: Array, a: Array, about: Array, first: int, width: int, S: Array, moving: bool
) -> None:
    """Writes frames of links from the root to the leaves, relative to the reference points `about` ((1, 3) or (n, 3)).

    If `moving`, it also writes their velocities and accelerations, and the sums of each single body.
    """
    links, numbers = tables.links, tables.numbers
    joint = np.empty(JOINT_ROWS * LANES)
    for t in range(width):
        for k in range(3):
            S[0, LANES * (ORIGIN + k) + t] = -about[first + t if len(about) > 1 else 0, k]
    for i in range(len(links)):
        kind, at, j = links[i, KIND], links[i, FIRST_Q], links[i, FIRST_V]
        up, s, fixed = S[links[i, PARENT] + 1], S[i + 1], numbers[i]
        if kind <= BALL:
            for t in range(width):
                for k in range(3 if kind == FREE else 4):
                    joint[LANES * (JOINT_Q + k) + t] = q[first + t, at + k]
                for k in range(3):
                    joint[LANES * (JOINT_V + k) + t] = v[first + t, j + k]
                    joint[LANES * (JOINT_A + k) + t] = a[first + t, j + k]
            if kind == FREE:
                _free_link(up, s, joint)
            else:
                _ball_frame(up, s, joint, fixed, width)
                if moving:
                    _ball_motion(up, s, joint, width)
        else:
            for t in range(width):
                away = q[first + t, at] - fixed[REST]
                joint[LANES * JOINT_Q + t] = away
                joint[LANES * JOINT_V + t] = v[first + t, j]
                joint[LANES * JOINT_A + t] = a[first + t, j]
                if kind == HINGE:
                    joint[LANES * (JOINT_Q + 1) + t] = np.cos(away)
                    joint[LANES * (JOINT_Q + 2) + t] = np.sin(away)
            if kind == HINGE:
                _hinge_frame(up, s, joint, fixed, width)
                if moving:
                    _hinge_motion(up, s, joint, width)
            else:
                _slide_frame(up, s, joint, fixed, width)
                if moving:
                    _slide_motion(up, s, joint, width)
        if moving and links[i, SUMS_LINK] == i:
            own_sums(s, fixed, width)
    if moving:
        _fixed_sums(tables, S[0], S[len(links) + 1], width)


@inner_kernel
def inward(tables: LinkTables, S: Array) -> None:
    """Sums over subtrees. The last row of S becomes the sum over the whole character."""
    for i in range(len(tables.links) - 1, -1, -1):
        add_to_parent(tables, S, i)


@inner_kernel
def add_to_parent(tables: LinkTables, S: Array, i: int) -> None:
    """Adds the sums of a body to those of its parent body; call it from the last link to the first."""
    links = tables.links
    if links[i, SUMS_LINK] == i:
        above, s = S[links[i, SUMS_PARENT] + 1 if links[i, SUMS_PARENT] >= 0 else len(links) + 1], S[i + 1]
        for k in range(LANES * SUMS, LANES * LINK_ROWS):
            above[k] += s[k]


# -------------------------------------------------------------------------------------------------------- joints
@inner_kernel
def _free_link(up: Array, s: Array, joint: Array) -> None:
    """A free joint's first link: frame, velocity and acceleration along the world's axes."""
    for k in range(LANES * SUMS):
        s[k] = up[k]
    for k in range(3 * LANES):
        s[LANES * ORIGIN + k] += joint[LANES * JOINT_Q + k]
        s[LANES * SPEED + k] += joint[LANES * JOINT_V + k]
        s[LANES * SPEED_RATE + k] += joint[LANES * JOINT_A + k]


@inner_kernel
def _ball_frame(up: Array, s: Array, joint: Array, fixed: Array, width: int) -> None:
    """A ball's frame. Its quaternion may have any length but zero."""
    f, p = nine(fixed), (fixed[OFFSET], fixed[OFFSET + 1], fixed[OFFSET + 2])
    for t in range(width):
        r = rotation_of(up, t)
        w, x = joint[lane(JOINT_Q, t)], joint[lane(JOINT_Q + 1, t)]
        y, z = joint[lane(JOINT_Q + 2, t)], joint[lane(JOINT_Q + 3, t)]
        two = 2.0 / (w * w + x * x + y * y + z * z)
        turn = (
            1.0 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y),
            two * (x * y + w * z), 1.0 - two * (x * x + z * z), two * (y * z - w * x),
            two * (x * z - w * y), two * (y * z + w * x), 1.0 - two * (x * x + y * y),
        )  # fmt: skip
        put(s, ORIGIN, t, plus(three(up, ORIGIN, t), turned(r, p)))
        put_rotation(s, t, product(product(r, f), turn))


@inner_kernel
def _slide_frame(up: Array, s: Array, joint: Array, fixed: Array, width: int) -> None:
    """A slide's frame, displaced along its z axis."""
    f, p = nine(fixed), (fixed[OFFSET], fixed[OFFSET + 1], fixed[OFFSET + 2])
    for t in range(width):
        r = rotation_of(up, t)
        o = plus(three(up, ORIGIN, t), turned(r, p))
        r = product(r, f)
        put(s, ORIGIN, t, plus(o, scaled(joint[lane(JOINT_Q, t)], (r[2], r[5], r[8]))))
        put_rotation(s, t, r)


@inner_kernel
def _hinge_frame(up: Array, s: Array, joint: Array, fixed: Array, width: int) -> None:
    """A hinge's frame, turned about its z axis by an angle given as cosine and sine."""
    f, p = nine(fixed), (fixed[OFFSET], fixed[OFFSET + 1], fixed[OFFSET + 2])
    for t in range(width):
        r = rotation_of(up, t)
        put(s, ORIGIN, t, plus(three(up, ORIGIN, t), turned(r, p)))
        r = product(r, f)
        cos, sin = joint[lane(JOINT_Q + 1, t)], joint[lane(JOINT_Q + 2, t)]
        r = (
            r[0] * cos + r[1] * sin, r[1] * cos - r[0] * sin, r[2],
            r[3] * cos + r[4] * sin, r[4] * cos - r[3] * sin, r[5],
            r[6] * cos + r[7] * sin, r[7] * cos - r[6] * sin, r[8],
        )  # fmt: skip
        put_rotation(s, t, r)


@inner_kernel
def _ball_motion(up: Array, s: Array, joint: Array, width: int) -> None:
    """A ball turns about its own three axes."""
    for t in range(width):
        r, o = rotation_of(s, t), three(s, ORIGIN, t)
        w, u, dw, du = three(up, SPIN, t), three(up, SPEED, t), three(up, SPIN_RATE, t), three(up, SPEED_RATE, t)
        rate, push = turned(r, three(joint, JOINT_V, t)), turned(r, three(joint, JOINT_A, t))
        arm, push_arm = cross(o, rate), cross(o, push)
        put(s, SPIN, t, plus(w, rate))
        put(s, SPEED, t, plus(u, arm))
        put(s, SPIN_RATE, t, plus(dw, plus(push, cross(w, rate))))
        put(s, SPEED_RATE, t, plus(du, plus(push_arm, plus(cross(w, arm), cross(u, rate)))))


@inner_kernel
def _slide_motion(up: Array, s: Array, joint: Array, width: int) -> None:
    """A slide's motion vector is [0; axis]."""
    for t in range(width):
        axis = (s[lane(2, t)], s[lane(5, t)], s[lane(8, t)])
        rate, push = joint[lane(JOINT_V, t)], joint[lane(JOINT_A, t)]
        w = three(up, SPIN, t)
        put(s, SPIN, t, w)
        put(s, SPEED, t, plus(three(up, SPEED, t), scaled(rate, axis)))
        put(s, SPIN_RATE, t, three(up, SPIN_RATE, t))
        change = plus(scaled(push, axis), scaled(rate, cross(w, axis)))
        put(s, SPEED_RATE, t, plus(three(up, SPEED_RATE, t), change))


@inner_kernel
def _hinge_motion(up: Array, s: Array, joint: Array, width: int) -> None:
    """A hinge's motion vector is [axis; origin x axis]."""
    for t in range(width):
        axis = (s[lane(2, t)], s[lane(5, t)], s[lane(8, t)])
        rate, push = joint[lane(JOINT_V, t)], joint[lane(JOINT_A, t)]
        arm = cross(three(s, ORIGIN, t), axis)
        w, u, dw, du = three(up, SPIN, t), three(up, SPEED, t), three(up, SPIN_RATE, t), three(up, SPEED_RATE, t)
        put(s, SPIN, t, plus(w, scaled(rate, axis)))
        put(s, SPEED, t, plus(u, scaled(rate, arm)))
        put(s, SPIN_RATE, t, plus(dw, plus(scaled(push, axis), scaled(rate, cross(w, axis)))))
        turn = plus(cross(w, arm), cross(u, axis))
        put(s, SPEED_RATE, t, plus(du, plus(scaled(push, arm), scaled(rate, turn))))


# ---------------------------------------------------------------------------------------------------------- sums
@inner_kernel
def own_sums(s: Array, fixed: Array, width: int) -> None:
    """Writes first moment, inertia, its rate, momentum p = I v and force f = I a + v x* p of one body."""
    m, local = fixed[MASS], (fixed[CENTRE], fixed[CENTRE + 1], fixed[CENTRE + 2])
    I = (
        fixed[LINK_INERTIA], fixed[LINK_INERTIA + 1], fixed[LINK_INERTIA + 2],
        fixed[LINK_INERTIA + 3], fixed[LINK_INERTIA + 4], fixed[LINK_INERTIA + 5],
    )  # fmt: skip
    for t in range(width):
        r = rotation_of(s, t)
        w, u, al, b = three(s, SPIN, t), three(s, SPEED, t), three(s, SPIN_RATE, t), three(s, SPEED_RATE, t)
        c = plus(three(s, ORIGIN, t), turned(r, local))
        h = scaled(m, c)
        X, Y, Z = sym_times(I, (r[0], r[1], r[2])), sym_times(I, (r[3], r[4], r[5])), sym_times(I, (r[6], r[7], r[8]))
        xx, yy, zz = h[0] * c[0], h[1] * c[1], h[2] * c[2]
        J = (
            X[0] * r[0] + X[1] * r[1] + X[2] * r[2] + yy + zz,
            X[0] * r[3] + X[1] * r[4] + X[2] * r[5] - h[0] * c[1],
            X[0] * r[6] + X[1] * r[7] + X[2] * r[8] - h[0] * c[2],
            Y[0] * r[3] + Y[1] * r[4] + Y[2] * r[5] + xx + zz,
            Y[0] * r[6] + Y[1] * r[7] + Y[2] * r[8] - h[1] * c[2],
            Z[0] * r[6] + Z[1] * r[7] + Z[2] * r[8] + xx + yy,
        )
        N, l = plus(sym_times(J, w), cross(h, u)), plus(scaled(m, u), cross(w, h))
        n = plus(plus(sym_times(J, al), cross(h, b)), plus(cross(w, N), cross(u, l)))
        f = plus(plus(scaled(m, b), cross(al, h)), cross(w, l))
        # J' = [w]J + ([w]J)^T + 2 (u.h) 1 - u h^T - h u^T
        X, Y, Z = cross(w, (J[0], J[1], J[2])), cross(w, (J[1], J[3], J[4])), cross(w, (J[2], J[4], J[5]))
        xx, yy, zz = 2.0 * u[0] * h[0], 2.0 * u[1] * h[1], 2.0 * u[2] * h[2]
        K = (
            2.0 * X[0] + yy + zz,
            X[1] + Y[0] - u[0] * h[1] - u[1] * h[0],
            X[2] + Z[0] - u[0] * h[2] - u[2] * h[0],
            2.0 * Y[1] + xx + zz,
            Y[2] + Z[1] - u[1] * h[2] - u[2] * h[1],
            2.0 * Z[2] + xx + yy,
        )
        put(s, FIRST_MOMENT, t, h)
        put_six(s, INERTIA, t, J)
        put_six(s, INERTIA_RATE, t, K)
        put(s, ANGULAR, t, N)
        put(s, LINEAR, t, l)
        put(s, TORQUE, t, n)
        put(s, FORCE, t, f)


@inner_kernel
def _fixed_sums(tables: LinkTables, world: Array, whole: Array, width: int) -> None:
    """Starts the sums of the whole character with those of bodies fixed to the world, which carries their weight."""
    for k in range(LANES * SUMS, LANES * LINK_ROWS):
        whole[k] = 0.0
    m = tables.fixed[0]
    if m == 0.0:
        return
    moment = (tables.fixed[1], tables.fixed[2], tables.fixed[3])
    for t in range(width):
        h, b = plus(moment, scaled(m, three(world, ORIGIN, t))), three(world, SPEED_RATE, t)
        put(whole, FIRST_MOMENT, t, h)
        put(whole, TORQUE, t, cross(h, b))
        put(whole, FORCE, t, scaled(m, b))


@inner_kernel
def total_mass(tables: LinkTables) -> float:
    mass = tables.fixed[0]
    for i in range(len(tables.links)):
        mass += tables.numbers[i, MASS]
    return mass
