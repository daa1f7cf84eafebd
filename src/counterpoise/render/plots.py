"""Plots of recorded quantities over time: one panel a quantity."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.track import point_path
from counterpoise.errors import BadValue, unknown_name
from counterpoise.files import whole_file
from counterpoise.motion.motion import Motion
from counterpoise.render import palette
from counterpoise.simulate.recording import Contacts, Recording
from counterpoise.simulate.world import FigurePlace

SUFFIXES = (".png", ".pdf", ".svg")
LIMIT_SHOWN = 0.3  # of a torque limit: where torques exceed it, the limit is drawn too

MOVED_ONLY = "moved_only"  # in the meta of a recording that was made of a motion: it has no forces
WITHOUT_FORCES = (
    "com", "com_velocity", "momentum", "angular_momentum", "energy", "lift", "angle", "speed", "position",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Curves:
    """One panel: lines over time."""

    title: str
    unit: str
    time: Array  # (n,)
    lines: dict[str, Array]  # label -> (n,)


def plot_recording(
    recording: Recording | Motion, *what: str, path: str | os.PathLike[str] | None = None, figure: int = 0
) -> Figure:
    """Plots one panel for each of `what` (see `plottable`); written to `path` (png, pdf or svg) if one is given."""
    usual = ("com", "ground_force") if isinstance(recording, Recording) else ("com", "com_velocity")
    subject = as_recording(recording)
    panels = [curves(subject, name, figure) for name in (what or usual)]
    drawing = Figure(figsize=(8.0, 1.0 + 1.9 * len(panels)), layout="constrained")
    axes = drawing.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    colours = palette.FIGURES
    for axis, panel in zip(axes, panels, strict=True):
        for number, (label, values) in enumerate(panel.lines.items()):
            limit = label == "limit"
            colour = palette.INK if limit else colours[number % len(colours)]
            style = {"linewidth": 0.8, "linestyle": "--"} if limit else {"linewidth": 1.3}
            axis.plot(panel.time, values, color=colour, label=label, **style)
        style_axis(axis, f"{panel.title} [{panel.unit}]" if panel.unit else panel.title)
        if len(panel.lines) > 1:
            axis.legend(fontsize=8, frameon=False, ncols=min(len(panel.lines), 6), loc="upper right")
    axes[-1].set_xlabel("time [s]", fontsize=9)
    if path is not None:
        write_plot(drawing, path)
    return drawing


def style_axis(axis: Any, label: str) -> None:
    """Gives a panel the look of all our plots: a light grid, no frame, small labels."""
    axis.set_ylabel(label, fontsize=9)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def write_plot(drawing: Figure, path: str | os.PathLike[str]) -> None:
    """Writes a plot, completely or not at all. Equal plots give equal bytes."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise BadValue(f"a plot is written as {', '.join(SUFFIXES)}; got {str(path)!r}")
    quiet = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}[suffix]
    with whole_file(path) as temporary:
        drawing.savefig(temporary, dpi=120, metadata=quiet, format=suffix[1:])


def as_recording(subject: Recording | Motion) -> Recording:
    """Returns a recording as it is; of a motion, one that holds what a motion says, without forces."""
    if isinstance(subject, Recording):
        return subject
    character, n = subject.character, len(subject)
    none = Contacts(np.zeros(n + 1, np.int64), np.zeros((0, 2), np.int32), np.zeros((0, 3)), np.zeros((0, 3)))
    model = character.model
    place = FigurePlace("", slice(0, model.nq), slice(0, model.nv), slice(1, model.nbody))
    return Recording(
        figures=(character,), places=(place,), model=model, time=np.array(subject.times), qpos=np.array(subject.poses),
        qvel=np.array(subject.sample(subject.times).v), torque=np.zeros((n, model.nv)),
        external=np.zeros((n, model.nbody, 6)), contacts=none, ticks=np.empty(0), meta={MOVED_ONLY: True},
    )  # fmt: skip


