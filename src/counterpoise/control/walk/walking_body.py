"""What a walker must know of a body: its two legs, its hips, its soles, and its pendulum."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.legs import LegRoles, legs_of
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.limbs import Limbs, limbs_of
from counterpoise.control.standing_body import standing_body
from counterpoise.control.walk.ankles import bending_torque, can_roll, pressure_reach
from counterpoise.errors import BadValue

Point = tuple[float, float, float]
SIDES = ("left", "right")
SIGN = (1.0, -1.0)  # of the left and the right side, along the body's left
LONGEST = 0.998  # of the leg's straight length: a leg that is straighter than this cannot push
STRONG_HIPS = 0.3  # [weight x hips' height] torque of hips that suffice for a usual speed
LONG_HEEL, USUAL_HEEL = 0.1, 0.045  # of the hips' height, behind the ankle
BENT = 0.97  # of the leg's straight length: a leg that is shorter in the neutral pose stands bent
EDGE = 0.1  # of the sole's width: points farther than this from its middle belong to an edge
KNEE_SAMPLES = 61  # of its range, to find where the leg is straight
TOO_STRAIGHT = 0.9975  # of the leg's straight length: hips that stand higher than this above the ankles ...
UPRIGHT = 0.985  # ... walk as if they stood this high: a leg that is straight can neither push nor be lifted
LONGEST_THEN = 0.99  # of the straight length of such legs
EXTENDED = 1.05  # of the leg's length in the neutral pose: legs that stand bent do not stretch farther than this


@dataclass(frozen=True, eq=False)
class WalkingLeg:
    """One leg; lengths in metres, along and across the foot, from the ankle."""

    foot: str  # name of the foot
    body: str  # of the ankle's part of the foot
    ankle: Point  # in that body's frame
    hip_body: str
    hip: Point  # in that body's frame
    points: Ints  # contact points of the whole foot
    heel: Ints
    ball: Ints  # the front of the ankle's part
    toes: Ints  # of the part before it; empty for a foot of one piece
    toe_body: str | None
    heel_at: float  # of the heel points, along the foot; negative
    ball_at: float
    front_at: float  # of the foremost points
    half_width: float  # of the sole
    reach: float  # from the ankle, ahead and behind, at which the ankle carries the whole weight; infinite: any place
    can_roll: bool  # the foot can turn about its length while the shin stays as it is
    outer: Ints  # contact points of the outer edge of a sole that has two, and ...
    inner: Ints  # ... of the inner one
    ankle_height: float  # above the sole
    straight: float  # hip to ankle, by the lengths of its bones
    longest: float  # hip to ankle, as far as the leg stretches in a walk
    is_bent: bool  # the leg stands bent in the neutral pose, as a bird's does
    knee: int  # row of v of the knee's hinge
    knee_at: int  # place of the knee in q
    knee_sign: float  # of a bend in q
    knee_straight: float  # angle in q of the straight leg [rad]
    turn: Array  # (4,) orientation of the body in the neutral pose
    unturn: Array  # (3, 3) its inverse
    ahead: Point  # the direction of the foot in the body's frame
    toe_turn: Array  # (4,) of the toes


@dataclass(frozen=True, eq=False)
class WalkingBody:
    """A body that walks; the first leg is the left one."""

    legs: tuple[WalkingLeg, WalkingLeg]
    hips_body: str
    hips: Point  # the middle of the hip joints, in that body's frame
    hips_height: float  # above the soles, in the neutral pose; a little lower where legs are straight in it
    hips_ahead: float  # of the CoM, in the neutral pose
    half_width: float  # half the distance of the hips
    stance_width: float  # distance of the ankles in the neutral pose
    com_height: float
    omega: float  # [1/s] of the pendulum
    leg_time: float  # [s] sqrt(leg length / g)
    leg_speed: float  # [m/s] sqrt(leg length x g)
    chest: str | None  # the body that carries the arms or the head; None: the hips carry them
    head: str | None
    hips_turn: Array  # (4,) orientations in the neutral pose
    chest_turn: Array
    head_turn: Array
    limbs: Limbs
    pace: float  # of a body's usual speed: less where it stands straight and its hips are weak

    @property
    def stands_straight(self) -> bool:
        """Whether its legs are straight in the neutral pose."""
        return any(_is_straight(leg) for leg in self.legs)

    @cached_property
    def strike_share(self) -> float:
        """Share of a usual pitch at heel strike: less where heels are long, on which the whole body would be lifted."""
        longest = max(-leg.heel_at for leg in self.legs) / self.hips_height
        return USUAL_HEEL / longest if longest > LONG_HEEL else 1.0

    @property
    def feet_alone(self) -> bool:
        """Whether only the places of its feet balance it sideways: no ankle can roll."""
        return not (self.legs[0].can_roll or self.legs[1].can_roll)

    @property
    def is_quick(self) -> bool:
        """Whether its steps are to be quick: its ankles correct little within a step.

        An error of balance grows by exp(omega T) within the time T of a step.
        """
        return self.feet_alone or any(math.isfinite(leg.reach) for leg in self.legs)


@kept_with_character
def walking_body(character: Character) -> WalkingBody:
    """Returns what a walker must know of a body. Raises BadValue where it has no two legs."""
    roles = {leg.side: leg for leg in legs_of(character)}
    if len(character.feet) != 2 or set(roles) != set(SIDES):
        feet = ", ".join(foot.name for foot in character.feet) or "none"
        raise BadValue(f"Walk needs a body with a left and a right foot; the feet of {character.name!r}: {feet}")
    for leg in roles.values():
        if leg.knee is None or leg.ankle is None:
            raise BadValue(
                f"Walk needs legs with a knee and an ankle; {leg.foot!r} of {character.name!r} hangs on a stiff leg"
            )
    rest = character.snapshot()
    legs = (_leg(character, rest, roles["left"]), _leg(character, rest, roles["right"]))
    at = anatomy_of(character)
    hips_body = at.names[at.hips]
    hips = np.mean([rest.position(leg.hip_body, leg.hip) for leg in legs], axis=0)
    ankles = [rest.position(leg.body, leg.ankle) for leg in legs]
    sole = float(rest.contact_position[:, 2].min())
    pendulum = standing_body(character)
    hips_height = float(hips[2]) - sole
    if all(hips[2] - ankle[2] > TOO_STRAIGHT * leg.straight for ankle, leg in zip(ankles, legs, strict=True)):
        hips_height = min(leg.ankle_height + UPRIGHT * leg.straight for leg in legs)
    chest, head = _chest(character), at.limbs.get("head", ()) if at.how != "shape" else ()
    head_body = at.names[head[-1]] if head else None
    turns = [spatial.from_matrix(rest.rotation(body)) if body else _LEVEL for body in (hips_body, chest, head_body)]
    across = rest.position(legs[0].hip_body, legs[0].hip) - rest.position(legs[1].hip_body, legs[1].hip)
    return WalkingBody(
        legs, hips_body, _place_in(rest, hips_body, hips), hips_height, float(hips[0] - rest.com[0]),
        0.5 * abs(float(across[1])), abs(float((ankles[0] - ankles[1])[1])), pendulum.height, pendulum.omega,
        math.sqrt(hips_height / pendulum.gravity), math.sqrt(hips_height * pendulum.gravity), chest, head_body,
        turns[0], turns[1], turns[2], _limbs(character), _pace(character, rest, legs, roles.values(), hips_height),
    )  # fmt: skip


def _leg(character: Character, rest: Snapshot, roles: LegRoles) -> WalkingLeg:
    assert roles.knee is not None and roles.ankle is not None
    foot = next(foot for foot in character.feet if foot.name == roles.foot)
    hip, knee = rest.position(roles.hip.body, roles.hip.point), rest.position(roles.knee.body, roles.knee.point)
    ankle = rest.position(roles.ankle.body, roles.ankle.point)
    bends = [hip, knee, *([rest.position(roles.hock.body, roles.hock.point)] if roles.hock else []), ankle]
    straight = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(bends))
    standing = float(np.linalg.norm(hip - ankle))
    most = LONGEST_THEN if hip[2] - ankle[2] > TOO_STRAIGHT * straight else LONGEST
    heel, ball, toes = sole_parts(roles)
    points = np.array([*heel, *ball, *toes])
    places = rest.contact_position
    from_ankle = places - ankle
    toe_body = character.contact_points[toes[0]].body if toes else None
    front = float(from_ankle[list(toes or ball), 0].mean())
    hinge = character.joint(roles.knee.joints[-1])
    return WalkingLeg(
        roles.foot, foot.body, _place_in(rest, foot.body, ankle), roles.hip.body, roles.hip.point, points,
        np.array(heel), np.array(ball), np.array(toes, np.int64), toe_body,
        float(from_ankle[list(heel), 0].mean()), float(from_ankle[list(ball), 0].mean()), front,
        0.5 * max(float(np.ptp(places[list(part), 1])) for part in (heel, ball)),
        pressure_reach(character, rest, foot.body, roles.ankle.joints, front),
        can_roll(character, rest, foot.body, roles.ankle.joints),
        *_edges(points, SIGN[SIDES.index(str(roles.side))] * (places[points, 1] - ankle[1])),
        float(ankle[2] - places[points, 2].min()), straight, min(most * straight, EXTENDED * standing),
        standing < BENT * straight, hinge.dofs.start,
        hinge.qpos.start, *_knee(character, rest, roles, hinge.dofs.start, hinge.qpos.start),
        spatial.from_matrix(rest.rotation(foot.body)), rest.rotation(foot.body).T.copy(),
        _direction(rest.rotation(foot.body)),
        spatial.from_matrix(rest.rotation(toe_body or foot.body)),
    )  # fmt: skip


def _is_straight(leg: WalkingLeg) -> bool:
    return leg.longest <= LONGEST_THEN * leg.straight and not leg.is_bent


def _pace(
    character: Character,
    rest: Snapshot,
    legs: tuple[WalkingLeg, WalkingLeg],
    roles: Iterable[LegRoles],
    unit: float,
) -> float:
    """Returns the share of the usual speed at which weak hips can swing the legs and hold the trunk.

    Legs that stand straight walk bent (UPRIGHT), which loads the hips more.
    """
    if not any(_is_straight(leg) for leg in legs):
        return 1.0
    weakest = min(bending_torque(character, rest, leg.hip.body, leg.hip.joints) for leg in roles)
    return min(weakest / (STRONG_HIPS * character.weight * unit), 1.0)


def sole_parts(roles: LegRoles) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Returns the points of heel, ball and toes. Where the ankle's part has no front of its own, toes are the ball."""
    heel, ball, toes = (roles.heel, roles.ball, roles.toes) if roles.ball else (roles.heel, roles.toes, ())
    if not heel or not ball:
        raise BadValue(
            f"Walk needs feet with a heel and a front; all contact points of {roles.foot!r} are at one end of it: "
            "shapes before and behind the ankle make a sole"
        )
    return heel, ball, toes


