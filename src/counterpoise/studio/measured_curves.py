"""Measured curves: quantities of a motion over time that are read from its poses, and what a check has found.

Velocities and accelerations are differences of frames. The force that the ground must give is m (a - g); its centre is
the zero-moment point (c_x - (m a_x c_z + dL_y/dt) / f_z, c_y - (m a_y c_z - dL_x/dt) / f_z) on level ground at z = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import put_in_pose
from counterpoise.spacetime.check import CheckReport
from counterpoise.studio.frames import SUPPORT_HEIGHT, support_corners

Measured = tuple[Array, str]  # values (n,) and their unit
AXES = ("x", "y", "z")
LEAST_LOAD = 0.1  # of the weight: with less force its centre has no meaning


@dataclass(frozen=True, eq=False)
class MotionTable:
    """Places, turns and masses of all bodies over time."""

    character: Character
    times: Array  # (n,)
    places: Array  # (n, bodies, 3) origins
    centres: Array  # (n, bodies, 3) centres of mass
    turns: Array  # (n, bodies, 3, 3) principal axes of inertia
    com: Array  # (n, 3)
    points: Array  # (n, p, 3) contact points
    margin: Array  # (n,) [m] of the com within the support, negative outside; nan without support

    def rate(self, values: Array) -> Array:
        """Returns the derivative by time, by differences."""
        return np.gradient(values, self.times, axis=0) if len(self.times) > 1 else np.zeros_like(values)

    @cached_property
    def masses(self) -> Array:
        return np.asarray(self.character.model.body_mass[1:])

    @cached_property
    def spin(self) -> Array:
        """Angular velocity of every body (n, bodies, 3) [rad/s]."""
        n = len(self.times)
        if n < 2:
            return np.zeros_like(self.centres)
        q = np.asarray(spatial.from_matrix(self.turns))
        turn = np.asarray(spatial.log(spatial.multiply(q[1:], spatial.conjugate(q[:-1]))))
        speed = turn / np.diff(self.times)[:, None, None]
        ends = np.concatenate([speed[:1], speed, speed[-1:]])
        return np.asarray(0.5 * (ends[:-1] + ends[1:]))

    @cached_property
    def angular_momentum(self) -> Array:
        """About the com (n, 3) [kg m^2/s]."""
        off, speed = self.centres - self.com[:, None], self.rate(self.centres) - self.rate(self.com)[:, None]
        orbit = (self.masses[:, None] * np.cross(off, speed)).sum(axis=1)
        inertia = np.asarray(self.character.model.body_inertia[1:])
        local = np.einsum("nbij,nbi->nbj", self.turns, self.spin) * inertia
        return np.asarray(orbit + np.einsum("nbij,nbj->nbi", self.turns, local).sum(axis=1))

    @cached_property
    def force(self) -> Array:
        """What the ground must give (n, 3) [N]."""
        return np.asarray(
            self.masses.sum() * (self.rate(self.rate(self.com)) + np.array([0.0, 0.0, self.character.gravity]))
        )

    @cached_property
    def pressure(self) -> Array:
        """The centre of that force on level ground (n, 2) [m]; nan where it is small."""
        pull, spin, up = self.force, self.rate(self.angular_momentum), self.force[:, 2]
        safe = np.where(up > LEAST_LOAD * self.character.weight, up, np.nan)
        x = self.com[:, 0] - (pull[:, 0] * self.com[:, 2] + spin[:, 1]) / safe
        y = self.com[:, 1] - (pull[:, 1] * self.com[:, 2] - spin[:, 0]) / safe
        return np.stack([x, y], axis=1)

    @cached_property
    def kinetic(self) -> Array:
        """Energy of motion (n,) [J]."""
        speed, local = self.rate(self.centres), np.einsum("nbij,nbi->nbj", self.turns, self.spin)
        inertia = np.asarray(self.character.model.body_inertia[1:])
        moving = (self.masses * np.square(speed).sum(axis=2)).sum(axis=1)
        return np.asarray(0.5 * (moving + (inertia * np.square(local)).sum(axis=(1, 2))))


def motion_table(character: Character, times: Array, poses: Array) -> MotionTable:
    """Returns the table of a motion of poses (n, nq)."""
    rows: list[tuple[Array, ...]] = []
    for q in poses:
        data = put_in_pose(character, np.asarray(q))
        points = np.array([
            data.xpos[b] + data.xmat[b].reshape(3, 3) @ np.asarray(point.position)
            for foot in character.feet for point in foot.points for b in (character.body_id(point.body),)
        ]).reshape(-1, 3)  # fmt: skip
        com = data.subtree_com[0].copy()
        corners = support_corners(character, data.xpos, data.xmat)
        turns = data.ximat[1:].reshape(-1, 3, 3).copy()
        margin = np.array(_margin(corners, com))
        rows.append((data.xpos[1:].copy(), data.xipos[1:].copy(), turns, com, points, margin))
    places, centres, turns, coms, points, margins = (np.array(column) for column in zip(*rows, strict=True))
    return MotionTable(character, np.asarray(times), places, centres, turns, coms, points, margins)


def measured_names(character: Character) -> list[str]:
    """Returns the names of all measured curves."""
    return [*_whole(character), *_feet(character), *_bodies(character), *_joints(character)]


def measured_curve(table: MotionTable, poses: Array, name: str) -> Measured:
    """Returns a measured curve and its unit."""
    character = table.character
    known = {**_whole(character), **_feet(character), **_bodies(character)}
    if name in known:
        return known[name](table)
    return _joints(character)[name](table, poses)


def check_curves(report: CheckReport) -> dict[str, tuple[Array, Array, str]]:
    """Returns what a check has measured in every frame, by name: times, values (nan: no meaning), unit."""
    frames, out = report.frames, {}
    series: dict[str, Measured] = {
        "check: residual": (frames.violation, "weights"),
        "check: largest effort": (100.0 * frames.torque, "%"),
        "check: friction": (frames.friction, "f_xy/f_z"),
        "check: pressure outside": (frames.outside, "m"),
        "check: penetration": (frames.penetration, "m"),
        "check: jitter": (frames.jitter, "m"),
        **{f"check: skate {foot}": (frames.skate[:, k], "m/s") for k, foot in enumerate(report.feet)},
    }
    for name, (values, unit) in series.items():
        out[name] = (np.asarray(frames.times) - frames.times[0], np.asarray(values, float), unit)
    return out


# -- by name ----------------------------------------------------------------------------------------------------------
Reader = Callable[[MotionTable], Measured]


def _whole(character: Character) -> Mapping[str, Reader]:
    """Curves of the whole body."""

    def size(values: Array) -> Array:
        return np.asarray(np.linalg.norm(values, axis=1))

    out: dict[str, Reader] = {
        "com height": lambda t: (t.com[:, 2], "m"),
        "com x": lambda t: (t.com[:, 0], "m"),
        "com y": lambda t: (t.com[:, 1], "m"),
        "com speed": lambda t: (size(t.rate(t.com)), "m/s"),
        "support margin": lambda t: (t.margin, "m"),
        "ground force": lambda t: (size(t.force), "N"),
        **{f"ground force {axis}": _component("force", k, "N") for k, axis in enumerate(AXES)},
        **{f"centre of pressure {axis}": _component("pressure", k, "m") for k, axis in enumerate("xy")},
        **{f"angular momentum {a}": _component("angular_momentum", k, "kg m²/s") for k, a in enumerate(AXES)},
        "kinetic energy": lambda t: (t.kinetic, "J"),
        "height energy": lambda t: (character.weight * t.com[:, 2], "J"),
    }
    return out


def _component(name: str, k: int, unit: str) -> Reader:
    return lambda table: (getattr(table, name)[:, k], unit)


def _feet(character: Character) -> Mapping[str, Reader]:
    """Height of the lowest point of each foot, and how fast what touches the ground slides."""
    out: dict[str, Reader] = {}
    first = 0
    for foot in character.feet:
        points = slice(first, first + len(foot.points))
        out[f"{foot.name} height"] = partial(_lowest, points)
        out[f"{foot.name} skate"] = partial(_skate, points)
        first += len(foot.points)
    return out


def _lowest(points: slice, table: MotionTable) -> Measured:
    return table.points[:, points, 2].min(axis=1), "m"


def _skate(points: slice, table: MotionTable) -> Measured:
    """Returns the largest speed over the ground of points that touch it (n,) [m/s]; nan in the air."""
    speed = np.linalg.norm(table.rate(table.points[:, points])[:, :, :2], axis=2)
    low = table.points[:, points, 2] < SUPPORT_HEIGHT
    return np.where(low.any(axis=1), np.where(low, speed, 0.0).max(axis=1, initial=0.0), np.nan), "m/s"


def _bodies(character: Character) -> Mapping[str, Reader]:
    """Place and speed of every body."""
    out: dict[str, Reader] = {}
    for b, body in enumerate(character.segments):
        for k, axis in enumerate(AXES):
            out[f"place of {body} {axis}"] = partial(_place, b, k)
        out[f"speed of {body}"] = partial(_speed, b)
    return out


def _place(body: int, axis: int, table: MotionTable) -> Measured:
    return table.places[:, body, axis], "m"


def _speed(body: int, table: MotionTable) -> Measured:
    return np.linalg.norm(table.rate(table.places[:, body]), axis=1), "m/s"


def _joints(character: Character) -> Mapping[str, Callable[[MotionTable, Array], Measured]]:
    """Speed of the fastest joint, and of every joint."""

    def speeds(dofs: slice, table: MotionTable, poses: Array) -> Measured:
        if len(poses) < 2:
            return np.zeros(len(poses)), "rad/s"
        step = np.asarray(character.difference(poses[:-1], poses[1:]))[:, dofs] / np.diff(table.times)[:, None]
        size = np.abs(step).max(axis=1, initial=0.0) if dofs.stop is None else np.linalg.norm(step, axis=1)
        return np.append(size, size[-1]), "rad/s"

    out: dict[str, Callable[[MotionTable, Array], Measured]] = {
        "turning speed": partial(speeds, slice(character.root_dofs.stop, None))
    }
    for joint in character.joints:
        if joint.kind not in ("free", "slide") and joint.nv:
            out[f"speed of joint {joint.name}"] = partial(speeds, joint.dofs)
    return out


def _margin(corners: Array, com: Array) -> float:
    """Returns how far the com is within a convex support [m]; negative outside, nan without support."""
    if len(corners) < 3:
        return float("nan")
    ahead = np.roll(corners, -1, axis=0) - corners
    ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    to = com[:2] - corners
    across = ahead[:, 0] * to[:, 1] - ahead[:, 1] * to[:, 0]
    turned = float(np.sum(corners[:, 0] * np.roll(corners[:, 1], -1) - corners[:, 1] * np.roll(corners[:, 0], -1)))
    return float((across if turned > 0.0 else -across).min())