def plottable(recording: Recording | Motion, figure: int = 0) -> dict[str, str]:
    """Returns every name that can be plotted for this recording or motion, with a description."""
    recording = as_recording(recording)
    if recording.meta.get(MOVED_ONLY):
        out = {name: text for name, (text, _) in _WHOLE.items() if name in WITHOUT_FORCES}
        for kind, text in (("angle", "coordinates of"), ("speed", "velocity of")):
            out |= {f"{kind}:{j.name}": f"{text} {j.name}" for j in recording.character.joints}
        return out | {f"position:{b}": f"position of {b} [m]" for b in recording.character.segments}
    character = recording.figures[figure]
    out = {name: text for name, (text, _) in _WHOLE.items()}
    joints = [j.name for j in character.joints]
    out |= {f"torque:{j}": f"torque at {j} [N m], limits dashed" for j in joints if not j.startswith("root")}
    out |= {f"angle:{j}": f"coordinates of {j}" for j in joints}
    out |= {f"speed:{j}": f"velocity of {j}" for j in joints}
    out |= {f"position:{b}": f"position of {b} [m]" for b in character.segments}
    out |= {f"force:{f.name}": f"ground force on {f.name} [N]" for f in character.feet}
    out |= {f"note:{n}": f"the controller's {n}" for n, v in recording.notes.items() if v.dtype.kind == "f"}
    return out


def curves(recording: Recording | Motion, name: str, figure: int = 0) -> Curves:
    """Returns the lines of one panel."""
    recording = as_recording(recording)
    forces = name.partition(":")[0] not in WITHOUT_FORCES and (name in _WHOLE or name.partition(":")[0] in _PARTS)
    if recording.meta.get(MOVED_ONLY) and forces:
        raise BadValue(
            f"{name!r} is recorded in a simulation; a motion has {', '.join(WITHOUT_FORCES)} (the forces that it needs "
            "are drawn by check)"
        )
    if name in _WHOLE:
        return _WHOLE[name][1](recording, figure)
    kind, _, part = name.partition(":")
    if part and kind in _PARTS:
        return _PARTS[kind](recording, figure, part)
    raise unknown_name("quantity", name, plottable(recording, figure))


def _xyz(values: Array, labels: tuple[str, ...] = ("x", "y", "z")) -> dict[str, Array]:
    return {label: values[:, i] for i, label in enumerate(labels)}


def _com(r: Recording, f: int) -> Curves:
    return Curves("CoM", "m", r.time, _xyz(measure.com(r, f)))


def _com_velocity(r: Recording, f: int) -> Curves:
    return Curves("CoM velocity", "m/s", r.time, _xyz(measure.momentum(r, f)[:, 3:] / r.figures[f].mass))


def _cop(r: Recording, f: int) -> Curves:
    return Curves("CoP", "m", r.time, _xyz(measure.cop(r, f)[:, :2], ("x", "y")))


def _linear(r: Recording, f: int) -> Curves:
    return Curves("linear momentum", "kg m/s", r.time, _xyz(measure.momentum(r, f)[:, 3:]))


def _angular(r: Recording, f: int) -> Curves:
    return Curves("angular momentum", "kg m²/s", r.time, _xyz(measure.momentum(r, f)[:, :3]))


def _ground_force(r: Recording, f: int) -> Curves:
    return Curves("ground force", "N", r.time[:-1], _xyz(measure.ground_force(r, f)[:-1]))


def _energy(r: Recording, f: int) -> Curves:
    e = measure.energy(r, f)
    return Curves("energy", "J", r.time, {"kinetic": e.kinetic, "potential": e.potential, "total": e.total})


def _power(r: Recording, f: int) -> Curves:
    return Curves("joint power", "W", r.time[:-1], {"power": measure.power(r, f)[:-1]})


def _push(r: Recording, f: int) -> Curves:
    return Curves("pushes", "N", r.time[:-1], _xyz(r.external[:-1, r.places[f].bodies, :3].sum(axis=1)))


def _effort(r: Recording, f: int) -> Curves:
    limit = r.figures[f].torque_limit
    driven = limit > 0.0
    share = np.abs(r.torques(f)[:-1, driven]) / limit[driven]
    return Curves("torque / limit", "", r.time[:-1], {"largest": share.max(axis=1, initial=0.0)})


