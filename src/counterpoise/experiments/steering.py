"""Turns, asked for at a random moment: walking, running, and on the spot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise.control.locomotion import Locomotion
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.going import RUNS, WALKS, a_moment, go_on, speed_between, yaws
from counterpoise.experiments.trials import Trial, run_trials

NEAR = math.radians(10.0)  # it faces where it is to
AFTER = 3.0  # [s] that it goes on after the turn
RUN_RATE = 45.0  # [deg/s]
TURNED = 0.1, 0.9  # shares of a turn between which its rate is measured


@dataclass(frozen=True)
class SteeringSettings:
    """A turn is asked for at once, to a random side. The hips face there in time, and it goes on without a fall."""

    trials: str = setting("all", "", "names separated by commas, or all")
    walk: float = setting(1.2, "m/s", "asked for; it slows down by itself for a turn")
    run: float = setting(2.5, "m/s", "asked for; it slows down by itself for a turn")
    starts: int = setting(20, "", "random starts and moments of each")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: SteeringSettings, lab: Lab) -> Outcome:
    """Turns by 90 and 180 degrees, walking, running and on the spot."""
    trials = {
        "walk-90": Trial("90 degrees in 2 s, walking", partial(turn, speed=settings.walk, degrees=90.0, seconds=2.0)),
        "walk-180": Trial(
            "180 degrees in 4 s, walking", partial(turn, speed=settings.walk, degrees=180.0, seconds=4.0)
        ),
        "run-180": Trial("180 degrees at 45 degrees/s, running", partial(curve, speed=settings.run, degrees=180.0)),
        "spot-180": Trial("180 degrees on the spot in 8 s", partial(turn, speed=0.0, degrees=180.0, seconds=8.0)),
    }
    return run_trials(lab, EXPERIMENT.name, "turn", trials, settings.trials, settings.starts, settings.first_seed)


def turn(lab: Lab, name: str, seed: int, speed: float, degrees: float, seconds: float) -> str:
    """Walks, and is to face elsewhere at a random moment. Returns what was wrong; empty where nothing was."""
    at, side = a_moment(seed, WALKS if speed > 0.0 else 0.5)
    aim = side * math.radians(degrees)
    recording, fall = go_on(lab, name, seed, speed, at, Locomotion(speed, heading=aim), seconds + AFTER)
    if fall:
        return fall
    facing = yaws(recording)
    off = abs(facing[recording.row_at(at + seconds)] - aim)
    if off > NEAR:
        return f"{math.degrees(off):.0f} degrees are missing"
    ends = abs(facing[-1] - aim)
    return f"faces {math.degrees(ends):.0f} degrees beside it at the end" if ends > NEAR else ""


def curve(lab: Lab, name: str, seed: int, speed: float, degrees: float) -> str:
    """Runs, and is to run elsewhere. Returns what was wrong; empty where it turns fast enough and runs on."""
    at, side = a_moment(seed, RUNS)
    aim = side * math.radians(degrees)
    seconds = degrees / RUN_RATE + 2.0 * AFTER
    recording, fall = go_on(lab, name, seed, speed, at, Locomotion(speed, heading=aim), seconds)
    if fall:
        return fall
    facing = side * yaws(recording)
    first, last = (
        float(recording.time[int(np.argmax(facing > share * abs(aim)))]) if (facing > share * abs(aim)).any() else 0.0
        for share in TURNED
    )
    if last <= first:
        return f"turns by {math.degrees(facing.max()):.0f} degrees only"
    rate = (TURNED[1] - TURNED[0]) * degrees / (last - first)
    ends = abs(facing[-1] - abs(aim))
    slow = speed_between(recording, first, last)
    if rate < RUN_RATE or ends > 2.0 * NEAR:
        return f"{rate:.0f} degrees/s at {slow:.1f} m/s, {math.degrees(ends):.0f} degrees beside it at the end"
    return ""


EXPERIMENT = Experiment(
    name="steering",
    summary="turns at a random moment: walking, running, on the spot",
    source="de Lasa 2011, section 5.4",
    settings=SteeringSettings,
    run=run,
)
