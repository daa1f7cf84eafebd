"""Poses in words: a name, a frame of a motion, joints in degrees, turned and put where they belong."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character as library_character
from counterpoise.character.library import library
from counterpoise.character.loading import load_character
from counterpoise.character.shapes import middle_of
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion import Motion, pose_from_joints, reference_motion, reference_motions
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.stunt.poses import named_pose, named_poses
from counterpoise.spacetime.stunt.reading import Table, is_number

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
ANCHORS = ("place", "feet", "hands", "com")
BODIES = (".xml", ".mjcf", ".urdf")


def read_character(top: Table) -> Character:
    """`character = "human"`, a body's file, or a table with a name (or file) and parameters."""
    wanted = 'a figure of the library such as "human", or a file such as "robot.xml"'
    value = top.value("character", wanted)
    if value is None:
        return library_character("human")
    if isinstance(value, str):
        with top.at("character"):
            return _figure(value, top)
    table = top.table("character", "[character]")
    assert table is not None
    name = table.text("name", wanted)
    file = table.text("file", "the path of an .xml or .urdf file")
    if (name is None) == (file is None):
        raise table.fault(None, "[character] names either name, a figure of the library, or file, a body's file")
    if file is not None:
        options: dict[str, Any] = {k: table.names(k, "names of bodies") for k in ("feet", "hands")}
        options["root"] = table.text("root", "the name of a body")
        table.done()
        with table.at("file"):
            return load_character(top.source.folder / file, **{k: v for k, v in options.items() if v is not None})
    assert name is not None
    with table.at("name"):
        if name not in library():
            raise unknown_name("character", name, library())
    parameters = {}
    for key in library()[name].parameters:
        found = table.value(key, "a number")
        if found is not None:
            parameters[key] = found
    table.done()
    with table.at(next(iter(parameters), "name")):
        return library_character(name, **parameters)


def _figure(name: str, top: Table) -> Character:
    if FilePath(name).suffix.lower() in BODIES:
        return load_character(top.source.folder / name)
    return library_character(name)


