"""Curves for the graph panel: joints of the motion on the timeline, which can be edited, and measured quantities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import put_in_pose, take_contact_places
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class JointCurve:
    """A curve that can be edited: one coordinate of a joint, or one component of its rotation vector."""

    joint: Joint
    index: int  # of the coordinate, or of the axis
    is_turn: bool = False  # a component of the rotation vector of the joint's quaternion

    @property
    def unit(self) -> str:
        straight = self.joint.kind == "slide" or (self.joint.kind == "free" and not self.is_turn)
        return "m" if straight else "deg"

    @property
    def _quaternion(self) -> slice:
        first = self.joint.qpos.start + (3 if self.joint.kind == "free" else 0)
        return slice(first, first + 4)

    def values(self, poses: Array) -> Array:
        """Returns the curve of poses (n, nq), in its unit, (n,)."""
        if self.is_turn:
            found = spatial.log(poses[:, self._quaternion])[:, self.index]
        else:
            found = poses[:, self.joint.qpos.start + self.index]
        return found if self.unit == "m" else np.degrees(found)

    def put(self, q: Array, value: float) -> Array:
        """Returns the pose (nq,) with another value of the channel, in its unit."""
        out, number = np.array(q), value if self.unit == "m" else np.radians(value)
        if self.is_turn:
            turn = np.array(spatial.log(out[self._quaternion]))
            turn[self.index] = number
            out[self._quaternion] = spatial.exp(turn)
        else:
            out[self.joint.qpos.start + self.index] = number
        return out


@kept_with_character
def channels(character: Character) -> dict[str, JointCurve]:
    """Returns the curves that can be edited, by name."""
    out: dict[str, JointCurve] = {}
    for joint in character.joints:
        if joint.kind == "free":
            out |= {f"{joint.name} {axis}": JointCurve(joint, k) for k, axis in enumerate(AXES)}
        if joint.kind in ("free", "ball"):
            out |= {f"{joint.name} turn {axis}": JointCurve(joint, k, is_turn=True) for k, axis in enumerate(AXES)}
        elif joint.nq == 1:
            out[joint.name] = JointCurve(joint, 0)
        elif joint.kind == "universal":
            out |= {f"{joint.name} {k + 1}": JointCurve(joint, k) for k in range(joint.nq)}
    return out


def channel_of(character: Character, name: str) -> JointCurve:
    """Returns a curve that can be edited."""
    known = channels(character)
    if name in known:
        return known[name]
    if name in curve_names(character):
        raise BadValue(f"{name!r} is measured, not posed: edit the curve of a joint")
    raise unknown_name("curve", name, known)


def curve_names(character: Character) -> list[str]:
    """Returns the names of all curves: measured ones first, then the joints."""
    names = ["com height", "com speed", "turning speed", *(f"{foot.name} height" for foot in character.feet)]
    return [*names, *channels(character)]


def read_curves(motion: Motion, names: Sequence[str]) -> dict[str, Any]:
    """Returns times and the asked curves, as plain lists for JSON."""
    known = curve_names(motion.character)
    curves = []
    for name in names:
        if name not in known:
            raise unknown_name("curve", name, known)
        values, unit = _curve(motion, name)
        editable = name in channels(motion.character)
        numbers = [round(float(v), 6) for v in values]
        curves.append({"name": name, "unit": unit, "values": numbers, "editable": editable})
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
    channel = channels(character)[name]
    return channel.values(np.asarray(motion.poses)), channel.unit


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
