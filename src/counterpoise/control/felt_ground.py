"""Ground that is felt: where nobody says what the feet stand on, a foot at rest tells by the plane of its sole.

Every foot begins on level ground at z = 0. A foot that bears and is at rest for a moment, flat on something else, has
found another ground: the plane of its own sole. At the first tick a foot at rest near z = 0 counts as lying on its
ground at once. A foot that bears and slides flat on its ground for a moment feels how slippery it is: the force along
the ground over that across it. Forces are planned in narrower cones from then on, which widen again slowly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.objectives import LEVEL, FootingMemory, Surface
from counterpoise.objectives.footing import foot_table
from counterpoise.quick import altered

REST_SPEED = 0.03  # [m/s] of every point of a foot at rest
REST_TIME = 0.03  # [s] for which it must rest
LEAST_TURN = float(np.radians(1.5))  # [rad] a sole nearer to its ground than this, and than ...
LEAST_SHIFT = 0.008  # [m] ... this at every point, is on it
FIRST_HEIGHT = 0.15  # [m] from z = 0 of a foot that counts as lying on its ground when the simulation begins
SLIDE_SPEED = 0.05  # [m/s] of every point of a foot that slides
SLIDE_TIME = 0.01  # [s] for which it must slide: friction that can stop it stops it sooner
LEAST_LOAD = 0.1  # [body weights] on a foot that feels how it slides
FELT_SHARE = 0.8  # of the friction that is felt while sliding may be used
LEAST_FRICTION = 0.05  # that is always expected
FRICTION_RETURN = 2.0  # [s] in which the expected friction grows e-fold
STEEPEST = 0.7  # least z of a normal: no foot stands on steeper ground
LEAST_WIDTH = 0.02  # [m] of a sole, in every direction, that tells a plane


@dataclass(frozen=True, eq=False)
class FeltGround:
    """The ground under each foot, as felt so far."""

    surfaces: Mapping[str, Surface]  # under each foot, by its name
    rows: Array  # (feet, 24) the same, for kernels
    rested: Array  # (feet,) [s] for which each foot has been at rest
    slid: Array  # (feet, 2) [s] for which each foot has borne and slid; the largest friction in that time
    friction: float = np.inf  # that is expected, after sliding

    @cached_property
    def level(self) -> bool:
        """Whether every foot is on level ground at z = 0."""
        return all(surface is LEVEL for surface in self.surfaces.values())


@kept_with_character
def level_ground(character: Character) -> FeltGround:
    """Returns level ground under every foot."""
    names = [foot.name for foot in character.feet]
    return FeltGround(
        dict.fromkeys(names, LEVEL),
        np.tile(LEVEL.state_row(), (len(names), 1)),
        np.zeros(len(names)),
        np.zeros((len(names), 2)),
    )


def felt_after(
    snapshot: Snapshot, before: FeltGround, rested: Array, slid: Array, friction: float, seconds: float,
    new: Flags | None,
) -> FeltGround:  # fmt: skip
    """Returns the ground after a tick of `seconds` in which `find_new` has found these times and this friction.

    `new` are the feet, (feet,), whose soles lie on another plane than is known; None: none does. The flag of one whose
    sole tells no plane is taken back.
    """
    character = snapshot.character
    expected = min(before.friction * math.exp(seconds / FRICTION_RETURN), max(FELT_SHARE * friction, LEAST_FRICTION))
    if new is None:
        return altered(before, rested=rested, slid=slid, friction=expected)
    surfaces, rows = dict(before.surfaces), before.rows.copy()
    for foot in np.flatnonzero(new).tolist():
        mine = foot_table(character).foot_of == foot
        found = _plane(snapshot.contact_position[mine & own_points(character)], snapshot.contact_position[mine])
        new[foot] = found is not None
        if found is not None:
            surfaces[character.feet[foot].name], rows[foot] = found, found.state_row()
    return FeltGround(surfaces, rows, rested, slid, expected)


def planted_anew(character: Character, memory: FootingMemory, feet: Flags) -> FootingMemory:
    """Returns the memory of a footing in which these feet, (feet,), are planted where they are at the next tick."""
    return replace(memory, held=memory.held & ~feet[foot_table(character).foot_of])


def _plane(points: Array, all_points: Array) -> Surface | None:
    """Returns the plane through points (n, 3) of a foot; None where they do not tell one that can be stood on.

    All points of the foot must lie on it: toes that bend show that the foot stands on them alone.
    """
    centre = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - centre)
    normal = axes[2] if axes[2, 2] > 0.0 else -axes[2]
    if sizes[1] < LEAST_WIDTH or normal[2] < STEEPEST:
        return None
    if np.abs((all_points - centre) @ normal).max() > LEAST_SHIFT:
        return None
    if normal[2] > np.cos(LEAST_TURN) and np.abs(points[:, 2]).max() < LEAST_SHIFT:
        return LEVEL
    return Surface.tilted(normal, centre)


@kept_with_character
def own_points(character: Character) -> Flags:
    """Returns (p,): points on the foot itself, not on toes that bend; all points of a foot with fewer than three."""
    out: list[bool] = []
    for foot in character.feet:
        own = [point.body == foot.body for point in foot.points]
        out += own if sum(own) >= 3 else [True] * len(own)
    return np.array(out, bool)


@kernel
def find_new(
    position: Array, velocity: Array, foot_of: Ints, own: Flags, raised: Flags, rows: Array, was: Array,
    had_slid: Array, seconds: float, first: bool, rested: Array, slid: Array, new: Flags, force: Array,
    least_load: float,
) -> tuple[float, bool]:  # fmt: skip
    """Fills the time each foot has been at rest, and whether its sole then lies on another plane than is known.

    Returns the friction that is felt by a foot that bears and slides for longer than SLIDE_TIME; the least of several,
    infinity where none slides. The ground can give at least the largest friction of that time. Returns also whether
    any foot's ground is new.
    """
    p, felt, found = len(position), np.inf, False
    for foot in range(len(rested)):
        at_rest, count, farthest, near = True, 0, 0.0, True
        for i in range(p):
            if foot_of[i] != foot or not own[i]:
                continue
            count += 1
            speed = velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + velocity[i, 2] ** 2
            at_rest = at_rest and not raised[i] and speed < REST_SPEED * REST_SPEED
            r = rows[foot]
            x, y, z = position[i, 0] - r[0], position[i, 1] - r[1], position[i, 2] - r[2]
            height = r[5] * x + r[8] * y + r[11] * z
            farthest = max(farthest, abs(height))
            near = near and abs(position[i, 2]) < FIRST_HEIGHT
        rested[foot] = was[foot] + seconds if at_rest else 0.0
        off = farthest > LEAST_SHIFT
        slid[foot] = 0.0
        if not off and _slides(velocity, foot_of, foot, raised):
            ratio = _felt_friction(force, foot_of, foot, rows[foot], least_load)
            if ratio < np.inf:
                slid[foot, 0], slid[foot, 1] = had_slid[foot, 0] + seconds, max(had_slid[foot, 1], ratio)
            if slid[foot, 0] > SLIDE_TIME:
                felt = min(felt, slid[foot, 1])
        new[foot] = count >= 3 and at_rest and off and (rested[foot] >= REST_TIME or (first and near))
        found |= new[foot]
    return felt, found


@inner_kernel
def _slides(velocity: Array, foot_of: Ints, foot: int, raised: Flags) -> bool:
    """Returns whether all points of a foot move the same way, faster than SLIDE_SPEED; a foot that turns does not."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(foot_of)):
        if foot_of[i] == foot:
            if raised[i]:
                return False
            x, y, z = x + velocity[i, 0], y + velocity[i, 1], z + velocity[i, 2]
    size = np.sqrt(x * x + y * y + z * z)
    for i in range(len(foot_of)):
        along = x * velocity[i, 0] + y * velocity[i, 1] + z * velocity[i, 2]
        if foot_of[i] == foot and along <= SLIDE_SPEED * size:
            return False
    return True


@inner_kernel
def _felt_friction(force: Array, foot_of: Ints, foot: int, row: Array, least_load: float) -> float:
    """Returns the force on a foot along its ground over that across it; infinity where it bears less than a load."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(foot_of)):
        if foot_of[i] == foot:
            x, y, z = x + force[i, 0], y + force[i, 1], z + force[i, 2]
    across = row[5] * x + row[8] * y + row[11] * z
    if across < least_load:
        return np.inf
    return float(np.sqrt(max(x * x + y * y + z * z - across * across, 0.0)) / across)
