"""Recording: everything that happened in a simulation, enough for plain MuJoCo to repeat it bit by bit.

It is saved as `.npz` without pickle. Row k holds the state before step k and the inputs applied during it; the last row
is the final state with no inputs. To repeat it, set the first state (and qacc_warmstart = warm_start, where there is
one); then, for every row but the last, set qfrc_applied = torque[k] and xfrc_applied = external[k], and call mj_step.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.character.track import Track, follow
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.files import Refused, one_line, open_archive, write_archive
from counterpoise.motion.motion import Motion
from counterpoise.motion.tables import data_frame, data_set, joint_columns
from counterpoise.simulate.world import FigurePlace, World
from counterpoise.terrain import Terrain
from counterpoise.terrain.description import describe_terrain, terrain_from_description

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMAT, VERSION = "counterpoise-recording", 1
NOTE_PREFIX, TICKS = "note:", "tick"  # names of arrays in the file


@dataclass(frozen=True, eq=False)
class Contacts:
    """The contact forces of all steps in one list; those of row k are `start[k]:start[k + 1]`."""

    start: Ints  # (n + 1,)
    bodies: NDArray[np.int32]  # (m, 2) the two bodies, by index in the world's model (0: the fixed world)
    point: Array  # (m, 3) [m]
    force: Array  # (m, 3) [N], world frame, on the second body; the first feels the opposite

    def at(self, row: int) -> slice:
        """The contacts of a row."""
        return slice(int(self.start[row]), int(self.start[row + 1]))


@dataclass(frozen=True, eq=False)
class Recording:
    """A simulation, step by step. The arrays are read-only."""

    figures: tuple[Character, ...]
    places: tuple[FigurePlace, ...]
    model: mujoco.MjModel
    time: Array  # (n,) [s]
    qpos: Array  # (n, nq) of the whole world
    qvel: Array  # (n, nv)
    torque: Array  # (n, nv) as MuJoCo's qfrc_applied [N m]
    external: Array  # (n, nbody, 6) as MuJoCo's xfrc_applied [N, N m]
    contacts: Contacts
    ticks: Array  # (t,) [s] times of the first figure's control ticks
    notes: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # of that controller, (t,) each
    tick_seconds: Array = field(default_factory=lambda: np.empty(0))  # (t,) wall-clock time of each tick [s]
    meta: Mapping[str, Any] = field(default_factory=dict)
    warm_start: Array | None = None  # (nv,) MuJoCo's qacc_warmstart at the first row; None: zero, as in a new MjData

    def __post_init__(self) -> None:
        for name in ("time", "qpos", "qvel", "torque", "external", "ticks", "tick_seconds"):
            getattr(self, name).flags.writeable = False

    # -- reading ----------------------------------------------------------------------------------------------------
    @property
    def character(self) -> Character:
        """The first (usually the only) figure."""
        return self.figures[0]

    @property
    def timestep(self) -> float:
        return float(self.model.opt.timestep)

    @property
    def duration(self) -> float:
        return float(self.time[-1] - self.time[0])

    @property
    def status(self) -> str:
        """`finished`, `interrupted` (Ctrl-C) or `diverged` (the next state was not finite)."""
        return str(self.meta.get("status", "finished"))

    @cached_property
    def terrain(self) -> Terrain | None:
        """The terrain of its world; None where the ground is a plane."""
        tables = self.meta.get("terrain")
        return None if tables is None else terrain_from_description(tables)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        names = ", ".join(figure.name for figure in self.figures)
        return f"Recording({names}: {self.duration:.3f} s, {len(self)} rows, {self.status})"

    def positions(self, figure: int = 0) -> Array:
        """Returns (n, nq) of one figure."""
        return self.qpos[:, self.places[figure].qpos]

    def velocities(self, figure: int = 0) -> Array:
        """Returns (n, nv) of one figure."""
        return self.qvel[:, self.places[figure].dofs]

    def torques(self, figure: int = 0) -> Array:
        """Returns (n, nv) of one figure [N m]."""
        return self.torque[:, self.places[figure].dofs]

    def state(self, row: int = -1, figure: int = 0) -> State:
        """The state of one figure in a row."""
        return State(self.positions(figure)[row], self.velocities(figure)[row], float(self.time[row]))

    @cached_property
    def motion(self) -> Motion:
        """The motion of the first figure."""
        return self.motion_of(0)

    def motion_of(self, figure: int) -> Motion:
        """The motion of one figure."""
        character = self.figures[figure]
        return Motion(character, self.time, self.positions(figure), name=f"{character.name} simulated")

    def track(self, figure: int = 0) -> Track:
        """CoM, momentum, energy and body poses of one figure in every row; computed once."""
        if figure not in self._tracks:
            self._tracks[figure] = follow(self.figures[figure], self.positions(figure), self.velocities(figure))
        return self._tracks[figure]

    @cached_property
    def _tracks(self) -> dict[int, Track]:
        return {}

    def prop_poses(self, prop: int = 0) -> Array:
        """Returns the place and the quaternion (w first) of a prop in every row, (n, 7)."""
        props = self.meta.get("props", [])
        if not 0 <= prop < len(props):
            raise BadValue(f"there is no prop {prop}; this recording has {len(props)} (counted from 0)")
        first = int(props[prop]["qpos"])
        return self.qpos[:, first : first + 7]

    def row_at(self, time: float) -> int:
        """The row nearest to a time [s]."""
        return int(np.clip(np.searchsorted(self.time, time - 0.5 * self.timestep), 0, len(self) - 1))

    def plot(self, *what: str, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plots recorded quantities: `rec.plot("com", "cop", "torque:knee_left")`; see docs/render.md for all names."""
        from counterpoise.render.plots import plot_recording

        return plot_recording(self, *what, path=path)

    def columns(self, figure: int = 0) -> dict[str, Array]:
        """Returns what was recorded of a figure by name, (n,) each: time, CoM, coordinates, velocities and torques."""
        character, track = self.figures[figure], self.track(figure)
        out = {"time": self.time, **{f"com_{axis}": track.com[:, k] for k, axis in enumerate("xyz")}}
        values = (("q", self.positions(figure)), ("v", self.velocities(figure)), ("torque", self.torques(figure)))
        return out | joint_columns(character, values)

    def table(self, figure: int = 0) -> Any:
        """Returns `columns` as a pandas DataFrame (extra `tables`)."""
        return data_frame(self.columns(figure))

    def xarray(self, figure: int = 0) -> Any:
        """Returns `columns` as an xarray Dataset over time (extra `tables`)."""
        return data_set(self.columns(figure))

    # -- files ------------------------------------------------------------------------------------------------------
    def arrays(self, timings: bool = False) -> dict[str, NDArray[Any]]:
        """Returns the arrays that are saved. Timings differ from run to run; they are included only with `timings`."""
        out: dict[str, NDArray[Any]] = {
            "time": self.time,
            "qpos": self.qpos,
            "qvel": self.qvel,
            "torque": self.torque,
            "external": self.external,
            "model_mjb": model_bytes(self.model),
            "timestep": np.array(self.timestep),
            "meta": np.array(json.dumps(self._full_meta(), sort_keys=True)),
            "contact_start": self.contacts.start,
            "contact_bodies": self.contacts.bodies,
            "contact_point": self.contacts.point,
            "contact_force": self.contacts.force,
            TICKS: self.ticks,
        }
        out |= {f"{NOTE_PREFIX}{name}": values for name, values in sorted(self.notes.items())}
        if self.warm_start is not None:
            out["warm_start"] = self.warm_start
        if timings:
            out["tick_seconds"] = self.tick_seconds
        return out

    def save(self, path: str | os.PathLike[str], timings: bool = False) -> None:
        """Writes an `.npz` file, completely or not at all. Without `timings`, equal runs give equal bytes."""
        write_archive(path, self.arrays(timings))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Recording:
        """Reads a recording. Every problem with the file is a BadFile."""
        from counterpoise.simulate.recording_files import read_recording

        with open_archive(path, "recording") as archive:
            try:
                return read_recording(archive)
            except CounterpoiseError as error:
                raise Refused(one_line(error)) from error

    def fingerprint(self) -> str:
        """Returns a digest of all that is deterministic in the recording: equal for equal runs."""
        digest = hashlib.sha256()
        for name, values in self.arrays().items():
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()[:16]

    def _full_meta(self) -> dict[str, Any]:
        figures = [
            {
                "name": character.name,
                "mjcf": character.to_mjcf(),
                "prefix": place.prefix,
                "qpos": [place.qpos.start, place.qpos.stop],
                "dofs": [place.dofs.start, place.dofs.stop],
                "bodies": [place.bodies.start, place.bodies.stop],
            }
            for character, place in zip(self.figures, self.places, strict=True)
        ]
        head = {"format": FORMAT, "version": VERSION, "mujoco": mujoco.mj_versionString(), "figures": figures}
        return {**self.meta, **head}


def model_bytes(model: mujoco.MjModel) -> NDArray[np.uint8]:
    """Returns the compiled model in MuJoCo's binary format."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer


def terrain_meta(world: World) -> dict[str, Any]:
    """Returns what a recording notes of its terrain: nothing where there is none."""
    return {} if world.terrain is None else {"terrain": describe_terrain(world.terrain)}
