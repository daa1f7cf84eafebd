"""The whole-body problem of one tick: objectives in strict levels over the equations of motion (de Lasa 2011).

    unknowns       a (nv), lambda (k);  torques tau = M a + h - G lambda
    always         tau = 0 on the root's rows, |tau| <= limit, 0 <= lambda <= bound       (a = -M^-1 h, lambda = 0 does)
    then           level by level  min sum_j alpha_j |A_j y - b_j|^2,  y = a, tau or lambda,  none disturbs those above
    at the end     + force_weight |lambda / m g|^2, which settles what the objectives leave open

Every later controller calls `solve_whole_body` each tick; `build_whole_body` returns the problem itself, to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.objectives import (
    DiagonalRows,
    Footing,
    FootingMemory,
    Objective,
    Rows,
    Stance,
    take_stance,
)
from counterpoise.objectives.footing import force_unit

Levels = Sequence[Objective | Sequence[Objective]]
Path = Literal["auto", "fast", "general"]
SMALLEST = 1e-8  # no row of a posture weighs less: the last level settles every acceleration
PASSES = 6  # solves at most in one tick, as one-sided rows turn out to be needed


@dataclass(frozen=True)
class WholeBodyTuning:
    """How a whole-body problem is put and solved."""

    torque_share: float = 1.0  # of the torque limits that may be used
    torque_limits: bool = True  # False: joints of any strength, as in the thesis's planar examples
    force_weight: float = 1e-2  # of |lambda / m g|^2 in the last level
    fade: float = 0.0  # [s] over which changed levels replace the old ones; see WholeBody
    path: Path = "auto"  # "general" is the judge; "fast" refuses what its structure does not hold
    method: Literal["strict", "weighted", "cascade"] = "strict"  # of the general path
    rank: float = 1e-13  # fast path: rows of a level nearer than this to dependence on its others are let go

    def __post_init__(self) -> None:
        if not 0.0 <= self.rank < 1.0:
            raise BadValue(f"rank is a small number from 0 to 1; got {self.rank!r}")
        if not 0.0 < self.torque_share <= 1.0 or not self.force_weight > 0.0 or not self.fade >= 0.0:
            raise BadValue(
                f"tuning needs 0 < torque_share <= 1, force_weight > 0, fade >= 0; got {self.torque_share!r}, "
                f"{self.force_weight!r}, {self.fade!r}"
            )
        if self.path not in ("auto", "fast", "general") or self.method not in ("strict", "weighted", "cascade"):
            raise BadValue(
                f"path is 'auto', 'fast' or 'general' and method 'strict', 'weighted' or 'cascade'; got "
                f"{self.path!r}, {self.method!r}"
            )


@dataclass(frozen=True, eq=False)
class Outgoing:
    """Levels on their way out, with the warm start of their own problem."""

    levels: tuple[tuple[Objective, ...], ...]
    since: float  # [s]
    warm: Any


@dataclass(frozen=True, eq=False)
class WholeBodyMemory:
    """What one tick leaves for the next."""

    footing: FootingMemory | None = None
    warm: Any = None
    levels: tuple[tuple[Objective, ...], ...] = ()
    outgoing: tuple[Outgoing, ...] = ()
    given: Any = None  # the levels as they were given: the same again need no new look


@dataclass(frozen=True, eq=False)
class WholeBodyProblem:
    """One tick's problem: dynamics, boxes, and every objective's rows."""

    snapshot: Snapshot
    stance: Stance | None
    levels: tuple[tuple[Objective, ...], ...]
    G: Array  # (nv, k)
    force_low: Array  # (k,)
    force_high: Array  # (k,)
    torque_low: Array  # (nv,), zero on the root's rows
    torque_high: Array  # (nv,)
    tuning: WholeBodyTuning

    @property
    def character(self) -> Character:
        return self.snapshot.character

    @property
    def root(self) -> int:
        return int(self.snapshot.character.root_dofs.stop)

    @property
    def weight(self) -> float:
        """The body's weight [N]: the scale of the multipliers (its mass where there is no gravity)."""
        return force_unit(self.snapshot.character)

    @cached_property
    def rows(self) -> tuple[tuple[Rows | DiagonalRows, ...], ...]:
        """Of each objective, unweighted."""
        return tuple(tuple(o.rows(self.snapshot, self.stance) for o in level) for level in self.levels)

    @property
    def fast(self) -> str:
        """Why the compiled solver cannot take this problem; empty when it can."""
        if not any([o.posture and o.weight > 0.0 for o in self.levels[-1]]):
            return "the last level has no posture"
        if any([o.on != "acceleration" for level in self.levels for o in level]):
            return "an objective is not on accelerations"
        if self.tuning.method != "strict":
            return f"the method is {self.tuning.method}"
        return "" if self.stance is None or not self.stance.footing.bilateral else "contact is bilateral"

    def torque(self, a: Array, multipliers: Array) -> Array:
        """tau = M a + h - G lambda."""
        return self.snapshot.M @ a + self.snapshot.h - self.G @ multipliers

    def residuals(self, a: Array, multipliers: Array, torque: Array) -> dict[str, float]:
        """|A y - b| of every objective by name, in its own units, unweighted."""
        out: dict[str, float] = {}
        for objectives, rows in zip(self.levels, self.rows, strict=True):
            for objective, row in zip(objectives, rows, strict=True):
                y = a if row.on == "acceleration" else torque if row.on == "torque" else multipliers
                out[objective.name] = row.size(y) if len(row) else 0.0
        return out


