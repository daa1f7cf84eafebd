"""Limbs by the shape of a skeleton, for characters whose bodies have no known names.

Feet are the lowest leaves of the tree, the head is the highest, arms are the farthest leaves of each side, and of a
limb the two longest bones in a row are its upper and lower part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy_by_name import SIDES

if TYPE_CHECKING:
    from counterpoise.character.anatomy import Anatomy

LEG_BONE_SHARE = 0.45  # of the longest bone of a leg: shorter bones at the hip are left out of it
FEET_LEVEL = 0.15  # of the figure's height: feet are within this of the lowest leaf ...
FEET_DEPTH = 0.25  # ... and at least this far below the root
MIN_ARM_WIDTH = 0.02  # of the figure's size: a hand is at least this far to the side of the hips
NEGLIGIBLE_LENGTH = 0.01  # of the figure's size, of a body in a line
OUTER_BONUS = 0.1  # how much longer a pair of bones counts for each bone that it is further out


def limbs_by_shape(at: Anatomy) -> dict[str, tuple[int, ...]]:
    """Returns the bodies of every limb ("leg_left", "arm_right", "trunk", "head", ...) found by shape."""
    count = len(at.names)
    if count < 2:
        return {}
    children = {b: [c for c in range(1, count) if at.parents[c] == b] for b in range(count)}
    leaves = [b for b in range(1, count) if not children[b]]
    tips = at.places + spatial.rotate(at.turns, 2.0 * np.asarray(at.character.model.body_ipos))
    hips, limbs = _legs(at, _feet(at, leaves, tips), children, tips)
    taken = {b for bodies in limbs.values() for b in bodies}
    others = [b for b in leaves if not taken & set(at.path(b))]
    if not others:
        return limbs
    if not limbs:  # without legs, the longest line is the trunk
        longest = max(others, key=lambda b: len(at.path(b)))
        line = _solid_line(at, 1, longest, tips)
        return {"trunk": tuple(line)} if line else {}
    limbs |= _upper_body(at, hips, others, tips)
    return {limb: bodies for limb, bodies in limbs.items() if bodies}


def _legs(
    at: Anatomy, feet: Sequence[int], children: Mapping[int, Sequence[int]], tips: Array
) -> tuple[int, dict[str, tuple[int, ...]]]:
    """Returns the body that carries the legs, and legs with their feet."""
    if len(feet) < 2:
        return 1, {}
    shared = [b for b in at.path(feet[0]) if all(b in at.path(f) for f in feet)]
    hips = shared[0] if shared else 1
    known = {at.character.body_id(f.body) for f in at.character.feet}
    limbs: dict[str, tuple[int, ...]] = {}
    for limb, foot in _pairs(feet, tips, "leg").items():
        line = _solid_line(at, hips, _leaf_below(foot, children), tips)
        cut = next((i for i, b in enumerate(line) if b in known and i > 0), None)
        if cut is None:
            cut = min(_longest_two(at, line, tips) + 2, max(len(line) - 1, 1))
        lengths = _lengths(at, line, tips)[:cut]
        start = next((i for i, x in enumerate(lengths) if x > LEG_BONE_SHARE * max(lengths)), 0)
        limbs[limb] = tuple(line[start:cut])
        if line[cut:]:
            limbs[limb.replace("leg", "foot")] = tuple(line[cut : cut + 2])
    return hips, limbs


def _upper_body(at: Anatomy, hips: int, leaves: Sequence[int], tips: Array) -> dict[str, tuple[int, ...]]:
    """Returns trunk, head and arms: the highest of the leaves is the head, the farthest of each side a hand."""
    head = max(leaves, key=lambda b: (round(float(tips[b, 2]) / at.size, 3), -abs(float(tips[b, 1]))))
    upward = _solid_line(at, hips, head, tips)
    if not upward:
        return {}
    arms: dict[str, list[int]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mine = [b for b in leaves if b != head and sign * (tips[b, 1] - at.places[hips, 1]) > MIN_ARM_WIDTH * at.size]
        if mine:
            best = max(mine, key=lambda b: float(np.linalg.norm(tips[b] - at.places[_leaving(at, b, upward)])))
            arms[side] = [_leaving(at, best, upward), best]
    limbs: dict[str, tuple[int, ...]] = {}
    if arms:
        knots = [upward.index(knot) for knot, _ in arms.values() if knot in upward]
        chest = max(knots, default=len(upward) - 2)
    else:
        chest = max(len(upward) - 2, 0)
    limbs["trunk"] = tuple(upward[: chest + 1])
    if upward[chest + 1 :]:
        limbs["head"] = tuple(upward[chest + 1 :])
    for side, (knot, leaf) in arms.items():
        line = _solid_line(at, knot, leaf, tips)
        if not line:
            continue
        start = _longest_two(at, line, tips)
        limbs[f"arm_{side}"] = tuple(line[start : start + 2])
        if line[start + 2 :]:
            limbs[f"hand_{side}"] = (line[start + 2],)
        if start:
            limbs[f"clavicle_{side}"] = (line[start - 1],)
    return limbs


def _feet(at: Anatomy, leaves: Sequence[int], tips: Array) -> list[int]:
    """Returns the feet of the character's roles, otherwise the lowest leaves if they are well below the root."""
    known = [at.character.body_id(f.body) for f in at.character.feet]
    if len(known) >= 2:
        return known
    low = min(float(tips[b, 2]) for b in leaves)
    tall = max(float(np.ptp(tips[1:, 2])), 1e-9)
    level = [b for b in leaves if tips[b, 2] - low < FEET_LEVEL * tall]
    found = [b for b in level if at.places[1, 2] - tips[b, 2] > FEET_DEPTH * tall]
    return found if len(found) >= 2 else []


