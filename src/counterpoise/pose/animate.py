"""Animation: a motion from effectors that follow paths, pins kept in every frame (after Bawa 1995).

wave = cp.Path.through("hand_right", points, duration=1.5, speed="ease")
motion = cp.animate(human, [wave], [cp.Pin("foot_left"), cp.Lock("foot_left")])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.pose.animation import GOAL_TOLERANCE, Animation, Frame, Watching, frame_times, make_frames
from counterpoise.pose.build import anchor_constraints, build_pose_problem
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.goals import PoseGoal, Posture
from counterpoise.pose.nearest import inertia_weights, nearest_pose
from counterpoise.pose.paths import Path
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.solver import solve_pose

MAX_JOINT_SPEED = 6.0  # [rad/s]: no joint turns faster than this ...
TURN_PER_HEIGHT = 12.0  # [rad]: ... or further than this while the fastest target moves by the figure's height


def animate(
    character: Character,
    paths: Sequence[Path] | Path = (),
    constraints: Sequence[PoseConstraint] = (),
    goals: Sequence[PoseGoal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Watching = None,
    name: str = "",
) -> Motion:
    """Returns the motion in which points of the body follow their paths, and the constraints hold in every frame.

    Frames come at `rate` a second from the first path's start to the last one's end, or for `duration` seconds. `goals`
    count in every frame. Of all poses that meet them each frame takes the one nearest to the `start` pose (neutral when
    None), or to a `Posture` among the goals. `progress` gets a report after every frame (True: a bar); Ctrl-C
    keeps the frames that are done. See also `animate_with_report`.
    """
    return animate_with_report(character, paths, constraints, goals, start, rate, duration, progress, name).motion


def animate_with_report(
    character: Character,
    paths: Sequence[Path] | Path = (),
    constraints: Sequence[PoseConstraint] = (),
    goals: Sequence[PoseGoal] = (),
    start: ArrayLike | None = None,
    rate: float = 60.0,
    duration: float | None = None,
    progress: Watching = None,
    name: str = "",
) -> Animation:
    """As `animate`, with the report on every frame: its status, its worst goal and constraint."""
    followed = [paths] if isinstance(paths, Path) else list(paths)
    for path in followed:
        if not isinstance(path, Path):
            raise BadValue(f"animate follows paths (Path.through, Path.from_stroke), not {type(path).__name__}")
        character.body_id(path.body)
    times = _path_times(followed, rate, duration)
    begin = character.limits.clamp(character.neutral if start is None else character.check_pose(start, "start"))
    posture = next((goal.pose for goal in goals if isinstance(goal, Posture) and goal.pose is not None), None)
    rest = begin if posture is None else character.limits.clamp(character.check_pose(posture, "rest pose"))
    held = anchor_constraints(character, constraints, begin)
    lasting: list[PoseGoal] = [goal for goal in goals if not isinstance(goal, Posture)]
    weights, q = inertia_weights(character), begin

    def make(k: int, t: float) -> Frame:
        nonlocal q
        wanted = [*(goal for path in followed for goal in path.goals(t)), *lasting, Posture(rest)]
        problem = build_pose_problem(character, wanted, held, begin)
        if k == 0:
            q = _first_pose(problem, wanted, held, rest, weights, begin)
        else:
            cap = _frame_cap(character, followed, float(times[k - 1]), t)
            found = nearest_pose(problem, rest, weights, q, (q, cap))
            q = found.q if found.held else q  # the frame before holds all constraints
        return Frame(q, True, problem.residuals(q), problem.violations(q))

    return make_frames(character, times, make, progress, name)


def _path_times(paths: Sequence[Path], rate: float, duration: float | None) -> Array:
    """Returns the times of the frames, from the first path's start to the last one's end or for a duration."""
    if not paths and duration is None:
        raise BadValue("animate needs a path to follow, or a duration")
    if duration is not None and not (np.isfinite(duration) and duration > 0.0):
        raise BadValue(f"a duration is a positive number of seconds; got {duration!r}")
    first = min((path.start for path in paths), default=0.0)
    last = max((path.end for path in paths), default=0.0) if duration is None else first + duration
    return frame_times(first, last, rate)


def _first_pose(
    problem: PoseProblem,
    goals: Sequence[PoseGoal],
    held: Sequence[PoseConstraint],
    rest: Array,
    weights: Array,
    begin: Array,
) -> Array:
    """Returns the pose of the first frame: found from the start, or by posing from many starts."""
    found = nearest_pose(problem, rest, weights, begin)
    missed = max(problem.residuals(found.q).values(), default=0.0)
    if found.held and missed <= GOAL_TOLERANCE:
        return found.q
    posed = solve_pose(problem.character, goals, held, begin)
    if posed.status == "infeasible":
        raise BadValue(
            f"the constraints cannot hold together: {', '.join(posed.conflict) or 'unknown'}", conflict=posed.conflict
        )
    again = nearest_pose(problem, rest, weights, posed.q)
    better = again.held and (not found.held or max(problem.residuals(again.q).values(), default=0.0) < missed)
    return again.q if better else (found.q if found.held else posed.q)


def _frame_cap(character: Character, paths: Sequence[Path], before: float, now: float) -> Array:
    """Returns how far each dof may move in one frame (nv,); slides and the root's position are not limited.

    So nothing jumps where a target leaves reach and a limb straightens.
    """
    shift = max((float(np.linalg.norm(path.at(now) - path.at(before))) for path in paths), default=0.0)
    turn = max(MAX_JOINT_SPEED * (now - before), TURN_PER_HEIGHT * shift / character.height)
    cap = np.full(character.nv, turn)
    for joint in character.joints:
        if joint.kind == "slide":
            cap[joint.dofs] = np.inf
        elif joint.kind == "free":
            cap[joint.dofs.start : joint.dofs.start + 3] = np.inf
    return cap
