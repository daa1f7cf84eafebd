"""Plots of how closely runs followed their references: a table of all, one motion over time, and filmstrips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise import measure
from counterpoise.experiments.combinations import WORDS
from counterpoise.experiments.tracking import TrackingReport, joint_angles
from counterpoise.motion.motion import Motion
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def table(found: Mapping[str, Mapping[str, TrackingReport]], title: str) -> Figure:
    """Draws a table of median errors, motions down, combinations across; green for small errors, red for falls."""
    from matplotlib.figure import Figure

    columns = list(next(iter(found.values())))
    drawing = Figure(figsize=(1.7 + 1.45 * len(columns), 0.7 + 0.34 * len(found)), layout="constrained")
    axis = drawing.subplots()
    for row, by in enumerate(found.values()):
        for column, combination in enumerate(columns):
            one = by[combination]
            share = 0.75 if not one.stood else 0.15 * min(one.median / 5.0, 1.0)
            colour = (1.0, 1.0 - share, 1.0 - share) if not one.stood else (0.75 + share, 0.95, 0.75 + share)
            axis.fill_between([column, column + 1], row, row + 1, color=colour, edgecolor="white", linewidth=2)
            words = f"fell {one.fell:.1f} s" if one.fell is not None else f"{one.median:.1f}  ({one.most:.0f})"
            axis.text(column + 0.5, row + 0.5, words, ha="center", va="center", fontsize=8)
    axis.set_xticks(np.arange(len(columns)) + 0.5, [WORDS[c] for c in columns], fontsize=8)
    axis.set_yticks(np.arange(len(found)) + 0.5, [name.replace("_", " ") for name in found], fontsize=8)
    axis.set_xlim(0, len(columns))
    axis.set_ylim(len(found), 0)
    axis.tick_params(length=0)
    axis.xaxis.tick_top()
    for spine in axis.spines.values():
        spine.set_visible(False)
    drawing.suptitle(title + "  (95th percentile)", fontsize=9)
    return drawing


def tracking_plot(runs: Mapping[str, Recording], reference: Motion, title: str) -> Figure:
    """Plots the CoM and the error of the joints over time, for every combination."""
    from counterpoise.experiments.plotting import Panel, panels

    time = next(iter(runs.values())).time
    com = {n: measure.com(r) for n, r in runs.items()}
    character = next(iter(runs.values())).character
    asked = np.array([character.snapshot(character.state(q)).com for q in reference.sample(time[::20]).q])
    wanted = np.stack([np.interp(time, time[::20], asked[:, i]) for i in range(3)], axis=1)
    rows = [
        Panel(f"CoM {way}\n[m]", time, {**{WORDS[n]: c[:, i] for n, c in com.items()}, "reference": wanted[:, i]},
              ("reference",))
        for i, way in ((0, "forward"), (1, "left"), (2, "up"))
    ]  # fmt: skip
    off = {WORDS[n]: np.minimum(np.degrees(np.mean(joint_angles(r, reference), axis=1)), 30.0) for n, r in runs.items()}
    rows.append(Panel("joints off by\n[deg, mean]", time, off, low=0.0))
    return panels(rows, title)


def strips(runs: Mapping[str, Recording], times: Sequence[float], ghost: Motion | None = None, **view: Any) -> Figure:
    """Draws filmstrips of several runs, one below the other, each with its name."""
    from matplotlib.figure import Figure

    from counterpoise.render.pictures import filmstrip
    from counterpoise.render.sources import take_of

    rows = []
    for recording in runs.values():
        shown = [min(t, float(recording.time[-1])) for t in times]
        take = take_of(recording, ghost=ghost)
        rows.append(filmstrip(take, times=shown, size=(150, 200), columns=len(shown), samples=4, **view))
    high, wide = rows[0].shape[:2]
    drawing = Figure(figsize=(wide / 110.0, len(rows) * (high + 26) / 110.0), layout="constrained", dpi=110)
    for axis, picture, name in zip(drawing.subplots(len(rows), 1, squeeze=False)[:, 0], rows, runs, strict=True):
        axis.imshow(picture)
        axis.set_title(WORDS.get(name, name), fontsize=8, loc="left", pad=2)
        axis.axis("off")
    return drawing
