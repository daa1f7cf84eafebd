"""Hazards: what a body keeps out of the way of. Balls that fly, carts that come along, posts that stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.defaults import GRAVITY
from counterpoise.errors import BadValue

Place = ArrayLike | Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False)
class Hazard:
    """A ball, or with `height` a post that stands on the ground.

    cp.Hazard((6, 0, 1.2), 0.1, velocity=(-7, 0, 2), start=1.0) is a ball of 20 cm, thrown at 1 s. With a velocity it
    falls as it flies. A place may be a function of time [s]: it then moves along it, and does not fall by itself.
    """

    place: Place  # (3,) of its centre at `start` [m], or a function of time
    radius: float = 0.1  # [m]
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m/s] at `start`
    start: float = 0.0  # [s]
    seen: float | None = None  # [s] from when it is seen; None: from `start`
    height: float | None = None  # [m] of a post; None: it is a ball

    def __post_init__(self) -> None:
        if not callable(self.place):
            object.__setattr__(self, "place", _three(self.place, "the place of a hazard [m]"))
        object.__setattr__(self, "velocity", _three(self.velocity, "the velocity of a hazard [m/s]"))
        if callable(self.place) and any(self.velocity):
            raise BadValue("a hazard whose place is a function of time has no velocity beside it")
        for name in ("radius", "start", "seen", "height"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
                raise BadValue(f"Hazard.{name} is a number; got {value!r}")
            if value is not None and not math.isfinite(value):
                raise BadValue(f"Hazard.{name} is a finite number; got {value!r}")
        if not self.radius > 0.0 or (self.height is not None and not self.height > 0.0):
            raise BadValue(f"radius and height of a hazard are positive [m]; got {self.radius!r} and {self.height!r}")

    @property
    def stands(self) -> bool:
        """Whether it stays where it is."""
        return not callable(self.place) and not any(self.velocity)

    def is_seen(self, time: float) -> bool:
        """Returns whether it is known at a time [s]."""
        return time >= (self.start if self.seen is None else self.seen) - 1e-9

    def at(self, times: Array) -> Array:
        """Returns where its centre is, (n, 3) [m], at times (n,) [s]. A ball does not fall below the ground."""
        if callable(self.place):
            return np.array([_three(self.place(float(t)), f"the place of a hazard at {t:g} s [m]") for t in times])
        since = np.maximum(times - self.start, 0.0)[:, None]
        out: Array = np.asarray(self.place, float) + since * np.asarray(self.velocity)
        if any(self.velocity):
            out[:, 2] = np.maximum(out[:, 2] - 0.5 * GRAVITY * since[:, 0] ** 2, self.radius)
        return out


def hazards_of(given: Any) -> tuple[Hazard, ...]:
    """Returns hazards from hazards and props: a prop with a velocity is thrown at 0 s, one at rest stands there."""
    things = given if isinstance(given, Sequence) else (given,)
    return tuple(thing if isinstance(thing, Hazard) else _from_prop(thing) for thing in things)


def _from_prop(prop: Any) -> Hazard:
    extent = getattr(prop, "extent", None)
    if extent is None:
        raise BadValue(f"`avoid` holds Hazard(...) and Prop(...), or is a function of time that does; got {prop!r}")
    if any(prop.velocity):
        return Hazard(prop.place, 0.5 * max(extent), prop.velocity)
    return Hazard(prop.place, 0.5 * math.hypot(extent[0], extent[1]), height=prop.place[2] + 0.5 * extent[2])


def _three(values: ArrayLike, what: str) -> tuple[float, float, float]:
    try:
        array = np.ravel(np.asarray(values, float))
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadValue(f"{what} is three finite numbers; got {values!r}")
    return float(array[0]), float(array[1]), float(array[2])
