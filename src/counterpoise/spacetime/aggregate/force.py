"""Aggregate force and momentum of a moving character, with all first derivatives in time linear in its joints.

The aggregate force is what the world must supply besides gravity to make the body move as it does. It is zero in
flight, lies inside the friction cone on the ground, and has no torque about a bar's axis. Internal torques, armature
and damping do not enter. After Fang & Pollard 2003, 2004; the derivation is in docs/spacetime_aggregate.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.spacetime.aggregate.input import About, read_frames, read_only, reference_points
from counterpoise.spacetime.aggregate.kernels import (
    aggregate_batch,
    aggregate_com_batch,
    aggregate_force_batch,
    momentum_batch,
)
from counterpoise.spacetime.aggregate.tables import link_tables


class AggregateForce(NamedTuple):
    """[torque; force] and its derivatives, with a leading axis of frames for a batch."""

    force: Array  # (..., 6) [N m, N], world axes
    by_q: Array  # (..., 6, nv), by a step in the tangent space (Character.integrate), v and a held
    by_v: Array  # (..., 6, nv)
    by_a: Array  # (..., 6, nv)


class MomentumDerivatives(NamedTuple):
    """[angular; linear] momentum and its derivatives, with a leading axis of frames for a batch."""

    momentum: Array  # (..., 6) [kg m^2/s, kg m/s], world axes
    by_q: Array  # (..., 6, nv), by a step in the tangent space (Character.integrate), v held
    by_v: Array  # (..., 6, nv)


def aggregate_force(character: Character, q: ArrayLike, v: ArrayLike, a: ArrayLike, about: About = None) -> Array:
    """Returns [torque; force] (6,) or (n, 6) that the world supplies: sum of I a + v x* I v, with a_0 = -g.

    One frame or a batch: q (n, nq), v and a (n, nv) in MuJoCo's coordinates (a free root's linear part in the world,
    rotations of balls and of the root in the body's own axes). The torque is about the world's origin, a fixed point
    (3,), one point for each frame (n, 3), or the centre of mass ("com").
    """
    single, q, (v, a) = read_frames(character, q, ("v", v), ("a", a))
    tables = link_tables(character)
    F = np.empty((len(q), 6))
    aggregate_force_batch(tables, q, v, a, reference_points(tables, q, about), F)
    if isinstance(about, str):
        here = reference_points(tables, q, about)
        F[:, :3] -= np.cross(_centres(character, q) - here, F[:, 3:])
    return read_only(single, F)[0]


def aggregate_force_derivatives(
    character: Character, q: ArrayLike, v: ArrayLike, a: ArrayLike, about: About = None
) -> AggregateForce:
    """Returns the aggregate force and its derivatives by q, v and a, in O(D) together (see `aggregate_force`).

    A given point is held fixed; the centre of mass moves with q.
    """
    single, q, (v, a) = read_frames(character, q, ("v", v), ("a", a))
    tables, n = link_tables(character), len(q)
    here = reference_points(tables, q, about)
    F, (Fq, Fv, Fa) = np.empty((n, 6)), (np.empty((n, 6, character.nv)) for _ in range(3))
    if isinstance(about, str):
        aggregate_com_batch(tables, q, v, a, here, np.empty((n, 3)), F, Fq, Fv, Fa)
    else:
        aggregate_batch(tables, q, v, a, here, F, Fq, Fv, Fa)
    return AggregateForce(*read_only(single, F, Fq, Fv, Fa))


def momentum(character: Character, q: ArrayLike, v: ArrayLike, about: About = None) -> Array:
    """Returns [angular; linear] momentum (6,) or (n, 6), the sum of I v, about the origin, a point or the CoM."""
    return momentum_derivatives(character, q, v, about).momentum


def momentum_derivatives(character: Character, q: ArrayLike, v: ArrayLike, about: About = None) -> MomentumDerivatives:
    """Returns the momentum and its derivatives by q and v in O(D); by v it is the (centroidal) momentum matrix.

    A given point is held fixed; the centre of mass moves with q: H_c = H - c x l, dH_c = dH - dc x l - c x dl.
    """
    single, q, (v,) = read_frames(character, q, ("v", v))
    tables, n = link_tables(character), len(q)
    here = reference_points(tables, q, about)
    com, H, Hq, Hv = np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6, character.nv)), np.empty((n, 6, character.nv))
    momentum_batch(tables, q, v, here, com, H, Hq, Hv)
    if isinstance(about, str):
        c, l = com - here, H[:, 3:]
        H[:, :3] -= np.cross(c, l)
        Hq[:, :3] -= np.cross(c[:, :, None], Hq[:, 3:], axis=1)
        Hq[:, :3] -= np.cross(Hv[:, 3:] / character.mass, l[:, :, None], axis=1)
        Hv[:, :3] -= np.cross(c[:, :, None], Hv[:, 3:], axis=1)
    return MomentumDerivatives(*read_only(single, H, Hq, Hv))


def _centres(character: Character, q: Array) -> Array:
    """Returns the centres of mass (n, 3) of poses (n, nq)."""
    tables, n = link_tables(character), len(q)
    com, H, D = np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6, character.nv))
    momentum_batch(tables, q, np.zeros((n, character.nv)), reference_points(tables, q, "com"), com, H, D, D.copy())
    return com
