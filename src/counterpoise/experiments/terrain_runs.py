"""Runs over gaps: steps in front of a gap become longer or shorter, and one flight passes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise import measure
from counterpoise.character.library import character
from counterpoise.control.locomotion import Locomotion
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.going import RUNS, go_on, under_way
from counterpoise.experiments.trials import Trial, run_trials
from counterpoise.simulate.world import World
from counterpoise.terrain import Gap, Terrain

GAPS = 0.5, 0.7, 0.9  # [m]
AHEAD, SPREAD = 12.0, 1.4  # [m] to the first gap: at least, and at random
BETWEEN = 14.0  # [m] from one gap to the next
COUNT = 2  # gaps
BEHIND = 3.0  # [m] that it runs on


@dataclass(frozen=True)
class TerrainRunsSettings:
    """Two gaps, the first one at a random place ahead of a body that runs. Passed: it runs on behind the last one."""

    trials: str = setting("all", "", "names separated by commas, or all: gap-0.5, gap-0.7, gap-0.9")
    speed: float = setting(3.6, "m/s", "of the run")
    starts: int = setting(20, "", "random starts and places of the gaps")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: TerrainRunsSettings, lab: Lab) -> Outcome:
    """Runs over gaps."""
    trials = {
        f"gap-{wide:g}": Trial(f"two gaps of {wide:g} m, running", partial(over_gaps, wide=wide, speed=settings.speed))
        for wide in GAPS
    }
    return run_trials(lab, EXPERIMENT.name, "gap", trials, settings.trials, settings.starts, settings.first_seed)


def over_gaps(lab: Lab, name: str, seed: int, wide: float, speed: float) -> str:
    """Runs over two gaps. Returns what was wrong; empty where nothing was."""
    state, _, _ = under_way(speed, seed, RUNS)
    place = character("human").snapshot(state).com
    first = float(place[0]) + AHEAD + SPREAD * float(np.random.default_rng([seed, 2]).uniform())
    starts = [first + BETWEEN * k for k in range(COUNT)]
    terrain = Terrain([Gap((x + 0.5 * wide, float(place[1])), (wide, 8.0)) for x in starts])
    end = starts[-1] + wide + BEHIND
    seconds = 1.2 * (end - float(place[0])) / speed
    controller = Locomotion(speed, terrain=terrain)
    recording, fall = go_on(lab, name, seed, speed, RUNS, controller, seconds, world=World(terrain=terrain))
    if fall:
        return fall
    com = measure.com(recording)
    went = float(com[:, 0].max())
    return "" if went > end else f"only {went - first:.1f} m behind the first edge"


EXPERIMENT = Experiment(
    name="terrain-runs",
    summary="runs over gaps of 0.5 to 0.9 m",
    source="de Lasa 2011, figure 5.5",
    settings=TerrainRunsSettings,
    run=run,
)
