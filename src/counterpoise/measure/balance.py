"""What a recording says about standing: contact, centre of pressure, support, slip, lift, and whether it fell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.track import Track, follow, point_path
from counterpoise.errors import MissingRole
from counterpoise.simulate.recording import Recording
from counterpoise.solve.geometry import convex_hull

TOUCH = 0.02  # of body weight: a segment that is not a foot and bears this much on the ground has fallen on it
LOW = 0.4  # of the neutral CoM height: the deepest squats go to 0.45
LOADED = 0.02  # of body weight: a foot that bears this much stands


@dataclass(frozen=True)
class Fall:
    """Whether a figure fell, when, and by what sign."""

    fell: bool
    time: float | None = None  # [s]
    reason: str = ""

    def __bool__(self) -> bool:
        return self.fell


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """Contacts between one figure and what it stands on, one row each."""

    row: Ints  # (m,) row of the recording
    body: Ints  # (m,) segment of the figure, by index in its own model
    point: Array  # (m, 3) [m]
    force: Array  # (m, 3) [N], on the figure


def ground_contacts(recording: Recording, figure: int = 0) -> GroundContacts:
    """The figure's contacts with the fixed world or the platform (not with itself or other figures)."""
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
    """Total force of the ground on a figure, (n, 3) [N]."""
    g = ground_contacts(recording, figure)
    return _sum_by_row(g.row, g.force, len(recording))


def foot_forces(recording: Recording, figure: int = 0) -> dict[str, Array]:
    """Force of the ground on each foot, (n, 3) [N] by name; a foot's toes count with it."""
    g, who = ground_contacts(recording, figure), recording.figures[figure]
    out = {}
    for foot in who.feet:
        ids = _foot_bodies(recording, figure, foot.name)
        part = np.isin(g.body, ids)
        out[foot.name] = _sum_by_row(g.row[part], g.force[part], len(recording))
    return out


def cop(recording: Recording, figure: int = 0) -> Array:
    """Centre of pressure, (n, 3) [m]: contact points weighted by their upward force; NaN where nothing presses."""
    g = ground_contacts(recording, figure)
    up = np.maximum(g.force[:, 2], 0.0)
    n = len(recording)
    total = np.bincount(g.row, up, n)
    moments = np.stack([np.bincount(g.row, up * g.point[:, i], n) for i in range(3)], axis=1)
    pressed = total > 1e-6
    out = np.full((n, 3), np.nan)
    out[pressed] = moments[pressed] / total[pressed, None]
    return out


def support_polygon(recording: Recording, time: float, figure: int = 0) -> Array:
    """Corners (k, 2) of the convex hull of what touches the ground at a time, counter-clockwise [m]."""
    g, row = ground_contacts(recording, figure), recording.row_at(time)
    return convex_hull(g.point[(g.row == row) & (g.force[:, 2] > 0.0)][:, :2])


def foot_slip(recording: Recording, figure: int = 0) -> dict[str, float]:
    """How far each foot slid while it stood [m]: horizontal path of its lowest contact point, relative to the floor."""
    who, floor = recording.figures[figure], _floor_velocity(recording)
    track, forces = track_of(recording, figure), foot_forces(recording, figure)
    weight = _weight(recording, figure)
    out = {}
    for foot in who.feet:
        paths = np.array([point_path(who, track, p.body, p.position) for p in foot.points])  # (p, n, 3)
        lowest = np.argmin(paths[:, :-1, 2], axis=0)
        rows = np.arange(len(recording) - 1)
        step = paths[lowest, rows + 1, :2] - paths[lowest, rows, :2] - floor[:-1] * recording.timestep
        stands = forces[foot.name][:-1, 2] > LOADED * weight
        out[foot.name] = float(np.linalg.norm(step, axis=1)[stands].sum())
    return out


def foot_lift(recording: Recording, figure: int = 0) -> dict[str, Array]:
    """Height of each foot's lowest contact point above where it stood in the first row, (n,) [m]."""
    who, track = recording.figures[figure], track_of(recording, figure)
    out = {}
    for foot in who.feet:
        heights = np.array([point_path(who, track, p.body, p.position)[:, 2] for p in foot.points])
        lowest = heights.min(axis=0)
        out[foot.name] = lowest - lowest[0]
    return out


def fell(recording: Recording, figure: int = 0) -> Fall:
    """Fell: something other than a foot bears weight on the ground, or the CoM is below LOW of its standing height."""
    who = recording.figures[figure]
    if not who.feet:
        raise MissingRole(f"{who.name!r} has no feet, so it cannot be said to stand or fall")
    g, weight = ground_contacts(recording, figure), _weight(recording, figure)
    feet = np.concatenate([_foot_bodies(recording, figure, foot.name) for foot in who.feet])
    other = ~np.isin(g.body, feet)
    signs: list[tuple[float, str]] = []
    load = np.bincount(g.row[other], np.linalg.norm(g.force[other], axis=1), len(recording))
    if (load > TOUCH * weight).any():
        row = int(np.argmax(load > TOUCH * weight))
        at = other & (g.row == row)
        heaviest = g.body[at][int(np.argmax(np.linalg.norm(g.force[at], axis=1)))]
        signs.append((float(recording.time[row]), f"{who.segments[heaviest - 1]} on the ground"))
    neutral = who.snapshot()
    height = neutral.com[2] - neutral.contact_position[:, 2].mean()
    track = track_of(recording, figure)
    floor = min(0.0, float(np.nan_to_num(cop(recording, figure)[:, 2], nan=0.0).min()))
    low = track.com[:, 2] - floor < LOW * height
    if low.any():
        first = float(recording.time[int(np.argmax(low))])
        signs.append((first, "centre of mass below two fifths of its standing height"))
    if not signs:
        return Fall(False)
    when, why = min(signs)
    return Fall(True, when, why)


def _foot_bodies(recording: Recording, figure: int, name: str) -> Ints:
    """A foot's body, the bodies its contact points are on, and whatever hangs from it."""
    who = recording.figures[figure]
    foot = who.foot(name)
    ids = {who.body_id(foot.body)} | {who.body_id(p.body) for p in foot.points}
    for b in range(1, who.model.nbody):
        if int(who.model.body_parentid[b]) in ids:
            ids.add(b)
    return np.array(sorted(ids), np.int64)


def track_of(recording: Recording, figure: int) -> Track:
    """CoM, momentum and body poses along a recording, computed once and kept with it."""
    cache = recording.__dict__.setdefault("track_ofs", {})
    if figure not in cache:
        cache[figure] = follow(recording.figures[figure], recording.positions(figure), recording.velocities(figure))
    found: Track = cache[figure]
    return found


def _weight(recording: Recording, figure: int) -> float:
    return recording.figures[figure].mass * max(float(np.linalg.norm(recording.model.opt.gravity)), 1e-9)


def _floor_velocity(recording: Recording) -> Array:
    """Horizontal velocity of the platform, (n, 2) [m/s]; zero on fixed ground."""
    for j in range(recording.model.njnt):
        if recording.model.joint(j).name == "platform_x":
            at = int(recording.model.jnt_dofadr[j])
            return recording.qvel[:, at : at + 2]
    return np.zeros((len(recording), 2))


def _sum_by_row(rows: Ints, values: Array, n: int) -> Array:
    return np.stack([np.bincount(rows, values[:, i], n) for i in range(values.shape[1])], axis=1)
