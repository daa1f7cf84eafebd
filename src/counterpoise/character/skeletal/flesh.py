"""Flesh for a bare skeleton: the shape, mass and strength of each segment, and where the soles are.

A figure recognised as a person gets Winter's masses for its height, shared among the joints of each part by volume. Any
other figure gets the mass of its volume in water.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anthropometry import DAMPING, FOOT_BREADTH, FOOT_HEIGHT, STRENGTH, WINTER
from counterpoise.character.skeletal.parts import SkeletonParts
from counterpoise.character.skeletal.tree import JointTree
from counterpoise.defaults import GRAVITY

Soles = dict[int, tuple[tuple[int, Array], ...]]  # ankle -> (joint, place in its frame) of the contact points

REFERENCE_MASS = 73.0  # [kg]: the person whose strength the tables of anthropometry give
BODY_MASS_INDEX = 23.8  # [kg/m^2]: 73 kg at 1.75 m
MIN_BONE_LENGTH = 0.02  # [m]: shorter bones get no flesh of their own
MIN_RADIUS = 0.004  # [m] of a capsule
DENSITY = 1000.0  # [kg/m^3]
MAX_STRENGTH = 500.0  # [N m] of a joint of a figure that is not a person
MIN_STRENGTH = 1.0  # [N m] of any joint
ANIMAL_DAMPING = 1.0  # [N m s/rad] of the joints of a figure that is not a person
MIN_MASS_SHARE = 0.002  # a body has at least this share of the mean mass
RADIUS = {  # of the flesh around a part's bones, as a share of the height H
    "head": 0.048, "thorax": 0.068, "abdomen": 0.066, "pelvis": 0.058, "thigh": 0.042, "shank": 0.029, "foot": 0.016,
    "upper_arm": 0.025, "forearm": 0.021, "hand": 0.014, "neck": 0.032, "clavicle": 0.04, "hip": 0.052,
}  # fmt: skip
STRENGTH_OF = {  # part -> the joint in the tables of anthropometry that moves it
    "head": "neck", "thorax": "spine", "abdomen": "waist", "pelvis": "waist", "thigh": "hip", "shank": "knee",
    "foot": "ankle_pitch", "upper_arm": "shoulder", "forearm": "elbow", "hand": "wrist",
}  # fmt: skip


@dataclass(frozen=True)
class FleshShape:
    """A capsule from the joint to `end`, a sphere at the joint, or the box of a foot; in the joint's frame."""

    kind: str  # capsule, sphere, box
    size: tuple[float, ...]  # [m] radius, or half lengths of a box
    end: Array | None = None  # (3,) [m] of a capsule
    place: Array | None = None  # (3,) [m] centre of a box
    turn: Array | None = None  # (4,) of a box
    mass: float = 0.0  # [kg]
    collides: bool = True

    @property
    def volume(self) -> float:
        """[m^3]"""
        if self.kind == "box":
            return 8.0 * float(np.prod(self.size))
        r = self.size[0]
        length = 0.0 if self.end is None else float(np.linalg.norm(self.end))
        return float(np.pi * r * r * (4.0 / 3.0 * r + length))


@dataclass(frozen=True)
class Flesh:
    """Shapes, masses and strengths for a tree of joints."""

    parts: SkeletonParts
    shapes: tuple[tuple[FleshShape, ...], ...]
    strength: tuple[float, ...]  # [N m]
    damping: tuple[float, ...]  # [N m s/rad]
    mass: float  # [kg]
    height: float  # [m]; of a person the stature that fits its legs
    soles: Soles


