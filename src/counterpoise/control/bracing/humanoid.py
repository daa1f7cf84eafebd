"""The parts of a humanoid that bracing and getting up use, and poses written as bends of its joints."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.legs import LegRoles, legs_of
from counterpoise.errors import MissingRole

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class BodySide:
    """The joints and bodies of one arm and one leg, by name."""

    shoulder: str
    elbow: str
    wrist: str
    hip: str
    knee: str
    ankle: str
    toe: str
    shank: str  # body
    foot: str  # body
    toes: str  # body
    forearm: str  # body
    hand: str  # body


@dataclass(frozen=True)
class Humanoid:
    """A body with two arms, two legs with knees and toes, and a trunk with ball joints."""

    left: BodySide
    right: BodySide
    trunk: tuple[str, ...]  # joints from the hips to the shoulders
    neck: tuple[str, ...]  # joints from there to the head
    chest: str  # body
    head: str  # body

    def sides(self, near: str) -> tuple[tuple[BodySide, float], tuple[BodySide, float]]:
        """Returns the near and the far side, each with the sign of its outward turns."""
        left, right = (self.left, 1.0), (self.right, -1.0)
        return (left, right) if near == "left" else (right, left)


@dataclass(frozen=True)
class LimbBends:
    """The bends of an arm and a leg [deg]. Ball joints: (outwards, forwards, inward turn)."""

    shoulder: Vector = (5.0, 0.0, 0.0)
    elbow: float = 10.0
    hip: Vector = (3.0, 0.0, 0.0)
    knee: float = 8.0
    ankle: float = 0.0  # toes down
    toe: float = 0.0  # up


@dataclass(frozen=True)
class BodyBends:
    """A pose as bends of the joints [deg]. `near` is one side of the body, `far` the other."""

    near: LimbBends = field(default_factory=LimbBends)
    far: LimbBends = field(default_factory=LimbBends)
    bend: float = 0.0  # forwards, of every joint of the trunk
    twist: float = 0.0  # of every joint of the trunk, towards the near side
    nod: float = 0.0  # forwards, of the neck
    look: float = 0.0  # turn of the neck towards the near side


def posed(character: Character, bends: BodyBends, near: str = "left") -> Array:
    """Returns a pose (nq,) from bends, inside the joints' limits; its root is that of the neutral pose."""
    body = humanoid_of(character)
    q = np.array(character.neutral)
    towards = 1.0 if near == "left" else -1.0

    def turn(joint: str, out: float, forwards: float, around: float) -> None:
        q[character.joint(joint).qpos] = spatial.exp(np.radians([out, forwards, around]))

    for joint in body.trunk:
        turn(joint, 0.0, bends.bend, towards * bends.twist)
    for joint in body.neck:
        turn(joint, 0.0, bends.nod / len(body.neck), towards * bends.look / len(body.neck))
    for (side, sign), limb in zip(body.sides(near), (bends.near, bends.far), strict=True):
        turn(side.shoulder, sign * limb.shoulder[0], -limb.shoulder[1], sign * limb.shoulder[2])
        turn(side.hip, sign * limb.hip[0], -limb.hip[1], sign * limb.hip[2])
        q[character.joint(side.elbow).qpos] = math.radians(limb.elbow)
        q[character.joint(side.knee).qpos] = math.radians(limb.knee)
        q[character.joint(side.ankle).qpos] = np.radians([limb.ankle, 0.0])[: _size(character, side.ankle)]
        q[character.joint(side.toe).qpos] = math.radians(limb.toe)
        q[character.joint(side.wrist).qpos] = 0.0
    return np.array(character.limits.clamp(q))


@kept_with_character
def humanoid_of(character: Character) -> Humanoid:
    """Returns the parts of a humanoid; raises where the body has not all of them."""
    legs = {leg.side: leg for leg in legs_of(character)}
    if len(character.feet) != 2 or set(legs) != {"left", "right"} or len(character.hands) != 2:
        raise _missing(character, "two hands and two legs")
    if not character.floating or character.joints[0].kind != "free":
        raise _missing(character, "a root that moves freely")
    at = anatomy_of(character)
    hands = sorted(character.hands, key=lambda name: -at.places[character.body_id(name)][1])
    left, right = _side(character, legs["left"], hands[0]), _side(character, legs["right"], hands[1])
    chest = at.parents[character.body_id(character.joint(left.shoulder).body)]
    head = at.limbs.get("head", ())
    trunk = _joints(character, chest, at.hips)
    if not head or not trunk:
        raise _missing(character, "a trunk that bends and a head")
    neck = _joints(character, head[-1], chest)
    names = at.names
    for joint in (*trunk, *neck, left.shoulder, right.shoulder, left.hip, right.hip):
        if character.joint(joint).kind != "ball":
            raise _missing(character, f"ball joints in trunk, neck, shoulders and hips ({joint!r} is none)")
    return Humanoid(left, right, trunk, neck, names[chest], names[head[-1]])


def _side(character: Character, leg: LegRoles, hand: str) -> BodySide:
    names = anatomy_of(character).names
    if leg.knee is None or leg.ankle is None or not leg.toes:
        raise _missing(character, "knees, ankles and toes")
    toes = character.contact_points[leg.toes[0]].body
    arm = _path(character, character.body_id(hand), 3)
    by_body = {joint.body: joint.name for joint in character.joints}
    if len(arm) < 3 or not all(names[b] in by_body for b in arm) or toes not in by_body:
        raise _missing(character, "arms of three joints, and toes")
    wrist, elbow, shoulder = (by_body[names[b]] for b in arm)
    foot = character.foot(leg.foot).body
    return BodySide(
        shoulder, elbow, wrist, leg.hip.joints[-1], leg.knee.joints[-1], leg.ankle.joints[-1], by_body[toes],
        character.joint(leg.knee.joints[-1]).body, foot, toes, names[arm[1]], hand,
    )  # fmt: skip


def _path(character: Character, body: int, count: int) -> list[int]:
    """Returns a body and those it hangs from, `count` at most."""
    return anatomy_of(character).path(body)[:count]


def _joints(character: Character, body: int, top: int) -> tuple[str, ...]:
    """Returns the joints between two bodies, from the upper one of the tree downwards."""
    at = anatomy_of(character)
    by_body = {joint.body: joint.name for joint in character.joints}
    found = []
    for b in at.path(body):
        if b == top:
            break
        if at.names[b] in by_body:
            found.append(by_body[at.names[b]])
    return tuple(reversed(found))


def _size(character: Character, joint: str) -> int:
    part = character.joint(joint).qpos
    return int(part.stop - part.start)


def _missing(character: Character, what: str) -> MissingRole:
    return MissingRole(
        f"getting up needs a humanoid with {what}; {character.name!r} has not. The library's human, child and "
        "asymmetric have",
        character=character.name,
    )
