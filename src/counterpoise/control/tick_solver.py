"""Two compiled calls from the objectives of a tick to its torques: for levels as most controllers have them every tick.

The first writes the rows (`tick_rows`). The second solves the problem (`solve.body`) and looks at the solution:
residuals, what is at its limit, and whether the right one-sided rows were held. One-sided rows A a <= b, of joint stops
and clearance, are a penalty max(0, A a - b)^2 in the last level, convex and smooth. Rows that the last tick's
accelerations exceed are held as equalities at once. If no row outside the held set is exceeded and none inside is
slack, the set is optimal; otherwise it is corrected and the problem is solved again.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.control.whole_body_problem import LEAST_POSTURE_WEIGHT, WholeBodyAnswer, WholeBodyProblem
from counterpoise.errors import BadValue
from counterpoise.kernels import compile_notice, inner_kernel, lean_kernel
from counterpoise.objectives import Objective, Stance
from counterpoise.objectives.base import diagonal_size, size_of_rows
from counterpoise.objectives.clearance import LEVEL_GROUND, Clearance
from counterpoise.objectives.footing import surface_rows
from counterpoise.objectives.tick_rows import (
    CLEARED,
    END,
    STOPS,
    SortedTick,
    clear_numbers,
    sort_tick,
    stop_numbers,
    tick_tables,
    write_tick_rows,
)
from counterpoise.objectives.writing import BlockFull, correct_held, needs_correction, sizes_of_rows, write_rows
from counterpoise.solve.body.kernels import solve_tick as solve_program
from counterpoise.solve.body.program import (
    MAX_STEPS,
    BodyMemory,
    BodyProblem,
    BodySolution,
    cold_memory_of,
    not_finite_part,
    scratch_for,
)
from counterpoise.solve.body.workspace import (
    NOT_FINITE,
    SOLVED,
    STAT_SIZE,
    STATUS,
    STEPS,
    BodyDynamics,
    BodyLimits,
    LastLevel,
    StrictLevels,
    TickMemory,
    TickResult,
    TickScratch,
    TickSettings,
)

EXCESS = 1e-9  # of 1 + |b|: a one-sided row beyond this is exceeded
MOST_SOLVES = 6  # in one tick
AT_LIMIT = 1.0 - 1e-6  # of its limit: a torque or force above this is at it
FIRST_ROWS = 128  # of a block when it is first made
MOST_OBJECTIVES = 64  # in the block when it is first made
HELD_STOPS, HELD_CLEARED, ALL_STEPS, SOLVES, FULL, MARKS = 3, 4, 5, 6, 7, 8  # places in `marks`, after END ... CLEARED


class FastWarm(NamedTuple):
    """What the compiled solver leaves for the next tick: its memory and the accelerations it found."""

    memory: BodyMemory
    acceleration: Array


class TickBlock(NamedTuple):
    """Arrays that one tick after the other writes into."""

    A: Array  # (rows, nv) rows of all levels, then the held one-sided rows
    b: Array  # (rows,)
    C: Array  # (rows, nv) one-sided rows: joint stops, then clearance
    d: Array  # (rows,)
    held: Flags  # (2 + MOST_SOLVES, rows + 2) of the one-sided rows; see `_settle`
    posture: Array  # (3, nv) see `write_tick_rows`
    rates: Array  # (2, nv) velocity and acceleration of the reference
    betas: Array  # (objectives,) roots of the weights
    spans: Ints  # (objectives + 1,) first row of each objective, and the end
    marks: Ints  # (MARKS,) END, STOPS, ...: what the call found
    sizes: Array  # (objectives + 3,) residuals


def solve_tick(problem: WholeBodyProblem, warm: Any) -> WholeBodyAnswer | None:
    """Solves a problem in one compiled call; None where its levels, contacts or tuning are of another kind."""
    stance = problem.stance
    if problem.tuning.method != "strict" or (stance is not None and stance.footing.bilateral):
        return None
    found = sort_tick(problem.levels, problem.snapshot, stance)
    if found is None:
        return None
    warm = warm if type(warm) is FastWarm else None
    nv, needed = len(problem.torque_high), found.most
    while True:
        try:
            return _solve_in(problem, found, warm, _block(nv, needed, found.count + len(found.others)))
        except BlockFull:
            needed = 2 * len(_block(nv, 0, 0).b)


def _solve_in(problem: WholeBodyProblem, found: SortedTick, warm: FastWarm | None, block: TickBlock) -> WholeBodyAnswer:
    """Solves with the rows written into a block; raises BlockFull where it is too small."""
    s, stance, tuning, unit = problem.snapshot, problem.stance, problem.tuning, problem.weight
    character, state, stops, clear, others = s.character, s.state, found.stops, found.clear, found.others
    n, k, p, root = len(problem.torque_high), len(problem.force_high), len(found.starts) - 1, problem.root
    held, goal, goal_v, goal_a, ground = _contacts(problem, stance)
    q, block.rates[0], block.rates[1], k_p, k_v, own = found.followed
    above = clear is not None and clear.obstacles is not None  # the parts keep off obstacles: written by Python
    memory = cold_memory_of(n, k, p) if warm is None or len(warm.memory.held) != k + n + 1 else warm.memory
    before = _NO_NUMBERS if warm is None or len(warm.acceleration) != n else warm.acceleration
    bounds, point, starts = memory.held.copy(), memory.point.copy(), found.starts.copy()
    values, stat = np.empty(2 * n + k + p + 1), np.empty(STAT_SIZE, np.int64)
    full = np.empty(n + len(character.contact_points), np.bool_)
    total = found.count + len(others)
    write_tick_rows(
        found.numbers, found.count, block.A, block.b, block.C, block.d, block.spans, block.betas, starts,
        block.marks, s.flat, held, goal, goal_v, goal_a, state.q, state.v, np.array(q), block.rates[0],
        block.rates[1], k_p, k_v, own, found.posture_weight, LEAST_POSTURE_WEIGHT, block.posture, stops is not None,
        stop_numbers(stops), clear is not None and not above, clear_numbers(clear),
        s.flat if clear is None or clear.reference is None else clear.reference.flat, ground, *tick_tables(character),
    )  # fmt: skip
    if others or above:
        _write_others(problem, others, clear if above else None, found.count, block)
    call = _settle if _settle in _called else _first_call
    call(
        *block, total, stops is not None, clear is not None, own, starts, s.flat, len(s.body_position), root,
        problem.G, problem.force_high, problem.torque_low, problem.torque_high,
        tuning.force_weight / (unit * unit), unit / max(k, 1), tuning.rank, _root(stops), _root(clear), before, bounds,
        point, *scratch_for(n, k, found.most, len(block.b), p), values, stat, full,
    )  # fmt: skip
    marks = block.marks.tolist()
    if marks[END] < 0:
        raise BlockFull
    after, status = BodyMemory(bounds, point), stat.item(STATUS)
    if status == NOT_FINITE:
        _raise_not_finite(problem, block, starts)
    words = "solved" if status == SOLVED else BodySolution((n, k, p), values, stat, after).words
    at_bounds: tuple[str, ...] = ()
    if marks[HELD_STOPS] or marks[HELD_CLEARED]:
        held_ones = ((stops, HELD_STOPS), (clear, HELD_CLEARED))
        at_bounds = tuple([one.name for one, at in held_ones if one is not None and marks[at]])
    return WholeBodyAnswer(
        values[: n + k], words, FastWarm(after, values[:n]), at_bounds,
        {"steps": marks[ALL_STEPS], "solves": marks[SOLVES]}, values[n + k : n + k + n], found.names,
        block.sizes[: len(found.names)].tolist(), full.tobytes() if marks[FULL] else b"",
    )  # fmt: skip


def _contacts(problem: WholeBodyProblem, stance: Stance | None) -> tuple[Flags, Array, Array, Array, Array]:
    """Returns which contact points are held, their goals with rates, (p, 3) each, and the ground's rows."""
    if stance is None:
        points = len(problem.character.contact_points)
        none = np.zeros((points, 3))
        return np.zeros(points, np.bool_), none, none, none, LEVEL_GROUND
    ground = surface_rows(stance.footing, problem.character, problem.snapshot.time)
    return stance.memory.held, stance.goal, stance.goal_velocity, stance.goal_acceleration, ground


