"""Falling: the arms reach for the ground where the body falls to, and the neck keeps the head away from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.getting_up.humanoid import BodyBends, LimbBends, humanoid_of, posed
from counterpoise.control.standing_body import limp_torque, standing_body

_FORWARD = LimbBends(shoulder=(20.0, 85.0, 0.0), elbow=35.0)
_BACKWARD = LimbBends(shoulder=(35.0, -45.0, 0.0), elbow=30.0)
_SIDEWAYS = LimbBends(shoulder=(80.0, 20.0, 0.0), elbow=30.0)


@dataclass(frozen=True)
class BraceTuning:
    """How a falling body braces itself."""

    arm_stiffness: float = 3.0  # [1/rad] of the strength of arms
    neck_stiffness: float = 8.0  # [1/rad] of the strength of the neck
    damping: float = 0.1  # [s] damping over stiffness
    limp_damping: float = 0.02  # [s] of all joints, in strengths per rad/s
    nod: float = 35.0  # [deg] of the neck away from the ground
    down: float = 0.35  # [standing CoM heights] a chest lower than this has landed, and all is limp
    active: bool = True  # False: always limp


def brace_torque(snapshot: Snapshot, tuning: BraceTuning) -> Array:
    """Returns the torques of a falling body (nv,): arms and neck follow a pose, all else is limp."""
    torque = limp_torque(snapshot, tuning.limp_damping)
    character = snapshot.character
    chest = float(snapshot.position(humanoid_of(character).chest)[2])
    if not tuning.active or chest < tuning.down * standing_body(character).height:
        return torque
    goal = brace_pose(character, fall_direction(snapshot), tuning.nod)
    error = character.difference(snapshot.q, goal)
    limit = character.torque_limit
    arms, neck = _dofs(character)
    for dofs, stiffness in ((arms, tuning.arm_stiffness), (neck, tuning.neck_stiffness)):
        pull = stiffness * limit[dofs] * (error[dofs] - tuning.damping * snapshot.v[dofs])
        torque[dofs] = np.clip(pull, -limit[dofs], limit[dofs])
    return torque


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
        return posed(character, BodyBends(_BACKWARD, _BACKWARD, nod=nod))
    return posed(character, BodyBends(_SIDEWAYS, _FORWARD, nod=0.5 * nod), near=direction)


@kept_with_character
def _dofs(character: Character) -> tuple[Array, Array]:
    """Returns the rows of v of the arms and of the neck."""
    body = humanoid_of(character)
    arms = [name for side in (body.left, body.right) for name in (side.shoulder, side.elbow, side.wrist)]

    def rows(names: tuple[str, ...] | list[str]) -> Array:
        return np.concatenate([np.arange(character.nv)[character.joint(name).dofs] for name in names])

    return rows(arms), rows(body.neck)


