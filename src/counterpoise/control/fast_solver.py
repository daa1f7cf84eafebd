"""The compiled solver of a whole-body problem, which uses its structure, for levels of any kind.

Levels as most controllers have them every tick go to `tick_solver`, which does the same in one compiled call.

A one-sided row A a <= b is an error only where it is exceeded. The problem is solved without these rows first. Rows
that turn out to be exceeded are then held as equalities, until none is exceeded and none is held without need.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.control.tick_solver import EXCESS, FIRST_ROWS, MOST_SOLVES, FastWarm
from counterpoise.control.whole_body_problem import LEAST_POSTURE_WEIGHT, WholeBodyAnswer, WholeBodyProblem
from counterpoise.objectives import DiagonalRows, Objective, Rows, TrackPose
from counterpoise.objectives.base import most_rows, write_all
from counterpoise.objectives.writing import BlockFull, correct_held, needs_correction, sizes_of_rows, write_rows
from counterpoise.quick import quick
from counterpoise.solve.body.program import BodyProblem, BodySolution, solve_body

Held = dict[str, Flags]  # one-sided rows treated as equalities, by objective
OneSided = list[tuple[int, Objective, Rows | DiagonalRows]]  # level, objective, rows


def solve_fast(problem: WholeBodyProblem, warm: Any) -> WholeBodyAnswer:
    """Solves by `solve_body`: one solve, or a few where one-sided rows are exceeded."""
    warm = warm if isinstance(warm, FastWarm) else None
    while True:
        A, b = _block(len(problem.torque_high))
        try:
            return _solve_in(problem, warm, A, b)
        except BlockFull:
            _block(len(problem.torque_high), 2 * len(b))


@dataclass(slots=True)
class Written:
    """Where the objectives are in a block of rows."""

    names: list[str]
    betas: Array  # roots of their weights
    spans: Ints  # first row of each, and the end
    starts: list[int]  # first row of each strict level, and of the last level
    postures: list[tuple[str, DiagonalRows]]  # of the last level, which have no rows in the block
    end: int  # the row after all


@dataclass(slots=True)
class Attempt:
    """One solve: the rows it was made with, and its solution."""

    solution: BodySolution
    written: Written


class _Attempts:
    """Solves a problem with one set of held rows after another, each from the last one's working set."""

    def __init__(self, problem: WholeBodyProblem, one_sided: OneSided, A: Array, b: Array, warm: Any) -> None:
        self.problem, self.one_sided, self.A, self.b, self.warm = problem, one_sided, A, b, warm
        self.steps, self.solves = 0, 0
        self.last: Attempt | None = None

    def solve(self, held: Held) -> Attempt:
        """Solves with these one-sided rows as equalities."""
        problem, A, b = self.problem, self.A, self.b
        nv, root, s = len(problem.torque_high), problem.root, problem.snapshot
        weight, pull = np.full(nv, LEAST_POSTURE_WEIGHT), np.zeros(nv)
        written = _write(problem, self.one_sided, held, A, b, weight, pull)
        first, end = written.starts[-1], written.end
        solution = solve_body(
            quick(
                BodyProblem, M=s.M, h=s.h, root=root, G=problem.G, force_limit=problem.force_high,
                torque_low=problem.torque_low[root:], torque_high=problem.torque_high[root:], level_rows=A[:first],
                level_targets=b[:first], level_starts=np.array(written.starts, np.int64), weight=weight,
                posture=pull / weight, extra_rows=A[first:end], extra_targets=b[first:end],
                force_weight=problem.tuning.force_weight, force_unit=problem.weight,
            ),
            self.warm,
            rank=problem.tuning.rank,
        )  # fmt: skip
        self.warm, self.steps, self.solves = solution.memory, self.steps + solution.iterations, self.solves + 1
        self.last = Attempt(solution, written)
        return self.last

    def answer(self, held: Held, attempt: Attempt) -> WholeBodyAnswer:
        """Returns the answer of the last attempt, with its residuals."""
        a, written = attempt.solution.acceleration, attempt.written
        sizes = np.empty(len(written.names))
        sizes_of_rows(self.A, self.b, written.spans, written.betas, a, sizes)
        residuals = dict(zip(written.names, sizes.tolist(), strict=True))
        for name, posture in written.postures:
            residuals[name] = posture.size(a)
        for _, objective, rows in self.one_sided:
            residuals[objective.name] = rows.size(a) if len(rows) else 0.0
        x = attempt.solution.values[: len(a) + len(self.problem.force_high)]
        stops = tuple(one.name for _, one, _ in self.one_sided if one.name in held and held[one.name].any())
        work = {"steps": self.steps, "solves": self.solves}
        return WholeBodyAnswer(
            x,
            attempt.solution.words,
            FastWarm(self.warm, a),
            stops,
            work,
            attempt.solution.torque,
            tuple(residuals),
            list(residuals.values()),
        )


