"""Flesh for bare bones: how thick, heavy and strong each segment of a skeleton is, and where its soles are.

A figure understood as a person has Winter's masses for its stature, shared among the joints of each part by volume; any
other weighs what its shapes displace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anthropometry import DAMPING, FOOT_BREADTH, FOOT_HEIGHT, STRENGTH, WINTER
from counterpoise.character.roles import Side
from counterpoise.character.skeletal.parts import Anatomy
from counterpoise.errors import BadValue

End = tuple[int, tuple[float, float, float]]

BODY_MASS_INDEX = 23.8  # [kg/m^2]: 73 kg at 1.75 m
SPLAYED = 0.2  # tangent of a leg's way from the vertical
SHORT = 0.02  # [m]: bones shorter than this have no flesh of their own
DENSITY = 1000.0  # [kg/m^3]
GIRTH = {  # radius of a part's bones, of H
    "head": 0.048, "thorax": 0.068, "abdomen": 0.066, "pelvis": 0.058, "thigh": 0.042, "shank": 0.029, "foot": 0.016,
    "upper_arm": 0.025, "forearm": 0.021, "hand": 0.014, "neck": 0.032, "clavicle": 0.04, "hip": 0.052,
}  # fmt: skip
STRENGTH_OF = {  # joint of the anthropometric tables that moves a part
    "head": "neck", "thorax": "spine", "abdomen": "waist", "pelvis": "waist", "thigh": "hip", "shank": "knee",
    "foot": "ankle_pitch", "upper_arm": "shoulder", "forearm": "elbow", "hand": "wrist",
}  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """A tree of joints and the stance it is dressed in."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array  # (n, 3)
    rest: Array  # (n, 4)
    ends: tuple[tuple[int, Array], ...]
    stance: Array  # (n, 4)
    places: Array  # (n, 3) in the stance
    turns: Array  # (n, 4)

    @property
    def height(self) -> float:
        """From the lowest to the highest joint or end, in the stance [m]."""
        tips = [self.places[i] + spatial.rotate(self.turns[i], end) for i, end in self.ends]
        z = np.array([*self.places, *tips])[:, 2]
        return max(float(z.max() - z.min()), 1e-3)

    def below(self, joint: int) -> list[int]:
        """The joint and all that hang on it."""
        inside = {joint}
        for i, parent in enumerate(self.parents):
            if parent in inside:
                inside.add(i)
        return sorted(inside)


@dataclass(frozen=True)
class Shape:
    """A capsule from the joint to `end`, a sphere at it, or a foot's box; in the joint's frame."""

    kind: str  # capsule, sphere, box
    size: tuple[float, ...]  # radius; a box's half lengths
    end: Array | None = None
    place: Array | None = None
    turn: Array | None = None
    mass: float = 0.0
    collides: bool = True

    @property
    def volume(self) -> float:
        if self.kind == "box":
            return 8.0 * float(np.prod(self.size))
        r = self.size[0]
        length = 0.0 if self.end is None else float(np.linalg.norm(self.end))
        return float(np.pi * r * r * (4.0 / 3.0 * r + length))


@dataclass(frozen=True)
class Flesh:
    """What a tree of joints is dressed in."""

    anatomy: Anatomy
    shapes: tuple[tuple[Shape, ...], ...]
    strength: tuple[float, ...]  # [N m]
    damping: tuple[float, ...]  # [N m s/rad]
    mass: float  # [kg]
    height: float  # [m], of a person the stature its legs belong to
    soles: dict[int, tuple[tuple[int, Array], ...]]  # ankle -> (joint, place in its frame) of the contact points


def tree_of(
    names: Sequence[str],
    parents: Sequence[int],
    offsets: ArrayLike,
    rest: ArrayLike | None,
    ends: Sequence[End],
    stance: ArrayLike | None,
) -> Tree:
    """The checked tree of joints, placed in its stance."""
    n = len(names)
    if n == 0 or len(parents) != n or parents[0] != -1 or any(not 0 <= p < i for i, p in enumerate(parents) if i):
        raise BadValue("a body is one tree of joints: the root first, every parent before its children", joints=n)
    if len(set(names)) != n or not all(names) or "world" in names:
        raise BadValue("the joints of a body need names of their own, other than 'world'")
    at = np.array(offsets, dtype=np.float64).reshape(n, 3)
    turned = np.tile(spatial.IDENTITY, (n, 1)) if rest is None else spatial.normalize(np.reshape(rest, (n, 4)))
    upright = turned if stance is None else spatial.normalize(np.reshape(stance, (n, 4)))
    tips = tuple((int(joint), np.array(end, dtype=np.float64)) for joint, end in ends)
    above = tuple(int(p) for p in parents)
    return Tree(tuple(names), above, at, turned, tips, upright, *_forward(above, at, upright))