def build_whole_body(
    snapshot: Snapshot,
    levels: Levels,
    footing: Footing | None = None,
    tuning: WholeBodyTuning | None = None,
    memory: WholeBodyMemory | None = None,
) -> WholeBodyProblem:
    """The problem of one tick. Without a footing there are no contacts; `memory` carries the ramps of the contacts."""
    return _build(snapshot, checked_levels(levels), _stance(snapshot, footing, memory), tuning or WholeBodyTuning())


def checked_levels(levels: Levels) -> tuple[tuple[Objective, ...], ...]:
    """Levels as tuples of objectives; each name once."""
    out = []
    seen: set[str] = set()
    for number, level in enumerate(levels, start=1):
        objectives = (level,) if isinstance(level, Objective) else tuple(level)
        for one in objectives:
            if not isinstance(one, Objective):
                raise BadValue(f"level {number} holds {type(one).__name__}; levels are lists of objectives")
            if one.name in seen:
                raise BadValue(f"two objectives are called {one.name!r}: give one of them another name=")
            seen.add(one.name)
        if objectives:
            out.append(objectives)
    if not out:
        raise BadValue("there is no objective: a whole-body problem needs at least one level")
    return tuple(out)


def _stance(snapshot: Snapshot, footing: Footing | None, memory: WholeBodyMemory | None) -> Stance | None:
    if footing is None or not snapshot.character.feet:
        return None
    return take_stance(snapshot, footing, memory.footing if memory is not None else None)


def _build(
    snapshot: Snapshot,
    levels: tuple[tuple[Objective, ...], ...],
    stance: Stance | None,
    tuning: WholeBodyTuning,
) -> WholeBodyProblem:
    who = snapshot.character
    if stance is None:
        G, high, low = np.zeros((who.nv, 0)), np.zeros(0), np.zeros(0)
    else:
        G, high = stance.G, stance.force_limit
        low = -high if stance.footing.bilateral else np.zeros(len(high))
    limit = torque_bounds(who, tuning)
    return WholeBodyProblem(snapshot, stance, levels, G, low, high, limit[0], limit[1], tuning)


def torque_bounds(who: Character, tuning: WholeBodyTuning) -> tuple[Array, Array]:
    """(low, high) of every row, kept with the body; the root's rows are zero."""
    known = who.__dict__.get("_torque_bounds")
    if known is None or known[0] is not tuning:
        high = who.torque_limit * tuning.torque_share if tuning.torque_limits else np.full(who.nv, np.inf)
        high = high.copy()
        high[who.root_dofs] = 0.0
        known = who.__dict__["_torque_bounds"] = (tuning, np.where(high > 0.0, -high, 0.0), high)
    return known[1], known[2]


