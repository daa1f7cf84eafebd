"""Replay: does plain MuJoCo, given a recording's first state and inputs, arrive at its last state?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.simulate.recording import Recording

TOLERANCE = 1e-9


@dataclass(frozen=True)
class ReplayReport:
    """How far the replay strayed from the recording."""

    steps: int
    final_error: float  # largest difference in the final qpos
    worst_error: float  # largest difference in qpos over all rows
    worst_time: float  # [s], where that was

    @property
    def exact(self) -> bool:
        return self.final_error <= TOLERANCE


def replay(recording: Recording, progress: Callable[[float], None] | None = None) -> ReplayReport:
    """Step a fresh MjData through the recorded inputs and compare every row."""
    m = recording.model
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = recording.qpos[0], recording.qvel[0]
    worst, when, error = 0.0, float(recording.time[0]), 0.0
    for k in range(len(recording) - 1):
        d.qfrc_applied[:] = recording.torque[k]
        d.xfrc_applied[:] = recording.external[k]
        mujoco.mj_step(m, d)
        error = float(np.abs(d.qpos - recording.qpos[k + 1]).max(initial=0.0))
        if not error <= worst:
            worst, when = error, float(recording.time[k + 1])
        if progress is not None and k % 100 == 0:
            progress(k * recording.timestep)
    return ReplayReport(len(recording) - 1, error, worst, when)
