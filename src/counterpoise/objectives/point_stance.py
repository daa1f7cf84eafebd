"""A stance that a controller makes itself, point by point: what is held, where, and how hard each point may push.

`take_stance` finds the contacts from the geometry, foot by foot. A controller that follows a schedule knows them: it
says for every contact point (heel, ball, toes) whether it is held, which share of its force it may use, and on which
surface it is. The stance goes to `solve_whole_body(..., stance=...)`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.objectives.footing import Footing, FootingMemory, Stance, foot_table, surface_rows
from counterpoise.objectives.stance_kernels import fill_points
from counterpoise.objectives.surface import Surface
from counterpoise.quick import quick

_USUAL = Footing()


def make_stance(
    snapshot: Snapshot,
    held: ArrayLike,
    share: ArrayLike,
    goal: ArrayLike | None = None,
    *,
    goal_velocity: ArrayLike = 0.0,
    goal_acceleration: ArrayLike = 0.0,
    surfaces: Sequence[Surface] | None = None,
    footing: Footing | None = None,
) -> Stance:
    """Returns the stance in which these contact points are held and may push; p of them, in the character's order.

    `held` (p,) are flags, `share` (p,) is 0 to 1 of the force that a point may use. Held points are drawn to `goal`
    (p, 3), which moves with `goal_velocity` and `goal_acceleration`; without a goal they are held where they are, on
    their surface. `surfaces` has one for each point; without them the footing's is used, foot by foot. Friction and
    strength are the footing's.
    """
    footing = footing or _USUAL
    character = snapshot.character
    p = len(foot_table(character).foot_of)
    if footing.bilateral:
        raise BadValue("points whose stance is given push only: take a Footing with bilateral=False")
    flags, part = _flags(held, p), _numbers(share, (p,), "share")
    rows = _surface_rows(snapshot, footing, surfaces, p)
    places = np.empty((p, 3)) if goal is None else _copy(goal, p, "goal")
    if goal is not None and _is_zero(goal_velocity) and _is_zero(goal_acceleration):
        velocity = acceleration = _at_rest(character)
    else:
        velocity = _copy(goal_velocity, p, "goal_velocity")
        acceleration = _copy(goal_acceleration, p, "goal_acceleration")
    height, planted, basis = np.empty(p), np.empty((p, 3)), np.empty((p, 3, 4))
    G, limit = np.empty((character.nv, 4 * p)), np.empty(4 * p)
    sound = fill_points(
        snapshot.contact_position, snapshot.contact_jacobian, rows, part, footing.friction,
        footing.strength * foot_table(character).force_unit, goal is None, height, planted, places, velocity,
        acceleration, basis, G, limit,
    )  # fmt: skip
    if not sound:
        _refuse(part, places, velocity, acceleration)
    memory = quick(FootingMemory, time=snapshot.time, touching=part > 0.0, held=flags, share=part, planted=planted)
    return quick(
        Stance, footing=footing, memory=memory, G=G, basis=basis, force_limit=limit, height=height, goal=places,
        goal_velocity=velocity, goal_acceleration=acceleration,
    )  # fmt: skip


def _surface_rows(snapshot: Snapshot, footing: Footing, surfaces: Sequence[Surface] | None, p: int) -> Array:
    """Returns the surface under every contact point as rows that kernels read, (p, 24)."""
    character = snapshot.character
    if surfaces is not None:
        if len(surfaces) != p:
            raise BadValue(f"give one surface for each of the {p} contact points; got {len(surfaces)}")
        return np.array([surface.state_row() for surface in surfaces]).reshape(p, 24)
    if isinstance(footing.surface, Surface):
        return _one_surface(character, footing.surface)
    return surface_rows(footing, character, snapshot.time)[foot_table(character).foot_of]


@kept_with_character
def _one_surface(character: Character, surface: Surface) -> Array:
    """Returns the rows of contact points that are all on one surface."""
    return np.tile(surface.state_row(), (len(foot_table(character).foot_of), 1))


@kept_with_character
def _at_rest(character: Character) -> Array:
    """Returns the velocity of contact points that do not move, (p, 3)."""
    return np.zeros((len(foot_table(character).foot_of), 3))


def _refuse(share: Array, goal: Array, velocity: Array, acceleration: Array) -> None:
    """Raises BadValue for numbers that `fill_points` found to be wrong."""
    for what, given in (
        ("share", share),
        ("goal", goal),
        ("goal_velocity", velocity),
        ("goal_acceleration", acceleration),
    ):
        if not np.isfinite(given).all():
            raise BadValue(f"{what} has shape {given.shape}, without NaN or infinity; got {given.shape}")
    raise BadValue(f"the share of its force that a point may use is 0 to 1; got {share.min():g} to {share.max():g}")


def _flags(given: ArrayLike, p: int) -> Flags:
    flags = np.asarray(given)
    if flags.shape != (p,) or flags.dtype != np.bool_:
        raise BadValue(f"held has one flag for each of the {p} contact points; got {flags.dtype} {flags.shape}")
    return flags


def _numbers(given: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Returns numbers of a shape; one number, or a row of three, stands for all points."""
    array: Array = given if type(given) is np.ndarray and given.dtype == float else np.asarray(given, float)
    if array.shape == shape:
        return array
    if array.shape not in ((), shape[1:]):
        raise BadValue(f"{what} has shape {shape}, without NaN or infinity; got {array.shape}")
    return np.broadcast_to(array, shape).copy()


def _is_zero(given: ArrayLike) -> bool:
    return type(given) is float and given == 0.0


def _copy(given: ArrayLike, p: int, what: str) -> Array:
    """Returns numbers for all points, (p, 3), in an array of their own."""
    if type(given) is float:
        return np.full((p, 3), given)
    array = _numbers(given, (p, 3), what)
    return array.copy() if array is given else array
