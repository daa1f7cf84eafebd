"""Minutes of random wishes, pushes and ground: how often it falls.

Every other minute is on level ground, where it also runs; the others are on rough ground, where it walks. A minute
begins from a disturbed start. A fall ends it, and the next one begins: the time that it was up is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.library import character
from counterpoise.control.locomotion import Locomotion
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import how_it_fell
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.replay import replay
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import World
from counterpoise.terrain import Terrain, rough_ground

MINUTE = 60.0  # [s]
FALLS_EVERY = 180.0  # [s] on the hard setting, at most once
PAUSE = 3.0, 7.0  # [s] between two wishes, and between two pushes
WALK, RUN = 1.4, 3.0  # [m/s] the fastest
RUNS_FROM = 2.0  # [m/s]
SHARES = {"stand": 0.2, "walk": 0.55, "run": 0.25}  # of the wishes; on rough ground a run is a walk
TURN = math.radians(90.0)  # at most, from wish to wish
PUSHES = {"stand": 80.0, "walk": 60.0, "run": 30.0}  # [N s] at the thorax, at most
ROUGH = 0.05  # [m] height of rough ground
SIZE = 45.0  # [m] of the rough ground; outside of it the ground is level


@dataclass(frozen=True)
class WanderSettings:
    """The hard setting has turns, pushes and ground up to the issue's bars; the mild one up to half of them."""

    minutes: float = setting(10.0, "min", "how long")
    share: float = setting(1.0, "", "of the largest turns, pushes and bumps: 1 is hard, 0.5 is mild")
    seed: int = setting(0, "", "of the wishes, pushes, ground and starts")


class Script(NamedTuple):
    """What is asked of one minute, and what happens to it."""

    times: Array  # [s] of the wishes
    speeds: Array  # [m/s]
    headings: Array  # [rad]
    pushes: tuple[Push, ...]
    terrain: Terrain | None

    def at(self, values: Array, time: float) -> float:
        """Returns a wish at a time."""
        return float(values[max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)])


def random_script(seed: int, number: int, share: float) -> Script:
    """Returns the script of a minute."""
    rng = np.random.default_rng([seed, number])
    rough = number % 2 == 1
    times, speeds, headings, kinds = [0.0], [0.0], [0.0], ["stand"]
    while times[-1] < MINUTE:
        kind = str(rng.choice(list(SHARES), p=list(SHARES.values())))
        speed = {"stand": 0.0, "walk": rng.uniform(0.3, WALK), "run": rng.uniform(RUNS_FROM, RUN)}[kind]
        kind, speed = ("walk", min(speed, WALK)) if rough and kind == "run" else (kind, speed)
        times.append(times[-1] + float(rng.uniform(*PAUSE)))
        speeds.append(float(speed))
        headings.append(headings[-1] + share * float(rng.uniform(-TURN, TURN)))
        kinds.append(kind)
    pushes, at = [], float(rng.uniform(*PAUSE))
    while at < MINUTE - PAUSE[0]:
        now = int(np.searchsorted(times, at, side="right")) - 1
        most = min(PUSHES[kinds[now]], PUSHES[kinds[max(now - 1, 0)]])  # it may still be on its way to the new gait
        force, way = 10.0 * share * most * float(rng.uniform(0.2, 1.0)), float(rng.uniform(0.0, 2.0 * math.pi))
        pushes.append(Push("thorax", (force * math.cos(way), force * math.sin(way), 0.0), at, 0.1))
        at += float(rng.uniform(*PAUSE))
    ground = rough_ground((0.0, 0.0), (SIZE, SIZE), share * ROUGH, seed=int(rng.integers(1_000_000))) if rough else None
    terrain = None if ground is None else Terrain([ground])
    return Script(np.array(times), np.array(speeds), np.array(headings), tuple(pushes), terrain)


def run(settings: WanderSettings, lab: Lab) -> Outcome:
    """Goes about for some minutes."""
    if not (settings.minutes > 0.0 and 0.0 < settings.share <= 1.0):
        raise BadValue(f"minutes are positive, share is from 0 to 1; got {settings.minutes!r}, {settings.share!r}")
    human, total = character("human"), MINUTE * settings.minutes
    up, number, pushed, unsolved, falls = 0.0, 0, 0, 0, []
    exact = True
    while up < total - 1e-9:
        script = random_script(settings.seed, number, settings.share)
        world = World(terrain=script.terrain)
        speed, heading = partial(script.at, script.speeds), partial(script.at, script.headings)
        controller = Locomotion(speed, heading, terrain=script.terrain)
        start = disturbed_start(human, 1000 * settings.seed + number, world)
        seconds = min(MINUTE, total - up)
        recording = lab.simulate(
            "first minute" if number == 0 else "last minute", human, controller, seconds, world=world, start=start,
            disturbances=script.pushes, seed=number,
        )  # fmt: skip
        went, fall = float(recording.time[-1]), how_it_fell(recording)
        if fall:
            phases = [str(phase) for phase in recording.notes["phase"]]
            went = phases.index("fallen") * recording.duration / len(phases) if "fallen" in phases else went
            falls.append(f"minute {number + 1}, {'rough' if number % 2 else 'level'}, after {went:.1f} s: {fall}")
        up, number = up + went, number + 1
        pushed += sum(push.start < went for push in script.pushes)
        status = [str(one) for one in recording.notes["status"]]
        unsolved += sum(one not in ("solved", "fallen") for one in status)
        exact = exact and replay(recording).exact
        lab.report("going about", min(up / total, 1.0))
    hard = settings.share > 0.5
    most = total / FALLS_EVERY if hard else 0.0
    text = "at most one fall in three minutes" if hard else "no fall"
    why = "; ".join(falls)
    claims = (
        Claim(
            f"{settings.minutes:g} minutes of wishes, pushes and ground at {settings.share:g} of the bars: {text}",
            f"{len(falls)} falls in {up / MINUTE:.1f} minutes, {pushed} pushes{'; ' + why if why else ''}",
            len(falls) <= most,
        ),
        Claim("every tick is solved", f"{unsolved} were not", unsolved == 0),
        Claim("recordings replay exactly", "they do" if exact else "they do not", exact),
    )
    film = Film("first minute", azimuth=-90.0, elevation=8.0, count=16, columns=8, panel=(220, 260))
    return Outcome(claims, {}, film, {"falls": falls, "pushes": pushed, "seconds": up})


EXPERIMENT = Experiment(
    name="wander",
    summary="minutes of random wishes, pushes and rough ground",
    source="ours",
    settings=WanderSettings,
    run=run,
)
