"""Recording: everything that happened in a simulation, enough for plain MuJoCo to repeat it bit by bit.

It is saved as `.npz` without pickle. Row k holds the state before step k and the inputs applied during it; the last row
is the final state with no inputs. To repeat it, set the first state; then, for every row but the last, set
qfrc_applied = torque[k] and xfrc_applied = external[k], and call mj_step.
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
from counterpoise.character.snapshot import Track, follow
from counterpoise.character.state import State
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.files import Archive, Refused, one_line, open_archive, write_archive
from counterpoise.motion.motion import Motion
from counterpoise.simulate.world import FigurePlace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FORMAT, VERSION = "counterpoise-recording", 1
_NOTE, _TICK = "note:", "tick"  # names of arrays in the file


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

    def row_at(self, time: float) -> int:
        """The row nearest to a time [s]."""
        return int(np.clip(np.searchsorted(self.time, time - 0.5 * self.timestep), 0, len(self) - 1))

    def plot(self, *what: str, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plots recorded quantities: `rec.plot("com", "cop", "torque:knee_left")`; see docs/render.md for all names."""
        from counterpoise.render.plots import plot_recording

        return plot_recording(self, *what, path=path)

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
            _TICK: self.ticks,
        }
        out |= {f"{_NOTE}{name}": values for name, values in sorted(self.notes.items())}
        if timings:
            out["tick_seconds"] = self.tick_seconds
        return out

    def save(self, path: str | os.PathLike[str], timings: bool = False) -> None:
        """Writes an `.npz` file, completely or not at all. Without `timings`, equal runs give equal bytes."""
        write_archive(path, self.arrays(timings))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Recording:
        """Reads a recording. Every problem with the file is a BadFile."""
        with open_archive(path, "recording") as archive:
            try:
                return _read(archive)
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


def model_from_bytes(data: NDArray[np.uint8], version: str) -> mujoco.MjModel:
    """Returns the model read from MuJoCo's binary format; one of another MuJoCo version is refused."""
    if version != mujoco.mj_versionString():
        raise BadFile(
            f"made with MuJoCo {version}, and this is {mujoco.mj_versionString()}: "
            "compiled models do not cross versions; simulate it again"
        )
    try:
        return mujoco.MjModel.from_binary_path("recording.mjb", {"recording.mjb": data.tobytes()})
    except (ValueError, RuntimeError, mujoco.FatalError, mujoco.UnexpectedError, MemoryError) as error:
        raise BadFile(f"its compiled model is damaged: {one_line(error)}") from error


def _read(archive: Archive) -> Recording:
    meta = archive.read_meta(FORMAT, VERSION)
    model = model_from_bytes(archive.read("model_mjb", "u", 1), str(meta.get("mujoco")))
    time = archive.read("time", "f", 1)
    n = len(time)
    if n < 1:
        raise Refused("it holds no rows")
    arrays = {
        "qpos": archive.read("qpos", "f", 2, (n, model.nq)),
        "qvel": archive.read("qvel", "f", 2, (n, model.nv)),
        "torque": archive.read("torque", "f", 2, (n, model.nv)),
        "external": archive.read("external", "f", 3, (n, model.nbody, 6)),
    }
    for name, values in {"time": time, **arrays}.items():
        if not np.isfinite(values).all():
            raise Refused(f"array {name!r} holds NaN or infinity")
    step = float(archive.read("timestep", "f", 0)[()])
    if step != float(model.opt.timestep):
        raise Refused(f"its timestep {step} is not its model's, {model.opt.timestep}")
    if n > 1 and not np.allclose(np.diff(time), step, rtol=1e-6, atol=1e-12):
        raise Refused(f"its time does not advance by its timestep of {step} s")
    figures, places = _read_figures(meta, model)
    for key in ("format", "version", "mujoco", "figures"):
        meta.pop(key)
    ticks = archive.read(_TICK, "f", 1)
    return Recording(
        figures=figures,
        places=places,
        model=model,
        time=time,
        qpos=arrays["qpos"],
        qvel=arrays["qvel"],
        torque=arrays["torque"],
        external=arrays["external"],
        contacts=_read_contacts(archive, n, model.nbody),
        ticks=ticks,
        notes=_read_notes(archive, len(ticks)),
        tick_seconds=archive.read("tick_seconds", "f", 1) if "tick_seconds" in archive.names else np.empty(0),
        meta=meta,
    )


def _read_figures(meta: dict[str, Any], model: mujoco.MjModel) -> tuple[tuple[Character, ...], tuple[FigurePlace, ...]]:
    figures, places = [], []
    try:
        for entry in meta["figures"]:
            character = Character.from_mjcf(str(entry["mjcf"]))
            spans = [_span(entry[key]) for key in ("qpos", "dofs", "bodies")]
            sizes = [(spans[0], character.nq, model.nq), (spans[1], character.nv, model.nv)]
            sizes.append((spans[2], character.model.nbody - 1, model.nbody))
            if any(s.start < 0 or s.stop > top or s.stop - s.start != size for s, size, top in sizes):
                raise BadValue(f"figure {character.name!r} does not fit its model")
            figures.append(character)
            places.append(FigurePlace(str(entry["prefix"]), *spans))
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise Refused(f"its figures are damaged: {one_line(error)}") from error
    if not figures:
        raise Refused("it names no figure")
    return tuple(figures), tuple(places)


def _span(ends: Any) -> slice:
    start, stop = ends
    return slice(int(start), int(stop))


def _read_contacts(archive: Archive, rows: int, bodies: int) -> Contacts:
    start = archive.read("contact_start", "i", 1)
    pairs = archive.read("contact_bodies", "i", 2)
    point, force = archive.read("contact_point", "f", 2), archive.read("contact_force", "f", 2)
    m = len(pairs)
    fits = len(start) == rows + 1 and start[0] == 0 and start[-1] == m and bool(np.all(np.diff(start) >= 0))
    if not fits or pairs.shape != (m, 2) or point.shape != (m, 3) or force.shape != (m, 3):
        raise Refused("its contact arrays do not fit together")
    if m and (pairs.min() < 0 or pairs.max() >= bodies):
        raise Refused("its contacts name bodies that are not there")
    return Contacts(start, pairs, point, force)


def _read_notes(archive: Archive, ticks: int) -> dict[str, NDArray[Any]]:
    notes: dict[str, NDArray[Any]] = {}
    for name in archive.names:
        if not name.startswith(_NOTE):
            continue
        try:
            values = archive.read(name, "f", 1)
        except Refused:
            values = archive.read(name, "U", 1)
        if len(values) != ticks:
            raise Refused(f"array {name!r} has {len(values)} entries for {ticks} ticks")
        notes[name.removeprefix(_NOTE)] = values
    return notes
