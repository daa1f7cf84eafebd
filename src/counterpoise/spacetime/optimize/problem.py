"""The optimisation problem behind a motion: its variables, its constraints by name, its cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize.cost import MotionCost
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.frames import Frames
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.layout import Layout
from counterpoise.spacetime.optimize.moments import Timeline
from counterpoise.spacetime.optimize.request import Key, MotionRequest
from counterpoise.spacetime.optimize.rows.apart import ApartPlan, ApartRows
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.elastic import ElasticRows
from counterpoise.spacetime.optimize.spheres import BodySphere
from counterpoise.spacetime.optimize.starting_point import StartingPoint


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """Variables x with bounds, blocks of constraint rows, a cost. Changes return a new problem.

    `evaluation` is workspace: it holds the candidate that was evaluated last.
    """

    basis: StartingPoint
    evaluation: MotionEvaluation
    layout: Layout
    blocks: tuple[RowBlock, ...]
    cost: MotionCost
    low: Array
    high: Array
    start: Array  # the first guess
    apart: tuple[ApartPlan, ...]  # parts of the body that are kept off each other
    clear: tuple[BodySphere, ...]  # spheres of the body that are kept off the ground
    unwatched: tuple[BodySphere, ...]  # spheres that will be, once a candidate has them below the ground
    drawn: tuple[BodySphere, ...]  # spheres of what is only drawn: they will be, once a judged motion has them there

    # -- parts -------------------------------------------------------------------------------------------------------
    @property
    def request(self) -> MotionRequest:
        return self.basis.request

    @property
    def character(self) -> Character:
        return self.basis.character

    @property
    def timeline(self) -> Timeline:
        return self.basis.timeline

    @property
    def frames(self) -> Frames:
        return self.basis.frames

    @property
    def holds(self) -> tuple[Hold, ...]:
        return self.basis.holds

    @property
    def keys(self) -> tuple[Key, ...]:
        """Keys, brought inside limits and onto contacts."""
        return self.basis.keys

    @property
    def guess(self) -> Motion:
        return self.basis.guess

    @property
    def notes(self) -> tuple[str, ...]:
        """Changes that were needed to make sense of the request."""
        return self.basis.notes

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What cannot hold together, known before solving."""
        return self.basis.conflicts

    @property
    def variables(self) -> int:
        return self.layout.size

    @property
    def constraints(self) -> int:
        return sum(len(b) for b in self.blocks)

    @property
    def elastic(self) -> tuple[ElasticRows, ...]:
        """Blocks whose rows have slack."""
        return tuple(b for b in self.blocks if isinstance(b, ElasticRows))

    # -- changes -----------------------------------------------------------------------------------------------------
    def with_rows(self, *blocks: RowBlock) -> MotionProblem:
        """Returns the problem with further rows."""
        return replace(self, blocks=(*self.blocks, *blocks))

    def without_apart(self) -> MotionProblem:
        """Returns the problem without rows that keep parts of the body off each other."""
        kept = tuple(b for b in self.blocks if not isinstance(getattr(b, "block", b), ApartRows))
        return self if len(kept) == len(self.blocks) else replace(self, blocks=kept)

    def with_slack_price(self, price: float) -> MotionProblem:
        """Returns the problem in which violations cost `price` (costs the user asked for stay)."""
        slacks = [b.slacks for b in self.elastic if not b.asked]
        return replace(self, cost=self.cost.with_price(slacks, price))

    # -- looking -----------------------------------------------------------------------------------------------------
    def evaluate(self, x: Array) -> None:
        """Brings the evaluation up to a candidate."""
        self.evaluation.update(x[: self.layout.curve].reshape(-1, self.character.nv), self.layout.times(x))

    def frame_times(self, x: Array) -> Array:
        """Returns the times of all frames of a candidate [s]."""
        times, f = self.layout.times(x), self.frames
        return times[f.phase] + f.s * (times[f.phase + 1] - times[f.phase])

    def describe(self) -> str:
        """Returns what it consists of, in lines."""
        c, nv = self.layout.coefficients, self.character.nv
        lines = [
            f"{self.variables} variables: {c} coefficients of {nv} coordinates, {len(self.timeline.free)} free "
            f"moments, {self.layout.size - c * nv} of contacts",
            f"{self.constraints} constraints at {self.frames.knots} knots in {len(self.timeline.phases)} phases:",
        ]
        lines += [f"  {b.name}: {len(b)}" for b in self.blocks]
        return "\n".join(lines)
