"""The states a simulation starts from."""

from __future__ import annotations

from collections.abc import Sequence

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.errors import BadValue
from counterpoise.simulate.world import World, ground_normal

POSTURE_WEIGHT = 1e-2  # of the neutral pose on a slope, against 1 of the CoM above the feet [1/m^2]


def standing_start(character: Character, world: World) -> State:
    """Returns the state in which a figure starts: the neutral pose at rest.

    On tilted ground it is the nearest pose with all soles on the ground and the CoM where it is above the feet.
    """
    if not any(world.tilt) or not character.floating or not character.feet:
        return character.state()
    here = take_snapshot(character, character.state())
    up = lifted(character, character.state(), max(world.height_at(p[0], p[1]) - p[2] for p in here.contact_position))
    found = _pose_on_slope(character, *world.tilt)
    return up if found is None else character.state(found)


@kept_with_character
def _pose_on_slope(character: Character, roll: float, pitch: float) -> Array | None:
    """Returns the pose nearest to the neutral one that stands on a slope [deg]; None where there is none."""
    from counterpoise.pose.constraints import OnPlane
    from counterpoise.pose.goals import CenterOfMass, PoseGoal, Posture, Reach
    from counterpoise.pose.solver import solve_pose

    here = take_snapshot(character, character.state())
    normal = ground_normal((roll, pitch))
    soles = [OnPlane(point.body, (0.0, 0.0, 0.0), normal, point.position) for point in character.contact_points]
    x, y = here.com[:2]
    goals: list[PoseGoal] = [CenterOfMass((float(x), float(y), None)), Posture(weight=POSTURE_WEIGHT)]
    for body in dict.fromkeys(foot.body for foot in character.feet):
        place = here.position(body)
        goals.append(Reach(body, place - [0.0, 0.0, (normal[0] * place[0] + normal[1] * place[1]) / normal[2]]))
    pose = solve_pose(character, goals, soles)
    return pose.q if pose.status != "infeasible" else None


def lifted(character: Character, state: State, height: float) -> State:
    """The state with the root raised by `height` [m]."""
    q = state.q.copy()
    root = character.joints[0]
    up = root.qpos.start + 2 if root.kind == "free" else character.joint("root_z").qpos.start
    q[up] += height
    return character.state(q, state.v)


def start_states(start: State | Sequence[State] | None, figures: Sequence[Character], world: World) -> list[State]:
    """One start state for each figure: those given, or standing ones."""
    if start is None:
        return [standing_start(figure, world) for figure in figures]
    given = [start] if isinstance(start, State) else list(start)
    if len(given) != len(figures):
        raise BadValue(f"{len(figures)} figures need {len(figures)} start states; got {len(given)}")
    return [figure.state(s.q, s.v, s.time) for figure, s in zip(figures, given, strict=True)]
