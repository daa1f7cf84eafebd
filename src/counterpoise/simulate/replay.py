"""Replay: checks that plain MuJoCo, given the first state and the inputs of a recording, reaches its last state."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.progress import Reporter, Watch, watching
from counterpoise.simulate.recording import Recording

STEPS_PER_PROGRESS = 100  # steps between two reports
TOLERANCE = 1e-9  # [m, rad] difference of the final state up to which a replay counts as exact


@dataclass(frozen=True)
class ReplayReport:
    """The differences between a replay and its recording."""

    steps: int
    final_error: float  # largest difference in the final qpos
    worst_error: float  # largest difference in qpos over all rows
    worst_time: float  # [s], where that was

    @property
    def exact(self) -> bool:
        return self.final_error <= TOLERANCE


def replay(recording: Recording, progress: Watch | None = None) -> ReplayReport:
    """Steps a new MjData through the recorded inputs and compares every row. Returns the differences.

    Stopped, it returns those of the `steps` that it has made.
    """
    with watching(progress) as reporter:
        return _replayed(recording, reporter)


def _replayed(recording: Recording, reporter: Reporter) -> ReplayReport:
    m = recording.model
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = recording.qpos[0], recording.qvel[0]
    if recording.warm_start is not None:
        d.qacc_warmstart[:] = recording.warm_start
    worst, when, error = 0.0, float(recording.time[0]), 0.0
    for k in range(len(recording) - 1):
        d.qfrc_applied[:] = recording.torque[k]
        d.xfrc_applied[:] = recording.external[k]
        mujoco.mj_step(m, d)
        error = float(np.abs(d.qpos - recording.qpos[k + 1]).max(initial=0.0))
        if not error <= worst:
            worst, when = error, float(recording.time[k + 1])
        if k % STEPS_PER_PROGRESS == 0 and not reporter.report("replaying", k / len(recording)):
            return ReplayReport(k + 1, error, worst, when)
    return ReplayReport(len(recording) - 1, error, worst, when)
