"""Two ways through a whole-body problem: the compiled one that knows its structure, and the general one, its judge.

One-sided rows (A a <= b) are an error only where they are exceeded. The general solver gives each a slack of its own,
A a + s = b with s >= 0; the compiled one solves without them and holds those that turn out to be exceeded as
equalities, until none is exceeded and none is held for nothing.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.control.whole_body import PASSES, SMALLEST, Found, WholeBodyProblem
from counterpoise.objectives import DiagonalRows, Objective, Rows, TrackPose
from counterpoise.objectives.writing import BlockFull, needs_correction, sizes_of_rows, write_rows
from counterpoise.solve.body.program import BodyMemory, BodyProblem, BodySolution, solve_body
from counterpoise.solve.hierarchy import Warm, solve_hierarchy
from counterpoise.solve.level import Level, Part

Held = dict[str, Flags]  # one-sided rows treated as equalities, by objective
OneSided = list[tuple[int, Objective, Rows | DiagonalRows]]  # level, objective, rows
EXCEEDED = 1e-9  # of 1 + |b|: a one-sided row beyond this is held


def solve_fast(problem: WholeBodyProblem, warm: Any) -> Found:
    """By `solve_body`; one solve, or a few where joints must be stopped."""
    warm = warm if isinstance(warm, FastWarm) else None
    while True:
        A, b = _block(len(problem.torque_high))
        try:
            return _solve_in(problem, warm, A, b)
        except BlockFull:
            _block(len(problem.torque_high), 2 * len(b))


def _solve_in(problem: WholeBodyProblem, warm: Any, A: Array, b: Array) -> Found:
    """Solve without the one-sided rows; hold those that are exceeded, let go those that pull, until neither is left."""
    one_sided = [
        (number, objective, objective.rows(problem.snapshot, problem.stance))
        for number, level in enumerate(problem.levels)
        for objective in level
        if objective.at_most and objective.weight > 0.0
    ]
    try_ = _Attempts(problem, one_sided, A, b, warm.memory if warm is not None else None)
    held: Held = {}
    if one_sided and warm is not None and len(warm.acceleration) == len(problem.torque_high):
        held = _corrected(one_sided, warm.acceleration, held) or held  # what the last tick would exceed now
    answer = try_(held)
    if one_sided:
        held, answer = _settle(try_, one_sided, held, answer)
    return try_.found(held, answer)


def _settle(try_: _Attempts, one_sided: OneSided, held: Held, answer: Answer) -> tuple[Held, Answer]:
    """The working set of the one-sided rows.

    In the last level they are a penalty max(0, A a - b)^2, convex and smooth: a set with no row exceeded outside it and
    none pulling inside is the optimum. Higher up a row whose removal exceeds nothing was not needed: that is the proof.
    """
    seen: set[bytes] = set()
    while try_.solves < PASSES:
        after = _corrected(one_sided, answer.solution.acceleration, held)
        if after is None or (key := _key(after)) in seen:
            break
        seen.add(key)
        held, answer = after, try_(after)
    which = [(name, int(i)) for name, rows in held.items() for i in np.flatnonzero(rows)]
    if len(which) < 2 or all(number == len(try_.problem.levels) - 1 for number, _, _ in one_sided):
        return held, answer
    for name, i in which:
        if try_.solves >= PASSES:
            break
        fewer = {n: rows.copy() for n, rows in held.items()}
        fewer[name][i] = False
        trial = try_(fewer)
        if _corrected(one_sided, trial.solution.acceleration, fewer) is None:
            held, answer = fewer, trial
    if answer is not try_.last:  # what the block holds must be what is told
        answer = try_(held)
    return held, answer


def _corrected(one_sided: OneSided, a: Array, held: Held) -> Held | None:
    """`held` with exceeded rows added and pulling ones (held, yet below their bound) let go; None: nothing to do."""
    after: Held | None = None
    for _, objective, rows in one_sided:
        known = held.get(objective.name, _NONE)
        if len(rows) and needs_correction(rows.A, rows.b, a, EXCEEDED, known):
            left, slack = rows.A @ a - rows.b, EXCEEDED * (1.0 + np.abs(rows.b))
            kept = known & (left >= -slack) if len(known) else np.zeros(len(rows), bool)
            after = dict(held) if after is None else after
            after[objective.name] = kept | (left > slack)
    return after


def _key(held: Held) -> bytes:
    return b"".join(held[name].tobytes() for name in sorted(held))


@dataclass(frozen=True, slots=True)
class FastWarm:
    """What the compiled path leaves for the next tick: the solver's memory and the accelerations it found."""

    memory: BodyMemory
    acceleration: Array


