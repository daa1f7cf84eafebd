"""Building posing problems: goals and constraints over the joints that can change them, split where none is shared.

Joints that change no goal and no constraint are not variables. Joints whose values a constraint gives (a fixed joint, a
root that is pinned and locked) are set before and are not variables either. Parts that share no joint are solved
separately (Bawa 1995, section 5.1.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.errors import BadValue
from counterpoise.features import PointPosition
from counterpoise.features.goal import Goal, Start
from counterpoise.pose.checks import MAX_DISTANCE, unit_quaternion
from counterpoise.pose.constraints import Balanced, Couple, FixJoint, Lock, Pin, PoseConstraint
from counterpoise.pose.goals import Orient, PoseGoal, Posture, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.relation import Relation

LIMIT_TOLERANCE = 1e-9  # [rad, m]: fixed values may be outside the limits by rounding


def build_pose_problem(
    character: Character,
    goals: Sequence[PoseGoal] = (),
    constraints: Sequence[PoseConstraint] = (),
    start: ArrayLike | None = None,
) -> PoseProblem:
    """Returns the problem of goals and constraints over the joints that can change them."""
    ready = None if constraints else _from_template(character, goals, start)
    return ready if ready is not None else _build(character, goals, constraints, start)


def _build(
    character: Character, goals: Sequence[PoseGoal], constraints: Sequence[PoseConstraint], start: ArrayLike | None
) -> PoseProblem:
    q = character.neutral.copy() if start is None else character.check_pose(start, "start")
    q = character.limits.clamp(q)
    here = Start(character, q)
    posture = next((goal for goal in goals if isinstance(goal, Posture)), Posture())
    if not (np.isfinite(posture.weight) and posture.weight > 0.0):
        raise BadValue(f"Posture's weight is a positive number; got {posture.weight!r}")
    rest = q if posture.pose is None else character.limits.clamp(character.check_pose(posture.pose, "rest pose"))
    wanted = [made for goal in goals if not isinstance(goal, Posture) for made in goals_of(goal, character, here)]
    for goal in wanted:
        if goal.bounded:
            raise BadValue(f"the goal {goal.name!r} has a range: give it as a constraint, or give it a target")
    fixed: set[int] = set()
    equal: list[Goal] = []
    ranges: list[Goal] = []
    relations: list[Relation] = []
    for one in constraints:
        if isinstance(one, Couple):
            relations.append(one.relation(character))
            continue
        for goal in goals_of(one, character, here):
            if isinstance(one, FixJoint):
                q = _fix(character, one.joint, goal, q, fixed)
            elif goal.bounded:
                ranges.append(goal)
            else:
                equal.append(goal)
    q, equal = _settle_root(character, constraints, equal, q, fixed)
    variables = _variables(character, [*wanted, *equal, *ranges], relations, fixed)
    if posture.pose is not None:  # joints that are not variables take the posture's values
        free = np.setdiff1d(np.arange(character.nv), np.concatenate([variables, np.array(sorted(fixed), np.int64)]))
        step = np.zeros(character.nv)
        step[free] = character.difference(q, rest)[free]
        if character.floating:
            step[character.root_dofs] = 0.0
        q = character.limits.clamp(character.integrate(q, step))
    return PoseProblem(
        character, q, rest, float(posture.weight), tuple(distinct(wanted)), tuple(distinct(equal)), tuple(ranges),
        tuple(relations), variables, frozenset(fixed),
    )  # fmt: skip


def _from_template(character: Character, goals: Sequence[PoseGoal], start: ArrayLike | None) -> PoseProblem | None:
    """Returns a problem of places and orientations, a copy of one built before with new targets; None for any other."""
    keys: list[tuple[Any, ...]] = []
    targets, turns = [], []
    for goal in goals:
        if isinstance(goal, Reach) and goal.relative_to is None:
            keys.append((Reach, goal.body, goal.point, goal.weight))
            targets.append(goal.target)
        elif isinstance(goal, Orient) and goal.relative_to is None:
            keys.append((Orient, goal.body, None, goal.weight))
            turns.append(unit_quaternion(goal.target, f"the target of Orient({goal.body!r})"))
        else:
            return None
    try:
        template = _template(character, tuple(keys))
        places = np.array(targets, dtype=np.float64).reshape(-1, 3)
    except (TypeError, ValueError):  # a point given as an array, a target of another shape: `_build` deals with it
        return None
    if not (np.abs(places) <= MAX_DISTANCE).all():
        return None  # `_build` says what is wrong
    q = character.limits.clamp(character.neutral if start is None else character.check_pose(start, "start"))
    return template.aimed(places, np.array(turns).reshape(-1, 4), q, q)


@kept_with_character
def _template(character: Character, keys: tuple[Any, ...]) -> PoseProblem:
    """Returns the problem of goals of these kinds, bodies, points and weights, with any targets."""
    goals = [Reach(body, (0.0, 0.0, 0.0), point, w) if kind is Reach else Orient(body, (1.0, 0.0, 0.0, 0.0), w)
             for kind, body, point, w in keys]  # fmt: skip
    return _build(character, goals, (), None)


def anchor_constraints(character: Character, constraints: Sequence[PoseConstraint], q: Array) -> list[PoseConstraint]:
    """Returns the constraints with places and values at q written in, for frames that start elsewhere."""
    start = Start(character, q)
    anchored: list[PoseConstraint] = [
        one.anchored(start) if isinstance(one, Pin | Lock | FixJoint | Balanced) else one for one in constraints
    ]
    build_pose_problem(character, (), anchored, q)  # raises where a constraint is bad
    return anchored


def partition(problem: PoseProblem) -> list[PoseProblem]:
    """Returns problems that share no joint, each over its own joints: subtrees that do not move one another."""
    kinds = ("goals", "equalities", "inequalities", "relations")
    listed: list[tuple[str, Any]] = [(kind, one) for kind in kinds for one in getattr(problem, kind)]
    if len(listed) <= 1:
        return [problem]
    masks = np.array([dofs_of(problem.character, one)[problem.variables] for _, one in listed])
    if masks.all(axis=0).any():  # a joint that all of them share
        return [problem]
    pieces: list[tuple[Flags, list[int]]] = []
    for i, mask in enumerate(masks):
        joined, members = mask.copy(), [i]
        apart = []
        for other, theirs in pieces:
            if (other & mask).any():
                joined, members = joined | other, theirs + members
            else:
                apart.append((other, theirs))
        pieces = [*apart, (joined, members)]
    if len(pieces) == 1:
        return [problem]
    out = []
    for mask, members in pieces:
        parts: dict[str, Any] = {
            kind: tuple(one for k, one in (listed[i] for i in sorted(members)) if k == kind) for kind in kinds
        }
        out.append(replace(problem, variables=problem.variables[mask], **parts))
    return out


def dofs_of(character: Character, one: Goal | Relation) -> Flags:
    """Returns which dofs (nv,) can change a goal or a relation."""
    return one.moved_by(character) if isinstance(one, Relation) else one.feature.moved_by(character)


def goals_of(maker: PoseGoal | PoseConstraint, character: Character, start: Start) -> Sequence[Goal]:
    """Returns the goals that `Reach`, `Pin` and the like stand for."""
    make = getattr(maker, "goals", None)
    if make is None:
        raise BadValue(f"{type(maker).__name__} is neither a goal nor a constraint for posing")
    found: Sequence[Goal] = make(character, start)
    return found


def distinct(goals: Sequence[Goal]) -> list[Goal]:
    """Returns the goals with names of their own: `pin foot_left`, `pin foot_left (2)`."""
    seen: dict[str, int] = {}
    out = []
    for goal in goals:
        seen[goal.name] = seen.get(goal.name, 0) + 1
        out.append(goal if seen[goal.name] == 1 else goal.named(f"{goal.name} ({seen[goal.name]})"))
    return out


def _fix(character: Character, name: str, goal: Goal, q: Array, fixed: set[int]) -> Array:
    """Returns the pose with a joint at the goal's value, and adds its dofs to `fixed`."""
    joint = character.joint(name)
    out = q.copy()
    out[joint.qpos] = goal.aim
    inside = character.limits.clamp(out)
    if np.abs(inside[joint.qpos] - out[joint.qpos]).max() > LIMIT_TOLERANCE:
        raise BadValue(f"FixJoint({name!r}) asks for a value outside its limits", joint=name)
    fixed.update(range(joint.dofs.start, joint.dofs.stop))
    return inside


