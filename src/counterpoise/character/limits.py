"""Joint limits: ranges for hinges and slides, a swing cone and a twist range for ball joints.

A ball joint's orientation q is split about the bone axis a (Macchietto 2008, section 6.2):

    q rest^-1 = q_swing q_twist,   q_twist = exp(phi a0),   q_swing takes a0 to a',   a0 = rest a,   a' = q a.

`rest` is the middle of the range, so that the decomposition's singularity (a' = -a0) lies far outside the cone.
The cone is an intersection of half spaces, n_i . a' <= k_i: a convex spherical polygon when every k_i is 0, and
faces on small circles where a joint reaches further than a half sphere (the shoulder).

Every limit is one row g(q) <= 0 in radians (metres for slides), smooth, with an exact gradient:

    hinge   q - high, low - q        swing   asin(n . a') - asin(k)        twist   phi - high, low - phi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel

SINGULAR = 1e-9  # below this |(w, x)|^2 the twist is undefined; it is then taken as zero, at rest


@dataclass(frozen=True)
class BallLimit:
    """Swing cone and twist range of one ball joint, in the joint's own frame (the parent's, at zero)."""

    axis: Array  # (3,), child frame: the bone
    rest: Array  # (4,), orientation in the middle of the range
    normals: Array  # (k, 3), joint frame, outward
    offsets: Array  # (k,), sine of each face's reach beyond a great circle
    twist: tuple[float, float]  # [rad]

    def __post_init__(self) -> None:
        axis = np.asarray(self.axis, float)
        if axis.shape != (3,) or not np.isfinite(axis).all() or np.linalg.norm(axis) == 0.0:
            raise BadValue(f"a bone axis is a non-zero 3-vector; got {self.axis!r}", axis=self.axis)
        rest = np.asarray(self.rest, float)
        if rest.shape != (4,) or not np.isfinite(rest).all() or np.linalg.norm(rest) == 0.0:
            raise BadValue(f"a rest orientation is a quaternion (w, x, y, z); got {self.rest!r}")
        normals = np.atleast_2d(np.asarray(self.normals, float)).reshape(-1, 3)
        offsets = np.asarray(self.offsets, float).reshape(-1)
        if len(normals) != len(offsets) or not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
            raise BadValue(f"a cone of {len(normals)} faces needs as many finite offsets; got {len(offsets)}")
        low, high = (float(bound) for bound in self.twist)
        if not (-np.pi <= low <= high <= np.pi):
            raise BadValue(f"a twist range is low <= high within [-pi, pi]; got ({low}, {high})", twist=self.twist)
        object.__setattr__(self, "axis", _frozen(axis / np.linalg.norm(axis)))
        object.__setattr__(self, "rest", _frozen(rest / np.linalg.norm(rest)))
        object.__setattr__(self, "normals", _frozen(normals / np.linalg.norm(normals, axis=1, keepdims=True)))
        object.__setattr__(self, "offsets", _frozen(offsets))
        object.__setattr__(self, "twist", (low, high))

    def violation(self, q: ArrayLike) -> tuple[float, float]:
        """How far the swing lies outside its cone and the twist outside its range [rad]; zero inside."""
        values = np.empty(self.rows)
        gradient = np.empty((self.rows, 3))
        fill_ball_rows(_unit(q), self.axis, self.rest, self.normals, self.offsets, *self.twist, values, gradient)
        swing = float(max(values[:-2].max(initial=0.0), 0.0))
        return swing, float(max(values[-2:].max(), 0.0))

    def split(self, q: ArrayLike) -> tuple[Array, float]:
        """The bone's direction a' (joint frame) and the twist angle phi [rad] at orientation q."""
        unit = _unit(q)
        return _rotate(unit, self.axis), float(_twist_angle(unit, self.axis, self.rest))

    def clamp(self, q: ArrayLike) -> Array:
        """Inside the limits and near q: the bone turned back into its cone, then the twist into its range."""
        unit = _unit(q)
        direction, twist = self.split(unit)
        inside = _into_cone(direction, self.normals, self.offsets, _rotate(self.rest, self.axis))
        low, high = self.twist
        if np.array_equal(inside, direction) and low <= twist <= high:
            return unit
        axis0 = _rotate(self.rest, self.axis)
        swing = _between(axis0, inside)
        half = 0.5 * float(np.clip(twist, low, high))
        turned = np.concatenate(([np.cos(half)], np.sin(half) * axis0))
        return _times(_times(swing, turned), self.rest)

    @property
    def rows(self) -> int:
        """Number of limit rows: one a face, and the two ends of the twist."""
        return len(self.offsets) + 2


class JointLimits:
    """Every limit of a figure as rows g(q) <= 0, evaluated together.

    `names` tells the rows apart: `knee_left.low`, `hip_left.swing2`, `hip_left.twist_high`.
    """

    def __init__(
        self,
        nq: int,
        nv: int,
        ranges: Sequence[tuple[str, int, int, float, float]],
        balls: Sequence[tuple[str, int, int, BallLimit]],
    ) -> None:
        """`ranges`: (name, qpos address, dof address, low, high); `balls`: (name, qpos address, dof address, limit)."""
        self.nq, self.nv = nq, nv
        self.balls = {name: limit for name, _, _, limit in balls}
        self._ball_address = {name: (q, v) for name, q, v, _ in balls}
        self.range_qpos = np.array([q for _, q, _, _, _ in ranges], np.int64)
        self.range_dof = np.array([v for _, _, v, _, _ in ranges], np.int64)
        self.range_low = np.array([low for *_, low, _ in ranges], float)
        self.range_high = np.array([high for *_, high in ranges], float)
        self.ball_q = np.array([q for _, q, _, _ in balls], np.int64)
        self.ball_v = np.array([v for _, _, v, _ in balls], np.int64)
        limits = [limit for *_, limit in balls]
        self.ball_axis = np.array([b.axis for b in limits], float).reshape(-1, 3)
        self.ball_rest = np.array([b.rest for b in limits], float).reshape(-1, 4)
        self.ball_normals = np.concatenate([b.normals for b in limits] or [np.empty((0, 3))])
        self.ball_offsets = np.concatenate([b.offsets for b in limits] or [np.empty(0)])
        self.ball_faces = np.cumsum([0] + [len(b.offsets) for b in limits]).astype(np.int64)
        self.ball_twist = np.array([b.twist for b in limits], float).reshape(-1, 2)
        names = [f"{name}.{end}" for name, *_ in ranges for end in ("low", "high")]
        for name, _, _, limit in balls:
            names += [f"{name}.swing{i}" for i in range(len(limit.offsets))]
            names += [f"{name}.twist_low", f"{name}.twist_high"]
        self.names = tuple(names)

    def __len__(self) -> int:
        return len(self.names)

    def values(self, q: ArrayLike) -> Array:
        """g(q), (rows,): negative inside, zero on the limit [rad or m]."""
        return self.evaluate(q)[0]

    def jacobian(self, q: ArrayLike) -> Array:
        """dg/dv, (rows, nv): the gradient of every row in the tangent space."""
        values, compact, columns = self.evaluate(q)
        dense = np.zeros((len(values), self.nv))
        rows = np.arange(len(values))
        for k in range(3):
            used = columns[:, k] >= 0
            dense[rows[used], columns[used, k]] = compact[used, k]
        return dense

    def violation(self, q: ArrayLike) -> Array:
        """max(g, 0), (rows,)."""
        return np.maximum(self.values(q), 0.0)

    def gradient(self, q: ArrayLike) -> Array:
        """Gradient of `violation`, (rows, nv): that of g where it is positive, zero elsewhere."""
        return self.jacobian(q) * (self.values(q) > 0.0)[:, None]

    def ball_rows(self, dofs: set[int]) -> Ints:
        """Ints of the rows of ball joints whose dofs are among `dofs`."""
        found: list[int] = []
        row = 2 * len(self.range_qpos)
        for j in range(len(self.ball_v)):
            count = int(self.ball_faces[j + 1] - self.ball_faces[j]) + 2
            if int(self.ball_v[j]) in dofs:
                found += range(row, row + count)
            row += count
        return np.array(found, np.int64)

    def ball_tables(self, dofs: Ints) -> tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array]:
        """The ball limits whose joints are among `dofs` (sorted), as arrays for compiled code:
        qpos address, place among `dofs`, axis, rest, normals, offsets, first face of each, twist."""
        place = {int(v): i for i, v in enumerate(dofs)}
        chosen = [j for j in range(len(self.ball_v)) if int(self.ball_v[j]) in place]
        spans = [slice(int(self.ball_faces[j]), int(self.ball_faces[j + 1])) for j in chosen]
        normals = np.concatenate([self.ball_normals[s] for s in spans] or [np.empty((0, 3))])
        offsets = np.concatenate([self.ball_offsets[s] for s in spans] or [np.empty(0)])
        faces = np.cumsum([0] + [s.stop - s.start for s in spans]).astype(np.int64)
        at = np.array([place[int(self.ball_v[j])] for j in chosen], np.int64)
        rows = np.array(chosen, np.int64)
        return (
            self.ball_q[rows],
            at,
            self.ball_axis[rows],
            self.ball_rest[rows],
            normals,
            offsets,
            faces,
            self.ball_twist[rows],
        )

    def rows_at(self, q: Array, rows: Ints, dofs: Ints) -> tuple[Array, Array]:
        """Some rows g(q) and their gradients over some dofs (sorted), without building the whole Jacobian."""
        values, compact, columns = self.evaluate(q)
        dense = np.zeros((len(rows), len(dofs)))
        place = np.searchsorted(dofs, columns[rows])  # a ball's three dofs are all there or none
        for k in range(3):
            dense[np.arange(len(rows)), place[:, k]] = compact[rows, k]
        return values[rows], dense

    def worst(self, q: ArrayLike) -> tuple[str, float]:
        """The most violated row and by how much (negative: the nearest to being violated)."""
        values = self.values(q)
        if len(values) == 0:
            return "", -np.inf
        return self.names[int(np.argmax(values))], float(values.max())

    def clamp(self, q: ArrayLike) -> Array:
        """The pose with every joint brought inside its limits."""
        out = np.array(q, float)
        out[self.range_qpos] = np.clip(out[self.range_qpos], self.range_low, self.range_high)
        for name, limit in self.balls.items():
            address = self._ball_address[name][0]
            out[address : address + 4] = limit.clamp(out[address : address + 4])
        return out

    def evaluate(self, q: ArrayLike) -> tuple[Array, Array, Ints]:
        pose = np.ascontiguousarray(q, dtype=float)
        if pose.shape != (self.nq,):
            raise BadValue(f"a pose has {self.nq} numbers; got shape {pose.shape}", shape=pose.shape)
        return _all_rows(
            pose,
            self.range_qpos,
            self.range_dof,
            self.range_low,
            self.range_high,
            self.ball_q,
            self.ball_v,
            self.ball_axis,
            self.ball_rest,
            self.ball_normals,
            self.ball_offsets,
            self.ball_faces,
            self.ball_twist,
        )


def cone_from_corners(directions: ArrayLike) -> tuple[Array, Array]:
    """Faces (normals, offsets) of the smallest convex spherical polygon around `directions` (k, 3).

    The directions must lie in one open half sphere; they are projected from its centre and their planar hull taken.
    """
    from scipy.spatial import ConvexHull

    points = np.asarray(directions, float)
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    centre = _cone_centre(points)
    if np.min(points @ centre) < 1e-3:
        raise BadValue("the corners of a swing cone must lie within one half sphere; use faces through small circles")
    side = np.cross(centre, np.eye(3)[int(np.argmin(np.abs(centre)))])
    side /= np.linalg.norm(side)
    up = np.cross(centre, side)
    flat = np.stack([points @ side, points @ up], axis=1) / (points @ centre)[:, None]
    ring = points[ConvexHull(flat).vertices]
    normals = np.cross(ring, np.roll(ring, -1, axis=0))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals *= -np.sign(normals @ centre)[:, None]
    return normals, np.zeros(len(normals))


def face_through(points: ArrayLike, inside: ArrayLike) -> tuple[Array, float]:
    """The half space n . a' <= k whose boundary circle passes through three directions, with `inside` within."""
    a, b, c = (np.asarray(p, float) / np.linalg.norm(p) for p in np.asarray(points, float))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    offset = float(normal @ a)
    if normal @ np.asarray(inside, float) > offset:
        return -normal, -offset
    return normal, offset


