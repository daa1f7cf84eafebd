"""From one gait to another at a random moment: stand, walk, run, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from counterpoise.control.locomotion import Locomotion
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.going import RUNS, WALKS, a_moment, go_on, landings, speed_between, stands_from
from counterpoise.experiments.trials import Trial, run_trials

MOST_STEPS = 5  # from a run to standing
CHANGES = 6.0  # [s] given for a change of gait
LOOKED_AT = 3.0  # [s] over which a speed is measured
NEAR = 0.1  # [share of the speed]
STOPS = 6.0  # [s] given to stop, and to stand


@dataclass(frozen=True)
class TransitionsSettings:
    """A change of speed is asked for at once, at a random moment of a stride."""

    trials: str = setting("all", "", "names separated by commas, or all")
    walk: float = setting(1.2, "m/s", "speed of the walk")
    run: float = setting(3.0, "m/s", "speed of the run")
    starts: int = setting(20, "", "random starts and moments of each")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: TransitionsSettings, lab: Lab) -> Outcome:
    """Changes from gait to gait."""
    walk, fast = settings.walk, settings.run
    slow = min(2.0, fast)
    trials = {
        "walk-run-walk": Trial(f"walk {walk:g}, run {fast:g}, walk {walk:g} m/s", partial(there_and_back, walk, fast)),
        "run-stand-slow": Trial(f"run {slow:g} m/s to stand in 5 steps", partial(stop, slow)),
        "run-stand": Trial(f"run {fast:g} m/s to stand in 5 steps", partial(stop, fast)),
        "walk-stand": Trial(f"walk {walk:g} m/s to stand in 5 steps", partial(stop, walk)),
    }
    return run_trials(lab, EXPERIMENT.name, "change", trials, settings.trials, settings.starts, settings.first_seed)


def there_and_back(walk: float, fast: float, lab: Lab, name: str, seed: int) -> str:
    """Walks, runs and walks. Returns what was wrong; empty where nothing was."""
    at, _ = a_moment(seed, WALKS)
    back = at + RUNS
    end = back + CHANGES + LOOKED_AT
    recording, fall = go_on(lab, name, seed, walk, at, Locomotion(lambda t: fast if t < back else walk), end - at)
    if fall:
        return fall
    faults = []
    for asked, last in ((fast, back), (walk, end)):
        found = speed_between(recording, last - LOOKED_AT, last)
        if abs(found / asked - 1.0) > NEAR:
            faults.append(f"{found:.2f} m/s instead of {asked:g}")
    return ", ".join(faults)


def stop(speed: float, lab: Lab, name: str, seed: int) -> str:
    """Goes, and is to stand. Returns what was wrong; empty where it stands after five steps or fewer."""
    at, _ = a_moment(seed, RUNS if speed > 1.9 else WALKS)
    recording, fall = go_on(lab, name, seed, speed, at, Locomotion(0.0), STOPS)
    if fall:
        return fall
    stands = stands_from(recording, at)
    if stands == math.inf:
        return "does not stand"
    steps = landings(recording, at, stands)
    return f"{steps} steps" if steps > MOST_STEPS else ""


EXPERIMENT = Experiment(
    name="transitions",
    summary="walk to run and back, run to stand, at a random moment",
    source="de Lasa 2011, section 5.4",
    settings=TransitionsSettings,
    run=run,
)