def _settle_root(
    character: Character, constraints: Sequence[PoseConstraint], equal: list[Goal], q: Array, fixed: set[int]
) -> tuple[Array, list[Goal]]:
    """Returns the pose with a root that is pinned and locked set there, and the equalities without those two.

    It saves six variables.
    """
    if not character.joints or character.joints[0].kind != "free":
        return q, equal
    pins = [c for c in constraints if isinstance(c, Pin) and c.body == character.root]
    locks = [c for c in constraints if isinstance(c, Lock) and c.body == character.root]
    if len(pins) != 1 or len(locks) != 1:
        return q, equal
    pin = next(g for g in equal if g.name == f"pin {character.root}")
    lock = next(g for g in equal if g.name == f"lock {character.root}")
    assert isinstance(pin.feature, PointPosition)
    out = q.copy()
    out[3:7] = lock.aim
    out[:3] = pin.aim - spatial.rotate(lock.aim, np.array(pin.feature.point))
    fixed.update(range(6))
    return out, [g for g in equal if g is not pin and g is not lock]


def _variables(character: Character, goals: Sequence[Goal], relations: Sequence[Relation], fixed: set[int]) -> Ints:
    """Returns the dofs that can change a goal or a relation and are not fixed."""
    moved = np.zeros(character.nv, bool)
    for goal in goals:
        moved |= dofs_of(character, goal)
    for relation in relations:
        moved |= dofs_of(character, relation)
    if fixed:
        moved[list(fixed)] = False
    return np.flatnonzero(moved).astype(np.int64)
