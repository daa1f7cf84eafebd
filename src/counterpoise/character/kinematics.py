"""Forward kinematics: body frames and motion vectors of one pose or of many, compiled.

Poses and frames follow MuJoCo's conventions. A dof's motion vector s = [w; v] is the motion of everything it carries
per unit of its speed, written about the world's origin: a point p carried by it moves at v + w x p.

`Kinematics` is what features read. A `Snapshot` is the case of one pose, with dynamics; `BatchKinematics` that of many.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kept import kept_with_character
from counterpoise.kernels import fma, for_reading, inner_kernel, kernel

if TYPE_CHECKING:
    from counterpoise.character.character import Character

Tree: TypeAlias = tuple[Ints, Array, Array, Ints, Ints, Ints, Ints, Ints, Array, Array, Array]
FREE, BALL, SLIDE = 0, 1, 2  # MuJoCo joint types


class Kinematics(Protocol):
    """Where a body's parts are and how they move with its dofs, in one pose or in many (leading axes `...`)."""

    @property
    def character(self) -> Character: ...

    @property
    def q(self) -> Array:
        """(..., nq)"""

    @property
    def com(self) -> Array:
        """Centre of mass (..., 3) [m]."""

    @property
    def com_jacobian(self) -> Array:
        """(..., 3, nv)"""

    def position(self, body: str, point: ArrayLike | None = None) -> Array:
        """A point of a body (its frame's origin where none is given), world (..., 3) [m]."""

    def rotation(self, body: str) -> Array:
        """World from body (..., 3, 3)."""

    def jacobian(self, body: str, point: ArrayLike | None = None) -> Array:
        """(..., 3, nv): velocity of a point of a body is J v."""

    def angular_jacobian(self, body: str) -> Array:
        """(..., 3, nv): angular velocity of a body is J v."""


class BatchKinematics:
    """The kinematics of many poses (n, nq) at once."""

    def __init__(self, character: Character, q: Array) -> None:
        self.character, self.q = character, q
        self._place, self._turn, self._motion = _frames_and_motion(for_reading(q), character.nv, tree_of(character))

    def position(self, body: str, point: ArrayLike | None = None) -> Array:
        b = self.character.body_id(body)
        if point is None:
            return self._place[:, b].copy()
        return np.asarray(self._place[:, b] + self._turn[:, b].reshape(-1, 3, 3) @ np.asarray(point, float))

    def rotation(self, body: str) -> Array:
        return self._turn[:, self.character.body_id(body)].reshape(-1, 3, 3).copy()

    def jacobian(self, body: str, point: ArrayLike | None = None) -> Array:
        moves = dofs_moving(self.character)[self.character.body_id(body)]
        return _point_jacobians(self._motion, moves, self.position(body, point))

    def angular_jacobian(self, body: str) -> Array:
        moves = dofs_moving(self.character)[self.character.body_id(body)]
        return np.ascontiguousarray((self._motion[:, :, :3] * moves[:, None]).swapaxes(1, 2))

    def points(self, bodies: Ints, points: Array) -> Array:
        """World positions (n, m, 3) [m] of points (m, 3) in the frames of bodies (m,) given by number."""
        turns = self._turn[:, bodies].reshape(len(self.q), len(bodies), 3, 3)
        return np.asarray(self._place[:, bodies] + np.einsum("nmij,mj->nmi", turns, points))

    def point_jacobians(self, bodies: Ints, places: Array) -> Array:
        """(n, m, 3, nv) of points at world positions (n, m, 3) that move with bodies (m,) given by number."""
        moves = dofs_moving(self.character)
        out = np.empty((*places.shape, self.character.nv))
        for k, body in enumerate(bodies):
            out[:, k] = _point_jacobians(self._motion, moves[body], places[:, k])
        return out

    @cached_property
    def com(self) -> Array:
        m = self.character.model
        centre = self._place + np.einsum("nbij,bj->nbi", self._turn.reshape(*self._place.shape, 3), m.body_ipos)
        return np.asarray(np.einsum("b,nbi->ni", m.body_mass, centre) / m.body_mass.sum())

    @cached_property
    def com_jacobian(self) -> Array:
        m = self.character.model
        return _com_jacobians(
            self._place, self._turn, self._motion, m.body_parentid, m.dof_bodyid, m.body_mass, m.body_ipos
        )


@kept_with_character
def tree_of(character: Character) -> Tree:
    """The character's tree as arrays for compiled code."""
    m = character.model
    ints = (m.body_parentid, m.body_jntadr, m.body_jntnum, m.jnt_type, m.jnt_qposadr, m.jnt_dofadr)
    floats = (m.body_pos, m.body_quat, m.jnt_pos, m.jnt_axis, m.qpos0)
    parent, start, count, kinds, qpos, dof = (np.array(a, dtype=np.int64) for a in ints)
    body_pos, body_quat, joint_pos, joint_axis, q0 = (np.array(a, dtype=np.float64) for a in floats)
    return parent, body_pos, body_quat, start, count, kinds, qpos, dof, joint_pos, joint_axis, q0


