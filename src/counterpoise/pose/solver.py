"""Posing by sequential quadratic programming on the manifold, along a path that never leaves the constraints.

Each step: a quadratic model of the goals (Gauss-Newton, with the points' exact curvature where it helps and stays
convex), damped;
constraints linearised; one dense program. The step is taken, the constraints are *restored*, and only then is it
judged by the
goals alone. So every pose ever accepted holds its pins and limits, and no merit function has to weigh goals against
pins.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kinematics import tree_of
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue
from counterpoise.pose.build import build_pose_problem, partition
from counterpoise.pose.core import descend_core
from counterpoise.pose.problem import INSIDE, Evaluation, PoseProblem
from counterpoise.pose.result import Pose, Status
from counterpoise.pose.wishes import Constraint, Goal, Reach
from counterpoise.solve.quadratic import solve_quadratic

HELD = 1e-8  # [m, rad]: constraints are restored to this
NEAR = 0.6  # [rad, m]: inequalities further away than this cannot matter in one step
SPREAD = 0.75  # how far towards a random place a restart begins
COSTLY = 8  # restarts of a problem that the compiled core cannot take
UNFINISHED = 1e-5  # a descent whose last step still gained this much is worth going on with
BRIEF = 10  # iterations over all joints before a problem is taken apart
LONGEST = 1.0  # [rad]: no joint moves further in one step


@dataclass(frozen=True)
class PoseTuning:
    """Numbers of the method; the defaults suit figures of human size."""

    tolerance: float = 1e-4  # [m, rad]: a goal is reached
    iterations: int = 60  # from one start
    damping: float = 0.1  # first damping, relative to the objective
    restarts: int = 60  # spread-out starts tried when stuck
    patience: int = 18  # iterations from a spread-out start
    seconds: float = 2.0  # [s] in all
    settle: int = 6  # iterations spent on the posture once the goals are reached
    flat: float = 1e-7  # relative decrease below which a start is exhausted


@dataclass
class Outcome:
    """Where one start led."""

    q: Array
    objective: float
    held: bool  # constraints hold
    reached: bool  # goals are within tolerance
    iterations: int
    multipliers: dict[str, float]  # limits that stand in the way of the constraints, by name
    gain: float = 0.0  # relative decrease of the last step


def solve_pose(
    character: Character,
    goals: Sequence[Goal] = (),
    constraints: Sequence[Constraint] = (),
    start: ArrayLike | None = None,
    tuning: PoseTuning | None = None,
    seed: int = 0,
) -> Pose:
    """The pose that holds all constraints and joint limits and comes as near as it can to the goals.

    Starts from `start` (the neutral pose when None). When it gets stuck short of a goal it tries again from
    spread-out starts, the same ones for the same seed.
    """
    rules = check_tuning(tuning if tuning is not None else PoseTuning())
    compile_once()
    began = time.perf_counter()
    problem = build_pose_problem(character, goals, constraints, start)
    q, held, reached, iterations, restarts, objective = problem.start, True, True, 0, 0, 0.0
    pressing: dict[str, float] = {}
    first: Outcome | None = None
    if problem.compiled:  # most often one descent over all joints does it
        brief = min(BRIEF, rules.patience) if rules.restarts else rules.iterations
        first = descend(problem, q, rules, brief, began, polish=False)
        iterations = first.iterations
        if first.held and first.reached:
            return account(problem, first.q, True, True, False, iterations, 0, began, {}, first.objective)
        q = first.q if first.held else q
    pieces = partition(problem)
    known = None
    if first is not None and len(pieces) == 1 and first.held and first.iterations < BRIEF:
        known, iterations = first, 0  # it has come to its end: counted with the restarts
    for piece in pieces:
        found, tries = _best_of_starts(piece, q, rules, began, seed, known)
        q = found.q
        held, reached = held and found.held, reached and found.reached
        iterations, restarts = iterations + found.iterations, max(restarts, tries)
        objective += found.objective
        pressing |= found.multipliers
    late = time.perf_counter() - began > rules.seconds
    return account(problem, q, held, reached, late, iterations, restarts, began, pressing, objective)


@lru_cache(maxsize=1)
def compile_once() -> None:
    """Load or compile the core before any clock starts."""
    from counterpoise.character.library import character

    tiny = build_pose_problem(character("chain", links=2), [Reach("link2", (0.3, 0.0, 0.8))], [], None)
    descend(tiny, tiny.start, PoseTuning(), 1, time.perf_counter() + 1e6)


def account(
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
    """The Pose that tells what happened."""
    status: Status = "solved" if reached else ("out_of_time" if late else "unreachable")
    conflict: tuple[str, ...] = ()
    if not held:
        status = "infeasible"
        broken = [name for name, size in problem.violations(q).items() if size > 1e-6]
        conflict = (*broken, *(name for name in problem.character.limits.names if pressing.get(name, 0.0) > 0.0))
    seconds = time.perf_counter() - began
    return Pose(problem.character, np.array(q), status, iterations, restarts, seconds, objective, conflict, problem)


def _best_of_starts(
    problem: PoseProblem, q: Array, rules: PoseTuning, began: float, seed: int, known: Outcome | None
) -> tuple[Outcome, int]:
    """From q (whose outcome may be known already), then from spread-out starts while goals are missed."""
    brief = rules.patience if problem.compiled and rules.restarts else rules.iterations
    best = known or descend(problem, q, rules, brief, began, polish=not problem.compiled)
    if best.reached and best.held:
        return best, 0
    rng = np.random.default_rng(seed)
    total, same, tries = best.iterations, 0, 0
    turning = any(t.feature.unit == "rad" for t in problem.goals)
    repeats, alike = (rules.restarts, 0.0) if turning else (3, 1e-3)  # full poses have many local minima, places few
    most = rules.restarts if problem.compiled else min(rules.restarts, COSTLY)
    for tries in range(1, most + 1):
        if time.perf_counter() - began > rules.seconds or same >= repeats:
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
    if not best.reached and tries:  # the best of the starts may not have been followed to its end
        last = descend(problem, best.q, rules, rules.iterations, began)
        total += last.iterations
        if (last.held, -last.objective) >= (best.held, -best.objective):
            best = last
    best.iterations = total
    return best, tries


def spread_start(problem: PoseProblem, q: Array, number: int, rng: np.random.Generator) -> Array:
    """A start three quarters of the way from q to a place spread over the joints' ranges; the root stays.

    Hinges by an additive sequence (frac(shift + k sqrt(prime)): spread out, the same every time), balls turned at
    random inside their limits.
    """
    who, out = problem.character, q.copy()
    _, qpos, low, high = problem.tables.ranges
    places = np.mod(rng.uniform(0.0, 1.0, len(qpos)) + number * np.resize(_ROOTS, len(qpos)), 1.0)
    out[qpos] += SPREAD * (low + places * (high - low) - out[qpos])
    mine = set(problem.variables.tolist())
    for joint in who.joints:
        if joint.kind == "ball" and joint.dofs.start in mine:
            out[joint.qpos] = spatial.multiply(out[joint.qpos], spatial.exp(SPREAD * rng.uniform(-1.4, 1.4, 3)))
    return who.limits.clamp(out)


def descend(
    problem: PoseProblem,
    q: Array,
    rules: PoseTuning,
    most: int,
    began: float,
    cap: tuple[Array, Array] | None = None,
    warm: dict[str, Any] | None = None,
    polish: bool = True,
) -> Outcome:
    """Follow the goals downhill from one start, holding the constraints all the way.

    `cap` = (pose, furthest) keeps every variable within `furthest` of that pose (dragging); `warm` carries the
    working set.
    """
    if problem.compiled:
        found = _descend_compiled(problem, q, rules, most, cap, warm)
        if found.reached or (found.held and not (polish and found.gain > UNFINISHED)):
            return found
        q = found.q if found.held else q
        most = max(most - found.iterations, 6)
    q, e, held = restore(problem, q, cap)
    if not held:
        q, e = least_broken(problem, q, cap)
        return Outcome(q, problem.objective(q, e), False, False, most, pressing_limits(problem, q, e))
    f = problem.objective(q, e)
    mu, done = rules.damping, 0
    weight2, heft = problem.posture**2, problem.heft
    memory = warm if warm is not None else {}
    slow = 0
    while done < most:
        if _reached(problem, e, rules.tolerance):
            q, e, spent = settle_posture(problem, q, rules.settle, cap)
            return Outcome(q, problem.objective(q, e), True, True, done + spent, {})
        if time.perf_counter() - began > rules.seconds:
            break
        done += 1
        lean = problem.lean(q)
        gradient = e.J.T @ e.r + weight2 * heft * lean
        H = e.J.T @ e.J
        base = 2.0 * f
        stuck = True
        for _ in range(8):
            model = H.copy()
            diagonal = heft * weight2 + mu * base + 1e-10
            if e.S is not None and _convex(model, e.S, diagonal):
                model += e.S
            model.flat[:: len(model) + 1] += diagonal
            step = _step(problem, q, e, model, gradient, cap, memory)
            if step is None:
                mu = max(10.0 * mu, 1e-6)
                continue
            if np.abs(step).max(initial=0.0) < 1e-10:
                break
            trial, te, ok = restore(problem, problem.moved(q, step), cap)
            tf = problem.objective(trial, te)
            if ok and tf < f:
                gain = (f - tf) / max(f, 1e-300)
                q, e, f = trial, te, tf
                mu = max(mu / 5.0, 1e-7)
                stuck = False
                break
            mu *= 6.0
        if stuck:
            break
        curvature = gain < 0.5 and not _reached(problem, e, rules.tolerance)
        if curvature:
            e = problem.evaluate(q, curvature=True)
        slow = slow + 1 if gain < rules.flat else 0
        if slow >= 2:
            break
    return Outcome(q, f, True, _reached(problem, e, rules.tolerance), done, {})


def _descend_compiled(
    problem: PoseProblem,
    q: Array,
    rules: PoseTuning,
    most: int,
    cap: tuple[Array, Array] | None,
    warm: dict[str, Any] | None,
) -> Outcome:
    """The same descent, whole in the compiled core."""
    t, fast = tables_of(problem.character), problem._fast
    anchor, furthest = cap if cap is not None else (q, np.empty(0))
    limits = len(problem.tables.ball_rows)
    held, active = np.zeros(len(problem.variables), np.int64), np.zeros(limits, np.int64)
    if warm is not None and "held" in warm:
        held, active = warm["held"], warm["active"]
    q, f, ok, reached, done, gain = descend_core(
        np.array(q), tree_of(problem.character), problem.character.layout, t.ancestors, problem.variables,
        (fast.point_body, fast.point_place, fast.point_target, fast.point_weight),
        (fast.turn_body, fast.turn_target, fast.turn_weight),
        fast.goal_points, fast.goal_turns, problem.row_weights, problem.tables.ranges, problem.tables.balls,
        problem.rest, problem.posture, problem.heft, np.array(anchor), furthest, rules.tolerance, rules.damping, most,
        rules.flat, rules.settle,
        INSIDE, HELD, held, active,
    )  # fmt: skip
    if warm is not None:
        warm["held"], warm["active"] = held, active
    return Outcome(q, f, ok, reached, done, {}, gain)


def settle_posture(
    problem: PoseProblem, q: Array, most: int, cap: tuple[Array, Array] | None
) -> tuple[Array, Evaluation, int]:
    """The posture nearest to the rest, the goals held like constraints: Newton steps along what they leave free."""
    heft, spent = problem.heft, 0
    for _ in range(most):
        e = _goals_held(problem.evaluate(q))
        lean = problem.lean(q)
        before, better = float(lean @ (heft * lean)), False
        step = _step(problem, q, e, np.diag(heft), heft * lean, cap, {})
        spent += 1
        for share in (1.0, 0.4, 0.16):
            if step is None:
                break
            trial, _, held = restore(problem, problem.moved(q, share * step), cap, goals=True)
            lean = problem.lean(trial)
            after = float(lean @ (heft * lean))
            if held and after < before:
                q, better = trial, after < 0.99 * before
                break
        if not better:
            break
    return q, problem.evaluate(q), spent


def _goals_held(e: Evaluation) -> Evaluation:
    """Goals as further equalities."""
    return replace(e, c=np.concatenate([e.c, e.r]), C=np.vstack([e.C, e.J]), r=e.r[:0], J=e.J[:0])


def restore(
    problem: PoseProblem, q: Array, cap: tuple[Array, Array] | None = None, most: int = 12, goals: bool = False
) -> tuple[Array, Evaluation, bool]:
    """Back onto the constraints by the shortest steps: c(q) = 0 to 1e-8, g(q) <= 0, ranges exactly.

    With `goals` they are held too.
    """

    def evaluate(pose: Array) -> Evaluation:
        here = problem.evaluate(pose)
        return _goals_held(here) if goals else here

    e = evaluate(q)
    for _ in range(most):
        broken = np.flatnonzero(e.g > INSIDE * 0.5)
        size = max(float(np.abs(e.c).max(initial=0.0)), float(e.g[broken].max(initial=0.0)))
        if size <= HELD and not len(broken):
            return q, e, True
        C, c = e.C, e.c
        if len(broken):
            C, c = np.vstack([C, e.G[broken]]), np.concatenate([c, e.g[broken] + 0.5 * INSIDE])
        step = _shortest(problem, q, C, c, cap)
        if step is None:
            step = _shortest_program(problem, q, e, cap)
        if step is None or not np.isfinite(step).all():
            return q, e, False
        longest = float(np.abs(step).max(initial=0.0))
        if longest > LONGEST:
            step = step * (LONGEST / longest)
        q = problem.moved(q, step)
        e = evaluate(q)
    held = float(np.abs(e.c).max(initial=0.0)) <= HELD and float(e.g.max(initial=0.0)) <= INSIDE
    return q, e, held


def least_broken(problem: PoseProblem, q: Array, cap: tuple[Array, Array] | None = None) -> tuple[Array, Evaluation]:
    """The pose inside the joint limits that breaks the equalities least (damped least squares)."""
    e = problem.evaluate(q)
    mu, f = 1e-3, 0.5 * float(e.c @ e.c)
    for _ in range(60):
        H = e.C.T @ e.C
        H.flat[:: len(H) + 1] += mu * f + 1e-9
        low, high = _box(problem, q, cap)
        near = e.g > -NEAR
        answer = solve_quadratic(
            H, e.C.T @ e.c, low, high, e.G[near], np.full(int(near.sum()), -1e30), np.maximum(-e.g[near], 0.0)
        )
        if not answer.solved:
            mu = max(10 * mu, 1e-6)
            if mu > 1e8:
                break
            continue
        trial = problem.moved(q, answer.x)
        te = problem.evaluate(trial)
        tf = 0.5 * float(te.c @ te.c)
        if tf < f:
            settled = (f - tf) < 1e-9 * f
            q, e, f, mu = trial, te, tf, max(mu / 5, 1e-9)
            if settled:
                break
        else:
            mu *= 6
            if mu > 1e8:
                break
    return problem.character.limits.clamp(q), e


def pressing_limits(problem: PoseProblem, q: Array, e: Evaluation) -> dict[str, float]:
    """Limits that stand in the way of the equalities: active, and pushed against by the descent direction."""
    descent = -(e.C.T @ e.c)
    scale = max(float(np.abs(descent).max(initial=0.0)), 1e-12)
    low, high = problem.bounds(q)
    names = problem.character.limits.names
    out: dict[str, float] = {}
    for i, row in zip(problem.tables.ranges[0], problem.tables.range_rows, strict=True):
        if low[i] > -1e-6 and descent[i] < -1e-3 * scale:
            out[names[2 * row]] = -float(descent[i])
        if high[i] < 1e-6 and descent[i] > 1e-3 * scale:
            out[names[2 * row + 1]] = float(descent[i])
    for k, row in enumerate(problem.tables.ball_rows):
        if e.g[k] > -1e-6 and float(e.G[k] @ descent) > 1e-3 * scale:
            out[names[row]] = float(e.G[k] @ descent)
    return out


def _reached(problem: PoseProblem, e: Evaluation, tolerance: float) -> bool:
    """Every goal within tolerance, in its own unit (weights taken out)."""
    if not len(e.r):
        return True
    sizes = np.square(e.r / problem.row_weights)
    starts = problem.goal_starts
    return bool(np.add.reduceat(sizes, starts).max() <= tolerance**2)


def _convex(model: Array, S: Array, diagonal: Array) -> bool:
    try:
        trial = model + S
        trial.flat[:: len(trial) + 1] += diagonal
        np.linalg.cholesky(trial)
    except np.linalg.LinAlgError:
        return False
    return True


def _box(problem: PoseProblem, q: Array, cap: tuple[Array, Array] | None) -> tuple[Array, Array]:
    low, high = problem.bounds(q)
    low, high = np.maximum(low, -LONGEST), np.minimum(high, LONGEST)
    if cap is not None:
        anchor, furthest = cap
        gone = problem.character.difference(anchor, q)[problem.variables]
        low, high = np.maximum(low, -furthest - gone), np.minimum(high, furthest - gone)
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _step(
    problem: PoseProblem,
    q: Array,
    e: Evaluation,
    H: Array,
    gradient: Array,
    cap: tuple[Array, Array] | None,
    memory: dict[str, Any],
) -> Array | None:
    low, high = _box(problem, q, cap)
    near = np.flatnonzero(e.g > -NEAR)
    if not len(near) and not len(e.c):  # bounds only: most often the plain Newton step is inside
        try:
            step = -np.asarray(np.linalg.solve(H, gradient), dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        if np.all(step >= low) and np.all(step <= high):
            return step
    A = np.vstack([e.C, e.G[near]]) if len(near) else e.C
    below = np.concatenate([-e.c, np.full(len(near), -1e30)])
    above = np.concatenate([-e.c, -e.g[near]])
    warm = memory.get("multipliers")
    answer = solve_quadratic(H, gradient, low, high, A, below, above, warm)
    if answer.solved:
        memory["multipliers"] = answer.multipliers
        return answer.x
    if not len(e.c):
        return None
    rho = 1e4 * max(float(np.trace(H)) / len(H), 1.0)  # equalities that cannot be met in this step: as nearly as can be
    soft = solve_quadratic(
        H + rho * (e.C.T @ e.C), gradient + rho * (e.C.T @ e.c), low, high, e.G[near],
        np.full(len(near), -1e30), np.maximum(-e.g[near], 0.0),
    )  # fmt: skip
    return soft.x if soft.solved else None


def _shortest(problem: PoseProblem, q: Array, C: Array, c: Array, cap: tuple[Array, Array] | None) -> Array | None:
    """Shortest step for C x = -c, variables at their bounds held there; None when that does not suffice."""
    low, high = _box(problem, q, cap)
    step = np.zeros(C.shape[1])
    free = np.ones(C.shape[1], bool)
    for _ in range(4):
        part = C[:, free]
        rest = c + C[:, ~free] @ step[~free]
        gram = part @ part.T
        gram.flat[:: len(gram) + 1] += 1e-12 * max(float(np.trace(gram)), 1e-12)
        try:
            step[free] = -part.T @ np.linalg.solve(gram, rest)
        except np.linalg.LinAlgError:
            return None
        out = (step < low - 1e-12) | (step > high + 1e-12)
        if not out.any():
            miss = float(np.abs(C @ step + c).max(initial=0.0))
            return step if miss <= 0.3 * float(np.abs(c).max(initial=0.0)) + 1e-12 else None
        step[out] = np.clip(step[out], low[out], high[out])
        free &= ~out
        if not free.any():
            return None
    return None


def _shortest_program(problem: PoseProblem, q: Array, e: Evaluation, cap: tuple[Array, Array] | None) -> Array | None:
    """The same as a program: shortest step that meets all linearised constraints, or that comes nearest."""
    low, high = _box(problem, q, cap)
    n = len(low)
    near = np.flatnonzero(e.g > -NEAR)
    A = np.vstack([e.C, e.G[near]])
    below = np.concatenate([-e.c, np.full(len(near), -1e30)])
    above = np.concatenate([-e.c, np.where(e.g[near] > 0.0, -e.g[near] - 0.5 * INSIDE, -e.g[near])])
    answer = solve_quadratic(np.eye(n), np.zeros(n), low, high, A, below, above)
    if answer.solved:
        return answer.x
    rows = np.vstack([e.C, e.G[near][e.g[near] > 0.0]])
    miss = np.concatenate([e.c, e.g[near][e.g[near] > 0.0]])
    H = 1e6 * rows.T @ rows + np.eye(n)
    soft = solve_quadratic(H, 1e6 * rows.T @ miss, low, high, np.empty((0, n)), np.empty(0), np.empty(0))
    return soft.x if soft.solved else None


_ROOTS = np.sqrt(
    np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89.0])
)


def check_tuning(rules: PoseTuning) -> PoseTuning:
    """Refuse numbers that would make the method meaningless."""
    if not (rules.tolerance > 0 and rules.iterations > 0 and rules.restarts >= 0 and rules.seconds > 0):
        raise BadValue(f"posing needs positive tolerance, iterations and seconds, restarts >= 0; got {rules}")
    return rules