def _forward(parents: Sequence[int], offsets: Array, rotations: Array) -> tuple[Array, Array]:
    places, turns = offsets.copy(), rotations.copy()
    for i, parent in enumerate(parents):
        if parent >= 0:
            places[i] = places[parent] + spatial.rotate(turns[parent], offsets[i])
            turns[i] = spatial.multiply(turns[parent], rotations[i])
    return places, turns


def straightened(tree: Tree, anatomy: Anatomy) -> Tree:
    """A person stands with the ankles under the hips: legs that rest wide apart are swung straight down."""
    stance, moved = tree.stance.copy(), False
    for foot in anatomy.feet if anatomy.humanoid else ():
        hip = next(i for i, part in enumerate(anatomy.parts) if part == "thigh" and anatomy.limbs[i] == foot)
        way = tree.places[foot] - tree.places[hip]
        if way[2] < -0.5 * np.linalg.norm(way) and np.hypot(*way[:2]) > SPLAYED * -way[2]:
            down = spatial.from_two_vectors(way, np.array([0.0, 0.0, -1.0]))
            above = tree.turns[tree.parents[hip]]
            stance[hip] = spatial.multiply(spatial.conjugate(above), spatial.multiply(down, tree.turns[hip]))
            moved = True
    if not moved:
        return tree
    places, turns = _forward(tree.parents, tree.offsets, stance)
    return replace(tree, stance=stance, places=places, turns=turns)


def _stature(tree: Tree, anatomy: Anatomy) -> float:
    """A person's height by the length of the legs (thigh and shank are 0.491 H), if that is more than the figure has.

    Files often end the head at its joint, or leave out a piece of the spine; legs are always whole.
    """
    if not anatomy.humanoid:
        return tree.height
    legs = []
    for foot in anatomy.feet:
        hip = next(i for i, part in enumerate(anatomy.parts) if part == "thigh" and anatomy.limbs[i] == foot)
        length, at = 0.0, foot
        while at != hip:
            length, at = length + float(np.linalg.norm(tree.offsets[at])), tree.parents[at]
        legs.append(length)
    by_legs = float(np.mean(legs)) / (WINTER["thigh"].length + WINTER["shank"].length)
    return max(tree.height, min(by_legs, 1.25 * tree.height))


def flesh_of(tree: Tree, anatomy: Anatomy, mass: float | None) -> Flesh:
    """Shapes along the bones, soles under the feet, and what they weigh."""
    H = _stature(tree, anatomy)
    reaches: list[list[Array]] = [[] for _ in tree.names]
    for i, parent in enumerate(tree.parents):
        if parent >= 0:
            reaches[parent].append(tree.offsets[i])
    for joint, end in tree.ends:
        reaches[joint].append(end)
    soles: dict[int, tuple[tuple[int, Array], ...]] = {}
    boxes: dict[int, list[Shape]] = {}
    for ankle in anatomy.feet:
        soles[ankle] = _sole(tree, ankle, H, boxes)
    shapes: list[list[Shape]] = []
    for i, part in enumerate(anatomy.parts):
        bones = [bone for bone in reaches[i] if np.linalg.norm(bone) > SHORT]
        longest = max((float(np.linalg.norm(bone)) for bone in bones), default=0.0)
        girth = GIRTH[_piece(anatomy, i)] * H if part else min(0.15 * longest, 0.06 * H)
        if i == anatomy.head and part:  # the crown is where the file says, or as much higher as the stature wants
            crown = min(max(H - tree.height, 0.0), girth) - girth
            bones = [bone * max(1.0 + crown / float(np.linalg.norm(bone)), 0.1) for bone in bones]
        own = [Shape("capsule", (max(min(girth, 0.9 * longest), 0.004),), end=bone) for bone in bones]
        if i in boxes:
            own = boxes[i]
        elif not own and i == 0:
            own = [Shape("sphere", (max(girth, 0.03 * H, 0.02),))]
        elif not own:
            own = [Shape("sphere", (0.01,), collides=False)]
        shapes.append(own)
    return _weighed(tree, anatomy, shapes, soles, H, mass)