def _pairs(ends: Sequence[int], tips: Array, kind: str) -> dict[str, int]:
    """Returns the ends by side ("leg_left": larger y), numbered from the front if there are several pairs."""
    middle = float(np.mean([tips[b, 1] for b in ends]))
    named: dict[str, int] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mine = [b for b in ends if sign * (tips[b, 1] - middle) > 0.0]
        for number, body in enumerate(sorted(mine, key=lambda b: -float(tips[b, 0]))):
            named[f"{kind}{number + 1 if number else ''}_{side}"] = body
    if not named:  # all in one plane: in the order of the bodies
        for number, body in enumerate(ends[:2]):
            named[f"{kind}_{SIDES[number]}"] = body
    return named


def _leaf_below(body: int, children: Mapping[int, Sequence[int]]) -> int:
    while children[body]:
        body = children[body][0]
    return body


def _leaving(at: Anatomy, leaf: int, line: Sequence[int]) -> int:
    """Returns the body at which the way up from a leaf meets a line of bodies."""
    return next((b for b in at.path(leaf) if b in line), line[-1] if line else 1)


def _solid_line(at: Anatomy, start: int, end: int, tips: Array) -> list[int]:
    """Returns the bodies after `start` down to `end`, without those of negligible length."""
    line = list(reversed(at.path(end)))
    line = line[line.index(start) + 1 :] if start in line else line
    long = [length > NEGLIGIBLE_LENGTH * at.size for length in _lengths(at, line, tips)]
    branches = {b for b in line if sum(parent == b for parent in at.parents) > 1}
    return [b for b, solid in zip(line, long, strict=True) if solid or b == end or b in branches]


def _lengths(at: Anatomy, line: Sequence[int], tips: Array) -> list[float]:
    """Returns the length of every body in a line: to the next one, or of the last to its tip [m]."""
    ends = [at.places[b] for b in line[1:]] + ([tips[line[-1]]] if line else [])
    return [float(np.linalg.norm(e - at.places[b])) for b, e in zip(line, ends, strict=True)]


def _longest_two(at: Anatomy, line: Sequence[int], tips: Array) -> int:
    """Returns where in a line of bodies the two longest neighbours begin; of nearly equal ones the outer pair."""
    lengths = _lengths(at, line, tips)
    if len(lengths) < 3:
        return 0
    return int(np.argmax([(a + b) * (1.0 + OUTER_BONUS * i) for i, (a, b) in enumerate(pairwise(lengths))]))
