"""Curves for the graph panel: joints of the motion on the timeline, which can be edited, and measured quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.studio.measured_curves import AXES, measured_curve, measured_names, motion_table

CheckCurves = Mapping[str, tuple[Array, Array, str]]  # times, values and unit by name


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
    """Returns the names of all curves: those of the whole body, the joints, then places and speeds of every part."""
    measured = measured_names(character)
    parts = [name for name in measured if name.startswith(("place of ", "speed of "))]
    return [*(name for name in measured if name not in parts), *channels(character), *parts]


def read_curves(motion: Motion, names: Sequence[str], checked: CheckCurves | None = None) -> dict[str, Any]:
    """Returns times and the asked curves, as plain lists for JSON; `checked` are those that a check has found."""
    character, found = motion.character, checked or {}
    known = [*found, *curve_names(character)]
    times, poses = np.asarray(motion.times - motion.times[0]), np.asarray(motion.poses)
    table, curves = None, []
    for name in names:
        if name not in known and not name.startswith("check: "):
            raise unknown_name("curve", name, known)
        if name in found:
            when, values, unit = found[name]
            values = np.interp(times, when, values)
        elif name in channels(character):
            values, unit = channels(character)[name].values(poses), channels(character)[name].unit
        elif name in known:
            table = motion_table(character, times, poses) if table is None else table
            values, unit = measured_curve(table, poses, name)
        else:
            continue  # of a check that is not there any more
        numbers = [round(float(v), 6) if np.isfinite(v) else None for v in values]
        curves.append({"name": name, "unit": unit, "values": numbers, "editable": name in channels(character)})
    return {"times": [float(t) for t in times], "curves": curves, "known": known}
