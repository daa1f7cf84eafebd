"""Rows that keep joints inside their cones and points above the ground, added where a motion comes near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array
from counterpoise.spacetime.aggregate.places_kernels import places_batch
from counterpoise.spacetime.optimize.asks import Clear
from counterpoise.spacetime.optimize.bulges import bulges_of
from counterpoise.spacetime.optimize.frames import Evaluation, Frames, times_of
from counterpoise.spacetime.optimize.moments import Timeline, seconds
from counterpoise.spacetime.optimize.rows.base import Block, Layout, Limits, Spot

if TYPE_CHECKING:
    from counterpoise.spacetime.optimize.problem import MotionProblem

DEEP = 1e-6  # [m] below the ground from which it counts
INSIDE = 1e-3  # [m] of parts in each other from which it counts
SEEN = 5e-3  # [m] of them from which it is said
NEAR = 0.1  # [m] parts of which some knot was wrong are watched where they are this near


def watch(problem: MotionProblem, near: float, height: float) -> int:
    """Add the ball limits and ground clearances that the current candidate comes near to; how many are new."""
    e, layout, k = problem.evaluation, problem.layout, problem.frames.knots
    who = problem.character
    known_limits = {tuple(c) for b in problem.blocks if isinstance(b, Limits) for c in b.choice.tolist()}
    choice: list[tuple[int, int, int]] = []
    values = np.array([who.limits.values(q) for q in e.q[:k]])
    start = 2 * len(who.limits.range_qpos)
    for b, limit in enumerate(who.limits.balls.values()):
        for r in range(limit.rows):
            close = np.flatnonzero((values[:, start + r] > -near) & (problem.frames.s[:k] < 1.0))
            choice += [(int(i), b, r) for i in close if (int(i), b, r) not in known_limits]
        start += limit.rows
    added = len(choice)
    if choice:
        problem.blocks.append(Limits(e, layout, np.array(sorted(choice), np.int64)))
    known = {
        (int(f), int(p))
        for b in problem.blocks
        if isinstance(b, Spot) and b.name == "ground"
        for f, p in zip(b.frame, b.points, strict=True)
    }
    by_body: dict[int, list[tuple[int, int, str]]] = {}
    held: dict[int, set[int]] = {}
    for h in problem.holds:
        bodies = {h.body, *(b for b, _ in h.level), *h.force_bodies.tolist()}
        for p in range(h.first, h.last):
            held.setdefault(p, set()).update(bodies)
    phase, s = problem.frames.phase, problem.frames.s
    _notice(problem)
    radius = {at: bulge.radius for bulge, at in problem.clear}
    for bulge, at in problem.clear:
        body = int(e.point_bodies[at])
        for i in np.flatnonzero(e.P[:k, at, 2] < bulge.radius + height).tolist():
            p = int(phase[i])
            if (s[i] == 0.0 and p > 0) or body in held.get(p, ()) or (i, at) in known:
                continue  # a seam's pose is that of the knot before
            if s[i] == 1.0 and body in held.get(p + 1, ()):
                continue
            by_body.setdefault(body, []).append((i, at, bulge.name))
    for rows in by_body.values():
        n = len(rows)
        added += n
        problem.blocks.append(
            Spot(
                e,
                layout,
                "ground",
                np.array([r[0] for r in rows], np.int64),
                np.array([r[1] for r in rows], np.int64),
                np.tile([0.0, 0.0, 1.0], (n, 1)),
                np.array([radius[r[1]] for r in rows]),
                np.full(n, np.inf),
                tuple(r[2] for r in rows),
            )
        )
    return added


def part(problem: MotionProblem) -> int:
    """Rows for parts that the current candidate has inside each other; how many."""
    added = 0
    for plan in problem.apart:
        rows = plan.rows(problem.evaluation, problem.layout, NEAR, -INSIDE)
        if len(rows):
            problem.blocks.append(rows)
            added += len(rows)
    return added


def still_inside(problem: MotionProblem, times: Array) -> tuple[str, ...]:
    """What of the current candidate could not be kept apart, in words; `times` of the knots."""
    out = []
    for plan in problem.apart:
        free = np.where(plan.on[:, None], plan.free(problem.evaluation), np.inf)
        for k in np.flatnonzero(free.min(axis=0) < -SEEN).tolist():
            i = int(free[:, k].argmin())
            out.append(f"{plan.labels[k]} are {-100.0 * free[i, k]:.1f} cm inside each other at {times[i]:.2f} s")
    return tuple(out)


def _notice(problem: MotionProblem) -> None:
    """Of the rest of the body, what the current candidate has below the ground is watched from now on."""
    if not problem.rest:
        return
    e, k, who = problem.evaluation, problem.frames.knots, problem.character
    bodies = np.array([who.body_id(b.body) for b in problem.rest], np.int64)
    places, nv = np.array([b.position for b in problem.rest]), who.nv
    P, V = np.zeros((2, k, len(bodies), 3))
    J = np.zeros((k, len(bodies), 3, nv))
    places_batch(e.tables, e.q[:k], e.v[:k], bodies, places, P, V, J)
    deep = P[:, :, 2] < np.array([b.radius for b in problem.rest]) - DEEP
    low = np.flatnonzero(deep.any(axis=0)).tolist()
    if low:
        problem.clear += [(problem.rest[i], len(e.point_bodies) + k) for k, i in enumerate(low)]
        problem.rest = [b for i, b in enumerate(problem.rest) if i not in low]
        e.add_points(bodies[low], places[low])


def clear_rows(
    e: Evaluation, layout: Layout, wish: Clear, timeline: Timeline, frames: Frames, points: list[tuple[int, Array]]
) -> list[Block]:
    """Rows that keep points above a height at the knots of a stretch of time."""
    t = times_of(timeline, frames)[: frames.knots]
    start, end = seconds(wish.start), np.inf if wish.end is None else seconds(wish.end)
    on = np.flatnonzero((t >= start - 1e-9) & (t <= end + 1e-9)).astype(np.int64)
    out: list[Block] = []
    for p in bulges_of(e.character, wish.bodies):
        body, local = e.character.body_id(p.body), np.asarray(p.position, float)
        at = next(i for i, (b, q) in enumerate(points) if b == body and np.array_equal(q, local))
        n = len(on)
        out.append(
            Spot(
                e,
                layout,
                wish.name or f"{p.name} above {wish.height:g} m",
                on,
                np.full(n, at),
                np.tile([0.0, 0.0, 1.0], (n, 1)),
                np.full(n, wish.height + p.radius),
                np.full(n, np.inf),
                (p.name,) * n,
            )
        )
    return out