def _write_others(
    problem: WholeBodyProblem, others: Sequence[Objective], clear: Clearance | None, count: int, block: TickBlock
) -> None:
    """Writes what has no record: objectives after all records, and the clearance of obstacles after the stops."""
    marks, s, stance = block.marks, problem.snapshot, problem.stance
    if marks[END] < 0:
        raise BlockFull
    for number, objective in enumerate(others, start=count):
        block.betas[number] = beta = math.sqrt(objective.weight)
        marks[END] += objective.write(s, stance, block.A, block.b, int(marks[END]), beta)
        block.spans[number + 1] = marks[END]
    if clear is not None:
        rows, first = clear.rows(s, stance), int(marks[STOPS])
        if first + len(rows) > len(block.d):
            raise BlockFull
        marks[CLEARED] = write_rows(block.C, block.d, first, 1.0, rows.A, rows.b)


def _root(objective: Objective | None) -> float:
    """Returns the root of an objective's weight."""
    return 0.0 if objective is None else math.sqrt(objective.weight)


def _raise_not_finite(problem: WholeBodyProblem, block: TickBlock, starts: Ints) -> None:
    s, root, first, end = problem.snapshot, problem.root, starts[-1], block.marks[END]
    whole = BodyProblem(
        s.M, s.h, root, problem.G, problem.force_high, problem.torque_low[root:], problem.torque_high[root:],
        block.A[:first], block.b[:first], starts, block.posture[0], block.posture[1], block.A[first:end],
        block.b[first:end],
    )  # fmt: skip
    raise BadValue(f"{not_finite_part(whole)} of the whole-body problem holds NaN or infinity")


