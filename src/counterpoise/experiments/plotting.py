"""Plots of several lines over time, one panel below the other, as in the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from counterpoise.arrays import Array
from counterpoise.render import palette
from counterpoise.render.plots import style_axis


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: lines over time; those in `dashed` are commanded values."""

    title: str
    time: Array
    lines: Mapping[str, Array]
    dashed: Sequence[str] = ()
    logarithmic: bool = False
    low: float | None = None  # bottom of the axis
    styles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def panels(rows: Sequence[Panel], title: str = "", width: float = 7.5, height: float = 1.9) -> Figure:
    """Draws panels below each other, with time along the bottom."""
    drawing = Figure(figsize=(width, 0.8 + height * len(rows)), layout="constrained")
    axes = drawing.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    for axis, row in zip(axes, rows, strict=True):
        for number, (label, values) in enumerate(row.lines.items()):
            style: dict[str, Any] = {"color": palette.FIGURES[number % len(palette.FIGURES)], "linewidth": 1.3}
            if label in row.dashed:
                style = {"color": palette.INK, "linewidth": 1.0, "linestyle": "--"}
            style |= row.styles.get(label, {})
            axis.plot(row.time, np.maximum(values, 1e-17) if row.logarithmic else values, label=label, **style)
        if row.logarithmic:
            axis.set_yscale("log")
        if row.low is not None:
            axis.set_ylim(bottom=row.low)
        style_axis(axis, row.title)
        if len(row.lines) > 1:
            axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1].set_xlabel("time [s]", fontsize=9)
    if title:
        drawing.suptitle(title, fontsize=10)
    return drawing
