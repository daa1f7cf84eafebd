"""Momentum balance with its objectives switched on one after another, and Stand beside it.

Macchietto compares tracking alone, tracking with linear balance, and both with angular balance. The experiments after
him do the same, and measure for each whether the figure stood, how closely it followed and how its feet moved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterpoise.character.character import Character
from counterpoise.control.basic import Controller
from counterpoise.control.momentum_balance import MomentumBalance
from counterpoise.control.reference_shaping import smoothed
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Lab
from counterpoise.experiments.captured import captured_motion, clip_folder
from counterpoise.experiments.tracking import TrackingReport, track_report
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Objective
from counterpoise.simulate.disturbances import Disturbance
from counterpoise.simulate.recording import Recording

COMBINATIONS: Mapping[str, tuple[str, ...]] = {
    "tracking": ("tracking",),
    "linear": ("tracking", "linear"),
    "angular": ("tracking", "linear", "angular"),
}
EVERY = (*COMBINATIONS, "stand")
WORDS = {"tracking": "tracking", "linear": "+ linear", "angular": "+ linear + angular", "stand": "Stand"}
SMOOTHING = 0.05  # [s] standard deviation of the window that smooths captured references for MomentumBalance


def controller_of(
    combination: str,
    reference: Motion | None = None,
    *,
    captured: bool = False,
    variant: Any = "2009",
    extra: Sequence[Objective] = (),
) -> Controller:
    """Returns MomentumBalance with the objectives of a combination, or Stand.

    Captured motions are smoothed for MomentumBalance, whose feed-forward uses their accelerations directly; Stand
    smooths its references itself.
    """
    if combination == "stand":
        return Stand(reference, extra=extra)
    if captured and reference is not None:
        reference = smoothed(reference, SMOOTHING)
    return MomentumBalance(reference, objectives=COMBINATIONS[combination], variant=variant, extra=extra)


def run_each(
    lab: Lab,
    character: Character,
    reference: Motion | None,
    seconds: float,
    *,
    name: str = "",
    combinations: Sequence[str] = EVERY,
    captured: bool = False,
    disturbances: Sequence[Disturbance] = (),
    extra: Sequence[Objective] = (),
    variant: str = "2009",
) -> dict[str, Recording]:
    """Simulates one run with each combination, all from the same start. Returns the recordings by combination."""
    start = Stand(reference).ready(character)
    out = {}
    for combination in combinations:
        control = controller_of(combination, reference, captured=captured, variant=variant, extra=extra)
        title = f"{name}_{combination}" if name else combination
        out[combination] = lab.simulate(title, character, control, seconds, start=start, disturbances=disturbances)
    return out


def forget(lab: Lab, keep: Sequence[str]) -> None:
    """Drops all recordings of the lab but those to keep: they are large, and can be made again."""
    for name in [n for n in lab.recordings if n not in keep]:
        del lab.recordings[name]


@dataclass(frozen=True, eq=False)
class TrackedMotions:
    """Keyframed and captured motions, each followed with every combination."""

    keyframed: Mapping[str, Motion]
    captured: Mapping[str, Motion]
    runs: Mapping[str, Mapping[str, Recording]]  # by motion, then by combination
    reports: Mapping[str, Mapping[str, TrackingReport]]  # likewise

    def facts(self) -> dict[str, object]:
        """Returns the reports as dictionaries for JSON."""
        return {name: facts_of(one) for name, one in self.reports.items()}


def track_motions(
    lab: Lab,
    character: Character,
    keyframed: Mapping[str, Motion],
    clips: Mapping[str, tuple[str, tuple[int, int]]],
    folder: str,
    *,
    captured: bool,
    rest: float,
    keep: Sequence[str],
) -> TrackedMotions:
    """Simulates every motion with every combination, and `rest` seconds more.

    `clips` are files and frames of captured motions, followed too where `captured` asks for it and there is a folder of
    clips. Only the recordings to `keep` stay in the lab.
    """
    found: dict[str, Motion] = {}
    home = clip_folder(folder)
    if captured and home is not None:
        found = {name: captured_motion(home, *clip, character) for name, clip in clips.items()}
    elif captured:
        lab.report("no captured clips here: skipped", 1.0)
    runs: dict[str, dict[str, Recording]] = {}
    motions = {**keyframed, **found}
    for name, motion in motions.items():
        seconds, title = motion.duration + rest, name.replace(" ", "_")
        runs[name] = run_each(lab, character, motion, seconds, name=title, captured=name in found)
        forget(lab, keep)
    reports = {name: {c: track_report(rec, motions[name]) for c, rec in runs[name].items()} for name in runs}
    return TrackedMotions(keyframed, found, runs, reports)


def facts_of(found: Mapping[str, TrackingReport]) -> dict[str, dict[str, Any]]:
    """Returns the reports as dictionaries for JSON."""
    return {name: dataclasses.asdict(one) for name, one in found.items()}
