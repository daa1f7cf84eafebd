"""Solving the whole-body problem every tick, with a smooth change where the levels change.

Every controller with objectives calls `solve_whole_body`; `build_whole_body` returns the problem itself. The problem is
in whole_body_problem.py, its two solvers are in fast_solver.py and general_solver.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.fast_solver import solve_fast
from counterpoise.control.general_solver import solve_general
from counterpoise.control.tick_solver import find_at_limit, solve_tick
from counterpoise.control.whole_body_problem import (
    Checked,
    Levels,
    WholeBodyAnswer,
    WholeBodyProblem,
    WholeBodyTuning,
    assemble_problem,
    checked_levels,
)
from counterpoise.errors import BadValue
from counterpoise.objectives import Footing, FootingMemory, Stance, take_stance
from counterpoise.objectives.base import smooth_step
from counterpoise.quick import quick


@dataclass(frozen=True, eq=False)
class Outgoing:
    """Levels that are being replaced, with the warm start of their own problem."""

    levels: Checked
    since: float  # [s]
    warm: Any


@dataclass(frozen=True, eq=False)
class WholeBodyMemory:
    """What one tick leaves for the next."""

    footing: FootingMemory | None = None
    warm: Any = None
    levels: Checked = ()
    outgoing: tuple[Outgoing, ...] = ()
    given: Any = None  # the levels as the caller gave them: the same object again needs no new check


@dataclass(frozen=True, eq=False)
class WholeBodySolution:
    """Torques, and the accelerations and forces predicted with them."""

    problem: WholeBodyProblem
    torque: Array  # (nv,) [N m], zero on the root's rows
    acceleration: Array  # (nv,)
    multipliers: Array  # (k,) [N]
    status: str  # "solved", or what went wrong
    memory: WholeBodyMemory
    stops: tuple[str, ...] = ()  # one-sided objectives at their bounds
    work: dict[str, int] = field(default_factory=dict)
    known_names: tuple[str, ...] = ()  # of the objectives whose residuals the solver has computed
    known: Sequence[float] | None = None  # those residuals
    known_limits: bytes | None = None  # flags of joints and contact points at their limits, where the solver knows them

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
        """|A y - b| of every objective by name, in its own unit, unweighted."""
        if self.known is not None:
            return dict(zip(self.known_names, self.known, strict=True))
        return self.problem.residuals(self.acceleration, self.multipliers, self.torque)

    @property
    def limits(self) -> tuple[str, ...]:
        """Names of what is at its limit: joints (torque), contact points (force), one-sided objectives."""
        p, character, flags = self.problem, self.problem.character, self.known_limits
        if flags is None:
            full = np.empty(len(self.torque) + len(character.contact_points), bool)
            found = find_at_limit(self.torque, p.torque_high, p.root, self.multipliers, p.force_high, full)
            flags = full.tobytes() if found else b""
        return (*_names_at_limit(character, flags), *self.stops) if flags else self.stops

    def notes(self) -> dict[str, float | str]:
        """Returns notes for the recording: the residual of each objective, the status, what is at its limit."""
        if self.known is None:
            out: dict[str, float | str] = {f"residual {name}": value for name, value in self.residuals.items()}
        else:
            out = dict(zip(_note_names(self.known_names), self.known, strict=True))
        out["status"] = self.status
        out["limits"] = ", ".join(self.limits)
        return out


def build_whole_body(
    snapshot: Snapshot,
    levels: Levels,
    footing: Footing | None = None,
    tuning: WholeBodyTuning | None = None,
    memory: WholeBodyMemory | None = None,
    stance: Stance | None = None,
) -> WholeBodyProblem:
    """Returns the problem of one tick. Without a footing there are no contacts; `memory` holds the contacts' state.

    A controller that knows its contacts gives a `stance` instead of a footing: `take_stance` and `make_stance` return
    one.
    """
    stance = _stance(snapshot, footing, memory, stance)
    return assemble_problem(snapshot, checked_levels(levels), stance, tuning or _USUAL)


def solve_whole_body(
    snapshot: Snapshot,
    levels: Levels,
    footing: Footing | None = None,
    tuning: WholeBodyTuning | None = None,
    memory: WholeBodyMemory | None = None,
    stance: Stance | None = None,
) -> WholeBodySolution:
    """Returns the joint torques, accelerations and contact forces that serve the levels in strict order, now.

    The contacts are those of the footing, or of a `stance` that the controller has made itself (`take_stance`,
    `make_stance`). `memory` is that of the last tick's solution. With `tuning.fade`, levels that differ from the last
    tick's replace them gradually: both problems are solved and blended, x = (1 - s) x_old + s x_new. The constraints
    are convex, so the blend obeys them.
    """
    tuning = tuning or _USUAL
    before = memory or _NO_MEMORY
    now = before.levels if levels is before.given and before.given is not None else checked_levels(levels)
    stance = _stance(snapshot, footing, memory, stance)
    outgoing = _outgoing(before, now, snapshot.time, tuning.fade)
    problem = assemble_problem(snapshot, now, stance, tuning)
    answer = solve_problem(problem, before.warm)
    kept: tuple[Outgoing, ...] = ()
    if outgoing:
        x, kept = _blend(snapshot, stance, tuning, outgoing, answer)
        answer = WholeBodyAnswer(x, answer.status, answer.warm, answer.stops, answer.work)
    nv = len(problem.torque_high)
    a, multipliers = answer.x[:nv], answer.x[nv:]
    torque = answer.torque
    if torque is None:
        torque = problem.torque(a, multipliers)
        np.clip(torque, problem.torque_low, problem.torque_high, out=torque)
    after = quick(
        WholeBodyMemory, footing=None if stance is None else stance.memory, warm=answer.warm, levels=now, outgoing=kept,
        given=levels,
    )  # fmt: skip
    return quick(
        WholeBodySolution, problem=problem, torque=torque, acceleration=a, multipliers=multipliers,
        status=answer.status, memory=after, stops=answer.stops, work=answer.work, known_names=answer.names,
        known=answer.residuals, known_limits=answer.at_limit,
    )  # fmt: skip


def solve_problem(problem: WholeBodyProblem, warm: Any) -> WholeBodyAnswer:
    """Solves by the compiled solver where it can take the problem; otherwise, or where it fails, by the general one."""
    path = problem.tuning.path
    fast = solve_tick(problem, warm) if path != "general" else None
    if fast is None:
        reason = problem.fast
        if path == "fast" and reason:
            raise BadValue(f"the fast path cannot take this problem: {reason}")
        if path == "general" or reason:
            return solve_general(problem, warm)
        fast = solve_fast(problem, warm)
    if fast.status == "solved" or path == "fast":
        return fast
    general = solve_general(problem, None)
    if general.status != "solved":
        return fast if np.isfinite(fast.x).all() else general
    return WholeBodyAnswer(general.x, "solved", fast.warm, general.stops, {**general.work, "again": 1})


def _stance(
    snapshot: Snapshot, footing: Footing | None, memory: WholeBodyMemory | None, stance: Stance | None
) -> Stance | None:
    """Returns the stance that is given, or that of the footing."""
    if stance is not None:
        if footing is not None:
            raise BadValue("give a footing or a stance, not both: a stance has its own footing")
        if len(stance.G) != snapshot.character.nv or len(stance.height) != len(snapshot.contact_position):
            raise BadValue(f"this stance is for another body than {snapshot.character.name!r}")
        return stance
    if footing is None or not snapshot.character.feet:
        return None
    return take_stance(snapshot, footing, memory.footing if memory is not None else None)


# -- changing levels -------------------------------------------------------------------------------------------------


def _outgoing(memory: WholeBodyMemory, now: Checked, time: float, fade: float) -> tuple[Outgoing, ...]:
    """Returns the levels that are still being replaced; the last tick's join them where names or weights changed."""
    if fade <= 0.0 or memory.given is None:
        return ()
    kept = memory.outgoing
    if kept and time - kept[0].since >= fade:
        kept = tuple(one for one in kept if time - one.since < fade)
    if _signature(memory.levels) != _signature(now):
        kept = (*kept[-2:], Outgoing(memory.levels, time, memory.warm))
    return kept


