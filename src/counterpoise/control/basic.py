"""The protocol of controllers, and the two simplest: one without torques and one that holds a pose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.terrain import Terrain


@dataclass(frozen=True, eq=False)
class Action:
    """What a controller returns: joint torques, its memory for the next tick, and notes for the recording."""

    torque: Array  # (nv,) [N m]; the root's rows are ignored
    memory: Any = None
    notes: Mapping[str, float | str] = field(default_factory=dict)


@runtime_checkable
class Controller(Protocol):
    """Maps (snapshot, memory) to torques, `rate` times a second. It has no state of its own: memory goes in and out."""

    @property
    def rate(self) -> float: ...  # [Hz]

    def begin(self, character: Character) -> Any:
        """Returns the memory before the first tick; raises an error where it cannot drive this character."""
        ...

    def act(self, snapshot: Snapshot, memory: Any) -> Action: ...


@dataclass(frozen=True)
class Passive:
    """No torques: a rag doll."""

    rate: float = 100.0  # [Hz]

    def begin(self, character: Character) -> None:
        return None

    def act(self, snapshot: Snapshot, memory: None) -> Action:
        return Action(np.zeros(snapshot.character.nv))


@dataclass(frozen=True, eq=False)
class HoldPose:
    """Holds a pose, or follows a motion, by a spring and a damper at each joint; gravity is compensated.

    The springs are evaluated at the end of the tick, so that they are stable at any stiffness (stable PD: Tan, Liu and
    Turk 2011). With K the stiffness, D the damping matrix and e the error on the manifold,

        tau = K (e - dt v) + D (v_ref - v - dt a) + gravity,
        (M + dt D) a = -h + J^T f + gravity + K (e - dt v) + D (v_ref - v).

    A joint's spring gives its full torque at an error of 1/stiffness rad, so that one gain suits a finger and a hip.
    It does not balance. Gravity is compensated as if the weight rested on the contact points near the ground (J^T f).
    """

    pose: ArrayLike | Motion | None = None  # (nq,), a Motion to follow, or None for the neutral pose
    stiffness: float = 5.0  # [1/rad], of each joint's torque limit
    damping: float = 0.1  # [s], damping over stiffness
    rate: float = 500.0  # [Hz]
    support_height: float = 0.02  # [m] contact points nearer to the ground than this carry weight
    terrain: Terrain | None = None  # the ground; None: level at z = 0. `simulate` fills it in from the world

    def __post_init__(self) -> None:
        if not (self.stiffness >= 0.0 and self.damping >= 0.0 and self.rate > 0.0):
            raise BadValue(
                f"HoldPose needs stiffness >= 0, damping >= 0, rate > 0; got {self.stiffness}, "
                f"{self.damping}, {self.rate}"
            )

    def begin(self, character: Character) -> None:
        if isinstance(self.pose, Motion):
            if self.pose.character.joint_names != character.joint_names:
                raise BadValue(
                    f"this motion is for {self.pose.character.name!r}, whose joints differ from {character.name!r}'s: "
                    "retarget(motion, character) makes one that fits"
                )
        elif self.pose is not None:
            character.check_pose(self.pose)

    def on_terrain(self, terrain: Terrain) -> HoldPose:
        """Returns the same controller with knowledge of a terrain, unless it already has some."""
        return self if self.terrain is not None else replace(self, terrain=terrain)

    def act(self, snapshot: Snapshot, memory: None) -> Action:
        character, q, v = snapshot.character, snapshot.q, snapshot.v
        reference, speed = self._reference(character, snapshot.time)
        error, dt = character.difference(q, reference), 1.0 / self.rate
        K = self.stiffness * character.torque_limit
        D = self.damping * K
        gravity = snapshot.h - _carried_weight(snapshot, self.support_height, self.terrain)
        spring = K * (error - dt * v) + D * (speed - v)
        unbalanced = np.zeros_like(gravity)
        unbalanced[character.root_dofs] = -gravity[character.root_dofs]
        a = np.linalg.solve(snapshot.M + np.diag(dt * D), unbalanced + spring)
        torque = spring - dt * D * a + gravity
        torque[character.root_dofs] = 0.0
        joints = slice(character.root_dofs.stop, None)
        return Action(torque, None, {"error": float(np.abs(error[joints]).max(initial=0.0))})

    def _reference(self, character: Character, time: float) -> tuple[Array, Array]:
        if isinstance(self.pose, Motion):
            sample = self.pose.sample(time)
            return sample.q, sample.v
        pose = character.neutral if self.pose is None else np.asarray(self.pose, float)
        return pose, np.zeros(character.nv)


def _carried_weight(snapshot: Snapshot, height: float, terrain: Terrain | None) -> Array:
    """Returns J^T f of forces that carry the weight, as near to the CoM as can be.

    They act at contact points less than `height` [m] above the ground.
    """
    x, y, above = snapshot.contact_position.T
    low = np.flatnonzero((above if terrain is None else above - terrain.height(x, y)) < height)
    nv = snapshot.character.nv
    if len(low) == 0:
        return np.zeros(nv)
    arms = snapshot.contact_position[low, :2] - snapshot.com[:2]
    share = np.full(len(low), 1.0 / len(low))
    A = np.vstack([np.ones(len(low)), arms.T])
    share = share + np.linalg.lstsq(A, np.array([1.0, 0.0, 0.0]) - A @ share, rcond=1e-9)[0]
    share = np.maximum(share, 0.0)
    up = np.einsum("p,pj->j", share / max(share.sum(), 1e-9), snapshot.contact_jacobian[low, 2, :])
    return snapshot.character.weight * up
