"""What the compiled core reads and writes: named tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import Tree


class CompiledGoals(NamedTuple):
    """Points and orientations, which one compiled pass evaluates together: goals first, then equalities."""

    point_body: Ints  # (points,)
    point_place: Array  # (points, 3) in the body's frame [m]
    point_target: Array  # (points, 3) [m]
    point_weight: Array  # (points,)
    turn_body: Ints  # (turns,)
    turn_target: Array  # (turns, 4)
    turn_weight: Array  # (turns,)
    goal_points: int  # how many of the points are goals
    goal_turns: int  # how many of the orientations are goals
    goal_rows: Ints  # rows of goals among all rows: 3 a point, then 3 an orientation
    equality_rows: Ints  # rows of equalities

    def aimed(self, points: Array, turns: Array) -> CompiledGoals:
        """Returns the same with other targets for the points and orientations that are goals."""
        point_target, turn_target = self.point_target.copy(), self.turn_target.copy()
        point_target[: self.goal_points], turn_target[: self.goal_turns] = points, turns
        return self._replace(point_target=point_target, turn_target=turn_target)


class Ranges(NamedTuple):
    """Variables with a range: hinges and slides."""

    variable: Ints  # place among the variables
    qpos: Ints  # address in q
    low: Array  # [rad, m]
    high: Array


class BallLimits(NamedTuple):
    """Swing and twist limits of the balls among the variables, as `JointLimits.ball_tables` gives them."""

    qpos: Ints  # address of the quaternion in q
    variable: Ints  # place of the first of its dofs among the variables
    axis: Array  # (balls, 3)
    rest: Array  # (balls, 4)
    normals: Array  # (faces, 3) of the swing cones
    offsets: Array  # (faces,)
    first_face: Ints  # (balls + 1,)
    twist: Array  # (balls, 2) low and high [rad]


class Dofs(NamedTuple):
    """The dofs that may move, among all dofs of the body."""

    layout: Ints  # (njnt, 3): joint type, qpos address, dof address
    nv: int
    variables: Ints  # (n,)


class CompiledJoints(NamedTuple):
    """The body's tree, and the joints that may move with their limits."""

    tree: Tree
    ancestors: Array  # (nbody, nv): 1 where a dof moves a body
    dofs: Dofs
    ranges: Ranges
    balls: BallLimits


class RestPose(NamedTuple):
    """The posture to stay near: w_p^2 times the squares of the distances of the variables, each with its weight."""

    q: Array  # (nq,)
    weight: float  # w_p
    joint_weights: Array  # (n,)


class StepCap(NamedTuple):
    """Keeps every variable within `furthest` of the pose `q`. Without a cap `furthest` is empty."""

    q: Array  # (nq,)
    furthest: Array  # (n,) [rad, m]


class CoreRules(NamedTuple):
    """Numbers of the method; see `PoseTuning`."""

    tolerance: float  # [m, rad] of goals
    damping: float
    iterations: int
    flat: float
    settle: int
    margin: float  # [rad, m]: limits are kept this far inside
    constraint_tolerance: float  # [m, rad]


class StepProgram(NamedTuple):
    """Minimise |J x + r|^2 / 2 + x'D x / 2 + p'x over goal rows, under C x = -c, G x <= -g and low <= x <= high.

    `J` and `r` hold the rows of the goals, then those of the equalities C and c.
    """

    goal_rows: int  # how many of the rows are goals
    J: Array  # (rows, n)
    r: Array  # (rows,)
    D: Array  # (n,)
    p: Array  # (n,)
    g: Array  # (limits,)
    G: Array  # (limits, n)
    low: Array  # (n,)
    high: Array  # (n,)


class WorkingSet(NamedTuple):
    """Variables held at a bound and limit rows that are active: a first guess before a step, the answer after it."""

    held: Ints  # (n,) -1 at the lower bound, 0 free, 1 at the upper bound
    active: Ints  # (limits,) 0 or 1


class CoreScratch(NamedTuple):
    """Arrays that the core writes anew for every pose."""

    xpos: Array  # (nbody, 3)
    xmat: Array  # (nbody, 9)
    xquat: Array  # (nbody, 4)
    motion: Array  # (nv, 6) motion vectors of the dofs
    g: Array  # (limits,) at the pose tried last
    G: Array  # (limits, n)
    g_kept: Array  # (limits,) at the pose accepted last
    G_kept: Array  # (limits, n)
    low: Array  # (n,) bounds of a step
    high: Array  # (n,)
    working: WorkingSet  # of the steps back onto the constraints


class PoseRows(NamedTuple):
    """A pose with its rows: goals first, then equalities."""

    q: Array  # (nq,)
    r: Array  # (rows,)
    J: Array  # (rows, n)
