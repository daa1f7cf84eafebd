"""Segments added to a `Draft`, turned, and given limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.editing.checks import (
    LENGTHS,
    MASSES,
    Limits,
    Range,
    amount,
    check_limits,
    check_name,
    unit,
    vector,
)
from counterpoise.character.editing.draft import Draft
from counterpoise.character.editing.drawing import SHAPES, Y, draw, shape_size
from counterpoise.character.editing.text import IDENTITY, UP, numbers, put
from counterpoise.character.limits import BallLimit
from counterpoise.character.physics import LIMIT_SOLIMP, LIMIT_SOLREF
from counterpoise.errors import BadValue, unknown_name
from counterpoise.spatial import from_axis_angle, from_two_vectors, rotate, to_matrix

Place = float | str | Sequence[float] | None

JOINTS = ("hinge", "universal", "ball", "slide", "fixed")


@dataclass(frozen=True)
class NewSegment:
    """A segment to be added: what `add_segment` takes, as a value (`add_segments` adds many and compiles once)."""

    name: str
    parent: str | None = None  # None for the first
    length: float = 0.3  # [m]
    angle: float = 0.0  # [rad], from the parent's line (the first: from straight up), about the joint's axis
    direction: Sequence[float] | None = None  # instead of an angle: in the world, in the zero pose
    at: Place = None  # on the parent: "end" (default), "base", a fraction of its length, or a place in its frame
    joint: str = "hinge"  # hinge, universal, ball, slide or fixed
    axis: Sequence[float] | None = None  # of a hinge or slide, or the first of a universal; world, zero pose
    limits: Limits = None
    mass: float | None = None  # [kg]; else that of water in this shape
    radius: float | Sequence[float] | None = None  # [m]; a box or ellipsoid takes (sideways, the other way)
    shape: str = "capsule"  # capsule, box, ellipsoid or sphere
    joint_name: str | None = None
    torque: float | None = None  # [N m], the largest the joint can give
    damping: float | None = None  # [N m s/rad]
    pinned: bool = False  # the first segment: held to the world by its joint, instead of moving freely


def add(draft: Draft, new: NewSegment) -> None:
    """Adds a segment to the draft."""
    name = check_name(new.name, "segment", draft.bodies)
    length = amount(new.length, f"the length of {name!r} [m]", *LENGTHS)
    if new.shape not in SHAPES:
        raise unknown_name("shape", new.shape, SHAPES)
    if new.joint not in JOINTS:
        raise unknown_name("kind of joint", new.joint, JOINTS)
    parent, place = _where(draft, new)
    held = bool(parent) or new.pinned
    joint = ""
    if held and new.joint != "fixed":
        default = f"joint_{name}" if name.startswith("root") else f"{name}_joint"
        joint = check_joint_name(draft, default if new.joint_name is None else new.joint_name)
    along = draft.bone(parent)[0] if parent else UP
    line = to_matrix(draft.frame(parent)[1]) @ along if parent else UP
    axis, direction = _axis_and_direction(draft.planar, new, line)
    mass = None if new.mass is None else amount(new.mass, f"the mass of {name!r} [kg]", *MASSES)
    size = shape_size(new.shape, length, new.radius)
    torque = None if new.torque is None else amount(new.torque, "a torque [N m]", 0.0, 1e9)
    damping = None if new.damping is None else amount(new.damping, "a damping [N m s/rad]", 0.0, 1e6)
    turns = _joint_rows(draft.planar, new, joint, axis, direction) if held else []
    limits = check_limits(new.limits, new.joint if held else "free", direction)

    body = draft.add_body(name, parent, place)
    draft.roles["drawn"][name] = direction.tolist()
    draw(draft, name, new.shape, length, size, mass)
    if not parent:
        draft.roles["root"] = name
        draft.roles.setdefault("planar", draft.planar)
    if not held:
        _add_root(draft, body)
    inertial = body.find("inertial")
    assert inertial is not None
    turning = float(inertial.get("mass", "1")) * length**2 / 3.0
    for kind, label, way in turns:
        row = ElementTree.SubElement(body, "joint", name=label, type=kind)
        if kind != "ball":
            put(row, "axis", way)
        put(row, "solreflimit", LIMIT_SOLREF)
        put(row, "solimplimit", LIMIT_SOLIMP)
        if kind != "slide":
            put(row, "armature", min(0.01, 0.2 * turning))
        usual = 0.0 if kind == "slide" else min(0.5, 10.0 * turning)
        put(row, "damping", usual if damping is None else damping)
    if joint:
        if torque is not None:
            draft.roles["torque"][joint] = [torque, torque] if new.joint == "universal" else torque
        write_limits(draft, [label for _, label, _ in turns], limits)


def turn_branch(draft: Draft, name: str, R: Array) -> None:
    """Turns a segment and its branch about its joint by R (world, zero pose); frames stay aligned with the world."""
    turns = {b: to_matrix(draft.frame(b)[1]) for b in draft.branch(name)}
    for branch, F in turns.items():
        draft.carry(branch, F.T @ R @ F, np.zeros(3))


def new_direction(draft: Draft, name: str, angle: float | None, direction: Any) -> Array:
    """The rotation (3, 3) that brings a segment to the given angle from its parent's line, or to the direction."""
    parent = draft.parent[name]
    line = to_matrix(draft.frame(parent)[1]) @ draft.bone(parent)[0] if parent else UP
    F = to_matrix(draft.frame(name)[1])
    now = F @ draft.bone(name)[0]
    if (angle is None) == (direction is None):
        raise BadValue("give the segment an angle or a direction, one of the two")
    joint = draft.bodies[name].find("joint")
    axis = None
    if joint is not None and joint.get("type", "hinge") == "hinge":
        axis = F @ numbers(joint, "axis", UP)
    asked = NewSegment(name, angle=0.0 if angle is None else angle, direction=direction)
    about, wanted = _axis_and_direction(draft.planar, asked, line, axis if parent else None)
    if max(abs(about @ now), abs(about @ wanted)) < 1e-6:  # a turn about the joint's axis
        turn = np.arctan2(about @ np.cross(now, wanted), now @ wanted)
        return to_matrix(from_axis_angle(about, turn))
    return to_matrix(from_two_vectors(now, wanted))


