"""Poses as numbers: which coordinates are rotations, a curve through whole poses, and moving poses over the floor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.motion.spline_fit import Ends, fit_rotations, fit_vectors
from counterpoise.motion.spline_kernels import evaluate


class Sample(NamedTuple):
    """A motion at an instant or at many: pose (..., nq), tangent velocity and acceleration (..., nv)."""

    q: Array
    v: Array
    a: Array


@dataclass(frozen=True)
class PoseLayout:
    """Where vectors and quaternions stand in q, and their velocities in v."""

    nq: int
    nv: int
    vector_q: Ints
    vector_v: Ints
    rotation_q: Ints  # first index of each quaternion
    rotation_v: Ints  # first index of each angular velocity
    free: bool  # q starts with a free root
    slides: tuple[tuple[int, float, float], ...]  # horizontal slides of a planar root: (index in q, x, y of its axis)

    @cached_property
    def quaternions(self) -> Ints:
        """Indices (nrot, 4) of all quaternions in q."""
        return self.rotation_q[:, None] + np.arange(4, dtype=np.int64)


@kept_with_character
def layout_of(character: Character) -> PoseLayout:
    """Returns the layout of a character's poses."""
    vector_q: list[int] = []
    vector_v: list[int] = []
    rotation_q: list[int] = []
    rotation_v: list[int] = []
    slides = []
    for joint in character.joints:
        turning = joint.kind in ("free", "ball")
        if turning:  # the last four coordinates are a quaternion, the last three velocities its angular velocity
            rotation_q.append(joint.qpos.stop - 4)
            rotation_v.append(joint.dofs.stop - 3)
        vector_q += range(joint.qpos.start, joint.qpos.stop - 4 * turning)
        vector_v += range(joint.dofs.start, joint.dofs.stop - 3 * turning)
        if joint.kind == "slide" and joint.body == character.root:
            x, y, z = (float(value) for value in character.model.joint(joint.parts[0]).axis)
            if abs(z) < 1e-6:
                slides.append((joint.qpos.start, x, y))
    return PoseLayout(
        nq=character.nq,
        nv=character.nv,
        vector_q=np.array(vector_q, dtype=np.int64),
        vector_v=np.array(vector_v, dtype=np.int64),
        rotation_q=np.array(rotation_q, dtype=np.int64),
        rotation_v=np.array(rotation_v, dtype=np.int64),
        free=bool(character.joints) and character.joints[0].kind == "free",
        slides=tuple(slides),
    )


class PoseCurve:
    """The C2 curve through poses (n, nq): cubic splines for coordinates, rotation splines for quaternions."""

    def __init__(self, layout: PoseLayout, times: Array, poses: Array, ends: Ends) -> None:
        self.layout = layout
        self.knots, self.vectors = fit_vectors(times, poses[:, layout.vector_q], ends)
        _, self.bases, self.turnings, self.smooth = fit_rotations(times, poses[:, layout.quaternions], ends)

    def between(self, first: int, last: int) -> PoseCurve:
        """Returns the same curve on the knots first ... last only."""
        part = object.__new__(PoseCurve)
        part.layout, part.knots, part.smooth = self.layout, self.knots[first : last + 1].copy(), self.smooth
        part.vectors, part.bases = self.vectors[first:last].copy(), self.bases[first:last].copy()
        part.turnings = self.turnings[first:last].copy()
        return part

    def __call__(self, t: Array) -> Sample:
        """Returns poses, velocities and accelerations at times t (m,)."""
        at = self.layout
        q, v, a = np.empty((len(t), at.nq)), np.empty((len(t), at.nv)), np.empty((len(t), at.nv))
        evaluate(
            t, self.knots, self.vectors, self.bases, self.turnings,
            at.vector_q, at.vector_v, at.rotation_q, at.rotation_v, q, v, a,
        )  # fmt: skip
        return Sample(q, v, a)


@dataclass(frozen=True)
class Placement:
    """A rigid motion of the floor: turn by `yaw` about the origin, then move by `shift` (x + iy) [m]."""

    yaw: float
    shift: complex

    def repeated(self, count: Array) -> tuple[Array, NDArray[np.complex128]]:
        """Returns yaw and shift of the placement done `count` times (any whole number): a geometric series."""
        k = np.asarray(count, dtype=np.float64)
        half = 0.5 * self.yaw
        ratio = k * np.sinc(k * half / np.pi) / np.sinc(half / np.pi)  # sin(k half) / sin(half)
        return k * self.yaw, self.shift * ratio * np.exp(1j * (k - 1.0) * half)


NO_TRAVEL = Placement(0.0, 0j)


def placement_between(layout: PoseLayout, start: Array, end: Array) -> Placement:
    """Returns the placement that moves the root of pose `start` to the place and heading of pose `end`."""
    if layout.free:
        turn = float(spatial.yaw(spatial.multiply(end[3:7], spatial.conjugate(start[3:7]))))
        return Placement(turn, complex(end[0], end[1]) - np.exp(1j * turn) * complex(start[0], start[1]))
    return Placement(0.0, sum((complex(x, y) * (end[i] - start[i]) for i, x, y in layout.slides), 0j))


def place(layout: PoseLayout, poses: Array, yaw: Array | float, shift: NDArray[np.complex128] | complex) -> Array:
    """Returns poses (..., nq) moved over the floor; a character without a free root moves along its slides."""
    out = poses.copy()
    if layout.free:
        xy = (poses[..., 0] + 1j * poses[..., 1]) * np.exp(1j * np.asarray(yaw)) + shift
        out[..., 0], out[..., 1] = xy.real, xy.imag
        out[..., 3:7] = spatial.multiply(spatial.from_yaw(yaw), poses[..., 3:7])
    else:
        for i, x, y in layout.slides:
            out[..., i] += np.real(np.multiply(x - 1j * y, shift))
    return out


def place_tangent(layout: PoseLayout, tangents: Array, yaw: Array) -> Array:
    """Returns tangents (..., nv) of poses moved over the floor: only the linear velocity of the root turns."""
    out = tangents.copy()
    if layout.free:
        xy = (tangents[..., 0] + 1j * tangents[..., 1]) * np.exp(1j * yaw)
        out[..., 0], out[..., 1] = xy.real, xy.imag
    return out
