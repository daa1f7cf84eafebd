"""Gaps in the way of a run: steps in front of one become longer or shorter, so that no foot lands in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.run.run_plan import RunPlan, RunShape
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

LOOK = 15.0  # [leg lengths] ahead that is looked at
SAMPLE = 0.02  # [leg lengths] between the places that are looked at
ASIDE = 0.1  # [leg lengths] to both sides of the line, where the feet land
DEPTH = 0.03  # [leg lengths] ground that is lower than this is a gap
MARGIN = 0.05  # [leg lengths] between a sole and the edge of a gap
LONGEST = 1.5  # [usual flights] over a gap, at most ...
OVER = 1.2  # ... and at least
SAFE = 0.08  # [steps] by which the flight over a gap is longer than needed
BEFORE = 1.2  # [usual flights] of the flight before it, at most: a hard landing takes from the next one
MOST_STEPS = 12  # before the gap, that are looked at
LAST_CHANGE = 0.7  # of a stance: later, its flight is no longer changed
HURRY = 0.12  # [sqrt(leg x g)] by which it is faster or slower in front of a gap, at most
LATE_COST = 2.0  # times as much a change of the very next landing costs
SHORT_COST = 2.0  # times as much shorter steps cost: the one over the gap is then shorter too
NUDGE = 0.12  # [leg lengths] by which a foothold that lies in a gap is moved, at most


class NextLandings(NamedTuple):
    """What the next landings are to be. Distances are along the heading [m]."""

    first: float  # of the next landing, after a usual flight
    step: float  # from landing to landing
    flight: float  # of that in the air


def stretched(
    m: RunMemory, seen: SeenBody, shape: RunShape, terrain: Terrain, body: WalkingBody
) -> tuple[RunMemory, RunShape]:
    """Returns the memory with the gaps ahead and the speed in front of them, and the step with the flight over them."""
    assert m.time is not None
    time, landed = m.time, m.looked != m.steps
    if landed:
        m = altered(m, looked=m.steps, gaps=gaps_ahead(m.heading, seen.com[:2], terrain, body))
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    here = float(seen.flat[m.stance] @ d)
    ahead = [gap for gap in m.gaps.tolist() if gap[1] > here]
    if not ahead:
        return (altered(m, stretch=1.0, hurry=0.0) if m.stretch != 1.0 or m.hurry != 0.0 else m), shape
    if m.phase == "flight":
        return m, shape
    if (time - m.began) / m.duration <= LAST_CHANGE:
        now, left = float(seen.velocity[:2] @ d), max(m.began + m.duration - time, 0.0)
        first = float(seen.com[:2] @ d) + now * (left + shape.flight) + m.ahead
        speed, whole = m.speed if m.last_speed is None else m.last_speed, shape.stance + shape.flight
        longer, stretch = change_steps(NextLandings(first, speed * whole, speed * shape.flight), ahead[0])
        hurry, most = m.hurry, HURRY * body.leg_speed
        if landed:  # once in a step: the speed follows slowly, and at first the other way
            hurry = min(max(speed + longer / whole - m.speed, -most), most)
        m = altered(m, stretch=stretch, hurry=hurry)
    return m, shape._replace(flight=m.stretch * shape.flight)


def change_steps(coming: NextLandings, gap: Sequence[float]) -> tuple[float, float]:
    """Returns by how much each step to a gap (from, to) is longer [m], and the next flight, in usual ones.

    The landing before the gap is to be so near to its edge that a longer flight passes it. Of all numbers of steps
    before it the one is taken that changes steps least.
    """
    low, high = gap
    more = (LONGEST - 1.0) * coming.flight
    best, longer, stretch = math.inf, 0.0, 1.0
    if coming.first + more >= high:  # the next landing is behind the gap
        stretch = min(max(1.0 + (high + SAFE * coming.step - coming.first) / coming.flight, OVER), LONGEST)
        best = LATE_COST * max(high - coming.first, 0.0)
    for k in range(1, MOST_STEPS + 1):  # landings before it
        usual = coming.first + (k - 1) * coming.step
        target = min(max(usual, high - coming.step - 0.5 * more), low)
        cost = abs(target - usual) / k * (LATE_COST if k == 1 else 1.0) * (SHORT_COST if target < usual else 1.0)
        if cost < best:
            best, longer = cost, (target - usual) / k
            stretch = min(max(1.0 + longer / coming.flight, 1.0), BEFORE) if k == 1 else 1.0
    return longer, stretch


def beside_gaps(m: RunMemory, plan: RunPlan, body: WalkingBody) -> RunPlan:
    """Returns the plan with a foothold that does not lie in a gap, where little is missing."""
    d = np.array([math.cos(m.heading), math.sin(m.heading)])
    at = float(plan.foothold @ d)
    for low, high in m.gaps.tolist():
        if low < at < high:
            move = low - at if at - low < high - at else high - at
            most = NUDGE * body.hips_height
            return plan._replace(foothold=plan.foothold + min(max(move, -most), most) * d)
    return plan


def gaps_ahead(heading: float, place: Array, terrain: Terrain, body: WalkingBody) -> Array:
    """Returns where no ankle may land, (n, 2): from and to, along the heading [m, world]."""
    unit = body.hips_height
    d, n = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    along = np.arange(-1.0, LOOK, SAMPLE) * unit
    lines = place + np.array([-ASIDE, 0.0, ASIDE])[:, None, None] * unit * n + along[:, None] * d
    low = (terrain.height(lines[..., 0], lines[..., 1]) < -DEPTH * unit).any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], low, [False]]).astype(int)))
    start = float(place @ d)
    heel = min(leg.heel_at for leg in body.legs)
    front = max(leg.front_at for leg in body.legs)
    out = [
        (start + along[a] - front - MARGIN * unit, start + along[b - 1] - heel + MARGIN * unit)
        for a, b in edges.reshape(-1, 2)
    ]
    return np.array(out).reshape(-1, 2)
