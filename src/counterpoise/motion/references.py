"""Reference motions made in code, for any figure with human joint names: stand, squat, kicks and the like.

Each is a list of stances: joint rotations about the world's axes as they are in the zero pose (x forward,
y left, z up, so a knee bends by +y, a hip flexes by -y, a left arm lifts sideways by +x), the feet that carry
the body, and how far the pelvis sinks. Every stance is solved for the pose that keeps the soles where the
neutral pose has them and the centre of mass over the feet that carry; the poses are keyframed; each frame
is then solved once more, so that a planted foot does not move between the keys either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character import Character, Foot
from counterpoise.errors import BadValue, MissingRole, unknown_name
from counterpoise.motion.curves import VectorCurve
from counterpoise.motion.keyframes import Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.motion.planting import Plant, Scratch, planted
from counterpoise.spatial import exp, multiply

Turn = tuple[float, float, float]
_PAUSE = 0.04  # [s] of rest at every change of support, so that a foot leaves and lands without a jerk


@dataclass(frozen=True)
class Stance:
    """One key: when, which joints are turned how, on which feet, and for how long."""

    time: float  # [s]
    turns: Mapping[str, Turn] = field(default_factory=dict)  # joint -> rotation vector [rad], world axes
    tilt: Turn = (0.0, 0.0, 0.0)  # of the pelvis, from neutral [rad], world axes
    sink: float = 0.0  # of the pelvis, as a part of its height
    feet: str = "both"  # what stands on the ground: both, left or right
    over: str = "both"  # where the CoM is: over both, the left or the right foot
    hold: float = 0.0  # [s]


@dataclass(frozen=True)
class Reference:
    """A reference motion: what it is, the joints it needs, its stances."""

    name: str
    summary: str
    needs: tuple[str, ...]
    stances: Callable[[Character], list[Stance]]


def reference_motion(name: str, character: Character, rate: float = 60.0, speed: float = 1.0) -> Motion:
    """The reference motion `name` for `character`, at `rate` frames a second, `speed` times as fast."""
    references = {reference.name: reference for reference in REFERENCES}
    if name not in references:
        raise unknown_name("reference motion", name, references)
    if not (np.isfinite(speed) and speed > 0.0 and np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"rate and speed are positive numbers, not {rate!r} and {speed!r}")
    reference = references[name]
    _check_joints(character, reference)
    made = _perform(character, reference.stances(character), rate / speed)
    return (made if speed == 1.0 else made.retimed(speed)).named(name)


def reference_motions() -> tuple[Reference, ...]:
    """All reference motions: their names, a line about each, and the joints they need."""
    return REFERENCES


# ------------------------------------------------------------------------------------------------- stances


def _both(name: str, turn: Turn) -> dict[str, Turn]:
    """A turn of the left joint and its mirror image on the right."""
    x, y, z = turn
    return {f"{name}_left": (x, y, z), f"{name}_right": (-x, y, -z)}


def _trunk(character: Character, turn: Turn) -> dict[str, Turn]:
    """A turn shared out among the joints of the trunk that this figure has."""
    found = [name for name in ("waist", "spine") if name in character.joint_names]
    return {name: (turn[0] / len(found), turn[1] / len(found), turn[2] / len(found)) for name in found}


def _stand(character: Character) -> list[Stance]:
    return [Stance(0.0), Stance(2.0)]


def _squat(character: Character) -> list[Stance]:
    down = Stance(
        1.2,
        {
            **_both("shoulder", (0.1, -1.2, 0.0)),
            **_both("elbow", (0.0, -0.3, 0.0)),
            **_trunk(character, (0.0, 0.1, 0.0)),
            "neck": (0.0, -0.4, 0.0),
        },
        tilt=(0.0, 0.28, 0.0),
        sink=0.28,
        hold=0.3,
    )
    return [Stance(0.0), down, Stance(3.0)]


def _butterfly(character: Character) -> list[Stance]:
    up = {**_both("shoulder", (2.3, -0.3, 0.0)), **_both("elbow", (0.0, -0.25, 0.0))}
    low = {**_both("shoulder", (0.25, -0.05, 0.0)), **_both("elbow", (0.0, -0.25, 0.0))}
    return [Stance(0.0), Stance(0.8, up), Stance(1.6, low), Stance(2.4, up), Stance(3.2)]


def _toe_touch(character: Character) -> list[Stance]:
    down = Stance(
        1.6,
        {
            **_trunk(character, (0.0, 1.15, 0.0)),
            **_both("shoulder", (0.05, -2.1, 0.0)),
            **_both("elbow", (0.0, -0.1, 0.0)),
            **_both("knee", (0.0, 0.25, 0.0)),
        },
        tilt=(0.0, 0.85, 0.0),
        sink=0.08,
        hold=0.4,
    )
    return [Stance(0.0), down, Stance(3.8)]


def _twist(character: Character) -> list[Stance]:
    def turned(angle: float) -> dict[str, Turn]:
        arms = {**_both("shoulder", (1.2, -0.1, 0.0)), **_both("elbow", (0.0, -0.4, 0.0))}
        return {**arms, **_trunk(character, (0.0, 0.0, angle))}

    return [
        Stance(0.0),
        Stance(0.8, turned(0.0)),
        Stance(1.6, turned(0.7)),
        Stance(2.8, turned(-0.7)),
        Stance(3.6, turned(0.0)),
        Stance(4.4),
    ]


def _on_left(time: float, leg: Mapping[str, Turn], tilt: Turn = (0.0, 0.0, 0.0), hold: float = 0.0) -> Stance:
    arms = {**_both("shoulder", (0.6, -0.1, 0.0)), **_both("elbow", (0.0, -0.6, 0.0))}
    return Stance(time, {**arms, **leg}, tilt, sink=0.02, feet="left", over="left", hold=hold)


def _shifted(time: float) -> Stance:
    """Both feet down, the weight already (or still) on the left one."""
    arms = {**_both("shoulder", (0.35, -0.1, 0.0)), **_both("elbow", (0.0, -0.5, 0.0))}
    return Stance(time, arms, sink=0.02, over="left", hold=_PAUSE)


def _lifted(time: float) -> Stance:
    """The right foot clear of the ground, its toes a little up, so that nothing drags."""
    leg: dict[str, Turn] = {
        "hip_right": (-0.12, -0.5, 0.0),
        "knee_right": (0.0, 0.9, 0.0),
        "ankle_right": (0.0, -0.48, 0.0),
    }
    return _on_left(time, leg)


def _front_kick(character: Character) -> list[Stance]:
    chamber = {"hip_right": (0.0, -1.1, 0.0), "knee_right": (0.0, 1.5, 0.0), "ankle_right": (0.0, -0.35, 0.0)}
    strike = {"hip_right": (0.0, -1.15, 0.0), "knee_right": (0.0, 0.25, 0.0), "ankle_right": (0.0, 0.4, 0.0)}
    lean = (0.0, -0.12, 0.0)
    return [
        Stance(0.0),
        _shifted(1.0),
        _lifted(1.34),
        _on_left(1.6, chamber, lean),
        _on_left(1.84, strike, lean),
        _on_left(2.08, chamber, lean),
        _lifted(2.34),
        _shifted(2.66),
        Stance(3.66),
    ]


def _side_kick(character: Character) -> list[Stance]:
    chamber = {
        "hip_right": (-0.3, -0.6, 0.0),
        "knee_right": (0.0, 1.1, 0.0),
        "ankle_right": (0.0, -0.4, 0.0),
    }
    strike = {
        "hip_right": (-0.65, -0.15, 0.0),
        "knee_right": (0.0, 0.2, 0.0),
        "ankle_right": (0.0, -0.1, 0.0),
    }
    lean = (-0.15, 0.0, 0.0)
    return [
        Stance(0.0),
        _shifted(1.0),
        _lifted(1.34),
        _on_left(1.62, chamber, lean),
        _on_left(1.94, strike, lean),
        _on_left(2.28, chamber, lean),
        _lifted(2.56),
        _shifted(2.9),
        Stance(3.9),
    ]


def _leg_circle(character: Character) -> list[Stance]:
    keys = [Stance(0.0), _shifted(1.0), _lifted(1.4)]
    steps, period, first = 8, 1.6, 1.8
    for i in range(2 * steps + 1):
        phase = 2.0 * np.pi * i / steps
        leg: dict[str, Turn] = {
            "hip_right": (-0.25 + 0.2 * float(np.cos(phase)), -0.75 - 0.25 * float(np.sin(phase)), 0.0),
            "knee_right": (0.0, 0.95, 0.0),
            "ankle_right": (0.0, -0.15, 0.0),
        }
        keys.append(_on_left(first + i * period / steps, leg))
    last = keys[-1].time
    return [*keys, _lifted(last + 0.4), _shifted(last + 0.76), Stance(last + 1.8)]


_LEGS = ("hip_left", "hip_right", "knee_left", "knee_right", "ankle_left", "ankle_right")
_ARMS = ("shoulder_left", "shoulder_right")

REFERENCES: tuple[Reference, ...] = (
    Reference("stand", "standing still", (), _stand),
    Reference(
        "squat",
        "down and up again, arms forward",
        ("hip_left", "hip_right", "knee_left", "knee_right"),
        _squat,
    ),
    Reference("butterfly", "arms swing up sideways, twice, over planted feet", _ARMS, _butterfly),
    Reference("toe_touch", "a bow until the hands are near the toes", (*_LEGS, "trunk"), _toe_touch),
    Reference("twist", "the trunk turns left and right, arms out", ("trunk", *_ARMS), _twist),
    Reference("side_kick", "the right leg strikes sideways; balance on the left", _LEGS, _side_kick),
    Reference("front_kick", "the right leg strikes forward; balance on the left", _LEGS, _front_kick),
    Reference("leg_circle", "the raised right leg circles twice; balance on the left", _LEGS, _leg_circle),
)


# --------------------------------------------------------------------------------------------------- making


def _check_joints(character: Character, reference: Reference) -> None:
    names = set(character.joint_names)
    lacking = [n for n in reference.needs if n not in names and not (n == "trunk" and names & {"waist", "spine"})]
    sides = {foot.side for foot in character.feet}
    if not character.feet or (reference.stances in _ONE_LEGGED and not {"left", "right"} <= sides):
        lacking.append("a left and a right foot")
    sideways = reference.stances in (_side_kick, _leg_circle) and "hip_right" in names
    if sideways and character.joint("hip_right").kind == "hinge":
        lacking.append("a hip that swings sideways")
    if not character.floating:
        lacking.append("a root that can move")
    if lacking:
        said = ", ".join("waist or spine" if n == "trunk" else n for n in lacking)
        raise MissingRole(
            f"{reference.name!r} needs what {character.name!r} lacks: {said}",
            character=character.name,
            lacking=tuple(lacking),
        )


_ONE_LEGGED = (_side_kick, _front_kick, _leg_circle)


def _perform(character: Character, stances: list[Stance], rate: float) -> Motion:
    scratch = Scratch(character)
    scratch.put(character.neutral)
    home = {foot.name: scratch.points([foot]) for foot in character.feet}
    height, neutral_com = scratch.root_height(), scratch.com()
    posture, zero = _posture(character), _zero_frames(scratch)

    def plant(which: str, balance: Array, root_height: float) -> Plant:
        feet = _standing(character, which)
        places = np.concatenate([home[foot.name] for foot in feet])
        swinging = tuple(foot for foot in character.feet if foot not in feet)
        return Plant(feet, places, balance, root_height, swinging)

    keys, path_keys = [], []
    for stance in stances:
        over = np.concatenate([home[foot.name] for foot in _standing(character, stance.over)])
        balance = neutral_com[:2] if stance.over == "both" else over.mean(axis=0)[:2]
        pose = character.neutral
        if stance.turns or stance.sink > 0.0 or stance.over != "both":
            keep = plant(stance.feet, balance, height * (1.0 - stance.sink))
            pose = planted(scratch, _wanted(character, stance, zero), keep, posture[stance.feet], steps=60)
        scratch.put(pose)
        keys.append(Keyframe(stance.time, pose, hold=stance.hold))
        path_keys.append([*scratch.com()[:2], scratch.root_height()])
    rough = keyframed(character, keys, rate=rate)
    path = _path(stances, np.array(path_keys), rough.times)
    frames = []
    for time, wanted, place in zip(rough.times, rough.poses, path, strict=True):
        which = _support(stances, float(time))
        keep = plant(which, place[:2], float(place[2]))
        frames.append(planted(scratch, wanted, keep, posture[which], steps=8))
    return Motion(character, rough.times, np.array(frames), ends="rest")


def _standing(character: Character, which: str) -> tuple[Foot, ...]:
    return character.feet if which == "both" else tuple(f for f in character.feet if f.side == which)


def _support(stances: list[Stance], time: float) -> str:
    """The feet on the ground at `time`: a foot is planted between two stances if it is in both."""
    for before, after in pairwise(stances):
        if time <= before.time + before.hold:
            return before.feet
        if time < after.time:
            return before.feet if after.feet == "both" else after.feet
    return stances[-1].feet


def _path(stances: list[Stance], values: Array, times: Array) -> Array:
    """CoM and root height (m, 3) at `times`: through the keys, at rest where they hold."""
    out = np.tile(values[0], (len(times), 1))
    first = 0
    for key in range(1, len(stances)):
        if key < len(stances) - 1 and stances[key].hold == 0.0:
            continue
        knots = [stances[first].time + stances[first].hold, *(s.time for s in stances[first + 1 : key + 1])]
        later = times >= knots[0]
        out[later] = VectorCurve(knots, values[first : key + 1], "rest")(times[later]).value
        first = key
    return out


def _posture(character: Character) -> dict[str, Array]:
    """How firmly each coordinate keeps to its key, by the feet that carry: those legs are loose."""
    out = {}
    for which in ("both", "left", "right"):
        weight = np.full(character.nv, 3.0)
        root = character.root_dofs
        weight[root] = 5.0
        weight[: 3 if root.stop == 6 else 2] = 0.01
        for joint in character.joints:
            loose = which == "both" or joint.name.endswith(f"_{which}")
            if loose and joint.name.rsplit("_", 1)[0] in ("hip", "knee", "ankle", "hock"):
                weight[joint.dofs] = 0.3
        out[which] = weight
    return out


def _zero_frames(scratch: Scratch) -> dict[str, Array]:
    """World rotations of the joints' bodies in the zero pose, and world axes of hinges, by joint."""
    scratch.put(np.array(scratch.model.qpos0, dtype=np.float64))
    out = {}
    for joint in scratch.character.joints:
        R = scratch.body_frame(joint.body)
        if joint.kind in ("hinge", "universal"):
            axes = [R @ scratch.model.jnt_axis[scratch.model.joint(part).id] for part in joint.parts]
            out[joint.name] = np.array(axes)  # (1 or 2, 3): angle about each = axis . turn
        elif joint.kind == "ball":
            out[joint.name] = R.T  # to the child's own frame
    return out


def _wanted(character: Character, stance: Stance, zero: Mapping[str, Array]) -> Array:
    """The stance's pose before its feet are looked after. Joints the figure lacks are left out."""
    values = {name: zero[name] @ np.array(turn) for name, turn in stance.turns.items() if name in zero}
    pose = pose_from_joints(character, values)
    if character.joints[0].kind == "free":
        pose[3:7] = multiply(exp(stance.tilt), pose[3:7])
    else:
        for joint in character.joints:
            if joint.kind == "hinge" and joint.name.startswith("root"):
                pose[joint.qpos] += zero[joint.name] @ np.array(stance.tilt)
    return character.limits.clamp(pose)
