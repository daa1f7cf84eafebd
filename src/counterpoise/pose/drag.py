"""Dragging: one pose after another, each starting from the last, without jumps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.features.goal import Goal, Start
from counterpoise.pose.build import build_pose_problem, distinct, partition
from counterpoise.pose.checks import MAX_DISTANCE
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.descent import descend
from counterpoise.pose.goals import METRES_PER_RADIAN, PoseGoal, Posture, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.restore import restore
from counterpoise.pose.result import Pose
from counterpoise.pose.solver import compile_once, report_pose
from counterpoise.pose.tuning import PoseTuning

MAX_TURN = float(np.radians(4.8))  # [rad] of a joint in one frame, while targets move by no more than ...
TARGET_STEP = 0.005  # [m] ... this; further in proportion when they move further
ALONE_SHARE = 0.95  # of MAX_TURN in a frame with a limit by the clock: with what restoring adds, below 5 degrees
WORK_SHARE = 0.8  # of `within` that is worked: the step that is under way then ends in the rest
NEARLY = 0.99  # share of a cap at which a joint has used it up
MAX_SHIFT = 10.0  # [m]: targets that move further count as moved by this
NO_TURNS = np.empty((0, 4))


class PoseDrag:
    """Follows moving goals frame by frame: starts where the last frame ended, and holds its constraints in every frame.

    Between two frames no joint turns further than 4.8 degrees, or in proportion where a target moves by more than 5 mm:
    also when an arm straightens or a target leaves reach. `posture` is the weight of staying near the frame before.
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
        self.unfinished = False  # whether the last frame, with a limit by the clock, would come nearer in another one

    @property
    def pose(self) -> Array:
        """The pose now, (nq,)."""
        return self.q.copy()

    def to(self, goals: Sequence[PoseGoal], within: float | None = None) -> Pose:
        """Moves towards the goals and returns the pose reached in this frame.

        `within` [s] is a limit by the clock for somebody who waits: the best pose found in time, constraints and limits
        held as exactly as ever; the next frame goes on from there (`unfinished`). No joint then turns further than 4.8
        degrees in a frame, however far the targets move. What is found depends on the speed of the machine; without
        `within` it does not.
        """
        began = time.perf_counter()
        shift = self._aim_quickly(goals)
        if shift is None:
            shift = self._largest_shift(self._aim_at(goals))
        rules = self.tuning if within is None else replace(self.tuning, seconds=WORK_SHARE * checked_seconds(within))
        cap = self._cap * (ALONE_SHARE if within is not None else max(1.0, shift / TARGET_STEP))
        frame, q, held, reached, iterations, objective = self.q, self.q, True, True, 0, 0.0
        late = False
        pressing: dict[str, float] = {}
        for piece, memory, _ in self._pieces:
            found = descend(piece, q, rules, rules.iterations, began, (frame, cap[piece.variables]), memory)
            if found.held:
                q = found.q
            held, reached, late = held and found.held, reached and found.reached, late or found.late
            iterations, objective = iterations + found.iterations, objective + found.objective
            pressing |= found.multipliers
        self.q = q
        turned = np.abs(self.character.difference(frame, q)) >= NEARLY * cap
        self.unfinished = within is not None and not reached and (late or bool(turned.any()))
        return report_pose(self._whole, q, held, reached, late, iterations, 0, began, pressing, objective)

    def _aim_quickly(self, goals: Sequence[PoseGoal]) -> float | None:
        """Sets new targets where all goals are places of the same bodies as in the last frame.

        Returns how far the farthest target moved [m], or None where the goals are of other kinds.
        """
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
            return None  # `_aim_at` says what is wrong
        shift = float(np.sqrt(np.square(now - self._places).sum(axis=1).max()))
        self._places = now
        self._pieces = [
            (piece.aimed(now[rows], NO_TURNS, self.q, self.q), memory, rows) for piece, memory, rows in self._pieces
        ]
        alone = len(self._pieces) == 1
        self._whole = self._pieces[0][0] if alone else self._whole.aimed(now, NO_TURNS, self.q, self.q)
        return min(shift, MAX_SHIFT)

    def _aim_at(self, goals: Sequence[PoseGoal]) -> list[Goal]:
        """Sets new targets for the problem's pieces, which are built anew only when the goals change in kind.

        Returns the goals with their targets.
        """
        here = Start(self.character, self.q)
        wanted = [goal for goal in goals if not isinstance(goal, Posture)]
        made = distinct([one for goal in wanted for one in goal.goals(self.character, here)])
        shape = tuple((goal.name, _kind(goal), goal.weight) for goal in made)
        postures = [goal for goal in goals if isinstance(goal, Posture)]
        rest = self.q
        if postures and postures[0].pose is not None:
            rest = self.character.check_pose(postures[0].pose, "rest pose")
        if shape != self._shape:
            posture = postures[0] if postures else Posture(weight=self._posture)
            loose = build_pose_problem(self.character, [*wanted, replace(posture, pose=None)], (), self.q)
            both = set(loose.variables.tolist()) | set(self._anchored.variables.tolist())
            self._whole = replace(
                self._anchored,
                goals=loose.goals,
                posture=loose.posture,
                variables=np.array(sorted(both - self._anchored.fixed), np.int64),
            )
            self._pieces = [(piece, {}, np.empty(0, np.int64)) for piece in partition(self._whole)]
            self._shape = shape
        by_name = {goal.name: goal for goal in made}
        order = {goal.name: i for i, goal in enumerate(made)}
        self._pieces = [
            (
                piece.with_targets([by_name[g.name] for g in piece.goals], self.q, rest),
                memory,
                np.array([order[g.name] for g in piece.goals], np.int64),
            )
            for piece, memory, _ in self._pieces
        ]
        self._whole = self._whole.with_targets([by_name[g.name] for g in self._whole.goals], self.q, rest)
        self._plain = None
        if not postures and all(type(g) is Reach and g.relative_to is None for g in goals):
            self._plain = [(g.body, g.weight, g.point) for g in goals if isinstance(g, Reach)]
            self._places = np.array([goal.target for goal in made], float).reshape(-1, 3)
        return made

    def _largest_shift(self, goals: Sequence[Goal]) -> float:
        """Returns how far the farthest target moved since the last frame [m]; the largest shift in the first frame."""
        before, self._targets = self._targets, {g.name: g.target for g in goals if g.target is not None}
        shift = 0.0 if before else MAX_SHIFT
        for goal in goals:
            old = before.get(goal.name)
            if old is None or goal.target is None or len(old) != len(goal.target):
                continue
            moved = float(np.linalg.norm(goal.feature.difference(old, goal.target)))
            shift = max(shift, moved * (METRES_PER_RADIAN if goal.feature.unit == "rad" else 1.0))
        return min(shift, MAX_SHIFT)