def _cone_centre(points: Array) -> Array:
    centre = points.mean(axis=0)
    centre /= np.linalg.norm(centre)
    for _ in range(200):  # towards the worst corner in ever smaller steps: the smallest enclosing cap
        worst = points[int(np.argmin(points @ centre))]
        centre = centre + 0.02 * (worst - centre)
        centre /= np.linalg.norm(centre)
    return centre


def _frozen(values: Array) -> Array:
    out = np.ascontiguousarray(values, dtype=float).copy()
    out.flags.writeable = False
    return out


def _unit(q: ArrayLike) -> Array:
    out = np.array(q, float)
    if out.shape != (4,) or not np.isfinite(out).all() or not out.any():
        raise BadValue(f"an orientation is a non-zero quaternion (w, x, y, z); got {q!r}")
    return out / np.linalg.norm(out)


def _into_cone(direction: Array, normals: Array, offsets: Array, centre: Array) -> Array:
    """The direction turned the least, face by face, until it lies inside; in hard corners, towards the centre."""
    inside = direction
    for _ in range(50):
        excess = np.arcsin(np.clip(normals @ inside, -1, 1)) - np.arcsin(np.clip(offsets, -1, 1))
        if len(excess) == 0 or excess.max() <= 0.0:
            return inside
        worst = int(np.argmax(excess))
        normal = normals[worst]
        flat = inside - (normal @ inside) * normal
        length = np.linalg.norm(flat)
        flat = flat / length if length > 1e-12 else centre - (normal @ centre) * normal
        flat = flat / np.linalg.norm(flat)
        angle = np.arcsin(np.clip(offsets[worst], -1, 1)) - 1e-12
        inside = np.cos(angle) * flat + np.sin(angle) * normal
    low, high = 0.0, 1.0  # bisection along the great circle to the centre
    turn = _between(direction, centre)
    axis_angle = 2.0 * np.arctan2(np.linalg.norm(turn[1:]), turn[0])
    axis = turn[1:] / max(float(np.linalg.norm(turn[1:])), 1e-300)
    for _ in range(60):
        middle = 0.5 * (low + high)
        half = 0.5 * middle * axis_angle
        trial = _rotate(np.concatenate(([np.cos(half)], np.sin(half) * axis)), direction)
        if np.all(normals @ trial <= offsets):
            high, inside = middle, trial
        else:
            low = middle
    return inside


