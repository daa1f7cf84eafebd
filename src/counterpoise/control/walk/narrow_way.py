"""A narrow way, as a beam or a row of stones: it is walked in its middle, with feet close together and short steps."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.control.walk.footholds import MARGIN
from counterpoise.control.walk.planes import ground_height
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.control.walk.wishes import Wishes
from counterpoise.kernels import kernel
from counterpoise.objectives.obstacles import Obstacles
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

NARROW, NARROW_AHEAD = 0.45, 2.2  # [leg lengths] of a way that is narrow, and how far it looks ahead for it
NARROW_DROP = 0.08  # [leg lengths] of the ground beside it
NARROW_SPEED, NARROW_STEP = 0.2, 1.7  # [sqrt(leg x g), leg times] of steps on it
WAY_STEP = 0.01  # [m] in which its width is measured
LOOK_STEP = 0.2  # [leg lengths] between two places ahead


def on_line(m: WalkMemory, seen: SeenBody) -> tuple[float, float]:
    """Returns the place on the line that is walked, beside the stance foot."""
    x, y = seen.flat[m.stance].tolist()
    c, s = math.cos(m.heading), math.sin(m.heading)
    off = c * (y - float(m.line[1])) - s * (x - float(m.line[0]))
    return x + s * off, y - c * off


def on_narrow_way(
    wishes: Wishes, m: WalkMemory, seen: SeenBody, terrain: Terrain, body: WalkingBody
) -> tuple[Wishes, WalkMemory]:
    """Returns the wishes and the memory of a walk in the middle of a narrow way."""
    unit, leg = body.hips_height, body.legs[0]
    c, s = math.cos(m.heading), math.sin(m.heading)
    x, y = on_line(m, seen)
    level = float(seen.base[m.stance] - m.felt[0])
    wide, middle = way_ahead(
        x, y, m.heading, NARROW_AHEAD * unit, LOOK_STEP * unit, NARROW * unit, level, NARROW_DROP * unit,
        terrain.obstacles,
    )  # fmt: skip
    if wide >= NARROW * unit:
        return wishes, m
    room = max(wide - 2.0 * (leg.half_width + MARGIN), 0.0)
    usual = math.inf if wishes.width is None else wishes.width
    line = m.line + middle * np.array([-s, c])
    speed = min(wishes.speed, NARROW_SPEED * body.leg_speed)
    longest = min(wishes.longest, NARROW_STEP * body.leg_time)
    wishes = wishes._replace(width=min(room, usual), speed=speed, longest=longest, narrow=True)
    return wishes, altered(m, line=line)


@kernel
def way_ahead(
    x: float, y: float, heading: float, far: float, step: float, most: float, level: float, drop: float,
    ground: Obstacles,
) -> tuple[float, float]:  # fmt: skip
    """Returns the least width of the way that is seen ahead [m], `most` at most, and how far its middle is to the left.

    To both sides of the line it ends where the ground is lower than under the foot, or than on the line, by `drop`.
    """
    room = np.empty(3)
    c, s = math.cos(heading), math.sin(heading)
    wide, middle = most, 0.0
    for k in range(int(far / step) + 1):
        at = k * step
        centre = ground_height(x + c * at, y + s * at, ground, room)
        left, right = 0.0, 0.0
        for side in range(2):
            turn = 1.0 if side == 0 else -1.0
            reached = 0.0
            while reached < most:
                aside = turn * (reached + WAY_STEP)
                z = ground_height(x + c * at - s * aside, y + s * at + c * aside, ground, room)
                if abs(z - centre) > drop:
                    break
                reached += WAY_STEP
            if side == 0:
                left = reached
            else:
                right = reached
        if left + right < wide and abs(centre - level) < drop:
            wide, middle = left + right, 0.5 * (left - right)
    return wide, middle