# -- the second call ---------------------------------------------------------------------------------------------------


@lean_kernel
def _settle(
    A: Array, b: Array, C: Array, d: Array, held_rows: Flags, posture: Array, rates: Array, betas: Array, spans: Ints,
    marks: Ints, sizes: Array, total: int, with_stops: bool, with_clear: bool, own: Array, starts: Ints, flat: Array,
    nbody: int, root: int, G: Array, force_high: Array, torque_low: Array, torque_high: Array, force_weight: float,
    share: float, rank: float, stop_root: float, clear_root: float, before: Array, bounds: Ints, point: Array,
    numbers: Array, integers: Ints, values: Array, stat: Ints, full: Flags,
) -> None:  # fmt: skip
    """Solves with one set of held rows after another, each from the last one's working set, until the set is right.

    `held_rows[0]` are the rows that are held, `held_rows[1]` those to hold next, the others those that were tried. The
    last two flags of each say whether stops and clearance were ever corrected.
    """
    nv, stops, count, first = len(torque_high), marks[STOPS], marks[STOPS] + marks[CLEARED], starts[-1]
    held, after = held_rows[0], held_rows[1]
    for i in range(len(held)):
        held[i] = False
    if marks[END] < 0:
        return
    if len(before):
        _correct(C, d, stops, count, before, held, after)
        _copy(after, held)
    s = snapshot_parts(flat, nv, nbody, (len(full) - nv))
    steps = solves = 0
    while True:
        end = _write_held(A, b, marks[END], C, d, stops, count, held, stop_root, clear_root)
        if end < 0:
            marks[END] = -1
            return
        solve_program(
            BodyDynamics(s.M, s.h, G, root), BodyLimits(force_high, torque_low[root:], torque_high[root:]),
            StrictLevels(A[:first], b[:first], starts),
            LastLevel(posture[0], posture[1], A[first:end], b[first:end], force_weight),
            TickSettings(share, rank, MAX_STEPS), TickMemory(bounds, point), TickScratch(numbers, integers),
            TickResult(values, stat),
        )  # fmt: skip
        steps, solves = steps + stat[STEPS], solves + 1
        if stat[STATUS] == NOT_FINITE or solves == MOST_SOLVES:
            break
        settled = _correct(C, d, stops, count, values[:nv], held, after)
        if settled or _was_tried(held_rows, solves - 1):
            break
        _copy(after, held_rows[1 + solves])
        _copy(after, held)
    marks[ALL_STEPS], marks[SOLVES] = steps, solves
    _review(
        A, b, C, d, held, posture[2], betas[:total], spans, marks, sizes, with_stops, with_clear, own, root,
        torque_high, force_high, values, full,
    )  # fmt: skip


