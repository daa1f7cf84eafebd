"""The compiled core: the rows of a pose, its limits, and the way back onto the constraints."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import forward_kinematics
from counterpoise.character.limits import fill_ball_rows
from counterpoise.character.manifold import batch_difference, batch_integrate
from counterpoise.kernels import inner_kernel_with_arrays, kernel
from counterpoise.pose.core.rows import evaluate_rows
from counterpoise.pose.core.step import bounded_step
from counterpoise.pose.core.tables import (
    BallLimits,
    CompiledGoals,
    CompiledJoints,
    CoreRules,
    CoreScratch,
    Dofs,
    PoseRows,
    Ranges,
    StepCap,
    StepProgram,
    WorkingSet,
)

RESTORATIONS = 14  # steps back onto the constraints
SURE_RESTORATIONS = 6  # after these, a step that does not halve the violation ends the search
LONGEST_STEP = 1.0  # [rad, m]: no variable moves further in one step


@inner_kernel_with_arrays
def new_scratch(joints: CompiledJoints) -> CoreScratch:
    """Returns the arrays the core works in."""
    bodies, nv, n = len(joints.tree[0]), joints.dofs.nv, len(joints.dofs.variables)
    limits = len(joints.balls.offsets) + 2 * len(joints.balls.qpos)
    xpos, xmat, xquat = np.zeros((bodies, 3)), np.zeros((bodies, 9)), np.zeros((bodies, 4))
    xmat[0, 0] = xmat[0, 4] = xmat[0, 8] = xquat[0, 0] = 1.0
    return CoreScratch(
        xpos, xmat, xquat, np.zeros((nv, 6)), np.zeros(limits), np.zeros((limits, n)), np.zeros(limits),
        np.zeros((limits, n)), np.empty(n), np.empty(n),
        WorkingSet(np.zeros(n, np.int64), np.zeros(limits, np.int64)),
    )  # fmt: skip


@inner_kernel_with_arrays
def restore_pose(
    q: Array, free_rows: int, joints: CompiledJoints, goals: CompiledGoals, cap: StepCap, rules: CoreRules,
    scratch: CoreScratch,
) -> tuple[PoseRows, bool]:  # fmt: skip
    """Brings q back onto the constraints by the shortest steps. Rows from `free_rows` on are held at zero.

    Returns the pose with its rows, and whether the constraints hold. Leaves its limit rows in `scratch`.
    """
    dofs, limits = joints.dofs, len(scratch.g)
    n, held, active = len(dofs.variables), scratch.working.held, scratch.working.active
    in_order = goals.goal_turns == 0 or goals.goal_points == len(goals.point_body)
    best, origin = 1e300, np.zeros(3)
    for count in range(RESTORATIONS):
        forward_kinematics(q, joints.tree, scratch.xpos, scratch.xmat, scratch.xquat, scratch.motion)
        r, J = evaluate_rows(
            scratch.motion, joints.ancestors, scratch.xpos, scratch.xmat, origin, dofs.variables, goals
        )
        if not in_order:
            r, J = goals_first(r, J, goals.goal_rows, goals.equality_rows)
        if limits:
            fill_limit_rows(q, joints.balls, rules.margin, scratch.g, scratch.G)
        miss, excess = 0.0, 0.0
        for i in range(free_rows, len(r)):
            miss = max(miss, abs(r[i]))
        for i in range(limits):
            excess = max(excess, scratch.g[i])
        if miss <= rules.constraint_tolerance and excess <= 0.5 * rules.margin:
            return PoseRows(q, r, J), True
        violation = max(miss, excess)
        if count >= SURE_RESTORATIONS and violation > 0.5 * best:
            return PoseRows(q, r, J), False
        best = min(best, violation)
        fill_bounds(q, dofs, joints.ranges, cap, scratch.low, scratch.high)
        held[:] = 0
        for i in range(limits):
            active[i] = 1 if scratch.g[i] > 0.0 else 0
        shortest = StepProgram(
            0, J[free_rows:], r[free_rows:], np.ones(n), np.zeros(n), scratch.g, scratch.G, scratch.low, scratch.high
        )
        x, _ = bounded_step(shortest, scratch.working)
        for i in range(n):
            if not np.isfinite(x[i]):
                return PoseRows(q, r, J), False
        q = moved_pose(q, x, dofs, joints.ranges)
    return PoseRows(q, r, J), False


@inner_kernel_with_arrays
def goals_first(r: Array, J: Array, goal_rows: Ints, equality_rows: Ints) -> tuple[Array, Array]:
    """Returns the rows with those of the goals first."""
    values, slopes, wanted = np.empty_like(r), np.empty_like(J), len(goal_rows)
    for i in range(len(r)):
        row = goal_rows[i] if i < wanted else equality_rows[i - wanted]
        values[i] = r[row]
        slopes[i] = J[row]
    return values, slopes


@kernel
def fill_limit_rows(q: Array, balls: BallLimits, margin: float, g: Array, G: Array) -> None:
    """Fills swing and twist rows of the balls that may move, `margin` inside their limits."""
    row = 0
    for j in range(len(balls.qpos)):
        first, last = balls.first_face[j], balls.first_face[j + 1]
        count = last - first + 2
        slope = np.empty((count, 3))
        fill_ball_rows(
            q[balls.qpos[j] : balls.qpos[j] + 4], balls.axis[j], balls.rest[j], balls.normals[first:last],
            balls.offsets[first:last], balls.twist[j, 0], balls.twist[j, 1], g[row : row + count], slope,
        )  # fmt: skip
        for i in range(count):
            g[row + i] += margin
            for k in range(3):
                G[row + i, balls.variable[j] + k] = slope[i, k]
        row += count


@inner_kernel_with_arrays
def fill_bounds(q: Array, dofs: Dofs, ranges: Ranges, cap: StepCap, low: Array, high: Array) -> None:
    """Fills how far each variable may move down and up from q: by its range, by the cap, by the longest step."""
    n = len(dofs.variables)
    for i in range(n):
        low[i], high[i] = -LONGEST_STEP, LONGEST_STEP
    for i in range(len(ranges.variable)):
        at = ranges.variable[i]
        low[at] = max(low[at], ranges.low[i] - q[ranges.qpos[i]])
        high[at] = min(high[at], ranges.high[i] - q[ranges.qpos[i]])
    if len(cap.furthest):
        offset = variable_offsets(cap.q, q, dofs)
        for i in range(n):
            low[i] = max(low[i], -cap.furthest[i] - offset[i])
            high[i] = min(high[i], cap.furthest[i] - offset[i])
    for i in range(n):
        low[i], high[i] = min(low[i], 0.0), max(high[i], 0.0)


@inner_kernel_with_arrays
def moved_pose(q: Array, x: Array, dofs: Dofs, ranges: Ranges) -> Array:
    """Returns q after a step of the variables; hinges and slides stay exactly inside their ranges."""
    step = np.zeros((1, dofs.nv))
    for i in range(len(dofs.variables)):
        step[0, dofs.variables[i]] = x[i]
    out = batch_integrate(dofs.layout, q.reshape(1, -1), step)[0]
    for i in range(len(ranges.qpos)):
        at = ranges.qpos[i]
        out[at] = min(max(out[at], ranges.low[i]), ranges.high[i])
    return out


@inner_kernel_with_arrays
def variable_offsets(start: Array, q: Array, dofs: Dofs) -> Array:
    """Returns the tangent (n,) from `start` to q, of the variables."""
    whole = batch_difference(dofs.layout, dofs.nv, start.reshape(1, -1), q.reshape(1, -1))[0]
    out = np.empty(len(dofs.variables))
    for i in range(len(out)):
        out[i] = whole[dofs.variables[i]]
    return out
