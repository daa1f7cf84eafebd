"""Layers: a motion over another one. Some joints are of the upper one, for a while, and blend in and out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion

RATE = 60.0  # [1/s] of frames
BLEND = 0.15  # [s] over which joints come and go


def layered(
    base: Motion,
    top: Motion,
    joints: Collection[str] = (),
    start: float = 0.0,
    end: float | None = None,
    blend: float = BLEND,
) -> Motion:
    """Returns the base with joints of another motion over it from `start` to `end` [s]; no joints: all of them.

    Where the upper motion begins or ends within the base, its joints blend in or out over `blend` seconds. Between the
    two it is exactly the upper motion. Both count their times from their own beginning.
    """
    character = base.character
    if top.character.joint_names != character.joint_names:
        raise BadValue(
            f"a layer is of the same figure: {top.character.name!r} has other joints than {character.name!r}"
        )
    last = min(top.duration, top.duration if end is None else end)
    if not 0.0 <= start < last:
        raise BadValue(f"a layer lies between 0 and {top.duration:g} s; got {start:g} to {last:g} s")
    if not 0.0 <= blend <= 10.0:
        raise BadValue(f"a layer blends over 0 to 10 s; got {blend:g}")
    rows, dofs = joint_columns(character, joints)
    length = max(base.duration, last)
    times = np.linspace(0.0, length, round(length * RATE) + 1)
    poses = np.array([_pose(base, t) for t in times])
    for k, t in enumerate(times):
        share = _share(float(t), start, last, blend, base.duration)
        if share <= 0.0:
            continue
        upper = _pose(top, float(t))
        if share >= 1.0:
            poses[k, rows] = upper[rows]
        else:
            step = np.zeros(character.nv)
            step[dofs] = share * np.asarray(character.difference(poses[k], upper))[dofs]
            poses[k] = character.integrate(poses[k], step)
    return Motion(character, times, poses, name=base.name)


def joint_columns(character: Character, joints: Collection[str]) -> tuple[Array, Array]:
    """Returns the coordinates and the dofs of joints by name, as flags (nq,) and (nv,); no names: all."""
    chosen = [character.joint(name) for name in joints] if joints else list(character.joints)
    rows, dofs = np.zeros(character.nq, bool), np.zeros(character.nv, bool)
    for joint in chosen:
        rows[joint.qpos] = True
        dofs[joint.dofs] = True
    return rows, dofs


def with_joints(character: Character, under: Sequence[Array], over: Array, joints: Collection[str]) -> Array:
    """Returns poses (n, nq) whose named joints are those of `over`, the others those of `under`, pose by pose."""
    rows, _ = joint_columns(character, joints)
    return np.where(rows, over, np.asarray(under))


def _share(t: float, start: float, end: float, blend: float, length: float) -> float:
    """Returns how much the upper motion counts at a time, between 0 and 1."""
    if t < start or t > end:
        return 0.0
    coming = 1.0 if start <= 0.0 or blend <= 0.0 else min(1.0, (t - start) / blend)
    going = 1.0 if end >= length or blend <= 0.0 else min(1.0, (end - t) / blend)
    u = min(coming, going)
    return u * u * (3.0 - 2.0 * u)


def _pose(motion: Motion, time: float) -> Array:
    """Returns the pose at a time from the beginning (nq,); after the end, the last one."""
    if len(motion) == 1:
        return np.array(motion.poses[0])
    return np.array(motion.sample(min(motion.times[0] + time, motion.times[-1])).q)
