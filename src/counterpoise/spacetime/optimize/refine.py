"""More knots where a motion is not right between them: the same motion in the variables of a finer problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.build import build_from
from counterpoise.spacetime.optimize.impacts import impulse_count
from counterpoise.spacetime.optimize.initial import fit_coordinates
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.near import with_rows_near
from counterpoise.spacetime.optimize.near_terrain import TERRAIN
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.requirements.torque import plan_torques
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.points import PointRows
from counterpoise.spacetime.optimize.spheres import BodySphere
from counterpoise.spacetime.optimize.starting_point import Instant, StartingPoint, with_finer_knots

NEAR_LIMIT = 0.1  # [rad] ball limits nearer than this get rows at the new knots
NEAR_GROUND = 0.03  # [m] points nearer to the ground likewise
NEAR_EACH_OTHER = 0.01  # [m] pairs of parts that come this near likewise ...
WATCHED_GAP = 0.1  # [m] ... wherever they are within this


def refined(
    problem: MotionProblem, x: Array, places: Sequence[Instant], sunk: Sequence[BodySphere] = ()
) -> tuple[MotionProblem, Array]:
    """Returns the problem with further knots at (phase, s), and the same motion as its candidate.

    A spline with more knots can be the same curve: nothing moves. Forces and torques at new knots lie between those at
    the old ones. Spheres that are only drawn, and `sunk`, are kept off the ground from now on.
    """
    start = with_finer_knots(problem.basis, places)
    fine = build_from(start)
    drawn = tuple(b for b in problem.drawn if b not in sunk)
    fine = replace(fine, clear=(*fine.clear, *(b for b in fine.drawn if b not in drawn)), drawn=drawn)
    if problem.without_apart() is problem:
        fine = fine.without_apart()
    y = carried_over(problem.basis, problem.layout, x, start, fine.layout, fine.start)
    fine.evaluate(y)
    for block in fine.elastic:
        y[block.slacks] = block.missing(fine.evaluation, y)
    y = np.clip(y, fine.low, fine.high)
    fine = with_rows_near(fine, NEAR_LIMIT, NEAR_GROUND)
    return fine.with_rows(*_terrain_rows(problem, fine), *_rows_apart(fine)), y


def carried_over(old: StartingPoint, layout: Layout, x: Array, new: StartingPoint, to: Layout, begin: Array) -> Array:
    """Returns the variables of the same motion in a layout with more knots; slacks as in `begin`."""
    y = begin.copy()
    y[: to.curve] = _coefficients(old, layout, x, new).ravel()
    free = layout.moments >= 0
    y[to.moments[free]] = x[layout.moments[free]]
    for i, (first, there) in enumerate(zip(layout.impulses, to.impulses, strict=False)):  # samples have none
        count = impulse_count(old.impacts[i], old.holds, old.impact_torques, layout.nv)
        y[there : there + count] = x[first : first + count]
    for i, hold in enumerate(old.holds):
        y[to.places[i] : to.places[i] + 4] = x[layout.places[i] : layout.places[i] + 4]
        on, finer, width = hold.knots(old.frames), hold.knots(new.frames), hold.multipliers
        own = x[layout.forces[i] : layout.forces[i] + len(on) * width].reshape(len(on), width)
        y[to.forces[i] : to.forces[i] + len(finer) * width] = _between(old, new, on, finer, own).ravel()
    knots, finer = np.arange(old.frames.knots), np.arange(new.frames.knots)
    plan = plan_torques(old.character, old.request.requirements)
    if plan is not None and to.size > to.torques:
        joints = len(plan.dofs)
        own = x[layout.torques : layout.torques + len(knots) * joints].reshape(-1, joints)
        y[to.torques : to.torques + len(finer) * joints] = _between(old, new, knots, finer, own).ravel()
    return y


def _coefficients(old: StartingPoint, layout: Layout, x: Array, new: StartingPoint) -> Array:
    """Coefficients of the same curve: through its values at the new knots, with its slopes at the ends of phases."""
    X, f = x[: layout.curve].reshape(-1, layout.nv), new.frames
    values = np.empty((f.knots, layout.nv))
    slopes: dict[int, Array] = {}
    for phase in old.timeline.phases:
        on = np.flatnonzero(f.phase[: f.knots] == phase.index)
        first, B = phase.basis(f.s[on])
        own = X[first[:, None] + np.arange(B.shape[2])]
        values[on] = np.einsum("nw,nwd->nd", B[:, 0], own)
        for k in (0, -1):
            slopes[int(on[k])] = B[k, 1] @ own[k]
    return fit_coordinates(new.timeline, f, values, slopes)


def _between(old: StartingPoint, new: StartingPoint, knots: Ints, finer: Ints, values: Array) -> Array:
    """Values (finer, k) on the straight lines between those at `knots` (knots, k), phase by phase."""
    out = np.empty((len(finer), values.shape[1]))
    for phase in np.unique(old.frames.phase[knots]):
        here, there = old.frames.phase[knots] == phase, new.frames.phase[finer] == phase
        s, t = old.frames.s[knots[here]], new.frames.s[finer[there]]
        out[there] = np.stack([np.interp(t, s, column) for column in values[here].T], axis=1)
    return out


def _terrain_rows(problem: MotionProblem, fine: MotionProblem) -> list[RowBlock]:
    """Rows that keep shapes out of the terrain, at the knots that were there before."""
    old, f, out = problem.frames, fine.frames, list[RowBlock]()
    for b in problem.blocks:
        if not (isinstance(b, PointRows) and b.name == TERRAIN):
            continue
        frames = [
            int(np.flatnonzero((f.phase[: f.knots] == old.phase[i]) & (f.s[: f.knots] == old.s[i]))[0]) for i in b.frame
        ]
        points = [
            fine.evaluation.point(int(problem.evaluation.point_bodies[k]), problem.evaluation.point_places[k])
            for k in b.points
        ]
        out.append(
            PointRows(
                fine.evaluation, fine.layout, TERRAIN, np.array(frames, np.int64), np.array(points, np.int64),
                b.directions, b.low, b.high, b.labels,
            )
        )  # fmt: skip
    return out


def _rows_apart(fine: MotionProblem) -> list[RowBlock]:
    """Rows for pairs of parts that come near each other, where parts are kept apart at all."""
    if fine.without_apart() is fine:
        return []
    out = list[RowBlock]()
    for plan in fine.apart:
        own = plan.rows(fine.evaluation, fine.layout, plan.known(fine.blocks), WATCHED_GAP, NEAR_EACH_OTHER)
        out += [own] if len(own) else []
    return out
