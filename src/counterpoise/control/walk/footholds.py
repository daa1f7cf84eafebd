"""Footholds on ground that is seen: the foot's place is moved to where its whole sole fits on one face.

Along the line that is walked, places of the left and of the right foot are tried; across it, the nearest that fits.
Of all ways to put the next two feet on such places the cheapest counts: near to where the pendulum wants the foot,
then steps of the usual length, and no higher steps than needed.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.planes import STEEPEST, ground_height, sole_plane
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives.obstacles import Obstacles

SPACING = 0.02  # [m] between the places that are tried along the line
BEHIND, AHEAD = -20, 70  # places from the stance foot that are tried, in SPACINGs
FIRST_RANGE = 26  # places to both sides of the wanted one that the next foot may take
ROUGHNESS = 0.03  # [m] by which ground under a sole may be uneven
MARGIN = 0.012  # [m] from a sole to an edge
RISER = 0.02  # [m] ground before the toes or behind the heel may be higher by this
BEHIND_HEEL = 0.03  # [m] from a heel to a wall behind it: it passes there on its way down
UNFIT = 1e9  # cost of a place where no foot fits
SIDE_STEP = 0.015  # [m] between the places that are tried across the line
SIDE_STEPS = 8  # to each side
SIDE_COST = 4.0  # [1/m^2] of a place beside the line
NEXT_COST = 0.5  # of the later steps' lengths, against 1 of the next foot's place
EASY_RISE = 0.18  # [m] of a step up or down that costs nothing
RISE_COST = 10.0  # [1/m^2] of what is beyond, squared, against 1 of its place ...
MOST_RISE_COST = 1.0  # [m^2] ... and the most: there may be no other way
ROUGH_COST = 6.0  # [1/m^2] of the unevenness under the sole squared
STAY_COST = 0.6  # share of the cost of the place that was chosen before
SHORT_COST = 2.0  # of a place nearer than the wanted one, against 1 of one farther: a short step costs speed
SWITCH_COST = 0.2  # [m^2] of a place on another face than the one that the foot is on its way to
MOVE_COST = 0.004  # [m^2] of any place that is not the wanted one


@kernel
def fits(x: float, y: float, yaw: float, sole: Array, rim: float, ground: Obstacles, plane: Array) -> float:
    """Returns how uneven the ground is under a sole [m], infinity where it does not fit. Fills its plane.

    `rim` is how far the foot's body reaches beyond heel and front [m].
    """
    wide = np.empty(4)
    wide[0], wide[1], wide[2], wide[3] = sole[0] - MARGIN, sole[1] + MARGIN, sole[2], sole[3] + MARGIN
    rough = sole_plane(x, y, yaw, wide, ground, plane)
    if rough > ROUGHNESS or plane[3] ** 2 + plane[4] ** 2 > STEEPEST * STEEPEST:
        return np.inf
    room = np.empty(3)
    c, s = math.cos(yaw), math.sin(yaw)
    for i in range(4):
        u = sole[0] - rim - BEHIND_HEEL if i < 2 else sole[2] + rim
        v = sole[3] if i % 2 == 0 else -sole[3]
        px, py = x + c * u - s * v, y + s * u + c * v
        over = ground_height(px, py, ground, room) - plane[2] - plane[3] * (px - x) - plane[4] * (py - y)
        if over > RISER:
            return np.inf
    return rough


@inner_kernel
def _rise_cost(rise: float) -> float:
    """Returns the cost of a step up or down [m^2]."""
    return min(RISE_COST * max(abs(rise) - EASY_RISE, 0.0) ** 2, MOST_RISE_COST)


@kernel
def find_foothold(
    swing: int, free: Array, origin: Array, heading: float, lines: Array, length: float, reach: Array, was: Array,
    level: float, soles: Array, rim: float, rise_share: float, ground: Obstacles, out: Array,
) -> bool:  # fmt: skip
    """Fills the place of the next foot, the ankle's, the room to the right and to the left, and the step after, (5,).

    Returns whether one was found.

    `free` (2,) is where the pendulum wants it; `origin` (3,) is the stance foot and the height of its ground. `lines`
    (2,) are the left and the right foot's ways to the left of the stance foot. `reach` is the longest step, the longest
    step back, the highest rise, the deepest fall, and the least distance across. `was` is the place chosen before, NaN
    where there is none, and `level` the height of the face that the foot is on its way to, NaN at first. `soles` (2, 4)
    are heel, ball and front of both feet, ahead of the ankle, and half width; `rim` is how far the foot's body reaches
    beyond them. `rise_share` is the share of the cost of high steps that counts.
    """
    c, s = math.cos(heading), math.sin(heading)
    x, y = free[0] - origin[0], free[1] - origin[1]
    along, across = c * x + s * y, c * y - s * x
    count = AHEAD - BEHIND
    first = np.full(count, UNFIT)
    side, height = np.zeros((2, count)), np.zeros((2, count))
    cost = np.full((2, count), UNFIT)
    plane = np.empty(5)
    middle = round(along / SPACING) - BEHIND
    low, high = max(middle - FIRST_RANGE, 0), min(middle + FIRST_RANGE + 1, count)
    farthest = min(int(reach[0] / SPACING) - BEHIND + 1, count)
    nearest = max(int(-reach[1] / SPACING) - BEHIND, 0)
    last = min(max(high, middle + 1) + int(1.4 * length / SPACING) + 6, count)
    for which in range(2):
        foot = swing if which == 0 else 1 - swing
        begin, end = (max(low, nearest), min(high, farthest)) if which == 0 else (max(low, 0), last)
        line = across if which == 0 else lines[foot]
        for k in range(begin, end):
            at = (k + BEHIND) * SPACING
            if which == 0 and k == middle:
                at = along
            for j in range(2 * SIDE_STEPS + 1):
                aside = ((j + 1) // 2) * SIDE_STEP * (1.0 if j % 2 == 0 else -1.0)
                if which == 0:  # feet never cross
                    sign = 1.0 if swing == 0 else -1.0
                    if sign * (line + aside) < reach[4] and aside != 0.0:
                        continue
                to = line + aside
                px, py = origin[0] + c * at - s * to, origin[1] + s * at + c * to
                rough = fits(px, py, heading, soles[foot], rim, ground, plane)
                if rough < np.inf:
                    rise = abs(plane[2] - origin[2])
                    here = SIDE_COST * aside * aside + ROUGH_COST * rough * rough
                    if which == 0:  # that of the step after counts from this one, below
                        here += rise_share * _rise_cost(rise)
                    if here < cost[which, k]:
                        side[which, k], height[which, k], cost[which, k] = to, plane[2], here
                    if which == 1 or rise <= EASY_RISE:  # else there may be a better one beside it
                        break
    best, least = -1, UNFIT
    steps = max(length, 0.1)
    for k in range(max(low, nearest), min(high, farthest)):
        if cost[0, k] >= UNFIT:
            continue
        rise = height[0, k] - origin[2]
        if rise > reach[2] or rise < -reach[3]:
            continue
        at = along if k == middle else (k + BEHIND) * SPACING
        short = SHORT_COST if at < along else 1.0
        here = cost[0, k]
        here += 0.0 if k == middle else short * (at - along) ** 2 + MOVE_COST
        if not math.isnan(was[0]):
            wx, wy = was[0] - origin[0], was[1] - origin[1]
            if abs(c * wx + s * wy - at) < 0.6 * SPACING:
                here *= STAY_COST
        if abs(height[0, k] - level) > ROUGHNESS:  # not true where it is NaN
            here += SWITCH_COST
        after, next_far = UNFIT, steps
        for n in range(k + 1, last):
            if cost[1, n] >= UNFIT:
                continue
            far = (n + BEHIND) * SPACING - at
            rise = height[1, n] - height[0, k]
            if far > reach[0] or rise > reach[2] or rise < -reach[3]:
                continue
            there = cost[1, n] + (far - steps) ** 2 + rise_share * _rise_cost(rise)
            if there < after:
                after, next_far = there, far
        first[k] = here + NEXT_COST * min(after, 1.0)
        if first[k] < least:
            best, least, out[4] = k, first[k], next_far
    if best < 0:
        return False
    at = along if best == middle else (best + BEHIND) * SPACING
    to = side[0, best]
    out[0], out[1] = origin[0] + c * at - s * to, origin[1] + s * at + c * to
    for j in range(2):  # the room beside it
        turn = -1.0 if j == 0 else 1.0
        for n in range(1, SIDE_STEPS + 1):
            aside = turn * n * SIDE_STEP
            if not fits(out[0] - s * aside, out[1] + c * aside, heading, soles[swing], rim, ground, plane) < np.inf:
                break
            if abs(plane[2] - height[0, best]) > ROUGHNESS:
                break
            out[2 + j] = aside
    return True
