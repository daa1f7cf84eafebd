"""What a plan of several steps costs: residuals of least squares, with exact derivatives.

Unknown are, for every step, the time T of its single support and the place u of the foot that lands, (T, x, y) each.
Capture point and CoM follow the pendulum exactly (pendulum.py): in double support the centre of pressure goes from the
rear foot to the leading foot, in single support along the sole. All is linear in the places and smooth in the times.
Limits enter as hinges max(0, excess), rounded off by a few millimetres: the search feels a limit before it is
there.

Places are seen from the present stance ankle, x along the heading of the first landing. A step may go to its own side
(way 0) or cross the stance foot before it (1) or behind it (-1).
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.plan.pendulum import pendulum_shares
from counterpoise.plan.preview_costs import (
    ACROSS,
    ALONG,
    CAPTURE,
    CROSS,
    LATE,
    LIMIT,
    ON_THE_WAY,
    REACH,
    SAME_PLACE,
    SAME_TIME,
    SPEED,
    TIME,
)

# columns of the table of steps
(
    USUAL, LEAST, MOST, DOUBLE, HEADING, SIDE, LENGTH, ASIDE, STEADY_X, STEADY_Y, FIRST_X, FIRST_Y, LAST_X, LAST_Y,
    WAS_TIME, WAS_X, WAS_Y,
) = range(17)  # fmt: skip
STEP_COLUMNS = 17
# numbers of the body
(
    OMEGA, FOOT_REACH, REAR_REACH, HIPS_AHEAD, HALF_HIPS, NARROW, WIDE, FORWARD, BACKWARD, CLEAR, CROSSED,
    FOOT_ACCELERATION, FOOT_SPEED, ASKED_SPEED,
) = range(14)  # fmt: skip
# the start: capture point, eta, swinging foot, its velocity, centre of pressure now and when the foot leaves, (2,) each
START_NUMBERS = 12
# rows of a step
(
    R_TIME, R_ALONG, R_ACROSS, R_CAPTURE, _R_CAPTURE_Y, R_REACH, R_REAR, R_SIDE, R_WIDE, R_FAR, R_CLEAR, R_LATE, R_FAST,
    R_CROSS, R_SAME_X, R_SAME_Y, R_SAME_TIME,
) = range(17)  # fmt: skip
STEP_ROWS = 17
CAPTURE_ROWS = (R_CAPTURE, _R_CAPTURE_Y)
ROW_COSTS = (
    TIME, ALONG, ACROSS, CAPTURE, CAPTURE, REACH, REACH, LIMIT, LIMIT, LIMIT, LIMIT, LATE, LATE, CROSS, SAME_PLACE,
    SAME_PLACE, SAME_TIME,
)  # fmt: skip
EDGE = 4e-3  # [m, s] by which hinges are rounded off
ROUND = 1e-3  # [m] distances are rounded off by this, so that they have derivatives at zero


@kernel
def preview_residuals(
    x: Array, ways: Ints, start: Array, steps: Array, body: Array, roots: Array, r: Array, J: Array, landed: Array
) -> float:
    """Fills residuals r and their derivatives J, and capture point and eta at every landing (n, 4). Returns the cost.

    r has STEP_ROWS rows a step and one for the speed.
    """
    count = len(steps)
    n = 3 * count
    omega = body[OMEGA]
    J[:] = 0.0
    z, dz = np.empty(4), np.zeros((4, n))  # capture point and eta
    z[:] = start[:4]
    shares, p0, p1, hip = np.empty(6), np.empty(2), np.empty(2), np.empty(2)
    total = 0.0
    for k in range(count):
        s = steps[k]
        at = STEP_ROWS * k
        T = x[3 * k]
        sx, sy = (x[3 * k - 2], x[3 * k - 1]) if k > 0 else (0.0, 0.0)
        # double support, then single support
        if k == 0:
            p0[0], p0[1], p1[0], p1[1] = start[8], start[9], start[10], start[11]
            _advance(z, dz, p0, -1, p1, -1, s[DOUBLE], -1, omega, shares)
        else:
            rx, ry = (x[3 * k - 5], x[3 * k - 4]) if k > 1 else (0.0, 0.0)
            p0[0], p0[1] = rx + steps[k - 1, LAST_X], ry + steps[k - 1, LAST_Y]
            p1[0], p1[1] = sx + s[FIRST_X], sy + s[FIRST_Y]
            _advance(z, dz, p0, k - 2, p1, k - 1, s[DOUBLE], -1, omega, shares)
        p0[:] = p1
        p1[0], p1[1] = sx + s[LAST_X], sy + s[LAST_Y]
        _advance(z, dz, p0, k - 1, p1, k - 1, T, k, omega, shares)
        landed[k] = z
        ux, uy = x[3 * k + 1], x[3 * k + 2]
        c, d = math.cos(s[HEADING]), math.sin(s[HEADING])
        side, way = s[SIDE], ways[k]
        # time, length, width
        r[at + R_TIME] = roots[TIME] * (T - s[USUAL])
        J[at + R_TIME, 3 * k] = roots[TIME]
        along, left = c * (ux - sx) + d * (uy - sy), c * (uy - sy) - d * (ux - sx)
        r[at + R_ALONG] = roots[ALONG] * (along - s[LENGTH])
        _add_place(J, at + R_ALONG, k, roots[ALONG] * c, roots[ALONG] * d)
        r[at + R_ACROSS] = roots[ACROSS] * (left - s[ASIDE])
        _add_place(J, at + R_ACROSS, k, -roots[ACROSS] * d, roots[ACROSS] * c)
        # the capture point from the foot that lands
        w = roots[CAPTURE] if k == count - 1 else roots[ON_THE_WAY]
        gx, gy = z[0] - ux, z[1] - uy
        r[at + R_CAPTURE] = w * (c * gx + d * gy - s[STEADY_X])
        r[at + R_CAPTURE + 1] = w * (c * gy - d * gx - s[STEADY_Y])
        for j in range(n):
            J[at + R_CAPTURE, j] = w * (c * dz[0, j] + d * dz[1, j])
            J[at + R_CAPTURE + 1, j] = w * (c * dz[1, j] - d * dz[0, j])
        J[at + R_CAPTURE, 3 * k + 1] -= w * c
        J[at + R_CAPTURE, 3 * k + 2] -= w * d
        J[at + R_CAPTURE + 1, 3 * k + 1] += w * d
        J[at + R_CAPTURE + 1, 3 * k + 2] -= w * c
        # reach of both legs from their hips, when the foot lands
        for rear in range(2):
            row = at + (R_REAR if rear else R_REACH)
            beside = -side * body[HALF_HIPS] if rear else side * body[HALF_HIPS]
            hip[0] = 0.5 * (z[0] + z[2]) + c * body[HIPS_AHEAD] - d * beside
            hip[1] = 0.5 * (z[1] + z[3]) + d * body[HIPS_AHEAD] + c * beside
            fx, fy = (sx, sy) if rear else (ux, uy)
            ax, ay = fx - hip[0], fy - hip[1]
            away = math.sqrt(ax * ax + ay * ay + ROUND * ROUND)
            excess = away - (body[REAR_REACH] if rear else body[FOOT_REACH])
            value, slope = _over(excess)
            r[row] = roots[REACH] * value
            nx, ny = roots[REACH] * slope * ax / away, roots[REACH] * slope * ay / away
            for j in range(n):
                J[row, j] = -0.5 * (nx * (dz[0, j] + dz[2, j]) + ny * (dz[1, j] + dz[3, j]))
            if not rear:
                J[row, 3 * k + 1] += nx
                J[row, 3 * k + 2] += ny
            elif k > 0:
                J[row, 3 * k - 2] += nx
                J[row, 3 * k - 1] += ny
        # limits of the place
        w, own = roots[LIMIT], side * left
        low, high = (-body[CROSSED], 0.0) if way != 0 else (body[NARROW], body[WIDE])
        _hinge(r, J, at + R_SIDE, k, w, low - own, side * d, -side * c)
        _hinge(r, J, at + R_WIDE, k, w, own - high, -side * d, side * c)
        if along > 0.0:
            _hinge(r, J, at + R_FAR, k, w, along - body[FORWARD], c, d)
        else:
            _hinge(r, J, at + R_FAR, k, w, -along - body[BACKWARD], -c, -d)
        r[at + R_CLEAR] = 0.0
        if way != 0:
            _hinge(r, J, at + R_CLEAR, k, w, body[CLEAR] - way * along, -way * c, -way * d)
        r[at + R_CROSS] = roots[CROSS] if way != 0 else 0.0
        # the time that the foot needs
        if k == 0:
            fx, fy, vx, vy = start[4], start[5], start[6], start[7]
        else:
            fx, fy = (x[3 * k - 5], x[3 * k - 4]) if k > 1 else (0.0, 0.0)
            vx = vy = 0.0
        _late(x, k, way, ways, fx, fy, vx, vy, s, body, roots[LATE], r, J)
        # continuity with the last plan
        r[at + R_SAME_X] = r[at + R_SAME_Y] = r[at + R_SAME_TIME] = 0.0
        if not math.isnan(s[WAS_TIME]):
            r[at + R_SAME_X] = roots[SAME_PLACE] * (ux - s[WAS_X])
            r[at + R_SAME_Y] = roots[SAME_PLACE] * (uy - s[WAS_Y])
            r[at + R_SAME_TIME] = roots[SAME_TIME] * (T - s[WAS_TIME])
            J[at + R_SAME_X, 3 * k + 1] = J[at + R_SAME_Y, 3 * k + 2] = roots[SAME_PLACE]
            J[at + R_SAME_TIME, 3 * k] = roots[SAME_TIME]
        for row in range(at, at + STEP_ROWS):
            total += r[row] * r[row]
    _speed(x, steps, body, roots[SPEED], r, J)
    last = STEP_ROWS * count
    return total + r[last] * r[last]


@kernel
def _advance(
    z: Array, dz: Array, p0: Array, j0: int, p1: Array, j1: int, T: float, jT: int, omega: float, shares: Array
) -> None:
    """Moves capture point and eta on by the time T. p0, p1 move with the footholds j0, j1; T is that of step jT."""
    n = dz.shape[1]
    for part in range(2):
        pendulum_shares(T, omega if part == 0 else -omega, shares)
        e, u, v = shares[0], shares[1], shares[2]
        for i in range(2):
            row = 2 * part + i
            rate = shares[3] * z[row] + shares[4] * p0[i] + shares[5] * p1[i]
            z[row] = e * z[row] + u * p0[i] + v * p1[i]
            for j in range(n):
                dz[row, j] *= e
            if j0 >= 0:
                dz[row, 3 * j0 + 1 + i] += u
            if j1 >= 0:
                dz[row, 3 * j1 + 1 + i] += v
            if jT >= 0:
                dz[row, 3 * jT] += rate


@inner_kernel
def _add_place(J: Array, row: int, k: int, gx: float, gy: float) -> None:
    """Adds the derivative by the place of step k, from the stance foot."""
    J[row, 3 * k + 1] += gx
    J[row, 3 * k + 2] += gy
    if k > 0:
        J[row, 3 * k - 2] -= gx
        J[row, 3 * k - 1] -= gy


@inner_kernel
def _over(excess: float) -> tuple[float, float]:
    """Returns max(0, excess), rounded off, and its derivative."""
    root = math.sqrt(excess * excess + EDGE * EDGE)
    return 0.5 * (excess + root), 0.5 * (1.0 + excess / root)


@kernel
def _hinge(r: Array, J: Array, row: int, k: int, w: float, excess: float, gx: float, gy: float) -> None:
    """Fills w over(excess); (gx, gy) is the derivative of the excess by the place of step k from the stance foot."""
    value, slope = _over(excess)
    r[row] = w * value
    _add_place(J, row, k, w * slope * gx, w * slope * gy)


@inner_kernel
def _late(
    x: Array, k: int, way: int, ways: Ints, fx: float, fy: float, vx: float, vy: float, s: Array, body: Array,
    w: float, r: Array, J: Array,
) -> None:  # fmt: skip
    """Fills by how much a foot that starts at (fx, fy) with the velocity (vx, vy) comes too late.

    Both by its largest acceleration and by its largest mean speed. A foot that goes around the stance foot first goes
    ahead or back, then across.
    """
    row = STEP_ROWS * k + R_LATE
    T, most = x[3 * k], body[FOOT_ACCELERATION]
    c, d = math.cos(s[HEADING]), math.sin(s[HEADING])
    ax, ay = x[3 * k + 1] - fx, x[3 * k + 2] - fy
    around = way != 0 or (k > 0 and ways[k - 1] != 0)
    if k == 0:
        own = s[SIDE] * (c * fy - d * fx)
        around = abs(c * fx + d * fy) < body[CLEAR] if way != 0 else own < 0.0
    if around:
        a, b = c * ax + d * ay, c * ay - d * ax
        far_a, far_b = math.sqrt(a * a + ROUND * ROUND), math.sqrt(b * b + ROUND * ROUND)
        far, towards = far_a + far_b, 0.0
        a, b = a / far_a, b / far_b
        gx, gy, tx, ty = c * a - d * b, d * a + c * b, 0.0, 0.0
    else:
        far = math.sqrt(ax * ax + ay * ay + ROUND * ROUND)
        gx, gy = ax / far, ay / far
        towards = (ax * vx + ay * vy) / far
        tx, ty = (vx - towards * gx) / far, (vy - towards * gy) / far
    brake = 0.5 * towards * towards / most
    if towards > 0.0 and brake > far:  # it brakes harder, and is there at once
        needed = 2.0 * far / towards
        by_far, by_towards = 2.0 / towards, -needed / towards
    else:
        root = math.sqrt(most * far + 0.5 * towards * towards)
        needed = (2.0 * root - towards) / most
        by_far, by_towards = 1.0 / root, (towards / root - 1.0) / most
    late, fast = needed - T, far / body[FOOT_SPEED] - T
    value, slope = _over(late)
    r[row] = w * value
    slope *= w
    _by_way(J, row, k, slope * (by_far * gx + by_towards * tx), slope * (by_far * gy + by_towards * ty), -slope)
    value, slope = _over(fast)
    r[row + 1] = w * value
    slope *= w
    _by_way(J, row + 1, k, slope * gx / body[FOOT_SPEED], slope * gy / body[FOOT_SPEED], -slope)


@inner_kernel
def _by_way(J: Array, row: int, k: int, gx: float, gy: float, by_time: float) -> None:
    """Fills derivatives by the way of the foot from where it starts to where it lands, and by the time."""
    J[row, 3 * k], J[row, 3 * k + 1], J[row, 3 * k + 2] = by_time, gx, gy
    if k > 1:
        J[row, 3 * k - 5], J[row, 3 * k - 4] = -gx, -gy


@kernel
def _speed(x: Array, steps: Array, body: Array, w: float, r: Array, J: Array) -> None:
    """Fills the residual of the mean speed from the first landing to the last, along the last heading."""
    count = len(steps)
    row = STEP_ROWS * count
    r[row] = 0.0
    if count < 2:
        return
    c, d = math.cos(steps[count - 1, HEADING]), math.sin(steps[count - 1, HEADING])
    time = 0.0
    for k in range(1, count):
        time += x[3 * k] + steps[k, DOUBLE]
    at = 3 * (count - 1)
    way = c * (x[at + 1] - x[1]) + d * (x[at + 2] - x[2])
    r[row] = w * (way / time - body[ASKED_SPEED])
    J[row, at + 1], J[row, at + 2], J[row, 1], J[row, 2] = w * c / time, w * d / time, -w * c / time, -w * d / time
    for k in range(1, count):
        J[row, 3 * k] = -w * way / (time * time)
