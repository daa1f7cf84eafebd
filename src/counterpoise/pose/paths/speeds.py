"""Speed profiles: the fraction s(u) of a path's length that is passed after the fraction u of its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.curves import EASINGS

Speed: TypeAlias = str | Callable[[Array], Any]
"""A speed profile: a word of `SPEEDS`, or a function s(u) from [0, 1] to [0, 1]."""

SPEEDS: dict[str, str] = {
    "constant": "linear",
    "ease": "smoother",
    "ease_in": "in",
    "ease_out": "out",
    **{name: name for name in EASINGS},
}
"""Words for speed profiles, and the easing each stands for."""


def speed_profile(speed: Speed) -> Callable[[Array], Array]:
    """Returns a speed profile as a function of arrays; raises where it is unknown or leaves [0, 1]."""
    if isinstance(speed, str):
        if speed not in SPEEDS:
            raise unknown_name("speed profile", speed, SPEEDS)
        return EASINGS[SPEEDS[speed]]
    if not callable(speed):
        raise BadValue(f"a speed profile is one of {', '.join(SPEEDS)} or a function s(u); got {speed!r}")

    def evaluated(u: Array) -> Array:
        flat = np.asarray(u, dtype=np.float64)
        try:
            out = np.asarray(speed(flat), dtype=np.float64)
        except (TypeError, ValueError):  # a function of plain numbers
            out = np.array([float(speed(x)) for x in flat.ravel()]).reshape(flat.shape)  # type: ignore[arg-type]
        return np.broadcast_to(out, flat.shape)

    grid = evaluated(np.linspace(0.0, 1.0, 33))
    if not np.isfinite(grid).all() or abs(grid[0]) > 1e-6 or abs(grid[-1] - 1.0) > 1e-6:
        raise BadValue(f"a speed profile goes from s(0) = 0 to s(1) = 1; this one from {grid[0]:.3g} to {grid[-1]:.3g}")
    if grid.min() < -1e-9 or grid.max() > 1.0 + 1e-9:
        raise BadValue("a speed profile stays between 0 and 1: fractions of the length")
    return lambda u: np.clip(evaluated(u), 0.0, 1.0)
