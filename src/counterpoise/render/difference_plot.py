"""The plot of two motions: how far joints and centre of mass are apart, and which bodies differ most."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.figure import Figure

from counterpoise.measure.difference import MotionDifference
from counterpoise.render import palette
from counterpoise.render.check_plot import legend_above
from counterpoise.render.plots import style_axis, write_plot

SHOWN_BODIES = 6  # with a line of their own


def plot_difference(
    difference: MotionDifference, path: str | os.PathLike[str] | None = None, names: tuple[str, str] = ("A", "B")
) -> Figure:
    """Plots distances and angles over time; written to `path` (png, pdf or svg) if one is given."""
    drawing = Figure(figsize=(9.0, 6.5), layout="constrained")
    axes = drawing.subplots(3, 1, sharex=True)
    rows = ((axes[0], 100.0 * difference.place, "distance [cm]"), (axes[1], np.degrees(difference.turn), "angle [deg]"))
    for axis, values, label in rows:
        if values.size:
            most = np.argsort(-values.max(axis=0), kind="stable")[:SHOWN_BODIES]
            for k, column in enumerate(most):
                colour, name = palette.FIGURES[k % len(palette.FIGURES)], difference.bodies[column]
                axis.plot(difference.times, values[:, column], color=colour, linewidth=1.2, label=name)
            mean = values.mean(axis=1)
            axis.plot(difference.times, mean, color=palette.INK, linewidth=1.6, linestyle="--", label="mean of all")
        style_axis(axis, label)
        if values.size:
            legend_above(axis)
    axes[2].plot(difference.times, 100.0 * difference.com, color=palette.COM, linewidth=1.6)
    style_axis(axes[2], "CoM distance [cm]")
    axes[2].set_xlabel("time from the start of each [s]", fontsize=9)
    drawing.suptitle(f"{names[0]} and {names[1]}", fontsize=10, x=0.01, ha="left")
    if path is not None:
        write_plot(drawing, path)
    return drawing
