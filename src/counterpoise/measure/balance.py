"""Standing in a recording: ground contacts, centre of pressure, support, slip, lift, and falls."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.track import point_path
from counterpoise.errors import MissingRole
from counterpoise.simulate.recording import Recording
from counterpoise.solve.geometry import convex_hull

FALL_LOAD = 0.02  # [body weights] on the ground under a segment that is not a foot: the figure has fallen
FALL_HEIGHT = 0.4  # of the neutral CoM height: a CoM below this has fallen (the deepest squats go to 0.45)
STANDING_LOAD = 0.02  # [body weights] under a foot that stands
NO_PRESSURE = 1e-6  # [N] upward force below which there is no centre of pressure


@dataclass(frozen=True)
class Fall:
    """Whether a figure fell, when, and why it counts as a fall."""

    fell: bool
    time: float | None = None  # [s]
    reason: str = ""

    def __bool__(self) -> bool:
        return self.fell


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """The contacts of one figure with the ground or the platform, one row each."""

    row: Ints  # (m,) row of the recording
    body: Ints  # (m,) segment of the figure, by index in its own model
    point: Array  # (m, 3) [m]
    force: Array  # (m, 3) [N], on the figure


def ground_contacts(recording: Recording, figure: int = 0) -> GroundContacts:
    """Returns the figure's contacts with the fixed world or the platform (not with itself or other figures)."""
    c, span = recording.contacts, recording.places[figure].bodies
    rows = np.repeat(np.arange(len(recording)), np.diff(c.start))
    ground = np.zeros(recording.model.nbody, bool)
    ground[0] = True
    for b in range(recording.model.nbody):
        if recording.model.body(b).name == "platform":
            ground[b] = True
    mine = (c.bodies >= span.start) & (c.bodies < span.stop)
    second = ground[c.bodies[:, 0]] & mine[:, 1]
    first = ground[c.bodies[:, 1]] & mine[:, 0]
    keep = np.flatnonzero(first | second)
    sign = np.where(second[keep], 1.0, -1.0)
    body = np.where(second[keep], c.bodies[keep, 1], c.bodies[keep, 0]) - span.start + 1
    return GroundContacts(rows[keep], body.astype(np.int64), c.point[keep], sign[:, None] * c.force[keep])


def ground_force(recording: Recording, figure: int = 0) -> Array:
    """Returns the total force of the ground on a figure, (n, 3) [N]."""
    g = ground_contacts(recording, figure)
    return _sum_by_row(g.row, g.force, len(recording))


def foot_forces(recording: Recording, figure: int = 0) -> dict[str, Array]:
    """Returns the force of the ground on each foot, (n, 3) [N] by name; toes count with their foot."""
    g = ground_contacts(recording, figure)
    out = {}
    for foot in recording.figures[figure].feet:
        ids = _foot_bodies(recording, figure, foot.name)
        part = np.isin(g.body, ids)
        out[foot.name] = _sum_by_row(g.row[part], g.force[part], len(recording))
    return out


def cop(recording: Recording, figure: int = 0) -> Array:
    """Returns the centre of pressure, (n, 3) [m]: contact points weighted by upward force, NaN without contact."""
    g = ground_contacts(recording, figure)
    up = np.maximum(g.force[:, 2], 0.0)
    n = len(recording)
    total = np.bincount(g.row, up, n)
    moments = np.stack([np.bincount(g.row, up * g.point[:, i], n) for i in range(3)], axis=1)
    pressed = total > NO_PRESSURE
    out = np.full((n, 3), np.nan)
    out[pressed] = moments[pressed] / total[pressed, None]
    return out


def support_polygon(recording: Recording, time: float, figure: int = 0) -> Array:
    """Returns the corners (k, 2) of the convex hull of the contacts at a time, counter-clockwise [m]."""
    g, row = ground_contacts(recording, figure), recording.row_at(time)
    return convex_hull(g.point[(g.row == row) & (g.force[:, 2] > 0.0)][:, :2])


def foot_slip(recording: Recording, figure: int = 0) -> dict[str, float]:
    """Returns by foot how far it slid while it stood [m]: the path of its lowest contact point along the floor."""
    character, floor = recording.figures[figure], _floor_velocity(recording)
    track, forces = recording.track(figure), foot_forces(recording, figure)
    weight = weight_of(recording, figure)
    out = {}
    for foot in character.feet:
        paths = np.array([point_path(character, track, p.body, p.position) for p in foot.points])  # (p, n, 3)
        lowest = np.argmin(height_above_ground(recording, paths[:, :-1]), axis=0)
        rows = np.arange(len(recording) - 1)
        step = paths[lowest, rows + 1, :2] - paths[lowest, rows, :2] - floor[:-1] * recording.timestep
        stands = forces[foot.name][:-1, 2] > STANDING_LOAD * weight
        out[foot.name] = float(np.linalg.norm(step, axis=1)[stands].sum())
    return out


def foot_lift(recording: Recording, figure: int = 0) -> dict[str, Array]:
    """Returns by foot the height of its lowest contact point above that of the first row, (n,) [m]."""
    character, track = recording.figures[figure], recording.track(figure)
    out = {}
    for foot in character.feet:
        heights = np.array([point_path(character, track, p.body, p.position)[:, 2] for p in foot.points])
        lowest = heights.min(axis=0)
        out[foot.name] = lowest - lowest[0]
    return out