def _solve_in(problem: WholeBodyProblem, warm: FastWarm | None, A: Array, b: Array) -> WholeBodyAnswer:
    """Solves with the rows written into the block (A, b); raises BlockFull where it is too small."""
    one_sided = [
        (number, objective, objective.rows(problem.snapshot, problem.stance))
        for number, level in enumerate(problem.levels)
        for objective in level
        if objective.at_most and objective.weight > 0.0
    ]
    attempts = _Attempts(problem, one_sided, A, b, warm.memory if warm is not None else None)
    held: Held = {}
    if one_sided and warm is not None and len(warm.acceleration) == len(problem.torque_high):
        held = _corrected(one_sided, warm.acceleration, held) or held  # rows that the last tick's answer exceeds now
    attempt = attempts.solve(held)
    if one_sided:
        held, attempt = _settle(attempts, held, attempt)
    return attempts.answer(held, attempt)


def _settle(attempts: _Attempts, held: Held, attempt: Attempt) -> tuple[Held, Attempt]:
    """Finds the one-sided rows to hold. Returns them and the attempt with them.

    In the last level these rows are a penalty max(0, A a - b)^2, convex and smooth: if no row outside the set is
    exceeded and none inside is slack, the set is optimal. Higher up, a row is needed if one is exceeded without it.
    """
    one_sided, seen = attempts.one_sided, set[bytes]()
    while attempts.solves < MOST_SOLVES:
        after = _corrected(one_sided, attempt.solution.acceleration, held)
        if after is None or (key := _key(after)) in seen:
            break
        seen.add(key)
        held, attempt = after, attempts.solve(after)
    last = len(attempts.problem.levels) - 1
    if all([number == last for number, _, _ in one_sided]):
        return held, attempt
    which = [(name, int(i)) for name, rows in held.items() for i in np.flatnonzero(rows)]
    if len(which) < 2:
        return held, attempt
    for name, i in which:
        if attempts.solves >= MOST_SOLVES:
            break
        fewer = {n: rows.copy() for n, rows in held.items()}
        fewer[name][i] = False
        trial = attempts.solve(fewer)
        if _corrected(one_sided, trial.solution.acceleration, fewer) is None:
            held, attempt = fewer, trial
    if attempt is not attempts.last:  # the block must hold the rows of the attempt that is returned
        attempt = attempts.solve(held)
    return held, attempt


def _corrected(one_sided: OneSided, a: Array, held: Held) -> Held | None:
    """Returns `held` with exceeded rows added and slack ones removed; None where nothing changes."""
    after: Held | None = None
    for _, objective, rows in one_sided:
        known = held.get(objective.name, _NO_ROWS)
        if len(rows) and needs_correction(rows.A, rows.b, a, EXCESS, known):
            corrected = np.empty(len(rows), bool)
            correct_held(rows.A, rows.b, a, EXCESS, known, corrected)
            after = dict(held) if after is None else after
            after[objective.name] = corrected
    return after


def _key(held: Held) -> bytes:
    return b"".join(held[name].tobytes() for name in sorted(held))