def _signature(levels: Checked) -> tuple[Any, ...]:
    return tuple(tuple((o.name, o.weight) for o in level) for level in levels)


def _blend(
    snapshot: Snapshot, stance: Stance | None, tuning: WholeBodyTuning, outgoing: tuple[Outgoing, ...],
    newest: WholeBodyAnswer,
) -> tuple[Array, tuple[Outgoing, ...]]:  # fmt: skip
    """Returns x blended from the oldest levels to the newest, and the outgoing levels with new warm starts."""
    answers, shares, kept = [], [], []
    for one in outgoing:
        old = solve_problem(assemble_problem(snapshot, one.levels, stance, tuning), one.warm)
        answers.append(old.x)
        shares.append(smooth_step((snapshot.time - one.since) / tuning.fade))  # of the levels after it
        kept.append(Outgoing(one.levels, one.since, old.warm))
    x = answers[0]
    for follower, share in zip([*answers[1:], newest.x], shares, strict=True):
        x = x + share * (follower - x)
    return x, tuple(kept)


# -- names -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _note_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"residual {name}" for name in names)


@kept_with_character
def _joint_of_dof(character: Character) -> tuple[str, ...]:
    """Returns the name of the joint of every row of v."""
    return tuple(joint.name for joint in character.joints for _ in range(joint.dofs.start, joint.dofs.stop))


@kept_with_character
def _names_at_limit(character: Character, flags: bytes) -> tuple[str, ...]:
    """Returns the names of the joints and contact points with a flag, (nv + p,)."""
    full = np.frombuffer(flags, bool)
    joints = dict.fromkeys(name for name, flag in zip(_joint_of_dof(character), full, strict=False) if flag)
    points = [point.name for point, flag in zip(character.contact_points, full[character.nv :], strict=True) if flag]
    return (*joints, *points)


_USUAL, _NO_MEMORY = WholeBodyTuning(), WholeBodyMemory()
