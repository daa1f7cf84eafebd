"""Outlines of joint limits: where a bone may point, as directions in the frame of its parent, to be drawn as cones."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.editing import segment_line
from counterpoise.character.editing.checks import Range
from counterpoise.character.editing.limit_sides import JointLimits, joint_limits, limit_sides
from counterpoise.character.joints import Joint
from counterpoise.character.limits import BallLimit
from counterpoise.character.snapshot import put_in_pose

AZIMUTHS = 48  # directions in which the edge of a cone is looked for
ANGLES = np.radians(np.arange(0.5, 180.0, 0.5))  # [rad] from the middle of a cone, at which it is looked for
ARC_STEPS = 24  # pieces of an arc from one limit of a hinge to the other
ALONG_AXIS = 0.98  # cosine between bone and axis above which a hinge only twists the bone


@dataclass(frozen=True, eq=False)
class Grip:
    """One side of a joint's limits, as it is drawn and dragged: all in the parent's frame."""

    side: str
    angle: float  # [rad]
    place: Array  # (3,) where the bone points at this side; empty where it is not drawn, as of a twist
    axis: Array  # (3,) about which this place turns when the angle grows; empty likewise


@dataclass(frozen=True, eq=False)
class DrawnLimits:
    """The limits of a joint as they are drawn, unit vectors in the parent's frame."""

    outline: (
        Array  # (n, 3) where the bone may point: an arc of a hinge, else a closed line; none where nothing is drawn
    )
    middle: Array  # (3,) the direction in the middle of a closed outline; empty: it is an arc
    grips: tuple[Grip, ...]


NOTHING = DrawnLimits(np.empty((0, 3)), np.empty(0), ())


def drawn_limits(character: Character, joint: Joint, limits: JointLimits | None = None) -> DrawnLimits:
    """Returns the limits of a joint as they are drawn: its own, or others that it might have."""
    limits = joint_limits(character, joint) if limits is None else limits
    if limits is None:
        return NOTHING
    base = np.array(character.model.body_quat[character.body_id(joint.body)])
    if isinstance(limits, BallLimit):
        return _drawn_cone(limits, base)
    return _drawn_ranges(character, joint, limits, base)


def _drawn_cone(limit: BallLimit, base: Array) -> DrawnLimits:
    edge, faces = cone_edge(limit)
    sides, grips = limit_sides(limit), []
    for k, (side, angle) in enumerate(sides.items()):
        mine = np.flatnonzero(faces == k) if side.startswith("face") else np.empty(0, int)
        if not len(mine):  # a twist, or a face behind the others
            grips.append(Grip(side, angle, np.empty(0), np.empty(0)))
            continue
        around = np.flatnonzero(np.diff(np.append(mine, mine[0] + AZIMUTHS)) > 1)  # where its part of the edge ends
        mine = np.roll(mine, -int(around[0]) - 1) if len(around) else mine
        place = edge[mine[len(mine) // 2]]
        axis = np.cross(place, limit.normals[k])
        grips.append(Grip(side, angle, _turned(base, place), _turned(base, axis / np.linalg.norm(axis))))
    middle = np.array(spatial.rotate(base, spatial.rotate(limit.rest, limit.axis)))
    return DrawnLimits(np.array(spatial.rotate(base, edge)) if len(edge) else edge, middle, tuple(grips))


def _drawn_ranges(character: Character, joint: Joint, ranges: tuple[Range, ...], base: Array) -> DrawnLimits:
    model = character.model
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, part) for part in joint.parts]
    bone, axes = _bone(character, joint.body), [np.array(model.jnt_axis[i]) for i in ids]
    if len(axes) == 1 and abs(float(bone @ axes[0])) > ALONG_AXIS:
        return NOTHING

    def pointed(angles: Array) -> Array:
        """Where the bone points at angles (n, axes), in the parent's frame."""
        turned = np.tile(bone, (len(angles), 1))
        for k in reversed(range(len(axes))):
            turned = np.array(spatial.rotate(spatial.from_axis_angle(axes[k], angles[:, k]), turned))
        return np.array(spatial.rotate(base, turned))

    middle, grips = np.array([sum(one) / 2.0 for one in ranges]), []
    for k, (side, angle) in enumerate(limit_sides(ranges).items()):
        row, at = k // 2, middle.copy()
        at[row] = angle
        axis = axes[row] if row == 0 else spatial.rotate(spatial.from_axis_angle(axes[0], middle[0]), axes[row])
        grips.append(Grip(side, angle, pointed(at[None])[0], _turned(base, axis)))
    closed = pointed(middle[None])[0] if len(ranges) == 2 else np.empty(0)
    return DrawnLimits(pointed(_edge_of_ranges([np.array(one) for one in ranges])), closed, tuple(grips))


def _turned(base: Array, way: Array) -> Array:
    return np.array(spatial.rotate(base, way))


def cone_edge(limit: BallLimit) -> tuple[Array, Ints]:
    """Returns the edge of the swing cone of a ball joint, (n, 3), unit vectors in the joint's frame, and the face that
    each belongs to, (n,), -1 for none; both are empty where there is no edge."""
    if not len(limit.normals):
        return np.empty((0, 3)), np.empty(0, int)
    centre = np.array(spatial.rotate(limit.rest, limit.axis))
    side = np.cross(centre, np.eye(3)[int(np.argmin(np.abs(centre)))])
    side /= np.linalg.norm(side)
    around = 2.0 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
    ways = np.outer(np.cos(around), side) + np.outer(np.sin(around), np.cross(centre, side))  # (azimuths, 3)
    rays = np.cos(ANGLES)[None, :, None] * centre + np.sin(ANGLES)[None, :, None] * ways[:, None, :]
    beyond = (rays @ limit.normals.T) - limit.offsets  # (azimuths, angles, faces)
    outside = (beyond > 0.0).any(axis=2)
    first = np.where(outside.any(axis=1), outside.argmax(axis=1), len(ANGLES) - 1)
    every = np.arange(AZIMUTHS)
    return np.array(rays[every, first]), np.where(outside.any(axis=1), beyond[every, first].argmax(axis=1), -1)


def _edge_of_ranges(ranges: list[Array]) -> Array:
    """Returns the angles along the arc of one range, or round the rectangle of two, (n, 1 or 2) [rad]."""
    steps = np.linspace(0.0, 1.0, ARC_STEPS + 1)
    if len(ranges) == 1:
        low, high = ranges[0]
        return np.array((low + steps * (high - low))[:, None])
    (a0, a1), (b0, b1) = ranges
    along, across, back = a0 + steps * (a1 - a0), b0 + steps * (b1 - b0), np.ones_like(steps)
    sides = [(along, b0 * back), (a1 * back, across), (along[::-1], b1 * back), (a0 * back, across[::-1])]
    return np.concatenate([np.stack(side, axis=1)[:-1] for side in sides])


def _bone(character: Character, body: str) -> Array:
    """Returns the direction of a segment in its own frame, (3,)."""
    start, end = segment_line(character, body)
    data = put_in_pose(character, _zero_pose(character))
    way = data.xmat[character.body_id(body)].reshape(3, 3).T @ (end - start)
    return np.array(way / max(float(np.linalg.norm(way)), 1e-9))


def _zero_pose(character: Character) -> Array:
    """Returns the pose in which all joints are at zero, (nq,), as `segment_line` means it."""
    return np.array(character.model.qpos0)
