"""Checks of what users give for planar chains: lengths, angles, targets, limits, pins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue


def checked_chain(lengths: ArrayLike, angles: ArrayLike, target: ArrayLike) -> tuple[Array, Array, Array]:
    """Returns lengths (n,) [m], angles (n,) [rad] and the target (2,) [m] as arrays; raises where they are not."""
    a, theta, goal = (np.array(x, dtype=np.float64) for x in (lengths, angles, target))
    if a.ndim != 1 or not a.size or not np.isfinite(a).all() or (a < 0.0).any() or not a.any():
        raise BadValue(f"a chain needs a list of lengths [m], none negative and not all zero; got {lengths!r}")
    if theta.shape != a.shape or not np.isfinite(theta).all():
        raise BadValue(f"{a.size} links need {a.size} finite angles [rad]; got shape {theta.shape}", angles=theta)
    if goal.shape != (2,) or not np.isfinite(goal).all():
        raise BadValue(f"a planar target is two finite numbers (x, y) [m]; got {target!r}", target=target)
    return a, theta, goal


def checked_limits(limits: ArrayLike | None, n: int) -> tuple[Array, Array]:
    """Returns lower and upper limits (n,) [rad], infinite where none are given."""
    if limits is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    pair = np.array(limits, dtype=np.float64)
    if pair.shape != (n, 2) or np.isnan(pair).any() or (pair[:, 0] > pair[:, 1]).any():
        raise BadValue(f"limits are ({n}, 2) [rad], lower before upper; got shape {pair.shape}", limits=limits)
    return pair[:, 0].copy(), pair[:, 1].copy()


def checked_pins(points: Array, pins: Mapping[int, ArrayLike | None] | None) -> dict[int, Array]:
    """Returns the place (2,) [m] of every pin; `points` (n + 1, 2) are the chain's joints now."""
    links, places = len(points) - 1, {}
    for k, place in (pins or {}).items():
        if not 1 <= k <= links:
            raise BadValue(f"a pin is the end of a link, 1 to {links}; got {k}", pin=k)
        where = points[k] if place is None else np.array(place, dtype=np.float64)
        if where.shape != (2,) or not np.isfinite(where).all():
            raise BadValue(f"the place of pin {k} is two finite numbers (x, y) [m]; got {place!r}", pin=k)
        places[k] = where
    return places
