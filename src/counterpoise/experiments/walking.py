"""What the experiments with walks share: many disturbed starts, measured, with the bars that each must pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Lab
from counterpoise.measure import Gait
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.start import disturbed_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENOUGH = 0.95  # share of the starts in which a walk must succeed
ENOUGH_SPEED = 0.95  # of the speed asked for: it has started
STANDING_SPEED = 0.1  # [m/s] of the root: slower, it stands
Test = Callable[[Gait], bool]


@dataclass(frozen=True, eq=False)
class WalkRuns:
    """A walk from many starts."""

    name: str
    gaits: tuple[Gait | None, ...]  # of every start; None where it fell
    falls: tuple[str, ...]  # of every start, empty where it walks to the end
    ways: tuple[float, ...]  # [m] of every start, from beginning to end
    first: Recording

    @property
    def walked(self) -> list[Gait]:
        return [one for one in self.gaits if one is not None]

    def faults(self, tests: Mapping[str, Test], way: float = 0.0) -> list[str]:
        """Returns what each start does not keep, in words; empty where it is a success."""
        out = []
        for fall, found, went in zip(self.falls, self.gaits, self.ways, strict=True):
            if found is None:
                out.append(f"fell: {fall}")
            else:
                missed = [name for name, keeps in tests.items() if not keeps(found)]
                out.append(", ".join(missed if went >= way else [*missed, f"goes {went:.1f} m"]))
        return out

    def claim(self, text: str, tests: Mapping[str, Test], way: float = 0.0) -> Claim:
        """Returns the claim that enough starts keep every test and go a way [m]."""
        faults = self.faults(tests, way)
        good = sum(not fault for fault in faults)
        missed = {fault: faults.count(fault) for fault in faults if fault}
        why = "; ".join(f"{n} x {fault}" for fault, n in missed.items())
        measured = f"{good} of {len(faults)} ({len(self.walked)} walk){': ' + why if why else ''}; {self.words()}"
        return Claim(text, measured, good >= ENOUGH * len(faults) - 1e-9)

    def words(self) -> str:
        """Returns means, and the worst drift, over the starts that walk."""
        rows = self.walked
        if not rows:
            return "no walk to measure"

        def mean(name: str) -> float:
            return float(np.mean([getattr(row, name) for row in rows]))

        return (
            f"{mean('speed'):.2f} m/s, steps of {mean('step_length'):.2f} m and {mean('step_time'):.2f} s, "
            f"{100.0 * max(row.drift for row in rows):.0f} cm beside the line at most"
        )

    def facts(self) -> list[object]:
        """Returns the numbers of every start."""
        return [fall if found is None else vars(found) for fall, found in zip(self.falls, self.gaits, strict=True)]


def run_walks(
    lab: Lab, name: str, character: Character, walk: Walk, seconds: float, starts: int, settle: float = 5.0
) -> WalkRuns:
    """Walks from disturbed starts 0, 1, ..., each measured after `settle` [s]. The first recording is kept."""
    if starts < 1 or seconds <= settle:
        raise BadValue(
            f"a walk lasts longer than {settle:g} s, from 1 start or more; got {seconds!r} s, {starts!r} starts"
        )
    gaits: list[Gait | None] = []
    falls: list[str] = []
    ways: list[float] = []
    first = None
    for seed in range(starts):
        start = disturbed_start(character, seed)
        recording = simulate(character, walk, seconds, start=start, seed=seed)
        if recording.status == "interrupted":
            raise KeyboardInterrupt
        if first is None:
            first = lab.recordings[name] = recording
        fall = how_it_fell(recording)
        falls.append(fall)
        com = measure.com(recording)
        ways.append(float(np.hypot(*(com[-1] - com[0])[:2])))
        gaits.append(None if fall else measure.gait(recording, settle))
        lab.report(name, (seed + 1) / starts)
    assert first is not None
    return WalkRuns(name, tuple(gaits), tuple(falls), tuple(ways), first)


def how_it_fell(recording: Recording) -> str:
    """Returns why a walk ended, in words; empty where it did not."""
    causes = [str(c) for c in recording.notes.get("cause", ()) if isinstance(c, str) and c]
    if causes:
        return causes[0]
    fall = measure.fell(recording)
    return fall.reason if fall else "" if recording.status == "finished" else recording.status


def steps_to_start(recording: Recording, speed: float) -> float:
    """Returns after how many steps it walks at 95 % of a speed [m/s] or more, on the mean of the next step."""
    rows = _landings(recording)
    x, time = measure.com(recording)[:, 0], recording.time
    for count, (a, b) in enumerate(pairwise(rows), start=1):
        if x[b] - x[a] >= ENOUGH_SPEED * speed * (time[b] - time[a]):
            return float(count)
    return math.inf


def steps_to_stop(recording: Recording) -> float:
    """Returns how many steps it takes until it stands, to the end of the recording; infinity where it does not."""
    still = float(np.linalg.norm(recording.velocities(0)[-1][:2])) < STANDING_SPEED
    return float(len(_landings(recording))) if still and str(recording.notes["phase"][-1]) == "stand" else math.inf


def _landings(recording: Recording) -> list[int]:
    """Returns the rows of a recording in which a foot lands."""
    steps = np.asarray(recording.notes["steps"], float)
    per_tick = len(recording) // len(steps)
    return [int(k) * per_tick for k in np.flatnonzero(np.diff(steps) > 0.0) + 1]


def gait_plot(runs: Sequence[WalkRuns], columns: Mapping[str, Callable[[Gait], float]], title: str) -> Figure:
    """Draws a dot for every start of every walk."""
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(11.0, 1.1 + 0.3 * len(runs)), layout="constrained")
    axes = drawing.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axis, (label, value) in zip(axes, columns.items(), strict=True):
        for row, one in enumerate(runs):
            x = [value(found) for found in one.walked]
            axis.plot(x, np.full(len(x), row), "o", markersize=3.0, alpha=0.5, color=palette.FIGURES[0])
        style_axis(axis, "")
        axis.set_xlabel(label, fontsize=8)
    axes[0].set_yticks(
        range(len(runs)), [f"{one.name}  {len(one.walked)}/{len(one.falls)}" for one in runs], fontsize=8
    )
    axes[0].set_ylim(len(runs) - 0.5, -0.5)
    drawing.suptitle(title, fontsize=10)
    return drawing
