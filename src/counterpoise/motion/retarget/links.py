"""What follows what in a retargeting, and how two rest poses correspond.

A mapped body B of the target follows its source A by

    R_B(t) = D_A(t) G S R_B(rest),     D_A(t) = R_A(t) R_A(rest)^-1,

where G turns the target's rest pose to face as the source's does. S makes the two bones parallel for limbs; it is
carried on from bone to bone, so that a T-pose and hanging arms correspond without twist. S is the identity for trunk
and head, where the slant of a bone has no meaning. S may also turn about the bone, so that elbows and knees bend in the
source's plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy, bone_of

Mode = Literal["copy", "aim", "span", "wing"]
HINGE = 3  # MuJoCo joint type
MAX_LEAN = np.radians(50.0)  # [rad] from the vertical, of the line from feet to hips; a rest pose beyond lies down


@dataclass(frozen=True, eq=False)
class Link:
    """A body of the target and the bodies of the source that it follows."""

    body: int
    limb: str
    sources: tuple[int, int]  # two bodies of the source ...
    share: float  # ... and how far the rotation is taken from the first towards the second, from 0 to 1
    mode: Mode
    axis: Array  # (3,) direction of the target's bone, in its body's frame
    align: Array  # (4,) S
    weight: tuple[float, float]  # of direction and of twist [1/rad]
    span: tuple[int, int] = (0, 0)  # bodies of the source that give the direction, from place to place ("span")


@dataclass(frozen=True, eq=False)
class ReachedPoint:
    """The ankle of a leg whose number of bones differs from its source's: only the ankle follows the source."""

    limb: str
    hip: int  # bodies of the target
    ankle: int
    source_hip: int  # bodies of the source
    source_ankle: int


@dataclass(frozen=True, eq=False)
class Pairing:
    """All links from a source's anatomy to a target's."""

    source: Anatomy
    target: Anatomy
    links: tuple[Link, ...]
    reached: tuple[ReachedPoint, ...]
    facing: Array  # (4,) G
    idle: tuple[str, ...]  # bodies of the target that follow nothing
    unused: tuple[str, ...]  # bodies of the source that nothing follows


def rest_facing(at: Anatomy) -> Array:
    """Returns the rotation (4,) from a figure that faces x, with z up, to the rest pose of this one.

    It is a heading, taken from hip to hip (or from shoulder to shoulder), unless the rest pose lies down.
    """
    across = np.zeros(3)
    for stem in ("leg", "arm"):
        if f"{stem}_left" in at.limbs and f"{stem}_right" in at.limbs:
            across = at.places[at.limbs[f"{stem}_left"][0]] - at.places[at.limbs[f"{stem}_right"][0]]
            if np.linalg.norm(across) > 1e-3 * at.size:
                break
    else:
        return np.array([1.0, 0.0, 0.0, 0.0])
    length = float(np.linalg.norm(across))
    if length < 1e-3 * at.size:
        return np.array([1.0, 0.0, 0.0, 0.0])
    left = across / length
    up = np.array([0.0, 0.0, 1.0])
    feet = [at.places[at.limbs[f][0]] for f in ("foot_left", "foot_right") if f in at.limbs]
    if len(feet) == 2:  # a rest pose that lies down: up is from the feet to the hips
        stands = at.places[at.hips] - np.mean(feet, axis=0)
        size = float(np.linalg.norm(stands))
        if size > 1e-3 * at.size and stands[2] / size < np.cos(MAX_LEAN):
            up = stands / size
    forward = np.cross(left, up)
    if np.linalg.norm(forward) < 1e-6:
        return np.array([1.0, 0.0, 0.0, 0.0])
    forward /= np.linalg.norm(forward)
    return spatial.from_matrix(np.stack([forward, np.cross(up, forward), up], axis=1))


def bone_at(at: Anatomy, body: int) -> Array:
    """Returns the direction (3,) of a body's bone at rest, world: along its limb, or to its first child."""
    for limb, bodies in at.limbs.items():
        if body in bodies:
            chain = at.chain(limb)
            return bone_of(at, chain, chain.index(body))
    children = [b for b in range(1, len(at.names)) if at.parents[b] == body]
    return bone_of(at, (body, *children[:1]), 0)
