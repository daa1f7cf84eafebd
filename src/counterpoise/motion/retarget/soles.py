"""The soles of a character's feet: contact points at heel, ball and toes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Foot
from counterpoise.character.anatomy import Anatomy
from counterpoise.motion.contacts import FootMarker
from counterpoise.motion.retarget.links import rest_facing


@dataclass(frozen=True, eq=False)
class Sole:
    """The contact points of a foot, and where they are when it stands flat at the origin and faces x."""

    foot: Foot
    limb: str  # "foot_left"
    body: int
    ahead: Array  # (3,) forward direction, in the foot's frame
    bodies: Ints  # (p,) body of each point
    locals: Array  # (p, 3) [m] in its body's frame
    flat: Array  # (p, 3) [m] when the foot stands flat
    heel: Flags  # (p,) which points belong to the heel ...
    ball: Flags  # ... and which to the ball or the toes
    toes: Flags  # (p,) which are on another body than the foot: they stay down when the heel rises
    leg: Ints  # bodies of the leg, from the hip to the foot
    knuckle: Array  # (3,) [m] where the foot turns when the heel rises: the joint of the toes, or the ball


def sole_of(at: Anatomy, foot: Foot, facing: Array) -> Sole:
    """Returns the sole of a foot, read from the rest pose, which stands flat; `facing` (4,) is `rest_facing`."""
    body = at.character.body_id(foot.body)
    bodies = np.array([at.character.body_id(p.body) for p in foot.points], dtype=np.int64)
    local = np.array([p.position for p in foot.points], dtype=np.float64).reshape(-1, 3)
    rest = at.places[bodies] + spatial.rotate(at.turns[bodies], local)
    own = bodies == body
    centre = rest[own].mean(axis=0) if own.any() else rest.mean(axis=0)
    flat = spatial.rotate(spatial.conjugate(facing), rest - centre * np.array([1.0, 1.0, 0.0]))
    flat[:, 2] -= flat[:, 2].min()
    along = flat[:, 0]
    reach = np.ptp(along[own]) if own.any() else 0.0
    heel = own & (along < along[own].min() + 0.5 * reach) if reach > 1e-3 else np.ones(len(bodies), dtype=bool)
    ball = ~heel if reach > 1e-3 else np.ones(len(bodies), dtype=bool)
    ahead = spatial.rotate(spatial.conjugate(at.turns[body]), spatial.rotate(facing, np.array([1.0, 0.0, 0.0])))
    toes = ~own if own.any() else np.zeros_like(own)
    knuckle = flat[ball].mean(axis=0)
    if toes.any():
        joint = at.places[bodies[toes][0]] - centre * np.array([1.0, 1.0, 0.0])
        knuckle = spatial.rotate(spatial.conjugate(facing), joint) - [0.0, 0.0, rest[:, 2].min()]
    limb = next((name for name, parts in at.limbs.items() if name.startswith("foot") and body in parts), "")
    leg = np.array([*at.limbs.get(limb.replace("foot", "leg"), ()), body], dtype=np.int64)
    return Sole(foot, limb or foot.name, body, ahead, bodies, local, flat, heel, ball, toes, leg, knuckle)


def led_feet(target: Anatomy, markers: Sequence[FootMarker], flags: Flags) -> list[tuple[Sole, tuple[Flags, Flags]]]:
    """Returns the sole of every foot of the target with the contacts (heel, ball), by frame, of the foot it follows."""
    out = []
    none = np.zeros(len(flags), dtype=bool)
    for foot in target.character.feet:
        body = target.character.body_id(foot.body)
        limb = next((name for name, bodies in target.limbs.items() if name.startswith("foot") and body in bodies), "")
        parts = {m.part: flags[:, k] for k, m in enumerate(markers) if m.foot == limb}
        out.append((sole_of(target, foot, rest_facing(target)), (parts.get("heel", none), parts.get("ball", none))))
    return out
