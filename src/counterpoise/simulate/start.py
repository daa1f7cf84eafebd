"""The states a simulation starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.uneven_ground import SAME_HEIGHT, Plane, plane_of, pose_on_planes, sole_height
from counterpoise.errors import BadValue
from counterpoise.simulate.world import World, ground_normal

UP = (0.0, 0.0, 1.0)
START_ANGLE = 0.03  # [rad] standard deviation of every joint in a disturbed start
START_TURN = 0.1  # [rad/s] the same of joint velocities
START_DRIFT = 0.04  # [m/s] the same of a free root, forward and sideways


def standing_start(character: Character, world: World) -> State:
    """Returns the state in which a figure starts: the neutral pose at rest, on the ground below it.

    On tilted ground, or with feet on different heights of a terrain, it is the nearest pose with all soles on the
    ground and the CoM where it is above the feet.
    """
    return set_on_ground(character, character.state(), world)


def disturbed_start(character: Character, seed: int, world: World | None = None, start: State | None = None) -> State:
    """Returns a start with a small random pose and velocity, the same for the same seed.

    Joints are off by 0.03 rad and move at 0.1 rad/s, a free root drifts at 0.04 m/s along the ground (standard
    deviations). The lowest point of the feet touches the ground. `start` is what is disturbed; without it, the figure
    stands.
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise BadValue(f"a seed is a whole number, 0 or more; got {seed!r}")
    place = world if world is not None else World()
    calm = standing_start(character, place) if start is None else start
    random, joints = np.random.default_rng(seed), np.ones(character.nv, bool)
    if character.floating:
        joints[character.root_dofs] = False
    off, v = np.zeros(character.nv), np.array(calm.v)
    off[joints] = random.normal(0.0, START_ANGLE, int(joints.sum()))
    v[joints] += random.normal(0.0, START_TURN, int(joints.sum()))
    if character.joints[0].kind == "free":
        v[:2] += random.normal(0.0, START_DRIFT, 2)
    state = character.state(character.limits.clamp(character.integrate(calm.q, off)), v, calm.time)
    if not character.floating or not character.feet:
        return state
    before, after = (_lowest_point(take_snapshot(character, one), place) for one in (calm, state))
    return lifted(character, state, before - after)


def _lowest_point(snapshot: Snapshot, world: World) -> float:
    """Returns the height of the lowest contact point above the ground below it [m]."""
    return min(float(p[2]) - world.height_at(p[0], p[1]) for p in snapshot.contact_position)


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
            return lifted(character, state, first[2] - sole_height(here))
    found = pose_on_planes(character, state.q.tobytes(), tuple(planes))
    return lifted(character, state, rise) if found is None else character.state(found, state.v, state.time)


def _planes_under_feet(character: Character, here: Snapshot, world: World) -> list[Plane]:
    """Returns the plane that each foot stands on: on terrain, the one on which its sole comes to rest."""
    if world.terrain is None:
        nx, ny, nz = ground_normal(world.tilt).tolist()
        return [(0.0, 0.0, 0.0, nx, ny, nz)] * len(character.feet)
    out: list[Plane] = []
    for points in _by_foot(character, here.contact_position.tolist()):
        x, y = np.array(points)[:, :2].T
        out.append(plane_of(world.terrain.surface_under(x, y)))
    return out


def _by_foot(character: Character, values: list[Any]) -> list[list[Any]]:
    """Returns what belongs to each contact point as one list for each foot."""
    out, first = [], 0
    for foot in character.feet:
        out.append(values[first : first + len(foot.points)])
        first += len(foot.points)
    return out


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