def _piece(anatomy: Anatomy, joint: int) -> str:
    """A finer word for the shape of a part: a neck is no head, a collar bone no rib cage."""
    part, sided = anatomy.parts[joint], anatomy.sides[joint] != "middle"
    if part == "head" and anatomy.head is not None and joint < anatomy.head:
        return "neck"
    return {"thorax": "clavicle", "pelvis": "hip"}.get(part, part) if sided else part


def _weighed(
    tree: Tree,
    anatomy: Anatomy,
    shapes: list[list[Shape]],
    soles: dict[int, tuple[tuple[int, Array], ...]],
    H: float,
    mass: float | None,
) -> Flesh:
    """Masses: of a person by part and height, else by volume."""
    volumes = np.array([sum(shape.volume for shape in own) for own in shapes])
    if anatomy.humanoid:
        total = mass or BODY_MASS_INDEX * H**2
        keys = list(zip(anatomy.parts, anatomy.limbs, strict=True))
        shares = np.zeros(len(keys))
        for key in sorted(set(keys)):
            members = np.array([k == key for k in keys])
            shares[members] = WINTER[key[0]].mass * volumes[members] / volumes[members].sum()
        masses = total * shares / shares.sum()
        size = total / 73.0
        strength = tuple(max(size * STRENGTH[STRENGTH_OF[part]], 1.0) for part in anatomy.parts)
        damping = tuple(DAMPING[STRENGTH_OF[part].removesuffix("_pitch")] for part in anatomy.parts)
    else:
        masses = DENSITY * volumes
        if mass is not None:
            masses *= mass / masses.sum()
        total = float(masses.sum())
        lever = [max(9.81 * sum(masses[k] for k in tree.below(i)) * 0.3 * H, 1.0) for i in range(len(shapes))]
        strength = tuple(float(min(value, 500.0)) for value in lever)
        damping = (1.0,) * len(shapes)
    masses = np.maximum(masses, 0.002 * total / max(len(shapes), 20))
    weighed = tuple(
        tuple(
            Shape(s.kind, s.size, s.end, s.place, s.turn, float(masses[i] * s.volume / volumes[i]), s.collides)
            for s in own
        )
        for i, own in enumerate(shapes)
    )
    return Flesh(anatomy, weighed, strength, damping, float(masses.sum()), H, soles)


def sides_in(tree: Tree) -> list[Side]:
    """Left is +y of the root, in the stance; what hangs on a limb is on the limb's side."""
    left = spatial.rotate(tree.turns[0], spatial.rotate(spatial.conjugate(tree.rest[0]), np.array([0.0, 1.0, 0.0])))
    return ["left" if (place - tree.places[0]) @ left > 0.0 else "right" for place in tree.places]


def _sole(tree: Tree, ankle: int, H: float, boxes: dict[int, list[Shape]]) -> tuple[tuple[int, Array], ...]:
    """A flat foot in the stance: a box from heel to toes, another for the toes where the file has them.

    Returns the contact points: heel and ball, and the toes' tips.
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
    floor = min(lowest - GIRTH["foot"] * H, float(centre[2]) - 0.6 * FOOT_HEIGHT * H)
    heel = -float(np.clip(WINTER["foot"].length * H - reach, 0.03 * H, 0.06 * H))
    turn = spatial.from_yaw(float(np.arctan2(ahead[1], ahead[0])))
    breadth = 0.5 * FOOT_BREADTH * H
    toes = [i for i in members if i != ankle and float((tree.places[i] - centre) @ ahead) > 0.3 * reach]
    bend = min((float((tree.places[i] - centre) @ ahead) for i in toes), default=reach)
    toe = next((i for i in toes if float((tree.places[i] - centre) @ ahead) == bend and reach - bend > SHORT), None)
    if toe is None:
        bend = reach
    contacts: list[tuple[int, Array]] = []

    def add(joint: int, back: float, front: float, thick: float, marks: Sequence[float]) -> None:
        middle = centre + 0.5 * (back + front) * ahead
        middle[2] = floor + 0.5 * thick
        undo = spatial.conjugate(tree.turns[joint])
        half = (0.5 * (front - back), breadth, 0.5 * thick)
        place = spatial.rotate(undo, middle - tree.places[joint])
        boxes[joint] = [Shape("box", half, place=place, turn=spatial.multiply(undo, turn))]
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


__all__ = ["End", "Flesh", "Shape", "Tree", "flesh_of", "sides_in", "straightened", "tree_of"]
