"""An optimised motion, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import Sample
from counterpoise.spacetime.optimize.curve import OptimizedCurve, curve_of
from counterpoise.spacetime.optimize.forces import (
    ContactForces,
    ImpactForces,
    Strain,
    contact_forces,
    impact_forces,
    joint_efforts,
    joint_strains,
)
from counterpoise.spacetime.optimize.judge import Judged, MotionFault
from counterpoise.spacetime.optimize.judge.faults import EXCEPTIONAL
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.run import Monitor

SOLVED, EXCEPTIONS, UNSOLVED = "solved", "solved with exceptions", "unsolved"
OVERWORKED = 1e-3  # share beyond its strength from which a joint is reported as too weak


@dataclass(frozen=True)
class Violation:
    """A constraint that does not hold: its name, when, by how much (scaled: body weights, m, rad)."""

    name: str
    time: float
    amount: float

    def __str__(self) -> str:
        return f"{self.name} at {self.time:.3f} s by {self.amount:.3g}"


@dataclass(frozen=True, eq=False)
class Candidate:
    """Where a solve has come to: a candidate on a program, and the solver's last status."""

    program: MotionProgram
    x: Array
    status: str

    @property
    def problem(self) -> MotionProblem:
        return self.program.problem

    @property
    def worst(self) -> float:
        return self.program.worst(self.x)


@dataclass(frozen=True, eq=False)
class Result:
    """An optimised motion and how it came about."""

    motion: Motion
    curve: OptimizedCurve
    status: str  # "solved", "solved with exceptions", or why it is not: "infeasible", "stopped", "unsolved" ...
    exact: bool  # whether all constraints hold at the knots
    exceptions: tuple[MotionFault, ...]  # what is not right between the knots, worst first
    violations: tuple[Violation, ...]  # the worst of each constraint above tolerance
    worst: float  # largest violation, scaled
    objective: float
    iterations: int
    seconds: float
    between: dict[str, float]  # errors of the physics between the knots
    times: dict[str, float]  # of moments that were free [s]
    notes: tuple[str, ...]  # changes that were needed to make sense of the request
    conflicts: tuple[str, ...]  # contradictions seen before solving
    symmetric: bool  # whether everything asked for was its own mirror image, and the motion is
    problem: MotionProblem = field(repr=False)
    x: Array = field(repr=False)

    @property
    def grade(self) -> str:
        """`solved`: everything holds, also between the knots. `solved with exceptions`: `exceptions` names the rest.

        `unsolved`: something asked for does not hold at the knots (`violations` and `conflicts` name it), or is missed
        between them by more than ten times what is allowed.
        """
        return self.status if self.status in (SOLVED, EXCEPTIONS) else UNSOLVED

    @property
    def ok(self) -> bool:
        """Whether it is solved without exceptions."""
        return self.status == SOLVED

    @property
    def end(self) -> float:
        """When the motion ends [s]."""
        return float(self.curve.times[-1])

    def sample(self, t: ArrayLike) -> Sample:
        """Returns pose, velocity and acceleration of the exact curve."""
        return self.curve.sample(t)

    def forces(self) -> tuple[ContactForces, ...]:
        """Returns the force of each contact at the knots where it holds [N]."""
        return contact_forces(self.problem, self.x)

    def impacts(self) -> tuple[ImpactForces, ...]:
        """Returns the impacts with which parts meet what they touch, in order; none with landings that are still."""
        return impact_forces(self.problem, self.x)

    def efforts(self) -> tuple[Array, Array]:
        """Returns the times of the knots (n,) [s], and the share of its strength that each joint uses there, (n,
        joints)."""
        return joint_efforts(self.problem, self.x)

    def strains(self) -> tuple[Strain, ...]:
        """Returns how hard each joint works at its worst knot, hardest first; `TorqueLimit()` bounds them."""
        return joint_strains(self.problem, self.x)

    def report(self) -> str:
        """Returns a summary in lines."""
        lines = [f"{self.status}: {self.iterations} iterations, {self.seconds:.2f} s, worst violation {self.worst:.1e}"]
        lines += [f"  conflict: {c}" for c in self.conflicts]
        lines += [f"  {v}" for v in self.violations]
        lines += [f"  exception: {e}" for e in self.exceptions]
        lines += [f"  note: {n}" for n in self.notes]
        lines.append("  between the knots: " + ", ".join(f"{k} {v:.2%}" for k, v in self.between.items()))
        lines += [f"  {i}" for i in self.impacts()]
        if strains := self.strains():
            more = "; ask for a torque limit to keep within it" if strains[0].share > 1.0 + OVERWORKED else ""
            lines.append(f"  {strains[0]}{more}")
        return "\n".join(lines)


def make_result(found: Candidate, monitor: Monitor, tolerance: float, judged: Judged) -> Result:
    """Returns the result that a candidate is, graded by what was found between its knots."""
    problem, x = found.problem, found.x
    violation = found.program.violation(x)
    worst = float(violation.max(initial=0.0))
    status = SOLVED if worst <= tolerance else "stopped" if monitor.stopped else found.status
    if problem.conflicts or (worst > tolerance and status == SOLVED):
        status = "infeasible"
    exact = status == SOLVED
    if exact and judged.faults:
        status = EXCEPTIONS if judged.excess <= EXCEPTIONAL else UNSOLVED
    curve, times, at = curve_of(problem, x), problem.layout.times(x), problem.frame_times(x)
    free = {
        m.name or f"moment {k}": float(times[k])
        for k, m in enumerate(problem.timeline.moments)
        if problem.layout.moments[k] >= 0
    }
    return Result(
        motion=curve.motion(), curve=curve, status=status, exact=exact, exceptions=judged.faults,
        violations=_named(found, violation, at, tolerance), worst=worst,
        objective=problem.cost.value(problem.evaluation, x), iterations=monitor.iterations, seconds=monitor.seconds,
        between=curve.between(), times=free, notes=problem.notes, conflicts=problem.conflicts,
        symmetric=found.program.symmetric, problem=problem, x=x,
    )  # fmt: skip


def _named(found: Candidate, violation: Array, times: Array, tolerance: float) -> tuple[Violation, ...]:
    """The worst row of every block above tolerance, worst first."""
    out = []
    for block, start in zip(found.program.blocks, found.program.starts, strict=False):
        own = violation[start : start + len(block)]
        if len(own) and own.max() > tolerance:
            r = int(np.argmax(own))
            out.append(Violation(block.label(r), float(times[block.frame[r]]), float(own[r])))
    return tuple(sorted(out, key=lambda v: -v.amount))
