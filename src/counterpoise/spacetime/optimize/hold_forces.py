"""The forces of one contact at the knots where it holds, as functions of the variables."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.layout import Layout


class HoldForces:
    """Force = sum of multipliers times generators at each point of a contact, and torques of a grip."""

    def __init__(
        self, e: MotionEvaluation, layout: Layout, hold: Hold, index: int, times: Array,
        impact: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        """`index` is the hold's place in the layout; `times` (knots,) of the knots [s].

        In an `impact` (knot, first multiplier) it holds at that knot alone, with multipliers of its own.
        """
        self.hold, self.place = hold, layout.places[index]
        self.first = layout.forces[index] if impact is None else impact[1]
        self.points = np.array(
            [e.point(int(b), p) for b, p in zip(hold.force_bodies, hold.force_points, strict=True)], np.int64
        )
        self.on = hold.knots(e.frames) if impact is None else np.array([impact[0]], np.int64)
        surfaces = [hold.surface(float(t)) for t in times[self.on]]
        self.S, self.O = np.array([s.rotation for s in surfaces]), np.array([s.origin for s in surfaces])
        self.generators = np.einsum("nij,mgj->nmgi", self.S, hold.generators)  # (n, m, g, 3) world
        self.fixed_arms = hold.offsets is not None  # whether forces act at the contact's own place, not at the pose's
        self.bodies = hold.force_bodies

    def forces(self, x: Array) -> tuple[Array, Array]:
        """Returns the force at each point (n, m, 3) and the torque (n, 3), in body weights."""
        hold, n = self.hold, len(self.on)
        own = x[self.first : self.first + n * hold.multipliers].reshape(n, hold.multipliers)
        m, g = hold.generators.shape[:2]
        f = np.einsum("nmg,nmgi->nmi", own[:, : m * g].reshape(-1, m, g), self.generators)
        return f, own[:, m * g :] @ hold.torques

    def arms(self, e: MotionEvaluation, x: Array) -> Array:
        """Returns the way from where rows are written about to where forces act (n, m, 3)."""
        about = e.about[self.on][:, None, :]
        if self.hold.offsets is None:
            return np.asarray(e.P[self.on[:, None], self.points[None, :]] - about)
        c, s = np.cos(x[self.place + 3]), np.sin(x[self.place + 3])
        o = self.hold.offsets
        local = np.stack([c * o[:, 0] - s * o[:, 1], s * o[:, 0] + c * o[:, 1], o[:, 2]], axis=1)
        local = local + x[self.place : self.place + 3]
        return np.asarray(np.einsum("nij,mj->nmi", self.S, local) + self.O[:, None] - about)

    def arms_by_facing(self, x: Array) -> Array:
        """Returns how the arms change with the contact's facing (n, m, 3)."""
        c, s = np.cos(x[self.place + 3]), np.sin(x[self.place + 3])
        o = self.hold.offsets
        assert o is not None
        local = np.stack([-s * o[:, 0] - c * o[:, 1], c * o[:, 0] - s * o[:, 1], np.zeros(len(o))], axis=1)
        return np.asarray(np.einsum("nij,mj->nmi", self.S, local))

    def multiplier_columns(self) -> Ints:
        """Returns the variables of the multipliers (n, multipliers)."""
        m = self.hold.multipliers
        return np.asarray(self.first + np.arange(len(self.on))[:, None] * m + np.arange(m), np.int64)
