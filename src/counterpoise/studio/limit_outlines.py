"""Outlines of joint limits: where a bone may point, as directions in the frame of its parent, to be drawn as cones."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.editing import segment_line
from counterpoise.character.joints import Joint
from counterpoise.character.limits import BallLimit
from counterpoise.character.snapshot import put_in_pose

AZIMUTHS = 48  # directions in which the edge of a cone is looked for
ANGLES = np.radians(np.arange(0.5, 180.0, 0.5))  # [rad] from the middle of a cone, at which it is looked for
ARC_STEPS = 24  # pieces of an arc from one limit of a hinge to the other
ALONG_AXIS = 0.98  # cosine between bone and axis above which a hinge only twists the bone


def limit_outline(character: Character, joint: Joint) -> Array:
    """Returns the edge of where the bone of a joint may point, (n, 3), unit vectors in the parent's frame.

    Of a hinge it is an arc, of a universal or ball joint a closed line. It is empty where the joint has no limits, or
    where they do not move the bone's direction.
    """
    model, body = character.model, character.body_id(joint.body)
    base = np.array(model.body_quat[body])
    limit = character.limits.balls.get(joint.name)
    if joint.kind == "ball" and limit is not None:
        return np.array(spatial.rotate(base, cone_edge(limit)))
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, part) for part in joint.parts]
    if joint.kind not in ("hinge", "universal") or not all(model.jnt_limited[i] for i in ids):
        return np.empty((0, 3))
    bone, axes = _bone(character, joint.body), [np.array(model.jnt_axis[i]) for i in ids]
    if len(axes) == 1 and abs(float(bone @ axes[0])) > ALONG_AXIS:
        return np.empty((0, 3))
    angles = _edge_of_ranges([np.array(model.jnt_range[i]) for i in ids])
    turned = np.tile(bone, (len(angles), 1))
    for k in reversed(range(len(axes))):
        turned = np.array(spatial.rotate(spatial.from_axis_angle(axes[k], angles[:, k]), turned))
    return np.array(spatial.rotate(base, turned))


def limit_middle(character: Character, joint: Joint) -> Array:
    """Returns the direction in the middle of a closed outline, (3,), in the parent's frame; empty for other joints."""
    model, limit = character.model, character.limits.balls.get(joint.name)
    base = np.array(model.body_quat[character.body_id(joint.body)])
    if joint.kind == "ball" and limit is not None:
        return np.array(spatial.rotate(base, spatial.rotate(limit.rest, limit.axis)))
    if joint.kind != "universal":
        return np.empty(0)
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, part) for part in joint.parts]
    way = _bone(character, joint.body)
    for i in reversed(ids):
        way = np.array(
            spatial.rotate(spatial.from_axis_angle(model.jnt_axis[i], float(model.jnt_range[i].mean())), way)
        )
    return np.array(spatial.rotate(base, way))


def cone_edge(limit: BallLimit) -> Array:
    """Returns the edge of the swing cone of a ball joint, (n, 3), unit vectors in the joint's frame; empty: no edge."""
    if not len(limit.normals):
        return np.empty((0, 3))
    centre = np.array(spatial.rotate(limit.rest, limit.axis))
    side = np.cross(centre, np.eye(3)[int(np.argmin(np.abs(centre)))])
    side /= np.linalg.norm(side)
    around = 2.0 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
    ways = np.outer(np.cos(around), side) + np.outer(np.sin(around), np.cross(centre, side))  # (azimuths, 3)
    rays = np.cos(ANGLES)[None, :, None] * centre + np.sin(ANGLES)[None, :, None] * ways[:, None, :]
    outside = ((rays @ limit.normals.T) > limit.offsets).any(axis=2)  # (azimuths, angles)
    first = np.where(outside.any(axis=1), outside.argmax(axis=1), len(ANGLES) - 1)
    return np.array(rays[np.arange(AZIMUTHS), first])


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
