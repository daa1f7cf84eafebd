"""An impact: the jump of velocities is what contacts and joints give; points come in no faster than is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import dofs_moving
from counterpoise.spacetime.aggregate.kernels import aggregate_batch
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.impacts import Impact
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import RowBlock, SplineRows, dof_names
from counterpoise.spacetime.optimize.rows.physics import force_scale, torque_by_place, wrench_by_multipliers
from counterpoise.spacetime.optimize.rows.speed import SPEED_SCALE
from counterpoise.spacetime.optimize.rows.torque import TorquePlan, torques_by_contact, touched_bodies


class _Side(SplineRows):
    """The part of the rows that depends on the curve on one side of the impacts."""

    def __init__(self, e: MotionEvaluation, layout: Layout, frame: Ints, keep: Flags) -> None:
        self.frame = frame
        self.low = self.high = np.zeros(len(frame))
        self.prepare(e, layout, np.arange(e.character.nv), timed=True, keep=keep)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        raise NotImplementedError("one side has no values of its own")

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        raise NotImplementedError("both sides are written together")


class ImpactRows(RowBlock):
    """M(q) (v+ - v-) / T = J^T f + tau for every impact: six rows of the whole body, in body weights, then its joints'.

    M times a jump is what `aggregate_batch` and `torques_batch` find for an acceleration without speed, less gravity.
    """

    may_have_slack: ClassVar[bool] = False

    def __init__(
        self, e: MotionEvaluation, layout: Layout, impacts: Sequence[Impact], pushes: Sequence[Sequence[HoldForces]],
        plan: TorquePlan, seconds: float,
    ) -> None:  # fmt: skip
        """`pushes`: the contacts of each impact with their multipliers in it; `seconds` it stands for."""
        self.name, self.plan, self.seconds = "impact", plan, seconds
        self.pushes = tuple(tuple(p) for p in pushes)
        n, K = len(impacts), len(plan.dofs)
        self.width, self.weight = 6 + K, e.character.weight
        self.scale = force_scale(e.character)
        self.before, self.after = np.array([i.knots(e.frames) for i in impacts], np.int64).reshape(n, 2).T
        self.own = np.array([first + sum(h.hold.multipliers for h in p) for first, p in
                             zip(layout.impulses, self.pushes, strict=True)], np.int64)  # fmt: skip
        self.frame = np.repeat(self.after, self.width)
        self.low = self.high = np.zeros(n * self.width)
        whole = ("torque x", "torque y", "torque z", "force x", "force y", "force z")
        self.kinds = (*whole, *(np.array(dof_names(e.character))[plan.dofs]))
        moves = dofs_moving(e.character)
        self.carries = moves[:, plan.dofs]  # (nbody, K)
        felt = (self.carries.T.astype(int) @ moves.astype(int)) > 0
        keep = np.tile(np.concatenate([np.ones((6, e.character.nv), bool), felt]), (n, 1))
        self.sides = _Side(e, layout, self.frame, keep), _Side(e, layout, np.repeat(self.before, self.width), keep)
        self.bodies = touched_bodies([h for p in self.pushes for h in p])

    def _evaluate(self, e: MotionEvaluation, x: Array) -> tuple[Array, Array, Array, Array]:
        """Rows (n, 6 + K), their derivatives by pose and by the jump (n, 6 + K, nv), and the axes (n, K, 6)."""
        n, K, nv = len(self.after), len(self.plan.dofs), e.character.nv
        jump = (e.v[self.after] - e.v[self.before]) / self.seconds
        q, about = np.tile(e.q[self.after], (2, 1)), np.tile(e.about[self.after], (2, 1))
        v, a = np.zeros((2 * n, nv)), np.concatenate([jump, np.zeros_like(jump)])
        F, (Fq, Fv, Fa) = np.zeros((2 * n, 6)), np.zeros((3, 2 * n, 6, nv))
        aggregate_batch(e.tables, q, v, a, about, F, Fq, Fv, Fa)
        wrenches = np.zeros((2 * n, len(self.bodies), 6))
        rows = np.empty((n, self.width))
        rows[:, :6] = (F[:n] - F[n:]) * self.scale
        unit = self.weight * self.scale
        for i, push in enumerate(self.pushes):
            for h in push:
                f, torque = h.forces(x)
                arm = h.arms(e, x)[0]
                rows[i, :3] -= (np.cross(arm, f[0]).sum(axis=0) + torque[0]) * unit[:3]
                rows[i, 3:6] -= f[0].sum(axis=0) * unit[3:]
                for m, b in enumerate(h.bodies):
                    k = int(np.searchsorted(self.bodies, b))
                    wrenches[i, k, :3] += self.weight * np.cross(arm[m] + e.about[self.after[i]], f[0, m])
                    wrenches[i, k, 3:] += self.weight * f[0, m]
                if len(h.hold.torques):
                    wrenches[i, int(np.searchsorted(self.bodies, h.hold.body)), :3] += self.weight * torque[0]
        tau, axes = np.zeros((2 * n, K)), np.zeros((2 * n, K, 6))
        Tq, Tv, Ta = np.zeros((3, 2 * n, K, nv))
        torques_batch(e.tables, q, v, a, about, self.plan.dofs, self.bodies, wrenches, tau, axes, Tq, Tv, Ta, True)
        rows[:, 6:] = (tau[:n] - tau[n:]) / self.plan.strength
        for i, first in enumerate(self.own):
            rows[i, 6:] -= x[first : first + K]
        strength = self.plan.strength[:, None]
        Gq = np.concatenate([(Fq[:n] - Fq[n:]) * self.scale[:, None], (Tq[:n] - Tq[n:]) / strength], axis=1)
        Ga = np.concatenate([Fa[:n] * self.scale[:, None], Ta[:n] / strength], axis=1)
        return rows, Gq, Ga / self.seconds, axes[:n]

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return self._evaluate(e, x)[0].ravel()

    def pattern(self) -> tuple[Ints, Ints]:
        K = len(self.plan.dofs)
        rows, cols = (list(p) for p in zip(*(side.pattern() for side in self.sides), strict=True))
        for i, push in enumerate(self.pushes):
            six, joints = i * self.width + np.arange(6), i * self.width + 6 + np.arange(K)
            for h in push:
                own, place = h.multiplier_columns()[0], h.place + np.arange(4)
                for r, c in ((six, own), (six[:3], place), (joints, own), (joints, place)):
                    rr, cc = np.broadcast_arrays(r[:, None], c[None, :])
                    rows.append(rr.ravel())
                    cols.append(cc.ravel())
            rows.append(joints)
            cols.append(self.own[i] + np.arange(K))
        return np.concatenate(rows).astype(np.int64), np.concatenate(cols).astype(np.int64)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        _, Gq, Gv, axes = self._evaluate(e, x)
        unit, nv = self.weight * self.scale, Gq.shape[2]
        parts = []
        for i, push in enumerate(self.pushes):
            a = axes[i : i + 1] * (self.weight / self.plan.strength[:, None])
            for h in push:
                f, _ = h.forces(x)
                by, place, shift = torques_by_contact(e, h, x, a, self.carries)
                six = np.zeros((3, 4))
                if h.fixed_arms:
                    six = -torque_by_place(h, x, f)[0] * unit[:3, None]
                else:
                    J = e.J[h.on[:, None], h.points[None, :]]
                    turned = np.cross(f[..., None, :], J.swapaxes(-1, -2)).sum(axis=1).swapaxes(-1, -2)
                    Gq[i, :3] += turned[0] * unit[:3, None]
                    Gq[i, 6:] += shift[0]
                parts += [-wrench_by_multipliers(e, h, x)[0] * unit[:, None], six, by[0], place[0]]
            parts.append(np.full(len(self.plan.dofs), -1.0))
        after, before = self.sides
        end = after.write(e, out, Gq.reshape(-1, nv), Gv.reshape(-1, nv))
        end += before.write(e, out[end:], np.zeros((len(self.frame), nv)), -Gv.reshape(-1, nv))
        for part in parts:
            out[end : end + part.size] = part.ravel()
            end += part.size


class ImpactForceRows(RowBlock):
    """All contacts that press in an impact together press no harder than is allowed, in body weights."""

    kinds = ("force",)

    def __init__(self, frames: Sequence[int], pushes: Sequence[Sequence[HoldForces]], most: float) -> None:
        """`frames`: the knots after the impacts. A multiplier of a contact that presses is a force into its surface."""
        self.name, self.frame = "impact's", np.array(frames, np.int64)
        self.low, self.high = np.full(len(frames), -np.inf), np.full(len(frames), most)
        own = [(i, h.multiplier_columns()[0]) for i, push in enumerate(pushes) for h in push if not h.hold.signed]
        self._rows = np.concatenate([np.full(len(c), i) for i, c in own]).astype(np.int64)
        self._cols = np.concatenate([c for _, c in own]).astype(np.int64)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._rows, self._cols

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return np.asarray(np.bincount(self._rows, x[self._cols], len(self.frame)), float)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        out[:] = 1.0


class ApproachRows(SplineRows):
    """Points that touch come into their surface, and along it, no faster than is allowed, just before an impact."""

    kinds = ("along", "across", "into")

    def __init__(
        self, e: MotionEvaluation, layout: Layout, before: int, hold: HoldForces, approach: float, slide: float
    ) -> None:
        """`before`: the knot; `approach` and `slide` in m/s."""
        self.name, self.hold, self.at = f"{hold.hold.label} coming in", hold, before
        n = len(hold.points)
        self.turns = np.array([e.turn(int(b)) for b in hold.bodies], np.int64)
        self.frame = np.full(3 * n, before, np.int64)
        into = (-slide, slide) if hold.hold.signed else (-approach, 0.0)  # a hand closes round a bar from any side
        self.low = SPEED_SCALE * np.tile([-slide, -slide, into[0]], n)
        self.high = SPEED_SCALE * np.tile([slide, slide, into[1]], n)
        self.begins = np.arange(e.character.nv)  # first dof of the rotation a dof belongs to
        for v in e.layout.rotation_v:
            self.begins[v : v + 3] = v
        moved = dofs_moving(e.character)[hold.bodies].any(axis=0)
        self.prepare(e, layout, np.flatnonzero(moved).astype(np.int64), timed=True)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        u = e.J[self.at, self.hold.points] @ e.v[self.at]
        return np.asarray(SPEED_SCALE * (u @ self.hold.S[0])).ravel()

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        J = e.J[self.at, self.hold.points]
        G = velocity_slopes(J, e.K[self.at, self.turns], e.v[self.at], self.begins)
        S = SPEED_SCALE * self.hold.S[0].T
        nv = G.shape[2]
        self.write(e, out, (S @ G).reshape(-1, nv), (S @ J).reshape(-1, nv))


def velocity_slopes(J: Array, K: Array, v: Array, begins: Ints) -> Array:
    """Returns the derivatives (m, 3, nv) of the velocities of points by the pose, with the rates v (nv,) held.

    A step of dof j with angular axis k_j turns what the dofs from its joint on give the point, and moves the point
    in the field of what carries the joint: k_j x (u - U_j) + W_j x J_j, with U_j and W_j the velocities that the dofs
    before its joint give the point and its body. `J`, `K` (m, 3, nv): Jacobians of points and their bodies' turns.
    """
    start = np.zeros((len(J), 3, 1))
    U = np.concatenate([start, np.cumsum(J * v, axis=2)], axis=2)[:, :, begins]
    W = np.concatenate([start, np.cumsum(K * v, axis=2)], axis=2)[:, :, begins]
    u = (J @ v)[:, :, None]
    return np.asarray(np.cross(K, u - U, axis=1) + np.cross(W, J, axis=1))
