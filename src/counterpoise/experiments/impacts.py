"""What the two impact experiments share (Macchietto 2008, section 7.1): counting blows, and the plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.experiments.combinations import WORDS
from counterpoise.experiments.tracking import TrackingReport, foot_tilt, joint_angles, standing_feet
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIRST_BLOW = 0.4  # [s] when the first blow begins


def blows_survived(one: TrackingReport, pushes: Sequence[Push]) -> int:
    """Returns how many of the pushes a run took before it fell; all of them if it did not."""
    return sum(one.fell is None or p.start + p.duration <= one.fell for p in pushes) - (one.fell is not None)


def impact_plot(runs: Mapping[str, Recording], title: str) -> Figure:
    """Plots CoM, angular momentum, feet and joints of all runs."""
    from counterpoise.experiments.plotting import Panel, panels

    time = next(iter(runs.values())).time
    feet = standing_feet(next(iter(runs.values())).character, None)
    com = {WORDS[n]: np.linalg.norm((c := measure.com(r))[:, :2] - c[0, :2], axis=1) for n, r in runs.items()}
    spin = {WORDS[n]: np.linalg.norm(measure.momentum(r)[:, :2], axis=1) for n, r in runs.items()}
    tilt = {WORDS[n]: np.degrees(foot_tilt(r, feet)) for n, r in runs.items()}
    off = {WORDS[n]: np.degrees(np.mean(joint_angles(r), axis=1)) for n, r in runs.items()}
    rows = [
        Panel("CoM moved\n[m]", time, {n: np.minimum(v, 0.25) for n, v in com.items()}, low=0.0),
        Panel("angular momentum\n[kg m²/s]", time, {n: np.minimum(v, 60.0) for n, v in spin.items()}, low=0.0),
        Panel("feet turned\n[deg]", time, {n: np.minimum(v, 20.0) for n, v in tilt.items()}, low=0.0),
        Panel("joints off by\n[deg, mean]", time, {n: np.minimum(v, 40.0) for n, v in off.items()}, low=0.0),
    ]
    return panels(rows, title)
