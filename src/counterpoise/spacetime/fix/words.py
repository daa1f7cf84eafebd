"""What a fix did, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterpoise.spacetime.fix.mend import FixResult


@dataclass(frozen=True)
class FixedWindow:
    """One window of the work."""

    start: float  # [s]
    end: float  # [s]
    cost_before: float
    cost_after: float
    steps: int


@dataclass(frozen=True)
class Stretch:
    """A stretch of time, and how many body weights still come from nowhere in it at worst."""

    start: float  # [s]
    end: float  # [s]
    violation: float


def summary_of(result: FixResult) -> str:
    """A few sentences a person can act on."""
    before, after = result.before, result.after
    skate = [r.finding("skate").value for r in (before, after)]
    sinks = [10.0 * r.finding("penetration").value for r in (before, after)]
    force = [r.finding("force").value for r in (before, after)]
    parts = [
        f"Forces from nowhere: {_short(force[0])}% of body weight before, {_short(force[1])}% after; "
        f"skate {_short(skate[0])} to {_short(skate[1])} cm/s; sinks {_short(sinks[0])} to {_short(sinks[1])} mm.",
        f"Joints moved {100.0 * result.change:.1f} cm on average, at most {100.0 * result.largest:.0f} cm "
        f"({result.largest_body} at {result.largest_time:.2f} s).",
    ]
    if result.leaps:
        parts.append(f"Leaps of the capture bridged at {_when([(s.start, s.end) for s in result.leaps])}.")
    if before.carried:
        longest = max(before.carried, key=lambda c: c.end - c.start)
        spans = _when([(c.start, c.end) for c in before.carried])
        named = f" ({longest.phrase})" if longest.bodies else ""
        parts.append(
            f"At {spans} something that is not shown carries the body: there only tremble and leaps were mended, and "
            f"forces are not counted above. Name what holds on{named} to have them mended too."
        )
    if result.left:
        worst = max(s.violation for s in result.left)
        parts.append(
            f"Not made valid at {_when([(s.start, s.end) for s in result.left])}: up to {100.0 * worst:.0f}% of body "
            "weight there comes from what the motion does not show."
        )
    if result.stopped:
        parts.append(f"Stopped: from {result.windows[-1].end:.2f} s on the motion is as it was.")
    return " ".join(parts)


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100.0 else f"{value:.2g}"


def _when(spans: Sequence[tuple[float, float]]) -> str:
    shown = [f"{a:.2f}-{b:.2f} s" if b - a > 0.015 else f"{a:.2f} s" for a, b in spans[:6]]
    more = f" and {len(spans) - 6} more" if len(spans) > 6 else ""
    return ", ".join(shown) + more
