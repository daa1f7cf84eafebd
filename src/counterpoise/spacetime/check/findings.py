"""Findings: every measure of a motion compared with its threshold, in one sentence each.

Findings about physics say whether a motion is possible: forces from nowhere, leaps, flight, spin, strength, joint
limits. The others say how clean it is: feet that skate, float or sink, balance, jitter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.spacetime.check.flight import CarriedStretch, Flight
from counterpoise.spacetime.check.measures import FrameMeasures, JointExcess
from counterpoise.spacetime.check.tuning import CheckTuning

Stretch = tuple[float, float, float]  # largest value, start and end [s]
NO_STRETCH: Stretch = (0.0, float("nan"), float("nan"))
NEGLIGIBLE_VALUE = 1e-4  # [cm, %, mm, ...]
INSTANT = 0.015  # [s] a shorter stretch is written as one time
MIN_SPEED_ERROR = 0.1  # relative: a flight whose speed differs by less is not mentioned
MIN_OUTSIDE = 0.01  # [m] a centre of pressure nearer to the support area is no reason
MAX_NAMED_STRETCHES = 3
LEAN_AVERAGING = 0.1  # [s] over which a residual is averaged before it is asked whether it lasts
# findings about physics, the gravest first
PHYSICS = ("carried", "flight", "leap", "force", "lean", "spin", "strength", "limits")


@dataclass(frozen=True)
class Finding:
    """One measure of the motion: its value, what is allowed, and where and when it is worst."""

    name: str  # "skate"
    value: float  # compared with the limit
    limit: float
    unit: str
    worst: float  # the largest single value
    start: float  # [s] of the worst stretch
    end: float  # [s]
    where: str  # the foot, body or joint
    text: str  # part of a sentence
    ok: bool

    @property
    def physics(self) -> bool:
        """Whether a motion beyond the limit is impossible, rather than unclean."""
        return self.name in PHYSICS

    def to_json(self) -> dict[str, Any]:
        """Returns plain numbers and words; numbers that are not finite become None."""
        numbers = {k: plain(getattr(self, k)) for k in ("value", "limit", "worst", "start", "end")}
        words = {k: getattr(self, k) for k in ("name", "ok", "physics", "unit", "where", "text")}
        return {**words, **numbers}


def plain(value: float) -> float | None:
    """Returns a number that JSON can hold, or None."""
    return float(value) if np.isfinite(value) else None


def find_all(
    character: Character,
    measured: FrameMeasures,
    flights: Sequence[Flight],
    carried: Sequence[CarriedStretch],
    limits: Sequence[JointExcess],
    strength: Sequence[JointExcess],
    tuning: CheckTuning,
) -> tuple[Finding, ...]:
    """Returns all findings, feet first, then joints, forces and smoothness."""
    feet = [_foot_name(character, k) for k in range(len(character.feet))]
    return (
        _skate(measured, feet, tuning),
        _penetration(character, measured, tuning),
        _float(measured, feet, tuning),
        _limits(character, measured, limits, tuning),
        _force(measured, tuning),
        _lean(measured, tuning),
        _balance(measured, tuning),
        *((_carried(carried, tuning),) if carried else ()),
        *(_flight(character, flights, tuning) if flights else ()),
        *((_strength(measured, strength, tuning),) if strength else ()),
        _leap(measured, tuning),
        *_jitter_and_jerk(measured, tuning),
    )


def _finding(name: str, value: float, limit: float, unit: str, stretch: Stretch, where: str, text: str) -> Finding:
    return Finding(name, value, limit, unit, *stretch, where, text, bool(value <= limit))


def _skate(measured: FrameMeasures, feet: Sequence[str], tuning: CheckTuning) -> Finding:
    speeds = 100.0 * measured.skate
    stretch, foot = _worst_column(measured.times, speeds, feet)
    value = _rms(speeds)
    worst = f"{stretch[0]:.0f} cm/s {when(stretch)} on the {foot}"
    text = f"feet skate {value:.1f} cm/s (rms) while planted, worst {worst}"
    return _finding("skate", value, tuning.max_skate, "cm/s rms", stretch, foot, text)


def _penetration(character: Character, measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    depth = 100.0 * measured.penetration
    stretch = worst_stretch(measured.times, depth)
    body = character.model.body(int(measured.deepest[int(depth.argmax())])).name if stretch[0] > 0.0 else ""
    text = f"{body} sinks {stretch[0]:.1f} cm into the floor {when(stretch)}"
    return _finding("penetration", stretch[0], tuning.max_penetration, "cm", stretch, body, text)


def _float(measured: FrameMeasures, feet: Sequence[str], tuning: CheckTuning) -> Finding:
    heights = 100.0 * measured.float
    stretch, foot = _worst_column(measured.times, heights, feet)
    value = _percentile(heights, 95.0)
    worst = f"{stretch[0]:.1f} cm {when(stretch)} on the {foot}"
    text = f"standing feet float {value:.1f} cm above the floor, at most {worst}"
    return _finding("float", value, tuning.max_float, "cm, 95%", stretch, foot, text)


def _limits(
    character: Character, measured: FrameMeasures, limits: Sequence[JointExcess], tuning: CheckTuning
) -> Finding:
    angles = [excess for excess in limits if excess.unit == "deg"]
    stretch = worst_stretch(measured.times, np.degrees(measured.limit)) if angles else NO_STRETCH
    none = "" if len(character.limits) else "none known"
    worst, joint = (angles[0].worst, angles[0].joint) if angles else (0.0, none)
    text = f"{joint}{_others(angles)} bends {worst:.0f} deg beyond its limits {when(stretch)}"
    return _finding("limits", worst, tuning.max_limit, "deg", stretch, joint, text)


def _force(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    counted = measured.judged & ~measured.carried
    lasting = 100.0 * np.where(counted, lasting_residual(measured, tuning.force_time), 0.0)
    stretch = worst_stretch(measured.times, lasting)
    value = _rms(lasting[counted])
    others = " at other times" if measured.carried.any() else ""
    text = (
        f"its contacts cannot supply the forces it needs{others}: the residual is {value:.0f}% of body weight (rms), "
        f"worst {stretch[0]:.0f}% {when(stretch)}{_reason(measured, stretch, tuning)}"
    )
    return _finding("force", value, tuning.max_force, "% of weight rms", stretch, "", text)


def _lean(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    """The largest residual that lasts: what is missing all the time for `lean_time`, or for all of a shorter clip.

    In a capture the residual comes and goes with every step. A body that leans on nothing needs it all the while.
    """
    on_ground = measured.judged & ~measured.carried & ~measured.flight
    residual = 100.0 * np.where(on_ground, lasting_residual(measured, LEAN_AVERAGING), 0.0)
    judged = np.flatnonzero(measured.judged)
    value, stretch = 0.0, NO_STRETCH
    if len(judged) > 2 and measured.times[judged[-1]] - measured.times[judged[0]] >= tuning.shortest_lean:
        step = float(measured.times[judged[1]] - measured.times[judged[0]])
        size = min(round(tuning.lean_time / step), len(judged))
        least = np.lib.stride_tricks.sliding_window_view(residual[judged], size).min(axis=1)
        first = int(least.argmax())
        value = float(least[first])
        stretch = (value, float(measured.times[judged[first]]), float(measured.times[judged[first + size - 1]]))
    text = (
        f"it leans on something that is not shown {when(stretch)}: {value:.0f}% of body weight is missing all the time"
    )
    return _finding("lean", value, tuning.max_lean, "% of weight", stretch, "", text)


def _balance(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    distance = 100.0 * np.where(measured.judged, measured.outside, np.nan)
    stretch = worst_stretch(measured.times, distance)
    value = _rms(distance)
    worst = f"{stretch[0]:.0f} cm {when(stretch)}"
    text = f"the centre of pressure would have to lie {value:.0f} cm (rms) outside the support area, worst {worst}"
    return _finding("balance", value, tuning.max_balance, "cm rms", stretch, "", text)


def _carried(carried: Sequence[CarriedStretch], tuning: CheckTuning) -> Finding:
    longest = max(carried, key=lambda c: c.end - c.start)
    value = float(sum(c.end - c.start for c in carried))
    spans = [when((1.0, c.start, c.end)) for c in carried]
    more = f" and {len(spans) - MAX_NAMED_STRETCHES} times more" if len(spans) > MAX_NAMED_STRETCHES else ""
    text = (
        f"nothing touches the ground {', '.join(spans[:MAX_NAMED_STRETCHES])}{more}, yet it does not fall: something "
        f"that is not shown carries {100.0 * longest.weight:.0f}% of its weight"
    )
    if longest.bodies:
        verb, hold = ("move", "they hold") if len(longest.bodies) > 1 else ("moves", "it holds")
        named = " and ".join(longest.bodies)
        text += f" ({named} {verb} least; if {hold} on to something, add {longest.hold_options})"
    return _finding(
        "carried", value, tuning.max_carried, "s", (value, longest.start, longest.end), ", ".join(longest.bodies), text
    )


def _flight(character: Character, flights: Sequence[Flight], tuning: CheckTuning) -> tuple[Finding, ...]:
    longest = max(flights, key=lambda f: f.end - f.start)
    turned = max((f for f in flights if f.end - f.start >= tuning.shortest_spin), key=lambda f: f.drift, default=None)
    seconds = np.array([f.end - f.start for f in flights])
    falls = float(np.average([f.gravity for f in flights], weights=seconds))
    wrong = 100.0 * abs(falls / character.gravity - 1.0) if character.gravity > 0.0 else 100.0 * longest.force
    first = (wrong, longest.start, longest.end)
    where = when(first) if len(flights) == 1 else f"({len(flights)} flights, the longest {when(first)})"
    text = (
        f"in the air {where} it falls with {falls:.1f} m/s² instead of {character.gravity:.1f}"
        f"{_playing_speed(_common_speed(flights))}"
    )
    falling = _finding("flight", wrong, tuning.max_flight, "% of gravity", first, "", text)
    if turned is None:
        return (falling,)
    second = (100.0 * turned.drift, turned.start, turned.end)
    spin = f"its angular momentum changes by {second[0]:.0f}% in the air {when(second)}"
    return falling, _finding("spin", second[0], tuning.max_drift, "%", second, "", spin)


def _common_speed(flights: Sequence[Flight]) -> float:
    """Returns the playing speed that the flights show together; nan if none follows a parabola."""
    known = [(f.speed, f.end - f.start) for f in flights if np.isfinite(f.speed)]
    return float(np.average([s for s, _ in known], weights=[t for _, t in known])) if known else float("nan")


def _leap(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    stretch = worst_stretch(measured.times, measured.leap)
    text = f"its pose leaps {when(stretch)}: the body would accelerate by {stretch[0]:.0f} m/s² from frame to frame"
    return _finding("leap", stretch[0], tuning.max_leap, "m/s²", stretch, "", text)


def _strength(measured: FrameMeasures, strength: Sequence[JointExcess], tuning: CheckTuning) -> Finding:
    share = 100.0 * np.where(measured.known, measured.torque, 0.0)
    stretch = worst_stretch(measured.times, share)
    over = [excess for excess in strength if excess.worst > 1.0]
    joint = strength[0].joint
    text = f"{joint}{_others(over)} would need {strength[0].worst:.1f} times its strength {when(stretch)}"
    value = _percentile(share[measured.known], 99.0)
    return _finding("strength", value, tuning.max_torque, "% of strength, 99%", stretch, joint, text)


def _jitter_and_jerk(measured: FrameMeasures, tuning: CheckTuning) -> tuple[Finding, Finding]:
    distance = 1000.0 * measured.jitter
    first, second = worst_stretch(measured.times, distance), worst_stretch(measured.times, measured.jerk)
    jitter, jerk = _rms(distance), _percentile(measured.jerk, 95.0)
    jitters = f"its jitter is {jitter:.1f} mm (rms), worst {when(first)}"
    jerks = f"its jerk exceeds {jerk:.0f} m/s³ in 5% of the frames, worst {when(second)}"
    return (
        _finding("jitter", jitter, tuning.max_jitter, "mm rms", first, "", jitters),
        _finding("jerk", jerk, tuning.max_jerk, "m/s³, 95%", second, "", jerks),
    )


def _playing_speed(speed: float) -> str:
    """Returns what the speed of a flight shows: a jump in slow motion falls too slowly."""
    if not np.isfinite(speed) or abs(speed - 1.0) < MIN_SPEED_ERROR:
        return ""
    if speed < 1.0:
        return f", as if played {1.0 / speed:.1f} times too slowly"
    return f", as if played {speed:.1f} times too fast"


def lasting_residual(measured: FrameMeasures, seconds: float) -> Array:
    """Returns the size (n,) of the residual's mean over so many seconds [body weights]; noise cancels in it."""
    judged = np.flatnonzero(measured.judged)
    size = measured.violation.copy()
    if len(judged) < 3:
        return size
    step = float(measured.times[judged[1]] - measured.times[judged[0]])
    reach = round(0.5 * seconds / step)
    run = slice(judged[0], judged[-1] + 1)  # frames that are not judged are those at the ends
    total = np.vstack([np.zeros(6), np.cumsum(measured.missing[run], axis=0)])
    at = np.arange(len(total) - 1)
    first, last = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(at))
    size[run] = np.linalg.norm((total[last] - total[first]) / (last - first)[:, None], axis=1)
    return size


