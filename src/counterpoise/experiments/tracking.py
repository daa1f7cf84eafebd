"""How closely a recording follows its reference: joint errors, falls, and feet that should stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.track import point_path
from counterpoise.experiments.upright import reference_poses
from counterpoise.motion.motion import Motion
from counterpoise.simulate.recording import Recording

FALL_HEIGHT = 0.6  # of the reference's CoM height: below this a figure has fallen
FALL_LOAD = 0.05  # [body weights] on anything but feet and hands: a fall
LIFTED = 0.01  # [m] height from which a foot of the reference is in the air
MEASURED_ROWS = 20  # rows of a recording from one measurement to the next


@dataclass(frozen=True)
class TrackingReport:
    """How closely a run followed its reference, and whether it stood."""

    fell: float | None  # [s] time of the fall; None if it stood to the end
    median: float  # [deg] error of the joints over time, while it stood
    most: float  # [deg] the 95th percentile
    slip: float  # [m] largest path of a foot that should stand
    tilt: float  # [deg] largest rotation of such a foot off the ground
    done: bool  # reached the end of its reference

    @property
    def stood(self) -> bool:
        return self.fell is None

    def __str__(self) -> str:
        if self.fell is not None:
            return f"fell at {self.fell:.1f} s"
        left = "" if self.done else ", not to its end"
        return (
            f"stood{left}, joints off by {self.median:.1f} deg (95 %: {self.most:.1f}), feet turned {self.tilt:.1f} deg"
        )


def track_report(recording: Recording, reference: Motion | None = None) -> TrackingReport:
    """Measures a run against its reference, at the reference's own time; against its first pose if there is none."""
    fell = fall_time(recording, reference)
    row = len(recording) if fell is None else max(int(np.searchsorted(recording.time, fell)), 2)
    errors = np.degrees(joint_angles(recording, reference))[:row]
    standing = standing_feet(recording.character, reference)
    slip = {name: path for name, path in measure.foot_slip(recording).items() if name in standing}
    tilt = np.degrees(foot_tilt(recording, standing))[:row]
    clock = recording.notes.get("clock")
    done = reference is None or clock is None or float(clock[-1]) >= reference.end - 0.05
    return TrackingReport(
        fell, float(np.median(errors)), float(np.percentile(errors, 95.0)), max(slip.values(), default=0.0),
        float(tilt.max(initial=0.0)), done,
    )  # fmt: skip


def fall_time(recording: Recording, reference: Motion | None = None) -> float | None:
    """Returns when the figure fell [s], or None: anything but feet and hands bears weight, or the CoM is too low.

    Too low is below FALL_HEIGHT of the reference's CoM height: deep squats go below half the standing height.
    """
    character, rows = recording.character, _rows(recording)
    wanted = reference_poses(recording, reference)[rows]
    asked = np.array([_height(character, q) for q in wanted])
    have = np.array([_height(character, q) for q in recording.positions()[rows]])
    low = have < FALL_HEIGHT * asked
    times = [float(recording.time[rows[int(np.argmax(low))]])] if low.any() else []
    g = measure.ground_contacts(recording)
    feet = {foot.body for foot in character.feet} | {point.body for point in character.contact_points}
    other = ~np.isin(g.body, [character.body_id(name) for name in feet | set(character.hands)])
    load = np.bincount(g.row[other], np.linalg.norm(g.force[other], axis=1), len(recording))
    fallen = load > FALL_LOAD * character.weight
    if fallen.any():
        times.append(float(recording.time[int(np.argmax(fallen))]))
    return min(times, default=None)


def joint_angles(recording: Recording, reference: Motion | None = None) -> Array:
    """Returns (n, joints) [rad]: the angle of each joint from the reference; measured every MEASURED_ROWS rows."""
    character, rows = recording.character, _rows(recording)
    wanted = reference_poses(recording, reference)[rows]
    apart = np.asarray(character.difference(recording.positions()[rows], wanted))
    joints = [j for j in character.joints if j.dofs.start >= character.root_dofs.stop]
    found = np.stack([np.linalg.norm(apart[:, j.dofs], axis=1) for j in joints], axis=1)
    return np.repeat(found, MEASURED_ROWS, axis=0)[: len(recording)]


def standing_feet(character: Character, reference: Motion | None) -> tuple[str, ...]:
    """Returns the feet that the reference never lifts by more than LIFTED."""
    if reference is None:
        return tuple(foot.name for foot in character.feet)
    owner = np.array([i for i, foot in enumerate(character.feet) for _ in foot.points])
    up = np.zeros(len(character.feet), bool)
    for q in reference.poses[:: max(1, len(reference) // 100)]:
        heights = character.snapshot(character.state(q)).contact_position[:, 2]
        up |= np.array([heights[owner == i].min() > LIFTED for i in range(len(character.feet))])
    return tuple(foot.name for foot, lifted in zip(character.feet, up, strict=True) if not lifted)


def foot_tilt(recording: Recording, feet: Sequence[str]) -> Array:
    """Returns (n,) [rad]: the largest rotation of any of these feet off the ground since the start."""
    character, track = recording.character, recording.track()
    out = np.zeros(len(recording))
    for foot in character.feet:
        if foot.name in feet:
            low = point_path(character, track, foot.body, (0.0, 0.0, 0.0))
            first = character.snapshot(recording.state(0))
            up = first.rotation(foot.body).T @ np.array([0.0, 0.0, 1.0])
            axis = point_path(character, track, foot.body, tuple(up)) - low
            out = np.maximum(out, np.arccos(np.clip(axis[:, 2], -1.0, 1.0)))
    return out


def _rows(recording: Recording) -> Ints:
    return np.arange(0, len(recording), MEASURED_ROWS)


def _height(character: Character, q: Array) -> float:
    s = character.snapshot(character.state(q))
    return float(s.com[2] - s.contact_position[:, 2].min())
