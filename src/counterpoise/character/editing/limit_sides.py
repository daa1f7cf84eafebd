"""The sides of a joint's limits, each with one angle, so that one of them can be changed and the others stay.

A hinge has two, a universal joint four. A ball has one for each face of its swing cone, whose angle is how far the bone
may swing from the middle of the cone towards the face, and two of its twist.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.editing.checks import Range, amount
from counterpoise.character.editing.edits import set_limits
from counterpoise.character.joints import Joint
from counterpoise.character.limits import BallLimit
from counterpoise.errors import BadValue, unknown_name
from counterpoise.spatial import rotate

JointLimits = tuple[Range, ...] | BallLimit  # [rad]: the ranges of a hinge or a universal joint, or a cone
ENDS = ("low", "high")
LEAST = np.radians(1.0)  # [rad] between the two ends of a range, and from the middle of a cone to a face
MOST = np.radians(179.0)  # [rad] to each side of the zero pose
STEEPEST = np.radians(89.0)  # [rad] of a face beyond, or before, a great circle


def joint_limits(character: Character, joint: Joint) -> JointLimits | None:
    """Returns the limits of a hinge, universal or ball joint; None where it has none, and for other joints."""
    if joint.kind == "ball":
        return character.limits.balls.get(joint.name)
    if joint.kind not in ("hinge", "universal"):
        return None
    model = character.model
    rows = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, part) for part in joint.parts]
    if not all(model.jnt_limited[row] for row in rows):
        return None
    return tuple((float(model.jnt_range[row, 0]), float(model.jnt_range[row, 1])) for row in rows)


def limit_sides(limits: JointLimits) -> dict[str, float]:
    """Returns the angles of all sides by name [rad]."""
    if isinstance(limits, BallLimit):
        faces = {f"face {k + 1}": float(angle) for k, angle in enumerate(_reaches(limits))}
        return faces | {f"twist {end}": float(value) for end, value in zip(ENDS, limits.twist, strict=True)}
    names = [""] if len(limits) == 1 else ["first ", "second "]
    return {
        f"{name}{end}": value
        for name, one in zip(names, limits, strict=True)
        for end, value in zip(ENDS, one, strict=True)
    }


def with_side(limits: JointLimits, side: str, angle: float) -> JointLimits:
    """Returns limits with another angle of one side [rad]."""
    sides = limit_sides(limits)
    if side not in sides:
        raise unknown_name("side of the limits", side, sides)
    if isinstance(limits, BallLimit) and side.startswith("face"):
        return _with_face(limits, list(sides).index(side), angle)
    pairs = [limits.twist] if isinstance(limits, BallLimit) else list(limits)
    row, end = side.startswith("second"), ENDS.index(side.split()[-1])
    low, high = pairs[row]
    bounds = (-MOST, high - LEAST) if end == 0 else (low + LEAST, MOST)
    value = np.radians(amount(float(np.degrees(angle)), f"the {side} limit [deg]", *np.degrees(bounds)))
    pairs[row] = (float(value), high) if end == 0 else (low, float(value))
    return replace(limits, twist=pairs[0]) if isinstance(limits, BallLimit) else tuple(pairs)


def set_limit_side(character: Character, joint: str, side: str, angle: float) -> Character:
    """Another angle [rad] for one side of a joint's limits: low, high; first low, ... of a universal joint; face 1, ...
    of a ball's cone, twist low, twist high."""
    found = character.joint(joint)
    limits = joint_limits(character, found)
    if limits is None:
        raise BadValue(f"{joint!r} is a {found.kind} joint without such limits; set_limits gives it some")
    changed = with_side(limits, side, angle)
    if isinstance(changed, BallLimit) or found.kind == "universal":
        return set_limits(character, joint, changed)
    return set_limits(character, joint, changed[0])


def _reaches(limit: BallLimit) -> Array:
    """How far the bone may swing from the middle of the cone towards each face, (k,) [rad]."""
    if not len(limit.normals):
        return np.empty(0)
    middle = np.array(rotate(limit.rest, limit.axis))
    return np.arcsin(np.clip(limit.offsets, -1, 1)) - np.arcsin(np.clip(limit.normals @ middle, -1, 1))


def _with_face(limit: BallLimit, face: int, angle: float) -> BallLimit:
    middle = np.array(rotate(limit.rest, limit.axis))
    behind = float(np.arcsin(np.clip(limit.normals[face] @ middle, -1, 1)))  # negative: the middle is inside
    bounds = np.degrees([max(LEAST, -STEEPEST - behind), STEEPEST - behind])
    reach = np.radians(amount(float(np.degrees(angle)), f"the swing towards face {face + 1} [deg]", *bounds))
    offsets = np.array(limit.offsets)
    offsets[face] = np.sin(reach + behind)
    return replace(limit, offsets=offsets)
