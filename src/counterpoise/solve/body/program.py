"""The whole-body problem: accelerations, contact multipliers and torques in strict levels, every control tick.

    M a + h = tau + G lambda,   0 <= lambda <= force_limit,   torque_low <= tau <= torque_high,   tau = 0 at the root

These can always be met. Below them come strict levels |A_l a - b_l|^2 in order, and last the posture
|sqrt(w)(a - a_ref)|^2 + |A_e a - b_e|^2 + eps |lambda / unit|^2. The answer is the exact lexicographic optimum
(de Lasa 2011, section 6.3), found in one compiled call that uses the structure of the problem (`kernels`). In the
tests the general `solve_hierarchy` judges it. The first call in a fresh installation compiles for half a minute; the
result is cached on disk.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.kernels import compile_notice
from counterpoise.solve.body import kernels as core
from counterpoise.solve.body import workspace as names
from counterpoise.solve.body.layout import scratch_size

STATUS_WORDS = {
    names.SOLVED: "solved",
    names.OUT_OF_STEPS: "out of steps",
    names.DEPENDENT: "mass matrix numerically singular",
    names.NOT_FINITE: "not finite",
}
MAX_STEPS = 500  # changes of the working set in one tick


@dataclass(frozen=True, eq=False)
class BodyProblem:
    """One tick's problem: C-contiguous arrays. Only `build_body_problem` checks them."""

    M: Array  # (n, n) mass matrix
    h: Array  # (n,) bias: M a + h = tau + G lambda
    root: int  # leading dofs without a motor: 6, planar 3, fixed 0
    G: Array  # (n, k) generalised force of each multiplier: J_c' times an edge of the friction cone
    force_limit: Array  # (k,) [N], 0: no contact, inf: no limit
    torque_low: Array  # (n - root,) [N m]
    torque_high: Array  # (n - root,) [N m]
    level_rows: Array  # (m, n) strict levels, one below the other
    level_targets: Array  # (m,)
    level_starts: Ints  # (p + 1,) first row of each level, and m
    weight: Array  # (n,) > 0, posture; small on the root
    posture: Array  # (n,) reference accelerations a_ref
    extra_rows: Array  # (e, n) more rows of the last level, multiplied by the square roots of their weights
    extra_targets: Array  # (e,)
    force_weight: float = 1e-2  # eps
    force_unit: float = 700.0  # [N], about m g

    @property
    def levels(self) -> list[tuple[Array, Array]]:
        """(A, b) of each strict level."""
        cut = self.level_starts
        return [(self.level_rows[i:j], self.level_targets[i:j]) for i, j in pairwise(cut)]


class BodyMemory(NamedTuple):
    """What one tick leaves for the next: the working set and a feasible point. The arrays are never changed."""

    held: Ints  # (k + n + 1,) -1 lower, 1 upper, 0 free, -2 no contact; last: depth of the chain
    point: Array  # (k + n,) multipliers and torques


class BodySolution(NamedTuple):
    """The solution, the residual of each level, and how it was found."""

    sizes: tuple[int, int, int]  # n, k, strict levels
    values: Array
    stat: Ints
    memory: BodyMemory  # for the next tick

    @property
    def acceleration(self) -> Array:
        """(n,)"""
        return self.values[: self.sizes[0]]

    @property
    def multipliers(self) -> Array:
        """(k,) >= 0. G times these is the generalised force of the contacts."""
        n, k, _ = self.sizes
        return self.values[n : n + k]

    @property
    def torque(self) -> Array:
        """(n,): zero at the root, within the limits."""
        n, k, _ = self.sizes
        return self.values[n + k : n + k + n]

    @property
    def residuals(self) -> Array:
        """(p + 1,): |A_l a - b_l| of each strict level, and the root of the last level's sum."""
        n, k, _ = self.sizes
        return self.values[n + k + n :]

    @property
    def status(self) -> int:
        """0 solved; otherwise a key of STATUS_WORDS."""
        return int(self.stat[names.STATUS])

    @property
    def level(self) -> int:
        """The level that was being solved at the end, from 0; the number of strict levels stands for the last level."""
        return int(self.stat[names.LEVEL])

    @property
    def iterations(self) -> int:
        return int(self.stat[names.STEPS])

    @property
    def words(self) -> str:
        """'solved', or why and in which level it stopped."""
        words = STATUS_WORDS[self.status]
        if self.status == names.SOLVED:
            return words
        name = "posture" if self.level == self.sizes[2] else f"level {self.level}"
        return f"{words} in {name} after {self.iterations} steps; the torques are within their limits"

    @property
    def active_forces(self) -> Ints:
        """(k,): -1 at zero, 1 at the limit, 0 between, -2 no contact."""
        return self.memory.held[: self.sizes[1]]

    @property
    def active_torques(self) -> Ints:
        """(n,): -1 at the lower limit, 1 at the upper, 0 between."""
        return self.memory.held[self.sizes[1] : -1]


