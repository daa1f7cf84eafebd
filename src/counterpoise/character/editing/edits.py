"""Figures drawn and changed by hand (after Bawa 1995): every edit takes a Character and returns a new one.

    arm = add_segment(empty_figure("arm", planar=True), "upper", length=0.4, pinned=True)
    arm = add_segment(arm, "fore", "upper", length=0.3, angle=0.5, limits=(0.0, 2.5))
    arm = reroot(arm, "fore")

Segment frames stay aligned with the world in the zero pose. An angle is measured from the parent's line, about the
joint's axis, with the sign of the joint's coordinate. An edit leaves everything else as it was: masses, limits, torque
limits, feet, hands, the stance. The neutral pose is computed again, feet on the ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.editing import drawing, parts, root, tree
from counterpoise.character.editing.checks import (
    LENGTHS,
    MASSES,
    Limits,
    Oval,
    amount,
    check_limits,
    check_name,
    vector,
)
from counterpoise.character.editing.draft import Draft
from counterpoise.character.editing.parts import NewSegment, Place
from counterpoise.character.editing.text import numbers, put
from counterpoise.character.feet import guess_feet
from counterpoise.character.figure import Figure
from counterpoise.character.finish import finish
from counterpoise.character.roles import roles_to_json
from counterpoise.errors import BadValue, MissingRole, unknown_name
from counterpoise.spatial import to_matrix

# --------------------------------------------------------------------------------------------------- from nothing


def empty_figure(name: str = "figure", planar: bool = False) -> Character:
    """A figure without segments, in space or in the x-z plane; its first segment becomes its root."""
    check_name(name, "figure", ())
    spec, roles = Figure(name, planar=planar).spec()
    return finish(spec, {**roles, "planar": bool(planar)})


def add_segment(
    character: Character,
    name: str,
    parent: str | None = None,
    length: float = 0.3,
    angle: float = 0.0,
    *,
    direction: Sequence[float] | None = None,
    at: Place = None,
    joint: str = "hinge",
    axis: Sequence[float] | None = None,
    limits: Limits = None,
    mass: float | None = None,
    radius: float | Sequence[float] | None = None,
    shape: str = "capsule",
    joint_name: str | None = None,
    torque: float | None = None,
    damping: float | None = None,
    pinned: bool = False,
) -> Character:
    """The figure with one more segment at the far end of `parent`, or `at` another place on it.

    Lengths in metres, angles in radians, mass in kilograms; `NewSegment` explains each. The first segment has no
    parent: it moves freely (in the plane: `root_x`, `root_z`, `root_pitch`) or is `pinned` to the world by its joint.
    """
    new = NewSegment(
        name, parent, length, angle, direction, at, joint, axis, limits, mass, radius, shape, joint_name, torque,
        damping, pinned,
    )  # fmt: skip
    return add_segments(character, [new])


def add_segments(character: Character, segments: Iterable[NewSegment]) -> Character:
    """The figure with many more segments, compiled once."""
    draft = Draft(character)
    for new in segments:
        parts.add(draft, new)
    return draft.character()


# ----------------------------------------------------------------------------------------------------------- parts


def set_length(character: Character, segment: str, length: float) -> Character:
    """The segment `length` metres long, what hangs from it moved along; its mass stays.

    A drawn segment keeps its thickness (less where it would be thicker than long). Any other is scaled whole, as
    `Character.rescaled` does.
    """
    draft = Draft(character)
    draft.body(segment)
    wanted = amount(length, f"the length of {segment!r} [m]", *LENGTHS)
    if segment in draft.roles["drawn"]:
        drawing.redraw(draft, segment, None, None, wanted)
        return draft.character()
    now = draft.bone(segment)[1]
    if now <= 0.0:
        raise BadValue(f"{segment!r} has no length to change; give it a shape first")
    return character.rescaled(lengths={segment: wanted / now})


def set_angle(
    character: Character, segment: str, angle: float | None = None, *, direction: Sequence[float] | None = None
) -> Character:
    """The segment at another rest angle [rad] from its parent's line, or in another direction (world, zero pose).

    All that hangs from it turns along; joint limits count from the new rest.
    """
    draft = Draft(character)
    draft.body(segment)
    parts.turn_branch(draft, segment, parts.new_direction(draft, segment, angle, direction))
    return draft.character()


def set_limits(character: Character, joint: str, limits: Limits) -> Character:
    """Other limits for a joint: (low, high) [rad or m], two of them for a universal, an `Oval` or `BallLimit` for a
    ball, None for no limits."""
    found = character.joint(joint)
    if found.dofs.start < character.root_dofs.stop:
        raise BadValue(f"{joint!r} carries the root and has no limits")
    draft = Draft(character)
    checked = check_limits(limits, found.kind, draft.bone(found.body)[0])
    parts.write_limits(draft, found.parts, checked)
    return draft.character()


def set_mass(character: Character, segment: str, mass: float) -> Character:
    """The segment `mass` kilograms heavy; its inertia follows."""
    draft = Draft(character)
    inertial = draft.body(segment).find("inertial")
    wanted = amount(mass, f"the mass of {segment!r} [kg]", *MASSES)
    if inertial is None:
        raise BadValue(f"{segment!r} has no mass to change; give it a shape first (set_shape)")
    factor = wanted / float(inertial.get("mass", "1"))
    put(inertial, "mass", wanted)
    put(inertial, "diaginertia", factor * numbers(inertial, "diaginertia", np.zeros(3)))
    return draft.character()


def set_shape(
    character: Character, segment: str, shape: str = "capsule", radius: float | Sequence[float] | None = None
) -> Character:
    """Another shape along the segment's bone: capsule, box, ellipsoid or sphere; its mass stays.

    A box or ellipsoid takes two radii: half its width sideways, and half its thickness the other way.
    """
    draft = Draft(character)
    draft.body(segment)
    if shape not in drawing.SHAPES:
        raise unknown_name("shape", shape, drawing.SHAPES)
    if draft.bone(segment)[1] < LENGTHS[0]:
        raise BadValue(f"{segment!r} has no length to draw a shape along")
    drawing.redraw(draft, segment, shape, radius, None)
    return draft.character()


def set_feet(character: Character, feet: Iterable[str]) -> Character:
    """The segments the figure stands on; contact points are the lowest corners of their shapes in the neutral pose."""
    names = _names(character, feet)
    data = mujoco.MjData(character.model)
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(character.model, data)
    found, _ = guess_feet(character.model, data, names)
    if len(found) < len(names):
        bare = sorted(set(names) - {f.name for f in found})
        raise MissingRole(f"{bare[0]!r} has no shape to stand on; give it one first (set_shape)")
    draft = Draft(character)
    draft.roles["feet"] = roles_to_json(replace(character.roles, feet=tuple(found)))["feet"]
    return draft.character()


def set_hands(character: Character, hands: Iterable[str]) -> Character:
    """The segments the figure reaches with."""
    names = _names(character, hands)
    draft = Draft(character)
    draft.roles["hands"] = list(names)
    return draft.character()


# ------------------------------------------------------------------------------------------------------------ tree


def remove_segment(character: Character, segment: str, branch: bool = False) -> Character:
    """The figure without a segment; its children go to its parent and stay where they are in the zero pose.

    `branch` takes all that hangs from it as well.
    """
    draft = Draft(character)
    tree.remove(draft, segment, branch)
    return draft.character()


def rename(character: Character, old: str, new: str) -> Character:
    """Another name for a segment or a joint; roles and limits follow."""
    draft = Draft(character)
    if old in draft.bodies:
        tree.rename_segment(draft, old, new)
    elif old in character.joint_names:
        tree.rename_joint(draft, old, new)
    else:
        raise unknown_name("segment or joint", old, [*draft.bodies, *character.joint_names], character.name)
    return draft.character(neutral=character.neutral)


def mirror_limb(character: Character, limb: str, replace: bool = False) -> Character:
    """The figure with a limb's mirror image on its other side: names, places, axes and limits mirrored.

    `limb` is its uppermost segment (`upper_arm_left`), or `arm_left`, `leg_right`. `replace` takes away what is there.
    """
    draft = Draft(character)
    tree.mirror(draft, limb, replace)
    return draft.character()


def reroot(character: Character, segment: str, at: Place = None) -> Character:
    """The same figure with another root: parents and children change places along the chain, the shape stays.

    Masses, joint names and limits stay. A hinge or slide keeps its coordinate (its axis is negated); a ball joint's
    coordinate becomes its inverse, its twist range exactly so, its swing cone exactly at the middle of the twist range
    (see `editing_root`). What carries the root in the world moves along: a free root frees the new one, a pin pins it
    where it is, at its origin or `at` "end", "base", a fraction of its length or a place in its frame.
    `rerooted_pose` carries poses over.
    """
    draft = Draft(character)
    draft.body(segment)
    place: Array | None = None
    if at is not None:
        direction, length = draft.bone(segment)
        if isinstance(at, str):
            if at not in ("base", "end"):
                raise unknown_name("place on a segment", at, ("end", "base"))
            at = 1.0 if at == "end" else 0.0
        place = (
            amount(at, "a fraction of the length", 0.0, 1.0) * length * direction
            if isinstance(at, int | float)
            else vector(at, "a place on the segment")
        )
    balls = root.reroot(draft, segment, place)
    root.pin_where_it_is(draft, character.model, character.neutral)
    model = draft.compiled()
    neutral = root.carried_pose(character.model, model, character.neutral)
    root.widen(draft, balls, model, neutral)
    for j in range(model.njnt):
        if int(model.jnt_bodyid[j]) == 1:  # the stance is carried joint by joint; the root stands as it stood
            start = int(model.jnt_qposadr[j])
            draft.stance[model.joint(j).name] = neutral[start : start + (7 if model.jnt_type[j] == 0 else 1)]
    return draft.character(neutral=neutral)


def rerooted_pose(before: Character, after: Character, q: ArrayLike) -> Array:
    """The pose of `after = reroot(before, ...)` that looks like pose q of `before`; also the other way round."""
    if set(before.segments) != set(after.segments):
        raise BadValue(f"{after.name!r} is not {before.name!r} rerooted: their segments differ")
    return root.carried_pose(before.model, after.model, before.check_pose(q))


def segment_line(character: Character, segment: str) -> tuple[Array, Array]:
    """Where a segment begins and ends in the world, in the zero pose (3,), (3,) [m]; what an editor draws and drags."""
    draft = Draft(character)
    draft.body(segment)
    position, turn = draft.frame(segment)
    direction, length = draft.bone(segment)
    return np.array(position), position + length * (to_matrix(turn) @ direction)


def _names(character: Character, given: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        character.body_id(name)
    return tuple(dict.fromkeys(names))


__all__ = [
    "Limits",
    "NewSegment",
    "Oval",
    "add_segment",
    "add_segments",
    "empty_figure",
    "mirror_limb",
    "remove_segment",
    "rename",
    "reroot",
    "rerooted_pose",
    "segment_line",
    "set_angle",
    "set_feet",
    "set_hands",
    "set_length",
    "set_limits",
    "set_mass",
    "set_shape",
]
