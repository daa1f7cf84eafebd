"""Stunts planned by `optimize_motion` with a reserve and performed by `Perform`, from many disturbed starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.control.perform import Perform, PlannedMotion, plan_of_result, with_reserve
from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.measure.balance import touch_down_of_others
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.replay import replay
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import World
from counterpoise.spacetime.stunt.stunt import read_stunt
from counterpoise.terrain import Box, Terrain

VAULT_BOX = Terrain([Box((0.8, 0.0), (0.3, 0.9), 0.8)])
PUSH, PUSH_TIME = 60.0, 0.1  # [N], [s]
AFTER = 3.0  # [s] simulated after the plan ...
AFTER_STEPS = 15.0  # [s] ... and where it is not done then, because it stepped and went on later, or began again
STILL = 0.15  # [m/s] of the CoM at the end
ENOUGH, ENOUGH_PUSHED = 0.85, 0.7  # shares of the starts: 17 and 14 of 20
TRACKING = 8.0  # [deg] largest median error of the joints


@dataclass(frozen=True)
class StuntCase:
    """One stunt to be performed."""

    file: str
    own_start: bool = False  # it starts in the plan's first pose, disturbed; others stand in the neutral pose first
    terrain: Terrain | None = None  # where the file has none


CASES = {
    "standing jump": StuntCase("standing_jump"),
    "long jump": StuntCase("long_jump"),
    "back flip": StuntCase("back_flip"),
    "tucked back flip": StuntCase("back_flip_tucked"),
    "vault": StuntCase("vault", terrain=VAULT_BOX),
    "cartwheel": StuntCase("cartwheel_wrists", own_start=True),
    "landing": StuntCase("landing", own_start=True),
    "sit and rise": StuntCase("chair"),
}


@dataclass(frozen=True)
class StuntsPerformedSettings:
    """Stunt files are those of the project's folder examples/stunts."""

    starts: int = setting(20, "", "random starts of each stunt: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")
    first: int = setting(0, "", "seed of the first start")
    pushed: bool = setting(False, "", "push the thorax by 60 N for 0.1 s, in a random direction at a random moment")
    only: str = setting("all", "", f"which stunts, separated by commas: {', '.join(CASES)}")
    folder: str = setting("examples/stunts", "", "folder with the stunt files")


