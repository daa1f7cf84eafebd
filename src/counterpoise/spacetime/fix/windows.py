"""All windows of a fix, one after the other. Frames that cannot be made possible are given up and stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.progress import Reporter
from counterpoise.spacetime.check.support import widened
from counterpoise.spacetime.fix.physics import Window
from counterpoise.spacetime.fix.result import FixedWindow
from counterpoise.spacetime.fix.task import FixTask

GIVEN_UP_POSE_WEIGHT = 1000.0  # factor on the cost of changing a frame that is given up
GIVE_UP_NEIGHBOURS = 0.4  # [s] frames this near to one that moved too far are given up too, if they began impossible
MAX_ATTEMPTS = 3  # at a window, with more frames given up each time
STUCK_SHARE = 0.9  # a refinement that leaves more of the impossible residuals than this is the last
REFINEMENTS = 3  # times that pressing points are found again in a window
FIRST_TOLERANCE, TOLERANCE = (
    0.03,
    0.005,
)  # relative gain of a step that counts as small: before refinements, and in them
MIN_FORCE_WEIGHT = 0.5  # frames with a smaller weight are not given up
END_FRAMES, END_FADE = 3, 3.0  # frames at each end without a reliable acceleration, and over which weights then rise
MIN_COEFFICIENTS = 8  # of a window


@dataclass(frozen=True, eq=False)
class FrameWeights:
    """How much the residual of each frame counts, and how much it costs to change the frame."""

    force: Array  # (n,)
    pose: Array  # (n,)


def solve_windows(
    task: FixTask, x: Array, carried: Flags, reporter: Reporter
) -> tuple[tuple[FixedWindow, ...], float, bool]:
    """Solves all windows; x changes in place. Returns the windows, the end of the last [s], and whether it was stopped.

    Frames that are `carried` (n,) by something unseen are left alone. A frame that is given up in the part of a window
    that only looks ahead is tried again in the next window, in which it is no longer at the edge.
    """
    times, basis, tuning = task.motion.times, task.basis, task.tuning
    n = len(times)
    initial = _initial_weights(task, carried)
    weights = FrameWeights(initial.force.copy(), initial.pose.copy())
    per = max(MIN_COEFFICIENTS, round(tuning.window / (basis.per * basis.step)))
    over = max(MIN_COEFFICIENTS, round(tuning.overlap / (basis.per * basis.step)))
    out: list[FixedWindow] = []
    first, total = 0, basis.coefficients
    until = float(times[0])
    while first < total:
        last = first + per + over
        if total - last < per // 2:
            last = total
        message = f"window at {until:.2f} s"
        go_on = reporter.report("physics", first / total, message)
        try:
            if go_on:
                going = partial(reporter.report, "physics", first / total, message)
                cost, steps = solve_window(task, x, first, last, weights, going)
        except KeyboardInterrupt:
            reporter.interrupt()
        if reporter.stopped:
            x[first:] = 0.0
            return tuple(out), until, True
        done = total if last == total else first + per
        frame = n - 1 if done == total else min(max(done - basis.edge - 3, 0) * basis.per, n - 1)
        weights.force[frame:], weights.pose[frame:] = initial.force[frame:], initial.pose[frame:]
        out.append(FixedWindow(until, float(times[frame]), *cost, steps))
        until, first = float(times[frame]), done
    return tuple(out), float(times[-1]), False


def _initial_weights(task: FixTask, carried: Flags) -> FrameWeights:
    n = len(task.motion)
    from_end = np.minimum(np.arange(n), np.arange(n)[::-1])
    alone = widened(carried, task.tuning.give_up_margin, 1.0 / task.basis.step)
    rising = np.clip((from_end - END_FRAMES + 1) / END_FADE, 0.0, 1.0)
    return FrameWeights(np.where(alone, 0.0, rising), np.where(alone, GIVEN_UP_POSE_WEIGHT, 1.0))


def solve_window(
    task: FixTask, x: Array, first: int, last: int, weights: FrameWeights, go_on: Callable[[], bool]
) -> tuple[tuple[float, float], int]:
    """Solves one window; x and the weights change in place. Returns the costs before and after, and the steps taken.

    If frames stay impossible, the window is solved again from the start without their forces. `go_on` is asked at every
    step; once it says no, x is somewhere on the way.
    """
    began, steps, cost = x[first:last].copy(), 0, (0.0, 0.0)
    tuning, step = task.tuning, task.basis.step
    if not weights.force[task.basis.touched(first, last)].any():
        return cost, steps
    inside = task.basis.first + task.basis.width <= last  # frames that no coefficient beyond the window reaches
    inside |= last >= task.basis.coefficients
    half = -(-int(tuning.steps) // 2)
    margin = round(tuning.give_up_margin / step)
    for _ in range(MAX_ATTEMPTS):
        window = Window(task, x, first, last, weights.force, weights.pose)
        impossible_before = _residuals(window, x) > tuning.give_up_residual
        before, after, more = window.improve(half, FIRST_TOLERANCE, go_on)
        steps += more
        counted = (window.force_weights > MIN_FORCE_WEIGHT) & inside[window.picked]
        given_up, far = np.zeros_like(counted), window.distance(x) > tuning.give_up_distance
        left_before = np.inf
        for _ in range(0 if far.any() else REFINEMENTS):
            if not go_on():
                return cost, steps
            window.find_pressing_points()
            _, after, more = window.improve(half, TOLERANCE, go_on)
            steps, cost = steps + more, (before, after)
            residual = np.where(counted, _residuals(window, x), 0.0)
            given_up = residual > tuning.give_up_residual
            far = window.distance(x) > tuning.give_up_distance
            if not given_up.any() and not far.any():
                return cost, steps
            left = float(residual[given_up].sum())
            if far.any() or left > STUCK_SHARE * left_before:
                break
            left_before = left
        if far.any():
            near = widened(far, GIVE_UP_NEIGHBOURS, 1.0 / (window.stride * step))
            given_up |= far | (impossible_before & near)
        for k in window.picked[given_up]:
            around = slice(max(0, k - margin), k + margin + 1)
            weights.force[around], weights.pose[around] = 0.0, GIVEN_UP_POSE_WEIGHT
        x[first:last] = began
    return (cost[0], cost[0]), steps


def _residuals(window: Window, x: Array) -> Array:
    """Returns the residuals (m,) of the picked frames of a window [body weights]."""
    return np.asarray(np.linalg.norm(window.evaluate(x).residual, axis=1))