def _reason(measured: FrameMeasures, stretch: Stretch, tuning: CheckTuning) -> str:
    """Returns why contacts cannot supply the force in a stretch: no contact, a pull, friction, centre of pressure."""
    if not np.isfinite(stretch[1]):
        return ""
    here = (measured.times >= stretch[1] - 1e-9) & (measured.times <= stretch[2] + 1e-9)
    if measured.flight[here].mean() > 0.5:
        return " (nothing touches the ground there)"
    at = np.flatnonzero(here)[int(measured.violation[here].argmax())]
    if measured.needed[at, 5] < 0.0:
        return " (the ground would have to pull)"
    reasons = []
    if measured.outside[at] > MIN_OUTSIDE:
        reasons.append(f"the centre of pressure would lie {100 * measured.outside[at]:.0f} cm outside the feet")
    if measured.friction[at] > tuning.friction:
        reasons.append(f"friction of {measured.friction[at]:.1f} would be needed")
    return f" ({', and '.join(reasons)})" if reasons else ""


def _foot_name(character: Character, number: int) -> str:
    foot = character.feet[number]
    return f"{foot.side} foot" if foot.side in ("left", "right") and len(character.feet) == 2 else foot.name


def _others(several: Sequence[JointExcess]) -> str:
    return f" (and {len(several) - 1} more)" if len(several) > 1 else ""


