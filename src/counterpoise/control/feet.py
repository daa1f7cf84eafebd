"""Feet: the contact points of each foot, the ground under it, and the times at which a reference lifts it.

Feet are named by the character; contact points are numbered as in `character.contact_points`, foot after foot.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.objectives import LEVEL, Footing, Surface
from counterpoise.objectives.footing import Ground

Grounds = tuple[Ground | None, ...]  # under each foot; None: level ground at z = 0


@kept_with_character
def points_of_feet(character: Character, feet: tuple[str, ...]) -> Flags:
    """Returns (p,): which contact points belong to these feet."""
    return np.array([foot.name in feet for foot in character.feet for _ in foot.points], bool)


@kept_with_character
def toe_points(character: Character) -> Flags:
    """Returns (p,): points on toes that can bend. Such a foot is held by three or more points of its own body.

    Toes are weak. A foot that must also hold them in place has no strength left for anything else.
    """
    out = []
    for foot in character.feet:
        own = [point.body == foot.body for point in foot.points]
        out += [not mine and sum(own) >= 3 for mine in own]
    return np.array(out, bool)


@kept_with_character
def bearing_points(character: Character, lifted: tuple[str, ...]) -> Flags:
    """Returns (p,): which contact points belong to feet that are not lifted; all points where every foot is."""
    bearing = ~points_of_feet(character, lifted)
    return bearing if bearing.any() else ~bearing


def names_of_feet(character: Character, flags: Flags) -> tuple[str, ...]:
    """Returns the names of the feet whose flag is set, (feet,)."""
    return tuple(foot.name for foot, flag in zip(character.feet, flags.tolist(), strict=True) if flag)


def with_lifted(footing: Footing, lifted: tuple[str, ...]) -> Footing:
    """Returns the footing with these feet lifted as well."""
    every = tuple(dict.fromkeys((*footing.lifted, *lifted)))
    return footing if every == tuple(footing.lifted) else replace(footing, lifted=every)


# -- the ground ------------------------------------------------------------------------------------------------------


def grounds_of_feet(character: Character, ground: Ground | Mapping[str, Ground] | None) -> Grounds:
    """Returns the ground under each foot, hashable, from one for all feet or from several by name of foot or body."""
    if isinstance(ground, Mapping):
        return tuple(_hashable(ground.get(foot.name, ground.get(foot.body))) for foot in character.feet)
    return (_hashable(ground),) * len(character.feet)


def _hashable(ground: Ground | None) -> Ground | None:
    """Returns a ground that can be the key of a table: of a callable object that cannot, its bound `__call__`."""
    return ground.__call__ if callable(ground) and not isinstance(ground, Hashable) else ground


def is_level(ground: Ground | None) -> bool:
    """Returns whether a ground is the level one at z = 0 that does not move."""
    return ground is None or (isinstance(ground, Surface) and np.array_equal(ground.state_row(), LEVEL.state_row()))


def foot_heights(character: Character, points: Array, grounds: Grounds) -> Array:
    """Returns how far the lowest contact point of each foot is above its ground [m], (n, feet), from points (n, p, 3).

    A moving ground counts as level ground at z = 0.
    """
    heights, first = [], 0
    for foot, ground in zip(character.feet, grounds, strict=True):
        own = points[:, first : first + len(foot.points)]
        first += len(foot.points)
        fixed = isinstance(ground, Surface)
        above = (own - np.asarray(ground.origin)) @ ground.normal if fixed else own[:, :, 2]  # type: ignore[union-attr]
        heights.append(above.min(axis=1))
    return np.stack(heights, axis=1)


def ground_motion(grounds: Grounds, time: float, place: Array) -> tuple[Array, Array]:
    """Returns velocity and acceleration of the moving grounds at a place, (3,) each: the mean over the feet on them."""
    known = {ground: _motion_at(ground, time, place) for ground in dict.fromkeys(grounds) if ground is not None}
    if len(known) == 1:
        return next(iter(known.values()))
    each = [known[ground] for ground in grounds if ground is not None]
    return np.mean([velocity for velocity, _ in each], axis=0), np.mean([rate for _, rate in each], axis=0)


def _motion_at(ground: Ground, time: float, place: Array) -> tuple[Array, Array]:
    if isinstance(ground, Surface):
        return np.zeros(3), np.zeros(3)
    s = ground(time)
    velocity, acceleration = np.asarray(s.velocity, float), np.asarray(s.acceleration, float)
    r, w, alpha = place - np.asarray(s.origin), np.asarray(s.angular_velocity), np.asarray(s.angular_acceleration)
    turning = np.cross(w, r)
    return velocity + turning, acceleration + np.cross(alpha, r) + np.cross(w, turning)


# -- lifted feet of a motion -----------------------------------------------------------------------------------------


def remove_short_spells(lifted: Flags, shortest: int) -> None:
    """Removes from lifted (n, feet), in place, spells in the air or on the ground of fewer than `shortest` rows.

    The first and the last spell of a foot stay.
    """
    for foot in range(lifted.shape[1]):
        column = lifted[:, foot]
        edges = np.flatnonzero(np.diff(column.astype(np.int8)))
        for start, end in pairwise(edges.tolist()):
            if end - start < shortest:
                column[start + 1 : end + 1] = column[start]


def remove_low_lifts(lifted: Flags, heights: Array, least: float) -> None:
    """Removes from lifted (n, feet), in place, lifts that stay below the height `least` [m]: noise, or dragged feet."""
    for foot in range(lifted.shape[1]):
        for first, last in spells(lifted[:, foot]):
            if heights[first:last, foot].max() < least:
                lifted[first:last, foot] = False


def lifted_soon(lifted: Flags, ahead: int) -> Flags:
    """Returns (n, feet): feet that are lifted now or within the next `ahead` rows.

    Where that would be every foot, only those that are lifted now.
    """
    soon = lifted.copy()
    for k in range(1, ahead + 1):
        soon[:-k] |= lifted[k:]
    every = soon.all(axis=1)
    soon[every] = lifted[every]
    return soon


def check_on_ground(motion: Motion, times: Array, lifted: Flags, longest: int, controller: str) -> None:
    """Raises BadValue where every foot is lifted for more than `longest` rows: a standing controller cannot jump."""
    flying: Flags = np.asarray(lifted.all(axis=1))
    for first, last in spells(flying):
        if last - first > longest:
            start, end = float(times[first]), float(times[last - 1])
            raise BadValue(
                f"the reference {motion.name or 'motion'!r} leaves the ground with every foot from {start:.2f} to "
                f"{end:.2f} s; {controller} keeps a foot on the ground: use a part that does (motion.slice)",
                start=start,
                end=end,
            )


def spells(flags: Flags) -> list[tuple[int, int]]:
    """Returns first row and end of every spell in which the flag (n,) is set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
