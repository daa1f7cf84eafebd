"""Momentum balance with its objectives switched on one after another, Stand beside it, and what a run was worth.

Macchietto compares tracking alone, tracking with linear balance, and both with angular balance. The experiments after
him do the same here and count, for each, whether the figure stood, how closely it followed and what its feet did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.track import point_path
from counterpoise.control.basic import Controller
from counterpoise.control.momentum_balance import MomentumBalance
from counterpoise.control.rehearsal import smoothed
from counterpoise.control.stand import Stand
from counterpoise.errors import BadFile
from counterpoise.experiments.base import Lab
from counterpoise.experiments.upright import reference_poses
from counterpoise.measure.balance import track_of
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Objective
from counterpoise.simulate.disturbances import Disturbance
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMBINATIONS: Mapping[str, tuple[str, ...]] = {
    "tracking": ("tracking",),
    "linear": ("tracking", "linear"),
    "angular": ("tracking", "linear", "angular"),
}
EVERY = (*COMBINATIONS, "stand")
WORDS = {"tracking": "tracking", "linear": "+ linear", "angular": "+ linear + angular", "stand": "Stand"}
LOW = 0.6  # of the height the reference's CoM has: below this a figure has fallen
TOUCH = 0.05  # [body weights] on anything but feet and hands: a fall
CLIPS = Path(__file__).resolve().parents[4] / "shared" / "mocap"  # beside the folder the project lives in
SMOOTH = 0.05  # [s] standard deviation of the window that captured references are averaged with for MomentumBalance


@dataclass(frozen=True)
class Worth:
    """What a run was worth."""

    fell: float | None  # [s] when; None: it stood to the end
    median: float  # [deg] over joints and time, while it stood
    most: float  # [deg] the 95th percentile
    slip: float  # [m] path of the foot that slid most, of those that should stand
    tilt: float  # [deg] most that such a foot turned off the ground
    done: bool  # came to the end of its reference

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


def controller_of(
    combination: str,
    reference: Motion | None = None,
    *,
    captured: bool = False,
    variant: Any = "2009",
    extra: Sequence[Objective] = (),
) -> Controller:
    """MomentumBalance with the objectives of a combination, or Stand.

    Captured motions are smoothed for MomentumBalance, whose feed-forward takes accelerations as they are; Stand smooths
    its references itself.
    """
    if combination == "stand":
        return Stand(reference, extra=extra)
    if captured and reference is not None:
        reference = smoothed(reference, SMOOTH)
    return MomentumBalance(reference, objectives=COMBINATIONS[combination], variant=variant, extra=extra)


def run_each(
    lab: Lab,
    who: Character,
    reference: Motion | None,
    seconds: float,
    *,
    name: str = "",
    combinations: Sequence[str] = EVERY,
    captured: bool = False,
    disturbances: Sequence[Disturbance] = (),
    extra: Sequence[Objective] = (),
    variant: str = "2009",
) -> dict[str, Recording]:
    """One run with each combination, all from the same start."""
    start = Stand(reference).ready(who)
    out = {}
    for combination in combinations:
        control = controller_of(combination, reference, captured=captured, variant=variant, extra=extra)
        title = f"{name}_{combination}" if name else combination
        out[combination] = lab.simulate(title, who, control, seconds, start=start, disturbances=disturbances)
    return out


def forget(lab: Lab, keep: Sequence[str]) -> None:
    """Keep only some of the recordings: the others are many, and easily made again."""
    for name in [n for n in lab.recordings if n not in keep]:
        del lab.recordings[name]


# ---------------------------------------------------------------------------------------------------------- measuring


def worth(recording: Recording, reference: Motion | None = None) -> Worth:
    """How a run went, measured against the reference at the time its clock showed."""
    fell = fall_time(recording, reference)
    row = len(recording) if fell is None else max(int(np.searchsorted(recording.time, fell)), 2)
    errors = np.degrees(joint_angles(recording, reference))[:row]
    standing = standing_feet(recording.character, reference)
    slip = {name: path for name, path in measure.foot_slip(recording).items() if name in standing}
    tilt = np.degrees(foot_tilt(recording, standing))[:row]
    clock = recording.notes.get("clock")
    done = reference is None or clock is None or float(clock[-1]) >= reference.end - 0.05
    return Worth(
        fell, float(np.median(errors)), float(np.percentile(errors, 95.0)), max(slip.values(), default=0.0),
        float(tilt.max(initial=0.0)), done,
    )  # fmt: skip


def fall_time(recording: Recording, reference: Motion | None = None) -> float | None:
    """When something but feet and hands came to bear weight, or the CoM sank below LOW of where the reference has it.

    Deep squats take the CoM to less than half its standing height, and hands near the ground: how low is too low is
    for the reference to say.
    """
    who, rows = recording.character, _rows(recording)
    wanted = reference_poses(recording, reference)[rows]
    asked = np.array([_height(who, q) for q in wanted])
    have = np.array([_height(who, q) for q in recording.positions()[rows]])
    low = have < LOW * asked
    times = [float(recording.time[rows[int(np.argmax(low))]])] if low.any() else []
    g = measure.ground_contacts(recording)
    feet = {foot.body for foot in who.feet} | {point.body for point in who.contact_points}
    other = ~np.isin(g.body, [who.body_id(name) for name in feet | set(who.hands)])
    load = np.bincount(g.row[other], np.linalg.norm(g.force[other], axis=1), len(recording))
    if (load > TOUCH * who.mass * 9.81).any():
        times.append(float(recording.time[int(np.argmax(load > TOUCH * who.mass * 9.81))]))
    return min(times, default=None)


def joint_angles(recording: Recording, reference: Motion | None = None) -> Array:
    """(n, joints) [rad]: how far each joint is turned from where the reference has it, every 20 ms repeated per row."""
    who, rows = recording.character, _rows(recording)
    wanted = reference_poses(recording, reference)[rows]
    apart = np.asarray(who.difference(recording.positions()[rows], wanted))
    joints = [j for j in who.joints if j.dofs.start >= who.root_dofs.stop]
    found = np.stack([np.linalg.norm(apart[:, j.dofs], axis=1) for j in joints], axis=1)
    return np.repeat(found, _STRIDE, axis=0)[: len(recording)]


def standing_feet(who: Character, reference: Motion | None) -> tuple[str, ...]:
    """Feet that the reference never lifts by more than a centimetre."""
    if reference is None:
        return tuple(foot.name for foot in who.feet)
    owner = np.array([i for i, foot in enumerate(who.feet) for _ in foot.points])
    up = np.zeros(len(who.feet), bool)
    for q in reference.poses[:: max(1, len(reference) // 100)]:
        heights = who.snapshot(who.state(q)).contact_position[:, 2]
        up |= np.array([heights[owner == i].min() > 0.01 for i in range(len(who.feet))])
    return tuple(foot.name for foot, lifted in zip(who.feet, up, strict=True) if not lifted)


def foot_tilt(recording: Recording, feet: Sequence[str]) -> Array:
    """(n,) [rad]: the most that any of these feet is turned off the ground: its axis then, and at the start."""
    who, track = recording.character, track_of(recording, 0)
    out = np.zeros(len(recording))
    for foot in who.feet:
        if foot.name in feet:
            low = point_path(who, track, foot.body, (0.0, 0.0, 0.0))
            first = who.snapshot(recording.state(0))
            up = first.rotation(foot.body).T @ np.array([0.0, 0.0, 1.0])
            axis = point_path(who, track, foot.body, tuple(up)) - low
            out = np.maximum(out, np.arccos(np.clip(axis[:, 2], -1.0, 1.0)))
    return out


_STRIDE = 20  # rows between those that are measured


def _rows(recording: Recording) -> Ints:
    return np.arange(0, len(recording), _STRIDE)


def _height(who: Character, q: Array) -> float:
    s = who.snapshot(who.state(q))
    return float(s.com[2] - s.contact_position[:, 2].min())


# ------------------------------------------------------------------------------------------------------ clips, drawing


def clip_folder(given: str) -> Path | None:
    """Where captured clips are: the folder asked for, or the project's own; None where there is none."""
    if given:
        if not Path(given).is_dir():
            raise BadFile(f"there is no folder {given!r} with clips; leave `clips` empty to do without", path=given)
        return Path(given)
    return CLIPS if CLIPS.is_dir() else None


