"""Dragging: one pose after another, warm started, never jumping."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.features.goal import Goal, Start
from counterpoise.pose.build import build_pose_problem, distinct, partition
from counterpoise.pose.checks import MAX_DISTANCE
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.descent import descend
from counterpoise.pose.goals import METRES_PER_RADIAN, PoseGoal, Posture, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.restore import restore
from counterpoise.pose.result import Pose
from counterpoise.pose.solver import account, compile_once
from counterpoise.pose.tuning import PoseTuning

STEP = float(np.radians(4.8))  # a joint turns at most this far ...
PER = 0.005  # [m] ... for every such step of a target
FARTHEST = 10.0  # [m]: a target that leaps further than this is as good as new


class PoseDrag:
    """Follows moving goals frame by frame: starts where the last frame ended, keeps the working set, holds its pins
    always.

    Between two frames no joint turns further than 4.8 degrees, or in proportion where a target moves by more than 5 mm:
    also when an arm straightens or a target leaves reach. `posture` is how strongly a frame leans to the one before it.
    """

    def __init__(
        self,
        character: Character,
        constraints: Sequence[PoseConstraint] = (),
        start: ArrayLike | None = None,
        tuning: PoseTuning | None = None,
        posture: float = 1e-3,
    ) -> None:
        compile_once()
        self.character = character
        self.tuning = (
            tuning if tuning is not None else PoseTuning(iterations=24, restarts=0, damping=1e-2, flat=1e-9, settle=0)
        )
        self._posture = posture
        self._anchored = build_pose_problem(character, (), constraints, start)  # pins are where they are now
        self.q: Array = self._anchored.start
        for piece in partition(self._anchored):
            q, _, held = restore(piece, self.q)
            self.q = q if held else self.q
        self._whole = self._anchored
        self._pieces: list[tuple[PoseProblem, dict[str, Any], Ints]] = []
        self._plain: list[tuple[str, float, Any]] | None = None
        self._places = np.empty((0, 3))
        self._shape: tuple[object, ...] | None = None
        self._targets: dict[str, Array] = {}
        self._cap = _joint_caps(character)

    @property
    def pose(self) -> Array:
        """The pose now, (nq,)."""
        return self.q.copy()

    def to(self, goals: Sequence[PoseGoal]) -> Pose:
        """Move towards goals and return the pose reached in this frame."""
        began = time.perf_counter()
        shift = self._aim_quickly(goals)
        if shift is None:
            shift = self._largest_shift(self._aim_at(goals))
        cap = self._cap * max(1.0, shift / PER)
        frame, q, held, reached, iterations, objective = self.q, self.q, True, True, 0, 0.0
        pressing: dict[str, float] = {}
        for piece, memory, _ in self._pieces:
            found = descend(piece, q, self.tuning, self.tuning.iterations, began, (frame, cap[piece.variables]), memory)
            if found.held:
                q = found.q
            held, reached = held and found.held, reached and found.reached
            iterations, objective = iterations + found.iterations, objective + found.objective
            pressing |= found.multipliers
        self.q = q
        return account(self._whole, q, held, reached, False, iterations, 0, began, pressing, objective)

    def _aim_quickly(self, goals: Sequence[PoseGoal]) -> float | None:
        """New targets for places of the same bodies as last time: how far the farthest moved, or None."""
        plain = self._plain
        if plain is None or len(goals) != len(plain):
            return None
        for goal, key in zip(goals, plain, strict=True):
            if not isinstance(goal, Reach) or goal.relative_to is not None or (goal.body, goal.weight) != key[:2]:
                return None
            if goal.point is not key[2] and not np.array_equal(np.asarray(goal.point), np.asarray(key[2])):
                return None
        now = np.array([goal.target for goal in goals if isinstance(goal, Reach)], dtype=np.float64)
        if now.shape != (len(goals), 3) or not (np.abs(now) < MAX_DISTANCE).all():
            return None  # the careful way says what is wrong
        shift = float(np.sqrt(np.square(now - self._places).sum(axis=1).max()))
        self._places = now
        none = np.empty((0, 4))
        self._pieces = [
            (piece.aimed(now[rows], none, self.q, self.q), memory, rows) for piece, memory, rows in self._pieces
        ]
        alone = len(self._pieces) == 1
        self._whole = self._pieces[0][0] if alone else self._whole.aimed(now, none, self.q, self.q)
        return min(shift, FARTHEST)

    def _aim_at(self, goals: Sequence[PoseGoal]) -> list[Goal]:
        """New targets for the problem's pieces; they are built anew only when the goals change in kind."""
        here = Start(self.character, self.q)
        wanted = [goal for goal in goals if not isinstance(goal, Posture)]
        terms = distinct([term for goal in wanted for term in goal.goals(self.character, here)])
        shape = tuple((term.name, _kind(term), term.weight) for term in terms)
        postures = [goal for goal in goals if isinstance(goal, Posture)]
        rest = self.q
        if postures and postures[0].pose is not None:
            rest = self.character.check_pose(postures[0].pose, "rest pose")
        if shape != self._shape:
            lean = postures[0] if postures else Posture(weight=self._posture)
            loose = build_pose_problem(self.character, [*wanted, replace(lean, pose=None)], (), self.q)
            both = set(loose.variables.tolist()) | set(self._anchored.variables.tolist())
            self._whole = replace(
                self._anchored,
                goals=loose.goals,
                posture=loose.posture,
                variables=np.array(sorted(both - self._anchored.fixed), np.int64),
            )
            self._pieces = [(piece, {}, np.empty(0, np.int64)) for piece in partition(self._whole)]
            self._shape = shape
        by_name = {term.name: term for term in terms}
        order = {term.name: i for i, term in enumerate(terms)}
        self._pieces = [
            (
                piece.with_targets([by_name[t.name] for t in piece.goals], self.q, rest),
                memory,
                np.array([order[t.name] for t in piece.goals], np.int64),
            )
            for piece, memory, _ in self._pieces
        ]
        self._whole = self._whole.with_targets([by_name[t.name] for t in self._whole.goals], self.q, rest)
        self._plain = None
        if not postures and all(type(g) is Reach and g.relative_to is None for g in goals):
            self._plain = [(g.body, g.weight, g.point) for g in goals if isinstance(g, Reach)]
            self._places = np.array([term.target for term in terms], float).reshape(-1, 3)
        return terms

    def _largest_shift(self, terms: Sequence[Goal]) -> float:
        """How far the farthest-moved target went since the last frame [m]; unlimited for the first frame."""
        before, self._targets = self._targets, {t.name: t.target for t in terms if t.target is not None}
        shift = 0.0 if before else FARTHEST
        for term in terms:
            old = before.get(term.name)
            if old is None or term.target is None or len(old) != len(term.target):
                continue
            moved = float(np.linalg.norm(term.feature.difference(old, term.target)))
            shift = max(shift, moved * (METRES_PER_RADIAN if term.feature.unit == "rad" else 1.0))
        return min(shift, FARTHEST)


def _joint_caps(character: Character) -> Array:
    """How far each dof may move in a frame: a ball's three share the angle, places are not limited."""
    cap = np.full(character.nv, STEP)
    for joint in character.joints:
        if joint.kind == "ball":
            cap[joint.dofs] /= np.sqrt(3.0)
        elif joint.kind == "free":
            cap[joint.dofs.start : joint.dofs.start + 3] = np.inf
            cap[joint.dofs.start + 3 : joint.dofs.stop] /= np.sqrt(3.0)
        elif joint.kind == "slide":
            cap[joint.dofs] = np.inf
    return cap


def _kind(term: Goal) -> tuple[object, ...]:
    """What makes two terms the same but for their targets."""
    feature = term.feature
    parts = (getattr(feature, name, None) for name in ("body", "point", "frame", "axis"))
    aim = getattr(feature, "at", None)  # the place an axis aims at is part of the feature itself
    return (type(feature), aim, *parts)
