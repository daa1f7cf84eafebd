"""Reading a saved recording: every array is checked for its kind, its shape and its fit with the others."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from counterpoise.character.character import Character
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import Archive, Refused, one_line
from counterpoise.simulate.recording import FORMAT, NOTE_PREFIX, TICKS, VERSION, Contacts, Recording
from counterpoise.simulate.world import FigurePlace


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


def read_recording(archive: Archive) -> Recording:
    """Returns the recording of an archive; raises Refused if its arrays are damaged or do not fit together."""
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
    if "warm_start" in archive.names:
        arrays["warm_start"] = archive.read("warm_start", "f", 1, (model.nv,))
    for name, values in {"time": time, **arrays}.items():
        if not np.isfinite(values).all():
            raise Refused(f"array {name!r} holds NaN or infinity")
    step = float(archive.read("timestep", "f", 0)[()])
    if step != float(model.opt.timestep):
        raise Refused(f"its timestep {step} is not its model's, {model.opt.timestep}")
    if n > 1 and not np.allclose(np.diff(time), step, rtol=1e-6, atol=1e-12):
        raise Refused(f"its time does not advance by its timestep of {step} s")
    figures, places = _read_figures(meta, model)
    _check_props(meta, model)
    for key in ("format", "version", "mujoco", "figures"):
        meta.pop(key)
    ticks = archive.read(TICKS, "f", 1)
    recording = Recording(
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
        warm_start=arrays.get("warm_start"),
    )
    try:
        _ = recording.terrain  # made here, so that a damaged one is found here
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        raise Refused(f"its terrain is damaged: {one_line(error)}") from error
    return recording


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


def _check_props(meta: dict[str, Any], model: mujoco.MjModel) -> None:
    """Refuses notes on props that do not fit the model."""
    try:
        firsts = [int(one["qpos"]) for one in meta.get("props", [])]
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"its props are damaged: {one_line(error)}") from error
    if any(not 0 <= first <= model.nq - 7 for first in firsts):
        raise Refused("its props do not fit its model")


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
        if not name.startswith(NOTE_PREFIX):
            continue
        try:
            values = archive.read(name, "f", 1)
        except Refused:
            values = archive.read(name, "U", 1)
        if len(values) != ticks:
            raise Refused(f"array {name!r} has {len(values)} entries for {ticks} ticks")
        notes[name.removeprefix(NOTE_PREFIX)] = values
    return notes