def _between(start: Array, end: Array) -> Array:
    """The shortest rotation taking unit vector `start` to `end`; any axis across when they are opposite."""
    w = 1.0 + float(start @ end)
    if w < 1e-12:
        across = np.cross(start, np.eye(3)[int(np.argmin(np.abs(start)))])
        return np.concatenate(([0.0], across / np.linalg.norm(across)))
    out = np.concatenate(([w], np.cross(start, end)))
    return out / np.linalg.norm(out)


@kernel
def _rotate(q: Array, v: Array) -> Array:
    w, x, y, z = q[0], q[1], q[2], q[3]
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    out = np.empty(3)
    out[0] = v[0] + w * tx + y * tz - z * ty
    out[1] = v[1] + w * ty + z * tx - x * tz
    out[2] = v[2] + w * tz + x * ty - y * tx
    return out


@kernel
def _times(a: Array, b: Array) -> Array:
    out = np.empty(4)
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return out


@kernel
def _twist_angle(q: Array, axis: Array, rest: Array) -> float:
    conjugate = np.array([rest[0], -rest[1], -rest[2], -rest[3]])
    relative = _times(q, conjugate)
    axis0 = _rotate(rest, axis)
    w = relative[0]
    x = relative[1] * axis0[0] + relative[2] * axis0[1] + relative[3] * axis0[2]
    if w * w + x * x < SINGULAR:
        return 0.0
    angle = 2.0 * np.arctan2(x, w)
    if angle > np.pi:
        angle -= 2.0 * np.pi
    elif angle <= -np.pi:
        angle += 2.0 * np.pi
    return angle


