"""Key poses of the spacetime experiments, made from a few joint angles and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.defaults import GRAVITY
from counterpoise.errors import unknown_name


def bent(character: Character, start: ArrayLike | None = None, **angles: float | tuple[float, float, float]) -> Array:
    """Returns the neutral (or `start`) pose with joints at angles [rad]: `hip=-1.5` both sides, `hip_left=-1.5` one.

    A number turns a ball joint about the body's y axis (forward is positive for the trunk, negative for limbs). Three
    numbers are a rotation vector, mirrored for the right side if the joint is named without a side.
    """
    q = np.array(character.neutral if start is None else start, float)
    known = {j.name for j in character.joints} | {j.name.rsplit("_", 1)[0] for j in character.joints}
    for name, value in angles.items():
        if name not in known:
            raise unknown_name("joint", name, sorted(known), character.name)
        for joint in character.joints:
            plain, _, side = joint.name.rpartition("_")
            if joint.name != name and plain != name:
                continue
            v = np.array([0.0, value, 0.0]) if np.ndim(value) == 0 else np.array(value, float)
            if joint.name != name and side == "right":
                v = v * (-1.0, 1.0, -1.0)
            if joint.kind == "ball":
                q[joint.qpos] = spatial.exp(v)
            else:
                n = joint.qpos.stop - joint.qpos.start
                q[joint.qpos] = [v[1], 0.0, 0.0][:n]
    return q


def moved(
    character: Character, pose: Array, about: ArrayLike, to: ArrayLike, turn: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """Returns the pose rotated by a rotation vector about a point, and moved so that this point is at `to`."""
    q, R = np.array(pose, float), spatial.exp(np.asarray(turn, float))
    q[:3] = np.asarray(to, float) + spatial.rotate(R, q[:3] - np.asarray(about, float))
    q[3:7] = spatial.multiply(R, q[3:7])
    return q


def com_of(character: Character, pose: Array) -> Array:
    """Returns the centre of mass (3,) of a pose."""
    return np.array(character.snapshot(character.state(pose)).com)


def middle(character: Character, pose: Array, bodies: Sequence[str]) -> Array:
    """Returns the mean position of some bodies in a pose."""
    s = character.snapshot(character.state(pose))
    return np.asarray(np.mean([s.position(b) for b in bodies], axis=0))


def standing_at(character: Character, pose: Array, x: float, y: float = 0.0, yaw: float = 0.0) -> Array:
    """Returns the pose with its feet on the ground about (x, y), facing `yaw` [rad]."""
    feet = [f.body for f in character.feet]
    ground = middle(character, np.asarray(character.neutral), feet)[2]
    return moved(character, pose, middle(character, pose, feet), (x, y, ground), (0.0, 0.0, yaw))


def flat_footed(character: Character, x: float, **angles: Any) -> Array:
    """Returns a pose on flat feet at x; the trunk leans by the sum of hip, knee and ankle angles."""
    lean = -sum(float(angles.get(joint, 0.0)) for joint in ("hip", "knee", "ankle"))
    return standing_at(
        character, moved(character, bent(character, None, **angles), (0, 0, 0), (0, 0, 0), (0.0, lean, 0.0)), x
    )


def hanging(character: Character, bar: ArrayLike, swing: float, **angles: Any) -> Array:
    """Returns a pose that hangs with both hands from a bar, rotated forward about it by an angle [rad]."""
    q = bent(character, None, **({"shoulder": -2.9, "elbow": 0.15} | angles))
    return moved(character, q, middle(character, q, character.hands), bar, (0.0, -swing, 0.0))


def ballistic(start: Array, end: Array, duration: float, time: float) -> Array:
    """Returns where a thrown point is at `time` [s] that moves from start to end in `duration` [s]."""
    out = start + (end - start) * (time / duration)
    out[2] += 0.5 * GRAVITY * time * (duration - time)
    return np.asarray(out)