@dataclass(slots=True)
class Answer:
    """One solve: what was in the block, and what came out."""

    solution: BodySolution
    names: list[str]
    betas: list[float]
    spans: list[int]
    postures: list[tuple[str, DiagonalRows]]


class _Attempts:
    """Solves the problem with one set of one-sided rows after another, each from the last one's working set."""

    def __init__(self, problem: WholeBodyProblem, one_sided: OneSided, A: Array, b: Array, warm: Any) -> None:
        self.problem, self.one_sided, self.A, self.b, self.warm = problem, one_sided, A, b, warm
        self.steps, self.solves = 0, 0
        self.last: Answer | None = None

    def __call__(self, held: Held) -> Answer:
        problem, A, b = self.problem, self.A, self.b
        nv, root, s = len(problem.torque_high), problem.root, problem.snapshot
        weight, pull = np.empty(nv), np.zeros(nv)
        weight.fill(SMALLEST)
        names, betas, spans, starts, postures, at = _write(problem, self.one_sided, held, A, b, weight, pull)
        first = starts[-1]
        solution = solve_body(
            BodyProblem(
                s.M, s.h, root, problem.G, problem.force_high, problem.torque_low[root:], problem.torque_high[root:],
                A[:first], b[:first], np.array(starts, np.int64), weight, pull / weight, A[first:at], b[first:at],
                problem.tuning.force_weight, problem.weight,
            ),
            self.warm,
            rank=problem.tuning.rank,
        )  # fmt: skip
        self.warm, self.steps, self.solves = solution.memory, self.steps + solution.iterations, self.solves + 1
        self.last = Answer(solution, names, betas, spans, postures)
        return self.last

    def found(self, held: Held, answer: Answer) -> Found:
        """The answer with its account."""
        a = answer.solution.acceleration
        sizes = np.empty(len(answer.names))
        sizes_of_rows(self.A, self.b, np.array(answer.spans), np.array(answer.betas), a, sizes)
        residuals = dict(zip(answer.names, sizes.tolist(), strict=True))
        for name, posture in answer.postures:
            residuals[name] = posture.size(a)
        for _, objective, rows in self.one_sided:
            residuals[objective.name] = rows.size(a) if len(rows) else 0.0
        x = answer.solution.values[: len(a) + len(self.problem.force_high)]
        stops = tuple(name for name, rows in held.items() if rows.any())
        work = {"steps": self.steps, "solves": self.solves}
        return Found(x, answer.solution.words, FastWarm(self.warm, a), stops, work, answer.solution.torque, residuals)


def _write(
    problem: WholeBodyProblem,
    one_sided: OneSided,
    held: Held,
    A: Array,
    b: Array,
    weight: Array,
    pull: Array,
) -> tuple[list[str], list[float], list[int], list[int], list[tuple[str, DiagonalRows]], int]:
    """Every objective into the block, level after level; postures of the last level into weights and targets.

    Returns names, betas and spans of what is in the block, where its strict levels begin, the postures, and its end.
    """
    s, stance, last = problem.snapshot, problem.stance, len(problem.levels) - 1
    names: list[str] = []
    betas: list[float] = []
    spans, starts, postures, at = [0], [0], [], 0
    for number, level in enumerate(problem.levels):
        for objective in level:
            if objective.weight == 0.0 or objective.at_most:
                continue
            if number == last and objective.posture:
                assert isinstance(objective, TrackPose)
                postures.append((objective.name, objective.add(s, weight, pull, objective.weight)))
                continue
            beta = 1.0 if objective.weight == 1.0 else math.sqrt(objective.weight)
            at += objective.write(s, stance, A, b, at, beta)
            names.append(objective.name)
            betas.append(beta)
            spans.append(at)
        for where, objective, rows in one_sided:
            if where == number and objective.name in held:
                over = held[objective.name]
                if at + len(rows) > len(b):
                    raise BlockFull
                at += write_rows(A, b, at, math.sqrt(objective.weight), rows.A[over], rows.b[over])
                names.append(objective.name)
                betas.append(math.sqrt(objective.weight))
                spans.append(at)
        if number < last:
            starts.append(at)
    return names, betas, spans, starts, postures, at


_NONE = np.zeros(0, bool)
_local = threading.local()