@kernel
def fill_ball_rows(
    q: Array,
    axis: Array,
    rest: Array,
    normals: Array,
    offsets: Array,
    low: float,
    high: float,
    values: Array,
    gradient: Array,
) -> None:
    """Fill the k + 2 rows of one ball joint and their gradients in its own angular velocity (child frame)."""
    faces = len(offsets)
    bone = _rotate(q, axis)
    back = np.array([q[0], -q[1], -q[2], -q[3]])
    for i in range(faces):
        sine = normals[i, 0] * bone[0] + normals[i, 1] * bone[1] + normals[i, 2] * bone[2]
        sine = min(1.0, max(-1.0, sine))
        values[i] = np.arcsin(sine) - np.arcsin(min(1.0, max(-1.0, offsets[i])))
        local = _rotate(back, normals[i])  # d(n.a')/dw = a x R^T n
        scale = 1.0 / np.sqrt(max(1.0 - sine * sine, 1e-18))
        gradient[i, 0] = (axis[1] * local[2] - axis[2] * local[1]) * scale
        gradient[i, 1] = (axis[2] * local[0] - axis[0] * local[2]) * scale
        gradient[i, 2] = (axis[0] * local[1] - axis[1] * local[0]) * scale
    conjugate = np.array([rest[0], -rest[1], -rest[2], -rest[3]])
    relative = _times(q, conjugate)
    axis0 = _rotate(rest, axis)
    w = relative[0]
    vx, vy, vz = relative[1], relative[2], relative[3]
    x = vx * axis0[0] + vy * axis0[1] + vz * axis0[2]
    angle = _twist_angle(q, axis, rest)
    slope = np.zeros(3)
    size = w * w + x * x
    if size >= SINGULAR:  # dphi = (w (w a0 + a0 x v) + x v) . (rest w) / (w^2 + x^2)
        turned = np.empty(3)
        turned[0] = (w * (w * axis0[0] + axis0[1] * vz - axis0[2] * vy) + x * vx) / size
        turned[1] = (w * (w * axis0[1] + axis0[2] * vx - axis0[0] * vz) + x * vy) / size
        turned[2] = (w * (w * axis0[2] + axis0[0] * vy - axis0[1] * vx) + x * vz) / size
        slope = _rotate(conjugate, turned)
    values[faces] = low - angle
    values[faces + 1] = angle - high
    for k in range(3):
        gradient[faces, k] = -slope[k]
        gradient[faces + 1, k] = slope[k]