def stack_levels(levels: Sequence[tuple[ArrayLike, ArrayLike]], n: int) -> tuple[Array, Array, Ints]:
    """Returns strict levels (A, b), first to last, as one block of rows, its targets, and each level's first row."""
    rows, targets, starts = [np.empty((0, n))], [np.empty(0)], [0]
    for i, (A, b) in enumerate(levels):
        A_, b_ = np.asarray(A, float), np.asarray(b, float)
        if A_.ndim != 2 or A_.shape[1] != n or b_.shape != (len(A_),):
            raise BadValue(f"level {i} needs rows (m, {n}) and targets (m,); got {A_.shape} and {b_.shape}", level=i)
        rows.append(A_)
        targets.append(b_)
        starts.append(starts[-1] + len(A_))
    return np.ascontiguousarray(np.concatenate(rows)), np.concatenate(targets), np.array(starts, np.int64)


def build_body_problem(
    M: ArrayLike,
    h: ArrayLike,
    *,
    root: int = 6,
    G: ArrayLike | None = None,
    force_limit: ArrayLike | None = None,
    torque_low: ArrayLike | None = None,
    torque_high: ArrayLike | None = None,
    levels: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    weight: ArrayLike | None = None,
    posture: ArrayLike | None = None,
    extra: tuple[ArrayLike, ArrayLike] | None = None,
    force_weight: float = 1e-2,
    force_unit: float = 700.0,
) -> BodyProblem:
    """The problem from array-likes, checked once. What is left out: no contacts, no limits, no levels, zero posture."""
    h_ = _array("h", h, (None,))
    n = len(h_)
    M_ = _array("M", M, (n, n))
    if not 0 <= root <= n:
        raise BadValue(f"root counts the leading dofs without a motor, 0 to {n}; got {root}")
    G_ = _array("G", np.empty((n, 0)) if G is None else G, (n, None))
    k, joints = G_.shape[1], n - root
    limit = _array("force_limit", np.full(k, np.inf) if force_limit is None else force_limit, (k,), infinite=True)
    low = _array("torque_low", np.full(joints, -np.inf) if torque_low is None else torque_low, (joints,), infinite=True)
    high = _array(
        "torque_high", np.full(joints, np.inf) if torque_high is None else torque_high, (joints,), infinite=True
    )
    if k and limit.min() < 0.0:
        raise BadValue("force_limit is 0 (no contact) or more", force_limit=limit)
    if joints and ((low > high).any() or (low == np.inf).any() or (high == -np.inf).any()):
        j = int(np.argmax((low > high) | (low == np.inf) | (high == -np.inf)))
        raise BadValue(
            f"torque limits of joint dof {j} leave no torque: low {low[j]}, high {high[j]}; need low <= high"
        )
    rows, targets, starts = stack_levels(levels, n)
    w = _array("weight", np.ones(n) if weight is None else weight, (n,))
    if w.min(initial=1.0) <= 0.0:
        raise BadValue(
            "posture weights are positive; give a dof that does not matter a small one, such as 1e-6", weight=w
        )
    A_e, b_e = (np.empty((0, n)), np.empty(0)) if extra is None else extra
    A_e = _array("extra rows", A_e, (None, n))
    if not (force_weight > 0.0 and force_unit > 0.0):
        raise BadValue(f"force_weight and force_unit are positive; got {force_weight} and {force_unit}")
    return BodyProblem(
        M_, h_, int(root), G_, limit, low, high,
        _array("level rows", rows, (None, n)), _array("level targets", targets, (len(rows),)), starts,
        w, _array("posture", np.zeros(n) if posture is None else posture, (n,)),
        A_e, _array("extra targets", b_e, (len(A_e),)), float(force_weight), float(force_unit),
    )  # fmt: skip