def captured_motion(folder: Path, clip: str, frames: tuple[int, int], who: Character) -> Motion:
    """Frames of a captured clip, carried over to a figure, beginning at time 0."""
    from counterpoise.motion.files.hub import read_motion
    from counterpoise.motion.retarget.transfer import retarget

    made = retarget(read_motion(folder / f"{clip}.bvh", frames=frames), who)
    return made.shifted(-made.start)


def strips(runs: Mapping[str, Recording], times: Sequence[float], ghost: Motion | None = None, **view: Any) -> Figure:
    """Filmstrips of several runs, one below the other, each with its name."""
    from matplotlib.figure import Figure

    from counterpoise.render.pictures import filmstrip
    from counterpoise.render.sources import take_of

    rows = []
    for recording in runs.values():
        shown = [min(t, float(recording.time[-1])) for t in times]
        take = take_of(recording, ghost=ghost)
        rows.append(filmstrip(take, times=shown, size=(150, 200), columns=len(shown), samples=4, **view))
    high, wide = rows[0].shape[:2]
    drawing = Figure(figsize=(wide / 110.0, len(rows) * (high + 26) / 110.0), layout="constrained", dpi=110)
    for axis, picture, name in zip(drawing.subplots(len(rows), 1, squeeze=False)[:, 0], rows, runs, strict=True):
        axis.imshow(picture)
        axis.set_title(WORDS.get(name, name), fontsize=8, loc="left", pad=2)
        axis.axis("off")
    return drawing


def facts_of(found: Mapping[str, Worth]) -> dict[str, dict[str, Any]]:
    """Numbers for a program to read."""
    return {name: dataclasses.asdict(one) for name, one in found.items()}
