"""The exact curve behind an optimised motion, and what happens between its knots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import Sample, layout_of
from counterpoise.spacetime.aggregate.kernels import aggregate_force_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.optimize.chart import BLOCKS, evaluate_curve
from counterpoise.spacetime.optimize.frames import WIDTH, Frames, base_of
from counterpoise.spacetime.optimize.moments import Timeline
from counterpoise.spacetime.optimize.rows.physics import torque_arm

if TYPE_CHECKING:
    from counterpoise.spacetime.optimize.problem import MotionProblem

EXPORT_RATE = 240.0  # [Hz] frames a second of the exported motion
SAMPLE_STEP = 0.002  # [s] between the samples at which physics is measured between the knots


@dataclass(frozen=True, eq=False)
class OptimizedCurve:
    """Poses, velocities and accelerations at any time; accelerations jump where contacts change."""

    timeline: Timeline
    times: Array  # of the moments, as found [s]
    X: Array  # (coefficients, nv)
    guess: Motion  # the base of rotations
    flights: tuple[int, ...]  # phases without any contact

    def sample(self, t: ArrayLike, after: bool = True) -> Sample:
        """At times (n,) or one; at a seam the side `after` it or before it."""
        at = np.atleast_1d(np.asarray(t, float))
        character, ends = self.guess.character, self.times
        inside = np.clip(at, ends[0], ends[-1])
        phase = np.searchsorted(ends, inside, side="right" if after else "left") - 1
        phase = np.clip(phase, 0, len(self.timeline.phases) - 1).astype(np.int64)
        T = np.diff(ends)
        s = np.clip((inside - ends[phase]) / T[phase], 0.0, 1.0)
        first, B = np.empty(len(at), np.int64), np.empty((len(at), 3, WIDTH))
        for p in self.timeline.phases:
            on = phase == p.index
            if on.any():
                first[on], B[on] = p.basis(s[on])
        frames = Frames(phase, s, first, B, len(at))
        base = base_of(self.guess, self.timeline, frames)
        layout = layout_of(character)
        q, v, a = (
            np.zeros((len(at), character.nq)),
            np.zeros((len(at), character.nv)),
            np.zeros((len(at), character.nv)),
        )
        blocks = np.zeros((len(at), len(layout.rotation_v), BLOCKS, 3, 3))
        evaluate_curve(
            self.X, first, B, T[phase], base.quaternion, base.rate, base.bend, layout.vector_q, layout.vector_v,
            layout.rotation_q, layout.rotation_v, q, v, a, blocks,
        )  # fmt: skip
        if np.ndim(t) == 0:
            return Sample(q[0], v[0], a[0])
        return Sample(q, v, a)

    def motion(self, rate: float = EXPORT_RATE, name: str = "optimised") -> Motion:
        """Returns the curve as poses at a steady rate [Hz]."""
        n = max(2, round(float(self.times[-1] - self.times[0]) * rate) + 1)
        t = np.linspace(self.times[0], self.times[-1], n)
        return Motion(self.guess.character, t, self.sample(t).q, name=name)

    def between(self, step: float = SAMPLE_STEP) -> dict[str, float]:
        """Returns the root mean square of the aggregate force in flight, in body weights, and of its torque."""
        if not self.flights:
            return {"flight force": 0.0, "flight torque": 0.0}
        character = self.guess.character
        parts = [np.arange(self.times[p] + 0.5 * step, self.times[p + 1], step) for p in self.flights]
        at = self.sample(np.concatenate(parts))
        F = np.zeros((len(at.q), 6))
        com = np.array([q[:3] for q in at.q])
        aggregate_force_batch(link_tables(character), at.q, at.v, at.a, np.ascontiguousarray(com), F)
        force = float(np.sqrt((F[:, 3:] ** 2).sum(axis=1).mean())) / character.weight
        torque = float(np.sqrt((F[:, :3] ** 2).sum(axis=1).mean())) / (character.weight * torque_arm(character))
        return {"flight force": force, "flight torque": torque}


def curve_of(problem: MotionProblem, x: Array) -> OptimizedCurve:
    """Returns the curve that a candidate describes."""
    held = {p for h in problem.holds for p in range(h.first, h.last)}
    free = problem.character.floating
    flights = tuple(p.index for p in problem.timeline.phases if free and p.index not in held)
    return OptimizedCurve(
        problem.timeline, problem.layout.times(x), x[: problem.layout.curve].reshape(-1, problem.character.nv).copy(),
        problem.guess, flights,
    )  # fmt: skip
