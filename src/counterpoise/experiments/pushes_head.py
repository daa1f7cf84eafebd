"""Pushes at the head from random directions, while it stands, walks and runs (de Lasa 2011, section 5.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise.control.locomotion import Locomotion
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.going import RUNS, WALKS, a_moment, go_on
from counterpoise.experiments.trials import Trial, run_trials
from counterpoise.simulate.disturbances import Push

GAITS = {"stands": 0.0, "walks": 1.2, "runs": 2.5}  # [m/s]
PUSHES = ((100.0, 0.1), (200.0, 0.1), (300.0, 0.1), (500.0, 0.1), (300.0, 0.2), (500.0, 0.2))  # [N, s]
STANDS = 0.5  # [s] before a push of a body that stands
AFTER = 4.0  # [s] that it is watched


@dataclass(frozen=True)
class HeadPushesSettings:
    """The thesis shows 100 to 500 N for 0.1 to 0.2 s. Survived: it has not fallen 4 s later."""

    trials: str = setting("all", "", "names separated by commas, or all: gait-force-duration, such as walks-300-0.1")
    part: str = setting("head", "", "that is pushed")
    starts: int = setting(20, "", "random starts, moments and directions of each")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: HeadPushesSettings, lab: Lab) -> Outcome:
    """Pushes at the head."""
    if settings.part not in ("head", "thorax", "pelvis"):
        raise BadValue(f"what is pushed is head, thorax or pelvis; got {settings.part!r}")
    trials = {
        f"{gait}-{force:g}-{time:g}": Trial(
            f"{force:g} N for {time:g} s at the {settings.part}, it {gait}",
            partial(pushed, speed=speed, force=force, time=time, part=settings.part),
        )
        for gait, speed in GAITS.items()
        for force, time in PUSHES
    }
    return run_trials(lab, EXPERIMENT.name, "push", trials, settings.trials, settings.starts, settings.first_seed)


def pushed(lab: Lab, name: str, seed: int, speed: float, force: float, time: float, part: str) -> str:
    """Pushes it at a random moment of a stride, from a random side. Returns how it fell; empty where it did not."""
    earliest = RUNS if speed > 1.9 else WALKS if speed > 0.0 else STANDS
    at = a_moment(seed, earliest)[0] if speed > 0.0 else earliest
    way = 2.0 * math.pi * float(np.random.default_rng([seed, 1]).uniform())
    push = Push(part, (force * math.cos(way), force * math.sin(way), 0.0), at, time)
    recording, fall = go_on(lab, name, seed, speed, at, Locomotion(speed), AFTER, disturbances=[push])
    if fall:
        return f"{math.degrees(way):.0f} degrees from forward: {fall}"
    stands = speed > 0.0 or str(recording.notes["phase"][-1]) == "stand"
    return "" if stands else "does not stand at the end"


EXPERIMENT = Experiment(
    name="pushes-head",
    summary="pushes of 100 to 500 N at the head, standing, walking and running",
    source="de Lasa 2011, section 5.4",
    settings=HeadPushesSettings,
    run=run,
)
