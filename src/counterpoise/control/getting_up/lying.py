"""Moving while lying: key poses of the joints, followed by springs; which way a body lies.

On the ground a body is held up everywhere, so nothing has to be balanced: it is enough that the joints follow. The
springs are evaluated at the end of the tick (stable PD: Tan, Liu and Turk 2011) with K the stiffness and D the damping:

    (M + dt D) a = s + g - h,   tau = s - dt D a,   s = K (e - dt v) + D (v_ref - v),

where g holds up the root only. Torques are within strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.bracing.humanoid import humanoid_of

Lying = Literal["front", "back", "left", "right"]
ON_FRONT = -0.5  # height of the chest's forward direction: below this the body lies on its front
ON_BACK = 0.7  # above this on its back; between the two on a side
STEP = 1e-3  # of a key's time: for the speed of the way to it


@dataclass(frozen=True, eq=False)
class LyingKey:
    """A pose of the joints and the time to move there; the root is not used."""

    pose: Array  # (nq,)
    seconds: float


@dataclass(frozen=True, eq=False)
class KeyProgress:
    """Where a body is between its keys."""

    start: Array  # (nq,) the pose that the way to this key began with
    since: float  # [s]
    key: int = 0


def way_of_lying(snapshot: Snapshot) -> Lying:
    """Returns what the body lies on: its front, its back, its left or its right side."""
    body = humanoid_of(snapshot.character)
    turn = snapshot.rotation(body.chest) + snapshot.rotation(snapshot.character.root)
    forward, left = 0.5 * turn[2, 0], 0.5 * turn[2, 1]
    if forward < ON_FRONT:
        return "front"
    if forward > ON_BACK:
        return "back"
    return "left" if left < 0.0 else "right"


def with_joints_kept(
    character: Character, keys: tuple[LyingKey, ...], q: Array, joints: tuple[str, ...]
) -> tuple[LyingKey, ...]:
    """Returns the keys with some joints left as they are in the pose q."""
    out = []
    for key in keys:
        pose = key.pose.copy()
        for name in joints:
            part = character.joint(name).qpos
            pose[part] = q[part]
        out.append(LyingKey(pose, key.seconds))
    return tuple(out)


def follow_keys(
    snapshot: Snapshot, keys: tuple[LyingKey, ...], now: KeyProgress, stiffness: float, damping: float, dt: float
) -> tuple[Array, KeyProgress | None, float]:
    """Returns the torques, the progress (None after the last key), and the error of the joints (rms, rad)."""
    character, key = snapshot.character, keys[now.key]
    way = character.difference(now.start, key.pose)
    share = (snapshot.time - now.since) / key.seconds
    reference = character.integrate(now.start, _eased(share) * way)
    speed = (_eased(share + STEP) - _eased(share)) / (STEP * key.seconds) * way
    error = character.difference(snapshot.q, reference)
    root = character.root_dofs
    K = stiffness * character.torque_limit
    D = damping * K
    spring = K * (error - dt * snapshot.v) + D * (speed - snapshot.v)
    spring[root] = 0.0
    load = spring - snapshot.h
    load[root] = 0.0
    a = np.linalg.solve(snapshot.M + np.diag(dt * D), load)
    torque = spring - dt * D * a
    torque[root] = 0.0
    limit = character.torque_limit
    after: KeyProgress | None = now
    if share >= 1.0:
        after = KeyProgress(reference, snapshot.time, now.key + 1) if now.key + 1 < len(keys) else None
    rms = float(np.sqrt(np.mean(error[root.stop :] ** 2)))
    return np.clip(torque, -limit, limit), after, rms


def _eased(share: float) -> float:
    """Returns 0 to 1 for 0 to 1, with speed and acceleration zero at both ends."""
    x = min(max(share, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