@kept_with_character
def dofs_moving(character: Character) -> Flags:
    """(nbody, nv): which dofs move which body."""
    m = character.model
    moves = np.zeros((m.nbody, m.nv), bool)
    for b in range(1, m.nbody):
        moves[b] = moves[m.body_parentid[b]]
        first = int(m.body_dofadr[b])
        if first >= 0:
            moves[b, first : first + int(m.body_dofnum[b])] = True
    moves.flags.writeable = False
    return moves


@kept_with_character
def dof_lists(character: Character) -> tuple[Ints, Ints]:
    """The dofs that move each body, root first: (starts, dofs), where dofs[starts[b] : starts[b + 1]] move body b."""
    moves = dofs_moving(character)
    starts = np.concatenate([[0], np.cumsum(moves.sum(axis=1))]).astype(np.int64)
    return starts, np.nonzero(moves)[1].astype(np.int64)


def body_frames(character: Character, poses: Array) -> tuple[Array, Array]:
    """World places (n, nbody, 3) and rotations (n, nbody, 4) of all bodies in poses (n, nq)."""
    return _body_frames(for_reading(poses), character.nv, tree_of(character))


def local_frames(character: Character, poses: Array) -> tuple[Array, Array]:
    """Places (n, nbody, 3) and rotations (n, nbody, 4) of all bodies in the frames of their parents, in poses (n, nq).

    The same pass as `body_frames`, with every body's parent at the world's origin.
    """
    parent, *rest = tree_of(character)
    return _body_frames(
        for_reading(poses),
        character.nv,
        (np.zeros_like(parent), *rest),  # type: ignore[arg-type]
    )