@kernel
def _all_rows(
    pose: Array,
    range_q: Ints,
    range_v: Ints,
    low: Array,
    high: Array,
    ball_q: Ints,
    ball_v: Ints,
    axis: Array,
    rest: Array,
    normals: Array,
    offsets: Array,
    face_start: Ints,
    twist: Array,
) -> tuple[Array, Array, Ints]:
    rows = 2 * len(range_q) + len(offsets) + 2 * len(ball_q)
    values = np.empty(rows)
    compact = np.zeros((rows, 3))  # gradient entries
    columns = np.full((rows, 3), -1, np.int64)  # and the dof of each
    for i in range(len(range_q)):
        values[2 * i] = low[i] - pose[range_q[i]]
        values[2 * i + 1] = pose[range_q[i]] - high[i]
        compact[2 * i, 0], compact[2 * i + 1, 0] = -1.0, 1.0
        columns[2 * i, 0] = columns[2 * i + 1, 0] = range_v[i]
    row = 2 * len(range_q)
    for j in range(len(ball_q)):
        start, end = face_start[j], face_start[j + 1]
        count = end - start + 2
        q = pose[ball_q[j] : ball_q[j] + 4] / np.sqrt(np.sum(pose[ball_q[j] : ball_q[j] + 4] ** 2))
        fill_ball_rows(
            q,
            axis[j],
            rest[j],
            normals[start:end],
            offsets[start:end],
            twist[j, 0],
            twist[j, 1],
            values[row : row + count],
            compact[row : row + count],
        )
        for i in range(count):
            for k in range(3):
                columns[row + i, k] = ball_v[j] + k
        row += count
    return values, compact, columns
