"""The posing problem, built to be looked at and then solved.

    minimise    sum_i w_i^2 |f_i(q) - t_i|^2  +  w_p^2 |q - q_rest|_m^2     goals, and the posture that breaks ties
    subject to  c(q) = 0                                                    pins, locks, couplings, planes, curves
                g(q) <= 0                                                   swing-twist limits, balance, ground
                low <= q <= high                                            hinges and slides

|.|_m weighs each joint by the share of the body's mass it carries. Only joints that can matter are variables, and
problems that share no joint are apart (Bawa 1995, section 5.1.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, put_in_pose, take_kinematics
from counterpoise.character.tables import tables_of
from counterpoise.features import BodyOrientation, PointPosition
from counterpoise.pose.rows import evaluate_rows, second_order
from counterpoise.pose.wishes import (
    Relation,
    Term,
)

INSIDE = 1e-8  # limits are kept this far inside [rad, m], so that rounding never violates them


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Goals r with their Jacobian, equalities c, inequalities g <= 0, at one pose; columns are the variables."""

    r: Array
    J: Array
    c: Array
    C: Array
    g: Array
    G: Array
    S: Array | None = None  # curvature of the goals: sum of r_i times their second derivative


@dataclass(frozen=True, eq=False)
class PoseProblem:
    """Goals and constraints over the joints that matter. `build_pose_problem` makes it, `solve_pose` solves it."""

    character: Character
    start: Array  # (nq,), inside the limits, fixed joints already at their values
    rest: Array  # (nq,), what the posture leans to
    posture: float  # w_p
    goals: tuple[Term, ...]
    equalities: tuple[Term, ...]
    inequalities: tuple[Term, ...]
    relations: tuple[Relation, ...]
    variables: Ints  # dofs that may move
    fixed: frozenset[int] = frozenset()  # dofs that constraints have settled beforehand

    # -- evaluation -------------------------------------------------------------------------------------------------
    def evaluate(self, q: Array, curvature: bool = False) -> Evaluation:
        """Everything at one pose."""
        who, t = self.character, tables_of(self.character)
        d, f = put_in_pose(who, q), self._fast
        r, J = evaluate_rows(
            d.cdof, t.ancestors, d.xpos, d.xmat, d.subtree_com[0], self.variables,
            f.point_body, f.point_place, f.point_target, f.point_weight,
            f.turn_body, f.turn_target, f.turn_weight,
        )  # fmt: skip
        S = None
        if curvature:
            S = second_order(
                d.cdof, t.ancestors, self.variables, t.joint_of_dof, f.goal_points,
                f.point_body, f.point_weight, r, J,
            )  # fmt: skip
        c, C = r[f.equal_rows], J[f.equal_rows]
        if len(f.goal_rows) != len(r):
            r, J = r[f.goal_rows], J[f.goal_rows]
        slow = self._slow
        if slow.any:
            snapshot = take_kinematics(who, q)
            r, J = self._stack(r, J, slow.goals, snapshot)
            c, C = self._stack(c, C, slow.equalities, snapshot)
        else:
            snapshot = None
        g, G = self._inequalities(q, snapshot)
        if self.relations:
            c, C, g, G = self._relations(q, c, C, g, G)
        return Evaluation(r, J, c, C, g, G, S)

    def objective(self, q: Array, e: Evaluation) -> float:
        """Half the weighted sum of squares, the posture included."""
        lean = self.lean(q)
        return 0.5 * float(e.r @ e.r) + 0.5 * self.posture**2 * float(lean @ (self.heft * lean))

    def lean(self, q: Array) -> Array:
        """Tangent from the rest posture to q, of the variables."""
        return self.character.difference(self.rest, q)[self.variables]

    def bounds(self, q: Array) -> tuple[Array, Array]:
        """How far each variable may still move down and up."""
        low, high = np.full(len(self.variables), -np.inf), np.full(len(self.variables), np.inf)
        at, qpos, least, most = self.tables.ranges
        low[at], high[at] = least - q[qpos], most - q[qpos]
        return low, high

    def moved(self, q: Array, step: Array) -> Array:
        """q after a step of the variables; hinges and slides stay exactly inside their ranges."""
        full = np.zeros(self.character.nv)
        full[self.variables] = step
        out = self.character.integrate(q, full)
        _, qpos, least, most = self.tables.ranges
        out[qpos] = np.clip(out[qpos], least, most)
        return out

    def residuals(self, q: Array, e: Evaluation | None = None) -> dict[str, float]:
        """Unweighted size of what is missing of every goal, by name [m, rad]."""
        if not self.goals:
            return {}
        here = e if e is not None else self.evaluate(q)
        sizes = np.sqrt(np.add.reduceat(np.square(here.r / self.row_weights), self.goal_starts))
        return dict(zip(self._goal_names, sizes.tolist(), strict=True))

    def violations(self, q: Array, e: Evaluation | None = None) -> dict[str, float]:
        """How far every constraint is from holding, by name [m, rad]."""
        if not (self.equalities or self.inequalities or self.relations):
            return {}
        here = e if e is not None else self.evaluate(q)
        out: dict[str, float] = {}
        if self.equalities:
            rows = np.square(here.c[: self._equal_starts[-1]])
            sizes = np.sqrt(np.add.reduceat(rows, self._equal_starts[:-1]))
            out = dict(zip(self._equal_names, sizes.tolist(), strict=True))
        if self.inequalities:
            snapshot = take_kinematics(self.character, q)
            for term in self.inequalities:
                value = term.feature.value(snapshot)
                assert term.low is not None and term.high is not None
                excess = float(np.maximum(np.maximum(term.low - value, value - term.high), 0.0).max(initial=0.0))
                out[term.name] = max(out.get(term.name, 0.0), excess)
        for relation in self.relations:
            total = relation_value(self.character, relation, q)[0]
            out[relation.name] = max(relation.low - total, total - relation.high, 0.0)
        return out

    def with_targets(self, goals: Sequence[Term], start: Array, rest: Array) -> PoseProblem:
        """The same problem with other targets for its goals (same kinds, same bodies), another start and rest."""
        points = [t.target for t in goals if type(t.feature) is PointPosition]
        turns = [t.target for t in goals if type(t.feature) is BodyOrientation]
        moved = self.aimed(np.array(points).reshape(-1, 3), np.array(turns).reshape(-1, 4), start, rest)
        object.__setattr__(moved, "goals", tuple(goals))
        for name in ("_slow", "_primed"):
            moved.__dict__.pop(name, None)
        return moved

    def aimed(self, places: Array, turns: Array, start: Array, rest: Array) -> PoseProblem:
        """A copy whose goal points and goal orientations have other targets; nothing else is worked out again."""
        if "_primed" not in self.__dict__:
            for name in ("tables", "heft", "compiled", "row_weights", "goal_starts", "_slow", "_goal_names"):
                getattr(self, name)
            self.__dict__["_primed"] = True
        copy = object.__new__(PoseProblem)
        copy.__dict__.update(self.__dict__)
        fast = self._fast
        aim, turn = fast.point_target.copy(), fast.turn_target.copy()
        aim[: fast.goal_points], turn[: fast.goal_turns] = places, turns
        point, rotation = iter(places), iter(turns)
        goals = tuple(
            term.aimed(next(point)) if type(term.feature) is PointPosition
            else term.aimed(next(rotation)) if type(term.feature) is BodyOrientation
            else term
            for term in self.goals
        )  # fmt: skip
        copy.__dict__.update(goals=goals, start=start, rest=rest, _fast=fast.retargeted(aim, turn))
        return copy

    # -- what is worked out once --------------------------------------------------------------------------------------
    @cached_property
    def _fast(self) -> _FastRows:
        goals, equal = self.goals, self.equalities
        points = [(t, True) for t in goals if type(t.feature) is PointPosition]
        count = len(points)  # of goals
        points += [(t, False) for t in equal if type(t.feature) is PointPosition]
        turns = [(t, True) for t in goals if type(t.feature) is BodyOrientation]
        turns += [(t, False) for t in equal if type(t.feature) is BodyOrientation]
        wanted = np.array([w for _, w in points for _ in range(3)] + [w for _, w in turns for _ in range(3)], bool)
        body = self.character.body_id
        return _FastRows(
            point_body=np.array([body(_body(t)) for t, _ in points], np.int64),
            point_place=_places(points),
            point_target=np.array([t.target for t, _ in points], float).reshape(-1, 3),
            point_weight=np.array([t.weight for t, _ in points], float),
            turn_body=np.array([body(_body(t)) for t, _ in turns], np.int64),
            turn_target=np.array([t.target for t, _ in turns], float).reshape(-1, 4),
            turn_weight=np.array([t.weight for t, _ in turns], float),
            goal_points=count,
            goal_turns=sum(1 for _, wanted_ in turns if wanted_),
            goal_rows=np.flatnonzero(wanted),
            equal_rows=np.flatnonzero(~wanted),
        )

    @cached_property
    def row_weights(self) -> Array:
        """Weight of every goal row, in the order of `Evaluation.r`."""
        weights: list[float] = []
        for term in _fast_first(self.goals):
            weights += [term.weight] * _size(term)
        return np.array(weights, float)

    @cached_property
    def goal_starts(self) -> Ints:
        """First row of every goal in `Evaluation.r`."""
        return _starts(self._fast.goal_points + self._fast.goal_turns, self._slow.goals)[:-1]

    @cached_property
    def _goal_names(self) -> list[str]:
        return [t.name for t in _fast_first(self.goals)]

    @cached_property
    def _equal_starts(self) -> Ints:
        return _starts(len(self._fast.equal_rows) // 3, self._slow.equalities)

    @cached_property
    def _equal_names(self) -> list[str]:
        return [t.name for t in _fast_first(self.equalities)]

    @cached_property
    def compiled(self) -> bool:
        """Whether the compiled core can solve it: points and orientations only, besides joint limits."""
        return not (self._slow.any or self.relations)

    @cached_property
    def _slow(self) -> _SlowRows:
        plain = (PointPosition, BodyOrientation)
        return _SlowRows(
            tuple(t for t in self.goals if type(t.feature) not in plain),
            tuple(t for t in self.equalities if type(t.feature) not in plain),
            bool(self.inequalities),
        )

    @cached_property
    def heft(self) -> Array:
        """How dear each variable is: the share of the body's mass it carries, so that a hand moves before the trunk."""
        return np.ascontiguousarray(tables_of(self.character).heft[self.variables])

    @cached_property
    def tables(self) -> VariableTables:
        """Limits of the variables, worked out once for a body and a set of joints."""
        return variable_tables(self.character, self.variables)

    def _stack(self, r: Array, J: Array, terms: Sequence[Term], snapshot: Snapshot) -> tuple[Array, Array]:
        if not terms:
            return r, J
        rows, jacs = [r], [J]
        for term in terms:
            error, jac = term_error(term, snapshot)
            rows.append(term.weight * error)
            jacs.append(term.weight * jac[:, self.variables])
        return np.concatenate(rows), np.concatenate(jacs)

    def _inequalities(self, q: Array, snapshot: Snapshot | None) -> tuple[Array, Array]:
        n = len(self.variables)
        rows = self.tables.ball_rows
        if len(rows):
            g, G = self.character.limits.rows_at(q, rows, self.variables)
            g = g + INSIDE
        else:
            g, G = np.empty(0), np.empty((0, n))
        if not self.inequalities:
            return g, G
        assert snapshot is not None
        parts, jacs = [g], [G]
        for term in self.inequalities:
            value, jac = term.feature.value(snapshot), term.feature.jacobian(snapshot)[:, self.variables]
            assert term.low is not None and term.high is not None
            for end, sign in ((term.high, 1.0), (term.low, -1.0)):
                real = np.isfinite(end)
                if real.any():
                    parts.append(sign * (value - end)[real] + INSIDE)
                    jacs.append(sign * jac[real])
        return np.concatenate(parts), np.concatenate(jacs)

    def _relations(self, q: Array, c: Array, C: Array, g: Array, G: Array) -> tuple[Array, Array, Array, Array]:
        for relation in self.relations:
            value, full = relation_value(self.character, relation, q)
            row = full[self.variables][None]
            if relation.low == relation.high:
                c, C = np.append(c, value - relation.low), np.vstack([C, row])
                continue
            if np.isfinite(relation.high):
                g, G = np.append(g, value - relation.high + INSIDE), np.vstack([G, row])
            if np.isfinite(relation.low):
                g, G = np.append(g, relation.low - value + INSIDE), np.vstack([G, -row])
        return c, C, g, G


@dataclass(frozen=True, eq=False)
class _FastRows:
    """Points and orientations, which one compiled pass evaluates together: goals first, then equalities."""

    point_body: Ints
    point_place: Array
    point_target: Array
    point_weight: Array
    turn_body: Ints
    turn_target: Array
    turn_weight: Array
    goal_points: int
    goal_turns: int
    goal_rows: Ints
    equal_rows: Ints

    def retargeted(self, point_target: Array, turn_target: Array) -> _FastRows:
        copy = object.__new__(_FastRows)
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(point_target=point_target, turn_target=turn_target)
        return copy


@dataclass(frozen=True, eq=False)
class _SlowRows:
    """All other features, evaluated through a snapshot."""

    goals: tuple[Term, ...]
    equalities: tuple[Term, ...]
    ranges: bool

    @property
    def any(self) -> bool:
        return bool(self.goals or self.equalities or self.ranges)


@dataclass(frozen=True, eq=False)
class VariableTables:
    """What the solver needs to know of the limits of some joints."""

    ranges: tuple[Ints, Ints, Array, Array]  # hinges and slides: place among the variables, qpos address, low, high
    range_rows: Ints  # and their rows among the body's ranges
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array]  # see JointLimits.ball_tables
    ball_rows: Ints  # rows of the body's limits


