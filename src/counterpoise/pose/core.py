"""The compiled core of posing: kinematics, rows, the damped step under bounds and limits, restoration, the descent.

The step minimises |J x + r|^2 / 2 + x'D x / 2 + p'x under C x = -c, G x <= -g and low <= x <= high. D is diagonal, so
with A = [J; C; active G] and lambda = [J x + r; nu] everything reduces to one small system, as large as there are rows,

    (A D^-1 A' + E) lambda = b + A_fixed x_fixed - A D^-1 p,     x = -D^-1 (p + A' lambda),

with E = diag(1 for goals, 0 for constraints): it does not grow with the number of joints. Bounds and limits are found
by an active set: variables beyond a bound are held there, rows beyond their limit are added, and both are released when
their multiplier has the wrong sign.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import Tree, forward_kinematics
from counterpoise.character.limits import fill_ball_rows
from counterpoise.character.manifold import batch_difference, batch_integrate
from counterpoise.kernels import swift_kernel
from counterpoise.pose.rows import evaluate_rows


@swift_kernel
def limit_rows(
    q: Array, ball_q: Ints, ball_place: Ints, axis: Array, rest: Array, normals: Array, offsets: Array, faces: Ints,
    twist: Array, inside: float, g: Array, G: Array,
) -> None:  # fmt: skip
    """Swing and twist rows of the balls that may move, `inside` short of their limits."""
    row = 0
    for j in range(len(ball_q)):
        first, last = faces[j], faces[j + 1]
        count = last - first + 2
        slope = np.empty((count, 3))
        fill_ball_rows(
            q[ball_q[j] : ball_q[j] + 4], axis[j], rest[j], normals[first:last], offsets[first:last],
            twist[j, 0], twist[j, 1], g[row : row + count], slope,
        )  # fmt: skip
        for i in range(count):
            g[row + i] += inside
            for k in range(3):
                G[row + i, ball_place[j] + k] = slope[i, k]
        row += count


@swift_kernel
def bounded_step(
    soft: int,
    hard: int,
    J: Array,
    r: Array,
    D: Array,
    p: Array,
    g: Array,
    G: Array,
    low: Array,
    high: Array,
    held: Ints,
    active: Ints,
) -> tuple[Array, bool]:
    """The step of the module's docstring; `J` and `r` hold goals (soft rows), then equalities (hard rows).

    `held` (-1, 0, 1 a variable) and `active` (0, 1 a limit row) are the working set: read as a first guess, left as
    found.
    """
    n, limits = len(D), len(g)
    x = np.zeros(n)
    most = soft + hard + limits
    A, scaled, M = np.empty((most, n)), np.empty((most, n)), np.empty((most, most))
    b, right, diagonal = np.empty(most), np.empty(most), np.empty(most)
    A[: soft + hard] = J
    b[: soft + hard] = r
    rows, anew = 0, True
    was = held.copy()
    for sweep in range(12):
        if anew:  # other rows: the system is built from the ground up
            rows = soft + hard
            for i in range(limits):
                if active[i] == 1:
                    A[rows] = G[i]
                    b[rows] = g[i]
                    rows += 1
            for k in range(rows):
                for i in range(n):
                    scaled[k, i] = A[k, i] / D[i] if held[i] == 0 else 0.0
                for j in range(k + 1):
                    total = 0.0
                    for i in range(n):
                        total += scaled[k, i] * A[j, i]
                    M[k, j] = total
        else:  # some variables were held or released: a rank-one change each
            for i in range(n):
                if (was[i] == 0) == (held[i] == 0):
                    continue
                sign = 1.0 / D[i] if held[i] == 0 else -1.0 / D[i]
                for k in range(rows):
                    part = sign * A[k, i]
                    scaled[k, i] = part if held[i] == 0 else 0.0
                    for j in range(k + 1):
                        M[k, j] += part * A[j, i]
        anew = False
        was[:] = held
        for i in range(n):
            x[i] = low[i] if held[i] == -1 else (high[i] if held[i] == 1 else 0.0)
        for k in range(rows):
            total = b[k]
            for i in range(n):
                total += A[k, i] * x[i] - scaled[k, i] * p[i]
            right[k] = total
            diagonal[k] = 1.0 if k < soft else 1e-11 * max(M[k, k], 1e-12) + 1e-300
        lam, fine = _positive_solve(M, diagonal, right, rows)
        if not fine:
            return x, False
        slope = np.zeros(n)
        for k in range(rows):
            for i in range(n):
                slope[i] += A[k, i] * lam[k]
        changed = False
        for i in range(n):
            if held[i] == 0:
                x[i] = -(p[i] + slope[i]) / D[i]
                if x[i] < low[i] - 1e-12:
                    held[i], changed = -1, True
                elif x[i] > high[i] + 1e-12:
                    held[i], changed = 1, True
            else:
                push = D[i] * x[i] + p[i] + slope[i]
                pulled = (held[i] == -1 and push < -1e-12) or (held[i] == 1 and push > 1e-12)
                if pulled and sweep < 8:
                    held[i], changed = 0, True
        at = soft + hard
        for i in range(limits):
            if active[i] == 1:
                if lam[at] < -1e-12 and sweep < 8:
                    active[i], changed, anew = 0, True, True
                at += 1
            else:
                over = g[i]
                for k in range(n):
                    over += G[i, k] * x[k]
                if over > 1e-10:
                    active[i], changed, anew = 1, True, True
        if not changed:
            return x, True
    for i in range(n):
        x[i] = min(max(x[i], low[i]), high[i])
    return x, False


@swift_kernel
def descend_core(
    q: Array,
    body: Tree,
    layout: Ints,
    ancestors: Array,
    variables: Ints,
    points: tuple[Ints, Array, Array, Array],
    turns: tuple[Ints, Array, Array],
    goal_points: int,
    goal_turns: int,
    goal_weights: Array,
    ranges: tuple[Ints, Ints, Array, Array],
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array],
    rest: Array,
    posture: float,
    heft: Array,
    anchor: Array,
    furthest: Array,
    tolerance: float,
    damping: float,
    most: int,
    flat: float,
    settle: int,
    inside: float,
    kept: float,
    held: Ints,
    active: Ints,
) -> tuple[Array, float, bool, bool, int, float]:
    """Follow the goals downhill, holding the constraints: (q, objective, constraints hold, goals reached, iterations,
    last gain).
    """
    n, nv = len(variables), len(ancestors[0])
    count = len(body[0])
    xpos, xmat, xquat = np.zeros((count, 3)), np.zeros((count, 9)), np.zeros((count, 4))
    xmat[0, 0] = xmat[0, 4] = xmat[0, 8] = xquat[0, 0] = 1.0
    motion = np.zeros((nv, 6))
    order = _row_order(goal_points, goal_turns, len(points[0]), len(turns[0]))
    soft = 3 * (goal_points + goal_turns)
    hard = len(order) - soft
    limits = len(active)
    g, G = np.zeros(limits), np.zeros((limits, n))
    low, high = np.empty(n), np.empty(n)
    D, p = np.empty(n), np.empty(n)
    scratch_held, scratch_active = np.zeros(n, np.int64), np.zeros(limits, np.int64)
    q, r, J, fine = _restore(
        q, body, layout, ancestors, variables, points, turns, order, soft, hard, ranges, balls, anchor, furthest,
        inside, kept, xpos, xmat, xquat, motion, g, G, low, high, scratch_held, scratch_active,
    )  # fmt: skip
    lean = _lean(layout, nv, rest, q, variables)
    f = _objective(r, soft, lean, posture, heft)
    if not fine:
        return q, f, False, False, 0, 0.0
    mu, done, slow, gain = damping, 0, 0, 1.0
    g_now, G_now = g.copy(), G.copy()
    while done < most:
        if _within(r, soft, goal_weights, tolerance):
            break
        done += 1
        stuck = True
        _box(q, layout, nv, variables, ranges, anchor, furthest, low, high)
        for _ in range(8):
            for i in range(n):
                D[i] = heft[i] * posture * posture + mu * 2.0 * f + 1e-10
                p[i] = heft[i] * posture * posture * lean[i]
            x, _ = bounded_step(soft, hard, J, r, D, p, g_now, G_now, low, high, held, active)
            longest = 0.0
            for i in range(n):
                longest = max(longest, abs(x[i]))
            if longest < 1e-11:
                break
            trial = _moved(q, layout, nv, variables, ranges, x)
            trial, tr, tJ, fine = _restore(
                trial, body, layout, ancestors, variables, points, turns, order, soft, hard, ranges, balls, anchor,
                furthest, inside, kept, xpos, xmat, xquat, motion, g, G, low, high, scratch_held, scratch_active,
            )  # fmt: skip
            tlean = _lean(layout, nv, rest, trial, variables)
            tf = _objective(tr, soft, tlean, posture, heft)
            if fine and tf < f:
                gain = (f - tf) / max(f, 1e-300)
                q, r, J, f, lean = trial, tr, tJ, tf, tlean
                g_now[:], G_now[:] = g, G
                mu = max(mu * (0.1 if gain > 0.5 else 0.3), 1e-8)
                stuck = False
                break
            mu *= 8.0
            _box(q, layout, nv, variables, ranges, anchor, furthest, low, high)
        if stuck:
            break
        slow = slow + 1 if gain < flat else 0
        if slow >= 2:
            break
    reached = _within(r, soft, goal_weights, tolerance)
    if not reached or settle <= 0:
        return q, f, True, reached, done, gain
    # There: now the posture, with the goals held like constraints.
    every = soft + hard
    for _ in range(settle):
        before = 0.0
        for i in range(n):
            before += heft[i] * lean[i] * lean[i]
            p[i] = heft[i] * lean[i]
        _box(q, layout, nv, variables, ranges, anchor, furthest, low, high)
        x, _ = bounded_step(0, every, J, r, heft, p, g_now, G_now, low, high, held, active)
        better, share = False, 1.0
        for _ in range(3):
            trial = _moved(q, layout, nv, variables, ranges, share * x)
            trial, tr, tJ, fine = _restore(
                trial, body, layout, ancestors, variables, points, turns, order, 0, every, ranges, balls, anchor,
                furthest, inside, kept, xpos, xmat, xquat, motion, g, G, low, high, scratch_held, scratch_active,
            )  # fmt: skip
            tlean = _lean(layout, nv, rest, trial, variables)
            after = 0.0
            for i in range(n):
                after += heft[i] * tlean[i] * tlean[i]
            if fine and after < before:
                gain = (before - after) / max(before, 1e-300)
                q, r, J, lean = trial, tr, tJ, tlean
                g_now[:], G_now[:] = g, G
                better = True
                break
            share *= 0.4
        done += 1
        if not better or gain < 0.01:
            break
    return q, _objective(r, soft, lean, posture, heft), True, True, done, gain


@swift_kernel
def _restore(
    q: Array, body: Tree, layout: Ints,
    ancestors: Array, variables: Ints, points: tuple[Ints, Array, Array, Array], turns: tuple[Ints, Array, Array],
    order: Ints, soft: int, hard: int, ranges: tuple[Ints, Ints, Array, Array],
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array], anchor: Array, furthest: Array,
    inside: float, kept: float, xpos: Array, xmat: Array, xquat: Array, motion: Array, g: Array, G: Array,
    low: Array, high: Array, held: Ints, active: Ints,
) -> tuple[Array, Array, Array, bool]:  # fmt: skip
    """Back onto the constraints by the shortest steps; (q, rows, Jacobian, held)."""
    n, nv, limits = len(variables), len(ancestors[0]), len(g)
    zero, one, origin = np.zeros(n), np.ones(n), np.zeros(3)
    best = 1e300
    for turn in range(14):
        forward_kinematics(q, body, xpos, xmat, xquat, motion)
        mixed, slopes = evaluate_rows(
            motion, ancestors, xpos, xmat, origin, variables, points[0], points[1], points[2], points[3],
            turns[0], turns[1], turns[2],
        )  # fmt: skip
        r, J = np.empty(len(order)), np.empty((len(order), n))
        for i in range(len(order)):
            r[i] = mixed[order[i]]
            J[i] = slopes[order[i]]
        if limits:
            limit_rows(q, balls[0], balls[1], balls[2], balls[3], balls[4], balls[5], balls[6], balls[7], inside, g, G)
        miss = 0.0
        for i in range(soft, soft + hard):
            miss = max(miss, abs(r[i]))
        over = 0.0
        for i in range(limits):
            over = max(over, g[i])
        if miss <= kept and over <= 0.5 * inside:
            return q, r, J, True
        total = max(miss, over)
        if turn >= 6 and total > 0.5 * best:
            return q, r, J, False
        best = min(best, total)
        _box(q, layout, nv, variables, ranges, anchor, furthest, low, high)
        held[:] = 0
        active[:] = 0
        for i in range(limits):
            if g[i] > 0.0:
                active[i] = 1
        x, _ = bounded_step(0, hard, J[soft:], r[soft:], one, zero, g, G, low, high, held, active)
        for i in range(n):
            if not np.isfinite(x[i]):
                return q, r, J, False
        q = _moved(q, layout, nv, variables, ranges, x)
    return q, r, J, False


@swift_kernel
def _row_order(goal_points: int, goal_turns: int, points: int, turns: int) -> Ints:
    """Rows of `evaluate_rows` with the goals first."""
    out = np.empty(3 * (points + turns), np.int64)
    at = 0
    for first, last, base in (
        (0, goal_points, 0), (0, goal_turns, points), (goal_points, points, 0), (goal_turns, turns, points),
    ):  # fmt: skip
        for i in range(first, last):
            for k in range(3):
                out[at] = 3 * (base + i) + k
                at += 1
    return out


@swift_kernel
def _lean(layout: Ints, nv: int, rest: Array, q: Array, variables: Ints) -> Array:
    whole = batch_difference(layout, nv, rest.reshape(1, -1), q.reshape(1, -1))[0]
    out = np.empty(len(variables))
    for i in range(len(variables)):
        out[i] = whole[variables[i]]
    return out


@swift_kernel
def _objective(r: Array, soft: int, lean: Array, posture: float, heft: Array) -> float:
    total = 0.0
    for i in range(soft):
        total += r[i] * r[i]
    for i in range(len(lean)):
        total += posture * posture * heft[i] * lean[i] * lean[i]
    return 0.5 * total


@swift_kernel
def _within(r: Array, soft: int, weights: Array, tolerance: float) -> bool:
    for i in range(soft // 3):
        size = 0.0
        for k in range(3):
            size += (r[3 * i + k] / weights[3 * i + k]) ** 2
        if size > tolerance * tolerance:
            return False
    return True


@swift_kernel
def _moved(
    q: Array, layout: Ints, nv: int, variables: Ints, ranges: tuple[Ints, Ints, Array, Array], x: Array
) -> Array:
    full = np.zeros((1, nv))
    for i in range(len(variables)):
        full[0, variables[i]] = x[i]
    out = batch_integrate(layout, q.reshape(1, -1), full)[0]
    for i in range(len(ranges[0])):
        at = ranges[1][i]
        out[at] = min(max(out[at], ranges[2][i]), ranges[3][i])
    return out


@swift_kernel
def _box(
    q: Array, layout: Ints, nv: int, variables: Ints, ranges: tuple[Ints, Ints, Array, Array], anchor: Array,
    furthest: Array, low: Array, high: Array,
) -> None:  # fmt: skip
    for i in range(len(variables)):
        low[i], high[i] = -1.0, 1.0
    for i in range(len(ranges[0])):
        at = ranges[0][i]
        low[at] = max(low[at], ranges[2][i] - q[ranges[1][i]])
        high[at] = min(high[at], ranges[3][i] - q[ranges[1][i]])
    if len(furthest):
        gone = batch_difference(layout, nv, anchor.reshape(1, -1), q.reshape(1, -1))[0]
        for i in range(len(variables)):
            low[i] = max(low[i], -furthest[i] - gone[variables[i]])
            high[i] = min(high[i], furthest[i] - gone[variables[i]])
    for i in range(len(variables)):
        low[i], high[i] = min(low[i], 0.0), max(high[i], 0.0)


@swift_kernel
def _positive_solve(M: Array, diagonal: Array, right: Array, n: int) -> tuple[Array, bool]:
    """Solve (M + diagonal) x = right, leading n x n, lower triangle, by Cholesky; a vanished pivot is passed over."""
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                total += diagonal[i]
                if not np.isfinite(total):
                    return right, False
                L[i, i] = np.sqrt(total) if total > 1e-12 * (M[i, i] + diagonal[i]) and total > 0.0 else 0.0
            else:
                L[i, j] = total / L[j, j] if L[j, j] > 0.0 else 0.0
    y = np.zeros(n)
    for i in range(n):
        total = right[i]
        for k in range(i):
            total -= L[i, k] * y[k]
        y[i] = total / L[i, i] if L[i, i] > 0.0 else 0.0
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        total = y[i]
        for k in range(i + 1, n):
            total -= L[k, i] * x[k]
        x[i] = total / L[i, i] if L[i, i] > 0.0 else 0.0
    return x, True
