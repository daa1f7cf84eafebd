"""The plot of a check over time: contacts, skate, penetration and float, residual forces, flight, strength."""

from __future__ import annotations

import os
import textwrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from counterpoise.motion.contacts import runs
from counterpoise.render import palette
from counterpoise.render.plots import style_axis, write_plot
from counterpoise.spacetime.check import CheckReport

_SIDES = {"left": palette.LEFT, "right": palette.RIGHT}


def plot_check(report: CheckReport, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plots one panel a measure, limits dashed, flight shaded; written to `path` (png, pdf or svg) if one is given."""
    f = report.frames
    t = f.times
    drawing = Figure(figsize=(9.0, 10.5), layout="constrained")
    heights = [0.35 * max(len(_rows(report)), 1) + 0.3, 1.4, 1.4, 1.6, 1.4, 1.4]
    axes = drawing.subplots(6, 1, sharex=True, height_ratios=heights)
    _contact_bars(axes[0], report)
    for k, name in enumerate(report.feet):
        colour = _colour(name, k)
        axes[1].plot(t, 100.0 * f.skate[:, k], color=colour, label=name, linewidth=1.2)
        axes[2].plot(t, 100.0 * f.float[:, k], color=colour, label=f"float {name}", linewidth=1.2)
    axes[2].plot(t, -100.0 * f.penetration, color=palette.FORCE, label="deepest point", linewidth=1.2)
    axes[2].axhline(0.0, color=palette.INK, linewidth=0.6)
    _limit(axes[1], report, "skate")
    _limit(axes[2], report, "float")
    axes[2].axhline(-report.finding("penetration").limit, color=palette.INK, linewidth=0.8, linestyle="--")
    seen = np.where(f.judged, 1.0, np.nan)
    axes[3].fill_between(t, 100.0 * f.violation * seen, color=palette.FORCE, alpha=0.25, linewidth=0.0)
    axes[3].plot(t, 100.0 * np.linalg.norm(f.missing[:, 3:], axis=1) * seen, color=palette.FORCE, label="force")
    axes[3].plot(
        t, 100.0 * np.linalg.norm(f.missing[:, :3], axis=1) * seen, color=palette.PUSH, label="torque / height"
    )
    _limit(axes[3], report, "force")
    axes[4].plot(t, f.needed[:, 5] * seen, color=palette.FIGURES[2], label="upward")
    axes[4].plot(t, np.linalg.norm(f.needed[:, 3:5], axis=1) * seen, color=palette.FIGURES[3], label="horizontal")
    axes[4].axhline(0.0, color=palette.INK, linewidth=0.6)
    axes[5].plot(t, 100.0 * f.torque * seen, color=palette.FIGURES[0], label="most loaded joint")
    axes[5].axhline(100.0, color=palette.INK, linewidth=0.8, linestyle="--")
    titles = (
        "", "skate [cm/s]", "float, depth [cm]", "residual force\n[% of weight]", "force needed\n[weights]",
        "torque\n[% of strength]",
    )  # fmt: skip
    for axis, title in zip(axes, titles, strict=True):
        style_axis(axis, title)
        if axis.get_legend_handles_labels()[0]:
            legend_above(axis)
        for first, last in runs(np.asarray(f.flight & ~f.carried, dtype=bool)):
            axis.axvspan(t[first], t[last - 1], color=palette.ZENITH, alpha=0.6, linewidth=0.0, zorder=0)
        shade_carried(axis, report)
    carried = "; violet: something that is not shown carries it" if report.carried else ""
    axes[5].set_xlabel(f"time [s]   (shaded: nothing touches the ground{carried})", fontsize=9)
    drawing.align_ylabels(axes[1:])
    name = f"{report.motion or 'motion'} on {report.character}: {'ok' if report.ok else 'not ok'}"
    drawing.suptitle(f"{name}\n{textwrap.fill(report.verdict, 140)}", fontsize=8.5, x=0.01, ha="left")
    if path is not None:
        write_plot(drawing, path)
    return drawing


def _rows(report: CheckReport) -> list[tuple[str, str]]:
    return sorted({(w.foot, w.part) for w in report.contacts})


def _contact_bars(axis: Any, report: CheckReport) -> None:
    rows = _rows(report)
    for number, (foot, part) in enumerate(rows):
        mine = [(w.start, w.end - w.start) for w in report.contacts if (w.foot, w.part) == (foot, part)]
        axis.broken_barh(mine, (number - 0.35, 0.7), color=_colour(foot, number))
    axis.set_yticks(range(len(rows)), [f"{foot} {part}" for foot, part in rows])
    axis.set_ylim(-0.6, max(len(rows), 1) - 0.4)


def _limit(axis: Any, report: CheckReport, name: str) -> None:
    axis.axhline(report.finding(name).limit, color=palette.INK, linewidth=0.8, linestyle="--")


def _colour(name: str, number: int) -> palette.RGBA:
    lower = name.lower()
    return next((c for side, c in _SIDES.items() if side in lower), palette.FIGURES[number % len(palette.FIGURES)])


def shade_carried(axis: Any, report: CheckReport) -> None:
    """Shades violet where something that is not shown carries the body."""
    for stretch in report.carried:
        axis.axvspan(stretch.start, stretch.end, color=palette.PUSH, alpha=0.12, linewidth=0.0, zorder=0)


def legend_above(axis: Any) -> None:
    """Puts the legend above the panel, where it hides no curve."""
    axis.legend(fontsize=7.5, frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 0.97), borderaxespad=0.0)


__all__ = ["legend_above", "plot_check", "shade_carried"]