def _lift(r: Recording, f: int) -> Curves:
    return Curves("foot lift", "m", r.time, measure.foot_lift(r, f))


def _tick(r: Recording, f: int) -> Curves:
    if not len(r.tick_seconds):
        raise BadValue("this recording was saved without timings; save it with `timings` to keep them")
    return Curves("control tick", "ms", r.ticks, {"tick": 1e3 * r.tick_seconds})


def _torque(r: Recording, f: int, part: str) -> Curves:
    joint = r.figures[f].joint(part)
    values, limit = r.torques(f)[:-1, joint.dofs], r.figures[f].torque_limit[joint.dofs]
    lines = _components(values, joint.nv)
    if np.abs(values).max(initial=0.0) > LIMIT_SHOWN * limit.max(initial=0.0):
        lines["limit"] = np.full(len(values), limit.max())
    return Curves(f"torque {part}", "N m", r.time[:-1], lines)


def _angle(r: Recording, f: int, part: str) -> Curves:
    character = r.figures[f]
    joint = character.joint(part)
    if joint.kind in ("ball", "free"):
        turned = character.difference(np.array(character.model.qpos0), r.positions(f))[:, joint.dofs]
        return Curves(
            f"rotation {part}",
            "rad" if joint.kind == "ball" else "m, rad",
            r.time,
            _components(turned, joint.nv),
        )
    unit = "m" if joint.kind == "slide" else "rad"
    return Curves(f"angle {part}", unit, r.time, _components(r.positions(f)[:, joint.qpos], joint.nq))


def _speed(r: Recording, f: int, part: str) -> Curves:
    joint = r.figures[f].joint(part)
    unit = {"slide": "m/s", "free": "m/s, rad/s"}.get(joint.kind, "rad/s")
    return Curves(f"speed {part}", unit, r.time, _components(r.velocities(f)[:, joint.dofs], joint.nv))


def _position(r: Recording, f: int, part: str) -> Curves:
    character = r.figures[f]
    character.body_id(part)
    return Curves(part, "m", r.time, _xyz(point_path(character, r.track(f), part, (0.0, 0.0, 0.0))))


def _force(r: Recording, f: int, part: str) -> Curves:
    foot = r.figures[f].foot(part)
    return Curves(f"force {foot.name}", "N", r.time[:-1], _xyz(measure.foot_forces(r, f)[foot.name][:-1]))


def _note(r: Recording, f: int, part: str) -> Curves:
    numeric = {n: v for n, v in r.notes.items() if v.dtype.kind == "f"}
    if part not in numeric:
        raise unknown_name("note", part, numeric, "this recording")
    return Curves(part, "", r.ticks, {part: numeric[part]})


def _components(values: Array, width: int) -> dict[str, Array]:
    labels = {1: ("",), 2: ("1st", "2nd"), 3: ("x", "y", "z")}.get(width, tuple(str(i) for i in range(width)))
    return {label: values[:, i] for i, label in enumerate(labels)}


_WHOLE: dict[str, tuple[str, Callable[[Recording, int], Curves]]] = {
    "com": ("centre of mass [m]", _com),
    "com_velocity": ("velocity of the centre of mass [m/s]", _com_velocity),
    "cop": ("centre of pressure [m]", _cop),
    "momentum": ("linear momentum [kg m/s]", _linear),
    "angular_momentum": ("angular momentum about the CoM [kg m²/s]", _angular),
    "ground_force": ("total force of the ground [N]", _ground_force),
    "energy": ("kinetic, potential and total energy [J]", _energy),
    "power": ("mechanical power of all joints [W]", _power),
    "push": ("forces of the disturbances [N]", _push),
    "effort": ("largest torque as a share of its limit", _effort),
    "lift": ("height of each foot above where it stood [m]", _lift),
    "tick": ("time a control tick took [ms]", _tick),
}
_PARTS: dict[str, Callable[[Recording, int, str], Curves]] = {
    "torque": _torque,
    "angle": _angle,
    "speed": _speed,
    "position": _position,
    "force": _force,
    "note": _note,
}
