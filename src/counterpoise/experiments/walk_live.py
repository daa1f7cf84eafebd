"""Sliders moved while it walks: speed, step, time, height, lean, the body's proportions, and a stop, in one session."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import ENOUGH, how_it_fell, steps_to_start, steps_to_stop
from counterpoise.measure import Gait
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.session import Session
from counterpoise.simulate.start import disturbed_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTLE = 3.0  # [s] after a change, before it is measured
MEASURED = 2.5  # [s] a gait is measured for this long or longer: three landings
FIRST = 5.0  # [s] at the first speed, from standing
WITHIN = 0.10  # of what was asked
MOST_STEPS = 3  # to the first speed, and to a stop
OCTAVE = 2.0  # [s] in which the slider of a part moves by a factor of 2
STILL = 1.0  # [s] between two moves
FRAME = 0.2  # [s] between two bodies while a slider moves
STOP = 4.0  # [s]
PARTS = {"arms": ("arms",), "legs": ("legs",), "trunk": ("abdomen", "thorax"), "head": ("head",)}
MARKS = (2.0, 0.5, 1.0)  # to which each slider is moved, from 1
Change = Callable[[Walk], Walk]
CHANGES: dict[str, tuple[Change, Callable[[Gait], float] | None, float]] = {
    "speed 0.8": (lambda w: replace(w, speed=0.8), lambda g: g.speed, 0.8),
    "speed 1.4": (lambda w: replace(w, speed=1.4), lambda g: g.speed, 1.4),
    "step 0.5 at 1.0": (lambda w: replace(w, speed=1.0, step=0.5), lambda g: g.step_length, 0.5),
    "time 0.6 at 1.0": (lambda w: replace(w, step=None, time=0.6), lambda g: g.step_time, 0.6),
    "height 0.08": (lambda w: replace(w, time=None, height=0.08), lambda g: g.step_height, 0.08),
    "lean 10 deg": (lambda w: replace(w, height=None, lean=np.radians(10.0)), None, 0.0),
}


@dataclass(frozen=True)
class WalkLiveSettings:
    """One session a start: from standing to 1.2 m/s, every slider in turn, and a stop."""

    seconds: float = setting(6.0, "s", "of each change of speed, step, time, height and lean")
    starts: int = setting(20, "", "random starts")
    first: int = setting(0, "", "seed of the first start")


@dataclass(frozen=True)
class LiveWalk:
    """What one start came to; `fall` says in words where it fell, empty where it did not."""

    fall: str
    values: dict[str, float]  # what was measured of each change
    start_steps: float  # before it walks at its first speed
    stop_steps: float  # from the wish to stop to standing


def run(settings: WalkLiveSettings, lab: Lab) -> Outcome:
    """Moves every slider in turn while it walks."""
    if settings.starts < 1 or settings.seconds < SETTLE + MEASURED:
        raise BadValue(
            f"walk-live takes 1 start or more, and changes of {SETTLE + MEASURED:g} s or more; got {settings.starts}, "
            f"{settings.seconds:g} s"
        )
    found = []
    for k in range(settings.starts):
        found.append(walk_live(settings.first + k, settings.seconds, lab if k == 0 else None))
        lab.report("walking", (k + 1) / settings.starts)
    film = Film("live", azimuth=-90.0, count=16, columns=8, panel=(170, 220))
    marks = [f"legs_x{mark:g}" for mark in MARKS if f"legs_x{mark:g}" in lab.recordings]
    legs = {name: Film(name, azimuth=-90.0, count=8, columns=8, panel=(170, 220)) for name in marks}
    facts = {"starts": [vars(one) for one in found]}
    return Outcome(tuple(_claims(found)), {"live": _plot(found)}, film, facts, legs)


def walk_live(seed: int, seconds: float, lab: Lab | None = None) -> LiveWalk:
    """Returns what one start came to. A lab keeps the recordings of the sliders."""
    human, walk = character("human"), Walk(speed=1.2)
    session = Session(human, walk, start=disturbed_start(human, seed), keep=None)
    first = _advance(session, FIRST)
    values: dict[str, float] = {}
    started, fall = steps_to_start(first, 1.2), how_it_fell(first)
    for name, (change, value, _) in CHANGES.items():
        if fall:
            return LiveWalk(fall, values, started, math.nan)
        walk = change(walk)
        session.controller = walk
        recording = _advance(session, seconds)
        fall = _named(name, how_it_fell(recording))
        if value is not None and not fall:
            values[name] = value(measure.gait(recording, recording.time[0] + SETTLE))
    if lab is not None:
        lab.recordings["live"] = session.recordings[0]
    session.controller = Walk()  # at the usual speed of the body of the moment
    for part in PARTS:
        if fall:
            return LiveWalk(fall, values, started, math.nan)
        fall = _slide(session, part, lab if part == "legs" else None)
    if fall:
        return LiveWalk(fall, values, started, math.nan)
    session.controller = Walk(speed=0.0)
    last = _advance(session, STOP)
    return LiveWalk(_named("stop", how_it_fell(last)), values, started, steps_to_stop(last))


def _slide(session: Session, part: str, lab: Lab | None = None) -> str:
    """Moves the slider of one part of the body through its marks. Returns how it fell; empty where it walks on.

    A lab keeps the recordings at the marks.
    """
    now = 1.0
    for mark in MARKS:
        octaves = abs(math.log2(mark / now))
        count = round(OCTAVE * octaves / FRAME)
        for k in range(1, count + 1):
            factor = now * (mark / now) ** (k / count)
            session.character = _body(part, round(factor, 6))
            fall = how_it_fell(_advance(session, FRAME))
            if fall:
                return _named(f"{part} x{factor:.2f}", fall)
        now = mark
        still = _advance(session, STILL)
        if lab is not None:
            lab.recordings[f"{part}_x{mark:g}"] = still
        fall = how_it_fell(still)
        if fall:
            return _named(f"{part} x{mark:g}", fall)
    return ""


@cache
def _body(part: str, factor: float) -> Character:
    human = character("human")
    return human if factor == 1.0 else human.rescaled(dict.fromkeys(PARTS[part], factor))


def _advance(session: Session, seconds: float) -> Recording:
    recording = session.advance(seconds)
    if recording.status == "interrupted":
        raise KeyboardInterrupt
    return recording


def _named(name: str, fall: str) -> str:
    return f"{name}: {fall}" if fall else ""


def _claims(found: list[LiveWalk]) -> list[Claim]:
    n, falls = len(found), [one.fall for one in found]
    good = falls.count("")
    why = "; ".join(f"{falls.count(f)} x {f}" for f in dict.fromkeys(f for f in falls if f))
    claims = [
        Claim(
            "walks on through every change, arms, legs, trunk and head from x1 to x2 to x0.5 and back among them, in "
            "19 of 20 starts",
            f"{good} of {n}{': ' + why if why else ''}",
            good >= ENOUGH * n,
        )
    ]
    for text, counts in (
        ("walks at 95 % of 1.2 m/s after 3 steps or fewer", [one.start_steps for one in found]),
        ("stands after 3 steps or fewer when it shall stop", [one.stop_steps for one in found]),
    ):
        soon = sum(count <= MOST_STEPS for count in counts)
        how = ", ".join(f"{counts.count(c)} x {c:g}" for c in sorted({c for c in counts if math.isfinite(c)}))
        claims.append(Claim(f"{text}, in 19 of 20 starts", f"{soon} of {n} (steps: {how})", soon >= ENOUGH * n))
    for name, (_, value, asked) in CHANGES.items():
        values = [one.values[name] for one in found if name in one.values]
        if value is not None and values:
            near = sum(abs(v / asked - 1.0) <= WITHIN for v in values)
            text = f"{near} of {n} within; mean {np.mean(values):.3f}, {min(values):.3f} to {max(values):.3f}"
            claims.append(Claim(f"{name}: within 10 % of what was asked", text, near >= ENOUGH * n))
    return claims


def _plot(found: list[LiveWalk]) -> Figure:
    """Draws what was measured of each change, beside what was asked."""
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(8.0, 2.6), layout="constrained")
    axis = drawing.subplots()
    asked = {name: aim for name, (_, value, aim) in CHANGES.items() if value is not None}
    for row, (name, aim) in enumerate(asked.items()):
        x = [100.0 * (one.values[name] / aim - 1.0) for one in found if name in one.values]
        axis.plot(x, np.full(len(x), row), "o", markersize=3.5, alpha=0.5, color=palette.FIGURES[0])
    axis.axvspan(-100.0 * WITHIN, 100.0 * WITHIN, color=palette.FIGURES[0], alpha=0.08, linewidth=0.0)
    axis.set_yticks(range(len(asked)), list(asked), fontsize=8)
    axis.set_ylim(len(asked) - 0.5, -0.5)
    style_axis(axis, "")
    axis.set_xlabel("difference from what was asked [%]", fontsize=8)
    return drawing


EXPERIMENT = Experiment(
    name="walk-live",
    summary="speed, step, time, height, lean and the body's proportions change while it walks; start and stop",
    source="de Lasa 2011, section 4.3 (interactive parameters)",
    settings=WalkLiveSettings,
    run=run,
)
