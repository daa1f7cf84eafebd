"""A tree of joints from a file, in its rest pose and in the stance in which the figure stands upright."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.roles import Side
from counterpoise.character.skeletal.parts import SkeletonParts
from counterpoise.errors import BadValue

End = tuple[int, tuple[float, float, float]]  # (joint, where its limb ends, in its frame [m])
MAX_LEG_SLOPE = 0.2  # horizontal over vertical distance from hip to ankle; legs further apart are swung down


@dataclass(frozen=True)
class JointTree:
    """A tree of joints and the stance in which it gets its flesh."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array  # (n, 3)
    rest: Array  # (n, 4)
    ends: tuple[tuple[int, Array], ...]
    stance: Array  # (n, 4) rotation of each joint from its parent, standing
    places: Array  # (n, 3) [m] in the stance, world
    turns: Array  # (n, 4) in the stance, world

    @property
    def height(self) -> float:
        """Vertical distance from the lowest to the highest joint or end, in the stance [m]."""
        tips = [self.places[i] + spatial.rotate(self.turns[i], end) for i, end in self.ends]
        z = np.array([*self.places, *tips])[:, 2]
        return max(float(z.max() - z.min()), 1e-3)

    def below(self, joint: int) -> list[int]:
        """Returns the joint and all its descendants."""
        inside = {joint}
        for i, parent in enumerate(self.parents):
            if parent in inside:
                inside.add(i)
        return sorted(inside)


def tree_of(
    names: Sequence[str],
    parents: Sequence[int],
    offsets: ArrayLike,
    rest: ArrayLike | None,
    ends: Sequence[End],
    stance: ArrayLike | None,
) -> JointTree:
    """Checks a tree of joints and places it in its stance (its rest pose where no stance is given)."""
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
    return JointTree(tuple(names), above, at, turned, tips, upright, *joint_frames(above, at, upright))


def joint_frames(parents: Sequence[int], offsets: Array, rotations: Array) -> tuple[Array, Array]:
    """Returns world places (..., n, 3) and rotations (..., n, 4) of joints given in the frames of their parents."""
    places, turns = offsets.copy(), rotations.copy()
    for i, parent in enumerate(parents):
        if parent >= 0:
            places[..., i, :] = places[..., parent, :] + spatial.rotate(turns[..., parent, :], offsets[..., i, :])
            turns[..., i, :] = spatial.multiply(turns[..., parent, :], rotations[..., i, :])
    return places, turns


def straightened(tree: JointTree, parts: SkeletonParts) -> JointTree:
    """Returns the tree of a person with the legs hanging straight down, if the stance has them wide apart."""
    stance, moved = tree.stance.copy(), False
    for foot in parts.feet if parts.humanoid else ():
        hip = next(i for i, part in enumerate(parts.by_joint) if part == "thigh" and parts.limbs[i] == foot)
        way = tree.places[foot] - tree.places[hip]
        if way[2] < -0.5 * np.linalg.norm(way) and np.hypot(*way[:2]) > MAX_LEG_SLOPE * -way[2]:
            down = spatial.from_two_vectors(way, np.array([0.0, 0.0, -1.0]))
            above = tree.turns[tree.parents[hip]]
            stance[hip] = spatial.multiply(spatial.conjugate(above), spatial.multiply(down, tree.turns[hip]))
            moved = True
    if not moved:
        return tree
    places, turns = joint_frames(tree.parents, tree.offsets, stance)
    return replace(tree, stance=stance, places=places, turns=turns)


def sides_in(tree: JointTree) -> list[Side]:
    """Returns the side of every joint by its place in the stance: left is +y of the root."""
    left = spatial.rotate(tree.turns[0], spatial.rotate(spatial.conjugate(tree.rest[0]), np.array([0.0, 1.0, 0.0])))
    return ["left" if (place - tree.places[0]) @ left > 0.0 else "right" for place in tree.places]


__all__ = ["End", "JointTree", "joint_frames", "sides_in", "straightened", "tree_of"]
