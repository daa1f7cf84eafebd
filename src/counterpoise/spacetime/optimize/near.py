"""Rows added where a candidate comes near: ball joints at their limits, shapes at the ground, parts at each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise.spacetime.optimize.near_terrain import terrain_rows
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.limits import BallLimitRows
from counterpoise.spacetime.optimize.rows.points import PointRows
from counterpoise.spacetime.optimize.spheres import BodySphere

BELOW_GROUND = 1e-6  # [m] depth from which a shape counts as below the ground
OVERLAP = 1e-3  # [m] depth from which parts count as inside each other
WATCHED_GAP = 0.1  # [m] pairs that overlap at some knot get rows wherever they are this near
GROUND = "ground"  # name of the rows


def with_rows_near(problem: MotionProblem, limit_margin: float, ground_margin: float) -> MotionProblem:
    """Returns the problem with rows for ball limits and ground that the last candidate comes near to.

    Margins [rad, m]; negative ones ask only for what is violated, also of the terrain. Returns the same problem where
    nothing is new.
    """
    limits = _limits_near(problem, limit_margin)
    problem = _with_sunk_spheres(problem)
    rows = limits + _ground_near(problem, ground_margin)
    if ground_margin < 0.0:  # not from the first guess, which may lead straight through a box
        rows += terrain_rows(problem, held_bodies(problem))
    return problem.with_rows(*rows) if rows else problem


def with_rows_apart(problem: MotionProblem) -> MotionProblem:
    """Returns the problem with rows for parts that the last candidate has inside each other, or the same problem."""
    rows = []
    for plan in problem.apart:
        known = plan.known(problem.blocks)
        own = plan.rows(problem.evaluation, problem.layout, known, WATCHED_GAP, -OVERLAP)
        rows += [own] if len(own) else []
    return problem.with_rows(*rows) if rows else problem


def _limits_near(problem: MotionProblem, margin: float) -> list[RowBlock]:
    e, limits, k = problem.evaluation, problem.character.limits, problem.frames.knots
    known = {tuple(c) for b in problem.blocks if isinstance(b, BallLimitRows) for c in b.choice.tolist()}
    choice: list[tuple[int, int, int]] = []
    values = np.array([limits.values(q) for q in e.q[:k]])
    start = 2 * len(limits.range_qpos)
    for b, limit in enumerate(limits.balls.values()):
        for r in range(limit.rows):
            close = np.flatnonzero((values[:, start + r] > -margin) & (problem.frames.s[:k] < 1.0))
            choice += [(int(i), b, r) for i in close if (int(i), b, r) not in known]
        start += limit.rows
    return [BallLimitRows(e, np.array(sorted(choice), np.int64))] if choice else []


def _with_sunk_spheres(problem: MotionProblem) -> MotionProblem:
    """Spheres of the rest of the body that the last candidate has below the ground are watched from now on."""
    if not problem.unwatched:
        return problem
    e, k = problem.evaluation, problem.frames.knots
    kinematics = e.kinematics(np.arange(k))
    sunk = [
        b for b in problem.unwatched
        if (kinematics.position(b.body, b.position)[:, 2] < b.radius - BELOW_GROUND).any()
    ]  # fmt: skip
    if not sunk:
        return problem
    rest = tuple(b for b in problem.unwatched if b not in sunk)
    return replace(problem, clear=(*problem.clear, *sunk), unwatched=rest)


def _ground_near(problem: MotionProblem, margin: float) -> list[RowBlock]:
    """Rows of watched spheres nearer to the ground than a margin, one block a body."""
    e, f, k = problem.evaluation, problem.frames, problem.frames.knots
    known = {
        (int(frame), int(point))
        for b in problem.blocks
        if isinstance(b, PointRows) and b.name == GROUND
        for frame, point in zip(b.frame, b.points, strict=True)
    }
    held = held_bodies(problem)
    points = [e.point(problem.character.body_id(b.body), np.asarray(b.position)) for b in problem.clear]
    by_body: dict[int, list[tuple[int, int, BodySphere]]] = {}
    for sphere, point in zip(problem.clear, points, strict=True):
        body = int(e.point_bodies[point])
        for i in np.flatnonzero(e.P[:k, point, 2] < sphere.radius + margin).tolist():
            p = int(f.phase[i])
            if (f.s[i] == 0.0 and p > 0) or body in held.get(p, ()) or (i, point) in known:
                continue  # a seam's pose is that of the knot before
            if f.s[i] == 1.0 and body in held.get(p + 1, ()):
                continue
            by_body.setdefault(body, []).append((i, point, sphere))
    return [_ground_rows(problem, rows) for rows in by_body.values()]


def _ground_rows(problem: MotionProblem, rows: list[tuple[int, int, BodySphere]]) -> PointRows:
    frames, points, spheres = zip(*rows, strict=True)
    n = len(rows)
    return PointRows(
        problem.evaluation, problem.layout, GROUND, np.array(frames, np.int64), np.array(points, np.int64),
        np.tile([0.0, 0.0, 1.0], (n, 1)), np.array([b.radius for b in spheres]), np.full(n, np.inf),
        tuple(b.name for b in spheres),
    )  # fmt: skip


def held_bodies(problem: MotionProblem) -> dict[int, set[int]]:
    """Returns the bodies that contacts hold, by phase."""
    held: dict[int, set[int]] = {}
    for h in problem.holds:
        for p in range(h.first, h.last):
            held.setdefault(p, set()).update(h.bodies)
    return held
