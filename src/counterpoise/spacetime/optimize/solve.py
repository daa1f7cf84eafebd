"""Solves motion problems: a cautious search, the nearest exact motion, strides downhill.

The nearest exact motion to a good one has small multipliers, so that it is found in a few iterations although second
derivatives of the constraints are left out; a search alone would converge slowly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.progress import Watch, watching
from counterpoise.spacetime.optimize.build import build_from, build_motion_problem, build_problem
from counterpoise.spacetime.optimize.judge import Judged, judge_candidate
from counterpoise.spacetime.optimize.moments import RATE, Time
from counterpoise.spacetime.optimize.near import with_rows_apart, with_rows_near
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.refine import refined
from counterpoise.spacetime.optimize.request import Key, Landing, Taste, Touch
from counterpoise.spacetime.optimize.requirements.base import Requirement
from counterpoise.spacetime.optimize.requirements.torque import TorqueLimit
from counterpoise.spacetime.optimize.result import Candidate, Result, Violation, make_result
from counterpoise.spacetime.optimize.rolling import without_rolls
from counterpoise.spacetime.optimize.run import Monitor
from counterpoise.spacetime.optimize.stages import Stages
from counterpoise.spacetime.optimize.symmetry import Image, find_image
from counterpoise.spacetime.optimize.tuning import ImpactTuning, MotionTuning
from counterpoise.spacetime.optimize.warm import change_of_slope, earlier_motion, with_knots_of
from counterpoise.terrain import Terrain

BROKEN = -1e-6  # [rad, m] margin with which only limits and ground that are violated get rows


def optimize_motion(
    character: Character,
    keys: Sequence[Key] = (),
    contacts: Sequence[Touch] = (),
    duration: Time = 1.0,
    *,
    wishes: Sequence[Requirement] = (),
    reference: Motion | None = None,
    taste: Taste | None = None,
    rate: float = RATE,
    fine: Sequence[tuple[float, float, float]] = (),
    clear: Sequence[str] | None = None,
    terrain: Terrain | None = None,
    landing: Landing | ImpactTuning = "still",
    strides: int | None = None,
    symmetric: bool = True,
    callback: Watch | None = None,
    warm: Result | None = None,
    tuning: MotionTuning | None = None,
) -> Result:
    """Returns a physically valid motion through `keys`, held where `contacts` say, `duration` seconds long.

    `wishes` are further requirements: constraints and costs. `reference` is a motion to start from and, with
    `taste.near`, to stay near; without it the keys are interpolated. `rate` is knots a second, `fine` stretches (start,
    end, rate) with a rate of their own. `clear` names bodies that stay above the ground (default: all). All bodies keep
    out of the boxes, ramps, stairs and stones of `terrain`. What begins to touch is at rest then (`landing="still"`) or
    meets the ground moving (`"impact"`, or an `ImpactTuning`): velocities then jump as contacts and joints can make
    them. `strides` downhill follow the first exact
    motion, at about a third of its time each. A problem that is its own mirror image in a plane y = c is solved as
    such, in half the variables, unless `symmetric` is False. `callback` gets every iteration (`OptimizeProgress`); a
    falsy answer stops the search, and the best motion so far is kept; one that is not possible yet is judged without
    strength and overlap. Between stages the last iteration is shown again. `warm` is an earlier result to start from,
    as after moving a key.
    """
    with watching(callback) as reporter:
        problem = build_motion_problem(
            character, keys, contacts, duration, wishes=wishes, reference=reference, taste=taste, rate=rate, fine=fine,
            clear=clear, terrain=terrain, landing=landing,
        )  # fmt: skip
        return solve_motion(problem, strides=strides, symmetric=symmetric, callback=reporter, warm=warm, tuning=tuning)


def solve_motion(
    problem: MotionProblem,
    *,
    strides: int | None = None,
    symmetric: bool = True,
    callback: Watch | None = None,
    warm: Result | None = None,
    options: Mapping[str, Any] | None = None,
    tuning: MotionTuning | None = None,
) -> Result:
    """Solves a built problem. With `warm` an earlier motion is pushed the way soft keys have moved, and made exact.

    Where feet cannot roll over their toes by themselves they stay flat; where limbs cannot be kept off each other they
    are let through; where not everything asked for can hold, the result
    is the motion that violates it least. The motion is then judged between its knots; where something is not right
    there, more knots are put and the motion is made exact again. `options` go to the solver's search.
    """
    t = tuning or MotionTuning()
    with watching(callback) as reporter:
        return _solved(problem, Monitor(reporter), t, strides, symmetric, warm, options or {})


def _solved(
    problem: MotionProblem, monitor: Monitor, t: MotionTuning, strides: int | None, symmetric: bool,
    warm: Result | None, options: Mapping[str, Any],
) -> Result:  # fmt: skip
    how = _How(monitor, t if strides is None else replace(t, strides=strides), symmetric, options)
    asked = problem
    found = _solve(problem if warm is None else with_knots_of(problem, warm), how, warm)
    if not how.done(found) and problem.basis.rolls_by_itself:
        problem = _with_flat_feet(problem)
        found = _solve(problem, how, None)
    if not how.done(found):
        free = found.problem.without_apart()
        if free is not found.problem:
            found = _solve(free, how, None)
    if not how.done(found):
        found = _by_slack(asked, how) or found
    if not how.done(found) and any(_is_optional(r) for r in problem.request.requirements):
        return _solved(_with_any_strength(problem), monitor, t, strides, symmetric, None, options)
    if not how.done(found) and not problem.elastic:
        return _least_violating(problem, how)
    found, judged = _judged(found, how)
    return make_result(found, how.monitor, t.tolerance, judged)


@dataclass(frozen=True, eq=False)
class _How:
    """What all stages of a solve share."""

    monitor: Monitor
    tuning: MotionTuning
    symmetric: bool
    options: Mapping[str, Any]

    def stages(self, problem: MotionProblem, image: Image | None, strict: bool) -> Stages:
        """Builds the program of a problem. Asks before and after, since it takes as long as some iterations."""
        self.monitor.again()
        program = MotionProgram(problem, image, strict)
        self.monitor.again()
        return Stages(program, self.monitor, self.tuning)

    def judge(self, found: Candidate) -> Judged:
        """Judges a candidate; one that was stopped before it was possible only as far as that takes no time."""
        thorough = not self.monitor.stopped or found.worst <= self.tuning.tolerance
        return judge_candidate(found.problem, found.x, thorough)

    def done(self, found: Candidate) -> bool:
        return self.monitor.stopped or found.worst <= self.tuning.tolerance


def _solve(problem: MotionProblem, how: _How, warm: Result | None, start: Array | None = None) -> Candidate:
    """Search, make exact, improve; add rows for limits and ground that the motion breaks, and make it exact again.

    There is no search where an earlier result or a candidate to `start` from is given.
    """
    image = find_image(problem) if how.symmetric else None
    stages = how.stages(problem, image, strict=True)
    if not stages.program.symmetric:
        image = None
    if start is not None:
        x = _improved(stages, _made_exact(stages, start, how), how.tuning.strides, how.tuning.stride_share)
    else:
        x = _from_earlier(stages, warm, how) if warm is not None else _searched(stages, how)
    before_parting: Candidate | None = None
    more_rounds = 0 if problem.request.terrain is None else how.tuning.terrain_rounds
    for _ in range(how.tuning.rounds + more_rounds - 1):
        problem = stages.program.problem
        problem.evaluate(x)
        if how.monitor.stopped:
            break
        more = with_rows_near(problem, BROKEN, BROKEN)
        if more is not problem:
            stages = how.stages(more, image, strict=False)
            x = _made_exact(stages, x, how)
            continue
        if stages.worst <= how.tuning.tolerance:
            before_parting = Candidate(stages.program, x, stages.status)
        parted = _parted(stages, x, how, image)
        if parted is None:
            break
        stages, x = parted
        if how.monitor.stopped:
            break
    found = Candidate(stages.program, x, stages.status)
    if found.worst > how.tuning.tolerance and before_parting is not None:
        return before_parting
    return found


def _by_slack(problem: MotionProblem, how: _How) -> Candidate | None:
    """The motion nearest to one that may violate all but physics, at a growing price; None where none is found.

    A search that tries to hold every row at once may miss a motion to which this one leads.
    """
    tuning = how.tuning
    soft = build_from(problem.basis, tuning.slack_prices[0])
    stages = how.stages(soft, None, strict=True)
    x = stages.exact(stages.search(soft.start.copy(), how.options))
    loose = _at_higher_prices(Candidate(stages.program, x, stages.status), how)
    if how.monitor.stopped or loose.worst > tuning.near_enough:
        return None
    start, own = problem.start.copy(), min([problem.layout.size, *[b.slacks.start for b in problem.elastic]])
    start[:own] = loose.x[:own]
    problem.evaluate(start)
    for block in problem.elastic:
        start[block.slacks] = block.missing(problem.evaluation, start)
    found = _solve(problem, how, None, np.clip(start, problem.low, problem.high))
    return found if how.done(found) else None


def _with_flat_feet(problem: MotionProblem) -> MotionProblem:
    """The problem in which feet do not roll by themselves, with a note."""
    flat = build_problem(without_rolls(problem.request))
    note = "feet are flat as they leave and land: no motion was found in which they roll over their toes"
    return replace(flat, basis=replace(flat.basis, notes=(*flat.notes, note)))


def _with_any_strength(problem: MotionProblem) -> MotionProblem:
    """The problem without optional limits of torques, with a note."""
    request = problem.request
    kept = tuple(r for r in request.requirements if not _is_optional(r))
    strong = build_problem(replace(request, requirements=kept))
    note = "no motion within the strength of the joints was found: this one needs more"
    return replace(strong, basis=replace(strong.basis, notes=(*strong.notes, note)))


def _is_optional(requirement: Requirement) -> bool:
    return isinstance(requirement, TorqueLimit) and requirement.optional


def _judged(found: Candidate, how: _How) -> tuple[Candidate, Judged]:
    """The motion with more knots where it was not right between them, and what remains."""
    judged = how.judge(found)
    how.monitor.again()
    best, most = (found, judged), how.tuning.refined_knots * found.problem.frames.knots
    for _ in range(how.tuning.refinements):
        more = found.problem.frames.knots + len(judged.places)
        if not judged.places or more > most or how.monitor.stopped or found.worst > how.tuning.tolerance:
            break
        finer = _with_more_knots(found, judged, how)
        if finer is None:
            break
        found, judged = finer, how.judge(finer)
        how.monitor.again()
        if judged.excess < best[1].excess:
            best = found, judged
    return best


def _with_more_knots(found: Candidate, judged: Judged, how: _How) -> Candidate | None:
    """The nearest exact motion of a problem with more knots; None where none is found."""
    problem, x = refined(found.problem, found.x, judged.places, judged.sunk)
    image = find_image(problem) if found.program.symmetric else None
    for _ in range(how.tuning.rounds):
        stages = how.stages(problem, image, strict=False)
        x = _made_exact(stages, x, how)
        if stages.program.worst(x) > how.tuning.tolerance or how.monitor.stopped:
            return None
        problem.evaluate(x)
        more = with_rows_near(problem, BROKEN, BROKEN)
        if more is problem:
            return Candidate(stages.program, x, stages.status)
        problem = more
    return None


def _searched(stages: Stages, how: _How) -> Array:
    """A good motion, made exact, then better."""
    x = stages.search(stages.program.problem.start.copy(), how.options)
    if not how.monitor.stopped:
        x = stages.exact(x)
    return _improved(stages, x, how.tuning.strides, how.tuning.stride_share)


def _from_earlier(stages: Stages, warm: Result, how: _How) -> Array:
    """An earlier motion, pushed the way soft keys have moved since, and made exact."""
    problem = stages.program.problem
    x = earlier_motion(problem, warm)
    moved = change_of_slope(problem, warm, x)
    if np.abs(moved).max() > stages.tuning.follow_above:
        x = stages.follow(x, moved)
    return x if how.monitor.stopped else _made_exact(stages, x, how)


def _made_exact(stages: Stages, x: Array, how: _How) -> Array:
    """The nearest exact motion; where x is too far from any, by a search from there."""
    x = stages.exact(x)
    if stages.worst > how.tuning.tolerance and not how.monitor.stopped:
        x = stages.exact(stages.search(x, how.options))
    return x


def _improved(stages: Stages, x: Array, strides: int, share: float) -> Array:
    """Strides downhill, each made exact before the next, as long as they pay."""
    tuning = stages.tuning
    for _ in range(strides):
        if stages.monitor.stopped or stages.worst > tuning.tolerance:
            break
        before = stages.cost(x)
        found = stages.exact(stages.downhill(x, share))
        after = stages.cost(found)
        if stages.program.worst(found) > tuning.tolerance or after > before:
            stages.worst = 0.0  # x is exact still
            break
        x = found
        if before - after < tuning.least_gain * abs(before):
            break
    return x


def _parted(stages: Stages, x: Array, how: _How, image: Image | None) -> tuple[Stages, Array] | None:
    """The nearest motion in which parts found inside each other are apart; None where there are none, or it is spoilt.

    Limbs that have crossed each other cannot be parted knot by knot: rows that would spoil the motion are not added.
    """
    problem = stages.program.problem
    more = with_rows_apart(problem)
    if more is problem:
        return None
    fresh = how.stages(more, image, strict=False)
    found = fresh.exact(x)
    tuning = how.tuning
    if fresh.program.worst(found) > tuning.tolerance or fresh.cost(found) > tuning.spoilt_cost * stages.cost(x):
        return None
    return fresh, found


def _least_violating(problem: MotionProblem, how: _How) -> Result:
    """Not everything asked for can hold: the motion that keeps to the physics and violates the least of the rest."""
    tuning = how.tuning
    soft = build_problem(problem.request, tuning.slack_prices[0])
    gentle = replace(how, tuning=replace(tuning, strides=0), options={})
    found = _solve(soft, gentle, None)
    if not how.done(found):
        free = found.problem.without_apart()
        found = found if free is found.problem else _solve(free, gentle, None)
    found = _at_higher_prices(found, how)
    result = make_result(found, how.monitor, tuning.tolerance, how.judge(found))
    named = _named_violations(found, result.violations, tuning)
    worst = max((v.amount for v in named), default=0.0)
    status = "stopped" if how.monitor.stopped else "infeasible" if named else "unsolved"
    return replace(result, status=status, exact=False, violations=named, worst=worst)


def _at_higher_prices(found: Candidate, how: _How) -> Candidate:
    """The motion that violates less and less, as the price of doing so grows."""
    for price in how.tuning.slack_prices[1:]:
        if found.worst > how.tuning.tolerance or how.monitor.stopped:
            break
        stages = how.stages(found.problem.with_slack_price(price), None, strict=True)
        stages.worst = found.worst
        x = _improved(stages, found.x, how.tuning.slack_strides, 1.0)
        found = Candidate(stages.program, x, found.status)
    return found


def _named_violations(found: Candidate, others: Sequence[Violation], tuning: MotionTuning) -> tuple[Violation, ...]:
    """The worst slack of every block, and other violations; one for each name, worst first, small ones left out."""
    times = found.problem.frame_times(found.x)
    slack = []
    for block in found.problem.elastic:
        own = np.abs(found.x[block.slacks])
        if not block.asked and own.max(initial=0.0) > tuning.named_above:
            r = int(np.argmax(own))
            slack.append(Violation(block.label(r), float(times[block.frame[r]]), float(own[r])))
    ordered = sorted((*slack, *others), key=lambda v: -v.amount)
    first = {v.name: v for v in reversed(ordered)}  # the worst of each name
    return tuple(v for v in ordered if first[v.name] is v and v.amount > tuning.named_share * ordered[0].amount)