@dataclass(frozen=True, eq=False)
class WholeBodySolution:
    """Torques, and all that was predicted with them."""

    problem: WholeBodyProblem
    torque: Array  # (nv,) [N m], zero on the root's rows
    acceleration: Array  # (nv,)
    multipliers: Array  # (k,) [N]
    status: str  # "solved"; anything else says what happened
    memory: WholeBodyMemory
    stops: tuple[str, ...] = ()  # one-sided objectives that had to be held
    work: dict[str, int] = field(default_factory=dict)
    known: dict[str, float] | None = None  # residuals, where the solver has them already

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    @cached_property
    def force(self) -> Array:
        """(p, 3) [N], world frame: of the ground on each contact point."""
        stance = self.problem.stance
        return np.zeros((0, 3)) if stance is None else stance.force(self.multipliers)

    @cached_property
    def residuals(self) -> dict[str, float]:
        """|A y - b| of every objective by name, in its own units, unweighted."""
        if self.known is not None:
            return self.known
        return self.problem.residuals(self.acceleration, self.multipliers, self.torque)

    @property
    def limits(self) -> tuple[str, ...]:
        """What is at its limit: joints at their torque, contact points at their force bound, objectives that brake."""
        p, who = self.problem, self.problem.character
        if not _any_full(self.torque, p.torque_high, p.root, self.multipliers, p.force_high):
            return self.stops
        names: list[str] = []
        full = np.abs(self.torque) >= p.torque_high * (1.0 - 1e-6)
        full[: p.root] = False
        if full.any():
            known = _joint_names(who)
            names += dict.fromkeys(known[i] for i in np.flatnonzero(full))
        pressed = self.multipliers > p.force_high * (1.0 - 1e-6)
        if pressed.any():
            points = np.any((pressed & (p.force_high > 0.0)).reshape(len(who.contact_points), -1), axis=1).tolist()
            names += [point.name for point, at in zip(who.contact_points, points, strict=True) if at]
        return (*names, *self.stops)

    def notes(self) -> dict[str, float | str]:
        """For the recording: residual of each objective, status, what is at its limit."""
        known = self.residuals if self.known is None else self.known
        out: dict[str, float | str] = {_residual_of(name): value for name, value in known.items()}
        out["status"] = self.status
        out["limits"] = ", ".join(self.limits)
        return out


@lru_cache(maxsize=1024)
def _residual_of(name: str) -> str:
    return f"residual {name}"


@kernel
def _any_full(torque: Array, high: Array, root: int, force: Array, force_high: Array) -> bool:
    """Whether any torque or force is at its limit."""
    full = False
    for j in range(root, len(torque)):
        full |= abs(torque[j]) >= high[j] * (1.0 - 1e-6)
    for i in range(len(force)):
        full |= force_high[i] > 0.0 and force[i] > force_high[i] * (1.0 - 1e-6)
    return full


def _joint_names(who: Character) -> tuple[str, ...]:
    """The joint of every dof, by name; kept with the body."""
    found: tuple[str, ...] | None = who.__dict__.get("_joint_name_of_dof")
    if found is None:
        found = tuple(j.name for j in who.joints for _ in range(j.dofs.start, j.dofs.stop))
        who.__dict__["_joint_name_of_dof"] = found
    return found


