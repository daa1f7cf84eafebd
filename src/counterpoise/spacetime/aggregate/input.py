"""Checks poses, velocities and accelerations of one frame or many: shapes, finite numbers, quaternions."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.aggregate.tables import FIRST_Q, FREE, KIND, LinkTables

About = ArrayLike | Literal["com"] | None


def read_frames(character: Character, q: ArrayLike, *rates: tuple[str, ArrayLike]) -> tuple[bool, Array, list[Array]]:
    """Returns whether one frame was given, and checked poses (n, nq) and rates (n, nv)."""
    poses = _numbers("q", q)
    if poses.ndim not in (1, 2) or poses.shape[-1] != character.nq:
        raise BadValue(
            f"poses of {character.name!r} are ({character.nq},) or (n, {character.nq}); q has shape {poses.shape}"
        )
    out = []
    for name, given in rates:
        rate = _numbers(name, given)
        wanted = (*poses.shape[:-1], character.nv)
        if rate.shape != wanted:
            raise BadValue(f"{name} must have shape {wanted} to go with q of shape {poses.shape}; it has {rate.shape}")
        out.append(rate.reshape(-1, character.nv))
    single = poses.ndim == 1
    poses = poses.reshape(-1, character.nq)
    turns = character.quaternions
    if turns.size and poses.size:
        lengths = np.square(poses[:, turns]).sum(axis=2)
        if lengths.min() < 1e-12:
            frame, which = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
            raise BadValue(f"the quaternion q[{turns[which, 0]}:{turns[which, 3] + 1}] is zero in frame {frame}")
    return single, poses, out


def reference_points(tables: LinkTables, poses: Array, about: About) -> Array:
    """Returns the fixed points (1, 3) or (n, 3) to compute torques about; for "com", points near the character."""
    if about is None:
        return np.zeros((1, 3))
    if isinstance(about, str):
        if about != "com":
            raise BadValue(
                'about is a point (3,), one point for each frame (n, 3), "com" or None (the world\'s origin); '
                f"not {about!r}"
            )
        return points_near(tables, poses)
    points = _numbers("about", about)
    if points.shape == (3,):
        return points[None]
    if points.shape != (len(poses), 3):
        raise BadValue(
            f'about is a point (3,), one point for each frame ({len(poses)}, 3), "com" or None (the world\'s origin); '
            f"it has shape {points.shape}"
        )
    return points


def points_near(tables: LinkTables, poses: Array) -> Array:
    """Returns the places of a free root, so that arithmetic far from the origin stays exact; otherwise the origin."""
    if len(tables.links) and tables.links[0, KIND] == FREE:
        at = tables.links[0, FIRST_Q]
        return np.ascontiguousarray(poses[:, at : at + 3])
    return np.zeros((1, 3))


def read_only(single: bool, *arrays: Array) -> tuple[Array, ...]:
    """Returns the arrays made read-only, without the axis of frames for a single frame."""
    out = tuple(array[0] if single else array for array in arrays)
    for array in out:
        array.flags.writeable = False
    return out


def _numbers(name: str, given: ArrayLike) -> Array:
    try:
        array = np.array(given, np.float64, order="C")
    except (TypeError, ValueError):
        raise BadValue(f"{name} must be an array of numbers; got {type(given).__name__}") from None
    if not np.isfinite(array).all():
        places = np.argwhere(~np.isfinite(array))[:5].tolist()
        raise BadValue(f"{name} holds NaN or infinity at {places}", where=places)
    return array
