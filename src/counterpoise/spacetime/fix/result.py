"""The result of a fix, and its summary in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.spacetime.check.findings import plain
from counterpoise.spacetime.check.report import CheckReport
from counterpoise.spacetime.check.support import HeldBody

MIN_NAMED_LIFT = 0.005  # [m] a smaller shift up or down is not mentioned
INSTANT = 0.015  # [s] a shorter stretch is written as one time
MAX_NAMED_STRETCHES = 6
WORSE_NAMES = {
    "force": "residual force", "penetration": "depth in the ground", "leap": "leaps",
    "nowhere": "force from nowhere, as an outsider sees it", "sliding": "feet that slide, as an outsider sees them",
}  # fmt: skip


@dataclass(frozen=True)
class FixedWindow:
    """One window of the work."""

    start: float  # [s]
    end: float  # [s]
    cost_before: float
    cost_after: float
    steps: int


@dataclass(frozen=True)
class TimeStretch:
    """A stretch of time, and the largest residual force in it."""

    start: float  # [s]
    end: float  # [s]
    violation: float  # [body weights]


@dataclass(frozen=True, eq=False)
class FixResult:
    """The fixed motion, checked before and after with the same contacts, and what was changed."""

    motion: Motion
    before_check: Callable[[], CheckReport]  # see `before`
    after_check: Callable[[], CheckReport]  # see `after`
    contacts: tuple[ContactWindow, ...]  # in both reports
    windows: tuple[FixedWindow, ...]
    leaps: tuple[TimeStretch, ...]  # errors of the capture that were bridged
    turned: tuple[TimeStretch, ...]  # stretches in which a foot was turned over at its ankle, and was turned back
    left: tuple[TimeStretch, ...]  # stretches that could not be made possible and stay near the original
    given_back: tuple[TimeStretch, ...]  # stretches that are as they were: the fix was worse there than the input
    worse: tuple[str, ...]  # the findings that were
    frozen: tuple[str, ...]  # joints that were not changed
    lift: float  # [m] by which the whole motion was raised on to the ground, or lowered; not part of the change
    slide: tuple[float, float]  # [m/s] at which all feet slid over the ground, taken away; not part of the change
    change: float  # [m] mean over frames and bodies
    largest: float  # [m] the largest change ...
    largest_body: str  # ... of this body ...
    largest_time: float  # [s] ... at this time
    seconds: float  # [s] of work
    stopped: bool  # whether it was interrupted; then the rest of the motion is unchanged
    holds: tuple[HeldBody, ...] = ()  # bodies that were held by something that is not shown: given, or found

    @cached_property
    def before(self) -> CheckReport:
        """The check of the motion as it was. After a stop it is made when it is first asked for."""
        return self.before_check()

    @cached_property
    def after(self) -> CheckReport:
        """The check of the fixed motion. After a stop it is made when it is first asked for."""
        return self.after_check()

    @property
    def summary(self) -> str:
        """A few sentences that a person can act on."""
        return summary_of(self)

    def to_json(self) -> dict[str, Any]:
        """Returns plain numbers, lists and words."""
        names = ("lift", "change", "largest", "largest_body", "largest_time", "seconds", "stopped", "summary")
        return {
            **{name: getattr(self, name) for name in names},
            "slide": list(self.slide),
            "holds": [{"body": h.body, "start": plain(h.start), "end": plain(h.end)} for h in self.holds],
            "frames_per_second": len(self.motion) / max(self.seconds, 1e-9),
            "windows": [vars(w) for w in self.windows],
            "leaps": [vars(s) for s in self.leaps],
            "turned": [vars(s) for s in self.turned],
            "left": [vars(s) for s in self.left],
            "given_back": [vars(s) for s in self.given_back],
            "worse": list(self.worse),
            "frozen": list(self.frozen),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
        }


def summary_of(result: FixResult) -> str:
    """Returns a few sentences: before and after, the change, and what could not be fixed."""
    before, after = result.before, result.after
    skate = [_short(r.finding("skate").value) for r in (before, after)]
    depth = [_short(10.0 * r.finding("penetration").value) for r in (before, after)]
    force = [_short(r.finding("force").value) for r in (before, after)]
    parts = [
        f"Residual force: {force[0]}% of body weight before, {force[1]}% after. Skate: {skate[0]} cm/s before, "
        f"{skate[1]} cm/s after. Penetration: {depth[0]} mm before, {depth[1]} mm after.",
        f"Bodies moved {100.0 * result.change:.1f} cm on average, at most {100.0 * result.largest:.0f} cm "
        f"({result.largest_body} at {result.largest_time:.2f} s).",
    ]
    if abs(result.lift) > MIN_NAMED_LIFT:
        way = "up" if result.lift > 0.0 else "down"
        parts.append(f"The whole motion was moved {way} by {100.0 * abs(result.lift):.1f} cm, on to the ground.")
    speed = float(np.hypot(*result.slide))
    if speed > 0.0:
        parts.append(
            f"All feet slid over the ground at {100.0 * speed:.0f} cm/s. The whole motion was brought to rest."
        )
    if result.given_back:
        what = ", ".join(WORSE_NAMES.get(name, name) for name in result.worse)
        first, last = result.given_back[0], result.given_back[-1]
        times = before.frames.times
        whole = first is last and first.start <= times[0] and first.end >= times[-1]
        where = "The motion" if whole else f"At {_when(_spans(result.given_back))} the motion"
        parts.append(f"{where} is given back as it was: fixed, it would be worse ({what}).")
    if result.holds:
        parts.append(f"Held by something that is not shown: {_holds(result.holds, before.frames.times)}.")
    if result.leaps:
        parts.append(f"Leaps of the capture were bridged at {_when(_spans(result.leaps))}.")
    if result.turned:
        parts.append(f"Feet that were turned over at the ankle were turned back at {_when(_spans(result.turned))}.")
    if before.carried:
        longest = max(before.carried, key=lambda c: c.end - c.start)
        spans = _when([(c.start, c.end) for c in before.carried])
        options = f" ({longest.hold_options})" if longest.bodies else ""
        parts.append(
            f"At {spans} something that is not shown carries the body. There only jitter and leaps were removed, and "
            "the residual force above leaves these times out. To fix forces there too, name the bodies that hold on"
            f"{options}."
        )
    if result.left:
        worst = max(s.violation for s in result.left)
        spans = _when(_spans(result.left))
        parts.append(f"Not made possible at {spans}: a residual of up to {100.0 * worst:.0f}% of body weight remains.")
    if result.stopped:
        where = f"from {result.windows[-1].end:.2f} s on " if result.windows else ""
        parts.append(f"Stopped: {where}the motion is unchanged.")
    return " ".join(parts)


def _holds(holds: Sequence[HeldBody], times: Array) -> str:
    first, last = float(times[0]), float(times[-1])
    spans: dict[str, list[tuple[float, float]]] = {}
    for hold in holds:
        spans.setdefault(hold.body, []).append((max(hold.start, first), min(hold.end, last)))
    whole = [(first, last)]
    return ", ".join(body + ("" if when == whole else f" at {_when(when)}") for body, when in spans.items())


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100.0 else f"{value:.2g}"


def _spans(stretches: Sequence[TimeStretch]) -> list[tuple[float, float]]:
    return [(s.start, s.end) for s in stretches]


def _when(spans: Sequence[tuple[float, float]]) -> str:
    named = spans[:MAX_NAMED_STRETCHES]
    shown = [f"{a:.2f}-{b:.2f} s" if b - a > INSTANT else f"{a:.2f} s" for a, b in named]
    more = f" and {len(spans) - len(named)} more" if len(spans) > len(named) else ""
    return ", ".join(shown) + more