class Poses:
    """The poses a file can name: the library's, its own [pose.NAME] tables, frames of motions."""

    def __init__(self, character: Character, top: Table) -> None:
        self.who, self.folder = character, top.source.folder
        self.own: dict[str, Array] = {}
        tables = top.table("pose", "[pose]")
        for name in tables.data if tables is not None else ():
            assert tables is not None
            table = tables.table(name, f"[pose.{name}]")
            assert table is not None
            if name in {p.name for p in named_poses()}:
                raise table.fault(None, f"{name!r} is a pose of the library already: give yours another name")
            pose = self.read(table, "like")
            table.done()
            self.own[name] = pose

    def read(self, table: Table, key: str) -> Array:
        """The pose that `key` names there, with joints changed, mirrored, turned and moved as the table says."""
        wanted = 'a pose by name ("neutral"), a share of a motion ("squat@0.5"), or a file\'s frame ("run.bvh@1.2")'
        name = table.text(key, wanted) or "neutral"
        with table.at(key):
            q = self._named(name)
        q = self._with_joints(table, q)
        if table.flag("mirror", False):
            q = np.array(self.who.mirror_pose(q))
        return self._placed(table, q)

    def _named(self, name: str) -> Array:
        if name in self.own:
            return self.own[name].copy()
        library_names = [p.name for p in named_poses()]
        if name in library_names:
            return named_pose(name, self.who).copy()
        source, at, when = name.rpartition("@")
        source = source if at else name
        time = _number(when, name) if at else None
        references = [r.name for r in reference_motions()]
        if source in references:
            motion = reference_motion(source, self.who)
            share = 1.0 if time is None else time
            if not 0.0 <= share <= 1.0:
                raise BadValue(f"{name!r}: the share of a reference motion is from 0 to 1; got {share:g}")
            return np.array(motion.sample(motion.start + share * motion.duration).q)
        if FilePath(source).suffix:
            motion = self.motion(source)
            t = motion.end if time is None else time
            if not motion.start - 1e-9 <= t <= motion.end + 1e-9:
                raise BadValue(f"{source!r} runs from {motion.start:g} s to {motion.end:g} s; {t:g} s lies outside")
            q = np.array(motion.sample(t).q)
            if self.who.floating and q[3] < 0.0:
                q[3:7] *= -1.0  # turns are counted from here
            return q
        raise unknown_name("pose, reference motion or file", source, [*self.own, *library_names, *references])

    def motion(self, name: str) -> Motion:
        """A reference motion, or a file's, for this character."""
        if name in {r.name for r in reference_motions()}:
            return reference_motion(name, self.who)
        if not FilePath(name).suffix:
            raise unknown_name("reference motion or file", name, [r.name for r in reference_motions()])
        return read_motion(self.folder / name, self.who)

    def _with_joints(self, table: Table, q: Array) -> Array:
        """Joints set in degrees; a name without its side sets both, the right one mirrored."""
        joints = table.table("joints", "joints")
        if joints is None:
            return q
        names = {j.name: j.kind for j in self.who.joints}
        parts = {p for j in self.who.joints for p in j.parts}
        for name, value in joints.data.items():
            if name == "root":
                raise joints.fault(name, "the root is moved by place, feet, hands or com, and turned by turn or facing")
            numbers = [float(v) for v in value] if isinstance(value, list) and all(map(is_number, value)) else None
            if is_number(value):
                numbers = [float(value)]
            if numbers is None:
                raise joints.fault(
                    name, f"{name} takes degrees: one number for a hinge, [x, y] or [x, y, z] else; got {value!r}"
                )
            turn = np.radians(numbers)
            angles: Any = float(turn[0]) if len(turn) == 1 else turn
            with joints.at(name):
                if name in names or name in parts:
                    if len(numbers) == 4:
                        raise BadValue(f"{name} takes degrees, not a quaternion; got {value!r}")
                    q = pose_from_joints(self.who, {name: angles}, q)
                elif f"{name}_left" in names and f"{name}_right" in names:
                    q = pose_from_joints(self.who, {f"{name}_left": angles}, q)
                    other = np.array(self.who.mirror_pose(q))
                    right = self.who.joint(f"{name}_right")
                    q[right.qpos] = other[right.qpos]
                else:
                    both = [n.removesuffix("_left") for n in names if n.endswith("_left")]
                    raise unknown_name("joint", name, [*names, *both], self.who.name)
        return q

    def _placed(self, table: Table, q: Array) -> Array:
        """Turned about its root, then moved so that its root, feet, hands or CoM are where asked."""
        turn, facing = _turn(table), table.number("facing", "degrees about the vertical, to the left")
        said = [
            (key, table.numbers(key, "[x, y] or [x, y, z] in metres", (2, 3)))
            for key in ANCHORS
        ]  # fmt: skip
        given = [(key, at) for key, at in said if at is not None]
        if len(given) > 1:
            raise table.fault(given[1][0], f"{given[0][0]} and {given[1][0]} both say where the pose is: keep one")
        if not self.who.floating:
            if given or facing is not None or turn is not None:
                raise table.fault(
                    given[0][0] if given else None, f"{self.who.name!r} is fixed to the world: it cannot be moved"
                )
            return q
        q = q.copy()
        if turn is not None:
            q[3:7] = spatial.multiply(spatial.exp(turn), q[3:7])
        if facing is not None:
            q[3:7] = spatial.multiply(spatial.exp(np.array([0.0, 0.0, np.radians(facing)])), q[3:7])
        for key, at in given:
            with table.at(key):
                here = self._anchor(key, q)
            q[: len(at)] += np.array(at) - here[: len(at)]
            if key == "feet" and len(at) == 2:
                q[2] -= here[2]
        return q

    def _anchor(self, key: str, q: Array) -> Array:
        who = self.who
        shot = who.snapshot(who.state(q))
        if key == "com":
            return np.array(shot.com)
        if key == "feet":
            who.need_feet("feet = [x, y]")
            soles = [
                shot.body_position[b] + shot.body_rotation[b] @ np.asarray(p.position)
                for p in who.contact_points
                for b in [who.body_id(p.body)]
            ]
            middle = np.mean(soles, axis=0)
            return np.array([middle[0], middle[1], min(s[2] for s in soles)])
        if key == "hands":
            if not who.hands:
                raise BadValue(f"{who.name!r} has no hands: say place = [x, y, z]")
            held = [
                shot.body_position[b] + shot.body_rotation[b] @ middle_of(who, b)
                for b in map(who.body_id, who.hands)
            ]  # fmt: skip
            return np.asarray(np.mean(held, axis=0))
        return q[:3].copy()


def _turn(table: Table) -> Array | None:
    """Rotation vector [rad] of `turn = [x, y, z]` or `turn = { axis = "y", degrees = 180 }`."""
    wanted = '{ axis = "y", degrees = 180 } (x: over to the right, y: forward over, z: to the left), or [x, y, z]'
    if isinstance(table.data.get("turn"), dict):
        inner = table.table("turn", "turn")
        assert inner is not None
        axis = inner.value("axis", "x, y, z or a vector", required=True)
        degrees = inner.number("degrees", "how far, in degrees", required=True)
        inner.done()
        assert degrees is not None
        return np.radians(degrees) * direction(inner, "axis", axis)
    numbers = table.numbers("turn", wanted, (3,))
    return None if numbers is None else np.radians(numbers)


def direction(table: Table, key: str, value: Any) -> Array:
    """A unit vector from "x", "y", "z" or [x, y, z]."""
    if isinstance(value, str) and value.lower() in AXES:
        return np.array(AXES[value.lower()])
    if isinstance(value, list) and len(value) == 3 and all(map(is_number, value)):
        length = float(np.linalg.norm(value))
        if length > 1e-9:
            return np.asarray(value, float) / length
    raise table.fault(key, f'{key} is "x", "y", "z" or a vector [x, y, z] that is not zero; got {value!r}')


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadValue(
            f"{name!r}: after the @ stands a number (a share of a motion, or seconds); got {text!r}"
        ) from None


__all__ = ["Poses", "direction", "read_character"]
