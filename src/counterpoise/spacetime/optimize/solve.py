"""Solve a motion problem with IPOPT: live progress, stop at any time, warm starts, violations by name."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.motion.poses import Sample
from counterpoise.spacetime.optimize.asks import Key, Taste, Touch, Wish
from counterpoise.spacetime.optimize.clearances import part, still_inside, watch
from counterpoise.spacetime.optimize.curve import OptimizedCurve, curve_of
from counterpoise.spacetime.optimize.forces import ContactForces, Strain, contact_forces, joint_strains
from counterpoise.spacetime.optimize.moments import RATE, Time
from counterpoise.spacetime.optimize.problem import PRICES, MotionProblem, build_motion_problem
from counterpoise.spacetime.optimize.rows.base import Block
from counterpoise.spacetime.optimize.solving import GOOD, STRIDE, Progress, Solve
from counterpoise.spacetime.optimize.symmetry import Image, find_image
from counterpoise.spacetime.optimize.warm import carried, pull

DEARER = 4  # strides at each price of what gives way
BETTER = 1  # strides downhill after the first exact motion, unless asked otherwise
SOME = 1e-6  # change of the objective's slope from which a warm start has wishes to follow
ENOUGH = 0.01  # share of the objective below which a gain is not worth another round
ROUNDS = 4  # of adding limits that turned out to matter
DUST = 1e-2  # share of the worst below which a violation tells nothing
WRECK = 2.0  # times the objective from which a motion is spoilt
STRAINED = 1e-3  # share beyond its strength from which a joint is said to be too weak
SLIGHT = 1e-4  # [m, rad] what gives way by less than this is not in conflict
STATUS = {
    0: "solved", 1: "solved", 2: "infeasible", 3: "search direction too small", 4: "diverging", 5: "stopped",
    6: "solved", -1: "iteration limit", -2: "restoration failed", -3: "step computation failed", -4: "time limit",
}  # fmt: skip


@dataclass(frozen=True)
class Violation:
    """A constraint that does not hold: its name, when, by how much (scaled: body weights, m, rad)."""

    name: str
    time: float
    amount: float

    def __str__(self) -> str:
        return f"{self.name} at {self.time:.3f} s by {self.amount:.3g}"


@dataclass(frozen=True, eq=False)
class Result:
    """An optimised motion and how it came about."""

    motion: Motion
    curve: OptimizedCurve
    status: str
    ok: bool
    violations: tuple[Violation, ...]  # the worst of each constraint above tolerance
    worst: float  # largest violation, scaled
    objective: float
    iterations: int
    seconds: float
    between: dict[str, float]  # what physics misses between the knots
    times: dict[str, float]  # of moments that were free [s]
    notes: tuple[str, ...]  # what was changed to make sense of it
    conflicts: tuple[str, ...]  # what was seen beforehand to contradict itself, and gave way
    symmetric: bool  # whether everything asked for was its own mirror image, and the motion is
    problem: MotionProblem = field(repr=False)
    x: Array = field(repr=False)

    def sample(self, t: Any) -> Sample:
        """Pose, velocity and acceleration of the exact curve."""
        return self.curve.sample(t)

    def forces(self) -> tuple[ContactForces, ...]:
        """What each contact gives at the knots where it holds [N]."""
        return contact_forces(self.problem, self.x)

    def strains(self) -> tuple[Strain, ...]:
        """How hard each joint works at its worst knot, hardest first; `TorqueLimit()` keeps them within strength."""
        return joint_strains(self.problem, self.x)

    def report(self) -> str:
        """What a user wants to read."""
        lines = [f"{self.status}: {self.iterations} iterations, {self.seconds:.2f} s, worst violation {self.worst:.1e}"]
        lines += [f"  conflict: {c}" for c in self.conflicts]
        lines += [f"  {v}" for v in self.violations]
        lines += [f"  note: {n}" for n in self.notes]
        lines.append("  between the knots: " + ", ".join(f"{k} {v:.2%}" for k, v in self.between.items()))
        if strains := self.strains():
            more = "; ask for a torque limit to keep within it" if strains[0].share > 1.0 + STRAINED else ""
            lines.append(f"  {strains[0]}{more}")
        return "\n".join(lines)


def optimize_motion(
    character: Character,
    keys: Sequence[Key] = (),
    contacts: Sequence[Touch] = (),
    duration: Time = 1.0,
    *,
    wishes: Sequence[Wish] = (),
    reference: Motion | None = None,
    taste: Taste | None = None,
    rate: float = RATE,
    fine: Sequence[tuple[float, float, float]] = (),
    clear: Sequence[str] | None = None,
    strides: int = BETTER,
    symmetric: bool = True,
    callback: Callable[[Progress], bool | None] | None = None,
    warm: Result | None = None,
) -> Result:
    """A physically valid motion through `keys`, held by the world where `contacts` say, `duration` seconds long.

    `wishes` are further constraints and costs; `reference` is a motion to start from and, with `taste.near`, to stay
    near; without it the keys are interpolated. `rate` is knots a second, `fine` stretches (start, end, rate) with a
    rate of their own. `clear` names bodies that stay above the ground (default: all). `strides` downhill follow
    the first exact motion, at about a third of its time each. A problem that is its own mirror image in a plane y = c
    is solved as such, in half the variables, unless `symmetric` is False. `callback` sees every iteration and stops
    the search by returning False; the best motion so far is kept. `warm` is an earlier result to start from, as after
    moving a key.
    """
    problem = build_motion_problem(
        character, keys, contacts, duration, wishes=wishes, reference=reference, taste=taste, rate=rate, fine=fine,
        clear=clear,
    )  # fmt: skip
    return solve_motion(problem, strides=strides, symmetric=symmetric, callback=callback, warm=warm)


def solve_motion(
    problem: MotionProblem,
    *,
    strides: int = BETTER,
    symmetric: bool = True,
    callback: Callable[[Progress], bool | None] | None = None,
    warm: Result | None = None,
    options: Mapping[str, Any] | None = None,
    since: tuple[float, int] | None = None,
) -> Result:
    """Solve a built problem: first for a good motion, nearly possible; then for the nearest to it that is exact.

    The second step's multipliers are small, so that it converges in a few iterations although second derivatives of
    the constraints are left out; the first would creep. `warm` skips the first: the earlier motion is pushed the way
    soft keys have moved since, and made exact. `since` is when an earlier attempt began, and its iterations.
    """
    began, iterations = (clock.perf_counter(), 0) if since is None else since
    x, status = problem.start.copy(), 0
    if warm is not None:
        x = carried(problem, warm)
    search = warm is None
    image = find_image(problem) if symmetric else None
    whole: tuple[Array, list[Block]] | None = None  # the last exact motion before parts were parted, and its rows
    for again in range(ROUNDS):
        solve = Solve(problem, callback, began, iterations, image, strict=not again)
        if not solve.symmetric:
            image = None
        if search:
            x, status = solve.search(x, options or {})
        elif warm is not None and not again:
            moved = pull(problem, warm, x)
            if np.abs(moved).max() > SOME:
                x = solve.stride(x, moved)
        if not solve.stopped:
            x, status = solve.exact(x)
        if solve.worst > GOOD and not search and not solve.stopped:  # too far from the earlier motion
            x, status = solve.search(x, options or {})
            x, status = solve.exact(x)
        if search:
            x = _improved(solve, x, strides)
        search, iterations = False, solve.iterations
        problem.look(x)
        if solve.stopped:
            break
        if not watch(problem, -1e-6, -1e-6):
            if solve.worst <= GOOD:
                whole = x.copy(), list(problem.blocks)
            solve, parted = _parted(solve, x, image)
            iterations = solve.iterations
            x = x if parted is None else parted
            if parted is None or solve.stopped:
                break
    off = solve.violation(x)
    worst = float(off.max(initial=0.0))
    if worst > GOOD and whole is not None:
        x, problem.blocks = whole
        solve = Solve(problem, callback, began, iterations, image, strict=False)
        off = solve.violation(x)
        worst = float(off.max(initial=0.0))
    if worst > GOOD and not solve.stopped and problem.let_through():
        how: dict[str, Any] = {"strides": strides, "symmetric": symmetric, "callback": callback, "options": options}
        return solve_motion(problem, since=(began, iterations), **how)
    if worst > GOOD and not solve.stopped and not problem.gives:
        return _least_violating(problem, callback, began, iterations)
    return _told(solve, x, off, status, began, iterations)


def _told(solve: Solve, x: Array, off: Array, status: int, began: float, iterations: int) -> Result:
    """A candidate and how far off its rows are, as a result."""
    problem, worst = solve.p, float(off.max(initial=0.0))
    word = "solved" if worst <= GOOD else "stopped" if solve.stopped else STATUS.get(status, f"status {status}")
    if problem.conflicts or (worst > GOOD and word == "solved"):
        word = "infeasible"
    solve.near = None
    objective, curve = solve.f(x), curve_of(problem, x)
    named = _named(problem, solve, off)
    times, f = problem.layout.times(x), problem.frames
    at = times[f.phase] + f.s * np.diff(times)[f.phase]
    free = {
        m.name or f"moment {k}": float(times[k])
        for k, m in enumerate(problem.timeline.moments)
        if problem.layout.moments[k] >= 0
    }
    return Result(
        motion=curve.motion(), curve=curve, status=word, ok=word == "solved", violations=named, worst=worst,
        objective=objective, iterations=iterations, seconds=clock.perf_counter() - began, between=curve.between(),
        times=free, notes=(*problem.notes, *still_inside(problem, at)), conflicts=problem.conflicts,
        symmetric=solve.symmetric, problem=problem, x=x,
    )  # fmt: skip


def _least_violating(
    problem: MotionProblem, callback: Callable[[Progress], bool | None] | None, began: float, before: int
) -> Result:
    """What was asked for cannot all hold: the motion that keeps to the physics and gives up the least of it."""
    soft = problem.elastic()
    given = soft.gives[0].first
    found = solve_motion(soft, strides=0, callback=callback, since=(began, before))
    for price in PRICES[1:]:
        if found.worst > GOOD or found.status == "stopped":
            break
        soft.objective.reprice(given, price)
        dearer = Solve(soft, callback, began, found.iterations)
        dearer.worst = found.worst
        x = _improved(dearer, found.x, DEARER, 1.0)
        found = replace(
            found, x=x, curve=(curve := curve_of(soft, x)), motion=curve.motion(), iterations=dearer.iterations,
            between=curve.between(), seconds=clock.perf_counter() - began,
        )  # fmt: skip
    kept, x = [], found.x
    f, times = soft.frames, soft.layout.times(found.x)
    for give in soft.gives:
        own = np.abs(x[give.first : give.first + len(give)])
        if own.max(initial=0.0) > SLIGHT:
            r = int(np.argmax(own))
            i = int(give.frame[r])
            t = float(times[f.phase[i]] + f.s[i] * (times[f.phase[i] + 1] - times[f.phase[i]]))
            kept.append(Violation(_row_label(give, r), t, float(own[r])))
    found_all = sorted((*kept, *found.violations), key=lambda v: -v.amount)
    first = {v.name: v for v in reversed(found_all)}  # the worst of each name
    named = tuple(v for v in found_all if first[v.name] is v and v.amount > DUST * found_all[0].amount)
    worst = max((v.amount for v in named), default=0.0)
    status = "stopped" if found.status == "stopped" else "infeasible" if named else "solved"
    return replace(
        found, status=status, ok=False, violations=named, worst=worst,
    )  # fmt: skip


def _parted(solve: Solve, x: Array, image: Image | None) -> tuple[Solve, Array | None]:
    """The nearest motion in which parts found inside each other are not; None where there are none, or it is a wreck.

    Limbs that have crossed each other cannot be parted knot by knot: rows that would spoil the motion are let go.
    """
    problem, before = solve.p, list(solve.p.blocks)
    if not part(problem):
        return solve, None
    fresh = Solve(problem, solve.callback, solve.began, solve.iterations, image, strict=False)
    found, _ = fresh.exact(x)
    fresh.near = solve.near = None
    if float(fresh.violation(found).max(initial=0.0)) > GOOD or fresh.f(found) > WRECK * solve.f(x):
        problem.blocks = before
        solve.iterations, solve.stopped = fresh.iterations, fresh.stopped
        return solve, None
    return fresh, found


def _improved(solve: Solve, x: Array, strides: int, share: float = STRIDE) -> Array:
    """Strides downhill, each made exact before the next, as long as they pay."""
    for _ in range(strides):
        if solve.stopped or solve.worst > GOOD:
            break
        solve.near = None
        before = solve.f(x)
        found, _ = solve.exact(solve.downhill(x, share))
        solve.near = None
        after = solve.f(found)
        if float(solve.violation(found).max(initial=0.0)) > GOOD or after > before:
            solve.worst = 0.0
            break
        x = found
        if before - after < ENOUGH * abs(before):
            break
    return x


def _named(problem: MotionProblem, solve: Solve, off: Array) -> tuple[Violation, ...]:
    """The worst row of every block above tolerance, worst first."""
    out = []
    times = problem.layout.times(solve.seen)
    f = problem.frames
    for b, s in zip(problem.blocks, solve.starts, strict=False):
        own = off[s : s + len(b)]
        if len(own) and own.max() > GOOD:
            r = int(np.argmax(own))
            i = int(b.frame[r])
            t = float(times[f.phase[i]] + f.s[i] * (times[f.phase[i] + 1] - times[f.phase[i]]))
            out.append(Violation(_row_label(b, r), t, float(own[r])))
    return tuple(sorted(out, key=lambda v: -v.amount))


def _row_label(block: Block, row: int) -> str:
    labels = getattr(block, "labels", ())
    kind = labels[row] if labels else (block.kinds[row % len(block.kinds)] if block.kinds else "")
    return f"{block.name} {kind}".strip()
