"""Checks of what users give to posing: numbers, places, directions, rotations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.features.frame import ORIGIN

MAX_DISTANCE = 1e6  # [m]: targets beyond this are most likely in wrong units


def finite_numbers(values: ArrayLike, what: str) -> Array:
    """Returns `values` as an array; raises where they are not finite numbers."""
    try:
        out = np.asarray(values, float)
    except (TypeError, ValueError):
        raise BadValue(f"{what} must be numbers; got {values!r}") from None
    if not np.isfinite(out).all():
        raise BadValue(f"{what} holds NaN or infinity: {values!r}")
    return out


def three_numbers(values: ArrayLike, what: str) -> Array:
    """Returns `values` as a place (3,) [m]; raises where they are not one, or absurdly far."""
    if isinstance(values, np.ndarray) and values.shape == (3,) and values.dtype == np.float64:
        x, y, z = values.tolist()
        if (
            -MAX_DISTANCE <= x <= MAX_DISTANCE
            and -MAX_DISTANCE <= y <= MAX_DISTANCE
            and -MAX_DISTANCE <= z <= MAX_DISTANCE
        ):
            return values
    out = finite_numbers(values, what)
    if out.shape != (3,):
        raise BadValue(f"{what} is three numbers [m]; got shape {out.shape}")
    if np.abs(out).max() > MAX_DISTANCE:
        raise BadValue(f"{what} is {np.abs(out).max():.3g} m away: are these metres? (at most {MAX_DISTANCE:g})")
    return out


def as_point(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def body_point(values: ArrayLike) -> tuple[float, float, float]:
    if values is ORIGIN:
        return ORIGIN
    return as_point(three_numbers(values, "a point on a body"))


def unit_direction(values: ArrayLike, what: str) -> tuple[float, float, float]:
    """Returns `values` as a unit vector; raises where they have no direction."""
    out = finite_numbers(values, what)
    if out.shape != (3,) or np.linalg.norm(out) < 1e-12:
        raise BadValue(f"{what} is a non-zero direction of three numbers; got {values!r}")
    return as_point(out / np.linalg.norm(out))


def unit_quaternion(values: ArrayLike, what: str) -> Array:
    """Returns a unit quaternion from a quaternion or a rotation matrix (plain floats: fast for one)."""
    out = finite_numbers(values, what)
    if out.shape == (3, 3):
        (a, b, c), (d, e, f), (g, h, i) = out.tolist()
        units = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
        crosses = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
        right_handed = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
        if max(abs(u - 1.0) for u in units) > 1e-6 or max(map(abs, crosses)) > 1e-6 or not right_handed:
            raise BadValue(f"{what} is not a rotation matrix")
        rows = (  # four times w, x, y, z times the vector; the longest is the best conditioned
            (1.0 + a + e + i, h - f, c - g, d - b),
            (h - f, 1.0 + a - e - i, b + d, c + g),
            (c - g, b + d, 1.0 - a + e - i, f + h),
            (d - b, c + g, f + h, 1.0 - a - e + i),
        )
        best = max(range(4), key=lambda k: rows[k][k])
        out = np.array(rows[best])
    if out.shape != (4,) or not out.any():
        raise BadValue(f"{what} is a quaternion (w, x, y, z) or a 3x3 rotation matrix; got shape {out.shape}")
    w, x, y, z = out.tolist()
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if size < 1e-9:
        raise BadValue(f"{what} is a quaternion (w, x, y, z) of some length; got {values!r}")
    return out / size
