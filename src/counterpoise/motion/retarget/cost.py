"""Kernels for the cost of one frame of a fit, with its gradient and Gauss-Newton matrix.

Rows reach only the joints above their body, so the matrix is summed over short lists of dofs (`above`: for every body
the dofs that move it).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import Tree, forward_kinematics, row_times
from counterpoise.character.limits import fill_ball_rows
from counterpoise.kernels import fma, inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.motion.retarget.tangents import tangent_from

Lists: TypeAlias = tuple[Ints, Ints]  # starts, dofs
Aims: TypeAlias = tuple[Ints, Array, Array]  # body; bone in its frame (3,); weights of direction and twist [1/rad]
# body; place in its frame (3,); weight of not sinking [1/m]; height that it must not sink below [m]
Points: TypeAlias = tuple[Ints, Array, Array, Array]
Balls: TypeAlias = tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array]  # `Limits.ball_tables`
LimitRows: TypeAlias = tuple[Array, Array, Ints]  # value, gradient (3,) and first dof of every ball limit
BodyFrames: TypeAlias = tuple[Array, Array, Array, Array]  # workspace: places, matrices, quaternions, motion vectors


@kernel
def frame_cost(
    q: Array, tree: Tree, above: Lists, aims: Aims, wanted: Array, points: Points, places: Array, pulls: Array,
    tie: Array, reference: Array, balls: Balls, limit: tuple[float, float], frames: BodyFrames, tangent: Array,
    rows: LimitRows, full: bool, H: Array, g: Array,
) -> float:  # fmt: skip
    """Returns the cost at q; with `full` also fills its gradient g and Gauss-Newton matrix H (lower triangle).

    `limit` are the weight of ball limits and the margin at which they begin. They count in the cost, but not in g and
    H: their rows are filled into `rows`, and the step takes those that it would break.
    """
    xpos, xmat, xquat, motion = frames
    forward_kinematics(q, tree, xpos, xmat, xquat, motion)
    if full:
        H[:] = 0.0
        g[:] = 0.0
    cost = _aims_cost(above, aims, wanted, xmat, xquat, motion, full, H, g)
    cost += _points_cost(above, points, places, pulls, xpos, xmat, motion, full, H, g)
    tangent_from(reference, q, tree[5], tree[6], tree[7], tangent)
    for i in range(len(g)):
        weight = tie[i] ** 2
        cost += weight * tangent[i] ** 2
        if full:
            g[i] += weight * tangent[i]
            H[i, i] += weight
    cost += _limits_cost(q, balls, limit, rows)
    return 0.5 * cost


@inner_kernel_with_arrays
def _aims_cost(
    above: Lists, aims: Aims, wanted: Array, xmat: Array, xquat: Array, motion: Array, full: bool, H: Array, g: Array
) -> float:
    """Returns twice the cost of bones that should be turned as `wanted` (aims, 4); adds to H and g with `full`."""
    cost = 0.0
    bone, swing, about = np.empty(3), np.empty(3), np.empty(3)
    column = np.empty((len(g), 5))  # of each dof: its axis, the parts along the bone and about it
    start, listed = above
    bodies, axes, weights = aims
    for m in range(len(bodies)):
        b = bodies[m]
        wd, wt = weights[m, 0] ** 2, weights[m, 1] ** 2
        twist = _aim_error(xmat[b], xquat[b], axes[m], wanted[m], bone, swing, about)
        cost += wd * (swing[0] ** 2 + swing[1] ** 2 + swing[2] ** 2) + wt * twist * twist
        if not full:
            continue
        for s in range(start[b + 1] - start[b]):
            i = listed[start[b] + s]
            x, y, z = motion[i, 0], motion[i, 1], motion[i, 2]
            along = fma(bone[0], x, fma(bone[1], y, bone[2] * z))
            turn = fma(about[0], x, fma(about[1], y, about[2] * z))
            own = column[s]
            own[0], own[1], own[2], own[3], own[4] = x, y, z, along, turn
            g[i] -= wd * (x * swing[0] + y * swing[1] + z * swing[2]) + wt * twist * turn
            x, y, z, along, turn = wd * x, wd * y, wd * z, -wd * along, wt * turn
            for r in range(s + 1):
                w = column[r]
                swung = fma(x, w[0], fma(y, w[1], z * w[2]))
                H[i, listed[start[b] + r]] += swung + fma(along, w[3], turn * w[4])
    return cost


@inner_kernel_with_arrays
def _points_cost(
    above: Lists, points: Points, places: Array, pulls: Array, xpos: Array, xmat: Array, motion: Array, full: bool,
    H: Array, g: Array,
) -> float:  # fmt: skip
    """Returns twice the cost of points that should be at `places` and above the ground; adds to H and g with `full`."""
    cost = 0.0
    at, column = np.empty(3), np.empty((len(g), 3))
    start, listed = above
    bodies, locals_, floors, levels = points
    for m in range(len(bodies)):
        b = bodies[m]
        for k in range(3):
            at[k] = xpos[b, k] + row_times(xmat[b], k, locals_[m])
        weight = pulls[m] ** 2
        floor = floors[m] ** 2
        e0, e1, e2 = at[0] - places[m, 0], at[1] - places[m, 1], at[2] - places[m, 2]
        cost += weight * (e0 * e0 + e1 * e1 + e2 * e2)
        sunk = min(0.0, at[2] - levels[m]) if floor > 0.0 else 0.0
        cost += floor * sunk * sunk
        if sunk == 0.0:
            floor = 0.0
        if not full or (weight == 0.0 and floor == 0.0):
            continue
        for s in range(start[b], start[b + 1]):
            wi = motion[listed[s]]
            column[s - start[b], 0] = fma(wi[1], at[2], fma(-wi[2], at[1], wi[3]))
            column[s - start[b], 1] = fma(wi[2], at[0], fma(-wi[0], at[2], wi[4]))
            column[s - start[b], 2] = fma(wi[0], at[1], fma(-wi[1], at[0], wi[5]))
        upright = weight + floor
        for s in range(start[b + 1] - start[b]):
            i = listed[start[b] + s]
            c0, c1, c2 = weight * column[s, 0], weight * column[s, 1], upright * column[s, 2]
            g[i] += c0 * e0 + c1 * e1 + weight * column[s, 2] * e2 + floor * column[s, 2] * sunk
            for r in range(s + 1):
                w = column[r]
                H[i, listed[start[b] + r]] += fma(c0, w[0], fma(c1, w[1], c2 * w[2]))
    return cost


@inner_kernel
def _limits_cost(q: Array, balls: Balls, limit: tuple[float, float], rows: LimitRows) -> float:
    """Returns twice the cost of ball joints beyond their limits, and fills the rows of these limits."""
    cost = 0.0
    ball_q, ball_v, axis, rest, normals, offsets, faces, twists = balls
    over, slopes, dofs = rows
    row = 0
    for j in range(len(ball_q)):
        first, last = faces[j], faces[j + 1]
        count = last - first + 2
        fill_ball_rows(
            q[ball_q[j] : ball_q[j] + 4], axis[j], rest[j], normals[first:last], offsets[first:last],
            twists[j, 0], twists[j, 1], over[row : row + count], slopes[row : row + count],
        )  # fmt: skip
        for i in range(row, row + count):
            over[i] += limit[1]
            dofs[i] = ball_v[j]
            if over[i] > 0.0:
                cost += limit[0] ** 2 * over[i] ** 2
        row += count
    return cost


@inner_kernel
def _aim_error(R: Array, quat: Array, axis: Array, wanted: Array, bone: Array, swing: Array, about: Array) -> float:
    """Fills the bone's direction d and the rotation vector that swings it to d*. Returns the twist left after that
    [rad].

    A turn w of the body reduces the twist by w . (d + d*) / (1 + d . d*), whose second factor is filled as `about`.
    """
    w, x, y, z = wanted[0], wanted[1], wanted[2], wanted[3]
    for k in range(3):
        bone[k] = row_times(R, k, axis)
    # d*, the direction that is wanted
    tx = 2.0 * (y * axis[2] - z * axis[1])
    ty = 2.0 * (z * axis[0] - x * axis[2])
    tz = 2.0 * (x * axis[1] - y * axis[0])
    gx = axis[0] + w * tx + y * tz - z * ty
    gy = axis[1] + w * ty + z * tx - x * tz
    gz = axis[2] + w * tz + x * ty - y * tx
    cx, cy, cz = bone[1] * gz - bone[2] * gy, bone[2] * gx - bone[0] * gz, bone[0] * gy - bone[1] * gx
    sine = np.sqrt(cx * cx + cy * cy + cz * cz)
    cosine = bone[0] * gx + bone[1] * gy + bone[2] * gz
    angle = np.arctan2(sine, cosine)
    scale = angle / sine if sine > 1e-9 else 1.0
    swing[0], swing[1], swing[2] = scale * cx, scale * cy, scale * cz
    share = 1.0 / max(1.0 + cosine, 1e-2)
    about[0], about[1], about[2] = share * (bone[0] + gx), share * (bone[1] + gy), share * (bone[2] + gz)
    # the twist about d* of wanted * (swing * now)^-1
    half = 1.0 / np.sqrt(max(2.0 * (1.0 + cosine), 1e-12))
    sw, sx, sy, sz = 0.5 / half, cx * half, cy * half, cz * half
    a, b, c, d = quat[0], quat[1], quat[2], quat[3]
    nw = sw * a - sx * b - sy * c - sz * d
    nx = sw * b + sx * a + sy * d - sz * c
    ny = sw * c - sx * d + sy * a + sz * b
    nz = sw * d + sx * c - sy * b + sz * a
    ew = w * nw + x * nx + y * ny + z * nz
    ex = -w * nx + x * nw - y * nz + z * ny
    ey = -w * ny + x * nz + y * nw - z * nx
    ez = -w * nz - x * ny + y * nx + z * nw
    along = ex * gx + ey * gy + ez * gz
    twist = 2.0 * np.arctan2(along, ew)
    if twist > np.pi:
        twist -= 2.0 * np.pi
    elif twist < -np.pi:
        twist += 2.0 * np.pi
    return twist
