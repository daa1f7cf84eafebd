"""Poses by name, for any figure: found by solving for what the name means, so that no joint angle is written down.

Standing poses stand on the ground where the neutral pose does; poses in the air are about the same root; `hang` and
its kind hold an imagined bar at the middle of the hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import MissingRole, unknown_name
from counterpoise.pose import CenterOfMass, Lock, Orient, Pin, Posture, Reach, solve_pose

SLACK = 0.06  # [rad] between a straight joint and its stop: an optimiser needs room on both sides
STRAIGHT = 0.985  # of an arm's length that a straight arm reaches
ALIKE = 1e-4  # [rad, m] a pose whose sides differ by less is meant to be symmetric
NEAR = 1e-3  # weight of staying near the neutral pose


@dataclass(frozen=True)
class NamedPose:
    """A pose of the library: its name, what it looks like, how it is found."""

    name: str
    summary: str
    build: Callable[[Character], Array]


def named_poses() -> tuple[NamedPose, ...]:
    """All poses that can be asked for by name."""
    return POSES


def named_pose(name: str, character: Character) -> Array:
    """The pose `name` of `character` (nq,), read-only."""
    known = {p.name: p for p in POSES}
    if name not in known:
        raise unknown_name("pose", name, known)
    return _made(known[name], character)


@lru_cache(maxsize=256)
def _made(pose: NamedPose, character: Character) -> Array:
    q = np.array(pose.build(character))
    other = character.difference(q, character.mirror_pose(q))
    if np.abs(other).max(initial=0.0) < ALIKE:  # left and right exactly alike: what the solver left undone goes
        q = np.array(character.integrate(q, 0.5 * other))
    q.flags.writeable = False
    return q


# ---------------------------------------------------------------------------------------------------------- standing


def _neutral(who: Character) -> Array:
    return np.array(who.neutral)


def _zero(who: Character) -> Array:
    """The straight stance in which the body was drawn, hinges a little off their stops, where the neutral pose is."""
    q = np.array(who.neutral)
    for joint in who.joints:
        if joint.kind == "ball":
            q[joint.qpos] = (1.0, 0.0, 0.0, 0.0)
        elif joint.kind != "free":
            q[joint.qpos] = 0.0
    low, high = who.limits.range_low + SLACK, who.limits.range_high - SLACK
    at = who.limits.range_qpos
    q[at] = np.where(low < high, np.clip(q[at], low, high), q[at])
    return _stood(who, q)


def _stood(who: Character, q: Array) -> Array:
    """Lifted or lowered until its lowest point of support is on the ground."""
    shot = who.snapshot(who.state(q))
    low = [
        float((shot.body_position[who.body_id(p.body)] + shot.body_rotation[who.body_id(p.body)] @ p.position)[2])
        for p in who.contact_points
    ]
    out = q.copy()
    if low and who.floating:
        out[2] -= min(low)
    return out


def _sunk(share: float, lean: float = 0.0) -> Callable[[Character], Array]:
    """Feet where they are, the root lower by a share of its height, the CoM over the feet, the trunk leaning."""

    def build(who: Character) -> Array:
        who.need_feet("a crouch")
        shot = who.snapshot()
        root = shot.position(who.root)
        com = np.mean([shot.position(f.body) for f in who.feet], axis=0)
        com[0] = shot.com[0]
        tilt = np.array([np.cos(0.5 * lean), 0.0, np.sin(0.5 * lean), 0.0])
        goals: list[Any] = [
            Reach(who.root, (root[0] - 0.5 * share * root[2], root[1], (1.0 - share) * root[2]), weight=0.2),
            CenterOfMass((float(com[0]), float(com[1]), None), weight=3.0),
            Orient(who.root, tilt, weight=0.5),
            Posture(weight=NEAR),
        ]
        holds = [h for f in who.feet for h in (Pin(f.body), Lock(f.body))]
        return np.array(solve_pose(who, goals, holds).q)

    return build


def _swung(base: Callable[[Character], Array], way: tuple[float, float, float], spread: float = 0.15) -> Any:
    """A pose with its arms pointing another way: forward, back, up."""

    def build(who: Character) -> Array:
        return _arms(who, base(who), way, spread)

    return build


# ------------------------------------------------------------------------------------------------------- limbs moved


def _arms(who: Character, q: Array, way: tuple[float, float, float], spread: float = 0.0) -> Array:
    """The same pose with straight arms along `way` (x forward, y out to the side, z up in the trunk's frame)."""
    if not who.hands:
        raise MissingRole(f"{who.name!r} has no hands: poses with raised arms need them", character=who.name)
    goals: list[Any] = []
    moved: set[str] = set()
    shot = who.snapshot(who.state(q))
    for hand in who.hands:
        line = _limb(who, hand)
        shoulder = shot.position(line[0])
        length = sum(float(np.linalg.norm(shot.position(b) - shot.position(a))) for a, b in pairwise(line))
        side = 1.0 if shot.position(line[0])[1] >= shot.position(who.root)[1] else -1.0
        trunk = shot.body_rotation[_parent(who, line[0])]
        out = np.array([way[0], side * (way[1] + spread), way[2]])
        goals.append(Reach(hand, shoulder + trunk @ (STRAIGHT * length * out / np.linalg.norm(out))))
        moved.update(line)
    return _moved(who, q, goals, moved)


def _moved(who: Character, q: Array, goals: list[Any], bodies: set[str]) -> Array:
    """Solve for goals; only the joints of the bodies named may move."""
    from counterpoise.pose import FixJoint

    fixed = [FixJoint(j.name, _coordinates(q[j.qpos])) for j in who.joints if j.body not in bodies and j.kind != "free"]
    start = np.array(q)
    held: list[Any] = [Pin(who.root), Lock(who.root)] if who.floating else []
    return np.array(solve_pose(who, [*goals, Posture(weight=NEAR)], [*fixed, *held], start=start).q)


def _coordinates(values: Array) -> Any:
    return [float(v) for v in values] if len(values) > 1 else float(values[0])


def _limb(who: Character, end: str) -> list[str]:
    """The bodies of a limb from its first to its end: up from the end as long as no other limb branches off."""
    m = who.model
    names = {b: m.body(b).name for b in range(m.nbody)}
    line, b = [end], who.body_id(end)
    while True:
        up = int(m.body_parentid[b])
        children = [c for c in range(1, m.nbody) if int(m.body_parentid[c]) == up]
        if up == 0 or names[up] == who.root or len(children) > 1:
            return line[::-1]
        line.append(names[up])
        b = up


def _parent(who: Character, body: str) -> int:
    return int(who.model.body_parentid[who.body_id(body)])


def _folded(knee: float, hip: float, trunk: float, arms: tuple[float, float, float] | None) -> Any:
    """Shares of the way the legs' and trunk's joints can bend forward; 1 is as far as they go."""

    def build(who: Character) -> Array:
        q = _straight(who, np.array(who.neutral))
        for joint in who.joints:
            if joint.kind == "free":
                continue
            leg = any(joint.body in _limb(who, f.body) for f in who.feet)
            if leg and joint.kind == "hinge" and not _is_last(who, joint.body):
                low, high = (float(v) for v in who.model.joint(joint.name).range)
                far = high if abs(high) >= abs(low) else low
                q[joint.qpos] = knee * far
            elif leg and joint.kind == "ball":
                q[joint.qpos] = _bent(who, joint.name, -hip)
            elif joint.kind == "ball" and _carries(who, joint.body):
                q[joint.qpos] = _bent(who, joint.name, trunk)
        q = np.array(who.limits.clamp(q))
        return _arms(who, q, arms) if arms is not None and who.hands else q

    return build


def _straight(who: Character, q: Array) -> Array:
    """Upright trunk: the root level."""
    if who.floating:
        q[3:7] = (1.0, 0.0, 0.0, 0.0)
    return q


def _bent(who: Character, name: str, share: float) -> Array:
    """A ball joint turned about its y axis by a share of as far as it can go that way."""
    joint = who.joint(name)
    q = np.array(who.neutral)
    sign = 1.0 if share >= 0.0 else -1.0
    best = 0.0
    for angle in np.radians(np.arange(5.0, 176.0, 5.0)):
        q[joint.qpos] = (np.cos(angle / 2), 0.0, sign * np.sin(angle / 2), 0.0)
        limit = who.limits.balls.get(name)
        if limit is not None and max(limit.violation(q[joint.qpos])) > 1e-9:
            break
        best = float(angle)
    half = 0.5 * abs(share) * best
    return np.array([np.cos(half), 0.0, sign * np.sin(half), 0.0])


def _is_last(who: Character, body: str) -> bool:
    """Whether a foot's own joint, or its toes'."""
    feet = {f.body for f in who.feet}
    b = who.body_id(body)
    return body in feet or who.model.body(int(who.model.body_parentid[b])).name in feet


def _carries(who: Character, body: str) -> bool:
    """Whether a body is of the trunk: hands or a head hang from it, but it is no limb itself."""
    limbs = {b for end in (*who.hands, *(f.body for f in who.feet)) for b in _limb(who, end)}
    if body in limbs:
        return False
    m, b = who.model, who.body_id(body)
    return any(_above(who, b, who.body_id(h)) for h in who.hands) or bool((m.body_parentid[1:] == b).any())


def _above(who: Character, body: int, other: int) -> bool:
    while other:
        if other == body:
            return True
        other = int(who.model.body_parentid[other])
    return False


def _hang(who: Character) -> Array:
    return _arms(who, _zero(who), (0.0, 0.0, 1.0))


POSES = (
    NamedPose("neutral", "standing at ease", _neutral),
    NamedPose("straight", "standing straight, arms at the sides", _zero),
    NamedPose("T", "standing straight, arms out to the sides", lambda who: _arms(who, _zero(who), (0.0, 1.0, 0.0))),
    NamedPose("stretch", "standing straight, arms overhead", _hang),
    NamedPose("dip", "knees a little bent", _sunk(0.1, 0.15)),
    NamedPose("crouch", "knees well bent, feet flat", _sunk(0.28, 0.35)),
    NamedPose("load", "a crouch with the arms swung back", _swung(_sunk(0.28, 0.5), (-1.0, 0.2, -0.8))),
    NamedPose("land", "a crouch with the arms forward", _swung(_sunk(0.22, 0.3), (1.0, 0.1, -0.25))),
    NamedPose("reach", "standing, arms forward", _swung(_neutral, (1.0, 0.0, 0.0))),
    NamedPose("hang", "straight, arms overhead, as from a bar", _hang),
    NamedPose("tuck", "knees and hips folded tightly, hands at the shins", _folded(0.85, 0.95, 0.35, (0.9, 0.0, -0.6))),
    NamedPose("pike", "hips folded, knees straight, arms along the legs", _folded(0.02, 0.9, 0.5, (1.0, 0.2, 0.0))),
    NamedPose("sit", "knees and hips half folded, in the air", _folded(0.55, 0.7, 0.1, None)),
    NamedPose("arch", "trunk and hips bent back", _folded(0.1, -0.8, -0.5, (0.0, 0.0, 1.0))),
)  # fmt: skip