def variable_tables(who: Character, variables: Ints) -> VariableTables:
    """Tables for a body and a set of its joints, kept with the body."""
    kept: dict[bytes, VariableTables] = who.__dict__.setdefault("_pose_tables", {})
    key = variables.tobytes()
    if key not in kept:
        limits = who.limits
        rows = np.flatnonzero(np.isin(limits.range_dof, variables)).astype(np.int64)
        at = np.searchsorted(variables, limits.range_dof[rows]).astype(np.int64)
        ranges = (at, limits.range_qpos[rows], limits.range_low[rows], limits.range_high[rows])
        balls = limits.ball_tables(variables)
        if len(kept) > 256:
            kept.clear()
        kept[key] = VariableTables(ranges, rows, balls, limits.ball_rows(set(variables.tolist())))
    return kept[key]


def term_error(term: Term, snapshot: Snapshot) -> tuple[Array, Array]:
    """How far a feature is from its target, and the Jacobian of that error."""
    assert term.target is not None
    feature = term.feature
    error = feature.difference(term.target, feature.value(snapshot))
    jac = feature.jacobian(snapshot)
    if feature.unit == "rad" and len(term.target) == 4:  # a rotation: the error turns with it
        jac = spatial.left_jacobian_inverse(error) @ jac
    return error, jac


