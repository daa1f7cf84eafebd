"""Motions through a few poses: keyframes, and poses given by joint names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character, Joint
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.curves import EASINGS, ease
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import PoseCurve, layout_of

Pose: TypeAlias = ArrayLike | Mapping[str, Any]
"""A pose: q (nq), or values by joint name, as `pose_from_joints` reads them."""

SPLINE = "spline"
_ROOT_WORDS = ("move", "turn", "position", "quaternion")


@dataclass(frozen=True, eq=False)
class Keyframe:
    """A pose to be in at `time`, and to stay in for `hold` seconds.

    `ease` shapes the way to this key from the one before: `spline` (one smooth curve through all keys), or an
    easing (`linear`, `smooth`, `smoother`, `in`, `out`) along the shortest way.
    """

    time: float  # [s]
    pose: Pose
    hold: float = 0.0  # [s]
    ease: str = SPLINE

    def __post_init__(self) -> None:
        if not (np.isfinite(self.time) and np.isfinite(self.hold) and self.hold >= 0.0):
            raise BadValue(f"a keyframe needs a finite time and a hold of at least 0 s: {self.time}, {self.hold}")
        if self.ease != SPLINE and self.ease not in EASINGS:
            raise unknown_name("easing", self.ease, (SPLINE, *EASINGS))


def keyframed(
    character: Character,
    keyframes: Sequence[Keyframe],
    rate: float | None = 60.0,
    loop: bool = False,
    name: str = "",
    base: ArrayLike | None = None,
) -> Motion:
    """Returns the motion through `keyframes`, sampled `rate` times a second.

    It is at rest at both ends and wherever a key holds; in between the curve through the keys is C2. The last key of a
    loop must repeat its first; a loop runs on without a stop there, unless some key holds or eases. With `rate=None`
    only the keys are stored, and the motion's own curve goes through them; holds and eases need a rate. `base` is the
    pose of joints that a key does not name.
    """
    if len(keyframes) == 0:
        raise BadValue("a keyframed motion needs at least one keyframe")
    poses = np.array([_as_pose(character, key.pose, base) for key in keyframes])
    quaternions = layout_of(character).quaternions
    poses[:, quaternions] = spatial.align_signs(poses[:, quaternions])
    starts = np.array([key.time for key in keyframes], dtype=np.float64)
    stops = starts + np.array([key.hold for key in keyframes])
    if np.any(starts[1:] <= stops[:-1]):
        i = int(np.argmax(starts[1:] <= stops[:-1])) + 1
        raise BadValue(
            f"keyframe {i} at {starts[i]:g} s must come after {stops[i - 1]:g} s, when keyframe {i - 1} ends"
        )
    if loop and (len(keyframes) < 2 or np.abs(character.difference(poses[0], poses[-1])).max() > 1e-6):
        raise BadValue("a loop's last keyframe must repeat the pose of its first")
    eased = [key.ease != SPLINE for key in keyframes[1:]]
    plain = not any(eased) and not np.any(stops > starts)
    if len(keyframes) == 1 and plain:
        return Motion(character, starts, poses, name=name, ends="rest")
    if rate is None:
        if not plain:
            raise BadValue("holds and eases need samples: give keyframed a rate, for instance 60")
        return Motion(character, starts, poses, name=name, loop=loop, ends="rest")
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
    count = max(1, round((stops[-1] - starts[0]) * rate))
    times = np.linspace(starts[0], stops[-1], count + 1)
    if loop and plain:
        through = PoseCurve(layout_of(character), starts, poses, "periodic")(times).q
        through[-1] = through[0]
    else:
        through = _through(character, starts, stops, poses, [key.ease for key in keyframes], times)
    return Motion(character, times, through, name=name, loop=loop, ends="rest")


def _through(character: Character, starts: Array, stops: Array, poses: Array, eases: list[str], times: Array) -> Array:
    """Returns poses at `times`: runs of spline segments between rests, eased segments, and holds."""
    out = np.empty((len(times), poses.shape[1]))
    first = 0
    for key in range(len(starts)):
        held = (times >= starts[key]) & (times <= stops[key])
        out[held] = poses[key]
        if key == 0:
            continue
        within = (times >= stops[key - 1]) & (times <= starts[key])
        if eases[key] != SPLINE:
            fraction = (times[within] - stops[key - 1]) / (starts[key] - stops[key - 1])
            way = character.difference(poses[key - 1], poses[key])
            out[within] = character.integrate(poses[key - 1], ease(fraction, eases[key])[:, None] * way)
            first = key
            continue
        last = key == len(starts) - 1 or stops[key] > starts[key] or eases[key + 1] != SPLINE
        if last:
            knots = np.concatenate([stops[first : first + 1], starts[first + 1 : key + 1]])
            curve = PoseCurve(layout_of(character), knots, poses[first : key + 1], "rest")
            within = (times >= knots[0]) & (times <= knots[-1])
            out[within] = curve(times[within]).q
            first = key
    return out


def pose_from_joints(character: Character, joints: Mapping[str, Any], base: ArrayLike | None = None) -> Array:
    """Returns a pose (nq,) from values by joint name; joints that are not named stay as in `base` (the neutral pose).

    A hinge or slide takes its coordinate [rad or m]; a universal joint two of them (or one, by the name of one of its
    hinges); a ball a rotation vector [rad] or a unit quaternion. All are the joint's own coordinates, zero in the zero
    pose of the body. A free root takes a mapping: relative to `base` with `move` (3) [m] and `turn`, a rotation vector
    [rad], both along the world's axes; or absolute with `position` (3) [m] and `quaternion` (4).
    """
    pose = _checked(character, character.neutral if base is None else base)
    known = {joint.name: joint for joint in character.joints}
    parts = {
        part: (joint, i)
        for joint in character.joints
        if joint.kind == "universal"
        for i, part in enumerate(joint.parts)
    }
    for name, value in joints.items():
        if name in known:
            joint = known[name]
            pose[joint.qpos] = _coordinates(joint, value, pose[joint.qpos])
        elif name in parts:
            joint, i = parts[name]
            pose[joint.qpos.start + i] = _values(name, value, (1,))[0]
        else:
            raise unknown_name("joint", name, (*known, *parts), where=character.name)
    return pose


def _coordinates(joint: Joint, value: Any, old: Array) -> Array:
    if joint.kind == "free":
        return _root(joint.name, value, old)
    if joint.kind == "ball":
        numbers = _values(joint.name, value, (3, 4))
        return spatial.exp(numbers) if len(numbers) == 3 else spatial.normalize(numbers)
    return _values(joint.name, value, (len(old),))


def _root(name: str, value: Any, old: Array) -> Array:
    if not isinstance(value, Mapping):
        raise BadValue(f"joint {name!r} is free: give a mapping with {', '.join(_ROOT_WORDS)}, not {value!r}")
    for word in value:
        if word not in _ROOT_WORDS:
            raise unknown_name("word for a free joint", word, _ROOT_WORDS, where=name)
    position, turn = old[:3], old[3:]
    if "position" in value:
        position = _values(f"{name}: position", value["position"], (3,))
    if "quaternion" in value:
        turn = spatial.normalize(_values(f"{name}: quaternion", value["quaternion"], (4,)))
    if "move" in value:
        position = position + _values(f"{name}: move", value["move"], (3,))
    if "turn" in value:
        turn = spatial.multiply(spatial.exp(_values(f"{name}: turn", value["turn"], (3,))), turn)
    return np.concatenate([position, turn])


def _values(name: str, value: Any, widths: tuple[int, ...]) -> Array:
    """Returns the finite numbers of a joint's value; their count must be one of `widths`."""
    try:
        numbers = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or len(numbers) not in widths or not np.isfinite(numbers).all():
        wanted = " or ".join(str(width) for width in widths)
        raise BadValue(f"joint {name!r} takes {wanted} finite number(s), not {value!r}", joint=name, value=value)
    return numbers


def _as_pose(character: Character, pose: Pose, base: ArrayLike | None) -> Array:
    if isinstance(pose, Mapping):
        return pose_from_joints(character, pose, base)
    return _checked(character, pose)


def _checked(character: Character, pose: ArrayLike) -> Array:
    """Returns a pose (nq,) of finite numbers with unit quaternions."""
    q = np.array(pose, dtype=np.float64)
    if q.shape != (character.nq,) or not np.isfinite(q).all():
        raise BadValue(f"a pose of {character.name!r} is {character.nq} finite numbers, not an array {q.shape}")
    quaternions = layout_of(character).quaternions
    q[quaternions] = spatial.normalize(q[quaternions])
    return q
