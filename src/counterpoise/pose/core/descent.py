"""The compiled descent of posing: first the goals, then the posture with the goals held."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel
from counterpoise.pose.core.restore import fill_bounds, moved_pose, new_scratch, restore_pose, variable_offsets
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
    RestPose,
    StepCap,
    StepProgram,
    WorkingSet,
)

Plain: TypeAlias = tuple[Any, ...]

DAMPING_TRIALS = 8  # dampings tried before a step is given up
MIN_DAMPING = 1e-8
LEAST_CURVATURE = 1e-10  # added to the diagonal of the model
NEGLIGIBLE_STEP = 1e-11  # [rad, m]
SETTLE_TRIALS = 3  # lengths tried of a step towards the posture
SETTLE_SHORTER = 0.4  # each length tried, as a share of the one before
WORTHWHILE_SETTLING = 0.01  # relative decrease of the posture's cost below which settling ends


@kernel
def descend_core(
    q: Array, joints_: Plain, goals_: Plain, goal_weights: Array, rest_: Plain, cap_: Plain, rules_: Plain,
    working_: Plain,
) -> tuple[Array, float, bool, bool, int, float]:  # fmt: skip
    """Follows the goals downhill from q, holding the constraints.

    Arguments with an underscore are plain tuples, with the fields of `CompiledJoints` (and its parts), `CompiledGoals`,
    `RestPose`, `StepCap`, `CoreRules` and `WorkingSet`: compiled code takes them faster than named ones.
    Returns (q, cost, whether constraints hold, whether goals are reached, iterations, last relative gain).
    """
    tree, ancestors, dofs, ranges, balls = joints_
    joints = CompiledJoints(tree, ancestors, Dofs(*dofs), Ranges(*ranges), BallLimits(*balls))
    goals, rest, cap = CompiledGoals(*goals_), RestPose(*rest_), StepCap(*cap_)
    rules, working, scratch = CoreRules(*rules_), WorkingSet(*working_), new_scratch(joints)
    goal_rows = len(goals.goal_rows)
    here, held = restore_pose(q, goal_rows, joints, goals, cap, rules, scratch)
    cost = _cost(here.r, goal_rows, variable_offsets(rest.q, here.q, joints.dofs), rest)
    if not held:
        return here.q, cost, False, False, 0, 0.0
    scratch.g_kept[:], scratch.G_kept[:] = scratch.g, scratch.G
    here, cost, done, gain = _approach(here, cost, joints, goals, goal_weights, rest, cap, rules, working, scratch)
    reached = _reached(here.r, goal_rows, goal_weights, rules.tolerance)
    if reached and rules.settle > 0:
        here, spent, gain = _settle(here, gain, joints, goals, rest, cap, rules, working, scratch)
        done += spent
        cost = _cost(here.r, goal_rows, variable_offsets(rest.q, here.q, joints.dofs), rest)
    return here.q, cost, True, reached, done, gain


@inner_kernel_with_arrays
def _approach(
    here: PoseRows, cost: float, joints: CompiledJoints, goals: CompiledGoals, goal_weights: Array, rest: RestPose,
    cap: StepCap, rules: CoreRules, working: WorkingSet, scratch: CoreScratch,
) -> tuple[PoseRows, float, int, float]:  # fmt: skip
    """Follows the goals downhill until they are reached or nothing is gained.

    Returns (pose, cost, iterations, last relative gain).
    """
    dofs, n, goal_rows = joints.dofs, len(joints.dofs.variables), len(goals.goal_rows)
    D, p, weight2 = np.empty(n), np.empty(n), rest.weight * rest.weight
    damping, done, slow, gain = rules.damping, 0, 0, 1.0
    offset = variable_offsets(rest.q, here.q, dofs)
    while done < rules.iterations and not _reached(here.r, goal_rows, goal_weights, rules.tolerance):
        done += 1
        stuck = True
        for _ in range(DAMPING_TRIALS):
            for i in range(n):
                D[i] = rest.joint_weights[i] * weight2 + damping * 2.0 * cost + LEAST_CURVATURE
                p[i] = rest.joint_weights[i] * weight2 * offset[i]
            fill_bounds(here.q, dofs, joints.ranges, cap, scratch.low, scratch.high)
            program = StepProgram(
                goal_rows, here.J, here.r, D, p, scratch.g_kept, scratch.G_kept, scratch.low, scratch.high
            )
            x, _ = bounded_step(program, working)
            if _longest(x) < NEGLIGIBLE_STEP:
                break
            trial = moved_pose(here.q, x, dofs, joints.ranges)
            there, held = restore_pose(trial, goal_rows, joints, goals, cap, rules, scratch)
            trial_offset = variable_offsets(rest.q, there.q, dofs)
            trial_cost = _cost(there.r, goal_rows, trial_offset, rest)
            if held and trial_cost < cost:
                gain = (cost - trial_cost) / max(cost, 1e-300)
                here, cost, offset, stuck = there, trial_cost, trial_offset, False
                scratch.g_kept[:], scratch.G_kept[:] = scratch.g, scratch.G
                damping = max(damping * (0.1 if gain > 0.5 else 0.3), MIN_DAMPING)
                break
            damping *= 8.0
        slow = slow + 1 if gain < rules.flat else 0
        if stuck or slow >= 2:
            break
    return here, cost, done, gain


@kernel
def _settle(
    here: PoseRows, gain: float, joints: CompiledJoints, goals: CompiledGoals, rest: RestPose, cap: StepCap,
    rules: CoreRules, working: WorkingSet, scratch: CoreScratch,
) -> tuple[PoseRows, int, float]:  # fmt: skip
    """Moves towards the rest pose with the goals held like constraints. Returns (pose, iterations, last gain)."""
    dofs, done = joints.dofs, 0
    none_free = int(np.int64(0))  # a plain 0 has a type of its own, for which `restore_pose` would be compiled again
    for _ in range(rules.settle):
        offset = variable_offsets(rest.q, here.q, dofs)
        before = _posture_cost(offset, rest.joint_weights)
        fill_bounds(here.q, dofs, joints.ranges, cap, scratch.low, scratch.high)
        program = StepProgram(
            0, here.J, here.r, rest.joint_weights, rest.joint_weights * offset, scratch.g_kept, scratch.G_kept,
            scratch.low, scratch.high,
        )  # fmt: skip
        x, _ = bounded_step(program, working)
        better, share = False, 1.0
        for _ in range(SETTLE_TRIALS):
            trial = moved_pose(here.q, share * x, dofs, joints.ranges)
            there, held = restore_pose(trial, none_free, joints, goals, cap, rules, scratch)
            after = _posture_cost(variable_offsets(rest.q, there.q, dofs), rest.joint_weights)
            if held and after < before:
                gain = (before - after) / max(before, 1e-300)
                here, better = there, True
                scratch.g_kept[:], scratch.G_kept[:] = scratch.g, scratch.G
                break
            share *= SETTLE_SHORTER
        done += 1
        if not better or gain < WORTHWHILE_SETTLING:
            break
    return here, done, gain


@inner_kernel
def _longest(x: Array) -> float:
    longest = 0.0
    for i in range(len(x)):
        longest = max(longest, abs(x[i]))
    return longest


@kernel
def _cost(r: Array, goal_rows: int, offset: Array, rest: RestPose) -> float:
    """Returns half the sum of squares of the goals and the posture."""
    total = 0.0
    for i in range(goal_rows):
        total += r[i] * r[i]
    for i in range(len(offset)):
        total += rest.weight * rest.weight * rest.joint_weights[i] * offset[i] * offset[i]
    return 0.5 * total


@inner_kernel
def _posture_cost(offset: Array, joint_weights: Array) -> float:
    total = 0.0
    for i in range(len(offset)):
        total += joint_weights[i] * offset[i] * offset[i]
    return total


@kernel
def _reached(r: Array, goal_rows: int, weights: Array, tolerance: float) -> bool:
    """Whether every goal is within tolerance, weights taken out."""
    for i in range(goal_rows // 3):
        size = 0.0
        for k in range(3):
            size += (r[3 * i + k] / weights[3 * i + k]) ** 2
        if size > tolerance * tolerance:
            return False
    return True