def cold_memory(problem: BodyProblem) -> BodyMemory:
    """Returns a memory without knowledge: every contact is new and shares the weight, no torque is at its limit."""
    return cold_memory_of(len(problem.h), len(problem.force_limit), len(problem.level_starts) - 1)


def cold_memory_of(n: int, k: int, levels: int) -> BodyMemory:
    """The same for n dofs, k multipliers and this many strict levels."""
    held = np.zeros(k + n + 1, np.int64)
    held[:k], held[-1] = -2, levels
    return BodyMemory(held, np.zeros(k + n))


def solve_body(
    problem: BodyProblem,
    memory: BodyMemory | None = None,
    *,
    max_steps: int = MAX_STEPS,
    rank: float = core.RANK_TOLERANCE,
) -> BodySolution:
    """Solves one tick's problem from the memory of the last one (None, or one of another size: from `cold_memory`).

    A row of a level counts as dependent on the others where less than `rank` times the longest row is left of it: to
    meet it exactly would cost the levels below much.

    In every case the torques and the multipliers are within their limits.
    """
    n, k, p = len(problem.h), len(problem.force_limit), len(problem.level_starts) - 1
    if memory is None or len(memory.held) != k + n + 1:
        memory = cold_memory(problem)
    held, point = memory.held.copy(), memory.point.copy()
    scratch = scratch_for(n, k, len(problem.level_targets), len(problem.extra_targets), p)
    values, stat = np.empty(2 * n + k + p + 1), np.empty(names.STAT_SIZE, np.int64)
    unit = problem.force_unit
    arguments = (
        (problem.M, problem.h, problem.G, problem.root),
        (problem.force_limit, problem.torque_low, problem.torque_high),
        (problem.level_rows, problem.level_targets, problem.level_starts),
        (
            problem.weight,
            problem.posture,
            problem.extra_rows,
            problem.extra_targets,
            problem.force_weight / (unit * unit),
        ),
        (unit / max(k, 1), rank, max_steps),
        (held, point),
        scratch,
        (values, stat),
    )
    if _ready.is_set():
        core.solve_core(*arguments)
    else:
        with compile_notice("the whole-body solver"):
            core.solve_core(*arguments)
        _ready.set()
    if stat[names.STATUS] == names.NOT_FINITE:
        raise BadValue(f"{not_finite_part(problem)} of the whole-body problem holds NaN or infinity")
    return BodySolution((n, k, p), values, stat, BodyMemory(held, point))


_local = threading.local()
_ready = threading.Event()


def scratch_for(n: int, k: int, m: int, e: int, p: int) -> tuple[Array, Ints]:
    """Returns the scratch of this thread, large enough for every problem so far. It is never cleared."""
    numbers, integers = _scratch_size(n, k, m, e, p)
    kept: tuple[Array, Ints] | None = getattr(_local, "kept", None)
    if kept is None or len(kept[0]) < numbers or len(kept[1]) < integers:
        kept = _local.kept = np.full(2 * numbers, np.nan), np.zeros(2 * integers, np.int64)
    return kept


_scratch_size = lru_cache(maxsize=256)(scratch_size)


def _array(name: str, value: ArrayLike, shape: tuple[int | None, ...], infinite: bool = False) -> Array:
    out = np.ascontiguousarray(value, dtype=np.float64)
    if out.ndim != len(shape) or any(s is not None and s != t for s, t in zip(shape, out.shape, strict=True)):
        wanted = ", ".join("any" if s is None else str(s) for s in shape)
        raise BadValue(f"{name} of the whole-body problem has shape ({wanted}); got {out.shape}", shape=out.shape)
    if np.isnan(out).any() or not (infinite or np.isfinite(out).all()):
        raise BadValue(f"{name} of the whole-body problem holds NaN or infinity")
    return out


def not_finite_part(problem: BodyProblem) -> str:
    """Returns the name of the part of the problem that holds NaN or infinity."""
    for i, (A, b) in enumerate(problem.levels):
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            return f"strict level {i}"
    for name in ("M", "h", "G", "weight", "posture", "extra_rows", "extra_targets"):
        if not np.isfinite(getattr(problem, name)).all():
            return name
    return "a result"