def fell(recording: Recording, figure: int = 0) -> Fall:
    """Whether, when and why the figure fell.

    It fell if anything but a foot bears weight on the ground, or if the CoM is below FALL_HEIGHT of its neutral height.
    On terrain the CoM's height is that above the ground below it or below its feet, whichever is lower.
    """
    character = recording.figures[figure]
    if not character.feet:
        raise MissingRole(f"{character.name!r} has no feet, so it cannot be said to stand or fall")
    signs = [] if (sign := touch_down_of_others(recording, figure)) is None else [sign]
    neutral = character.snapshot()
    height = neutral.com[2] - neutral.contact_position[:, 2].mean()
    track = recording.track(figure)
    floor = _floor_below(recording, figure)
    low = track.com[:, 2] - floor < FALL_HEIGHT * height
    if low.any():
        first = float(recording.time[int(np.argmax(low))])
        signs.append((first, "centre of mass below two fifths of its standing height"))
    if not signs:
        return Fall(False)
    when, why = min(signs)
    return Fall(True, when, why)


def touch_down_of_others(recording: Recording, figure: int = 0, start: float = -np.inf) -> tuple[float, str] | None:
    """Returns when, from `start` [s] on, a part that is no foot first bears weight on the ground, and which."""
    character = recording.figures[figure]
    g, weight = ground_contacts(recording, figure), weight_of(recording, figure)
    feet = np.concatenate([_foot_bodies(recording, figure, foot.name) for foot in character.feet])
    other = ~np.isin(g.body, feet) & (recording.time[g.row] >= start)
    load = np.bincount(g.row[other], np.linalg.norm(g.force[other], axis=1), len(recording))
    if not (load > FALL_LOAD * weight).any():
        return None
    row = int(np.argmax(load > FALL_LOAD * weight))
    at = other & (g.row == row)
    heaviest = g.body[at][int(np.argmax(np.linalg.norm(g.force[at], axis=1)))]
    return float(recording.time[row]), f"{character.segments[heaviest - 1]} on the ground"


def height_above_ground(recording: Recording, points: Array) -> Array:
    """Returns how far points (..., 3) are above the terrain, or above z = 0, (...) [m]."""
    terrain = recording.terrain
    return points[..., 2] if terrain is None else points[..., 2] - terrain.height(points[..., 0], points[..., 1])


def _floor_below(recording: Recording, figure: int) -> Array | float:
    """Returns the height of the ground that a figure could fall onto, (n,), or one for all rows [m]."""
    terrain = recording.terrain
    if terrain is None:
        return min(0.0, float(np.nan_to_num(cop(recording, figure)[:, 2], nan=0.0).min()))
    character, track = recording.figures[figure], recording.track(figure)
    places = [point_path(character, track, p.body, p.position) for p in character.contact_points] + [track.com]
    return np.min([terrain.height(place[:, 0], place[:, 1]) for place in places], axis=0)


def penetration(recording: Recording, figure: int = 0) -> Array:
    """Returns how deep the figure is inside the ground or the terrain, (n,) [m]: the deepest contact, 0 without one."""
    model, span = recording.model, recording.places[figure].bodies
    data, out = mujoco.MjData(model), np.zeros(len(recording))
    for row, q in enumerate(recording.qpos):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        bodies = model.geom_bodyid[data.contact.geom]
        mine = ((bodies >= span.start) & (bodies < span.stop)).any(axis=1) & (bodies == 0).any(axis=1)
        out[row] = max(0.0, float(-data.contact.dist[mine].min(initial=0.0)))
    return out


def _foot_bodies(recording: Recording, figure: int, name: str) -> Ints:
    """Ids of a foot's body, of the bodies of its contact points, of those fixed to these, and of their children."""
    character = recording.figures[figure]
    foot = character.foot(name)
    ids = {character.body_id(foot.body)} | {character.body_id(p.body) for p in foot.points}
    welds = character.model.body_weldid
    ids |= set(np.flatnonzero(np.isin(welds, [welds[b] for b in ids if welds[b] != 0])).tolist())
    for b in range(1, character.model.nbody):
        if int(character.model.body_parentid[b]) in ids:
            ids.add(b)
    return np.array(sorted(ids), np.int64)


def gravity_of(recording: Recording) -> float:
    """Returns the gravity of the recorded world [m/s^2]; a tiny number where there is none."""
    return max(float(np.linalg.norm(recording.model.opt.gravity)), 1e-9)


def weight_of(recording: Recording, figure: int) -> float:
    """Returns a figure's weight in the recorded world [N]."""
    return recording.figures[figure].mass * gravity_of(recording)


def _floor_velocity(recording: Recording) -> Array:
    """The horizontal velocity of the platform, (n, 2) [m/s]; zero on fixed ground."""
    for j in range(recording.model.njnt):
        if recording.model.joint(j).name == "platform_x":
            at = int(recording.model.jnt_dofadr[j])
            return recording.qvel[:, at : at + 2]
    return np.zeros((len(recording), 2))


def _sum_by_row(rows: Ints, values: Array, n: int) -> Array:
    return np.stack([np.bincount(rows, values[:, i], n) for i in range(values.shape[1])], axis=1)