def _write(
    problem: WholeBodyProblem, one_sided: OneSided, held: Held, A: Array, b: Array, weight: Array, pull: Array
) -> Written:
    """Writes every objective into the block, level after level; postures of the last level into weight and pull."""
    writer, last = _Writer(problem, A, b), len(problem.levels) - 1
    starts, postures = [0], []
    for number, level in enumerate(problem.levels):
        for objective in level:
            if objective.weight == 0.0 or objective.at_most:
                continue
            if number == last and objective.posture:
                assert isinstance(objective, TrackPose)
                postures.append((objective.name, objective.add(problem.snapshot, weight, pull, objective.weight)))
                continue
            writer.add(objective, 1.0 if objective.weight == 1.0 else math.sqrt(objective.weight))
        for where, objective, rows in one_sided:
            if where == number and objective.name in held:
                over = held[objective.name]
                writer.add_rows(objective.name, math.sqrt(objective.weight), rows.A[over], rows.b[over])
        if number < last:
            starts.append(len(writer.names))
    end = writer.finish()
    spans = writer.spans[: len(writer.names) + 1]
    return Written(
        writer.names, writer.betas[: len(writer.names)], spans, [int(spans[i]) for i in starts], postures, end
    )


class _Writer:
    """Writes objectives one after the other into a block of rows: all records that follow each other in one call."""

    __slots__ = ("A", "_at", "_count", "_numbers", "_rows", "b", "betas", "names", "snapshot", "spans", "stance")

    def __init__(self, problem: WholeBodyProblem, A: Array, b: Array) -> None:
        self.snapshot, self.stance, self.A, self.b = problem.snapshot, problem.stance, A, b
        most = sum(map(len, problem.levels))
        self.names: list[str] = []
        self.betas = np.empty(most)  # roots of their weights
        self.spans = np.zeros(most + 1, np.int64)  # first row of each, and the end
        self._numbers: list[float] = []  # of the records that are not written yet
        self._count = self._rows = 0  # how many they are, and the most rows that they can have
        self._at = 0  # the next row

    def add(self, objective: Objective, beta: float) -> None:
        record = objective.record(self.snapshot, self.stance, beta)
        if record is not None:
            self._numbers += record
            self._count += 1
            self._rows += most_rows(record, self.snapshot)
            self.names.append(objective.name)
            return
        at = self.finish()
        self._wrote(objective.name, beta, objective.write(self.snapshot, self.stance, self.A, self.b, at, beta))

    def add_rows(self, name: str, beta: float, rows: Array, targets: Array) -> None:
        at = self.finish()
        if at + len(targets) > len(self.b):
            raise BlockFull
        self._wrote(name, beta, write_rows(self.A, self.b, at, beta, rows, targets))

    def finish(self) -> int:
        """Writes the records that are not written yet. Returns the next row."""
        if self._count:
            if self._at + self._rows > len(self.b):
                raise BlockFull
            first = len(self.names) - self._count
            self._at = write_all(
                np.array(self._numbers), self._count, self.snapshot, self.stance, self.A, self.b, self._at,
                self.spans[first + 1 :], self.betas[first:],
            )  # fmt: skip
            self._numbers, self._count, self._rows = [], 0, 0
        return self._at

    def _wrote(self, name: str, beta: float, count: int) -> None:
        self._at += count
        self.betas[len(self.names)] = beta
        self.names.append(name)
        self.spans[len(self.names)] = self._at


_NO_ROWS = np.zeros(0, bool)
_local = threading.local()


def _block(nv: int, rows: int = 0) -> tuple[Array, Array]:
    """Returns this thread's block of rows for bodies of this size; it is kept between ticks and grows when asked."""
    kept: dict[int, tuple[Array, Array]] | None = getattr(_local, "kept", None)
    if kept is None:
        kept = _local.kept = {}
    found = kept.get(nv)
    if found is None or len(found[1]) < rows:
        size = max(rows, FIRST_ROWS)
        found = kept[nv] = (np.zeros((size, nv)), np.zeros(size))
    return found
