"""Places of body-fixed points and rotations of bodies over many frames, with velocities and Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.aggregate.input import read_frames, read_only
from counterpoise.spacetime.aggregate.places_kernels import places_batch, turns_batch
from counterpoise.spacetime.aggregate.tables import link_tables


class Places(NamedTuple):
    """Points fixed in bodies, with a leading axis of frames for a batch."""

    place: Array  # (..., k, 3) [m], world
    velocity: Array  # (..., k, 3) [m/s], world
    jacobian: Array  # (..., k, 3, nv): velocity = jacobian v; a small step in the tangent space moves it likewise


class Turns(NamedTuple):
    """Rotations of bodies, with a leading axis of frames for a batch."""

    rotation: Array  # (..., k, 3, 3): columns are the body's axes in the world
    velocity: Array  # (..., k, 3) [rad/s], world axes
    jacobian: Array  # (..., k, 3, nv): velocity = jacobian v


def point_jacobians(
    character: Character, q: ArrayLike, points: Sequence[tuple[str, ArrayLike]], v: ArrayLike | None = None
) -> Places:
    """Returns world places, velocities and Jacobians of points (body, place in its frame [m]). Without v, v is zero."""
    single, q, v = _read_poses(character, q, v)
    bodies = np.array([character.body_id(body) for body, _ in points], np.int64)
    local = np.zeros((len(points), 3))
    for i, (body, point) in enumerate(points):
        given = np.asarray(point, float)
        if given.shape != (3,) or not np.isfinite(given).all():
            raise BadValue(f"a point of {body!r} is three finite numbers [m]; got {point!r}")
        local[i] = given
    n, k = len(q), len(points)
    P, V, J = np.empty((n, k, 3)), np.empty((n, k, 3)), np.empty((n, k, 3, character.nv))
    places_batch(link_tables(character), q, v, bodies, local, P, V, J)
    return Places(*read_only(single, P, V, J))


def turn_jacobians(character: Character, q: ArrayLike, bodies: Sequence[str], v: ArrayLike | None = None) -> Turns:
    """Returns world rotations, angular velocities and their Jacobians of the named bodies. Without v, v is zero."""
    single, q, v = _read_poses(character, q, v)
    if isinstance(bodies, str):
        raise BadValue(f"bodies is a list of names; write [{bodies!r}]")
    ids = np.array([character.body_id(body) for body in bodies], np.int64)
    n, k = len(q), len(ids)
    R, W, J = np.empty((n, k, 3, 3)), np.empty((n, k, 3)), np.empty((n, k, 3, character.nv))
    turns_batch(link_tables(character), q, v, ids, R, W, J)
    return Turns(*read_only(single, R, W, J))


def _read_poses(character: Character, q: ArrayLike, v: ArrayLike | None) -> tuple[bool, Array, Array]:
    rates = [] if v is None else [("v", v)]
    single, poses, given = read_frames(character, q, *rates)
    return single, poses, given[0] if given else np.zeros((len(poses), character.nv))
