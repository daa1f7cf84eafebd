"""What a walker sees of its body at one tick: CoM, capture point, and how both feet lie."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.snapshot_layout import SnapshotParts, snapshot_parts
from counterpoise.character.tables import tables_of
from counterpoise.control.walk.planes import FLAT_GROUND, plane_at, slopes_along
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.kernels import inner_kernel, kernel

BEARS = 0.02  # [body weights] on a foot that bears
LOW_FOOT = 0.02  # [leg lengths] a foot with a point lower than this lies where it will be flat
# where the numbers of a SeenBody begin in their array; the velocity of the CoM is first
CAPTURE, PLACES, RATES, HIPS, FLAT, YAW, PITCH, LOW, BASE, OVER = 3, 5, 20, 35, 41, 45, 47, 49, 51, 53


class SeenBody(NamedTuple):
    """Places in the world; the first foot is the left one."""

    com: Array  # (3,) [m]
    velocity: Array  # (3,) of the CoM [m/s]
    capture: Array  # (2,) the capture point [m]
    hips: Array  # (2, 3) place and velocity of the middle of the hips [m, m/s]
    ankle: Array  # (2, 3) [m]
    ankle_velocity: Array  # (2, 3) [m/s]
    hip: Array  # (2, 3) [m]
    hip_velocity: Array  # (2, 3) [m/s]
    flat: Array  # (2, 2) where the ankle is, or will be when the foot lies flat
    yaw: Array  # (2,) [rad]
    pitch: Array  # (2,) [rad] from the foot's ground, positive where the heel is up
    low: Array  # (2,) [m] height of the lowest point of each foot over its ground
    over: Array  # (p,) [m] height of each contact point over its foot's ground
    ground: Array  # (2, 5) plane under each foot, or under its foothold (planes.py)
    base: Array  # (2,) [m] height of that plane under the ankle
    bears: tuple[bool, bool]  # whether a force is measured on each foot


class _SightTables(NamedTuple):
    """Where the parts of a walking body are in the arrays of a Snapshot."""

    mass: float
    least: float  # [N] on a foot that bears
    ancestors: Array  # (nbody, nv), for its shape
    bodies: Ints  # (5,) ankles, hips, and the middle of the hips
    points: Array  # (5, 3) in the frames of these bodies
    unturn: Array  # (2, 3, 3) inverse orientations of the feet at rest
    feet: tuple[Ints, Ints]
    balls: tuple[Ints, Ints]
    heels: tuple[Ints, Ints]
    back: Array  # (2, 2) of ball and heel, ahead of the ankle [m]


def see(snapshot: Snapshot, body: WalkingBody, ground: Array = FLAT_GROUND) -> SeenBody:
    """Returns what a walker sees. `ground` (2, 5) are the planes under its feet."""
    com, force = snapshot.com, snapshot.contact_force
    p = len(snapshot.contact_position)
    out = np.empty(OVER + p)
    left, right = _see(
        snapshot.flat, _NO_FORCE if force is None else force, p, ground, body.omega, LOW_FOOT * body.hips_height, out,
        _sight_tables(snapshot.character),
    )  # fmt: skip
    places, rates = out[PLACES:RATES].reshape(5, 3), out[RATES:HIPS].reshape(5, 3)
    return SeenBody(
        com, out[:CAPTURE], out[CAPTURE:PLACES], out[HIPS:FLAT].reshape(2, 3), places[:2], rates[:2], places[2:4],
        rates[2:4], out[FLAT:YAW].reshape(2, 2), out[YAW:PITCH], out[PITCH:LOW], out[LOW:BASE], out[OVER:], ground,
        out[BASE:OVER], (left, right),
    )  # fmt: skip


@kept_with_character
def _sight_tables(character: Character) -> tuple[Any, ...]:
    """Returns a _SightTables as a plain tuple, which kernels read faster than a named one."""
    body = walking_body(character)
    legs = body.legs
    names = [*(leg.body for leg in legs), *(leg.hip_body for leg in legs), body.hips_body]
    points = np.array([*(leg.ankle for leg in legs), *(leg.hip for leg in legs), body.hips])
    tables = _SightTables(
        character.mass,
        BEARS * character.weight,
        tables_of(character).ancestors,
        np.array([character.body_id(name) for name in names]),
        points,
        np.array([leg.unturn for leg in legs]),
        (legs[0].points, legs[1].points),
        (legs[0].ball, legs[1].ball),
        (legs[0].heel, legs[1].heel),
        np.array([[leg.ball_at, leg.heel_at] for leg in legs]),
    )
    return tuple(tables)


@kernel
def _see(
    snapshot: Array, force: Array, points: int, ground: Array, omega: float, near: float, out: Array,
    tables: tuple[Any, ...],
) -> tuple[bool, bool]:  # fmt: skip
    """Fills the numbers of a SeenBody. Returns whether a force is measured on the left and on the right foot.

    A foot with a point lower than `near` lies where it will be flat.
    """
    t = _SightTables(*tables)
    nbody, nv = t.ancestors.shape
    s = snapshot_parts(snapshot, nv, nbody, points)
    for k in range(3):
        out[k] = s.momentum[3 + k] / t.mass
    for k in range(2):
        out[CAPTURE + k] = s.com[k] + out[k] / omega
    places, rates = out[PLACES:RATES].reshape(5, 3), out[RATES:HIPS].reshape(5, 3)
    _places(s, t.bodies, t.points, places, rates)
    for k in range(3):
        out[HIPS + k], out[HIPS + 3 + k] = places[4, k], rates[4, k]
    flat, yaw, pitch = out[FLAT:YAW].reshape(2, 2), out[YAW:PITCH], out[PITCH:LOW]
    low, base, over = out[LOW:BASE], out[BASE:OVER], out[OVER:]
    for i in range(points):
        over[i] = s.contact_position[i, 2]
    for i in range(2):
        _foot(
            i, s.body_rotation[t.bodies[i]], t.unturn[i], s.contact_position, t.feet[i], t.balls[i], t.heels[i],
            t.back[i], places[i], near, ground[i], flat, yaw, pitch, low, over, base,
        )  # fmt: skip
    return _bears(force, t.feet[0], t.least), _bears(force, t.feet[1], t.least)


@inner_kernel
def _bears(force: Array, points: Ints, least: float) -> bool:
    """Returns whether the forces on these points are together larger than `least`, upward."""
    total = 0.0
    if len(force):
        for i in points:
            total += force[i, 2]
    return total > least


@kernel
def _places(s: SnapshotParts, bodies: Ints, points: Array, places: Array, rates: Array) -> None:
    """Fills places and velocities of points on bodies. Twists are angular, then linear at the CoM."""
    for i in range(len(bodies)):
        b = bodies[i]
        twist = s.body_velocity[b]
        for k in range(3):
            places[i, k] = s.body_position[b, k]
            for j in range(3):
                places[i, k] += s.body_rotation[b, 3 * k + j] * points[i, j]
        for k in range(3):
            k1, k2 = (k + 1) % 3, (k + 2) % 3
            rates[i, k] = (
                twist[3 + k] + twist[k1] * (places[i, k2] - s.com[k2]) - twist[k2] * (places[i, k1] - s.com[k1])
            )


@kernel
def _foot(
    i: int, rotation: Array, unturn: Array, points: Array, foot: Ints, ball: Ints, heel: Ints, back: Array,
    ankle: Array, near: float, plane: Array, flat: Array, yaw: Array, pitch: Array, low: Array, over: Array,
    base: Array,
) -> None:  # fmt: skip
    """Fills how a foot lies."""
    forward = np.zeros(3)
    for k in range(3):
        for j in range(3):
            forward[k] += rotation[3 * k + j] * unturn[j, 0]
    yaw[i] = math.atan2(forward[1], forward[0])
    ahead, _ = slopes_along(plane, yaw[i])
    pitch[i] = math.asin(min(max(-forward[2], -1.0), 1.0)) + math.atan(ahead)
    low[i] = np.inf
    for j in foot:
        over[j] = points[j, 2] - plane_at(plane, points[j, 0], points[j, 1])
        low[i] = min(low[i], over[j])
    flat[i, 0], flat[i, 1] = ankle[0], ankle[1]
    if low[i] < near:
        pivot = ball if pitch[i] > 0.0 else heel
        away = back[0] if pitch[i] > 0.0 else back[1]
        x, y = 0.0, 0.0
        for j in pivot:
            x += points[j, 0] / len(pivot)
            y += points[j, 1] / len(pivot)
        flat[i, 0], flat[i, 1] = x - math.cos(yaw[i]) * away, y - math.sin(yaw[i]) * away
    base[i] = plane_at(plane, flat[i, 0], flat[i, 1])


_NO_FORCE = np.empty((0, 3))
