"""The posing problem, built to be looked at and then solved.

    minimise    sum_i w_i^2 |f_i(q) - t_i|^2  +  w_p^2 |q - q_rest|_m^2     goals, and the posture that breaks ties
    subject to  c(q) = 0                                                    pins, locks, couplings, planes, curves
                g(q) <= 0                                                   swing-twist limits, balance, ground
                low <= q <= high                                            hinges and slides

|.|_m weights each joint by the share of the body's mass it carries. Only joints that can matter are variables, and
problems that share no joint are solved apart (Bawa 1995, section 5.1.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import put_in_pose, take_kinematics
from counterpoise.character.tables import tables_of
from counterpoise.features.goal import Goal
from counterpoise.pose.core import CompiledGoals, evaluate_goals, second_order
from counterpoise.pose.goal_rows import (
    compiled_goals,
    in_row_order,
    is_compiled,
    is_orientation,
    is_point,
    row_count,
    row_starts,
)
from counterpoise.pose.relation import Relation
from counterpoise.pose.variables import VariableLimits, limits_of_variables

NEAR_LIMIT = 0.6  # [rad, m]: inequalities further away than this cannot matter in one step
LIMIT_MARGIN = 1e-8  # limits are kept this far inside [rad, m], so that rounding never violates them


@dataclass(frozen=True, eq=False)
class PoseEvaluation:
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
    rest: Array  # (nq,), the posture to stay near
    posture: float  # w_p
    goals: tuple[Goal, ...]
    equalities: tuple[Goal, ...]
    inequalities: tuple[Goal, ...]
    relations: tuple[Relation, ...]
    variables: Ints  # dofs that may move
    fixed: frozenset[int] = frozenset()  # dofs whose values the constraints give

    # -- evaluation ------------------------------------------------------------------------------------------------
    def evaluate(self, q: Array, curvature: bool = False) -> PoseEvaluation:
        """Returns goals and constraints with their Jacobians at one pose."""
        character, t = self.character, tables_of(self.character)
        d, rows = put_in_pose(character, q), self.compiled_goals
        r, J = evaluate_goals(d.cdof, t.ancestors, d.xpos, d.xmat, d.subtree_com[0], self.variables, tuple(rows))
        S = None
        if curvature:
            bodies = rows.point_body[: rows.goal_points]
            S = second_order(d.cdof, t.ancestors, self.variables, t.joint_of_dof, bodies, r, J)
        c, C = r[rows.equality_rows], J[rows.equality_rows]
        if len(rows.goal_rows) != len(r):
            r, J = r[rows.goal_rows], J[rows.goal_rows]
        kinematics = take_kinematics(character, q) if self._needs_kinematics else None
        if kinematics is not None:
            r, J = self._stack(r, J, self.goals, kinematics)
            c, C = self._stack(c, C, self.equalities, kinematics)
        g, G = self._inequalities(q, kinematics)
        if self.relations:
            c, C, g, G = self._relations(q, c, C, g, G)
        return PoseEvaluation(r, J, c, C, g, G, S)

    def objective(self, q: Array, e: PoseEvaluation) -> float:
        """Returns half the weighted sum of squares, the posture included."""
        offset = self.offset(q)
        return 0.5 * float(e.r @ e.r) + 0.5 * self.posture**2 * float(offset @ (self.joint_weights * offset))

    def offset(self, q: Array) -> Array:
        """Returns the tangent from the rest posture to q, of the variables (n,)."""
        return self.character.difference(self.rest, q)[self.variables]

    def bounds(self, q: Array) -> tuple[Array, Array]:
        """Returns how far each variable may still move down and up, (n,) each."""
        low, high = np.full(len(self.variables), -np.inf), np.full(len(self.variables), np.inf)
        at, qpos, least, most = self.limits.ranges
        low[at], high[at] = least - q[qpos], most - q[qpos]
        return low, high

    def moved(self, q: Array, step: Array) -> Array:
        """Returns q after a step of the variables; hinges and slides stay exactly inside their ranges."""
        full = np.zeros(self.character.nv)
        full[self.variables] = step
        out = self.character.integrate(q, full)
        _, qpos, least, most = self.limits.ranges
        out[qpos] = np.clip(out[qpos], least, most)
        return out

    # -- results ---------------------------------------------------------------------------------------------------
    def residuals(self, q: Array, e: PoseEvaluation | None = None) -> dict[str, float]:
        """Returns the size of the error of every goal, without weights, by name [m, rad]."""
        if not self.goals:
            return {}
        here = e if e is not None else self.evaluate(q)
        sizes = np.sqrt(np.add.reduceat(np.square(here.r / self.row_weights), self.goal_starts))
        return dict(zip(self._goal_names, sizes.tolist(), strict=True))

    def violations(self, q: Array, e: PoseEvaluation | None = None) -> dict[str, float]:
        """Returns how far every constraint is from holding, by name [m, rad]."""
        if not (self.equalities or self.inequalities or self.relations):
            return {}
        here = e if e is not None else self.evaluate(q)
        out: dict[str, float] = {}
        if self.equalities:
            starts = row_starts(self.equalities, self.character)
            sizes = np.sqrt(np.add.reduceat(np.square(here.c[: starts[-1]]), starts[:-1]))
            out = dict(zip((g.name for g in in_row_order(self.equalities)), sizes.tolist(), strict=True))
        if self.inequalities:
            kinematics = take_kinematics(self.character, q)
            for goal in self.inequalities:
                value = goal.feature.value(kinematics)
                low, high = goal.bounds(len(value))
                excess = float(np.maximum(np.maximum(low - value, value - high), 0.0).max(initial=0.0))
                out[goal.name] = max(out.get(goal.name, 0.0), excess)
        for relation in self.relations:
            total = relation.value(self.character, q)[0]
            out[relation.name] = max(relation.low - total, total - relation.high, 0.0)
        return out

    # -- the same problem with other targets -----------------------------------------------------------------------
    def with_targets(self, goals: Sequence[Goal], start: Array, rest: Array) -> PoseProblem:
        """Returns the same problem with other targets for its goals (same kinds and bodies), another start and rest."""
        points = np.array([g.target for g in goals if is_point(g)]).reshape(-1, 3)
        turns = np.array([g.target for g in goals if is_orientation(g)]).reshape(-1, 4)
        return self._copied(self.compiled_goals.aimed(points, turns), tuple(goals), start, rest)

    def aimed(self, places: Array, turns: Array, start: Array, rest: Array) -> PoseProblem:
        """Returns a copy whose goal points and goal orientations have other targets."""
        point, turn = iter(places), iter(turns)
        goals = tuple(
            [
                g.aimed(next(point)) if is_point(g) else g.aimed(next(turn)) if is_orientation(g) else g
                for g in self.goals
            ]
        )
        return self._copied(self.compiled_goals.aimed(places, turns), goals, start, rest)

    def weighing(self, weights: Array) -> PoseProblem:
        """Returns the same problem, all of whose goals are points, with other weights (goals,)."""
        rows = self.compiled_goals._replace(point_weight=weights)
        goals = tuple(replace(goal, weight=float(w)) for goal, w in zip(self.goals, weights, strict=True))
        copy = self._copied(rows, goals, self.start, self.rest)
        copy.__dict__["row_weights"] = np.repeat(weights, 3)
        return copy

    def _copied(self, rows: CompiledGoals, goals: tuple[Goal, ...], start: Array, rest: Array) -> PoseProblem:
        """Returns a copy that keeps what was computed already: only targets, start and rest differ."""
        self.goal_starts, self._goal_names, self.row_weights, self.joint_weights, self.limits, self._needs_kinematics  # noqa: B018
        self._known_ends  # noqa: B018
        copy = object.__new__(PoseProblem)
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(goals=goals, start=start, rest=rest, compiled_goals=rows)
        return copy

    # -- computed once ---------------------------------------------------------------------------------------------
    @cached_property
    def compiled_goals(self) -> CompiledGoals:
        """Points and orientations, for the compiled rows."""
        return compiled_goals(self.character, self.goals, self.equalities)

    @cached_property
    def row_weights(self) -> Array:
        """Weight of every goal row, in the order of `PoseEvaluation.r`."""
        ordered = in_row_order(self.goals)
        return np.repeat([g.weight for g in ordered], [row_count(g, self.character) for g in ordered]).astype(float)

    @cached_property
    def goal_starts(self) -> Ints:
        """First row of every goal in `PoseEvaluation.r`."""
        return row_starts(self.goals, self.character)[:-1]

    @cached_property
    def _goal_names(self) -> list[str]:
        return [g.name for g in in_row_order(self.goals)]

    @cached_property
    def _needs_kinematics(self) -> bool:
        return bool(self.inequalities) or not all(map(is_compiled, [*self.goals, *self.equalities]))

    @property
    def compiled(self) -> bool:
        """Whether the compiled core can solve it: points and orientations only, besides joint limits."""
        return not (self._needs_kinematics or self.relations)

    @cached_property
    def joint_weights(self) -> Array:
        """Cost of moving each variable: the share of the body's mass it carries, so that a hand moves before the
        trunk.
        """
        return np.ascontiguousarray(tables_of(self.character).heft[self.variables])

    @cached_property
    def limits(self) -> VariableLimits:
        """Limits of the variables."""
        return limits_of_variables(self.character, self.variables)

    # -- rows ------------------------------------------------------------------------------------------------------
    def _stack(self, r: Array, J: Array, goals: Sequence[Goal], kinematics: Kinematics) -> tuple[Array, Array]:
        """Returns the rows of compiled goals, then those of all others."""
        rows, jacs = [r], [J]
        for goal in goals:
            if not is_compiled(goal):
                error, jac = goal.error(kinematics)
                rows.append(goal.weight * error)
                jacs.append(goal.weight * jac[:, self.variables])
        return (np.concatenate(rows), np.concatenate(jacs)) if len(rows) > 1 else (r, J)

    def _inequalities(self, q: Array, kinematics: Kinematics | None) -> tuple[Array, Array]:
        rows = self.limits.ball_rows
        if len(rows):
            g, G = self.character.limits.rows_at(q, rows, self.variables)
            g = g + LIMIT_MARGIN
        else:
            g, G = np.empty(0), np.empty((0, len(self.variables)))
        if not self.inequalities:
            return g, G
        assert kinematics is not None
        parts, jacs = [g], [G]
        for k, goal in enumerate(self.inequalities):
            value = goal.feature.value(kinematics)
            ends = self._ends_of(k, len(value))
            rows_of = [sign * (value[real] - end) + LIMIT_MARGIN for sign, real, end in ends]
            parts += rows_of
            if all(row.max(initial=-np.inf) < -NEAR_LIMIT for row in rows_of):  # too far away to matter in a step
                jacs += [np.zeros((len(row), len(self.variables))) for row in rows_of]
                continue
            jac = goal.feature.jacobian(kinematics)[:, self.variables]
            jacs += [sign * jac[real] for sign, real, _ in ends]
        return np.concatenate(parts), np.concatenate(jacs)

    def _ends_of(self, k: int, rows: int) -> list[tuple[float, Ints, Array]]:
        """Returns (sign, rows, bounds) of the finite ends of an inequality, high ones first; found once."""
        found = self._known_ends.get(k)
        if found is None:
            low, high = self.inequalities[k].bounds(rows)
            sides = [(sign, np.flatnonzero(np.isfinite(end)), end) for sign, end in ((1.0, high), (-1.0, low))]
            found = self._known_ends[k] = [(sign, real, end[real]) for sign, real, end in sides if len(real)]
        return found

    @cached_property
    def _known_ends(self) -> dict[int, list[tuple[float, Ints, Array]]]:
        return {}

    def _relations(self, q: Array, c: Array, C: Array, g: Array, G: Array) -> tuple[Array, Array, Array, Array]:
        for relation in self.relations:
            value, full = relation.value(self.character, q)
            row = full[self.variables][None]
            if relation.low == relation.high:
                c, C = np.append(c, value - relation.low), np.vstack([C, row])
                continue
            if np.isfinite(relation.high):
                g, G = np.append(g, value - relation.high + LIMIT_MARGIN), np.vstack([G, row])
            if np.isfinite(relation.low):
                g, G = np.append(g, relation.low - value + LIMIT_MARGIN), np.vstack([G, -row])
        return c, C, g, G
