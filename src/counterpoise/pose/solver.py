"""Posing: descents from the start, and from spread-out starts where a goal is missed; the best one is the answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.pose.build import build_pose_problem, partition
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.descent import Descent, descend
from counterpoise.pose.goals import PoseGoal, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.result import Pose, Status
from counterpoise.pose.tuning import PoseTuning, check_tuning

RESTART_SHARE = 0.75  # share of the way from the first start to a spread-out place at which a restart begins
UNCOMPILED_RESTARTS = 8  # restarts of a problem that the compiled core cannot solve
FIRST_ITERATIONS = 10  # iterations over all joints before a problem is split into parts that share no joint
SAME_ANSWERS = 3  # this many restarts that end at the same objective end the search ...
SAME_OBJECTIVE = 1e-3  # ... if all goals are places; relative difference
CONFLICT_TOLERANCE = 1e-6  # [m, rad]: constraints violated by more are named in a conflict
BALL_SPREAD = 1.4  # [rad] of rotation vectors that spread-out starts turn balls by


def solve_pose(
    character: Character,
    goals: Sequence[PoseGoal] = (),
    constraints: Sequence[PoseConstraint] = (),
    start: ArrayLike | None = None,
    tuning: PoseTuning | None = None,
    seed: int = 0,
) -> Pose:
    """Returns the pose that holds all constraints and joint limits and comes as near as it can to the goals.

    Starts from `start` (the neutral pose when None). When it gets stuck short of a goal it tries again from
    spread-out starts, the same ones for the same seed.
    """
    rules = check_tuning(tuning if tuning is not None else PoseTuning())
    compile_once()
    began = time.perf_counter()
    problem = build_pose_problem(character, goals, constraints, start)
    q, held, reached, iterations, restarts, objective = problem.start, True, True, 0, 0, 0.0
    pressing: dict[str, float] = {}
    first: Descent | None = None
    if problem.compiled:  # most often one descent over all joints is enough
        brief = min(FIRST_ITERATIONS, rules.patience) if rules.restarts else rules.iterations
        first = descend(problem, q, rules, brief, began, polish=False)
        iterations = first.iterations
        if first.held and first.reached:
            return report_pose(problem, first.q, True, True, False, iterations, 0, began, {}, first.objective)
        q = first.q if first.held else q
    pieces = partition(problem)
    known = None
    if first is not None and len(pieces) == 1 and first.held and first.iterations < FIRST_ITERATIONS:
        known, iterations = first, 0  # it has converged: counted with the restarts
    for piece in pieces:
        found, tries = _best_of_starts(piece, q, rules, began, seed, known)
        q = found.q
        held, reached = held and found.held, reached and found.reached
        iterations, restarts = iterations + found.iterations, max(restarts, tries)
        objective += found.objective
        pressing |= found.multipliers
    late = rules.out_of_time(began)
    return report_pose(problem, q, held, reached, late, iterations, restarts, began, pressing, objective)


@lru_cache(maxsize=1)
def compile_once() -> None:
    """Loads or compiles the core, so that no measured time includes it."""
    from counterpoise.character.library import character

    tiny = build_pose_problem(character("chain", links=2), [Reach("link2", (0.3, 0.0, 0.8))], [], None)
    descend(tiny, tiny.start, PoseTuning(), 1, time.perf_counter() + 1e6)


def report_pose(
    problem: PoseProblem,
    q: Array,
    held: bool,
    reached: bool,
    late: bool,
    iterations: int,
    restarts: int,
    began: float,
    pressing: dict[str, float],
    objective: float,
) -> Pose:
    """Returns the pose with its status, and the names of constraints and limits that contradict each other."""
    status: Status = "solved" if reached else ("out_of_time" if late else "unreachable")
    conflict: tuple[str, ...] = ()
    if not held:
        status = "infeasible"
        broken = [name for name, size in problem.violations(q).items() if size > CONFLICT_TOLERANCE]
        conflict = (*broken, *(name for name in problem.character.limits.names if pressing.get(name, 0.0) > 0.0))
    seconds = time.perf_counter() - began
    return Pose(problem.character, np.array(q), status, iterations, restarts, seconds, objective, conflict, problem)


def _best_of_starts(
    problem: PoseProblem, q: Array, rules: PoseTuning, began: float, seed: int, known: Descent | None
) -> tuple[Descent, int]:
    """Returns the best of the descents from q and from spread-out starts, and the number of those starts.

    Other starts are tried while goals are missed. `known` is the descent from q where it was made already.
    """
    brief = rules.patience if problem.compiled and rules.restarts else rules.iterations
    best = known or descend(problem, q, rules, brief, began, polish=not problem.compiled)
    if best.reached and best.held:
        return best, 0
    rng = np.random.default_rng(seed)
    total, same, tries = best.iterations, 0, 0
    turning = any(t.feature.unit == "rad" for t in problem.goals)
    # orientations have many local minima, places few
    repeats, alike = (rules.restarts, 0.0) if turning else (SAME_ANSWERS, SAME_OBJECTIVE)
    most = rules.restarts if problem.compiled else min(rules.restarts, UNCOMPILED_RESTARTS)
    for tries in range(1, most + 1):
        if rules.out_of_time(began) or same >= repeats:
            break
        fresh = spread_start(problem, q, tries, rng)
        trial = descend(problem, fresh, rules, rules.patience, began, polish=not problem.compiled)
        total += trial.iterations
        better = (trial.held, -trial.objective) > (best.held, -best.objective)
        close = abs(trial.objective - best.objective) <= alike * abs(best.objective) + 1e-14
        same = same + 1 if close else same
        if better:
            same = same if close else 0
            best = trial
        if best.reached and best.held:
            break
    if not best.reached and tries:  # the best descent may not have converged
        last = descend(problem, best.q, rules, rules.iterations, began)
        total += last.iterations
        if (last.held, -last.objective) >= (best.held, -best.objective):
            best = last
    best.iterations = total
    return best, tries


def spread_start(problem: PoseProblem, q: Array, number: int, rng: np.random.Generator) -> Array:
    """Returns a start three quarters of the way from q to a place spread over the joints' ranges; the root stays.

    Hinges by an additive sequence (frac(shift + k sqrt(prime)): spread out, the same every time), balls turned at
    random inside their limits.
    """
    character, out = problem.character, q.copy()
    _, qpos, low, high = problem.limits.ranges
    places = np.mod(rng.uniform(0.0, 1.0, len(qpos)) + number * np.resize(_ROOTS, len(qpos)), 1.0)
    out[qpos] += RESTART_SHARE * (low + places * (high - low) - out[qpos])
    mine = set(problem.variables.tolist())
    for joint in character.joints:
        if joint.kind == "ball" and joint.dofs.start in mine:
            out[joint.qpos] = spatial.multiply(
                out[joint.qpos], spatial.exp(RESTART_SHARE * rng.uniform(-BALL_SPREAD, BALL_SPREAD, 3))
            )
    return character.limits.clamp(out)


_ROOTS = np.sqrt(
    np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89.0])
)