def _stature(tree: JointTree, parts: SkeletonParts) -> float:
    """Returns the height H of the figure [m]; of a person the height that fits the legs, if that is more.

    Thigh and shank together are 0.491 H. Files often end the head at its joint or leave out a part of the spine, but
    legs are complete.
    """
    if not parts.humanoid:
        return tree.height
    legs = []
    for foot in parts.feet:
        hip = next(i for i, part in enumerate(parts.by_joint) if part == "thigh" and parts.limbs[i] == foot)
        length, at = 0.0, foot
        while at != hip:
            length, at = length + float(np.linalg.norm(tree.offsets[at])), tree.parents[at]
        legs.append(length)
    by_legs = float(np.mean(legs)) / (WINTER["thigh"].length + WINTER["shank"].length)
    return max(tree.height, min(by_legs, 1.25 * tree.height))


def flesh_of(tree: JointTree, parts: SkeletonParts, mass: float | None) -> Flesh:
    """Returns shapes along the bones, soles under the feet, masses and strengths."""
    H = _stature(tree, parts)
    reaches: list[list[Array]] = [[] for _ in tree.names]
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            reaches[parent].append(tree.offsets[i])
    for joint, end in tree.ends:
        reaches[joint].append(end)
    soles: Soles = {}
    boxes: dict[int, list[FleshShape]] = {}
    for ankle in parts.feet:
        soles[ankle] = _sole(tree, ankle, H, boxes)
    shapes: list[list[FleshShape]] = []
    for i, part in enumerate(parts.by_joint):
        bones = [bone for bone in reaches[i] if np.linalg.norm(bone) > MIN_BONE_LENGTH]
        longest = max((float(np.linalg.norm(bone)) for bone in bones), default=0.0)
        radius = RADIUS[_shape_name(parts, i)] * H if part else min(0.15 * longest, 0.06 * H)
        if i == parts.head and part:  # the top of the head is where the file has it, or higher if H is more
            crown = min(max(H - tree.height, 0.0), radius) - radius
            bones = [bone * max(1.0 + crown / float(np.linalg.norm(bone)), 0.1) for bone in bones]
        own = [FleshShape("capsule", (max(min(radius, 0.9 * longest), MIN_RADIUS),), end=bone) for bone in bones]
        if i in boxes:
            own = boxes[i]
        elif not own and i == 0:
            own = [FleshShape("sphere", (max(radius, 0.03 * H, 0.02),))]
        elif not own:
            own = [FleshShape("sphere", (0.01,), collides=False)]
        shapes.append(own)
    return _weighed(tree, parts, shapes, soles, H, mass)


def _shape_name(parts: SkeletonParts, joint: int) -> str:
    """Returns the key of RADIUS for a joint: neck and head, clavicle and thorax, hip and pelvis have their own."""
    part, sided = parts.by_joint[joint], parts.sides[joint] != "middle"
    if part == "head" and parts.head is not None and joint < parts.head:
        return "neck"
    return {"thorax": "clavicle", "pelvis": "hip"}.get(part, part) if sided else part


def _weighed(
    tree: JointTree,
    parts: SkeletonParts,
    shapes: list[list[FleshShape]],
    soles: Soles,
    H: float,
    mass: float | None,
) -> Flesh:
    """Returns the flesh with masses and strengths: of a person by part and height, of any other figure by volume."""
    volumes = np.array([sum(shape.volume for shape in own) for own in shapes])
    if parts.humanoid:
        total = mass or BODY_MASS_INDEX * H**2
        keys = list(zip(parts.by_joint, parts.limbs, strict=True))
        shares = np.zeros(len(keys))
        for key in sorted(set(keys)):
            members = np.array([k == key for k in keys])
            shares[members] = WINTER[key[0]].mass * volumes[members] / volumes[members].sum()
        masses = total * shares / shares.sum()
        size = total / REFERENCE_MASS
        strength = tuple(max(size * STRENGTH[STRENGTH_OF[part]], MIN_STRENGTH) for part in parts.by_joint)
        damping = tuple(DAMPING[STRENGTH_OF[part].removesuffix("_pitch")] for part in parts.by_joint)
    else:
        masses = DENSITY * volumes
        if mass is not None:
            masses *= mass / masses.sum()
        total = float(masses.sum())
        weights = [
            GRAVITY * sum(masses[k] for k in tree.below(i)) for i in range(len(shapes))
        ]  # [N] that a joint moves
        strength = tuple(float(min(max(weight * 0.3 * H, MIN_STRENGTH), MAX_STRENGTH)) for weight in weights)
        damping = (ANIMAL_DAMPING,) * len(shapes)
    masses = np.maximum(masses, MIN_MASS_SHARE * total / max(len(shapes), 20))
    weighed = tuple(
        tuple(
            FleshShape(s.kind, s.size, s.end, s.place, s.turn, float(masses[i] * s.volume / volumes[i]), s.collides)
            for s in own
        )
        for i, own in enumerate(shapes)
    )
    return Flesh(parts, weighed, strength, damping, float(masses.sum()), H, soles)


