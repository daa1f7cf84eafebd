"""Efforts of a motion: how much of its strength each joint uses, where torques are known; they are drawn as heat.

They are known of what was simulated and of what was optimised, and are kept beside the take; and of what was checked.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.files import write_archive
from counterpoise.scene.contents import EFFORTS_ENDING
from counterpoise.simulate import Recording
from counterpoise.spacetime.check import CheckReport
from counterpoise.spacetime.optimize import Result
from counterpoise.studio.beside_takes import read_beside


@dataclass(frozen=True, eq=False)
class Efforts:
    """Shares of strength in every frame; NaN where they are not known."""

    times: Array  # (n,) [s] from the beginning of the motion
    shares: Array  # (n, bodies) of the joint that moves each body; 1: all its strength

    def pack(self) -> bytes:
        """Returns them for the page: frames, bodies (u32), then times and shares (f32)."""
        rows = [np.ascontiguousarray(a, "<f4").tobytes() for a in (self.times, np.nan_to_num(self.shares))]
        return struct.pack("<II", *self.shares.shape) + b"".join(rows)

    def save(self, path: Path) -> None:
        """Writes them as an `.npz` file."""
        write_archive(path, {"times": self.times, "shares": self.shares})


def read_efforts(path: Path, bodies: int) -> Efforts | None:
    """Returns the efforts beside a take; None where there are none, or where their file cannot be read."""
    found = read_beside(path, EFFORTS_ENDING, "efforts", {"times": ("f", 1), "shares": ("f", 2)})
    if found is None or found["shares"].shape != (len(found["times"]), bodies):
        return None
    return Efforts(found["times"], found["shares"])


def body_efforts(character: Character, by_joint: Array) -> Array:
    """Returns shares (..., bodies) from those of all joints (..., joints); bodies without a joint use none."""
    out = np.zeros((*by_joint.shape[:-1], len(character.segments)))
    index = {name: i for i, name in enumerate(character.segments)}
    for k, joint in enumerate(character.joints):
        if joint.nv and joint.kind != "free":
            out[..., index[joint.body]] = by_joint[..., k]
    return out


def efforts_of_torques(character: Character, torque: Array) -> Array:
    """Returns how much of its strength the joint of each body uses, (..., bodies): the largest of its axes."""
    limit = np.asarray(character.torque_limit)
    share = np.divide(np.abs(torque), limit, out=np.zeros(torque.shape), where=limit > 0.0)
    largest = [share[..., joint.dofs].max(axis=-1, initial=0.0) for joint in character.joints]
    return body_efforts(character, np.stack(largest, axis=-1))


def efforts_of_recordings(recordings: Sequence[Recording], figure: int, rate: float) -> Efforts:
    """Returns the efforts of a simulated figure, `rate` frames a second; each change of its body has a recording."""
    times, shares = [], []
    for recording in recordings:
        step = max(1, round(1.0 / (rate * recording.timestep)))
        rows = np.arange(0, max(len(recording) - 1, 1), step)  # the last row has no inputs
        times.append(recording.time[rows] - recordings[0].time[0])
        shares.append(efforts_of_torques(recording.figures[figure], recording.torques(figure)[rows]))
    return Efforts(np.concatenate(times), np.concatenate(shares))


def efforts_of_result(result: Result) -> Efforts:
    """Returns the efforts of an optimised motion, at its knots; of two knots at one time the second."""
    times, by_joint = result.efforts()
    last = np.append(np.diff(times) > 0.0, True)
    return Efforts(times[last] - result.curve.times[0], body_efforts(result.motion.character, by_joint[last]))


def efforts_of_check(report: CheckReport, character: Character) -> Efforts:
    """Returns the efforts that a check has found; NaN in frames whose forces it cannot explain."""
    frames = report.frames
    by_joint = np.where(frames.known[:, None], frames.efforts, np.nan)
    return Efforts(np.asarray(frames.times - frames.times[0]), body_efforts(character, by_joint))
