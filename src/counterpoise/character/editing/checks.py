"""Input of edits is checked here: numbers within bounds, directions, names, limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.limits import BallLimit
from counterpoise.character.limits.swings import oval, swing_cone
from counterpoise.errors import BadValue

Range = tuple[float, float]  # [rad], metres for a slide

LENGTHS, RADII, MASSES = (1e-3, 100.0), (1e-4, 50.0), (1e-6, 1e6)  # [m], [m], [kg] accepted ranges
_NAME = re.compile(r"\w[\w .:@-]*")


@dataclass(frozen=True)
class Oval:
    """A ball joint's limits in an animator's numbers [deg]: swings forward, back and to each side, and the twist."""

    forward: float
    back: float | None = None  # as forward
    side: float | None = None  # as forward
    twist: tuple[float, float] = (-45.0, 45.0)

    def limit(self, axis: ArrayLike) -> BallLimit:
        """The swing cone and twist range about a bone that lies along `axis` at zero."""
        forward = amount(self.forward, "a swing [deg]", 1.0, 85.0)
        back = forward if self.back is None else amount(self.back, "a swing [deg]", 1.0, 85.0)
        side = forward if self.side is None else amount(self.side, "a swing [deg]", 1.0, 85.0)
        low, high = _pair(self.twist, "a twist range [deg]")
        if not -180.0 <= low <= high <= 180.0:
            raise BadValue(f"a twist range is low <= high within 180 degrees; got {self.twist!r}")
        return swing_cone(np.asarray(axis, float).tolist(), oval(forward, back, side), (low, high))


Limits = Range | Sequence[Range] | BallLimit | Oval | None


def check_limits(limits: Limits, kind: str, axis: Array) -> list[Range | BallLimit | None]:
    """Returns checked limits, one for each row of the joint: ranges for hinges and slides, a cone for a ball."""
    if kind == "universal":
        if limits is None:
            return [None, None]
        both = list(limits) if isinstance(limits, Sequence) else []
        if len(both) != 2:
            raise BadValue(f"a universal joint takes two ranges, ((low, high), (low, high)); got {limits!r}")
        return [_range(one) for one in both]
    if limits is None:
        return [None]
    if kind == "ball":
        if isinstance(limits, Oval):
            return [limits.limit(axis)]
        if isinstance(limits, BallLimit):
            return [limits]
        raise BadValue(f"a ball joint's limits are an Oval or a BallLimit; got {limits!r}")
    if kind in ("fixed", "free"):
        raise BadValue(f"a {kind} joint has no limits; got {limits!r}")
    return [_range(limits)]


def amount(value: Any, what: str, low: float, high: float) -> float:
    """Returns `value` as a number; raises BadValue if it is not within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise BadValue(f"{what} is a number between {low:g} and {high:g}; got {value!r}")
    number = float(value)
    if not low <= number <= high:  # NaN too
        raise BadValue(f"{what} lies between {low:g} and {high:g}; got {value!r}", value=value)
    return number


def vector(values: Any, what: str) -> Array:
    """Returns `values` as an array (3,); raises BadValue if they are not three finite numbers."""
    try:
        out = np.array(values, float)
    except (TypeError, ValueError):
        out = np.empty(0)
    if out.shape != (3,) or not np.isfinite(out).all() or np.abs(out).max() > 1e3:
        raise BadValue(f"{what} is three finite numbers; got {values!r}")
    return out


def unit(values: Any, what: str) -> Array:
    """Returns a direction as a unit vector (3,)."""
    out = vector(values, what)
    size = float(np.linalg.norm(out))
    if size < 1e-9:
        raise BadValue(f"{what} must not be zero")
    return out / size


def check_name(name: Any, kind: str, taken: Any) -> str:
    """Returns `name`; raises BadValue if it cannot be written in a file or is among `taken`."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == "world":
        raise BadValue(f"a {kind}'s name is letters, digits, _ . : @ - and spaces, not 'world'; got {name!r}")
    if name in taken:
        raise BadValue(f"there is already a {kind} {name!r}; choose another name or remove that one first", name=name)
    return name


def _pair(values: Any, what: str) -> Range:
    try:
        low, high = (float(v) for v in values)
    except (TypeError, ValueError):
        raise BadValue(f"{what} is two numbers, (low, high); got {values!r}") from None
    if not (isfinite(low) and isfinite(high)):
        raise BadValue(f"{what} is two finite numbers; got {values!r}")
    return low, high


def _range(values: Any) -> Range | None:
    if values is None:
        return None
    low, high = _pair(values, "a joint's range")
    if not low < high or max(abs(low), abs(high)) > 1e3:
        raise BadValue(f"a joint's range is low < high; got ({low:g}, {high:g})", low=low, high=high)
    return low, high


__all__ = [
    "LENGTHS", "MASSES", "RADII", "Limits", "Oval", "Range", "amount", "check_limits", "check_name", "unit", "vector",
]  # fmt: skip
