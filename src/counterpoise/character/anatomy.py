"""The anatomy of a character: hips, trunk, head, and on each side a leg with its foot and an arm with its hand.

Limbs are found by the names of bodies (`anatomy_by_name`), and by shape (`anatomy_by_shape`) if names are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.anatomy_by_name import carrier_of_legs, limbs_by_name
from counterpoise.character.anatomy_by_shape import limbs_by_shape
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import body_frames


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A character's skeleton at rest (in its neutral pose) and the bodies of its limbs."""

    character: Character
    names: tuple[str, ...]  # of bodies, the world first
    parents: tuple[int, ...]
    places: Array  # (bodies, 3) at rest, world
    turns: Array  # (bodies, 4) at rest, world
    hips: int
    limbs: Mapping[str, tuple[int, ...]]  # "trunk", "head", "leg_left", "foot_left", "arm2_right", ... -> bodies
    how: str  # what the limbs were found by: "names", "shape" or "names and shape"

    @cached_property
    def size(self) -> float:
        """The largest extent at rest [m]; never zero."""
        return float(max(np.ptp(self.places[1:], axis=0).max(), 1e-6)) if len(self.names) > 1 else 1.0

    def path(self, body: int) -> list[int]:
        """Returns the body and its ancestors, up to the top of the tree."""
        out = []
        while body > 0:
            out.append(body)
            body = self.parents[body]
        return out

    def chain(self, limb: str) -> tuple[int, ...]:
        """Returns the bodies of a limb and, after them, those of the limb that it carries: of a leg and its foot."""
        after = {"leg": "foot", "arm": "hand", "clavicle": "arm", "trunk": "head"}
        kind, _, side = limb.partition("_")
        stem = kind.rstrip("0123456789")
        follow = after.get(stem)
        name = f"{follow}{kind[len(stem) :]}_{side}" if side else follow
        rest = self.limbs.get(name, ()) if name is not None else ()
        return (*self.limbs[limb], *rest)

    def ancestors(self, body: int) -> set[int]:
        """Returns all bodies above the body."""
        return set(self.path(body)[1:])


def bone_of(at: Anatomy, chain: Sequence[int], index: int) -> Array:
    """Returns the direction (3,) of a chain's bone at rest, world.

    It points to the next body at another place; of the last body, to its CoM, or on from its parent.
    """
    start = at.places[chain[index]]
    for later in chain[index + 1 :]:
        way = at.places[later] - start
        if np.linalg.norm(way) > 1e-3 * at.size:
            return np.asarray(way / np.linalg.norm(way))
    body = chain[index]
    model = at.character.model
    way = spatial.rotate(at.turns[body], model.body_ipos[body])
    if np.linalg.norm(way) > 1e-3 * at.size:
        return np.asarray(way / np.linalg.norm(way))
    came = start - at.places[at.parents[body]]
    length = float(np.linalg.norm(came))
    return came / length if at.parents[body] > 0 and length > 1e-6 * at.size else np.array([0.0, 0.0, 1.0])


@kept_with_character
def anatomy_of(character: Character) -> Anatomy:
    """Returns the anatomy of a character: limbs by the names of bodies, and by shape if names are unknown."""
    model = character.model
    places, turns = (x[0] for x in body_frames(character, character.neutral[None]))
    names = tuple(model.body(b).name for b in range(model.nbody))
    parents = tuple(int(p) for p in model.body_parentid)
    bare = Anatomy(character, names, parents, places, turns, min(1, model.nbody - 1), {}, "")
    by_name = limbs_by_name(bare)
    if any(limb.startswith("leg") for limb in by_name):
        how, limbs = "names", by_name
        shaped = limbs_by_shape(bare)
        for kind in ("arm", "head"):  # limbs without known names, of bodies that belong to no other limb
            claimed = {b for bodies in limbs.values() for b in bodies}
            for limb, bodies in shaped.items():
                if limb.split("_")[0] == kind and limb not in limbs and not claimed & set(bodies):
                    limbs[limb], how = bodies, "names and shape"
    else:
        limbs, how = limbs_by_shape(bare), "shape"
        if not any(limb.startswith("leg") for limb in limbs) and by_name:
            limbs, how = by_name, "names"
    return Anatomy(character, names, parents, places, turns, carrier_of_legs(bare, limbs), limbs, how)
