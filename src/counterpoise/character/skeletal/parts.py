"""Which part of the body each joint of a skeleton moves, from a few joint names (foot, hand, head) and the tree.

Files name joints in many ways (`LeftUpLeg`, `lfemur`, `thigh.L`), but nearly all use the words foot, hand and head. The
parts between these and the root follow from the tree: of the two long bones of a leg the lower one is the shank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.roles import Side, side_of

_FOOT, _TOE = re.compile(r"foot|feet|ankle", re.I), re.compile(r"toe", re.I)
_HAND = re.compile(r"hand|wrist|palm", re.I)
_HEAD, _NECK = re.compile(r"head|skull", re.I), re.compile(r"neck", re.I)
_LONG_BONE_SHARE = 0.4  # a long bone of a limb has at least this share of the length of the limb's longest bone
_ABDOMEN_SHARE = 0.45  # of the way from the root to the neck belongs to the abdomen


@dataclass(frozen=True)
class SkeletonParts:
    """The part of the body that each joint of a skeleton moves."""

    by_joint: tuple[str, ...]  # "thigh", "forearm", "thorax", ...; "" where unknown
    limbs: tuple[int, ...]  # the foot or hand whose limb a joint belongs to, -1 for the trunk
    sides: tuple[Side, ...]
    feet: tuple[int, ...]  # the joints at the ankles
    hands: tuple[int, ...]  # the joints at the wrists
    head: int | None

    @property
    def humanoid(self) -> bool:
        """Whether two legs, two arms and a head were found, and the part of every joint is known."""
        return all(self.by_joint)


def read_parts(names: Sequence[str], parents: Sequence[int], offsets: Array) -> SkeletonParts:
    """Finds feet, hands and head by name, and from them the part of every joint.

    `offsets` (n, 3) are the positions of the joints in the frames of their parents.
    """
    feet = _topmost(names, parents, _FOOT) or _topmost(names, parents, _TOE)
    hands = _topmost(names, parents, _HAND)
    heads = _topmost(names, parents, _HEAD)
    head = heads[0] if heads else None
    sides = named_sides(names)
    parts: list[str] = [""] * len(names)
    limbs = [-1] * len(names)
    if len(feet) == 2 and len(hands) == 2 and head is not None:
        lengths = np.linalg.norm(offsets, axis=1)
        found = [_limb(i, parents, lengths, parts, limbs, ("foot", "shank", "thigh")) for i in feet]
        found += [_limb(i, parents, lengths, parts, limbs, ("hand", "forearm", "upper_arm")) for i in hands]
        if all(found) and not parts[head] and not parts[0]:
            _trunk(names, parents, lengths, parts, limbs, feet, head)
        else:
            parts = [""] * len(names)
    return SkeletonParts(tuple(parts), tuple(limbs), sides, feet, hands, head)


def named_sides(names: Sequence[str]) -> tuple[Side, ...]:
    """Returns the side of every joint by its name; one letter is enough (`lfemur`) if the partner (`rfemur`) exists."""
    known = set(names)
    return tuple(side_of(name, known) for name in names)


def _topmost(names: Sequence[str], parents: Sequence[int], word: re.Pattern[str]) -> tuple[int, ...]:
    """Returns the joints whose name has the word while no ancestor's name has it; roots are left out."""
    marked = [bool(word.search(name)) for name in names]
    below = [False] * len(names)
    for i, parent in enumerate(parents):
        below[i] = parent >= 0 and (marked[parent] or below[parent])
    return tuple(i for i in range(len(names)) if marked[i] and not below[i] and parents[i] >= 0)


def _limb(
    end: int,
    parents: Sequence[int],
    lengths: Array,
    parts: list[str],
    limbs: list[int],
    labels: tuple[str, str, str],
) -> bool:
    """Labels the joints of a limb from its end upwards. Returns False if it lacks two long bones of its own."""
    chain, at = [], end  # (joint, length of the bone from it to the next one down)
    while parents[at] > 0:
        chain.append((parents[at], float(lengths[at])))
        at = parents[at]
    last, lower, upper = labels
    parts[end], limbs[end] = last, end
    long = _LONG_BONE_SHARE * max((length for _, length in chain), default=0.0)
    bones = [k for k, (_, length) in enumerate(chain) if length > long]
    if len(bones) < 2:
        return False
    for k, (joint, _) in enumerate(chain[: bones[1] + 1]):
        if parts[joint]:
            return False
        parts[joint], limbs[joint] = lower if k <= bones[0] else upper, end
    return True


def _trunk(
    names: Sequence[str],
    parents: Sequence[int],
    lengths: Array,
    parts: list[str],
    limbs: list[int],
    feet: tuple[int, ...],
    head: int,
) -> None:
    """Labels the joints between the limbs as pelvis, abdomen, thorax or head; any other gets its parent's part."""
    spine, at = [], head
    while at >= 0:
        spine.append(at)
        at = parents[at]
    spine.reverse()  # root ... head
    neck = next((k for k, joint in enumerate(spine) if k and _NECK.search(names[joint])), len(spine) - 1)
    reach = np.cumsum([0.0, *(float(lengths[joint]) for joint in spine[1:])])
    parts[spine[0]] = "pelvis"
    for k, joint in enumerate(spine[1:], start=1):
        low = reach[k] < _ABDOMEN_SHARE * reach[neck] and k + 1 < neck
        parts[joint] = "head" if k >= neck else "abdomen" if low else "thorax"
    legs = set()
    for foot in feet:  # joints between the root and a thigh belong to the pelvis
        at = foot
        while parents[at] >= 0:
            at = parents[at]
            legs.add(at)
    for i, parent in enumerate(parents):
        if not parts[i]:
            parts[i] = "pelvis" if i in legs else parts[parent]
            limbs[i] = -1 if i in legs else limbs[parent]


__all__ = ["SkeletonParts", "named_sides", "read_parts"]
