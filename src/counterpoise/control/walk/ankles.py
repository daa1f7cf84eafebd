"""What an ankle can do: how far from it the centre of pressure may be, and whether the foot can roll sideways.

A force F under the sole at a distance x from the ankle needs the torque F x. An ankle of a robot may be too weak to
carry the body on the front of its sole, or may have no axis along the foot at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.features import BodyOrientation

WEAK = 0.65  # of the sole's front: an ankle that carries the body only nearer than this is a weak one
USABLE = 0.85  # of a weak ankle's torque, for the centre of pressure that is planned
LEAST_TURN = 0.3  # of an axis along the foot, without which the foot cannot roll


def pressure_reach(character: Character, rest: Snapshot, body: str, joints: Sequence[str], front: float) -> float:
    """Returns how far ahead of the ankle, or behind it, the whole weight may rest [m]; infinite where it is strong."""
    reach = bending_torque(character, rest, body, joints) / character.weight
    return float(USABLE * reach) if reach < WEAK * front else float(np.inf)


def bending_torque(character: Character, rest: Snapshot, body: str, joints: Sequence[str]) -> float:
    """Returns the largest torque about the axis across the body that the joints which move a body can give [N m]."""
    turns = _turns(character, rest, body, joints)
    return min((torque / abs(a) for (_, a, _), torque in turns if abs(a) > LEAST_TURN), default=float(np.inf))


def can_roll(character: Character, rest: Snapshot, body: str, joints: Sequence[str]) -> bool:
    """Returns whether a foot can turn about its own length while the shin stays as it is."""
    return any(abs(along) > LEAST_TURN for (along, _, _), _ in _turns(character, rest, body, joints))


def _turns(
    character: Character, rest: Snapshot, body: str, joints: Sequence[str]
) -> list[tuple[tuple[float, float, float], float]]:
    """Returns the axes of joints in the neutral pose, world, and the torque about each [N m]."""
    J = BodyOrientation(body).jacobian(rest)
    rows = [row for name in joints for row in range(*character.joint(name).dofs.indices(character.nv))]
    return [((float(J[0, i]), float(J[1, i]), float(J[2, i])), float(character.torque_limit[i])) for i in rows]