def _edges(points: Ints, outward: Array) -> tuple[Ints, Ints]:
    """Returns the points of the outer and of the inner edge of a sole, by how far outward each is [m]."""
    middle = 0.5 * float(outward.max() + outward.min())
    aside, least = outward - middle, EDGE * float(np.ptp(outward))
    return points[aside > least], points[aside < -least]


def _knee(character: Character, rest: Snapshot, roles: LegRoles, row: int, at: int) -> tuple[float, float]:
    """Returns the sign of a bend of the knee in q, and the angle in q at which hip, knee and ankle are in line."""
    knee, end = roles.knee, roles.hock or roles.ankle
    assert knee is not None and end is not None

    def bend(angle: float) -> float:
        q = rest.q.copy()
        q[at] = angle
        s = character.snapshot(character.state(q))
        a = s.position(roles.hip.body, roles.hip.point)
        b = s.position(knee.body, knee.point)
        c = s.position(end.body, end.point)
        u, v = (b - a) / np.linalg.norm(b - a), (c - b) / np.linalg.norm(c - b)
        return float(np.arccos(np.clip(u @ v, -1.0, 1.0)))

    low, high = _range(character, row)
    grid = np.linspace(low, high, KNEE_SAMPLES)
    values = [bend(float(x)) for x in grid]
    straight = float(grid[int(np.argmin(values))])
    return (1.0 if high - straight > straight - low else -1.0), straight