@inner_kernel
def _review(
    A: Array, b: Array, C: Array, d: Array, held: Flags, target: Array, betas: Array, spans: Ints, marks: Ints,
    sizes: Array, with_stops: bool, with_clear: bool, own: Array, root: int, torque_high: Array, force_high: Array,
    values: Array, full: Flags,
) -> None:  # fmt: skip
    """Fills the residuals, which one-sided objectives are at their bounds, and what is at its limit."""
    nv, k, at = len(torque_high), len(force_high), len(betas)
    a, stops, count = values[:nv], marks[STOPS], marks[STOPS] + marks[CLEARED]
    sizes_of_rows(A, b, spans, betas, a, sizes)
    sizes[at] = diagonal_size(own, target, a)
    if with_stops:
        at += 1
        sizes[at] = size_of_rows(C[:stops], d[:stops], a, True)
    if with_clear:
        at += 1
        sizes[at] = size_of_rows(C[stops:count], d[stops:count], a, True)
    marks[HELD_STOPS] = marks[HELD_CLEARED] = 0
    for i in range(count):
        marks[HELD_STOPS if i < stops else HELD_CLEARED] += held[i]
    marks[FULL] = find_at_limit(values[nv + k : nv + k + nv], torque_high, root, values[nv : nv + k], force_high, full)


@inner_kernel
def _correct(C: Array, d: Array, stops: int, count: int, a: Array, held: Flags, after: Flags) -> bool:
    """Fills the rows to hold for accelerations a, after those in `held`. Returns whether they are the same."""
    _copy(held, after)
    settled = True
    for kind in range(2):
        i, j = (0, stops) if kind == 0 else (stops, count)
        if needs_correction(C[i:j], d[i:j], a, EXCESS, held[i:j]):
            correct_held(C[i:j], d[i:j], a, EXCESS, held[i:j], after[i:j])
            after[len(after) - 2 + kind], settled = True, False
    return settled


@inner_kernel
def _copy(given: Flags, out: Flags) -> None:
    for i in range(len(given)):
        out[i] = given[i]


@inner_kernel
def _was_tried(held_rows: Flags, tries: int) -> bool:
    """Returns whether the rows to hold next were tried before."""
    found = False
    for i in range(2, 2 + tries):
        same = True
        for j in range(held_rows.shape[1]):
            same &= held_rows[i, j] == held_rows[1, j]
        found |= same
    return found


@inner_kernel
def _write_held(
    A: Array, b: Array, end: int, C: Array, d: Array, stops: int, count: int, held: Flags, stop_root: float,
    clear_root: float,
) -> int:  # fmt: skip
    """Writes the held rows, times the roots of their weights, after row `end`. Returns the new end; -1: no room."""
    for i in range(count):
        if held[i]:
            if end == len(b):
                return -1
            beta = stop_root if i < stops else clear_root
            for j in range(A.shape[1]):
                A[end, j] = beta * C[i, j]
            b[end] = beta * d[i]
            end += 1
    return end


@lean_kernel
def find_at_limit(torque: Array, high: Array, root: int, force: Array, force_high: Array, full: Flags) -> bool:
    """Fills which torques and contact points are at their limits, (nv + p,). Returns whether any is."""
    nv, found = len(torque), False
    full[:] = False
    for j in range(root, nv):
        full[j] = abs(torque[j]) >= high[j] * AT_LIMIT
        found |= full[j]
    points = len(full) - nv
    for i in range(len(force)):
        if force_high[i] > 0.0 and force[i] > force_high[i] * AT_LIMIT:
            full[nv + i * points // len(force)] = found = True
    return found


_called: set[Any] = set()
_local = threading.local()
_NO_NUMBERS = np.zeros(0)


def _first_call(*arguments: Any) -> None:
    with compile_notice("the whole-body solver"):
        _settle(*arguments)
    _called.add(_settle)


def _block(nv: int, rows: int, objectives: int) -> TickBlock:
    """Returns this thread's block for bodies of this size; it is kept between ticks and grows when asked."""
    kept: dict[int, TickBlock] | None = getattr(_local, "kept", None)
    if kept is None:
        kept = _local.kept = {}
    found = kept.get(nv)
    if found is None or len(found.b) < rows or len(found.betas) < objectives:
        m, o = max(rows, FIRST_ROWS), max(objectives, MOST_OBJECTIVES)
        found = kept[nv] = TickBlock(
            np.zeros((m, nv)), np.zeros(m), np.zeros((m, nv)), np.zeros(m), np.zeros((2 + MOST_SOLVES, m + 2), bool),
            np.zeros((3, nv)), np.zeros((2, nv)), np.zeros(o), np.zeros(o + 1, np.int64), np.zeros(MARKS, np.int64),
            np.zeros(o + 3),
        )  # fmt: skip
    return found
