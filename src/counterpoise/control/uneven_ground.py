"""Feet on different planes: the nearest pose that stands there, and the ground that a terrain has under feet."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.control.felt_ground import FeltGround
from counterpoise.objectives import Surface
from counterpoise.objectives.footing import foot_table
from counterpoise.pose.constraints import OnPlane
from counterpoise.pose.goals import CenterOfMass, PoseGoal, Posture, Reach
from counterpoise.pose.solver import solve_pose
from counterpoise.terrain import Terrain

POSTURE_WEIGHT = 1e-2  # of the given pose, against 1 of the CoM above the feet [1/m^2]
SAME_HEIGHT = 1e-3  # [m] from zero of soles that count as being there, as in a neutral pose
HEIGHT_STEP = 0.005  # [m] between the heights of feet for which poses are kept

Plane = tuple[float, float, float, float, float, float]  # a point of it, its normal


def plane_of(surface: Surface) -> Plane:
    """Returns a surface as numbers that can be compared: its origin and its normal."""
    ox, oy, oz = np.asarray(surface.origin).tolist()
    nx, ny, nz = surface.normal.tolist()
    return ox, oy, oz, nx, ny, nz


def sole_height(here: Snapshot) -> float:
    """Returns the height of the lowest contact point [m]; zero where it is nearly so, as in a neutral pose."""
    low = float(here.contact_position[:, 2].min())
    return low if abs(low) > SAME_HEIGHT else 0.0


@kept_with_character
def pose_on_planes(character: Character, pose: bytes, planes: tuple[Plane, ...]) -> Array | None:
    """Returns the pose nearest to a given one (its bytes) with each foot on its plane; None where there is none.

    The CoM stays where it is above the feet.
    """
    state = character.state(np.frombuffer(pose))
    here = take_snapshot(character, state)
    x, y = here.com[:2]
    goals: list[PoseGoal] = [CenterOfMass((float(x), float(y), None)), Posture(state.q, weight=POSTURE_WEIGHT)]
    soles = []
    for foot, (ox, oy, oz, *normal) in zip(character.feet, planes, strict=True):
        soles += [OnPlane(point.body, (ox, oy, oz), normal, point.position) for point in foot.points]
    sole = sole_height(here)
    planes_of_bodies = {foot.body: plane for foot, plane in zip(character.feet, planes, strict=True)}
    for body, (ox, oy, oz, nx, ny, nz) in planes_of_bodies.items():
        place = here.position(body)
        ground = oz - (nx * (place[0] - ox) + ny * (place[1] - oy)) / nz
        goals.append(Reach(body, place + [0.0, 0.0, ground - sole]))
    found = solve_pose(character, goals, soles, start=state.q)
    return found.q if found.status != "infeasible" else None


def pose_on_heights(character: Character, steps: tuple[int, ...]) -> Array | None:
    """Returns the neutral pose with its feet on level ground at these multiples of HEIGHT_STEP; None: it cannot."""
    planes = tuple((0.0, 0.0, HEIGHT_STEP * step, 0.0, 0.0, 1.0) for step in steps)
    return pose_on_planes(character, np.asarray(character.neutral).tobytes(), planes)


def foot_steps(character: Character, felt: FeltGround, points: Array) -> tuple[int, ...] | None:
    """Returns the heights of the ground under each foot above the lowest, in HEIGHT_STEPs; None where all are the same.

    `points` (p, 3) are where the contact points are.
    """
    if felt.level:
        return None
    heights = []
    for foot, row in enumerate(felt.rows):
        x, y, _ = points[foot_table(character).foot_of == foot].mean(axis=0).tolist()
        heights.append(row[2] - (row[5] * (x - row[0]) + row[8] * (y - row[1])) / row[11])
    steps = tuple(round((h - min(heights)) / HEIGHT_STEP) for h in heights)
    return steps if any(steps) else None


def terrain_ground(snapshot: Snapshot, terrain: Terrain, known: FeltGround | None, free: Flags) -> FeltGround:
    """Returns the ground as known so far, with that of the terrain under all feet that are `free`, (feet,)."""
    character, foot_of = snapshot.character, foot_table(snapshot.character).foot_of
    count = len(character.feet)
    surfaces = {} if known is None else dict(known.surfaces)
    rows = np.empty((count, 24)) if known is None else known.rows.copy()
    for foot in range(count) if known is None else np.flatnonzero(free).tolist():
        points = snapshot.contact_position[foot_of == foot]
        found = terrain.surface_under(points[:, 0], points[:, 1])
        surfaces[character.feet[foot].name], rows[foot] = found, found.state_row()
    if known is None:
        return FeltGround(surfaces, rows, np.zeros(count), np.zeros((count, 2)))
    return FeltGround(surfaces, rows, known.rested, known.slid, known.friction)


def feet_off_ground(character: Character, held: Flags) -> Flags:
    """Returns (feet,): feet of which no point is held, (p,)."""
    foot_of = foot_table(character).foot_of
    return np.array([not held[foot_of == foot].any() for foot in range(len(character.feet))], bool)
