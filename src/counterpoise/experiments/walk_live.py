"""Sliders moved while it walks: speed, step, height, lean and the body's proportions, in one session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.control.walk import Walk
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import ENOUGH, how_it_fell
from counterpoise.measure import Gait
from counterpoise.simulate.session import Session
from counterpoise.simulate.start import disturbed_start

SETTLE = 3.0  # [s] after a change, before it is measured
WITHIN = 0.10  # of what was asked
Change = Callable[[Walk, Character], tuple[Walk, Character]]
CHANGES: dict[str, tuple[Change, Callable[[Gait], float] | None, float]] = {
    "speed 0.8": (lambda w, c: (replace(w, speed=0.8), c), lambda g: g.speed, 0.8),
    "speed 1.4": (lambda w, c: (replace(w, speed=1.4), c), lambda g: g.speed, 1.4),
    "step 0.5 at 1.0": (lambda w, c: (replace(w, speed=1.0, step=0.5), c), lambda g: g.step_length, 0.5),
    "time 0.6 at 1.0": (lambda w, c: (replace(w, step=None, time=0.6), c), lambda g: g.step_time, 0.6),
    "height 0.08": (lambda w, c: (replace(w, time=None, height=0.08), c), lambda g: g.step_height, 0.08),
    "lean 10 deg": (lambda w, c: (replace(w, height=None, lean=np.radians(10.0)), c), None, 0.0),
    "arms x2": (lambda w, c: (replace(w, lean=0.0), character("human").rescaled({"arms": 2.0})), None, 0.0),
    "head x2": (lambda w, c: (w, character("human").rescaled({"head": 2.0})), None, 0.0),
    "legs x0.8": (lambda w, c: (replace(w, speed=0.9), character("human").rescaled({"legs": 0.8})), None, 0.0),
}


@dataclass(frozen=True)
class WalkLiveSettings:
    """Every change lasts for some seconds, one after the other."""

    seconds: float = setting(8.0, "s", "of each change")
    starts: int = setting(20, "", "random starts")


def run(settings: WalkLiveSettings, lab: Lab) -> Outcome:
    """Moves every slider in turn while it walks."""
    found: dict[str, list[float]] = {name: [] for name in CHANGES}
    falls: list[str] = []
    for seed in range(settings.starts):
        human, walk = character("human"), Walk(speed=1.2)
        session = Session(human, walk, start=disturbed_start(human, seed), keep=None)
        session.advance(5.0)
        fall = ""
        for name, (change, value, _) in CHANGES.items():
            walk, body = change(walk, session.character)
            if body is not session.character:
                session.character = body
            session.controller = walk
            recording = session.advance(settings.seconds)
            fall = how_it_fell(recording)
            if fall:
                fall = f"{name}: {fall}"
                break
            if value is not None:
                found[name].append(value(measure.gait(recording, recording.time[0] + SETTLE)))
        falls.append(fall)
        if seed == 0:
            lab.recordings["live"] = session.recordings[0]
        lab.report("walking", (seed + 1) / settings.starts)
    good = sum(not fall for fall in falls)
    why = "; ".join(f"{falls.count(f)} x {f}" for f in dict.fromkeys(f for f in falls if f))
    claims = [
        Claim(
            "walks on through every change, in 19 of 20 starts",
            f"{good} of {settings.starts}{': ' + why if why else ''}",
            good >= ENOUGH * settings.starts,
        )
    ]
    for name, values in found.items():
        asked = CHANGES[name][2]
        if values:
            near = sum(abs(v / asked - 1.0) <= WITHIN for v in values)
            text = f"{near} of {len(values)} within; mean {np.mean(values):.3f}, {min(values):.3f} to {max(values):.3f}"
            claims.append(Claim(f"{name}: within 10 % of what was asked", text, near >= ENOUGH * settings.starts))
    film = Film("live", azimuth=-90.0, count=16, columns=8, panel=(170, 220))
    return Outcome(tuple(claims), {}, film, {"falls": falls, "values": found})


EXPERIMENT = Experiment(
    name="walk-live",
    summary="speed, step, time, height, lean and body proportions change while it walks",
    source="de Lasa 2011, section 4.3 (interactive parameters)",
    settings=WalkLiveSettings,
    run=run,
)
