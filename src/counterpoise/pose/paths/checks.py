"""Checks of what users give for paths: places, times, durations, orientations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.pose.checks import MAX_DISTANCE

MAX_TIME = 1e6  # [s]: later times are most likely in wrong units


def checked_places(values: ArrayLike) -> Array:
    """Returns the points of a path (k, 3) [m]; raises where they are not."""
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("the points of a path are numbers (k, 3) [m]") from None
    if out.ndim != 2 or out.shape[1] != 3:
        raise BadValue(f"the points of a path have shape (k, 3); got {out.shape}", shape=out.shape)
    if not np.isfinite(out).all():
        raise BadValue(f"point {int(np.argwhere(~np.isfinite(out))[0, 0])} of a path holds NaN or infinity")
    if (far := np.abs(out).max(initial=0.0)) > MAX_DISTANCE:
        raise BadValue(f"a point of a path is {far:.3g} m away: are these metres? (at most {MAX_DISTANCE:g})")
    return out


def checked_place(value: ArrayLike) -> tuple[float, float, float]:
    x, y, z = checked_places(np.asarray(value)[None])[0].tolist()
    return x, y, z


def checked_times(values: ArrayLike | None) -> Array:
    """Returns the times of a path's points (k,) [s]; raises where they do not increase."""
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("the times of a path are numbers [s]") from None
    if out.ndim != 1 or not np.isfinite(out).all():
        raise BadValue("the times of a path are finite numbers [s], one for every point")
    if (late := np.abs(out).max(initial=0.0)) > MAX_TIME:
        raise BadValue(f"a path at {late:.3g} s: are these seconds? (at most {MAX_TIME:g})")
    if np.any(np.diff(out) <= 0.0):
        i = int(np.argmax(np.diff(out) <= 0.0))
        raise BadValue(
            f"the times of a path increase; point {i + 1} at {out[i + 1]:g} s follows {out[i]:g} s", index=i + 1
        )
    return out


def finite_times(t: ArrayLike) -> Array:
    """Returns the times at which a path is evaluated; raises where they are not finite."""
    out = np.asarray(t, dtype=np.float64)
    if not np.isfinite(out).all():
        raise BadValue("a path is evaluated at finite times [s]")
    return out


def checked_duration(value: float) -> float:
    if not (np.isfinite(value) and 0.0 < value <= MAX_TIME):
        raise BadValue(f"a duration is a positive number of seconds (at most {MAX_TIME:g}); got {value!r}")
    return float(value)


def checked_quaternions(values: ArrayLike, count: int) -> Array:
    """Returns orientations (count, 4) of unit length, each on the side of the one before; raises where they are not."""
    out = np.array(values, dtype=np.float64)
    if out.shape != (count, 4) or not np.isfinite(out).all() or np.linalg.norm(out, axis=-1).min() < 1e-6:
        raise BadValue(
            f"orientations of a path are quaternions ({count}, 4), one for every point; got shape {out.shape}"
        )
    return spatial.align_signs(spatial.normalize(out))
