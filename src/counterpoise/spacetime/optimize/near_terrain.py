"""Rows added where a candidate is inside the solids of a terrain: at that knot the shape stays outside of one face."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.points import PointRows
from counterpoise.spacetime.optimize.spheres import BodySphere, spheres_off_feet, spheres_on
from counterpoise.terrain import Terrain
from counterpoise.terrain.solids import BoxSolid

ROOM = 0.01  # [m] outside of a face that rows ask for: between knots the path is not quite straight
STEPS = np.arange(0.0, 1.0, 0.2)[:, None]  # shares of the way from one knot to the next at which the path is tested
INSIDE = 1e-4  # [m] depth from which a shape counts as inside of a box
UNDERSIDE = -0.5  # z of a normal below which a face lies underneath a box: no way out leads there
TERRAIN = "terrain"  # name of the rows


def terrain_rows(problem: MotionProblem, held: dict[int, set[int]]) -> list[RowBlock]:
    """Returns rows for the shapes that the last candidate has inside boxes, ramps, steps or stones, one block a body.

    A row keeps a shape, at one knot, ROOM outside of one face. Bodies that contacts hold (`held`, by phase) are left
    alone while they do.
    """
    terrain = problem.request.terrain
    if terrain is None:
        return []
    e, f, k, character = problem.evaluation, problem.frames, problem.frames.knots, problem.character
    known = {
        (int(frame), int(point), *np.round(n, 9).tolist())
        for b in problem.blocks
        if isinstance(b, PointRows) and b.name == TERRAIN
        for frame, point, n in zip(b.frame, b.points, b.directions, strict=True)
    }
    kinematics = e.kinematics(np.arange(k))
    by_body: dict[int, list[tuple[int, int, BodySphere, Array, float]]] = {}
    for sphere in _all_spheres(problem):
        body, point = character.body_id(sphere.body), -1
        places = kinematics.position(sphere.body, sphere.position)
        for box in terrain.boxes:
            if box.is_ground:
                continue
            for i, normal, limit in ways_out(box, places, sphere.radius):
                p = int(f.phase[i])
                if (f.s[i] == 0.0 and p > 0) or body in held.get(p, ()):
                    continue
                if f.s[i] == 1.0 and body in held.get(p + 1, ()):
                    continue
                if point < 0:
                    point = e.point(body, np.asarray(sphere.position))
                if (i, point, *np.round(normal, 9).tolist()) not in known:
                    by_body.setdefault(body, []).append((i, point, sphere, normal, limit))
    return [_rows(problem, rows) for rows in by_body.values()]


def ways_out(box: BoxSolid, places: Array, radius: float) -> list[tuple[int, Array, float]]:
    """Returns where a ball on a path through places (n, 3) must stay out of a box: number, normal of a face, n.p on it.

    The path is straight between its places. A stretch inside that begins and ends outside of the same face leads out
    through that face: of several, the one with the shortest way. A stretch from one side to another goes over the top.
    A stretch from a side to the top stays before that side, then goes over the top; it changes where the ways are
    shortest. The same holds from the top to a side. The places before and after the top are above it too, so that no
    edge is cut between them.
    """
    n, steps = len(places), len(STEPS)
    path = _path(places)
    normals, offsets, away = _distances(box, path)
    inside = away.max(axis=1) < radius - INSIDE
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    top = int(normals[:, 2].argmax())
    out = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        numbers = range((max(first - 1, 0)) // steps, min(-(-last // steps), n - 1) + 1)
        outside = away >= radius - INSIDE
        before = outside[first - 1] if first > 0 else np.zeros(6, bool)
        after = outside[last] if last < len(path) else np.zeros(6, bool)
        deep = np.maximum(radius - away[first:last], 0.0)
        if (before & after).any():
            face = int(np.flatnonzero(before & after)[deep[:, before & after].max(axis=0).argmin()])
            faces = np.full(len(deep), face)
        elif before[top] or after[top]:
            faces = _sides_and_top(deep, before, after, top)
        else:  # from one side to another
            faces = np.full(len(deep), top)
        on_top = first + np.flatnonzero(faces == top)
        for i in numbers:
            face = int(faces[np.clip(i * steps - first, 0, len(faces) - 1)])
            if len(on_top) and (on_top[0] - 1) // steps <= i <= -(-(on_top[-1] + 1) // steps):
                face = top
            out.append((i, normals[face], float(offsets[face])))
    return out


def _sides_and_top(deep: Array, before: Flags, after: Flags, top: int) -> Ints:
    """Returns the face (n,) by which each point of a stretch leaves: a side, the top, another side.

    `deep` (n, 6) are the depths behind the faces; `before` and `after` (6,) the faces outside of which it begins and
    ends. The squares of the depths are the least in sum.
    """
    n = len(deep)
    total = np.concatenate([np.zeros((1, 6)), np.cumsum(deep**2, axis=0)])  # (n + 1, 6) up to each point
    start = int(np.argmin(np.where(before, total[-1], np.inf))) if before.any() and not before[top] else top
    end = int(np.argmin(np.where(after, total[-1], np.inf))) if after.any() and not after[top] else top
    up = total[:, start] - total[:, top]  # of changing to the top after so many points
    down = total[:, top] - total[:, end]
    best = np.minimum.accumulate(up)  # the best change to the top so far
    second = int(np.argmin(best + down))
    first = int(np.argmin(up[: second + 1]))
    points = np.arange(n)
    return np.where(points < first, start, np.where(points < second, top, end))


def depths_in_boxes(terrain: Terrain, places: Array, radius: float) -> Array:
    """Returns how deep a ball at places (n, 3) is in the solids of a terrain besides the ground (n,) [m]."""
    out = np.zeros(len(places))
    for box in terrain.boxes:
        if not box.is_ground:
            out = np.maximum(out, radius - _distances(box, places)[2].max(axis=1))
    return out


def _all_spheres(problem: MotionProblem) -> list[BodySphere]:
    character = problem.character
    return [*spheres_on(character, [foot.name for foot in character.feet]), *spheres_off_feet(character)]


def _path(places: Array) -> Array:
    """Returns places (n, 3) with more on the straight lines between them, (steps (n - 1) + 1, 3)."""
    between = places[:-1, None] + STEPS * np.diff(places, axis=0)[:, None]
    return np.concatenate([between.reshape(-1, 3), places[-1:]])


def _distances(box: BoxSolid, places: Array) -> tuple[Array, Array, Array]:
    """Returns outward normals of a box's faces (6, 3), n.p on them (6,), and how far places are from them (n, 6)."""
    normals = np.concatenate([box.rotation.T, -box.rotation.T])
    offsets = normals @ box.centre + np.tile(box.half, 2)
    away = places @ normals.T - offsets
    away[:, normals[:, 2] < UNDERSIDE] = -np.inf
    return normals, offsets, away


def is_mirrored(terrain: Terrain, y: float) -> bool:
    """Returns whether the boxes of a terrain are their own mirror image in the plane of this y."""
    corners = [np.round(box.corners() - [0.0, y, 0.0], 6) + 0.0 for box in terrain.boxes if not box.is_ground]
    here = {_outline(one) for one in corners}
    there = {_outline(one * [1.0, -1.0, 1.0] + 0.0) for one in corners}
    return here == there


def _outline(corners: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(sorted(tuple(corner) for corner in corners.tolist()))


def _rows(problem: MotionProblem, rows: list[tuple[int, int, BodySphere, Array, float]]) -> PointRows:
    frames, points, spheres, normals, limits = zip(*rows, strict=True)
    return PointRows(
        problem.evaluation, problem.layout, TERRAIN, np.array(frames, np.int64), np.array(points, np.int64),
        np.array(normals), np.array(limits) + ROOM + np.array([b.radius for b in spheres]), np.full(len(rows), np.inf),
        tuple(b.name for b in spheres),
    )  # fmt: skip
