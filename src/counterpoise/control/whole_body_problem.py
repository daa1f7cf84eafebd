"""The whole-body problem of one tick: objectives in strict levels over the equations of motion (de Lasa 2011).

    unknowns       a (nv), lambda (k);  torques tau = M a + h - G lambda
    always         tau = 0 on the root's rows, |tau| <= limit, 0 <= lambda <= bound
    then           level by level  min sum_j alpha_j |A_j y - b_j|^2,  y = a, tau or lambda,  among the minima above it
    at the end     + force_weight |lambda / m g|^2, which decides what the objectives leave open

A solution always exists: a = -M^-1 h with lambda = 0 satisfies all constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.objectives import DiagonalRows, Objective, Rows, Stance
from counterpoise.objectives.footing import force_unit
from counterpoise.objectives.tick_rows import SortedLevels
from counterpoise.quick import quick

Levels = Sequence[Objective | Sequence[Objective]]
Checked = tuple[tuple[Objective, ...], ...] | SortedLevels
Path = Literal["auto", "fast", "general"]
LEAST_POSTURE_WEIGHT = 1e-8  # of every acceleration in the last level, so that the solution is unique


@dataclass(frozen=True)
class WholeBodyTuning:
    """How a whole-body problem is set up and solved."""

    torque_share: float = 1.0  # of the torque limits that may be used
    torque_limits: bool = True  # False: joints of any strength, as in the thesis's planar examples
    force_weight: float = 1e-2  # of |lambda / m g|^2 in the last level
    fade: float = 0.0  # [s] over which changed levels replace the old ones; see solve_whole_body
    path: Path = "auto"  # "fast": the compiled solver, or an error; "general": the general one, which tests the first
    method: Literal["strict", "weighted", "cascade"] = "strict"  # of the general solver
    rank: float = 1e-13  # fast solver: rows of a level nearer than this to dependence on its others are dropped

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
class WholeBodyProblem:
    """One tick's problem: dynamics, bounds, and every objective's rows."""

    snapshot: Snapshot
    stance: Stance | None
    levels: Checked
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
        """The scale of the multipliers [N]: the body's weight, or its mass where there is no gravity."""
        return force_unit(self.snapshot.character)

    @cached_property
    def rows(self) -> tuple[tuple[Rows | DiagonalRows, ...], ...]:
        """The rows of each objective, unweighted."""
        return tuple(tuple(o.rows(self.snapshot, self.stance) for o in level) for level in self.levels)

    @property
    def fast(self) -> str:
        """Why the compiled solver cannot take this problem; empty where it can."""
        if not any([o.posture and o.weight > 0.0 for o in self.levels[-1]]):
            return "the last level has no posture"
        for level in self.levels:
            for kind in {type(objective) for objective in level}:
                if kind.on != "acceleration":
                    return "an objective is not on accelerations"
        if self.tuning.method != "strict":
            return f"the method is {self.tuning.method}"
        return "" if self.stance is None or not self.stance.footing.bilateral else "contact is bilateral"

    def torque(self, a: Array, multipliers: Array) -> Array:
        """Returns tau = M a + h - G lambda."""
        return self.snapshot.M @ a + self.snapshot.h - self.G @ multipliers

    def residuals(self, a: Array, multipliers: Array, torque: Array) -> dict[str, float]:
        """Returns |A y - b| of every objective by name, in its own unit, unweighted."""
        out: dict[str, float] = {}
        for objectives, rows in zip(self.levels, self.rows, strict=True):
            for objective, row in zip(objectives, rows, strict=True):
                y = a if row.on == "acceleration" else torque if row.on == "torque" else multipliers
                out[objective.name] = row.size(y) if len(row) else 0.0
        return out


@dataclass(eq=False, slots=True)
class WholeBodyAnswer:
    """What a solver found."""

    x: Array  # (nv + k,) a and lambda
    status: str  # "solved", or what went wrong
    warm: Any  # for the next tick
    stops: tuple[str, ...] = ()  # one-sided objectives at their bounds
    work: dict[str, int] = field(default_factory=dict)
    torque: Array | None = None  # (nv,) where the solver knows them
    names: tuple[str, ...] = ()  # of the objectives whose residuals the solver knows
    residuals: list[float] | None = None  # of those
    at_limit: bytes | None = None  # flags of joints and contact points at their limits, where the solver knows them


def assemble_problem(
    snapshot: Snapshot, levels: Checked, stance: Stance | None, tuning: WholeBodyTuning
) -> WholeBodyProblem:
    """Returns the problem of checked levels with the contacts of a stance; None: no contacts."""
    character = snapshot.character
    if stance is None:
        G, high, low = np.zeros((character.nv, 0)), np.zeros(0), np.zeros(0)
    else:
        G, high = stance.G, stance.force_limit
        low = -high if stance.footing.bilateral else np.zeros(len(high))
    torque_low, torque_high = torque_bounds(character, tuning.torque_limits, tuning.torque_share)
    return quick(
        WholeBodyProblem, snapshot=snapshot, stance=stance, levels=levels, G=G, force_low=low, force_high=high,
        torque_low=torque_low, torque_high=torque_high, tuning=tuning,
    )  # fmt: skip


@kept_with_character
def torque_bounds(character: Character, limited: bool, share: float) -> tuple[Array, Array]:
    """Returns (low, high) of every torque, (nv,) each: a share of the limits, or infinity; zero on the root's rows."""
    high = character.torque_limit * share if limited else np.full(character.nv, np.inf)
    high = high.copy()
    high[character.root_dofs] = 0.0
    return np.where(high > 0.0, -high, 0.0), high


def checked_levels(levels: Levels) -> Checked:
    """Returns levels as tuples of objectives, without empty ones; raises BadValue where a name occurs twice."""
    if type(levels) is SortedLevels:
        return levels
    out = [level if type(level) is tuple else _as_level(level) for level in levels]
    every = [one for level in out for one in level]
    if not _are_objectives(frozenset([type(one) for one in every])) or len({one.name for one in every}) < len(every):
        _refuse(out)
    out = [level for level in out if level]
    if not out:
        raise BadValue("there is no objective: a whole-body problem needs at least one level")
    return tuple(out)


def _as_level(level: Objective | Sequence[Objective]) -> tuple[Objective, ...]:
    return (level,) if isinstance(level, Objective) else tuple(level)


@cache
def _are_objectives(kinds: frozenset[type]) -> bool:
    """Returns whether all kinds are objectives. `isinstance` of an abstract class takes ten times as long."""
    return all(issubclass(kind, Objective) for kind in kinds)


def _refuse(levels: list[tuple[Objective, ...]]) -> None:
    """Raises BadValue for what is no objective, and for names that occur twice."""
    seen: set[str] = set()
    for number, level in enumerate(levels, start=1):
        for one in level:
            if not isinstance(one, Objective):
                raise BadValue(f"level {number} holds {type(one).__name__}; levels are lists of objectives")
            if one.name in seen:
                raise BadValue(f"two objectives are called {one.name!r}: give one of them another name=")
            seen.add(one.name)