def worst_stretch(times: Array, values: Array) -> Stretch:
    """Returns the largest value, and start and end of the stretch about it above half of it; nan counts as 0."""
    known = np.where(np.isfinite(values), values, 0.0)
    if not len(known) or known.max() <= NEGLIGIBLE_VALUE:
        return NO_STRETCH
    at = int(known.argmax())
    first = last = at
    while first > 0 and known[first - 1] > 0.5 * known[at]:
        first -= 1
    while last < len(known) - 1 and known[last + 1] > 0.5 * known[at]:
        last += 1
    return float(known[at]), float(times[first]), float(times[last])


def _worst_column(times: Array, values: Array, names: Sequence[str]) -> tuple[Stretch, str]:
    each = [worst_stretch(times, values[:, k]) for k in range(values.shape[1])]
    if not each:
        return NO_STRETCH, "feet"
    k = int(np.argmax([e[0] for e in each]))
    return each[k], names[k]


def when(stretch: Stretch) -> str:
    """Returns the time of a stretch in words: "at 1.20 s", "at 1.20-1.35 s"."""
    _, start, end = stretch
    if not np.isfinite(start):
        return "at no time"
    return f"at {start:.2f} s" if end - start < INSTANT else f"at {start:.2f}-{end:.2f} s"


def _rms(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(known**2))) if known.size else 0.0


def _percentile(values: Array, share: float) -> float:
    known = values[np.isfinite(values)]
    return float(np.percentile(known, share)) if known.size else 0.0