def _block(nv: int, rows: int = 0) -> tuple[Array, Array]:
    """This thread's block of rows for bodies of this size: kept between ticks, made larger when asked."""
    kept: dict[int, tuple[Array, Array]] | None = getattr(_local, "kept", None)
    if kept is None:
        kept = _local.kept = {}
    found = kept.get(nv)
    if found is None or len(found[1]) < rows:
        found = kept[nv] = (np.zeros((max(rows, 128), nv)), np.zeros(max(rows, 128)))
    return found


def solve_general(problem: WholeBodyProblem, warm: Any) -> Found:
    """By `solve_hierarchy`, in x = (a, lambda / m g, slacks); where it fails, by weights, and the status says so."""
    levels, rows, bounds = as_hierarchy(problem)
    nv, k = len(problem.torque_high), len(problem.force_high)
    warm = warm if isinstance(warm, Warm) else None
    solution = solve_hierarchy(levels, rows, bounds, warm=warm, method=problem.tuning.method)
    status = solution.status if solution.status == "solved" else f"{solution.status} {solution.note}".strip()
    kept = solution.warm
    if solution.status != "solved" and problem.tuning.method == "strict":
        status = f"weighted, as the strict solver was {status}"
        solution = solve_hierarchy(levels, rows, bounds, method="weighted")
    x = solution.x[: nv + k].copy()
    x[nv:] *= problem.weight
    np.clip(x[nv:], problem.force_low, problem.force_high, out=x[nv:])
    stops = tuple(
        objective.name
        for objectives, parts in zip(problem.levels, problem.rows, strict=True)
        for objective, row in zip(objectives, parts, strict=True)
        if row.at_most and len(row) and bool((row.A @ x[:nv] >= row.b - 1e-7 * (1.0 + np.abs(row.b))).any())
    )
    return Found(x, status, kept, stops, dict(solution.work))


def as_hierarchy(
    problem: WholeBodyProblem,
) -> tuple[list[Level], tuple[Array, Array, Array], tuple[Array, Array]]:
    """Levels, torque rows and bounds of the general problem: to be solved, or looked at."""
    s, W = problem.snapshot, problem.weight
    nv, k = len(problem.torque_high), len(problem.force_high)
    slack = sum(len(r) for level in problem.rows for r in level if r.at_most)
    n = nv + k + slack
    T = np.hstack([s.M, -problem.G * W, np.zeros((nv, slack))])  # tau = T x + h
    levels, used = [], nv + k
    for number, (objectives, rows) in enumerate(zip(problem.levels, problem.rows, strict=True)):
        parts = []
        for objective, row in zip(objectives, rows, strict=True):
            if len(row) == 0:
                continue
            A, b = _spread(row, n, nv, k, W, T, s.h)
            if row.at_most:
                A[:, used : used + len(row)] = np.eye(len(row))
                used += len(row)
            parts.append(Part(A, b, objective.weight, objective.name))
        if number == len(problem.levels) - 1:
            last = np.zeros((k + nv, n))
            last[:k, nv : nv + k] = np.sqrt(problem.tuning.force_weight) * np.eye(k)
            last[k:, :nv] = np.sqrt(SMALLEST) * np.eye(nv)
            parts.append(Part(last, np.zeros(k + nv), 1.0, "(small forces)"))
        if parts:
            levels.append(Level(objectives=parts, name=f"level {number + 1}"))
    scale = np.where(np.isfinite(problem.torque_high) & (problem.torque_high > 0.0), problem.torque_high, W)
    rows_ = (T / scale[:, None], (problem.torque_low - s.h) / scale, (problem.torque_high - s.h) / scale)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    lower[nv : nv + k] = np.where(problem.force_low <= -1e29, -np.inf, problem.force_low / W)
    upper[nv : nv + k] = np.where(problem.force_high >= 1e29, np.inf, problem.force_high / W)
    lower[nv + k :] = 0.0
    return levels, rows_, (lower, upper)


def _spread(row: Rows | DiagonalRows, n: int, nv: int, k: int, W: float, T: Array, h: Array) -> tuple[Array, Array]:
    """One objective's rows in the general unknowns."""
    A = np.zeros((len(row), n))
    if row.on == "acceleration":
        A[:, :nv] = row.A
        return A, row.b.copy()
    if row.on == "torque":
        return row.A @ T, row.b - row.A @ h
    A[:, nv : nv + k] = row.A * W
    return A, row.b.copy()
