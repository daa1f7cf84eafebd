"""Reads poses: a name, a frame of a motion, joints in degrees, then turned and moved."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.shapes import middle_of
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion import Motion, pose_from_joints, reference_motion, reference_motions
from counterpoise.motion.files.hub import read_motion
from counterpoise.spacetime.stunt.characters import file_options
from counterpoise.spacetime.stunt.poses import named_pose, named_poses
from counterpoise.spacetime.stunt.reading import Table, is_number

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
UNIT_TOLERANCE = 1e-12  # a quaternion whose length is nearer to 1 is taken as it is written
ANCHORS = ("place", "feet", "hands", "com")  # entries that say where a pose is


class PoseReader:
    """Reads the poses that a file can name: those of the library, its own [pose.NAME] tables, frames of motions."""

    def __init__(self, character: Character, top: Table) -> None:
        self.character, self.folder = character, top.source.folder
        self.character_file = file_options(top)
        self.own: dict[str, Array] = {}
        tables = top.table("pose", "[pose]")
        for name in tables.data if tables is not None else ():
            assert tables is not None
            table = tables.table(name, f"[pose.{name}]")
            assert table is not None
            if name in {p.name for p in named_poses()}:
                raise table.fault(None, f"{name!r} is a pose of the library: give yours another name")
            pose = self.read(table, "like")
            table.done()
            self.own[name] = pose

    def read(self, table: Table, key: str) -> Array:
        """Returns the pose that the entry `key` names, with joints changed, mirrored, turned and moved as asked."""
        wanted = 'a pose by name ("neutral"), a share of a motion ("squat@0.5"), or a file\'s frame ("run.bvh@1.2")'
        return self._read(table, key, wanted, False)[0]

    def read_moving(self, table: Table, key: str) -> tuple[Array, Array | None]:
        """Returns the pose as `read` does, and its velocity (nv,) where `moving = true` asks for it."""
        wanted = 'a share of a motion ("squat@0.5") or a file\'s frame ("run.bvh@1.2")'
        return self._read(table, key, wanted, table.flag("moving", False))

    def _read(self, table: Table, key: str, wanted: str, moving: bool) -> tuple[Array, Array | None]:
        name = table.text(key, wanted) or "neutral"
        with table.at(key):
            q, v = self._frame(name) if moving or not self._is_still(name) else (self._named(name), None)
        if not moving:
            v = None
        if v is not None and "joints" in table:
            raise table.fault("joints", "a key that is moving is a frame of a motion as it is: leave out joints")
        q = self._with_coordinates(table, q)
        q = self._with_joints(table, q)
        if table.flag("mirror", False):
            q = np.array(self.character.mirror_pose(q))
            v = None if v is None else np.array(self.character.mirror_velocity(v))
        before = q[3:7].copy() if self.character.floating else None
        q = self._placed(table, q)
        if v is not None and before is not None:  # the root's velocity is in the world: it turns with the pose
            turned = spatial.multiply(q[3:7], spatial.conjugate(before))
            v[:3] = spatial.rotate(turned, v[:3])
        return q, v

    def _is_still(self, name: str) -> bool:
        return name in self.own or name in {p.name for p in named_poses()}

    def _named(self, name: str) -> Array:
        return self.own[name].copy() if name in self.own else named_pose(name, self.character).copy()

    def _frame(self, name: str) -> tuple[Array, Array]:
        """Pose and velocity of a frame of a reference motion or a file."""
        if self._is_still(name):
            raise BadValue(f'{name!r} is a pose without a velocity; moving = true needs a frame such as "run.bvh@1.2"')
        source, at, when = name.rpartition("@")
        source = source if at else name
        time = _number(when, name) if at else None
        references = [r.name for r in reference_motions()]
        if source in references:
            return self._share_of_reference(source, 1.0 if time is None else time, name)
        if FilePath(source).suffix:
            return self._frame_of_file(source, time)
        library_names = [p.name for p in named_poses()]
        raise unknown_name("pose, reference motion or file", source, [*self.own, *library_names, *references])

    def _share_of_reference(self, source: str, share: float, name: str) -> tuple[Array, Array]:
        motion = reference_motion(source, self.character)
        if not 0.0 <= share <= 1.0:
            raise BadValue(f"{name!r}: the share of a reference motion is from 0 to 1; got {share:g}")
        sample = motion.sample(motion.start + share * motion.duration)
        return np.array(sample.q), np.array(sample.v)

    def _frame_of_file(self, source: str, time: float | None) -> tuple[Array, Array]:
        motion = self.motion(source)
        t = motion.end if time is None else time
        if not motion.start - 1e-9 <= t <= motion.end + 1e-9:
            raise BadValue(f"{source!r} runs from {motion.start:g} s to {motion.end:g} s; {t:g} s is outside of it")
        sample = motion.sample(t)
        q = np.array(sample.q)
        if self.character.floating and q[3] < 0.0:
            q[3:7] *= -1.0  # the turns of keys are counted from here
        return q, np.array(sample.v)

    def motion(self, name: str) -> Motion:
        """Returns a reference motion, or that of a file, for this character."""
        if name in {r.name for r in reference_motions()}:
            return reference_motion(name, self.character)
        if not FilePath(name).suffix:
            raise unknown_name("reference motion or file", name, [r.name for r in reference_motions()])
        same, options = self.character_file
        return read_motion(self.folder / name, self.character, **(options if name == same else {}))

    def _with_coordinates(self, table: Table, q: Array) -> Array:
        """Sets coordinates of joints exactly, as a drag or a recording leaves them [m, rad, quaternions]."""
        given = table.table("coordinates", "coordinates")
        if given is None:
            return q
        q = q.copy()
        for name, value in given.data.items():
            with given.at(name):
                at = self.character.joint(name).qpos
            numbers = [value] if is_number(value) else value
            count = at.stop - at.start
            if not (isinstance(numbers, list) and len(numbers) == count and all(map(is_number, numbers))):
                wanted = "a number" if count == 1 else f"a list of {count} numbers"
                raise given.fault(name, f"the coordinates of {name} are {wanted} [m, rad, quaternion]; got {value!r}")
            q[at] = numbers
        with table.at("coordinates"):
            checked = self.character.check_pose(q)
        return q if np.abs(checked - q).max() < UNIT_TOLERANCE else np.array(checked)

    def _with_joints(self, table: Table, q: Array) -> Array:
        """Sets joints in degrees. A name without its side sets both, the right one mirrored."""
        joints = table.table("joints", "joints")
        if joints is None:
            return q
        names = {j.name for j in self.character.joints}
        parts = {p for j in self.character.joints for p in j.parts}
        for name, value in joints.data.items():
            if name == "root":
                raise joints.fault(name, "the root is moved by place, feet, hands or com, and turned by turn or facing")
            degrees = _degrees(joints, name, value)
            turn = np.radians(degrees)
            angles: Any = float(turn[0]) if len(turn) == 1 else turn
            with joints.at(name):
                if name in names or name in parts:
                    if len(degrees) == 4:
                        raise BadValue(f"{name} takes degrees, not a quaternion; got {value!r}")
                    q = pose_from_joints(self.character, {name: angles}, q)
                elif f"{name}_left" in names and f"{name}_right" in names:
                    q = pose_from_joints(self.character, {f"{name}_left": angles}, q)
                    mirrored = np.array(self.character.mirror_pose(q))
                    right = self.character.joint(f"{name}_right")
                    q[right.qpos] = mirrored[right.qpos]
                else:
                    both = [n.removesuffix("_left") for n in names if n.endswith("_left")]
                    raise unknown_name("joint", name, [*names, *both], self.character.name)
        return q

    def _placed(self, table: Table, q: Array) -> Array:
        """Turns a pose about its root, then moves it so that its root, feet, hands or CoM are where asked."""
        turn, facing = _turn(table), table.number("facing", "degrees about the vertical, to the left")
        places = [(key, table.numbers(key, "[x, y] or [x, y, z] in metres", (2, 3))) for key in ANCHORS]
        given = [(key, at) for key, at in places if at is not None]
        if len(given) > 1:
            raise table.fault(given[1][0], f"{given[0][0]} and {given[1][0]} both say where the pose is: keep one")
        if not self.character.floating:
            if given or facing is not None or turn is not None:
                raise table.fault(
                    given[0][0] if given else None, f"{self.character.name!r} is fixed to the world: it cannot be moved"
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
        """Returns the place (3,) of the root, CoM, soles or hands."""
        character = self.character
        shot = character.snapshot(character.state(q))
        if key == "com":
            return np.array(shot.com)
        if key == "feet":
            character.need_feet("feet = [x, y]")
            soles = [shot.position(p.body, p.position) for p in character.contact_points]
            middle = np.mean(soles, axis=0)
            return np.array([middle[0], middle[1], min(s[2] for s in soles)])
        if key == "hands":
            if not character.hands:
                raise BadValue(f"{character.name!r} has no hands: give place = [x, y, z]")
            held = [shot.position(hand, middle_of(character, character.body_id(hand))) for hand in character.hands]
            return np.asarray(np.mean(held, axis=0))
        return q[:3].copy()


def _degrees(joints: Table, name: str, value: Any) -> list[float]:
    if is_number(value):
        return [float(value)]
    if isinstance(value, list) and all(map(is_number, value)):
        return [float(v) for v in value]
    raise joints.fault(
        name, f"{name} takes degrees: one number for a hinge, otherwise [x, y] or [x, y, z]; got {value!r}"
    )


def _turn(table: Table) -> Array | None:
    """Reads the rotation vector [rad] of `turn = [x, y, z]` or `turn = { axis = "y", degrees = 180 }`."""
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
    """Returns a unit vector from "x", "y", "z" or [x, y, z]."""
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
            f"{name!r}: a number follows the @ (a share of a reference motion, or seconds); got {text!r}"
        ) from None
