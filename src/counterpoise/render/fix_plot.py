"""The plot of a fix: each measure before and after, and how far the joints were moved."""

from __future__ import annotations

import os
import textwrap

import numpy as np
from matplotlib.figure import Figure

from counterpoise.character.kinematics import body_frames
from counterpoise.motion.motion import Motion
from counterpoise.render import palette
from counterpoise.render.check_plot import legend_above, shade_carried
from counterpoise.render.plots import style_axis, write_plot
from counterpoise.spacetime.fix import FixResult


def plot_fix(result: FixResult, original: Motion, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plots residual forces, upward force, skate, depth and change over time; written to `path` if one is given."""
    drawing = Figure(figsize=(9.0, 9.5), layout="constrained")
    axes = drawing.subplots(5, 1, sharex=True)
    reports = (("before", result.before.frames, palette.FORCE, 1.0), ("after", result.after.frames, palette.LEFT, 1.4))
    for name, f, colour, width in reports:
        seen = np.where(f.judged, 1.0, np.nan)
        axes[0].plot(f.times, 100.0 * np.maximum(f.violation, 1e-5) * seen, color=colour, linewidth=width, label=name)
        axes[1].plot(f.times, f.needed[:, 5] * seen, color=colour, linewidth=width, label=name)
        known = np.where(np.isfinite(f.skate), f.skate, -1.0).max(axis=1, initial=-1.0)
        axes[2].plot(f.times, np.where(known >= 0.0, 100.0 * known, np.nan), color=colour, linewidth=width, label=name)
        axes[3].plot(f.times, 10.0 * 100.0 * f.penetration, color=colour, linewidth=width, label=name)
    axes[0].set_yscale("log")
    was, _ = body_frames(original.character, original.poses)
    now, _ = body_frames(result.motion.character, result.motion.poses)
    moved = 100.0 * np.linalg.norm(now - was, axis=-1)[:, 1:]
    axes[4].plot(original.times, moved.mean(axis=1), color=palette.INK, linewidth=1.4, label="mean of all joints")
    axes[4].plot(original.times, moved.max(axis=1), color=palette.PUSH, linewidth=1.0, label="largest")
    titles = (
        "residual force\n[% of weight]", "upward force\n[weights]", "skate [cm/s]", "deepest point\n[mm]", "moved [cm]",
    )  # fmt: skip
    for axis, title in zip(axes, titles, strict=True):
        style_axis(axis, title)
        legend_above(axis)
        shade_carried(axis, result.before)
        for stretch in (*result.leaps, *result.left):
            axis.axvspan(stretch.start, stretch.end, color=palette.ZENITH, alpha=0.6, linewidth=0.0, zorder=0)
    carried = "; violet: something that is not shown carries it" if result.before.carried else ""
    label = f"time [s]   (shaded: leaps that were bridged, and what could not be made valid{carried})"
    axes[4].set_xlabel(label, fontsize=9)
    drawing.align_ylabels(axes)
    name = f"{result.motion.name or 'motion'} on {result.motion.character.name}"
    drawing.suptitle(f"{name}\n{textwrap.fill(result.summary, 140)}", fontsize=8.5, x=0.01, ha="left")
    if path is not None:
        write_plot(drawing, path)
    return drawing


__all__ = ["plot_fix"]
