"""From numbers to findings and a plain verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.spacetime.check.frames import com_of

if TYPE_CHECKING:
    from counterpoise.spacetime.check.flight import Carried, Flight
    from counterpoise.spacetime.check.frames import Frames
    from counterpoise.spacetime.check.measures import FrameMeasures, JointExcess
    from counterpoise.spacetime.check.report import CheckTuning
    from counterpoise.spacetime.check.support import Support


NOTHING = 1e-4  # cm, %, mm, ...: less is as good as none
FEW = 6  # frames: fewer tell nothing of forces or skate
STILL = 1e-4  # [m, rad] what changes by less does not move
SMALLEST, LARGEST = 0.15, 4.0  # [m] figures beyond have, most likely, the wrong units
CLIMB = 0.03  # [m] by which feet climb at least where a floor is called tilted
OTHER_SPEED = 0.1  # a flight played at a speed that differs by more is told
_GRAVE = ("carried", "flight", "spin", "force", "balance", "strength", "limits")  # what makes a motion impossible
_NEVER = (0.0, float("nan"), float("nan"))


@dataclass(frozen=True)
class Finding:
    """One question asked of the motion: what was measured, what is allowed, where and when it is worst."""

    name: str  # "skate"
    value: float  # what is held against the limit
    limit: float
    unit: str
    worst: float  # the largest single value
    start: float  # [s] when it is worst, from ...
    end: float  # ... to
    where: str  # which foot, body or joint
    text: str  # a sentence's part
    ok: bool

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and words; what is not a number is None."""
        numbers = {k: plain(getattr(self, k)) for k in ("value", "limit", "worst", "start", "end")}
        return {"name": self.name, "ok": self.ok, "unit": self.unit, "where": self.where, "text": self.text, **numbers}


def plain(value: float) -> float | None:
    """A float JSON can hold."""
    return float(value) if np.isfinite(value) else None


def worst_stretch(times: Array, values: Array) -> tuple[float, float, float]:
    """(largest value, from, to): the stretch about it in which more than half of it is reached; nan counts as none."""
    known = np.where(np.isfinite(values), values, 0.0)
    if not len(known) or known.max() <= NOTHING:
        return _NEVER
    at = int(known.argmax())
    first = last = at
    while first > 0 and known[first - 1] > 0.5 * known[at]:
        first -= 1
    while last < len(known) - 1 and known[last + 1] > 0.5 * known[at]:
        last += 1
    return float(known[at]), float(times[first]), float(times[last])


def find_all(
    who: Character,
    measured: FrameMeasures,
    feet: Sequence[str],
    flights: Sequence[Flight],
    carried: Sequence[Carried],
    limits: Sequence[JointExcess],
    demand: Sequence[JointExcess],
    tuning: CheckTuning,
) -> tuple[Finding, ...]:
    """Every finding, in the order an animator would look."""
    sides = [_foot(who, k) for k in range(len(feet))]
    return (
        _skate(measured, sides, tuning),
        _penetration(who, measured, tuning),
        _float(measured, sides, tuning),
        _limits(who, measured, limits, tuning),
        _force(measured, tuning),
        _balance(measured, tuning),
        *((_carried(carried, tuning),) if carried else ()),
        *(_flight(who, flights, tuning) if flights else ()),
        *((_strength(measured, demand, tuning),) if demand else ()),
        *_unrest(measured, tuning),
    )


def _finding(
    name: str, value: float, limit: float, unit: str, stretch: tuple[float, float, float], where: str, text: str
) -> Finding:
    return Finding(name, value, limit, unit, *stretch, where, text, bool(value <= limit))


def _skate(measured: FrameMeasures, sides: Sequence[str], tuning: CheckTuning) -> Finding:
    speeds = 100.0 * measured.skate
    stretch, foot = _worst_column(measured.times, speeds, sides)
    value = _rms(speeds)
    text = (
        f"feet skate {value:.1f} cm/s (rms) while planted, worst {stretch[0]:.0f} cm/s {_when(stretch)} on the {foot}"
    )
    return _finding("skate", value, tuning.max_skate, "cm/s rms", stretch, foot, text)


