"""Reference motions made in code, for any character with human joint names: stand, squat, kicks and others.

Each is a list of keys (`reference_keys`). Every key is solved for the pose that keeps the soles where the neutral pose
has them and the CoM over the feet that carry the body. The poses become keyframes, and each frame between them is
solved once more, so that a planted foot does not move between the keys either.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character, Foot
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.errors import BadValue, MissingRole, unknown_name
from counterpoise.motion.curves import VectorCurve
from counterpoise.motion.keyframes import Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.motion.planting import Plant, foot_points, planted
from counterpoise.motion.reference_keys import REFERENCES, Reference, ReferenceKey
from counterpoise.spatial import exp, multiply

# How firmly a coordinate keeps to its key [1/m, 1/rad]; the rows of feet, CoM and height are weighted in `planting`
JOINT_WEIGHT = 3.0
ROOT_ROTATION_WEIGHT = 5.0
ROOT_PLACE_WEIGHT = 0.01
CARRYING_LEG_WEIGHT = 0.3
KEY_STEPS, FRAME_STEPS = 60, 8  # most Gauss-Newton steps


def reference_motion(name: str, character: Character, rate: float = 60.0, speed: float = 1.0) -> Motion:
    """Returns the reference motion `name` of `character`, at `rate` frames a second, `speed` times as fast."""
    references = {reference.name: reference for reference in REFERENCES}
    if name not in references:
        raise unknown_name("reference motion", name, references)
    if not (np.isfinite(speed) and speed > 0.0 and np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"rate and speed are positive numbers, not {rate!r} and {speed!r}")
    reference = references[name]
    _check_joints(character, reference)
    made = _perform(character, reference.keys(character), rate / speed)
    return (made if speed == 1.0 else made.retimed(speed)).named(name)


def reference_motions() -> tuple[Reference, ...]:
    """All reference motions: their names, a line about each, and the joints they need."""
    return REFERENCES


def _check_joints(character: Character, reference: Reference) -> None:
    names = set(character.joint_names)
    lacking = [n for n in reference.needs if n not in names and not (n == "trunk" and names & {"waist", "spine"})]
    sides = {foot.side for foot in character.feet}
    if not character.feet or (reference.one_legged and not {"left", "right"} <= sides):
        lacking.append("a left and a right foot")
    if reference.sideways and "hip_right" in names and character.joint("hip_right").kind == "hinge":
        lacking.append("a hip that swings sideways")
    if not character.floating:
        lacking.append("a root that can move")
    if lacking:
        missing = ", ".join("waist or spine" if n == "trunk" else n for n in lacking)
        raise MissingRole(
            f"{reference.name!r} needs what {character.name!r} lacks: {missing}",
            character=character.name,
            lacking=tuple(lacking),
        )


def _perform(character: Character, keys: list[ReferenceKey], rate: float) -> Motion:
    neutral = BatchKinematics(character, character.neutral[None])
    home = {foot.name: foot_points(neutral, [foot]) for foot in character.feet}
    height = float(neutral.position(character.root)[0, 2])
    weights, zero = _posture_weights(character), _zero_frames(character)

    def plant(which: str, balance: Array, root_height: float) -> Plant:
        feet = _standing(character, which)
        places = np.concatenate([home[foot.name] for foot in feet])
        swinging = tuple(foot for foot in character.feet if foot not in feet)
        return Plant(feet, places, balance, root_height, swinging)

    keyframes, path_keys = [], []
    for key in keys:
        over = np.concatenate([home[foot.name] for foot in _standing(character, key.over)])
        balance = neutral.com[0, :2] if key.over == "both" else over.mean(axis=0)[:2]
        pose = character.neutral
        if key.turns or key.sink > 0.0 or key.over != "both":
            keep = plant(key.feet, balance, height * (1.0 - key.sink))
            pose = planted(character, _wanted(character, key, zero), keep, weights[key.feet], KEY_STEPS)
        keyframes.append(Keyframe(key.time, pose, hold=key.hold))
        now = BatchKinematics(character, pose[None])
        path_keys.append([*now.com[0, :2], now.position(character.root)[0, 2]])
    rough = keyframed(character, keyframes, rate=rate)
    path = _path(keys, np.array(path_keys), rough.times)
    frames = []
    for time, wanted, place in zip(rough.times, rough.poses, path, strict=True):
        which = support_at(keys, float(time))
        keep = plant(which, place[:2], float(place[2]))
        frames.append(planted(character, wanted, keep, weights[which], FRAME_STEPS))
    return Motion(character, rough.times, np.array(frames), ends="rest")


def _standing(character: Character, which: str) -> tuple[Foot, ...]:
    return character.feet if which == "both" else tuple(f for f in character.feet if f.side == which)


def support_at(keys: list[ReferenceKey], time: float) -> str:
    """Returns the feet on the ground at `time`: between two keys a foot stands if it stands in both."""
    for before, after in pairwise(keys):
        if time <= before.time + before.hold:
            return before.feet
        if time < after.time:
            return before.feet if after.feet == "both" else after.feet
    return keys[-1].feet


def _path(keys: list[ReferenceKey], values: Array, times: Array) -> Array:
    """Returns x and y of the CoM and the root height (m, 3) at `times`: through the keys, at rest where they hold."""
    out = np.tile(values[0], (len(times), 1))
    first = 0
    for last in range(1, len(keys)):
        if last < len(keys) - 1 and keys[last].hold == 0.0:
            continue
        knots = [keys[first].time + keys[first].hold, *(key.time for key in keys[first + 1 : last + 1])]
        later = times >= knots[0]
        out[later] = VectorCurve(knots, values[first : last + 1], "rest")(times[later]).value
        first = last
    return out


def _posture_weights(character: Character) -> dict[str, Array]:
    """Returns the weights (nv,) of the posture for each set of feet that carry the body: carrying legs are loose."""
    out = {}
    for which in ("both", "left", "right"):
        weight = np.full(character.nv, JOINT_WEIGHT)
        root = character.root_dofs
        weight[root] = ROOT_ROTATION_WEIGHT
        weight[: 3 if root.stop == 6 else 2] = ROOT_PLACE_WEIGHT
        for joint in character.joints:
            loose = which == "both" or joint.name.endswith(f"_{which}")
            if loose and joint.name.rsplit("_", 1)[0] in ("hip", "knee", "ankle", "hock"):
                weight[joint.dofs] = CARRYING_LEG_WEIGHT
        out[which] = weight
    return out


def _zero_frames(character: Character) -> dict[str, Array]:
    """Returns for each joint the matrix from turns about the world's axes, in the zero pose, to its coordinates."""
    model = character.model
    zero = BatchKinematics(character, model.qpos0[None])
    out = {}
    for joint in character.joints:
        R = zero.rotation(joint.body)[0]
        if joint.kind in ("hinge", "universal"):
            axes = [R @ model.jnt_axis[model.joint(part).id] for part in joint.parts]
            out[joint.name] = np.array(axes)  # (1 or 2, 3): angle about each = axis . turn
        elif joint.kind == "ball":
            out[joint.name] = R.T  # from the world to the child's frame
    return out


def _wanted(character: Character, key: ReferenceKey, zero: Mapping[str, Array]) -> Array:
    """Returns the pose of a key before its feet are planted. Joints that the character lacks are left out."""
    values = {name: zero[name] @ np.array(turn) for name, turn in key.turns.items() if name in zero}
    pose = pose_from_joints(character, values)
    if character.joints[0].kind == "free":
        pose[3:7] = multiply(exp(key.tilt), pose[3:7])
    else:
        for joint in character.joints:
            if joint.kind == "hinge" and joint.name.startswith("root"):
                pose[joint.qpos] += zero[joint.name] @ np.array(key.tilt)
    return character.limits.clamp(pose)


__all__ = ["Reference", "reference_motion", "reference_motions"]
