"""Torques of chosen joints as variables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import SplineRows, dof_names


@dataclass(frozen=True, eq=False)
class TorquePlan:
    """Dofs whose torques are variables, in shares of their strength."""

    dofs: Ints  # (K,)
    strength: Array  # (K,) [N m]
    bound: Array  # (K,) largest share; infinity where there is no limit
    effort: Array  # (K,) weights of squared shares


def contact_wrenches(e: MotionEvaluation, holds: Sequence[HoldForces], x: Array, bodies: Ints) -> Array:
    """Returns the contacts' wrenches on `bodies` (sorted) at all knots (knots, bodies, 6), about the origin."""
    out, weight = np.zeros((e.frames.knots, len(bodies), 6)), e.character.weight
    for h in holds:
        f, torque = h.forces(x)
        moment = np.cross(h.arms(e, x) + e.about[h.on][:, None, :], f)
        for m, b in enumerate(h.bodies):
            k = int(np.searchsorted(bodies, b))
            out[h.on, k, :3] += weight * moment[:, m]
            out[h.on, k, 3:] += weight * f[:, m]
        if torque.shape[1]:
            out[h.on, int(np.searchsorted(bodies, h.hold.body)), :3] += weight * torque
    return out


def touched_bodies(holds: Sequence[HoldForces]) -> Ints:
    """Returns the bodies that contacts act on, sorted."""
    return np.array(sorted({int(b) for h in holds for b in h.bodies}), np.int64)


def torques_by_contact(
    e: MotionEvaluation, h: HoldForces, x: Array, axes: Array, carries: Flags
) -> tuple[Array, Array, Array]:
    """Returns what a contact's forces do to torques by its multipliers (n, K, multipliers), its place and facing (n, K,
    4), and the pose (n, K, nv) where forces go with that.

    `axes` (n, K, 6) of the torques at its knots, times what one body weight counts; `carries` (nbody, K).
    """
    f, _ = h.forces(x)
    K = axes.shape[1]
    on = carries[h.bodies].T  # (K, m)
    m, g = h.hold.generators.shape[:2]
    at = h.arms(e, x) + e.about[h.on][:, None, :]
    turn = np.cross(at[:, :, None, :], h.generators)  # (n, m, g, 3)
    by = np.einsum("nki,nmgi->nkmg", axes[..., :3], turn)
    by += np.einsum("nki,nmgi->nkmg", axes[..., 3:], h.generators)
    by = -(by * on[None, :, :, None]).reshape(len(h.on), K, m * g)
    own = carries[h.hold.body]
    spin = -np.einsum("nki,hi->nkh", axes[..., :3], h.hold.torques) * own[None, :, None]
    place, by_pose = np.zeros((len(h.on), K, 4)), np.zeros((1, 1, 1))
    if h.fixed_arms:
        moved = [np.broadcast_to(h.S[:, None, :, k], f.shape) for k in range(3)] + [h.arms_by_facing(x)]
        for k, d in enumerate(moved):
            shift = np.einsum("nki,nmi->nkm", axes[..., :3], np.cross(d, f))
            place[:, :, k] = -(shift * on[None]).sum(axis=2)
    else:
        J = e.J[h.on[:, None], h.points[None, :]]  # (n, m, 3, nv): d(p x f) = -f x dp
        turned = np.cross(f[..., None, :], J.swapaxes(-1, -2)).swapaxes(-1, -2)
        by_pose = (np.einsum("nki,nmid->nkmd", axes[..., :3], turned) * on[None, :, :, None]).sum(axis=2)
    return np.concatenate([by, spin], axis=2), place, by_pose


class TorqueRows(SplineRows):
    """tau(q, q', q'', contact forces) / strength - u = 0 at every knot, for K degrees of freedom, in O(K D).

    Bounds lie on u: found to converge in fewer iterations than bounds on the rows. A joint's torque depends on what
    moves the parts it carries and on the contacts of those parts, and on nothing else.
    """

    may_have_slack: ClassVar[bool] = False

    def __init__(self, e: MotionEvaluation, layout: Layout, plan: TorquePlan, holds: Sequence[HoldForces]) -> None:
        self.name = "torque"
        self.plan, self.holds, self.own = plan, tuple(holds), layout.torques
        n, K, nv = e.frames.knots, len(plan.dofs), e.character.nv
        self.weight = e.character.weight
        self.frame = np.repeat(np.arange(n), K)
        self.low = self.high = np.zeros(n * K)
        self.kinds = tuple(np.array(dof_names(e.character))[plan.dofs])
        self.bodies = touched_bodies(self.holds)
        moves = dofs_moving(e.character)
        self.carries = moves[:, plan.dofs]  # (nbody, K)
        felt = (self.carries.T.astype(int) @ moves.astype(int)) > 0  # (K, nv) what moves the parts a joint carries
        self.prepare(e, layout, np.arange(nv), timed=True, keep=np.tile(felt, (n, 1)))
        self._held = [self.carries[np.append(h.bodies, h.hold.body)].any(axis=0) for h in self.holds]  # (K,) each
        self.tau, self.axes = np.zeros((n, K)), np.zeros((n, K, 6))
        self.Tq, self.Tv, self.Ta = np.zeros((3, n, K, nv))

    def _evaluate(self, e: MotionEvaluation, x: Array, slopes: bool) -> None:
        n = e.frames.knots
        wrenches = contact_wrenches(e, self.holds, x, self.bodies)
        torques_batch(
            e.tables, e.q[:n], e.v[:n], e.a[:n], e.about, self.plan.dofs, self.bodies, wrenches, self.tau, self.axes,
            self.Tq, self.Tv, self.Ta, slopes,
        )  # fmt: skip

    def torques(self, e: MotionEvaluation, x: Array) -> Array:
        """(knots, K) [N m]."""
        self._evaluate(e, x, False)
        return self.tau.copy()

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        self._evaluate(e, x, True)
        return np.asarray((self.tau / self.plan.strength).ravel() - x[self.own : self.own + self.tau.size])

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = super().pattern()
        K, own = len(self.plan.dofs), np.arange(self.tau.size)
        more_r, more_c = [rows, own], [cols, self.own + own]
        for h, held in zip(self.holds, self._held, strict=True):
            r = h.on[:, None, None] * K + np.flatnonzero(held)[None, :, None]
            for c in (h.multiplier_columns()[:, None, :], h.place + np.arange(4)[None, None]):
                rr, cc = np.broadcast_arrays(r, c)
                more_r.append(rr.ravel())
                more_c.append(cc.ravel())
        return np.concatenate(more_r).astype(np.int64), np.concatenate(more_c).astype(np.int64)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        """By the curve (with the forces' places, where they go with the pose), by u, by multipliers and places."""
        self._evaluate(e, x, True)
        nv = self.Tq.shape[2]
        unit = 1.0 / self.plan.strength
        Gq = self.Tq * unit[:, None]
        parts = []
        for h, held in zip(self.holds, self._held, strict=True):
            a = self.axes[h.on] * (self.weight * unit[:, None])  # (n, K, 6)
            by, place, by_pose = torques_by_contact(e, h, x, a, self.carries)
            if not h.fixed_arms:
                Gq[h.on] += by_pose
            parts += [by[:, held].ravel(), place[:, held].ravel()]
        Gv, Ga = ((T * unit[:, None]).reshape(-1, nv) for T in (self.Tv, self.Ta))
        end = self.write(e, out, Gq.reshape(-1, nv), Gv, Ga)
        for part in (np.full(self.tau.size, -1.0), *parts):
            out[end : end + len(part)] = part
            end += len(part)