def solve_whole_body(
    snapshot: Snapshot,
    levels: Levels,
    footing: Footing | None = None,
    tuning: WholeBodyTuning | None = None,
    memory: WholeBodyMemory | None = None,
) -> WholeBodySolution:
    """Joint torques, accelerations and contact forces that serve the levels in strict order, now.

    `memory` is what the last tick's solution left. With `tuning.fade`, levels that differ from the last tick's replace
    them gradually: both problems are solved and blended, x = (1 - s) x_old + s x_new. What must always hold is convex,
    so the blend obeys it, and torques move by no more than the change asks for, spread over the fade.
    """
    tuning = tuning or _USUAL
    before = memory or _NOTHING
    now = before.levels if levels is before.given and before.levels else checked_levels(levels)
    stance = _stance(snapshot, footing, memory)
    outgoing = _fading(before, now, snapshot.time, tuning.fade)
    problem = _build(snapshot, now, stance, tuning)
    found = _solve(problem, before.warm)
    kept: tuple[Outgoing, ...] = ()
    nv = len(problem.torque_high)
    if outgoing:
        x, kept = _blend(snapshot, stance, tuning, outgoing, found)
        found = Found(x, found.status, found.warm, found.stops, found.work)
    a, multipliers = found.x[:nv], found.x[nv:]
    torque = found.torque
    if torque is None:
        torque = problem.torque(a, multipliers)
        np.clip(torque, problem.torque_low, problem.torque_high, out=torque)
    after = WholeBodyMemory(None if stance is None else stance.memory, found.warm, now, kept, levels)
    return WholeBodySolution(
        problem, torque, a, multipliers, found.status, after, found.stops, found.work, found.residuals
    )


def _fading(
    memory: WholeBodyMemory, now: tuple[tuple[Objective, ...], ...], time: float, fade: float
) -> tuple[Outgoing, ...]:
    """Levels still on their way out; the last tick's join them when names, order or weights have changed."""
    if fade <= 0.0 or not memory.levels:
        return ()
    kept = memory.outgoing
    if kept and time - kept[0].since >= fade:
        kept = tuple(one for one in kept if time - one.since < fade)
    if _signature(memory.levels) != _signature(now):
        kept = (*kept[-2:], Outgoing(memory.levels, time, memory.warm))
    return kept


def _signature(levels: tuple[tuple[Objective, ...], ...]) -> tuple[Any, ...]:
    return tuple(tuple((o.name, o.weight) for o in level) for level in levels)


def _blend(
    snapshot: Snapshot, stance: Stance | None, tuning: WholeBodyTuning, outgoing: tuple[Outgoing, ...], new: Found
) -> tuple[Array, tuple[Outgoing, ...]]:
    """From the oldest levels to the newest, each giving way to the next by its own share."""
    answers, shares, kept = [], [], []
    for one in outgoing:
        old = _solve(_build(snapshot, one.levels, stance, tuning), one.warm)
        s = min((snapshot.time - one.since) / tuning.fade, 1.0)
        answers.append(old.x)
        shares.append(s * s * (3.0 - 2.0 * s))  # of what follows it
        kept.append(Outgoing(one.levels, one.since, old.warm))
    x = answers[0]
    for follower, share in zip([*answers[1:], new.x], shares, strict=True):
        x = x + share * (follower - x)
    return x, tuple(kept)


@dataclass(eq=False, slots=True)
class Found:
    """A solver's answer: x = (a, lambda)."""

    x: Array
    status: str
    warm: Any
    stops: tuple[str, ...] = ()
    work: dict[str, int] = field(default_factory=dict)
    torque: Array | None = None  # where the solver has them already
    residuals: dict[str, float] | None = None


_USUAL, _NOTHING = WholeBodyTuning(), WholeBodyMemory()


def _solve(problem: WholeBodyProblem, warm: Any) -> Found:
    """By the compiled solver where the problem fits it; by the general one otherwise, or when the first gives up."""
    from counterpoise.control.solving import solve_fast, solve_general

    path, why = problem.tuning.path, problem.fast
    if path == "fast" and why:
        raise BadValue(f"the fast path cannot take this problem: {why}")
    if path == "general" or why:
        return solve_general(problem, warm)
    found = solve_fast(problem, warm)
    if found.status == "solved" or path == "fast":
        return found
    slow = solve_general(problem, None)
    if slow.status != "solved":
        return found if np.isfinite(found.x).all() else slow
    return Found(slow.x, "solved", found.warm, slow.stops, {**slow.work, "again": 1})
