"""Newton and Euler for the whole body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.rows.base import SplineRows

REFERENCE_HEIGHT = 1.7  # [m] torques are measured in body weights times (height / this)


def torque_arm(character: Character) -> float:
    """Returns the length [m] that makes torques comparable with forces: 1 for a person of 1.7 m."""
    return max(character.height / REFERENCE_HEIGHT, 0.1)


def force_scale(character: Character) -> Array:
    """Returns factors (6,) that make a torque and a force comparable: body weights."""
    weight = character.weight
    return np.array([1.0 / (weight * torque_arm(character))] * 3 + [1.0 / weight] * 3)


def missing_force(e: MotionEvaluation, holds: Sequence[HoldForces], x: Array) -> Array:
    """Returns what the contacts do not supply of the aggregate force, (knots, 6): torque, force; in body weights."""
    scale = force_scale(e.character)
    F, unit = e.F * scale, e.character.weight * scale
    for h in holds:
        f, torque = h.forces(x)
        F[h.on, :3] -= (np.cross(h.arms(e, x), f).sum(axis=1) + torque) * unit[:3]
        F[h.on, 3:] -= f.sum(axis=1) * unit[3:]
    return np.asarray(F)


def wrench_by_multipliers(e: MotionEvaluation, h: HoldForces, x: Array) -> Array:
    """Returns the wrench of one contact per unit of each multiplier (n, 6, multipliers)."""
    n, m, g = len(h.on), *h.hold.generators.shape[:2]
    out = np.zeros((n, 6, h.hold.multipliers))
    arm = h.arms(e, x)
    out[:, :3, : m * g] = np.cross(arm[:, :, None, :], h.generators).reshape(n, m * g, 3).swapaxes(1, 2)
    out[:, 3:, : m * g] = h.generators.reshape(n, m * g, 3).swapaxes(1, 2)
    out[:, :3, m * g :] = h.hold.torques.T
    return out


def torque_by_place(h: HoldForces, x: Array, f: Array) -> Array:
    """Returns the torque of one contact per unit of its place and facing (n, 3, 4)."""
    out = np.empty((len(h.on), 3, 4))
    whole = f.sum(axis=1)
    for k in range(3):
        out[:, :, k] = np.cross(h.S[:, :, k], whole)
    out[:, :, 3] = np.cross(h.arms_by_facing(x), f).sum(axis=1)
    return out


class PhysicsRows(SplineRows):
    """The aggregate force equals the sum of the contact forces; in flight it is zero.

    Forces act where the contact is said to be, not where the pose has it: the two agree because the contact holds at
    the same knots, and the rows are then linear in the forces.
    """

    may_have_slack: ClassVar[bool] = False
    kinds = ("torque x", "torque y", "torque z", "force x", "force y", "force z")

    def __init__(self, e: MotionEvaluation, layout: Layout, holds: Sequence[HoldForces]) -> None:
        self.name, self.holds = "physics", tuple(holds)
        self.weight = e.character.weight
        self.scale = force_scale(e.character)
        knots = e.frames.knots
        self.frame = np.repeat(np.arange(knots), 6)
        self.low = self.high = np.zeros(6 * knots)
        self.prepare(e, layout, np.arange(e.character.nv), timed=True)

    def values(self, e: MotionEvaluation, x: Array) -> Array:
        return missing_force(e, self.holds, x).ravel()

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = super().pattern()
        all_rows, all_cols = [rows], [cols]
        for h in self.holds:
            six = h.on[:, None, None] * 6 + np.arange(6)[None, :, None]
            entries: list[tuple[Ints, Ints]] = [(six, h.multiplier_columns()[:, None, :])]
            if h.fixed_arms:
                entries.append((six[:, :3], np.asarray(h.place + np.arange(4)[None, None, :])))
            for r, c in entries:
                rr, cc = np.broadcast_arrays(r, c)
                all_rows.append(rr.ravel())
                all_cols.append(cc.ravel())
        return np.concatenate(all_rows), np.concatenate(all_cols)

    def derivatives(self, e: MotionEvaluation, x: Array, out: Array) -> None:
        scale, unit = self.scale[:, None], self.weight * self.scale
        Gq = e.Fq * scale
        parts = []
        for h in self.holds:
            f, _ = h.forces(x)
            if not h.fixed_arms:
                J = e.J[h.on[:, None], h.points[None, :]]  # (n, m, 3, nv)
                turned = np.cross(f[..., None, :], J.swapaxes(-1, -2)).sum(axis=1).swapaxes(-1, -2)
                Gq[h.on, :3] += turned * unit[:3, None]
            parts.append((-wrench_by_multipliers(e, h, x) * unit[:, None]).ravel())
            if h.fixed_arms:
                parts.append((-torque_by_place(h, x, f) * unit[:3, None]).ravel())
        nv = Gq.shape[2]
        end = self.write(e, out, Gq.reshape(-1, nv), (e.Fv * scale).reshape(-1, nv), (e.Fa * scale).reshape(-1, nv))
        for part in parts:
            out[end : end + len(part)] = part
            end += len(part)
