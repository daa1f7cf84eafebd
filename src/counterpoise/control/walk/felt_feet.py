"""What a walker feels of the ground: a foot that bears before or after the height that was expected.

A planted foot that bears elsewhere than on its plane takes the plane of its own sole. A foot that has landed and does
not bear is put down farther.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.footholds import ROUGHNESS
from counterpoise.control.walk.planes import plane_at, sole_plane
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.seen_ground import ANYWHERE, NOWHERE, soles_of
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

BEARS = 0.015  # [body weights] on a point that bears
OFF_HEEL = 0.012  # [m] from its plane of a bearing point of a foot on its heel: the ground is elsewhere
OFF_SOLE = 0.007  # [m] the same of a sole
LEANING = 0.06  # [rad] a foot whose pitch is larger does not tell the slope of the ground
FREE_SWING = 0.4  # [leg times] after a foot has left, within which its toes may still touch the ground
STILL_SPEED = 0.03  # [sqrt(leg x g)] of points that rest
STILL_ON_HEEL = 0.5  # [leg times] after which a foot that landed on its heel lies on something before its heel
LATE = 0.03  # [leg times] after which a foot that has landed bears; or the ground is lower
SINK_SPEED = 0.3  # [sqrt(leg x g)] with which such a foot is put down farther
LARGEST_FELT = 0.5  # slope


def feel_feet(
    m: WalkMemory, was: WalkMemory, snapshot: Snapshot, seen: SeenBody, terrain: Terrain | None, dt: float
) -> WalkMemory:
    """Returns the memory with the planes under both feet, where they are felt to be. `was` is that of the last tick."""
    assert m.time is not None
    now, body = m.time, walking_body(snapshot.character)
    if m.phase == "single" and was.phase != "single":
        i = 1 - m.stance
        left = np.array([*seen.flat[i], seen.base[i], *seen.ground[i, 3:]])
        m = altered(m, left_ground=left)
    if m.stance != was.stance:
        m = altered(m, chosen=ANYWHERE, free=NOWHERE)
        if terrain is not None and m.phase == "double":
            m = _landed(m, seen, terrain, snapshot.contact_position, snapshot.character)
        if m.felt.any() or (m.ground[m.stance].any() and terrain is None):
            m = altered(m, felt=_surprise(m.ground[m.stance], seen, m.stance, terrain, snapshot.character))
    force = snapshot.contact_force
    if force is None:
        return m
    ground, feet, began, felt = m.ground, list(m.feet), m.began, m.felt
    least = BEARS * snapshot.character.weight
    for i, leg in enumerate(body.legs):
        felt_by = FeltFoot(*_feel(force, seen.over, leg.points, leg.heel, leg.toes, least))
        if m.phase == "single" and i != m.stance:
            late = now - m.lifted > FREE_SWING * body.leg_time
            if felt_by.bears and late and felt_by.highest > OFF_HEEL and terrain is None:  # it touches on its way
                felt = felt + np.array([felt_by.highest, 0.0, 0.0])
            continue
        foot = m.feet[i]
        if not felt_by.bears:
            late = m.phase == "double" and i == m.stance and now - foot.landed > LATE * body.leg_time
            if late and not foot.has_borne:
                ground = _moved(ground, i, -SINK_SPEED * body.leg_speed * dt)
                began += dt
                feet[i] = foot._replace(landed=now - LATE * body.leg_time, flat=now)
            continue
        if not foot.has_borne:
            feet[i] = foot._replace(has_borne=True)
        if foot.released > 0.0:
            continue
        front = felt_by.front or now - foot.landed > STILL_ON_HEEL * body.leg_time
        if foot.on_heel and not front:
            if abs(felt_by.lowest) > OFF_HEEL:
                ground = _moved(ground, i, felt_by.lowest)
        elif _tells_slope(i, foot, least, snapshot, seen, body):
            off = felt_by.sole if not foot.on_heel else float(np.abs(seen.over[leg.ball]).max())
            if off > OFF_SOLE:
                ground = ground.copy()
                ground[i] = _sole(snapshot.contact_position, leg.heel, leg.ball, seen.flat[i])
        if i == m.stance and ground is not m.ground:
            felt = _surprise(ground[i], seen, i, terrain, snapshot.character)
    if ground is m.ground and felt is m.felt and feet[0] is m.feet[0] and feet[1] is m.feet[1]:
        return m
    return altered(m, ground=ground, feet=(feet[0], feet[1]), began=began, felt=felt)


def _tells_slope(i: int, foot: FootState, least: float, snapshot: Snapshot, seen: SeenBody, body: WalkingBody) -> bool:
    """Returns whether a planted sole lies along the ground: it is level, rests on its front, or bears at both ends."""
    leg, force = body.legs[i], snapshot.contact_force
    if abs(seen.pitch[i]) < LEANING or (foot.on_heel and _is_still(snapshot, leg.ball, body)):
        return True
    if force is None or abs(float(seen.pitch[i])) >= LARGEST_FELT:
        return False
    return bool(force[leg.heel, 2].max() > least and force[leg.ball, 2].max() > least)


class FeltFoot(NamedTuple):
    """The points of a foot that bear, and how far they are from the plane that is expected."""

    bears: bool  # one of them bears
    front: bool  # one that is not of the heel
    highest: float  # [m] over the plane
    lowest: float  # [m] over the plane
    sole: float  # [m] largest distance of those that are not of the toes; 0: none


@kernel
def _feel(
    force: Array, over: Array, points: Ints, heel: Ints, toes: Ints, least: float
) -> tuple[bool, bool, float, float, float]:
    """Returns the numbers of a FeltFoot. A point bears where its force is above `least` [N]."""
    bears, front, highest, lowest, sole = False, False, -np.inf, np.inf, 0.0
    for j in points:
        if force[j, 2] <= least:
            continue
        bears = True
        highest, lowest = max(highest, over[j]), min(lowest, over[j])
        front |= not _is_in(j, heel)
        if not _is_in(j, toes):
            sole = max(sole, abs(over[j]))
    return bears, front, highest, lowest, sole


@inner_kernel
def _is_in(point: int, points: Ints) -> bool:
    """Returns whether a point is one of these."""
    found = False
    for one in points:
        found |= one == point
    return found


def _landed(m: WalkMemory, seen: SeenBody, terrain: Terrain, points: Array, character: Character) -> WalkMemory:
    """Returns the memory with the plane where the stance foot really has landed.

    `points` (p, 3) are all contact points. Where the ground is not one face there, it is the planned plane, moved to
    the foot's lowest point.
    """
    i = m.stance
    plane = np.empty(5)
    x, y = seen.flat[i].tolist()
    rough = sole_plane(x, y, float(seen.yaw[i]), soles_of(character)[i], terrain.obstacles, plane)
    plane[2] += m.felt[0]
    points = points[walking_body(character).legs[i].points]
    if rough > ROUGHNESS or abs(_least_over(points, plane)) > ROUGHNESS:  # beside an edge: as it was planned
        plane = m.ground[i].copy()
        plane[3:] = np.clip(plane[3:], -LARGEST_FELT, LARGEST_FELT)
        plane[2] += _least_over(points, plane)
    return altered(m, ground=np.array([plane, m.ground[1]] if i == 0 else [m.ground[0], plane]))


def _least_over(points: Array, plane: Array) -> float:
    """Returns the least height of points over a plane [m]."""
    return float((points[:, 2] - plane[2] - (points[:, :2] - plane[:2]) @ plane[3:]).min())


def _is_still(snapshot: Snapshot, points: Ints, body: WalkingBody) -> bool:
    """Returns whether points of a foot do not go down any more."""
    return bool(snapshot.contact_velocity[points, 2].min() > -STILL_SPEED * body.leg_speed)


def _moved(ground: Array, i: int, by: float) -> Array:
    out = ground.copy()
    out[i, 2] += by
    return out


def _sole(points: Array, heel: Ints, ball: Ints, place: Array) -> Array:
    """Returns the plane of a sole, (5,)."""
    back, front = points[heel].mean(axis=0), points[ball].mean(axis=0)
    pairs = [pair for pair in (heel, ball) if len(pair) > 1]
    if pairs:
        left = np.mean([points[pair[0]] - points[pair[1]] for pair in pairs], axis=0)
    else:  # a sole that is a line: it lies level across
        left = np.array([back[1] - front[1], front[0] - back[0], 0.0])
    normal = np.cross(front - back, left)
    normal = normal if normal[2] > 0.0 else -normal
    middle = 0.5 * (back + front)
    slope = np.clip(-normal[:2] / max(normal[2], 1e-3), -LARGEST_FELT, LARGEST_FELT)
    return np.array([*place, middle[2] + float(slope @ (place - middle[:2])), *slope])


def _surprise(plane: Array, seen: SeenBody, i: int, terrain: Terrain | None, character: Character) -> Array:
    """Returns by how much a plane is higher, and steeper along x and y, than the ground that is seen, (3,)."""
    told = np.zeros(5)
    x, y = seen.flat[i].tolist()
    if terrain is not None:
        rough = sole_plane(x, y, float(seen.yaw[i]), soles_of(character)[i], terrain.obstacles, told)
        off = plane_at(plane, x, y) - told[2]
        unlike = abs(off) > ROUGHNESS and rough <= ROUGHNESS  # a foot on an edge tells nothing
        return np.array([off if unlike else 0.0, 0.0, 0.0])
    return np.array([plane_at(plane, x, y), plane[3], plane[4]])
