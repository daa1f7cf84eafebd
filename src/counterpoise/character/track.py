"""Track: a few quantities of a body along many poses, computed without a Snapshot each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array

if TYPE_CHECKING:
    from counterpoise.character.character import Character


@dataclass(frozen=True, eq=False)
class Track:
    """CoM, momentum, body frames and energy of a body along many poses."""

    com: Array  # (n, 3) [m]
    momentum: Array  # (n, 6) [H about the CoM; L]; zero where velocities are not given
    bodies: Array  # (n, nbody, 3) origins of the body frames [m]
    rotations: Array  # (n, nbody, 3, 3)
    kinetic: Array  # (n,) [J]
    potential: Array  # (n,) [J]


def follow(character: Character, qpos: Array, qvel: Array | None = None) -> Track:
    """The track of poses (n, nq) and, where given, velocities (n, nv)."""
    m, n = character.model, len(qpos)
    d = mujoco.MjData(m)
    com, momentum = np.zeros((n, 3)), np.zeros((n, 6))
    bodies, rotations = np.zeros((n, m.nbody, 3)), np.zeros((n, m.nbody, 3, 3))
    kinetic, potential = np.zeros(n), np.zeros(n)
    velocities = np.zeros((n, m.nv)) if qvel is None else qvel
    work = np.zeros(m.nv)
    for k in range(n):
        d.qpos[:] = qpos[k]
        d.qvel[:] = velocities[k]
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        bodies[k], rotations[k] = d.xpos, d.xmat.reshape(-1, 3, 3)
        com[k] = d.subtree_com[0]
        if qvel is not None:
            mujoco.mj_comVel(m, d)
            mujoco.mj_subtreeVel(m, d)
            momentum[k, :3], momentum[k, 3:] = d.subtree_angmom[0], d.subtree_linvel[0] * character.mass
            mujoco.mj_crb(m, d)
            mujoco.mj_mulM(m, d, work, d.qvel)
            kinetic[k] = 0.5 * float(d.qvel @ work)
        potential[k] = -character.mass * float(m.opt.gravity @ com[k])
    return Track(com, momentum, bodies, rotations, kinetic, potential)


def point_path(character: Character, track: Track, body: str, place: Sequence[float]) -> Array:
    """World path (n, 3) of a body-fixed point along a track."""
    b = character.body_id(body)
    return track.bodies[:, b] + track.rotations[:, b] @ np.asarray(place, float)
