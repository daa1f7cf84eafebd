"""What is measured of a motion at every sample, what is allowed, and what is named where it is exceeded."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.arrays import Array

FORCE_ALLOWED = 0.01  # [body weights] from nowhere, rms over FORCE_WINDOW
FORCE_WINDOW = 0.1  # [s] the time over which `check` averages forces too
DEPTH_ALLOWED = 2e-3  # [m] in the ground, in terrain, in each other, off a contact's place, off a wish
LIMIT_ALLOWED = 0.02  # [rad] beyond a joint's limit
STRENGTH_ALLOWED = 0.02  # share of its strength that a joint may work beyond it
EXCEPTIONAL = 10.0  # times what is allowed: what was asked for and is missed by more makes a motion unsolved


@dataclass(frozen=True)
class MotionFault:
    """Something that is not right in an optimised motion: what, when at its worst, how much, and what is allowed."""

    kind: str  # "physics", "strength", "ground", "terrain", "overlap", "joint limit", "contact", "wish"
    what: str  # the sentence without its time
    time: float  # [s]
    size: float  # in `unit`
    allowed: float
    unit: str

    def __str__(self) -> str:
        return f"{self.what} at {self.time:.2f} s"


@dataclass(frozen=True, eq=False)
class Measure:
    """One quantity at all samples, in units of what is allowed beyond zero."""

    kind: str
    text: str  # with {size}: the sentence of a fault
    sizes: Array  # (samples,)
    allowed: float
    unit: str
    mends: bool = True  # whether more knots can make it better

    def fault(self, times: Array) -> MotionFault | None:
        """Returns the fault at its worst sample; None where all is as allowed."""
        i = int(self.sizes.argmax()) if len(self.sizes) else 0
        if not len(self.sizes) or self.sizes[i] <= self.allowed:
            return None
        size = float(self.sizes[i])
        return MotionFault(self.kind, self.text.format(size=_said(size, self.unit)), float(times[i]), size,
                           self.allowed, self.unit)  # fmt: skip


def _said(size: float, unit: str) -> str:
    if unit == "m":
        return f"{1e3 * size:.1f} mm"
    if unit == "rad":
        return f"{size:.3f} rad"
    if unit == "strength":
        return f"{1.0 + size:.0%}"
    return f"{size:.1%}"