def write_limits(draft: Draft, labels: Sequence[str], limits: Sequence[Range | BallLimit | None]) -> None:
    """Writes checked limits on joints and clips the stance to them."""
    rows = {j.get("name", ""): (name, j) for name, b in draft.bodies.items() for j in b.findall("joint")}
    for label, limit in zip(labels, limits, strict=True):
        name, joint = rows[label]
        if joint.get("type") == "ball":
            assert limit is None or isinstance(limit, BallLimit)
            if limit is not None:
                if np.any(off := numbers(joint, "pos", np.zeros(3))):  # the tendons that hold it start from the origin
                    draft.recentre(name, off)
                draft.stance[label] = limit.clamp(draft.stance.get(label, IDENTITY))
            draft.set_ball(label, limit)
        elif limit is None:
            joint.attrib.pop("range", None)
            joint.set("limited", "false")
        else:
            assert not isinstance(limit, BallLimit)
            put(joint, "range", limit)
            joint.set("limited", "true")
            rest = draft.stance.get(label, numbers(joint, "ref", [0.0]))
            draft.stance[label] = np.clip(rest, *limit)


def check_joint_name(draft: Draft, name: Any) -> str:
    """Returns a joint name that is not taken; names that begin with 'root' are those of the root's joints."""
    taken = draft.joint_names()
    joint = check_name(name, "joint", taken)
    if joint.startswith("root"):
        raise BadValue(f"joints that begin with 'root' carry the root and have no motor; got {name!r}")
    if any(other.startswith(f"{joint}_") and other.removeprefix(f"{joint}_") in ("first", "second") for other in taken):
        raise BadValue(f"there is already a joint {joint!r}; choose another name", name=joint)
    return joint


