"""Trials: something to do, from many random starts, and how many of 20 must succeed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from counterpoise.errors import BadValue, unknown_name
from counterpoise.experiments.base import Claim, Film, Lab, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trial:
    """What is tried: `run(lab, name, seed)` returns why it failed, empty where it did not.

    It keeps the recording in the lab under `name`.
    """

    words: str
    run: Callable[[Lab, str, int], str]
    bar: int = 19  # of 20 starts


def run_trials(
    lab: Lab, experiment: str, kind: str, trials: Mapping[str, Trial], chosen: str, starts: int, first_seed: int = 0
) -> Outcome:
    """Runs some trials (names separated by commas, or all) from every start. The first recording of each is filmed."""
    if starts < 1:
        raise BadValue(f"a {kind} is tried from 1 start or more; got {starts!r}")
    names = list(trials) if chosen == "all" else [name.strip() for name in chosen.split(",")]
    for name in names:
        if name not in trials:
            raise unknown_name(kind, name, trials, experiment)
    claims, facts = [], {}
    for name in names:
        trial, faults = trials[name], []
        for k in range(starts):
            faults.append(trial.run(lab, name if k == 0 else "last", first_seed + k))
            lab.report(name, (k + 1) / starts)
        good = sum(not fault for fault in faults)
        why = "; ".join(f"start {first_seed + k}: {fault}" for k, fault in enumerate(faults) if fault)
        text = f"{trial.words}: {trial.bar} of 20 starts"
        measured = f"{good} of {starts}{'; ' + why if why else ''}"
        claims.append(Claim(text, measured, good >= trial.bar / 20.0 * starts - 1e-9))
        facts[name] = faults
    films = {name: Film(name, azimuth=-90.0, elevation=5.0, count=16, columns=8, panel=(220, 260)) for name in names}
    return Outcome(tuple(claims), {experiment: _plot(trials, facts)}, films[names[0]], facts, films)


def _plot(trials: Mapping[str, Trial], facts: Mapping[str, list[str]]) -> Figure:
    """Draws how many starts succeed in each trial."""
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(8.0, 0.8 + 0.28 * len(facts)), layout="constrained")
    axis = drawing.subplots()
    for row, (name, faults) in enumerate(facts.items()):
        good = sum(not fault for fault in faults) / len(faults)
        axis.barh(row, good, color=palette.FIGURES[0], height=0.6)
        axis.plot([trials[name].bar / 20.0] * 2, [row - 0.4, row + 0.4], color="black", linewidth=1.2)
    style_axis(axis, "")
    axis.set_yticks(range(len(facts)), [trials[name].words for name in facts], fontsize=8)
    axis.set_ylim(len(facts) - 0.5, -0.5)
    axis.set_xlim(0.0, 1.02)
    axis.set_xlabel("share of the starts that succeed; the line is the bar", fontsize=8)
    return drawing