@inner_kernel
def matrix_of(w: float, x: float, y: float, z: float, out: Array) -> None:
    out[0], out[1], out[2] = w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)
    out[3], out[4], out[5] = 2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)
    out[6], out[7], out[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z


@inner_kernel
def row_times(m: Array, k: int, v: Array) -> float:
    return fma(m[3 * k], v[0], fma(m[3 * k + 1], v[1], m[3 * k + 2] * v[2]))


@inner_kernel
def turn_about(x: float, y: float, z: float, place: Array, out: Array) -> None:
    """Motion vector of a turn about an axis through a place: [axis; place x axis]."""
    out[0], out[1], out[2] = x, y, z
    out[3] = fma(place[1], z, -place[2] * y)
    out[4] = fma(place[2], x, -place[0] * z)
    out[5] = fma(place[0], y, -place[1] * x)


@kernel
def forward_kinematics(q: Array, tree: Tree, xpos: Array, xmat: Array, xquat: Array, motion: Array) -> None:
    """Body frames, and motion vectors [w; v] of every dof about the world's origin, in MuJoCo's conventions."""
    parent, body_pos, body_quat, joint_start, joint_count, kinds, joint_q, joint_v, joint_pos, joint_axis, q0 = tree
    R, anchor = np.empty(9), np.empty(3)
    for b in range(1, len(parent)):
        p = parent[b]
        up, down = xquat[p], body_quat[b]
        w = up[0] * down[0] - up[1] * down[1] - up[2] * down[2] - up[3] * down[3]
        x = up[0] * down[1] + up[1] * down[0] + up[2] * down[3] - up[3] * down[2]
        y = up[0] * down[2] - up[1] * down[3] + up[2] * down[0] + up[3] * down[1]
        z = up[0] * down[3] + up[1] * down[2] - up[2] * down[1] + up[3] * down[0]
        place = xpos[b]
        for k in range(3):
            place[k] = xpos[p, k] + row_times(xmat[p], k, body_pos[b])
        matrix_of(w, x, y, z, R)
        for j in range(joint_start[b], joint_start[b] + joint_count[b]):
            at, dof, kind = joint_q[j], joint_v[j], kinds[j]
            if kind == FREE:
                for k in range(3):
                    place[k] = q[at + k]
                w, x, y, z = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
                matrix_of(w, x, y, z, R)
                for k in range(3):
                    for i in range(6):
                        motion[dof + k, i] = 1.0 if i == 3 + k else 0.0
                    turn_about(R[k], R[3 + k], R[6 + k], place, motion[dof + 3 + k])
                continue
            for k in range(3):
                anchor[k] = place[k] + row_times(R, k, joint_pos[j])
            a0, a1, a2 = row_times(R, 0, joint_axis[j]), row_times(R, 1, joint_axis[j]), row_times(R, 2, joint_axis[j])
            if kind == SLIDE:
                moved = q[at] - q0[at]
                place[0] += a0 * moved
                place[1] += a1 * moved
                place[2] += a2 * moved
                motion[dof, 0] = motion[dof, 1] = motion[dof, 2] = 0.0
                motion[dof, 3], motion[dof, 4], motion[dof, 5] = a0, a1, a2
                continue
            if kind == BALL:
                c0, c1, c2, c3 = q[at], q[at + 1], q[at + 2], q[at + 3]
            else:
                half = 0.5 * (q[at] - q0[at])
                sine = np.sin(half)
                c0, c1 = np.cos(half), sine * joint_axis[j, 0]
                c2, c3 = sine * joint_axis[j, 1], sine * joint_axis[j, 2]
                turn_about(a0, a1, a2, anchor, motion[dof])
            w, x, y, z = (
                w * c0 - x * c1 - y * c2 - z * c3,
                w * c1 + x * c0 + y * c3 - z * c2,
                w * c2 - x * c3 + y * c0 + z * c1,
                w * c3 + x * c2 - y * c1 + z * c0,
            )
            matrix_of(w, x, y, z, R)
            if kind == BALL:
                for k in range(3):
                    turn_about(R[k], R[3 + k], R[6 + k], anchor, motion[dof + k])
            for k in range(3):
                place[k] = anchor[k] - row_times(R, k, joint_pos[j])
        size = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
        xquat[b, 0], xquat[b, 1], xquat[b, 2], xquat[b, 3] = w * size, x * size, y * size, z * size
        matrix_of(xquat[b, 0], xquat[b, 1], xquat[b, 2], xquat[b, 3], xmat[b])


@kernel
def _body_frames(poses: Array, nv: int, tree: Tree) -> tuple[Array, Array]:
    """World places (n, bodies, 3) and rotations (n, bodies, 4) of every body in every pose (n, nq)."""
    count = len(tree[0])
    places, turns = np.zeros((len(poses), count, 3)), np.zeros((len(poses), count, 4))
    xmat, motion = np.zeros((count, 9)), np.zeros((nv, 6))
    xmat[0, 0] = xmat[0, 4] = xmat[0, 8] = 1.0
    for n in range(len(poses)):
        turns[n, 0, 0] = 1.0
        forward_kinematics(poses[n], tree, places[n], xmat, turns[n], motion)
    return places, turns


@kernel
def _frames_and_motion(poses: Array, nv: int, tree: Tree) -> tuple[Array, Array, Array]:
    """Places (n, bodies, 3), rotations (n, bodies, 9) and motion vectors (n, nv, 6) in every pose (n, nq)."""
    n, count = len(poses), len(tree[0])
    places, turns, motion = np.zeros((n, count, 3)), np.zeros((n, count, 9)), np.zeros((n, nv, 6))
    xquat = np.zeros((count, 4))
    xquat[0, 0] = 1.0
    for i in range(n):
        turns[i, 0, 0] = turns[i, 0, 4] = turns[i, 0, 8] = 1.0
        forward_kinematics(poses[i], tree, places[i], turns[i], xquat, motion[i])
    return places, turns, motion


@kernel
def _point_jacobians(motion: Array, moves: Flags, points: Array) -> Array:
    """(n, 3, nv) of points (n, 3) that the dofs in `moves` move."""
    n, nv = motion.shape[0], motion.shape[1]
    out = np.zeros((n, 3, nv))
    for i in range(n):
        p = points[i]
        for j in range(nv):
            if moves[j]:
                s = motion[i, j]
                out[i, 0, j] = s[3] + s[1] * p[2] - s[2] * p[1]
                out[i, 1, j] = s[4] + s[2] * p[0] - s[0] * p[2]
                out[i, 2, j] = s[5] + s[0] * p[1] - s[1] * p[0]
    return out


@kernel
def _com_jacobians(
    places: Array, turns: Array, motion: Array, parent: Array, dof_body: Array, mass: Array, centre: Array
) -> Array:
    """(n, 3, nv): a dof moves the CoM as it moves the centre of what it carries, by that part's share of the mass."""
    n, bodies, nv = places.shape[0], places.shape[1], motion.shape[1]
    out = np.empty((n, 3, nv))
    below, moment = np.empty(bodies), np.empty((bodies, 3))
    for i in range(n):
        for b in range(bodies):
            below[b] = mass[b]
            for k in range(3):
                moment[b, k] = mass[b] * (places[i, b, k] + row_times(turns[i, b], k, centre[b]))
        for b in range(bodies - 1, 0, -1):
            below[parent[b]] += below[b]
            for k in range(3):
                moment[parent[b], k] += moment[b, k]
        for j in range(nv):
            s, b = motion[i, j], dof_body[j]
            m, c = below[b], moment[b]
            out[i, 0, j] = (s[3] * m + s[1] * c[2] - s[2] * c[1]) / below[0]
            out[i, 1, j] = (s[4] * m + s[2] * c[0] - s[0] * c[2]) / below[0]
            out[i, 2, j] = (s[5] * m + s[0] * c[1] - s[1] * c[0]) / below[0]
    return out
