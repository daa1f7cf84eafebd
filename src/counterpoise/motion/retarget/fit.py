"""The compiled fitter behind retargeting: every frame of a clip, one after the other, by damped Gauss-Newton.

A frame minimises, over the pose q, the sum of squares of

    w_d |swing(d, d*)|, w_t phi     each mapped body: its bone d brought to d*, then turned by phi about it,
    w_p (p(q) - p*)                 points that belong somewhere (hips, soles, hands),
    w_f min(0, p_z)                 points that must not sink into the ground,
    w_l max(0, g(q) + margin)       swing cones and twists of ball joints,
    w_i (q - q_ref)_i               the pose it leans on,

under the ranges of hinges and slides, held exactly by an active set. Rows reach only the joints above their body, so
the normal matrix is summed over short lists. Each frame starts from its own first guess or from the frame before.
All kernels live in this file: numba's cache does not look into others.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import BALL, FREE, Tree, forward_kinematics, row_times
from counterpoise.character.limits import fill_ball_rows
from counterpoise.kernels import kernel, swift_kernel


@swift_kernel
def _aim_error(R: Array, quat: Array, axis: Array, wanted: Array, bone: Array, swing: Array, about: Array) -> float:
    """Fill the bone's direction d and the rotation vector that swings it home; return the twist left after that.

    The twist falls by the turn w of the body about (d + d*) / (1 + d . d*), which is filled too.
    """
    w, x, y, z = wanted[0], wanted[1], wanted[2], wanted[3]
    for k in range(3):
        bone[k] = row_times(R, k, axis)
    # d* = wanted axis
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


@swift_kernel
def _lean(q: Array, reference: Array, kinds: Ints, joint_q: Ints, joint_v: Ints, out: Array) -> None:
    """The tangent from the reference to q."""
    for j in range(len(kinds)):
        at, dof = joint_q[j], joint_v[j]
        if kinds[j] == FREE:
            for k in range(3):
                out[dof + k] = q[at + k] - reference[at + k]
            at += 3
            dof += 3
        if kinds[j] == FREE or kinds[j] == BALL:
            a0, a1, a2, a3 = reference[at], reference[at + 1], reference[at + 2], reference[at + 3]
            b0, b1, b2, b3 = q[at], q[at + 1], q[at + 2], q[at + 3]
            w = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
            x = a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2
            y = a0 * b2 + a1 * b3 - a2 * b0 - a3 * b1
            z = a0 * b3 - a1 * b2 + a2 * b1 - a3 * b0
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            sine = np.sqrt(x * x + y * y + z * z)
            scale = 2.0 * np.arctan2(sine, w) / sine if sine > 1e-9 else 2.0
            out[dof], out[dof + 1], out[dof + 2] = scale * x, scale * y, scale * z
        else:
            out[dof] = q[at] - reference[at]


@swift_kernel
def _moved(q: Array, step: Array, kinds: Ints, joint_q: Ints, joint_v: Ints, out: Array) -> None:
    """q moved along a tangent."""
    for j in range(len(kinds)):
        at, dof = joint_q[j], joint_v[j]
        if kinds[j] == FREE:
            for k in range(3):
                out[at + k] = q[at + k] + step[dof + k]
            at += 3
            dof += 3
        if kinds[j] == FREE or kinds[j] == BALL:
            x, y, z = step[dof], step[dof + 1], step[dof + 2]
            angle = np.sqrt(x * x + y * y + z * z)
            scale = np.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
            w, x, y, z = np.cos(0.5 * angle), scale * x, scale * y, scale * z
            a, b, c, d = q[at], q[at + 1], q[at + 2], q[at + 3]
            n0 = a * w - b * x - c * y - d * z
            n1 = a * x + b * w + c * z - d * y
            n2 = a * y - b * z + c * w + d * x
            n3 = a * z + b * y - c * x + d * w
            size = 1.0 / np.sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3)
            out[at], out[at + 1], out[at + 2], out[at + 3] = n0 * size, n1 * size, n2 * size, n3 * size
        else:
            out[at] = q[at] + step[dof]


@swift_kernel
def _assemble(
    q: Array, tree: Tree, above: tuple[Ints, Ints],
    aims: tuple[Ints, Array, Array], wanted: Array,
    points: tuple[Ints, Array, Array], places: Array, pulls: Array,
    tie: Array, reference: Array,
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array], wall: tuple[float, float],
    xpos: Array, xmat: Array, xquat: Array, motion: Array, lean: Array, walls: tuple[Array, Array, Ints],
    full: bool, H: Array, g: Array,
) -> float:  # fmt: skip
    """The cost at q; with `full` also its gradient g and Gauss-Newton matrix H (lower triangle).

    The limits of ball joints count in the cost, but not in g and H: their rows are left in `walls` (value, slope, first
    dof), for the step to take in those that it would run into.
    """
    nv = len(g)
    forward_kinematics(q, tree, xpos, xmat, xquat, motion)
    if full:
        H[:] = 0.0
        g[:] = 0.0
    cost = 0.0
    bone, swing, about, at = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    start, listed = above
    column = np.empty((nv, 3))
    aim_body, aim_axis, aim_weight = aims
    for m in range(len(aim_body)):
        b = aim_body[m]
        wd, wt = aim_weight[m, 0] ** 2, aim_weight[m, 1] ** 2
        twist = _aim_error(xmat[b], xquat[b], aim_axis[m], wanted[m], bone, swing, about)
        cost += wd * (swing[0] ** 2 + swing[1] ** 2 + swing[2] ** 2) + wt * twist * twist
        if not full:
            continue
        for s in range(start[b], start[b + 1]):
            i = listed[s]
            wi = motion[i]
            ai = bone[0] * wi[0] + bone[1] * wi[1] + bone[2] * wi[2]
            ti = about[0] * wi[0] + about[1] * wi[1] + about[2] * wi[2]
            g[i] -= wd * (wi[0] * swing[0] + wi[1] * swing[1] + wi[2] * swing[2]) + wt * twist * ti
            for r in range(start[b], s + 1):
                j = listed[r]
                wj = motion[j]
                aj = bone[0] * wj[0] + bone[1] * wj[1] + bone[2] * wj[2]
                tj = about[0] * wj[0] + about[1] * wj[1] + about[2] * wj[2]
                H[i, j] += wd * (wi[0] * wj[0] + wi[1] * wj[1] + wi[2] * wj[2] - ai * aj) + wt * ti * tj
    point_body, point_local, point_floor = points
    for m in range(len(point_body)):
        b = point_body[m]
        for k in range(3):
            at[k] = xpos[b, k] + row_times(xmat[b], k, point_local[m])
        weight = pulls[m] ** 2
        floor = point_floor[m] ** 2
        e0, e1, e2 = at[0] - places[m, 0], at[1] - places[m, 1], at[2] - places[m, 2]
        cost += weight * (e0 * e0 + e1 * e1 + e2 * e2)
        sunk = min(0.0, at[2]) if floor > 0.0 else 0.0
        cost += floor * sunk * sunk
        if sunk == 0.0:
            floor = 0.0
        if not full or (weight == 0.0 and floor == 0.0):
            continue
        for s in range(start[b], start[b + 1]):
            i = listed[s]
            wi = motion[i]
            column[s - start[b], 0] = wi[3] + wi[1] * at[2] - wi[2] * at[1]
            column[s - start[b], 1] = wi[4] + wi[2] * at[0] - wi[0] * at[2]
            column[s - start[b], 2] = wi[5] + wi[0] * at[1] - wi[1] * at[0]
        upright = weight + floor
        for s in range(start[b + 1] - start[b]):
            i = listed[start[b] + s]
            c0, c1, c2 = weight * column[s, 0], weight * column[s, 1], upright * column[s, 2]
            g[i] += c0 * e0 + c1 * e1 + weight * column[s, 2] * e2 + floor * column[s, 2] * sunk
            for r in range(s + 1):
                H[i, listed[start[b] + r]] += c0 * column[r, 0] + c1 * column[r, 1] + c2 * column[r, 2]
    _lean(q, reference, tree[5], tree[6], tree[7], lean)
    for i in range(nv):
        weight = tie[i] ** 2
        cost += weight * lean[i] ** 2
        if full:
            g[i] += weight * lean[i]
            H[i, i] += weight
    ball_q, ball_v, axis, rest, normals, offsets, faces, twists = balls
    over, slopes, dofs = walls
    row = 0
    for j in range(len(ball_q)):
        first, last = faces[j], faces[j + 1]
        count = last - first + 2
        fill_ball_rows(
            q[ball_q[j] : ball_q[j] + 4], axis[j], rest[j], normals[first:last], offsets[first:last],
            twists[j, 0], twists[j, 1], over[row : row + count], slopes[row : row + count],
        )  # fmt: skip
        for i in range(row, row + count):
            over[i] += wall[1]
            dofs[i] = ball_v[j]
            if over[i] > 0.0:
                cost += wall[0] ** 2 * over[i] ** 2
        row += count
    return 0.5 * cost


@swift_kernel
def _bounded_solve(H: Array, g: Array, damping: float, low: Array, high: Array, held: Ints, x: Array, L: Array) -> bool:
    """Minimise x H x / 2 + g x (H damped) with low <= x <= high; `held` is the working set, kept for the next call."""
    n = len(g)
    for sweep in range(8):
        for i in range(n):
            if held[i] != 0:
                x[i] = low[i] if held[i] < 0 else high[i]
                continue
            for j in range(i + 1):
                if held[j] != 0:
                    L[i, j] = 0.0
                    continue
                total = H[i, j]
                for k in range(j):
                    total -= L[i, k] * L[j, k]
                if i == j:
                    total += damping * (H[i, i] + 1e-3) + 1e-9
                    if not total > 1e-14:
                        return False
                    L[i, i] = np.sqrt(total)
                else:
                    L[i, j] = total / L[j, j]
        for i in range(n):
            if held[i] != 0:
                for k in range(n):
                    L[i, k] = 0.0
        for i in range(n):
            if held[i] != 0:
                continue
            total = -g[i]
            for k in range(n):
                if held[k] != 0:
                    total -= (H[i, k] if k < i else H[k, i]) * x[k]
            for k in range(i):
                if held[k] == 0:
                    total -= L[i, k] * x[k]
            x[i] = total / L[i, i]
        for i in range(n - 1, -1, -1):
            if held[i] != 0:
                continue
            total = x[i]
            for k in range(i + 1, n):
                if held[k] == 0:
                    total -= L[k, i] * x[k]
            x[i] = total / L[i, i]
        changed = False
        for i in range(n):
            if held[i] == 0:
                if x[i] < low[i] - 1e-12:
                    held[i], changed = -1, True
                elif x[i] > high[i] + 1e-12:
                    held[i], changed = 1, True
            elif sweep < 4:
                slope = g[i]
                for k in range(n):
                    slope += (H[i, k] if k <= i else H[k, i]) * x[k]
                if (held[i] == -1 and slope < -1e-9) or (held[i] == 1 and slope > 1e-9):
                    held[i], changed = 0, True
        if not changed:
            return True
    for i in range(n):
        x[i] = min(max(x[i], low[i]), high[i])
    return True


@swift_kernel
def _walled_solve(
    H: Array, g: Array, walls: tuple[Array, Array, Ints], strength: float, damping: float, low: Array, high: Array,
    held: Ints, x: Array, L: Array, H2: Array, g2: Array,
) -> bool:  # fmt: skip
    """The step with every wall that it would run into: walls are added, or let go, until they are the right ones."""
    over, slopes, dofs = walls
    active = np.zeros(len(over), np.int64)
    for i in range(len(over)):
        active[i] = 1 if over[i] > 0.0 else 0
    fine = False
    for _ in range(6):
        H2[:] = H
        g2[:] = g
        for i in range(len(over)):
            if active[i] == 1:
                for k in range(3):
                    g2[dofs[i] + k] += strength * over[i] * slopes[i, k]
                    for r in range(k + 1):
                        H2[dofs[i] + k, dofs[i] + r] += strength * slopes[i, k] * slopes[i, r]
        fine = _bounded_solve(H2, g2, damping, low, high, held, x, L)
        if not fine:
            return False
        changed = False
        for i in range(len(over)):
            ahead = over[i]
            for k in range(3):
                ahead += slopes[i, k] * x[dofs[i] + k]
            now = 1 if ahead > 0.0 else 0
            if now != active[i]:
                active[i], changed = now, True
        if not changed:
            return True
    return fine


@swift_kernel
def fit_frames(
    guess: Array, first: Ints, tree: Tree, above: tuple[Ints, Ints],
    aims: tuple[Ints, Array, Array], wanted: Array,
    points: tuple[Ints, Array, Array], places: Array, pulls: Array,
    tie: Array, reference: Array,
    ranges: tuple[Ints, Ints, Array, Array],
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array], wall: tuple[float, float],
    most: int, tolerance: float, follow: float,
) -> tuple[Array, Ints]:  # fmt: skip
    """Fit every frame; returns poses (n, nq) and the number of steps each took.

    `guess` (n, nq) are first guesses; where `first` is 0 the frame starts from the pose before it, carried on by the
    guesses' own change when `follow` is 1.
    """
    n, nq = guess.shape
    nv = len(tie)
    count = len(tree[0])
    xpos, xmat, xquat = np.zeros((count, 3)), np.zeros((count, 9)), np.zeros((count, 4))
    xmat[0, 0] = xmat[0, 4] = xmat[0, 8] = xquat[0, 0] = 1.0
    motion, lean = np.zeros((nv, 6)), np.zeros(nv)
    H, L, g, x = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv)
    H2, g2 = np.zeros((nv, nv)), np.zeros(nv)
    rows = len(balls[5]) + 2 * len(balls[0])
    walls = (np.zeros(rows), np.zeros((rows, 3)), np.zeros(rows, np.int64))
    low, high, held = np.empty(nv), np.empty(nv), np.zeros(nv, np.int64)
    out, steps = np.empty((n, nq)), np.zeros(n, np.int64)
    q, trial = np.empty(nq), np.empty(nq)
    kinds, joint_q, joint_v = tree[5], tree[6], tree[7]
    for f in range(n):
        if first[f] == 1 or f == 0:
            q[:] = guess[f]
        elif follow > 0.0:
            _lean(guess[f], guess[f - 1], kinds, joint_q, joint_v, x)
            _moved(out[f - 1], x, kinds, joint_q, joint_v, q)
        else:
            q[:] = out[f - 1]
        for i in range(len(ranges[0])):
            q[ranges[0][i]] = min(max(q[ranges[0][i]], ranges[2][i]), ranges[3][i])
        held[:] = 0
        damping = 1e-7
        cost = _assemble(
            q, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, wall,
            xpos, xmat, xquat, motion, lean, walls, True, H, g,
        )  # fmt: skip
        for _step in range(most):
            steps[f] += 1
            for i in range(nv):
                low[i], high[i] = -0.6, 0.6
            for i in range(3):
                if kinds[0] == FREE:
                    low[i], high[i] = -10.0, 10.0
            for i in range(len(ranges[0])):
                dof, at = ranges[1][i], ranges[0][i]
                low[dof] = max(low[dof], ranges[2][i] - q[at])
                high[dof] = min(high[dof], ranges[3][i] - q[at])
            gone = False
            for _ in range(12):
                if not _walled_solve(H, g, walls, wall[0] ** 2, damping, low, high, held, x, L, H2, g2):
                    damping = max(10.0 * damping, 1e-6)
                    continue
                _moved(q, x, kinds, joint_q, joint_v, trial)
                after = _assemble(
                    trial, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, wall,
                    xpos, xmat, xquat, motion, lean, walls, True, H, g,
                )  # fmt: skip
                if after <= cost * (1.0 + 1e-12) + 1e-15:
                    gone = True
                    break
                cost = _assemble(
                    q, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, wall,
                    xpos, xmat, xquat, motion, lean, walls, True, H, g,
                )  # fmt: skip
                damping = max(10.0 * damping, 1e-4)
                held[:] = 0
            if not gone:
                break
            gain = cost - after
            q[:] = trial
            cost = after
            damping = max(0.1 * damping, 1e-7)
            largest = 0.0
            for i in range(nv):
                largest = max(largest, abs(x[i]))
            if largest < tolerance or gain < 1e-13:
                break
        for i in range(len(ranges[0])):
            q[ranges[0][i]] = min(max(q[ranges[0][i]], ranges[2][i]), ranges[3][i])
        out[f] = q
    return out, steps


@kernel
def smooth_poses(poses: Array, cuts: Ints, weights: Array, kinds: Ints, joint_q: Ints, joint_v: Ints) -> Array:
    """Each pose moved to the weighted mean of its neighbours (m before, m after: 2 m + 1 weights), on the manifold.

    The window shrinks towards the ends of a stretch (`cuts`: first frames, and the end), so it stays centred: no lag.
    """
    n, nq = poses.shape
    m = (len(weights) - 1) // 2
    nv = 0
    for j in range(len(kinds)):
        nv += 6 if kinds[j] == FREE else (3 if kinds[j] == BALL else 1)
    out = np.empty((n, nq))
    lean, mean = np.zeros(nv), np.zeros(nv)
    for c in range(len(cuts) - 1):
        for f in range(cuts[c], cuts[c + 1]):
            reach = min(m, f - cuts[c], cuts[c + 1] - 1 - f)
            mean[:] = 0.0
            total = weights[m]
            for k in range(1, reach + 1):
                w = weights[m + k]
                for side in (-1, 1):
                    _lean(poses[f + side * k], poses[f], kinds, joint_q, joint_v, lean)
                    for i in range(nv):
                        mean[i] += w * lean[i]
                    total += w
            for i in range(nv):
                mean[i] /= total
            _moved(poses[f], mean, kinds, joint_q, joint_v, out[f])
    return out
