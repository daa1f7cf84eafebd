"""Curves for the graph panel: joints of the motion on the timeline, and quantities that are measured on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import put_in_pose, take_contact_places
from counterpoise.errors import unknown_name
from counterpoise.motion.motion import Motion

AXES = ("x", "y", "z")


def curve_names(character: Character) -> list[str]:
    """Returns the names of all curves: measured ones first, then the joints."""
    names = ["com height", "com speed", "turning speed", *(f"{foot.name} height" for foot in character.feet)]
    for joint in character.joints:
        if joint.kind == "free":
            names += [f"{joint.name} {axis}" for axis in AXES]
        elif joint.kind == "ball":
            names += [f"{joint.name} turn {axis}" for axis in AXES]
        else:
            names += [joint.name] if joint.nq == 1 else [f"{joint.name} {i + 1}" for i in range(joint.nq)]
    return names


def read_curves(motion: Motion, names: Sequence[str]) -> dict[str, Any]:
    """Returns times and the asked curves, as plain lists for JSON."""
    known = curve_names(motion.character)
    curves = []
    for name in names:
        if name not in known:
            raise unknown_name("curve", name, known)
        values, unit = _curve(motion, name)
        curves.append({"name": name, "unit": unit, "values": [round(float(v), 6) for v in values]})
    return {"times": [float(t) for t in motion.times - motion.times[0]], "curves": curves, "known": known}


def _curve(motion: Motion, name: str) -> tuple[Array, str]:
    character = motion.character
    measured: dict[str, Callable[[], tuple[Array, str]]] = {
        "com height": lambda: (coms(motion)[:, 2], "m"),
        "com speed": lambda: (np.linalg.norm(_rate(motion.times, coms(motion)), axis=1), "m/s"),
        "turning speed": lambda: (_fastest_turn(motion), "rad/s"),
    }
    if name in measured:
        return measured[name]()
    first = 0
    for foot in character.feet:
        if name == f"{foot.name} height":
            points = slice(first, first + len(foot.points))
            return np.array([take_contact_places(character, q)[points, 2].min() for q in motion.poses]), "m"
        first += len(foot.points)
    for joint in character.joints:
        values = np.asarray(motion.poses)[:, joint.qpos]
        if joint.kind == "free" and name in [f"{joint.name} {axis}" for axis in AXES]:
            return values[:, AXES.index(name[-1])], "m"
        if joint.kind == "ball" and name in [f"{joint.name} turn {axis}" for axis in AXES]:
            w, v = values[:, 0], values[:, 1 + AXES.index(name[-1])]
            return np.degrees(2.0 * np.arctan2(v, np.abs(w)) * np.sign(w + 0.5 * (w == 0.0))), "deg"
        if name == joint.name:
            return (values[:, 0], "m") if joint.kind == "slide" else (np.degrees(values[:, 0]), "deg")
        if joint.kind == "universal" and name.rpartition(" ")[0] == joint.name:
            return np.degrees(values[:, int(name[-1]) - 1]), "deg"
    raise AssertionError(name)


def coms(motion: Motion) -> Array:
    """Returns the centre of mass in every frame, (n, 3) [m]."""
    return np.array([put_in_pose(motion.character, q).subtree_com[0].copy() for q in motion.poses])


def _rate(times: Array, values: Array) -> Array:
    return np.gradient(values, times, axis=0) if len(times) > 1 else np.zeros_like(values)


def _fastest_turn(motion: Motion) -> Array:
    """Returns the speed of the fastest joint in every frame [rad/s]."""
    if len(motion) < 2:
        return np.zeros(len(motion))
    step = motion.character.difference(motion.poses[:-1], motion.poses[1:])[:, motion.character.root_dofs.stop :]
    speed = np.abs(step).max(axis=1, initial=0.0) / np.diff(motion.times)
    return np.append(speed, speed[-1])
