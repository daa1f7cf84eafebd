"""The limits of one ball joint: a swing cone and a twist range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.limits.kernels import fill_ball_rows, multiply_quaternions, rotate_vector, twist_angle
from counterpoise.errors import BadValue


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
        return np.array(rotate_vector(unit, self.axis)), float(twist_angle(unit, self.axis, self.rest))

    def clamp(self, q: ArrayLike) -> Array:
        """An orientation inside the limits and near q: the bone turned into its cone, then the twist clipped."""
        unit = _unit(q)
        direction, twist = self.split(unit)
        inside = _into_cone(direction, self.normals, self.offsets, np.array(rotate_vector(self.rest, self.axis)))
        low, high = self.twist
        if np.array_equal(inside, direction) and low <= twist <= high:
            return unit
        axis0 = np.array(rotate_vector(self.rest, self.axis))
        swing = _between(axis0, inside)
        half = 0.5 * float(np.clip(twist, low, high))
        turned = np.concatenate(([np.cos(half)], np.sin(half) * axis0))
        return np.array(multiply_quaternions(multiply_quaternions(swing, turned), self.rest))

    @property
    def rows(self) -> int:
        """Number of limit rows: one for each face, two for the twist."""
        return len(self.offsets) + 2


def limit_to_json(limit: BallLimit) -> dict[str, Any]:
    return {
        "axis": limit.axis.tolist(),
        "rest": limit.rest.tolist(),
        "normals": limit.normals.tolist(),
        "offsets": limit.offsets.tolist(),
        "twist": list(limit.twist),
    }


def limit_from_json(data: dict[str, Any]) -> BallLimit:
    low, high = data["twist"]
    return BallLimit(
        np.array(data["axis"], float),
        np.array(data["rest"], float),
        np.array(data["normals"], float).reshape(-1, 3),
        np.array(data["offsets"], float),
        (float(low), float(high)),
    )


def _into_cone(direction: Array, normals: Array, offsets: Array, centre: Array) -> Array:
    """Returns the direction turned, face by face, until it lies inside; where that fails, turned towards the centre."""
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
        trial = np.array(rotate_vector(np.concatenate(([np.cos(half)], np.sin(half) * axis)), direction))
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


def _frozen(values: Array) -> Array:
    out = np.ascontiguousarray(values, dtype=float).copy()
    out.flags.writeable = False
    return out


def _unit(q: ArrayLike) -> Array:
    out = np.array(q, float)
    if out.shape != (4,) or not np.isfinite(out).all() or not out.any():
        raise BadValue(f"an orientation is a non-zero quaternion (w, x, y, z); got {q!r}")
    return out / np.linalg.norm(out)
