"""The states a simulation starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.errors import BadValue
from counterpoise.simulate.world import World, ground_normal

POSTURE_WEIGHT = 1e-2  # of the neutral pose on a slope, against 1 of the CoM above the feet [1/m^2]
SAME_HEIGHT = 1e-3  # [m] between soles that count as equally high

Plane = tuple[float, float, float, float, float, float]  # a point of it, its normal
UP = (0.0, 0.0, 1.0)


def standing_start(character: Character, world: World) -> State:
    """Returns the state in which a figure starts: the neutral pose at rest, on the ground below it.

    On tilted ground, or with feet on different heights of a terrain, it is the nearest pose with all soles on the
    ground and the CoM where it is above the feet.
    """
    return set_on_ground(character, character.state(), world)


def set_on_ground(character: Character, state: State, world: World) -> State:
    """Returns the state with its feet on the ground below them; its velocity stays.

    Where one height fits all feet, the figure is only raised. A figure whose feet cannot all reach the ground is
    raised until no point of its feet is inside of it.
    """
    if not (any(world.tilt) or world.terrain is not None) or not character.floating or not character.feet:
        return state
    here = take_snapshot(character, state)
    planes = _planes_under_feet(character, here, world)
    rise = max(world.height_at(p[0], p[1]) - p[2] for p in here.contact_position)
    first = planes[0]
    if first[3:] == UP and all(plane[2:] == first[2:] for plane in planes):
        soles = [min(h) for h in _by_foot(character, here.contact_position[:, 2].tolist())]
        if max(soles) - min(soles) < SAME_HEIGHT:
            return lifted(character, state, first[2] - _sole_height(here))
    found = _pose_on_planes(character, state.q.tobytes(), tuple(planes))
    return lifted(character, state, rise) if found is None else character.state(found, state.v, state.time)


def _planes_under_feet(character: Character, here: Snapshot, world: World) -> list[Plane]:
    """Returns the plane that each foot stands on: on terrain, that below its point with the highest ground."""
    if world.terrain is None:
        nx, ny, nz = ground_normal(world.tilt).tolist()
        return [(0.0, 0.0, 0.0, nx, ny, nz)] * len(character.feet)
    out: list[Plane] = []
    for points in _by_foot(character, here.contact_position.tolist()):
        x, y, _ = max(points, key=lambda p: world.height_at(p[0], p[1]))
        surface = world.terrain.surface(x, y)
        ox, oy, oz = np.asarray(surface.origin).tolist()
        nx, ny, nz = surface.normal.tolist()
        out.append((ox, oy, oz, nx, ny, nz))
    return out


def _sole_height(here: Snapshot) -> float:
    """Returns the height of the lowest contact point [m]; zero where it is nearly so, as in a neutral pose."""
    low = float(here.contact_position[:, 2].min())
    return low if abs(low) > SAME_HEIGHT else 0.0


def _by_foot(character: Character, values: list[Any]) -> list[list[Any]]:
    """Returns what belongs to each contact point as one list for each foot."""
    out, first = [], 0
    for foot in character.feet:
        out.append(values[first : first + len(foot.points)])
        first += len(foot.points)
    return out


@kept_with_character
def _pose_on_planes(character: Character, pose: bytes, planes: tuple[Plane, ...]) -> Array | None:
    """Returns the pose nearest to a given one with each foot on its plane; None where there is none."""
    from counterpoise.pose.constraints import OnPlane
    from counterpoise.pose.goals import CenterOfMass, PoseGoal, Posture, Reach
    from counterpoise.pose.solver import solve_pose

    state = character.state(np.frombuffer(pose))
    here = take_snapshot(character, state)
    x, y = here.com[:2]
    goals: list[PoseGoal] = [CenterOfMass((float(x), float(y), None)), Posture(state.q, weight=POSTURE_WEIGHT)]
    soles = []
    for foot, (ox, oy, oz, *normal) in zip(character.feet, planes, strict=True):
        soles += [OnPlane(point.body, (ox, oy, oz), normal, point.position) for point in foot.points]
    sole = _sole_height(here)
    planes_of_bodies = {foot.body: plane for foot, plane in zip(character.feet, planes, strict=True)}
    for body, (ox, oy, oz, nx, ny, nz) in planes_of_bodies.items():
        place = here.position(body)
        ground = oz - (nx * (place[0] - ox) + ny * (place[1] - oy)) / nz
        goals.append(Reach(body, place + [0.0, 0.0, ground - sole]))
    found = solve_pose(character, goals, soles, start=state.q)
    return found.q if found.status != "infeasible" else None


def lifted(character: Character, state: State, height: float) -> State:
    """The state with the root raised by `height` [m]."""
    q = state.q.copy()
    root = character.joints[0]
    up = root.qpos.start + 2 if root.kind == "free" else character.joint("root_z").qpos.start
    q[up] += height
    return character.state(q, state.v, state.time)


def start_states(start: State | Sequence[State] | None, figures: Sequence[Character], world: World) -> list[State]:
    """One start state for each figure: those given, or standing ones."""
    if start is None:
        return [standing_start(figure, world) for figure in figures]
    given = [start] if isinstance(start, State) else list(start)
    if len(given) != len(figures):
        raise BadValue(f"{len(figures)} figures need {len(figures)} start states; got {len(given)}")
    return [figure.state(s.q, s.v, s.time) for figure, s in zip(figures, given, strict=True)]