@dataclass(frozen=True, eq=False)
class StuntResult:
    """A stunt from many starts."""

    name: str
    seeds: tuple[int, ...]
    stands: tuple[bool, ...]
    stepped: tuple[bool, ...]
    touched: tuple[bool, ...]  # after the last planned landing the ground bore more than the feet
    skipped: tuple[bool, ...]  # because of a step more was left out than what follows the last planned landing
    tracking: tuple[float, ...]  # [deg]
    peak: float  # largest torque, in shares of the strength
    exact: bool  # every replay has the same bytes
    causes: tuple[str, ...]

    def claim(self, pushed: bool) -> Claim:
        """Returns the claim that enough starts stand, close to the plan."""
        need, count = ENOUGH_PUSHED if pushed else ENOUGH, len(self.seeds)
        falls = [
            f"{seed} ({cause})" for seed, ok, cause in zip(self.seeds, self.stands, self.causes, strict=True) if not ok
        ]
        rms = float(np.median(self.tracking))
        rows = list(zip(self.stands, self.touched, self.skipped, strict=True))
        touched, skipped = sum(ok and also for ok, also, _ in rows), sum(ok and also for ok, _, also in rows)
        good = sum(ok and not also and not left for ok, also, left in rows)
        measured = (
            f"{sum(self.stands)} of {count} stand, {sum(self.stepped)} of all stepped, {touched} of those that stand "
            f"touched the ground with more than their feet, {skipped} left a part of the stunt out; "
            f"joints off by {rms:.1f} deg (median; worst "
            f"{max(self.tracking):.1f}), torques up to {self.peak:.2f} of the strength, replays "
            f"{'exact' if self.exact else 'NOT exact'}{'; falls: ' + ', '.join(falls) if falls else ''}"
        )
        holds = good >= need * count - 1e-9 and rms < TRACKING and self.peak <= 1.0 + 1e-9 and self.exact
        what = "pushed, " if pushed else ""
        return Claim(
            f"{self.name}: {what}{need:.0%} of the starts land on their feet alone and stand; "
            f"joints within {TRACKING:g} deg (rms, "
            "median), torques within the strength, exact replay", measured, holds,
        )  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Returns the numbers behind the claim."""
        return {
            "seeds": list(self.seeds), "stands": list(self.stands), "stepped": list(self.stepped),
            "touched": list(self.touched), "skipped": list(self.skipped),
            "tracking": list(self.tracking), "peak": self.peak, "exact": self.exact, "causes": list(self.causes),
        }  # fmt: skip


def perform_stunt(
    character: Character, case: StuntCase, plan: PlannedMotion, terrain: Terrain | None, seed: int, pushed: bool
) -> Recording:
    """Returns one performance from a disturbed start."""
    world = World(terrain=terrain)
    controller = Perform(plan, wait=0.0 if case.own_start else 0.3)
    start = disturbed_start(character, seed, world, controller.ready(character) if case.own_start else None)
    random = np.random.default_rng(1000 + seed)
    angle, moment = 2.0 * np.pi * random.random(), controller.wait + plan.duration * random.random()
    force = (PUSH * float(np.cos(angle)), PUSH * float(np.sin(angle)), 0.0)
    pushes = [Push("thorax", force, moment, PUSH_TIME)] if pushed else []
    seconds, recording = controller.wait + plan.duration, None
    for after in (AFTER, AFTER_STEPS):
        recording = simulate(
            character, controller, seconds + after, world=world, disturbances=pushes, start=start, seed=seed
        )
        if recording.notes["stage"][-1] in ("stand", "fallen"):
            break
    assert recording is not None
    return recording


def stands(recording: Recording) -> bool:
    """Returns whether the figure stands at the end, calm."""
    last = recording.character.snapshot(recording.state(-1))
    return bool(recording.notes["stage"][-1] == "stand" and np.linalg.norm(last.com_velocity) < STILL)


def touches(recording: Recording, plan: PlannedMotion) -> bool:
    """Returns whether anything but the feet bears on the ground after the last planned landing."""
    phases = np.array([phase if isinstance(phase, float) else -1.0 for phase in recording.notes["phase"]])
    landed = np.flatnonzero(phases >= plan.last_stance)
    start = float(recording.ticks[landed[0]]) if len(landed) else np.inf
    return touch_down_of_others(recording, start=start) is not None


def skips(recording: Recording, plan: PlannedMotion) -> bool:
    """Returns whether a part of the stunt was left out because of a step: more than what follows the last landing."""
    left = np.array([share if isinstance(share, float) else 0.0 for share in recording.notes["left_out"]])
    return float(left.max(initial=0.0)) * plan.duration > plan.duration - float(plan.ends[plan.last_stance]) + 1e-9


def run_stunt(lab: Lab, name: str, case: StuntCase, settings: StuntsPerformedSettings) -> StuntResult:
    """Plans a stunt once and performs it from every start. The first recording is kept in the lab."""
    lab.report(f"planning {name}", 0.0)
    path = Path(settings.folder) / f"{case.file}.toml"
    if not path.is_file():
        raise BadFile(f"there is no stunt {str(path)!r}: run it in the project's folder, or give --set folder=...")
    stunt = with_reserve(read_stunt(path))
    plan = plan_of_result(stunt.optimize())
    terrain = case.terrain if stunt.terrain is None else stunt.terrain
    seeds = tuple(range(settings.first, settings.first + settings.starts))
    stood, stepped, touched, skipped, errors, causes, peak, exact = [], [], [], [], [], [], 0.0, True
    for number, seed in enumerate(seeds):
        recording = perform_stunt(stunt.character, case, plan, terrain, seed, settings.pushed)
        lab.recordings.setdefault(name, recording)
        shown = measure.performance(recording)
        stood.append(stands(recording))
        stepped.append(bool((recording.notes["stage"] == "step").any()))
        touched.append(touches(recording, plan))
        skipped.append(skips(recording, plan))
        errors.append(float(np.degrees(shown.tracking)))
        causes.append(shown.cause)
        peak = max(peak, measure.summary(recording).peak_torque_share)
        exact &= replay(recording).exact
        lab.report(name, (number + 1) / len(seeds))
    return StuntResult(
        name, seeds, tuple(stood), tuple(stepped), tuple(touched), tuple(skipped), tuple(errors), peak, exact,
        tuple(causes),
    )  # fmt: skip


def chosen(only: str) -> Mapping[str, StuntCase]:
    """Returns the stunts that a setting names, separated by commas; `all` for all."""
    if only == "all":
        return CASES
    names = [name.strip() for name in only.split(",") if name.strip()]
    for name in names:
        if name not in CASES:
            raise unknown_name("stunt", name, CASES)
    return {name: CASES[name] for name in names}


def run(settings: StuntsPerformedSettings, lab: Lab) -> Outcome:
    """Performs each stunt from every start."""
    if settings.starts < 1 or settings.first < 0:
        raise BadValue(f"starts is at least 1 and first not negative; got {settings.starts!r} and {settings.first!r}")
    results = [run_stunt(lab, name, case, settings) for name, case in chosen(settings.only).items()]
    films = {r.name.replace(" ", "_"): Film(r.name, count=14, columns=7, panel=(180, 240)) for r in results}
    return Outcome(
        tuple(r.claim(settings.pushed) for r in results), film=Film(results[-1].name, count=14, columns=7),
        facts={r.name: r.facts() for r in results}, films=films,
    )  # fmt: skip


EXPERIMENT = Experiment(
    name="stunts-performed",
    summary="jumps, a flip, a vault, a cartwheel, a landing and a chair: planned with a reserve, performed, pushed",
    source="own; after Fang & Pollard 2003 and de Lasa 2011",
    settings=StuntsPerformedSettings,
    run=run,
)
