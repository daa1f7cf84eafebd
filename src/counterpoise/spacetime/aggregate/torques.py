"""Torques at chosen joints and their derivatives: inverse dynamics of K joints in O(K D).

The torque of a joint is the rigid-body torque plus armature times acceleration, minus the torque that the world's
wrenches on bodies cause there: MuJoCo's qfrc_inverse without passive forces (springs, damping) and constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.aggregate.input import points_near, read_frames, read_only
from counterpoise.spacetime.aggregate.tables import PARENT, LinkTables, link_tables
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch

Forces = Mapping[str, ArrayLike]


class JointTorques(NamedTuple):
    """Torques of K degrees of freedom and their derivatives, with a leading axis of frames for a batch."""

    torque: Array  # (..., K) [N m] or [N]
    by_q: Array  # (..., K, nv), by a step in the tangent space (Character.integrate); v, a and the wrenches held
    by_v: Array  # (..., K, nv)
    by_a: Array  # (..., K, nv): rows of the mass matrix, armature included
    by_forces: dict[str, Array]  # body -> (..., K, 6), by the components of its wrench
    dofs: tuple[int, ...]  # (K,): the entries of v that these torques belong to


def joint_torques(
    character: Character,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    joints: Sequence[str] | None = None,
    forces: Forces | None = None,
) -> Array:
    """Returns torques (K,) or (n, K) at the named joints (without names, at all joints), in the order of the names.

    `forces` are the world's wrenches on bodies: name -> [torque; force] (6,) or (n, 6) in world axes about the world's
    origin. They are subtracted: tau = M a + h - sum of J' wrench.
    """
    return _torques(character, q, v, a, joints, forces, False).torque


def joint_torque_derivatives(
    character: Character,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    joints: Sequence[str] | None = None,
    forces: Forces | None = None,
) -> JointTorques:
    """Returns the torques of `joint_torques` and their derivatives by q, v, a and the wrenches, in O(K D).

    Wrenches are constant in the world while q changes: their torque about the world's origin is held.
    """
    return _torques(character, q, v, a, joints, forces, True)


def _torques(
    character: Character,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    joints: Sequence[str] | None,
    forces: Forces | None,
    derive: bool,
) -> JointTorques:
    single, q, (v, a) = read_frames(character, q, ("v", v), ("a", a))
    tables, n = link_tables(character), len(q)
    if isinstance(joints, str):
        raise BadValue(f"joints is a list of names; write [{joints!r}]")
    chosen = [character.joint(name) for name in joints] if joints is not None else character.joints
    dofs = [dof for joint in chosen for dof in range(joint.dofs.start, joint.dofs.stop)]
    bodies, wrenches = _wrenches(character, forces or {}, n)
    K, size = len(dofs), character.nv if derive else 0
    tau, axes = np.empty((n, K)), np.empty((n, K, 6))
    Tq, Tv, Ta = (np.empty((n, K, size)) for _ in range(3))
    picked = np.array(dofs, np.int64)
    torques_batch(
        tables, q, v, a, points_near(tables, q), picked, bodies, wrenches, tau, axes, Tq, Tv, Ta, derive
    )  # fmt: skip
    tau, Tq, Tv, Ta = read_only(single, tau, Tq, Tv, Ta)
    by_forces = {}
    if derive:
        for name, body in zip(forces or {}, bodies, strict=True):
            carried = np.array([_carries(tables, dof, int(body)) for dof in dofs], bool)
            by_forces[name] = read_only(single, np.where(carried[:, None], -axes, 0.0))[0]
    return JointTorques(tau, Tq, Tv, Ta, by_forces, tuple(dofs))


def _wrenches(character: Character, forces: Forces, n: int) -> tuple[Ints, Array]:
    bodies = np.array([character.body_id(name) for name in forces], np.int64)
    out = np.zeros((n, len(forces), 6))
    for i, (name, given) in enumerate(forces.items()):
        wrench = np.asarray(given, float)
        if wrench.shape not in ((6,), (n, 6)):
            raise BadValue(f"the wrench on {name!r} is [torque; force], (6,) or ({n}, 6); it has shape {wrench.shape}")
        if not np.isfinite(wrench).all():
            raise BadValue(f"the wrench on {name!r} holds NaN or infinity")
        out[:, i] = wrench
    return bodies, out


def _carries(tables: LinkTables, dof: int, body: int) -> bool:
    """Returns whether a degree of freedom moves a body."""
    link, wanted = int(tables.body_link[body]), int(tables.dof_link[dof])
    while link > wanted:
        link = int(tables.links[link, PARENT])
    return link == wanted