def _sole(tree: JointTree, ankle: int, H: float, boxes: dict[int, list[FleshShape]]) -> tuple[tuple[int, Array], ...]:
    """Adds the boxes of a foot that is flat in the stance: from heel to ball, and for the toes where the file has them.

    Returns the contact points (joint, place in its frame): heel, ball, and tips of the toes.
    """
    members = tree.below(ankle)
    tips = [(i, tree.places[i] + spatial.rotate(tree.turns[i], end)) for i, end in tree.ends if i in members]
    points = [(i, tree.places[i]) for i in members] + tips
    centre = tree.places[ankle]
    far = max(points, key=lambda point: float(np.hypot(*(point[1] - centre)[:2])))
    reach = float(np.hypot(*(far[1] - centre)[:2]))
    ahead = np.array([1.0, 0.0, 0.0])
    if reach > 0.02 * H:
        ahead = np.array([*(far[1] - centre)[:2], 0.0]) / reach
    else:
        reach = 0.7 * WINTER["foot"].length * H
    across = np.array([-ahead[1], ahead[0], 0.0])
    lowest = min(float(point[2]) for _, point in points)
    floor = min(lowest - RADIUS["foot"] * H, float(centre[2]) - 0.6 * FOOT_HEIGHT * H)
    heel = -float(np.clip(WINTER["foot"].length * H - reach, 0.03 * H, 0.06 * H))
    turn = spatial.from_yaw(float(np.arctan2(ahead[1], ahead[0])))
    breadth = 0.5 * FOOT_BREADTH * H
    toes = [i for i in members if i != ankle and float((tree.places[i] - centre) @ ahead) > 0.3 * reach]
    bend = min((float((tree.places[i] - centre) @ ahead) for i in toes), default=reach)
    toe = next(
        (i for i in toes if float((tree.places[i] - centre) @ ahead) == bend and reach - bend > MIN_BONE_LENGTH), None
    )
    if toe is None:
        bend = reach
    contacts: list[tuple[int, Array]] = []

    def add(joint: int, back: float, front: float, thick: float, marks: Sequence[float]) -> None:
        middle = centre + 0.5 * (back + front) * ahead
        middle[2] = floor + 0.5 * thick
        undo = spatial.conjugate(tree.turns[joint])
        half = (0.5 * (front - back), breadth, 0.5 * thick)
        place = spatial.rotate(undo, middle - tree.places[joint])
        boxes[joint] = [FleshShape("box", half, place=place, turn=spatial.multiply(undo, turn))]
        for mark in marks:
            for side in (1.0, -1.0):
                corner = centre + mark * ahead + side * breadth * across
                corner[2] = floor
                contacts.append((joint, spatial.rotate(undo, corner - tree.places[joint])))

    thick = max(0.6 * (float(centre[2]) - floor), 0.01)
    add(ankle, heel, bend, thick, (heel, bend))
    if toe is not None:
        add(toe, bend, reach, 0.6 * thick, (reach,))
    return tuple(contacts)


__all__ = ["Flesh", "FleshShape", "flesh_of"]
