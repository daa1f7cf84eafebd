"""The demo's last act: a human stands, is pushed, walks, runs, turns and stops, all by one controller."""

from __future__ import annotations

import math

import numpy as np

from counterpoise import measure
from counterpoise.character.library import character
from counterpoise.character.state import State
from counterpoise.control.locomotion import Locomotion
from counterpoise.progress import Watch
from counterpoise.simulate import Push, Recording, simulate

SECONDS = 11.6  # [s]
PUSH = Push("thorax", (450.0, 0.0, 0.0), start=0.4, duration=0.1)  # from behind, while it stands
SPEEDS = ((1.4, 1.2), (4.4, 2.6), (8.4, 0.0))  # from [s] on, [m/s]: it walks, runs, and comes to stand
TURN_FROM, TURN_BY, TURN = 5.6, 8.0, math.radians(45.0)  # [s], [s], [rad] to the left
RUNS = ("stance", "flight")  # phases of a run


def asked_speed(time: float) -> float:
    """Returns the speed that is asked for at a time [m/s]."""
    return next((speed for start, speed in reversed(SPEEDS) if time >= start), 0.0)


def asked_heading(time: float) -> float:
    """Returns the heading that is asked for at a time [rad]."""
    return TURN * min(max((time - TURN_FROM) / (TURN_BY - TURN_FROM), 0.0), 1.0)


def go_about(seconds: float = SECONDS, progress: Watch | None = None, start: State | None = None) -> Recording:
    """Simulates the act."""
    controller = Locomotion(speed=asked_speed, heading=asked_heading)
    return simulate(character("human"), controller, seconds, disturbances=[PUSH], start=start, progress=progress)


def go_words(recording: Recording) -> str:
    """Returns what the act was like, in words."""
    fall = measure.fell(recording)
    if fall:
        return f"fell: {fall.reason}"
    phases = np.array([str(phase) for phase in recording.notes["phase"]])
    runs, com = recording.ticks[np.isin(phases, RUNS)], recording.track().com
    way = float(np.linalg.norm(np.diff(com[:, :2], axis=0), axis=1).sum())
    fastest = float(np.linalg.norm(recording.qvel[:, :2], axis=1).max())
    ran = f"runs from {runs[0]:.1f} to {runs[-1]:.1f} s" if len(runs) else "does not run"
    return f"{way:.1f} m, up to {fastest:.1f} m/s, {ran}, {'stands' if phases[-1] == 'stand' else 'goes on'}"
