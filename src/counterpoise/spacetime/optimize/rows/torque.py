"""Torques of chosen joints as variables of their own: bounded where they are limited, weighed where effort counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch
from counterpoise.spacetime.optimize.asks import Effort, TorqueLimit, Wish
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.rows.base import Layout, Support, _Spline, dof_names, moved_by


@dataclass(frozen=True, eq=False)
class TorquePlan:
    """Degrees of freedom whose torques are asked about, in shares of their strength."""

    dofs: Ints  # (K,)
    strength: Array  # (K,) [N m]
    bound: Array  # (K,) largest share; infinity where none
    effort: Array  # (K,) weights


def plan_torques(character: Character, wishes: Sequence[Wish]) -> TorquePlan | None:
    """What limits and efforts ask for; None where there are none."""
    bound, effort = np.full(character.nv, np.inf), np.zeros(character.nv)
    strength = np.where(character.torque_limit > 0.0, character.torque_limit, 1.0)
    strength = np.where(np.isfinite(strength), strength, 1.0)
    asked = np.zeros(character.nv, bool)
    for wish in wishes:
        if not isinstance(wish, (TorqueLimit, Effort)):
            continue
        every = [j.name for j in character.joints if j.kind != "free"]
        for name in every if wish.joints is None else wish.joints:
            joint = character.joint(name)
            if joint.kind == "free":
                raise BadValue(f"{name!r} is the free root: nothing works there; name joints such as 'knee_left'")
            asked[joint.dofs] = True
            if isinstance(wish, Effort):
                effort[joint.dofs] += wish.weight
            else:
                most = wish.share if wish.limit is None else wish.limit / strength[joint.dofs]
                bound[joint.dofs] = np.minimum(bound[joint.dofs], most)
    dofs = np.flatnonzero(asked).astype(np.int64)
    return TorquePlan(dofs, strength[dofs], bound[dofs], effort[dofs]) if len(dofs) else None


class Torques(_Spline):
    """tau(q, q', q'', contact forces) / strength - u = 0 at every knot, for K degrees of freedom, in O(K D).

    Bounds lie on u: found to converge in fewer iterations than bounds on the rows. A joint's torque depends on what
    moves the parts it carries and on the contacts of those parts, and on nothing else.
    """

    def __init__(self, e: Evaluation, layout: Layout, plan: TorquePlan, supports: Sequence[Support]) -> None:
        self.name = "torque"
        self.plan, self.supports, self.own = plan, list(supports), layout.torques
        n, K, nv = e.frames.knots, len(plan.dofs), e.character.nv
        self.weight = e.character.mass * 9.81
        self.frame = np.repeat(np.arange(n), K)
        self.low = self.high = np.zeros(n * K)
        self.kinds = tuple(np.array(dof_names(e.character))[plan.dofs])
        self._prepare(e, layout, np.arange(nv), timed=True)
        self.bodies = np.array(sorted({int(b) for h in self.supports for b in h.bodies}), np.int64)
        moves = moved_by(e)
        self.carries = moves[:, plan.dofs]  # (nbody, K)
        felt = (self.carries.T.astype(int) @ moves.astype(int)) > 0  # (K, nv) what moves the parts a joint carries
        self._keep = np.broadcast_to(np.tile(felt, (n, 1))[:, :, None], self._cols.shape)
        self._held = [self.carries[np.append(h.bodies, h.hold.body)].any(axis=0) for h in self.supports]  # (K,) each
        self.tau, self.axes = np.zeros((n, K)), np.zeros((n, K, 6))
        self.Tq, self.Tv, self.Ta = np.zeros((3, n, K, nv))

    def _look(self, e: Evaluation, x: Array, slopes: bool) -> None:
        n = e.frames.knots
        wrenches = np.zeros((n, len(self.bodies), 6))
        for h in self.supports:
            f, torque = h.forces(x)
            at = h.arms(e, x) + e.about[h.on][:, None, :]
            moment = np.cross(at, f)
            for m, b in enumerate(h.bodies):
                k = int(np.searchsorted(self.bodies, b))
                wrenches[h.on, k, :3] += self.weight * moment[:, m]
                wrenches[h.on, k, 3:] += self.weight * f[:, m]
            if torque.shape[1]:
                wrenches[h.on, int(np.searchsorted(self.bodies, h.hold.body)), :3] += self.weight * torque
        torques_batch(
            e.tables, e.q[:n], e.v[:n], e.a[:n], e.about, self.plan.dofs, self.bodies, wrenches, self.tau, self.axes,
            self.Tq, self.Tv, self.Ta, slopes,
        )  # fmt: skip

    def torques(self, e: Evaluation, x: Array) -> Array:
        """(knots, K) [N m]."""
        self._look(e, x, False)
        return self.tau.copy()

    def values(self, e: Evaluation, x: Array) -> Array:
        self._look(e, x, True)
        return np.asarray((self.tau / self.plan.strength).ravel() - x[self.own : self.own + self.tau.size])

    def pattern(self) -> tuple[Ints, Ints]:
        across = np.broadcast_to(np.arange(len(self.frame))[:, None, None], self._cols.shape)
        tr, tk = np.nonzero(self._timed)
        K = len(self.plan.dofs)
        more_r = [across[self._keep], tr, np.arange(self.tau.size)]
        more_c = [self._cols[self._keep], self._ends[tr, tk], self.own + np.arange(self.tau.size)]
        for h, held in zip(self.supports, self._held, strict=True):
            r = h.on[:, None, None] * K + np.flatnonzero(held)[None, :, None]
            m = h.hold.multipliers
            for c in (
                h.lam + np.arange(len(h.on))[:, None, None] * m + np.arange(m),
                h.place + np.arange(4)[None, None],
            ):
                rr, cc = np.broadcast_arrays(r, c)
                more_r.append(rr.ravel())
                more_c.append(cc.ravel())
        return np.concatenate(more_r).astype(np.int64), np.concatenate(more_c).astype(np.int64)

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        """By the curve (with the forces' places, where they go with the pose), by u, by multipliers and places."""
        self._look(e, x, True)
        K, nv = self.Tq.shape[1:]
        unit = 1.0 / self.plan.strength
        Gq = self.Tq * unit[:, None]
        parts = []
        for h, held in zip(self.supports, self._held, strict=True):
            f, _ = h.forces(x)
            a = self.axes[h.on] * (self.weight * unit[:, None])  # (n, K, 6)
            on = self.carries[h.bodies].T  # (K, m)
            m, g = h.hold.generators.shape[:2]
            at = h.arms(e, x) + e.about[h.on][:, None, :]
            turn = np.cross(at[:, :, None, :], h.gens)  # (n, m, g, 3)
            by = np.einsum("nki,nmgi->nkmg", a[..., :3], turn) + np.einsum("nki,nmgi->nkmg", a[..., 3:], h.gens)
            by = -(by * on[None, :, :, None]).reshape(len(h.on), K, m * g)
            own = self.carries[h.hold.body]
            spin = -np.einsum("nki,hi->nkh", a[..., :3], h.hold.torques) * own[None, :, None]
            parts.append(np.concatenate([by, spin], axis=2)[:, held].ravel())
            place = np.zeros((len(h.on), K, 4))
            if h.given:
                moved = [np.broadcast_to(h.S[:, None, :, k], f.shape) for k in range(3)] + [h.turning(x)]
                for k, d in enumerate(moved):
                    shift = np.einsum("nki,nmi->nkm", a[..., :3], np.cross(d, f))
                    place[:, :, k] = -(shift * on[None]).sum(axis=2)
            else:
                J = e.J[h.on[:, None], h.points[None, :]]  # (n, m, 3, nv): d(p x f) = -f x dp
                shift = np.einsum(
                    "nki,nmid->nkmd", a[..., :3], np.cross(f[..., None, :], J.swapaxes(-1, -2)).swapaxes(-1, -2)
                )
                Gq[h.on] += (shift * on[None, :, :, None]).sum(axis=2)
            parts.append(place[:, held].ravel())
        Gv, Ga = ((T * unit[:, None]).reshape(-1, nv) for T in (self.Tv, self.Ta))
        e.chain(self.frame, Gq.reshape(-1, nv), Gv, Ga, self.dofs, self._out, self._by_T)
        tr, tk = np.nonzero(self._timed)
        parts = [
            self._out[self._keep], self._by_T[tr] * np.where(tk == 1, 1.0, -1.0), np.full(self.tau.size, -1.0), *parts,
        ]  # fmt: skip
        end = 0
        for part in parts:
            out[end : end + len(part)] = part
            end += len(part)