def _where(draft: Draft, new: NewSegment) -> tuple[str, Array]:
    """The parent ("" for the world) and the joint's place in its frame."""
    at = new.at
    if not draft.bodies:
        if new.parent is not None:
            raise unknown_name("segment", new.parent, (), str(draft.roles["name"]))
        return "", np.zeros(3) if at is None else vector(at, "the first segment's place")
    if new.parent is None:
        raise BadValue(f"which segment does {new.name!r} hang from? One of: {', '.join(list(draft.bodies)[:12])}")
    if new.pinned:
        raise BadValue("only the first segment can be pinned to the world")
    draft.body(new.parent)
    direction, length = draft.bone(new.parent)
    if at is None or isinstance(at, str):
        ends = {None: 1.0, "end": 1.0, "base": 0.0}
        if at not in ends:
            raise unknown_name("place on a segment", at, ("end", "base"))
        return new.parent, ends[at] * length * direction
    if isinstance(at, int | float):
        return new.parent, amount(at, "a fraction of the parent's length", 0.0, 1.0) * length * direction
    return new.parent, vector(at, "a place on the parent")


def _axis_and_direction(planar: bool, new: NewSegment, line: Array, axis: Array | None = None) -> tuple[Array, Array]:
    """Joint axis and bone direction in the world, zero pose."""
    across = Y if abs(line[1]) < 0.99 else np.array([1.0, 0.0, 0.0])
    if new.axis is not None:
        axis = unit(new.axis, "a joint's axis")
    about = across if axis is None or new.joint == "slide" else axis
    if new.direction is not None:
        if new.angle != 0.0:
            raise BadValue("give the segment an angle or a direction, not both")
        direction = unit(new.direction, "a direction")
    else:
        angle = amount(new.angle, "an angle [rad]", -100.0, 100.0)
        direction = rotate(from_axis_angle(about, angle), line)
    if planar and abs(direction[1]) > 1e-6:
        raise BadValue(f"a planar figure lies in the x-z plane; got the direction {direction.round(3).tolist()}")
    if axis is None:
        axis = direction if new.joint == "slide" else Y if abs(direction[1]) < 0.99 else np.array([1.0, 0.0, 0.0])
    return axis, direction / np.linalg.norm(direction)


def _joint_rows(
    planar: bool, new: NewSegment, joint: str, axis: Array, direction: Array
) -> list[tuple[str, str, Array]]:
    """(MuJoCo kind, name, axis) of each row of a joint."""
    if planar:
        off = {"hinge": abs(axis[1]) < 0.999, "slide": abs(axis[1]) > 1e-3}.get(new.joint, new.joint != "fixed")
        if off:
            raise BadValue(
                f"a planar figure has hinges about y, slides in the x-z plane and fixed joints; got a {new.joint} "
                f"about {axis.round(3).tolist()}"
            )
    if new.joint == "fixed":
        return []
    if new.joint == "universal":
        second = np.cross(direction, axis)
        if np.linalg.norm(second) < 0.1:
            raise BadValue("the first axis of a universal joint must lie across the bone")
        second /= np.linalg.norm(second)
        return [("hinge", f"{joint}_first", axis), ("hinge", f"{joint}_second", second)]
    return [(new.joint, joint, axis)]


def _add_root(draft: Draft, body: Element) -> None:
    if not draft.planar:
        ElementTree.SubElement(body, "joint", name="root", type="free")
        return
    for name, kind, axis in (("root_x", "slide", (1, 0, 0)), ("root_z", "slide", UP), ("root_pitch", "hinge", Y)):
        put(ElementTree.SubElement(body, "joint", name=name, type=kind), "axis", axis)


__all__ = ["JOINTS", "NewSegment", "add"]
