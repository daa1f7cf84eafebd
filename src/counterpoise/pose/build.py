"""Building posing problems: from wishes to terms, over the joints that can matter, and taking them apart.

Joints that nothing asks for are no variables. Joints that a constraint settles at once (a fixed joint, a root that is
pinned and locked) are put there and leave the problem. What shares no joint is solved apart (Bawa 1995, section 5.1.4).
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
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue
from counterpoise.features import PointPosition
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.wishes import (
    FARTHEST,
    Constraint,
    Couple,
    FixJoint,
    Goal,
    Lock,
    Orient,
    Pin,
    Posture,
    Reach,
    Relation,
    Rows,
    Start,
    Term,
    turn_from,
)

INSIDE = 1e-8  # limits are kept this far inside [rad, m], so that rounding never violates them


def build_pose_problem(
    character: Character,
    goals: Sequence[Goal] = (),
    constraints: Sequence[Constraint] = (),
    start: ArrayLike | None = None,
) -> PoseProblem:
    """Gather goals and constraints into one problem over the joints that can matter."""
    ready = None if constraints else _planned(character, goals, start)
    return ready if ready is not None else _build(character, goals, constraints, start)


def _build(
    character: Character, goals: Sequence[Goal], constraints: Sequence[Constraint], start: ArrayLike | None
) -> PoseProblem:
    q = character.neutral.copy() if start is None else character.check_pose(start, "start")
    q = character.limits.clamp(q)
    here = Start(character, q)
    posture = next((goal for goal in goals if isinstance(goal, Posture)), Posture())
    if not (np.isfinite(posture.weight) and posture.weight > 0.0):
        raise BadValue(f"Posture's weight is a positive number; got {posture.weight!r}")
    rest = q if posture.pose is None else character.limits.clamp(character.check_pose(posture.pose, "rest pose"))
    wanted = [term for goal in goals if not isinstance(goal, Posture) for term in _terms(goal, character, here)]
    fixed: set[int] = set()
    equal: list[Term] = []
    ranges: list[Term] = []
    relations: list[Relation] = []
    for one in constraints:
        if isinstance(one, Couple):
            relations.append(one.relation(character))
            continue
        for term in _terms(one, character, here):
            if isinstance(one, FixJoint):
                q = _fix(character, one.joint, term, q, fixed)
            elif term.target is None:
                ranges.append(term)
            else:
                equal.append(term)
    q, equal = _settle_root(character, constraints, equal, q, fixed)
    variables = _variables(character, [*wanted, *equal, *ranges], relations, fixed)
    if posture.pose is not None:  # joints that nothing else asks for take the posture they were given
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


def _planned(character: Character, goals: Sequence[Goal], start: ArrayLike | None) -> PoseProblem | None:
    """A problem of places and orientations like one built before, with new targets; None for any other."""
    keys: list[object] = []
    for goal in goals:
        if not isinstance(goal, Reach | Orient) or goal.relative_to is not None:
            return None
        keys.append((type(goal), goal.body, goal.point if isinstance(goal, Reach) else None, goal.weight))
    plans: dict[object, PoseProblem] = character.__dict__.setdefault("_pose_plans", {})
    try:
        plan = plans.get(tuple(keys))
        places = np.array([goal.target for goal in goals if isinstance(goal, Reach)], dtype=np.float64).reshape(-1, 3)
    except (TypeError, ValueError):  # a point given as an array, a target of odd shape: the careful way deals with it
        return None
    if plan is None:
        if len(plans) > 64:
            plans.clear()
        plan = plans[tuple(keys)] = _build(character, goals, (), start)
    if not (np.abs(places) <= FARTHEST).all():
        return None  # the careful way says what is wrong
    turns = [turn_from(g.target, f"the target of Orient({g.body!r})") for g in goals if isinstance(g, Orient)]
    q = character.limits.clamp(character.neutral if start is None else character.check_pose(start, "start"))
    return plan.aimed(places, np.array(turns).reshape(-1, 4), q, q)


def partition(problem: PoseProblem) -> list[PoseProblem]:
    """Problems that share no joint, each over its own joints: movable subtrees that do not feel one another."""
    kinds = ("goals", "equalities", "inequalities", "relations")
    listed: list[tuple[str, Any]] = [(kind, one) for kind in kinds for one in getattr(problem, kind)]
    if len(listed) <= 1:
        return [problem]
    masks = np.array([touched_dofs(problem.character, one)[problem.variables] for _, one in listed])
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


def touched_dofs(who: Character, one: Term | Relation) -> Flags:
    """Which dofs can change a term at all, (nv,)."""
    if isinstance(one, Relation):
        mask = np.zeros(who.nv, bool)
        for name, index, _ in one.coefficients:
            joint = who.joint(name)
            mask[joint.dofs if joint.kind == "ball" else joint.dofs.start + index] = True
        return mask
    feature = one.feature.whole if isinstance(one.feature, Rows) else one.feature
    moves = tables_of(who).moves
    body, frame = getattr(feature, "body", None), getattr(feature, "frame", None)
    if body is None:
        return np.ones(who.nv, bool)
    if frame is not None:  # relative: what moves both bodies together does not count
        relative: Flags = moves[who.body_id(body)] ^ moves[who.body_id(frame)]
        return relative
    found: Flags = moves[who.body_id(body)]
    return found


def _terms(wish: Goal | Constraint, who: Character, here: Start) -> list[Term]:
    if not hasattr(wish, "terms"):
        raise BadValue(f"{type(wish).__name__} is neither a goal nor a constraint for posing")
    found: list[Term] = wish.terms(who, here)
    return found


def distinct(terms: Sequence[Term]) -> list[Term]:
    """Terms with names of their own: `pin foot_left`, `pin foot_left (2)`."""
    seen: dict[str, int] = {}
    out = []
    for term in terms:
        seen[term.name] = seen.get(term.name, 0) + 1
        out.append(term if seen[term.name] == 1 else replace(term, name=f"{term.name} ({seen[term.name]})"))
    return out


def _fix(who: Character, name: str, term: Term, q: Array, fixed: set[int]) -> Array:
    joint = who.joint(name)
    out = q.copy()
    assert term.target is not None
    out[joint.qpos] = term.target
    inside = who.limits.clamp(out)
    if np.abs(inside[joint.qpos] - out[joint.qpos]).max() > 1e-9:
        raise BadValue(f"FixJoint({name!r}) asks for a value outside its limits", joint=name)
    fixed.update(range(joint.dofs.start, joint.dofs.stop))
    return inside


def _settle_root(
    who: Character, constraints: Sequence[Constraint], equal: list[Term], q: Array, fixed: set[int]
) -> tuple[Array, list[Term]]:
    """A free root that is pinned and locked is put there once and for all: six variables fewer."""
    if not who.joints or who.joints[0].kind != "free":
        return q, equal
    pins = [c for c in constraints if isinstance(c, Pin) and c.body == who.root]
    locks = [c for c in constraints if isinstance(c, Lock) and c.body == who.root]
    if len(pins) != 1 or len(locks) != 1:
        return q, equal
    pin = next(t for t in equal if t.name == f"pin {who.root}")
    lock = next(t for t in equal if t.name == f"lock {who.root}")
    assert pin.target is not None and lock.target is not None and isinstance(pin.feature, PointPosition)
    out = q.copy()
    out[3:7] = lock.target
    out[:3] = pin.target - spatial.rotate(lock.target, np.array(pin.feature.point))
    fixed.update(range(6))
    return out, [t for t in equal if t is not pin and t is not lock]


def _variables(who: Character, terms: Sequence[Term], relations: Sequence[Relation], fixed: set[int]) -> Ints:
    touched = np.zeros(who.nv, bool)
    for term in terms:
        touched |= touched_dofs(who, term)
    for relation in relations:
        touched |= touched_dofs(who, relation)
    if fixed:
        touched[list(fixed)] = False
    return np.flatnonzero(touched).astype(np.int64)
