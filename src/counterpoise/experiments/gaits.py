"""Gaits on level ground: runs at several speeds, hops on one leg, walks forward, backward and to the side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise import measure
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.locomotion.gait_change import Gait
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Experiment, Lab, Outcome, setting
from counterpoise.experiments.going import RUNS, go, go_on, speed_between, yaws
from counterpoise.experiments.trials import Trial, run_trials

SPEEDS = 2.0, 2.5, 3.0, 3.5, 4.0  # [m/s] of runs
NEAR = 0.1  # [share of the speed]
FLIGHT = 0.2, 0.45  # share of the time of a run in the air
MOST_YAW = 10.0  # [deg] of the hips, mean over a stride
STRIDE = 0.72  # [s] of a run
SIDEWAYS = {"back": (-0.5, 0.0), "left": (0.0, 0.25), "right": (0.0, -0.25)}  # [m/s] forward, left
GOES = 10.0  # [s] of those
HOPS = 0.6  # [m/s] on one leg
HOPS_FROM, HOPS_TO = 1.0, 11.0  # [s] when that is asked for, and when it is to stand again
HOPS_STEADILY = 4.0  # [s] from then on the speed is measured
LEAST_HOPS = 10
IDLE_FOOT: dict[Gait, str] = {"hop_left": "right", "hop_right": "left"}
STANDS = 5.0  # [s] given for that
SETTLE = 4.0  # [s] from standing


@dataclass(frozen=True)
class GaitsSettings:
    """A run keeps its speed within 10 %, flies 20 to 45 % of the time, and its hips face ahead within 10 degrees."""

    trials: str = setting("all", "", "names separated by commas, or all")
    seconds: float = setting(30.0, "s", "of a run, after the 10 s in which it begins")
    starts: int = setting(20, "", "random starts of each")
    first_seed: int = setting(0, "", "of the random starts")


def run(settings: GaitsSettings, lab: Lab) -> Outcome:
    """Runs and walks."""
    if not settings.seconds >= 2.0:
        raise BadValue(f"a run is measured for 2 s or more; got {settings.seconds!r}")
    trials = {
        f"run-{speed:g}": Trial(
            f"run {speed:g} m/s for {settings.seconds:g} s", partial(run_at, speed=speed, seconds=settings.seconds)
        )
        for speed in SPEEDS
    }
    for name, speeds in SIDEWAYS.items():
        size = max(abs(one) for one in speeds)
        trials[name] = Trial(f"walk {'to the ' * (name != 'back')}{name} at {size:g} m/s", partial(walk, speeds=speeds))
    for hop, other in IDLE_FOOT.items():
        words = f"hop on one leg at {HOPS:g} m/s, the {other} one in the air, then stand"
        trials[hop.replace("_", "-")] = Trial(words, partial(hops_and_stands, hop=hop))
    return run_trials(lab, EXPERIMENT.name, "gait", trials, settings.trials, settings.starts, settings.first_seed)


def run_at(lab: Lab, name: str, seed: int, speed: float, seconds: float) -> str:
    """Runs. Returns what was wrong; empty where nothing was."""
    recording, fall = go_on(lab, name, seed, speed, RUNS, Locomotion(speed), seconds)
    if fall:
        return fall
    found = measure.gait(recording, RUNS)
    over = max(1, round(STRIDE / recording.timestep))
    mean = np.convolve(yaws(recording), np.full(over, 1.0 / over), "valid")
    yaw = math.degrees(float(np.abs(mean).max()))
    faults = []
    if abs(found.speed / speed - 1.0) > NEAR:
        faults.append(f"{found.speed:.2f} m/s")
    if not FLIGHT[0] <= found.flight <= FLIGHT[1]:
        faults.append(f"flies {100.0 * found.flight:.0f} % of the time")
    if yaw > MOST_YAW:
        faults.append(f"faces {yaw:.0f} degrees aside")
    return ", ".join(faults)


def walk(lab: Lab, name: str, seed: int, speeds: tuple[float, float]) -> str:
    """Walks backward or to a side. Returns what was wrong; empty where nothing was."""
    recording, fall = go(lab, name, seed, Locomotion(speeds), GOES)
    if fall:
        return fall
    com = measure.com(recording)
    way = (com[-1] - com[recording.row_at(SETTLE)])[:2] / (GOES - SETTLE)
    off = float(np.hypot(*(way - speeds)))
    return f"goes {way[0]:.2f} forward, {way[1]:.2f} m/s to the left" if off > 2.0 * NEAR * math.hypot(*speeds) else ""


def hops_and_stands(lab: Lab, name: str, seed: int, hop: Gait) -> str:
    """Hops on one leg, then stands. Returns what was wrong; empty where nothing was."""

    def gait(now: float) -> Gait:
        return hop if HOPS_FROM <= now < HOPS_TO else "auto"

    controller = Locomotion(lambda now: HOPS if now < HOPS_TO else 0.0, gait=gait)
    recording, fall = go(lab, name, seed, controller, HOPS_TO + STANDS)
    if fall:
        return fall
    phases = np.array([str(phase) for phase in recording.notes["phase"]])
    each = recording.duration / len(phases)
    flights = np.flatnonzero((phases[1:] == "flight") & (phases[:-1] != "flight")) * each
    if len(flights) < LEAST_HOPS:
        return f"only {len(flights)} hops"
    first, last = recording.row_at(float(flights[0])), recording.row_at(float(flights[-1]))
    force = measure.foot_forces(recording)[f"foot_{IDLE_FOOT[hop]}"]
    found = speed_between(recording, HOPS_STEADILY, float(flights[-1]))
    air = float(np.mean(phases[int(flights[0] / each) : int(flights[-1] / each)] == "flight"))
    faults = []
    if np.abs(force[first:last]).max() > 0.0:
        faults.append("the other foot touches the ground")
    if abs(found / HOPS - 1.0) > NEAR:
        faults.append(f"{found:.2f} m/s")
    if not FLIGHT[0] <= air <= FLIGHT[1]:
        faults.append(f"flies {100.0 * air:.0f} % of the time")
    if phases[-1] != "stand":
        faults.append("does not stand at the end")
    return ", ".join(faults)


EXPERIMENT = Experiment(
    name="gaits",
    summary="runs at 2 to 4 m/s, hops on one leg, walks backward and to the side",
    source="de Lasa 2011, section 5.4",
    settings=GaitsSettings,
    run=run,
)
