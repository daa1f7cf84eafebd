"""Falling: the arms reach for the ground where the body falls to, knees give, the neck keeps the head off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.bracing.humanoid import BodyBends, LimbBends, humanoid_of, posed
from counterpoise.control.standing_body import limp_torque, standing_body
from counterpoise.errors import MissingRole

_FORWARD = LimbBends((20.0, 85.0, 0.0), 35.0)
_BACKWARD = LimbBends((35.0, -45.0, 0.0), 30.0, (5.0, 100.0, 0.0), 110.0)
_SIDEWAYS = LimbBends((80.0, 20.0, 0.0), 30.0, (10.0, 50.0, 0.0), 80.0)
_OTHER_SIDE = LimbBends((20.0, 70.0, 0.0), 35.0, (5.0, 50.0, 0.0), 80.0)
_CURL = 30.0  # [deg] of every joint of the trunk, in a fall to the back


@dataclass(frozen=True)
class BraceTuning:
    """How a falling body braces itself."""

    stiffness: float = 1.5  # [1/rad] of the strength of trunk and legs
    arm_stiffness: float = 3.0  # [1/rad] of the strength of arms
    neck_stiffness: float = 8.0  # [1/rad] of the strength of the neck
    damping: float = 0.1  # [s] damping over stiffness
    limp_damping: float = 0.02  # [s] of all joints, in strengths per rad/s
    nod: float = 60.0  # [deg] of the neck away from the ground
    down: float = 0.35  # [standing CoM heights] a chest lower than this has landed, and all is limp
    active: bool = True  # False: always limp


def brace_torque(snapshot: Snapshot, tuning: BraceTuning) -> Array:
    """Returns the torques of a falling body (nv,): arms, neck and, softly, all other joints follow a pose."""
    torque = limp_torque(snapshot, tuning.limp_damping)
    character = snapshot.character
    chest = float(snapshot.position(humanoid_of(character).chest)[2])
    if not tuning.active or chest < tuning.down * standing_body(character).height:
        return torque
    goal = brace_pose(character, fall_direction(snapshot), tuning.nod)
    error = character.difference(snapshot.q, goal)
    limit = character.torque_limit
    arms, neck, rest = _dofs(character)
    for dofs, stiffness in ((arms, tuning.arm_stiffness), (neck, tuning.neck_stiffness), (rest, tuning.stiffness)):
        pull = stiffness * limit[dofs] * (error[dofs] - tuning.damping * snapshot.v[dofs])
        torque[dofs] = np.clip(pull, -limit[dofs], limit[dofs])
    return torque


def falling_torque(snapshot: Snapshot, tuning: BraceTuning) -> Array:
    """Returns the torques of a body that falls: it braces where it has arms, legs and a neck; else it is limp."""
    if can_brace(snapshot.character):
        return brace_torque(snapshot, tuning)
    return limp_torque(snapshot, tuning.limp_damping)


@kept_with_character
def can_brace(character: Character) -> bool:
    """Returns whether the body has what `brace_torque` uses."""
    try:
        humanoid_of(character)
    except MissingRole:
        return False
    return True


def fall_direction(snapshot: Snapshot) -> str:
    """Returns which side of the trunk leans most towards the ground: "front", "back", "left" or "right"."""
    body = humanoid_of(snapshot.character)
    turn = snapshot.rotation(body.chest)
    forward, left = -float(turn[2, 0]), -float(turn[2, 1])
    if abs(forward) >= abs(left):
        return "front" if forward > 0.0 else "back"
    return "left" if left > 0.0 else "right"


@kept_with_character
def brace_pose(character: Character, direction: str, nod: float) -> Array:
    """Returns the pose whose arms and neck are used in a fall."""
    if direction == "front":
        return posed(character, BodyBends(_FORWARD, _FORWARD, nod=-nod))
    if direction == "back":
        return posed(character, BodyBends(_BACKWARD, _BACKWARD, bend=_CURL, nod=nod))
    return posed(character, BodyBends(_SIDEWAYS, _OTHER_SIDE, nod=0.5 * nod), near=direction)


@kept_with_character
def _dofs(character: Character) -> tuple[Ints, Ints, Ints]:
    """Returns the rows of v of the arms, of the neck, and of all other joints."""
    body = humanoid_of(character)
    arms = [name for side in (body.left, body.right) for name in (side.shoulder, side.elbow, side.wrist)]

    def rows(names: tuple[str, ...] | list[str]) -> Ints:
        return np.concatenate([np.arange(character.nv)[character.joint(name).dofs] for name in names])

    others = [joint.name for joint in character.joints if joint.kind != "free"]
    return rows(arms), rows(body.neck), rows([name for name in others if name not in (*arms, *body.neck)])