def checked_seconds(within: float) -> float:
    """Returns a limit by the clock [s] that is positive."""
    if not (np.isfinite(within) and within > 0.0):
        raise BadValue(f"within is a positive number of seconds, such as 0.008; got {within!r}")
    return float(within)


def _joint_caps(character: Character) -> Array:
    """Returns how far each dof may move in a frame (nv,): dofs of a joint share the angle, places are not limited."""
    cap = np.full(character.nv, MAX_TURN)
    for joint in character.joints:
        if joint.kind == "ball":
            cap[joint.dofs] /= np.sqrt(3.0)
        elif joint.kind == "universal":
            cap[joint.dofs] /= np.sqrt(2.0)
        elif joint.kind == "free":
            cap[joint.dofs.start : joint.dofs.start + 3] = np.inf
            cap[joint.dofs.start + 3 : joint.dofs.stop] /= np.sqrt(3.0)
        elif joint.kind == "slide":
            cap[joint.dofs] = np.inf
    return cap


def _kind(goal: Goal) -> tuple[object, ...]:
    """Returns what two goals have in common that differ only in their targets, or in the place an axis aims at."""
    feature = goal.feature
    parts = (getattr(feature, name, None) for name in ("body", "point", "frame", "axis"))
    return (type(feature), *parts)