def _range(character: Character, row: int) -> tuple[float, float]:
    """Returns the limits of a hinge by its row of v; half a turn to both sides where it has none."""
    model = character.model
    joint = int(model.dof_jntid[row])
    if not model.jnt_limited[joint]:
        return -math.pi, math.pi
    low, high = model.jnt_range[joint].tolist()
    return low, high


def _limbs(character: Character) -> Limbs:
    """Returns the limbs; joints between the trunk and the hips that hang from it are none of the legs'."""
    at, limbs = anatomy_of(character), limbs_of(character)
    above = {at.names[body] for body in at.path(at.hips)}
    waist = tuple(name for name in limbs.legs if character.joint(name).body in above)
    return replace(limbs, legs=tuple(name for name in limbs.legs if name not in waist)) if waist else limbs


def _chest(character: Character) -> str | None:
    """Returns the body where the trunk ends: beyond it, no single branch has half of the upper body's mass.

    None: that are the hips themselves.
    """
    at, model = anatomy_of(character), character.model
    if character.body_id(character.root) != at.hips and character.body_id(character.root) in at.ancestors(at.hips):
        return character.root  # the hips hang from the trunk
    legs = {character.body_id(leg.hip.body) for leg in legs_of(character)}
    children = [b for b in range(1, model.nbody) if model.body_parentid[b] == at.hips and not _carries(model, b, legs)]
    upper = sum(float(model.body_subtreemass[b]) for b in children)
    body = at.hips
    while children:
        heaviest = max(children, key=lambda b: float(model.body_subtreemass[b]))
        if model.body_subtreemass[heaviest] < 0.5 * upper:
            break
        body = heaviest
        children = [b for b in range(1, model.nbody) if model.body_parentid[b] == body]
    return None if body == at.hips else at.names[body]


def _carries(model: Any, body: int, others: set[int]) -> bool:
    """Returns whether one of these bodies hangs from a body, or is it."""
    for other in others:
        while other > 0:
            if other == body:
                return True
            other = int(model.body_parentid[other])
    return False


def _place_in(rest: Snapshot, body: str, place: Array) -> Point:
    """Returns a place of the world in the frame of a body."""
    x, y, z = (rest.rotation(body).T @ (place - rest.position(body))).tolist()
    return x, y, z


def _direction(R: Array) -> Point:
    """Returns the direction that is forward in the neutral pose, in the frame of a body that is turned by R."""
    x, y, z = R[0].tolist()
    return x, y, z


_LEVEL = np.array([1.0, 0.0, 0.0, 0.0])