def relation_value(who: Character, relation: Relation, q: Array) -> tuple[float, Array]:
    """A linear relation's value and its gradient (nv,)."""
    total, row = 0.0, np.zeros(who.nv)
    for name, index, factor in relation.coefficients:
        joint = who.joint(name)
        if joint.kind == "ball":
            turn = spatial.log(q[joint.qpos])
            total += factor * float(turn[index])
            row[joint.dofs] += factor * spatial.right_jacobian_inverse(turn)[index]
        else:
            total += factor * float(q[joint.qpos][index])
            row[joint.dofs.start + index] += factor
    return total, row


def _body(term: Term) -> str:
    assert isinstance(term.feature, PointPosition | BodyOrientation)
    return term.feature.body


def _places(points: Sequence[tuple[Term, bool]]) -> Array:
    out = np.zeros((len(points), 3))
    for i, (term, _) in enumerate(points):
        assert isinstance(term.feature, PointPosition)
        out[i] = term.feature.point
    return out


def _fast_first(terms: Sequence[Term]) -> list[Term]:
    """Terms in the order of an evaluation's rows: points, orientations, then the others."""
    points = [t for t in terms if type(t.feature) is PointPosition]
    turns = [t for t in terms if type(t.feature) is BodyOrientation]
    return points + turns + [t for t in terms if type(t.feature) not in (PointPosition, BodyOrientation)]


def _size(term: Term) -> int:
    """Rows of a term; a rotation's target has four numbers and three rows."""
    assert term.target is not None
    rotation = term.feature.unit == "rad" and len(term.target) == 4
    return 3 if rotation else len(term.target)


def _starts(fast: int, slow: Sequence[Term]) -> Ints:
    """First rows of terms, and the end: three rows for each fast one."""
    out = list(range(0, 3 * fast + 1, 3))
    for term in slow:
        out.append(out[-1] + _size(term))
    return np.array(out, np.int64)
