"""Poses by name, for any character: solved from what the name means, so that no joint angle is written down.

Standing poses stand on the ground where the neutral pose stands. Poses in the air have the root of the neutral pose.
`hang` and similar poses hold an imagined bar at the middle of the hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.errors import MissingRole, unknown_name
from counterpoise.pose import CenterOfMass, FixJoint, Lock, Orient, Pin, Posture, Reach, solve_pose

STOP_MARGIN = 0.06  # [rad] between a straight joint and its stop: an optimiser needs room on both sides
STRAIGHT_SHARE = 0.985  # of an arm's length that a straight arm reaches
MAX_ASYMMETRY = 1e-4  # [rad, m] a pose whose sides differ by less is made symmetric
KEEP_POSE_WEIGHT = 1e-3  # of the neutral pose
ROOT_WEIGHT, COM_WEIGHT, TRUNK_WEIGHT = 0.2, 3.0, 0.5  # of the goals of a crouch
SEARCH_STEP, SEARCH_END = 5.0, 176.0  # [deg] of the search for the range of a ball joint

Way = tuple[float, float, float]
Build = Callable[[Character], Array]


@dataclass(frozen=True)
class NamedPose:
    """A pose of the library: its name, what it looks like, and the function that solves it."""

    name: str
    summary: str
    build: Build


def named_poses() -> tuple[NamedPose, ...]:
    """Returns all poses that have a name."""
    return POSES


def named_pose(name: str, character: Character) -> Array:
    """Returns the pose `name` of `character` (nq,), read-only."""
    known = {p.name: p for p in POSES}
    if name not in known:
        raise unknown_name("pose", name, known)
    return _solved(character, known[name])


@kept_with_character
def _solved(character: Character, pose: NamedPose) -> Array:
    q = np.array(pose.build(character))
    other = character.difference(q, character.mirror_pose(q))
    if np.abs(other).max(initial=0.0) < MAX_ASYMMETRY:  # removes what is left of the solver's tolerance
        q = np.array(character.integrate(q, 0.5 * other))
    q.flags.writeable = False
    return q


# ---------------------------------------------------------------------------------------------------------- standing


def _neutral(character: Character) -> Array:
    return np.array(character.neutral)


def _straight(character: Character) -> Array:
    """Returns the straight pose in which the body was drawn, hinges a little off their stops, on the ground."""
    q = np.array(character.neutral)
    for joint in character.joints:
        if joint.kind == "ball":
            q[joint.qpos] = (1.0, 0.0, 0.0, 0.0)
        elif joint.kind != "free":
            q[joint.qpos] = 0.0
    low, high = character.limits.range_low + STOP_MARGIN, character.limits.range_high - STOP_MARGIN
    at = character.limits.range_qpos
    q[at] = np.where(low < high, np.clip(q[at], low, high), q[at])
    return _on_ground(character, q)


def _on_ground(character: Character, q: Array) -> Array:
    """Returns the pose moved up or down until its lowest contact point is on the ground."""
    shot = character.snapshot(character.state(q))
    heights = [float(shot.position(p.body, p.position)[2]) for p in character.contact_points]
    out = q.copy()
    if heights and character.floating:
        out[2] -= min(heights)
    return out


def _crouch(share: float, lean: float = 0.0) -> Build:
    """A crouch: feet in place, root lower by a share of its height, CoM over the feet, trunk leaning [rad]."""

    def build(character: Character) -> Array:
        character.need_feet("a crouch")
        shot = character.snapshot()
        root = shot.position(character.root)
        com = np.mean([shot.position(f.body) for f in character.feet], axis=0)
        com[0] = shot.com[0]
        tilt = np.array([np.cos(0.5 * lean), 0.0, np.sin(0.5 * lean), 0.0])
        lower = (root[0] - 0.5 * share * root[2], root[1], (1.0 - share) * root[2])
        goals: list[Any] = [
            Reach(character.root, lower, weight=ROOT_WEIGHT),
            CenterOfMass((float(com[0]), float(com[1]), None), weight=COM_WEIGHT),
            Orient(character.root, tilt, weight=TRUNK_WEIGHT),
            Posture(weight=KEEP_POSE_WEIGHT),
        ]
        holds = [h for f in character.feet for h in (Pin(f.body), Lock(f.body))]
        return np.array(solve_pose(character, goals, holds).q)

    return build


# -------------------------------------------------------------------------------------------------------------- arms


def _with_arms(base: Build, way: Way, spread: float = 0.0) -> Build:
    """A pose with straight arms along `way`; see `_point_arms`."""

    def build(character: Character) -> Array:
        return _point_arms(character, base(character), way, spread)

    return build


def _point_arms(character: Character, q: Array, way: Way, spread: float = 0.0) -> Array:
    """Returns the pose with straight arms along `way` (x forward, y out to the side, z up, in the trunk's frame)."""
    if not character.hands:
        raise MissingRole(
            f"{character.name!r} has no hands: poses with raised arms need them", character=character.name
        )
    goals: list[Any] = []
    moved: set[str] = set()
    shot = character.snapshot(character.state(q))
    for hand in character.hands:
        arm = _limb(character, hand)
        shoulder = shot.position(arm[0])
        length = sum(float(np.linalg.norm(shot.position(b) - shot.position(a))) for a, b in pairwise(arm))
        side = 1.0 if shoulder[1] >= shot.position(character.root)[1] else -1.0
        trunk = shot.body_rotation[_parent(character, character.body_id(arm[0]))]
        out = np.array([way[0], side * (way[1] + spread), way[2]])
        goals.append(Reach(hand, shoulder + trunk @ (STRAIGHT_SHARE * length * out / np.linalg.norm(out))))
        moved.update(arm)
    return _move_bodies(character, q, goals, moved)


def _move_bodies(character: Character, q: Array, goals: list[Any], bodies: set[str]) -> Array:
    """Returns the pose that reaches the goals, in which only the joints of these bodies have moved."""
    fixed = [
        FixJoint(j.name, _coordinates(q[j.qpos])) for j in character.joints if j.body not in bodies and j.kind != "free"
    ]
    held: list[Any] = [Pin(character.root), Lock(character.root)] if character.floating else []
    goals = [*goals, Posture(weight=KEEP_POSE_WEIGHT)]
    return np.array(solve_pose(character, goals, [*fixed, *held], start=np.array(q)).q)


def _coordinates(values: Array) -> Any:
    return [float(v) for v in values] if len(values) > 1 else float(values[0])


# ------------------------------------------------------------------------------------------------------------ folded


def _fold(knee: float, hip: float, trunk: float, arms: Way | None) -> Build:
    """A pose with legs and trunk bent forward by shares of the range of their joints."""

    def build(character: Character) -> Array:
        q = np.array(character.neutral)
        if character.floating:
            q[3:7] = (1.0, 0.0, 0.0, 0.0)  # a level root: the trunk is upright
        for joint in character.joints:
            if joint.kind == "free":
                continue
            leg = any(joint.body in _limb(character, f.body) for f in character.feet)
            if leg and joint.kind == "hinge" and not _belongs_to_foot(character, joint.body):
                low, high = (float(v) for v in character.model.joint(joint.name).range)
                q[joint.qpos] = knee * (high if abs(high) >= abs(low) else low)
            elif leg and joint.kind == "ball":
                q[joint.qpos] = _bent_ball(character, joint.name, -hip)
            elif joint.kind == "ball" and _belongs_to_trunk(character, joint.body):
                q[joint.qpos] = _bent_ball(character, joint.name, trunk)
        q = np.array(character.limits.clamp(q))
        return _point_arms(character, q, arms) if arms is not None and character.hands else q

    return build


def _bent_ball(character: Character, name: str, share: float) -> Array:
    """Returns the quaternion of a ball joint turned about its y axis by a share of its range that way."""
    joint = character.joint(name)
    q = np.array(character.neutral)
    sign = 1.0 if share >= 0.0 else -1.0
    reached = 0.0
    for angle in np.radians(np.arange(SEARCH_STEP, SEARCH_END, SEARCH_STEP)):
        q[joint.qpos] = (np.cos(angle / 2), 0.0, sign * np.sin(angle / 2), 0.0)
        limit = character.limits.balls.get(name)
        if limit is not None and max(limit.violation(q[joint.qpos])) > 1e-9:
            break
        reached = float(angle)
    half = 0.5 * abs(share) * reached
    return np.array([np.cos(half), 0.0, sign * np.sin(half), 0.0])


# ------------------------------------------------------------------------------------------------- parts of the body


def _limb(character: Character, end: str) -> list[str]:
    """Returns the bodies of a limb down to its end: from the end upwards until another limb branches off."""
    m = character.model
    names = {b: m.body(b).name for b in range(m.nbody)}
    line, b = [end], character.body_id(end)
    while True:
        up = int(m.body_parentid[b])
        children = [c for c in range(1, m.nbody) if int(m.body_parentid[c]) == up]
        if up == 0 or names[up] == character.root or len(children) > 1:
            return line[::-1]
        line.append(names[up])
        b = up


def _parent(character: Character, body: int) -> int:
    return int(character.model.body_parentid[body])


def _belongs_to_foot(character: Character, body: str) -> bool:
    """Returns whether a body is a foot or its toes."""
    feet = {f.body for f in character.feet}
    return body in feet or character.model.body(_parent(character, character.body_id(body))).name in feet


def _belongs_to_trunk(character: Character, body: str) -> bool:
    """Returns whether a body belongs to no limb but carries other bodies."""
    limbs = {b for end in (*character.hands, *(f.body for f in character.feet)) for b in _limb(character, end)}
    if body in limbs:
        return False
    b = character.body_id(body)
    carries_hands = any(_carries(character, b, character.body_id(h)) for h in character.hands)
    return carries_hands or bool((character.model.body_parentid[1:] == b).any())


def _carries(character: Character, body: int, other: int) -> bool:
    while other:
        if other == body:
            return True
        other = _parent(character, other)
    return False


FORWARD, UP, SIDEWAYS = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
POSES = (
    NamedPose("neutral", "standing at ease", _neutral),
    NamedPose("straight", "standing straight, arms at the sides", _straight),
    NamedPose("T", "standing straight, arms out to the sides", _with_arms(_straight, SIDEWAYS)),
    NamedPose("stretch", "standing straight, arms overhead", _with_arms(_straight, UP)),
    NamedPose("dip", "knees a little bent", _crouch(0.1, 0.15)),
    NamedPose("crouch", "knees well bent, feet flat", _crouch(0.28, 0.35)),
    NamedPose("load", "a crouch with the arms swung back", _with_arms(_crouch(0.28, 0.5), (-1.0, 0.2, -0.8), 0.15)),
    NamedPose("land", "a crouch with the arms forward", _with_arms(_crouch(0.22, 0.3), (1.0, 0.1, -0.25), 0.15)),
    NamedPose("reach", "standing, arms forward", _with_arms(_neutral, FORWARD, 0.15)),
    NamedPose("hang", "straight, arms overhead, as from a bar", _with_arms(_straight, UP)),
    NamedPose("tuck", "knees and hips folded tightly, hands at the shins", _fold(0.85, 0.95, 0.35, (0.9, 0.0, -0.6))),
    NamedPose("pike", "hips folded, knees straight, arms along the legs", _fold(0.02, 0.9, 0.5, (1.0, 0.2, 0.0))),
    NamedPose("sit", "knees and hips half folded, in the air", _fold(0.55, 0.7, 0.1, None)),
    NamedPose("arch", "trunk and hips bent back", _fold(0.1, -0.8, -0.5, UP)),
)  # fmt: skip
