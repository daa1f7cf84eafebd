"""Paths of props beside a take: where loose balls and boxes were while it was simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import CounterpoiseError
from counterpoise.files import write_archive
from counterpoise.scene.contents import PROPS_ENDING
from counterpoise.simulate import Platform, Prop, Recording, World
from counterpoise.simulate.props import HEAVIEST, SHAPES, moved
from counterpoise.studio.beside_takes import read_beside
from counterpoise.studio.frames import pack_rows

_COLUMNS = {"times": ("f", 1), "shapes": ("i", 1), "sizes": ("f", 2), "masses": ("f", 1), "poses": ("f", 3)}
PLATFORM_THICKNESS = 0.1  # [m] as it is drawn, and as it is simulated


@dataclass(frozen=True, eq=False)
class PropPaths:
    """Props, and their poses in every frame; NaN where one was not there yet, or any more."""

    times: Array  # (n,) [s] from the beginning of the take
    props: tuple[Prop, ...]
    poses: Array  # (n, props, 7): place [m], quaternion w x y z

    def pack(self) -> bytes:
        """Returns the paths for the page, in the layout of a motion's frames."""
        turns = np.roll(self.poses[:, :, 3:], -1, axis=2)
        return pack_rows(self.times, np.zeros((len(self.times), 3)), self.poses[:, :, :3], turns)

    def save(self, path: Path) -> None:
        """Writes the paths as an `.npz` file."""
        write_archive(
            path,
            {
                "times": self.times,
                "shapes": np.array([SHAPES.index(prop.shape) for prop in self.props]),
                "sizes": np.array([prop.extent for prop in self.props]),
                "masses": np.array([prop.mass for prop in self.props]),
                "poses": self.poses,
            },
        )


def platform_box(platform: Platform, time: float) -> Prop:
    """Returns a moving floor as a box, where it is after some time [s] of its motion."""
    x, y, z, roll, pitch, yaw = platform.pose(time)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in (((0, 0, 1), yaw), ((0, 1, 0), pitch), ((1, 0, 0), roll)):
        turn = np.array(spatial.multiply(turn, spatial.from_axis_angle(np.array(axis, float), angle)))
    down = spatial.rotate(turn, np.array([0.0, 0.0, -0.5 * PLATFORM_THICKNESS]))
    size = (2.0 * platform.half_size[0], 2.0 * platform.half_size[1], PLATFORM_THICKNESS)
    return moved(Prop("box", size, HEAVIEST, (0.0, 0.0, 0.0)), place=np.array([x, y, z]) + down, turn=turn)


def read_prop_paths(path: Path) -> PropPaths | None:
    """Returns the paths beside a take; None where there are none, or where their file cannot be read."""
    found = read_beside(path, PROPS_ENDING, "paths of props", _COLUMNS)
    if found is None:
        return None
    try:
        props = tuple(
            Prop(SHAPES[int(shape)], float(size[0]) if shape == 0 else tuple(size), float(mass), (0.0, 0.0, 0.0))  # type: ignore[arg-type]
            for shape, size, mass in zip(found["shapes"], found["sizes"], found["masses"], strict=True)
        )
    except (CounterpoiseError, IndexError, ValueError):
        return None
    if found["poses"].shape != (len(found["times"]), len(props), 7):
        return None
    return PropPaths(found["times"], props, found["poses"])


def paths_of_rows(
    times: Array, rows: Sequence[tuple[tuple[int, ...], Array]], known: dict[int, Prop]
) -> PropPaths | None:
    """Returns the paths of props from the frames of a live run: numbers and poses (k, 7) of those that were there."""
    numbers = sorted({number for there, _ in rows for number in there})
    if not numbers:
        return None
    column = {number: k for k, number in enumerate(numbers)}
    poses = np.full((len(rows), len(numbers), 7), np.nan)
    for row, (there, now) in enumerate(rows):
        for number, pose in zip(there, now, strict=True):
            poses[row, column[number]] = pose
    return PropPaths(times - times[0], tuple(known[number] for number in numbers), poses)


def paths_of_recordings(recordings: Sequence[Recording], world: World, rate: float) -> PropPaths | None:
    """Returns the paths of the props of a run, and of a moving floor, `rate` frames a second; a run has one more
    recording for each change of a body, which begins where the one before ends."""
    props, platform = world.props, world.platform
    if not props and platform is None:
        return None
    parts = []
    for k, recording in enumerate(recordings):
        step = max(1, round(1.0 / (rate * recording.timestep)))
        last = len(recording) - 1
        inner = np.unique([*range(0, last, step), last])
        parts.append(inner if k == 0 else inner[inner > 0])
    together = list(zip(recordings, parts, strict=True))
    times = np.concatenate([one.time[rows] for one, rows in together]) - recordings[0].time[0]
    paths = [np.concatenate([one.prop_poses(k)[rows] for one, rows in together]) for k in range(len(props))]
    if platform is not None:
        boxes = [platform_box(platform, float(time)) for time in times]
        paths.append(np.array([[*box.place, *box.turn] for box in boxes]))
        props = (*props, boxes[0])
    return PropPaths(times, tuple(props), np.stack(paths, axis=1))
