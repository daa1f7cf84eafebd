"""Limbs: which joints of a character belong to its arms, its legs, and to neither."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.kernels import kernel
from counterpoise.objectives.base import smooth_step

LARGEST_ARM = 0.15  # [body masses] a limb heavier than this is no arm


@dataclass(frozen=True, eq=False)
class Limbs:
    """The joints of a character by the part of the body that they move."""

    arms: tuple[str, ...]  # of light limbs that end in a hand and carry no foot
    legs: tuple[str, ...]  # between the root and the feet, and beyond the feet
    others: tuple[str, ...]  # that move neither a hand nor a foot, such as those of a neck or a tail
    arm_balls: tuple[tuple[slice, Array], ...]  # of the arms' ball joints: part of q, middle of the range (4,)
    arm_places: Ints  # where those parts of q begin


@kept_with_character
def limbs_of(character: Character) -> Limbs:
    """Returns the limbs of a character."""
    model = character.model
    to_hands = _ancestors(character, character.hands)
    to_feet = _ancestors(character, (foot.body for foot in character.feet))
    legs = to_feet - _ancestors(character, [character.root])
    for body in range(1, model.nbody):  # parents come first
        if int(model.body_parentid[body]) in legs:
            legs.add(body)
    light = {body for body in to_hands if model.body_subtreemass[body] < LARGEST_ARM * character.mass}
    body_of = {joint.name: character.body_id(joint.body) for joint in character.joints}
    arms = tuple(name for name, body in body_of.items() if body in light - to_feet)
    others = tuple(
        joint.name
        for joint in character.joints
        if joint.kind != "free" and body_of[joint.name] not in to_hands | to_feet
    )
    balls = character.limits.balls
    arm_balls = tuple((character.joint(name).qpos, balls[name].rest) for name in arms if name in balls)
    return Limbs(
        arms,
        tuple(name for name, body in body_of.items() if body in legs),
        others,
        arm_balls,
        np.array([part.start for part, _ in arm_balls], np.int64),
    )


def _ancestors(character: Character, bodies: Iterable[str]) -> set[int]:
    """Returns these bodies and all bodies they hang from."""
    found: set[int] = set()
    for name in bodies:
        body = character.body_id(name)
        while body > 0:
            found.add(body)
            body = int(character.model.body_parentid[body])
    return found


def arm_detour(limbs: Limbs, q: Array, goal: Array, near: float, far: float) -> Array | None:
    """Returns the pose to go to instead of `goal` where an arm is far from it; None where no arm is.

    The shortest way from a distant pose may lead out of a shoulder's swing cone. A cone is star-shaped about its
    middle: the way there, and from there to the goal, stays inside. The pose that is returned moves from the middle of
    the range to the goal as the angle to the goal falls from `far` to `near` [rad].
    """
    near_cosine, detour = math.cos(0.5 * near), None
    if are_near(q, goal, limbs.arm_places, near_cosine):
        return None
    for part, middle in limbs.arm_balls:
        a, b, c, d = q[part].tolist()
        home = goal[part]
        w, x, y, z = home.tolist()
        cosine = abs(a * w + b * x + c * y + d * z)
        if cosine > near_cosine:
            continue
        angle = 2.0 * math.acos(min(cosine, 1.0))
        detour = goal.copy() if detour is None else detour
        detour[part] = spatial.slerp(home, middle, smooth_step((angle - near) / (far - near)))
    return detour


@kernel
def are_near(q: Array, goal: Array, places: Ints, near_cosine: float) -> bool:
    """Returns whether all ball joints whose quaternions begin at `places` are near their goals."""
    for i in places:
        cosine = abs(q[i] * goal[i] + q[i + 1] * goal[i + 1] + q[i + 2] * goal[i + 2] + q[i + 3] * goal[i + 3])
        if not cosine > near_cosine:
            return False
    return True
