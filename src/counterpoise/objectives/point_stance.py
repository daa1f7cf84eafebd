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
    feet = foot_table(snapshot.character)
    p = len(feet.foot_of)
    if footing.bilateral:
        raise BadValue("points whose stance is given push only: take a Footing with bilateral=False")
    flags, part = _flags(held, p), _numbers(share, (p,), "share")
    if not ((part >= 0.0) & (part <= 1.0)).all():
        raise BadValue(f"the share of its force that a point may use is 0 to 1; got {part.min():g} to {part.max():g}")
    if surfaces is None:
        rows = surface_rows(footing, snapshot.character, snapshot.time)[feet.foot_of]
    elif len(surfaces) != p:
        raise BadValue(f"give one surface for each of the {p} contact points; got {len(surfaces)}")
    else:
        rows = np.array([surface.state_row() for surface in surfaces]).reshape(p, 24)
    places = np.full((p, 3), np.nan) if goal is None else _numbers(goal, (p, 3), "goal").copy()
    velocity = _numbers(goal_velocity, (p, 3), "goal_velocity").copy()
    acceleration = _numbers(goal_acceleration, (p, 3), "goal_acceleration").copy()
    height, planted, basis = np.empty(p), np.empty((p, 3)), np.empty((p, 3, 4))
    G, limit = np.empty((snapshot.character.nv, 4 * p)), np.empty(4 * p)
    fill_points(
        snapshot.contact_position, snapshot.contact_jacobian, rows, part, footing.friction,
        footing.strength * feet.force_unit, goal is None, height, planted, places, velocity, acceleration, basis, G,
        limit,
    )  # fmt: skip
    memory = quick(
        FootingMemory, time=snapshot.time, touching=part > 0.0, held=flags, share=part, planted=planted
    )  # fmt: skip
    return quick(
        Stance, footing=footing, memory=memory, G=G, basis=basis, force_limit=limit, height=height, goal=places,
        goal_velocity=velocity, goal_acceleration=acceleration,
    )  # fmt: skip


def _flags(given: ArrayLike, p: int) -> Flags:
    flags = np.asarray(given)
    if flags.shape != (p,) or flags.dtype != np.bool_:
        raise BadValue(f"held has one flag for each of the {p} contact points; got {flags.dtype} {flags.shape}")
    return flags


def _numbers(given: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """Returns finite numbers of a shape; one number, or a row of three, stands for all points."""
    array = np.asarray(given, float)
    if array.shape not in ((), shape[1:], shape) or not np.isfinite(array).all():
        raise BadValue(f"{what} has shape {shape}, without NaN or infinity; got {array.shape}")
    return np.broadcast_to(array, shape) if array.shape != shape else array