def _penetration(who: Character, measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    deep = 100.0 * measured.penetration
    stretch = worst_stretch(measured.times, deep)
    body = who.model.body(int(measured.deepest[int(deep.argmax())])).name if stretch[0] > 0.0 else ""
    text = f"{body} sinks {stretch[0]:.1f} cm into the floor {_when(stretch)}"
    return _finding("penetration", stretch[0], tuning.max_penetration, "cm", stretch, body, text)


def _float(measured: FrameMeasures, sides: Sequence[str], tuning: CheckTuning) -> Finding:
    heights = 100.0 * measured.float
    stretch, foot = _worst_column(measured.times, heights, sides)
    value = _percentile(heights, 95.0)
    worst = f"{stretch[0]:.1f} cm {_when(stretch)} on the {foot}"
    text = f"standing feet float {value:.1f} cm above the floor, at most {worst}"
    return _finding("float", value, tuning.max_float, "cm, 95%", stretch, foot, text)


def _limits(who: Character, measured: FrameMeasures, limits: Sequence[JointExcess], tuning: CheckTuning) -> Finding:
    angles = [excess for excess in limits if excess.unit == "deg"]
    stretch = worst_stretch(measured.times, np.degrees(measured.limit)) if angles else _NEVER
    worst, joint = (angles[0].worst, angles[0].joint) if angles else (0.0, "" if len(who.limits) else "none known")
    text = f"{joint}{_more(angles)} bends {worst:.0f} deg beyond its limits {_when(stretch)}"
    return _finding("limits", worst, tuning.max_limit, "deg", stretch, joint, text)


def _force(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    seen = measured.judged & ~measured.carried
    stretch = worst_stretch(measured.times, 100.0 * np.where(seen, measured.violation, 0.0))
    value = _rms(100.0 * measured.violation[seen])
    others = " at other times" if measured.carried.any() else ""
    text = (
        f"its contacts cannot give the forces it needs: {value:.0f}% of body weight (rms) would have to come from "
        f"nowhere{others}, worst {stretch[0]:.0f}% {_when(stretch)}{_why(measured, stretch, tuning)}"
    )
    return _finding("force", value, tuning.max_force, "% of weight rms", stretch, "", text)


def _balance(measured: FrameMeasures, tuning: CheckTuning) -> Finding:
    beyond = 100.0 * np.where(measured.judged, measured.outside, np.nan)
    stretch = worst_stretch(measured.times, beyond)
    value = _rms(beyond)
    text = f"it presses {value:.0f} cm (rms) beyond its feet, worst {stretch[0]:.0f} cm {_when(stretch)}"
    return _finding("balance", value, tuning.max_balance, "cm rms", stretch, "", text)


def _carried(carried: Sequence[Carried], tuning: CheckTuning) -> Finding:
    longest = max(carried, key=lambda c: c.end - c.start)
    value = float(sum(c.end - c.start for c in carried))
    spans = [_when((1.0, c.start, c.end)) for c in carried]
    some = ", ".join(spans[:3]) + (f" and {len(spans) - 3} times more" if len(spans) > 3 else "")
    text = (
        f"nothing touches the ground {some}, yet it does not fall: something that is not shown carries "
        f"{100.0 * longest.weight:.0f}% of its weight"
    )
    if longest.bodies:
        verb = "move" if len(longest.bodies) > 1 else "moves"
        named = " and ".join(longest.bodies)
        text += f" ({named} {verb} least; if that is what holds on, say {longest.phrase})"
    return _finding(
        "carried", value, tuning.max_carried, "s", (value, longest.start, longest.end), ", ".join(longest.bodies), text
    )


def _flight(who: Character, flights: Sequence[Flight], tuning: CheckTuning) -> tuple[Finding, Finding]:
    pushed, turned = max(flights, key=lambda f: f.force), max(flights, key=lambda f: f.drift)
    force, drift = 100.0 * pushed.force, 100.0 * turned.drift
    first, second = (force, pushed.start, pushed.end), (drift, turned.start, turned.end)
    earth = float(np.linalg.norm(who.model.opt.gravity))
    text = (
        f"in the air {_when(first)} it falls with {pushed.gravity:.1f} m/s² instead of {earth:.1f}"
        f"{_played(pushed.speed)}; {force:.0f}% of body weight acts on it from nowhere"
    )
    spin = f"its angular momentum changes by {drift:.0f}% in the air {_when(second)}"
    return (
        _finding("flight", force, tuning.max_flight, "% of weight rms", first, "", text),
        _finding("spin", drift, tuning.max_drift, "%", second, "", spin),
    )


def _strength(measured: FrameMeasures, demand: Sequence[JointExcess], tuning: CheckTuning) -> Finding:
    share = 100.0 * np.where(measured.known, measured.torque, 0.0)
    stretch = worst_stretch(measured.times, share)
    over = [excess for excess in demand if excess.worst > 1.0]
    joint = demand[0].joint
    text = f"{joint}{_more(over)} would need {demand[0].worst:.1f} times its strength {_when(stretch)}"
    value = _percentile(share[measured.known], 99.0)
    return _finding("strength", value, tuning.max_torque, "% of strength, 99%", stretch, joint, text)


def _unrest(measured: FrameMeasures, tuning: CheckTuning) -> tuple[Finding, Finding]:
    jitter = 1000.0 * measured.jitter
    first, second = worst_stretch(measured.times, jitter), worst_stretch(measured.times, measured.jerk)
    trembles, jerks = _rms(jitter), _percentile(measured.jerk, 95.0)
    text = f"it trembles by {trembles:.1f} mm (rms), worst {_when(first)}"
    also = f"it jerks with {jerks:.0f} m/s³ in one frame of twenty, worst {_when(second)}"
    return (
        _finding("jitter", trembles, tuning.max_jitter, "mm rms", first, "", text),
        _finding("jerk", jerks, tuning.max_jerk, "m/s³, 95%", second, "", also),
    )


def verdict_of(findings: Sequence[Finding], hints: Sequence[str], measured: FrameMeasures) -> str:
    """A few sentences a person can act on."""
    bad = sorted((f for f in findings if not f.ok), key=lambda f: _GRAVE.index(f.name) if f.name in _GRAVE else 99)
    good = [f for f in findings if f.ok]
    if not bad:
        by_name = {f.name: f for f in findings}
        skate, force = by_name["skate"], by_name["force"]
        said = [f"feet skate {skate.value:.1f} cm/s"] if np.isfinite(measured.skate).any() else []
        said.append(f"{force.value:.1f}% of body weight from nowhere")
        head = f"Physically possible within the tolerances ({', '.join(said)})."
        return " ".join([head if len(measured.times) >= FEW else "Nothing speaks against it.", *hints])
    head = "Not physically possible:" if bad[0].name in _GRAVE else "Possible, but not clean:"
    body = "; ".join(f.text for f in bad) + "."
    rest = f" Within tolerance: {', '.join(f.name for f in good)}." if good else ""
    return " ".join([head, body + rest, *hints])


def hints_of(
    frames: Frames, support: Support, findings: Sequence[Finding], leaning: Carried | None, tuning: CheckTuning
) -> list[str]:
    """What a person should know to read the findings: other units, another axis up, another floor, too few frames."""
    who, bad = frames.character, [f.name for f in findings if not f.ok]
    out = []
    if not SMALLEST < who.height < LARGEST:
        out.append(f"The figure is {who.height:.3g} m tall: tell the file's units if that is not so (--units).")
    if bad and _upside_down(frames):
        out.append("It is upside down all the time: tell which axis is up if that is not meant (--up).")
    elif bad and float(np.median(com_of(who, frames.raw)[:, 2])) < support.floor:
        out.append("Most of it is below the floor: tell the floor (--floor fit) or which axis is up (--up).")
    if len(frames) < FEW:
        out.append(
            f"{len(frames)} frame{'s are' if len(frames) > 1 else ' is'} too few to judge forces, skate or jerk."
        )
        return out
    if float(np.ptp(frames.raw, axis=0).max(initial=0.0)) < STILL:
        out.append(f"It does not move: one pose for {frames.times[-1] - frames.times[0]:.2g} s.")
    off = 100.0 * support.resting
    if who.feet and not support.contacts:
        out.append("No foot was found standing.")
    elif abs(off) > min(tuning.max_float, tuning.max_penetration) and tuning.floor != "fit":
        place = "above" if off > 0.0 else "below"
        said = f"Its feet usually stand {abs(off):.1f} cm {place} the floor"
        out.append(f"{said}: if the floor is there, say floor='fit' (--floor fit).")
    if "float" in bad or "penetration" in bad:
        out += _tilted(support)
    if leaning is not None and "force" in bad:
        named = f", such as {leaning.phrase}" if leaning.bodies else ""
        out.append(
            f"If it sits, leans or holds on to something that is not shown {_when((1.0, leaning.start, leaning.end))}, "
            f"name what does (--hold BODY@START+DURATION{named})."
        )
    return out


def _tilted(support: Support) -> list[str]:
    """Whether the feet stand the higher the further they are: the plane through all places where one stands."""
    flags = support.planted
    heights = support.heights[flags]
    if len(heights) < 10:
        return []
    at = support.places[flags][:, :2]
    at = at - at.mean(axis=0)
    slope = np.linalg.lstsq(at, heights - heights.mean(), rcond=None)[0]
    climb, left = at @ slope, heights - heights.mean() - at @ slope
    way = float(np.ptp(at @ slope) / max(float(np.linalg.norm(slope)), 1e-9))
    if np.ptp(climb) < CLIMB or way < 1.0 or left.var() > 0.3 * heights.var():
        return []
    return [
        f"Its floor seems to be tilted by {np.degrees(np.arctan(np.linalg.norm(slope))):.1f} deg: the feet climb "
        f"{100.0 * np.ptp(climb):.0f} cm over {way:.1f} m."
    ]


def _upside_down(frames: Frames) -> bool:
    """Whether the head is far below the feet in all but a few frames."""
    who = frames.character
    limbs = anatomy_of(who).limbs
    feet = [bodies[0] for limb, bodies in limbs.items() if limb.startswith("foot")]
    if not feet or "head" not in limbs:
        return False
    at, _ = body_frames(who, frames.raw)
    lower = at[:, limbs["head"][-1], 2] < at[:, feet, 2].mean(axis=1) - 0.3 * who.height
    return bool(lower.mean() > 0.9)


def _played(speed: float) -> str:
    """What a flight's speed says, where it says anything: a jump in slow motion falls too slowly."""
    if not np.isfinite(speed) or abs(speed - 1.0) < OTHER_SPEED:
        return ""
    return (
        f", as if played {1.0 / speed:.1f} times too slowly"
        if speed < 1.0
        else f", as if played {speed:.1f} times too fast"
    )


def _why(measured: FrameMeasures, stretch: tuple[float, float, float], tuning: CheckTuning) -> str:
    """What is wrong with the force in a stretch: no contact at all, pulled down, too much friction, off its feet."""
    if not np.isfinite(stretch[1]):
        return ""
    here = (measured.times >= stretch[1] - 1e-9) & (measured.times <= stretch[2] + 1e-9)
    if measured.flight[here].mean() > 0.5:
        return " (nothing touches the ground there)"
    at = np.flatnonzero(here)[int(measured.violation[here].argmax())]
    if measured.needed[at, 5] < 0.0:
        return " (the ground would have to pull)"
    reasons = []
    if measured.outside[at] > 0.01:
        reasons.append(f"the centre of pressure would lie {100 * measured.outside[at]:.0f} cm outside the feet")
    if measured.friction[at] > tuning.friction:
        reasons.append(f"friction of {measured.friction[at]:.1f} would be needed")
    return f" ({', and '.join(reasons)})" if reasons else ""


def _foot(who: Character, number: int) -> str:
    foot = who.feet[number]
    return f"{foot.side} foot" if foot.side in ("left", "right") and len(who.feet) == 2 else foot.name


def _worst_column(times: Array, values: Array, names: Sequence[str]) -> tuple[tuple[float, float, float], str]:
    each = [worst_stretch(times, values[:, k]) for k in range(values.shape[1])]
    if not each:
        return _NEVER, "feet"
    k = int(np.argmax([e[0] for e in each]))
    return each[k], names[k]


def _more(several: Sequence[JointExcess]) -> str:
    return f" (and {len(several) - 1} more)" if len(several) > 1 else ""


def _when(stretch: tuple[float, float, float]) -> str:
    _, start, end = stretch
    if not np.isfinite(start):
        return "at no time"
    return f"at {start:.2f} s" if end - start < 0.015 else f"at {start:.2f}-{end:.2f} s"


def _rms(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(known**2))) if known.size else 0.0


def _percentile(values: Array, share: float) -> float:
    known = values[np.isfinite(values)]
    return float(np.percentile(known, share)) if known.size else 0.0
