"""Snapshot: the kinematics and dynamics of a body at one state, computed once and read often.

It is the one door to MuJoCo's queries. Everything is in the world frame; six-dimensional quantities are stacked
[angular; linear] (MATH: [w; v], [n; f]). MuJoCo's recursions give every dof's motion vector s_j about the CoM c; from
them one compiled pass makes the rest:

    point Jacobian      J_p = s_lin + s_ang x (p - c)                       columns of the body's ancestors
    point drift         dJ_p/dt v = a_lin + a_ang x (p - c) + w x v_p       with the body's a at zero acceleration
    momentum matrix     A_j = I*_j s_j, so that [H; L] = A v                I* composite inertia of the subtree
    momentum drift      dA/dt v = sum_b (I_b a_b + v_b x* I_b v_b)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import dofs_moving
from counterpoise.character.state import State
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel

if TYPE_CHECKING:
    from counterpoise.character.character import Character


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A body at one state. Positions [m], velocities [m/s, rad/s], all in the world frame."""

    character: Character
    state: State
    body_position: Array  # (nbody, 3) origins of the body frames
    body_rotation: Array  # (nbody, 3, 3)
    body_com: Array  # (nbody, 3) each body's own centre of mass
    body_velocity: Array  # (nbody, 6) [w; v] of each body, v at the whole body's CoM
    body_drift: Array  # (nbody, 6) [alpha; a] of each body at zero joint acceleration, a at the CoM
    M: Array  # (nv, nv) mass matrix, armature included
    h: Array  # (nv,) bias: Coriolis, gravity, passive damping; M a + h = tau + J^T f
    com: Array  # (3,)
    momentum: Array  # (6,) [H about the CoM; L]
    momentum_matrix: Array  # (6, nv)
    momentum_drift: Array  # (6,)
    contact_position: Array  # (p, 3) the contact points of the feet
    contact_velocity: Array  # (p, 3)
    contact_jacobian: Array  # (p, 3, nv)
    contact_drift: Array  # (p, 3)
    motion_vectors: Array  # (nv, 6) s_j about the CoM

    @property
    def q(self) -> Array:
        return self.state.q

    @property
    def v(self) -> Array:
        return self.state.v

    @property
    def time(self) -> float:
        return self.state.time

    # -- centre of mass -------------------------------------------------------------------------------------------
    @cached_property
    def com_velocity(self) -> Array:
        return self.momentum[3:] / self.character.mass

    @cached_property
    def com_jacobian(self) -> Array:
        """(3, nv)"""
        return self.momentum_matrix[3:] / self.character.mass

    @cached_property
    def com_drift(self) -> Array:
        """dJ/dt v of the CoM, (3,)."""
        return self.momentum_drift[3:] / self.character.mass

    # -- bodies and points ----------------------------------------------------------------------------------------
    def position(self, body: str, point: ArrayLike | None = None) -> Array:
        """Where a point of a body is (its frame's origin where none is given; `point` in the body's frame)."""
        b = self.character.body_id(body)
        if point is None:
            return self.body_position[b].copy()
        return self.body_position[b] + self.body_rotation[b] @ _point(point)

    def rotation(self, body: str) -> Array:
        """(3, 3), world from body."""
        return self.body_rotation[self.character.body_id(body)].copy()

    def angular_velocity(self, body: str) -> Array:
        return self.body_velocity[self.character.body_id(body), :3].copy()

    def velocity(self, body: str, point: ArrayLike | None = None) -> Array:
        """Velocity of a point of a body, (3,)."""
        b = self.character.body_id(body)
        twist, arm = self.body_velocity[b], self.position(body, point) - self.com
        return twist[3:] + np.cross(twist[:3], arm)

    def jacobian(self, body: str, point: ArrayLike | None = None) -> Array:
        """(3, nv): velocity of a point of a body is J v."""
        tables, b = tables_of(self.character), self.character.body_id(body)
        return _point_jacobian(self.motion_vectors, tables.ancestors[b], self.position(body, point) - self.com)

    def angular_jacobian(self, body: str) -> Array:
        """(3, nv): angular velocity of a body is J v."""
        b = self.character.body_id(body)
        return (self.motion_vectors[:, :3] * tables_of(self.character).ancestors[b][:, None]).T.copy()

    def drift(self, body: str, point: ArrayLike | None = None) -> Array:
        """dJ/dt v of a point of a body: its acceleration when the joints do not accelerate, (3,)."""
        b = self.character.body_id(body)
        arm = self.position(body, point) - self.com
        twist, bias = self.body_velocity[b], self.body_drift[b]
        v_point = twist[3:] + np.cross(twist[:3], arm)
        return bias[3:] + np.cross(bias[:3], arm) + np.cross(twist[:3], v_point)

    def angular_drift(self, body: str) -> Array:
        return self.body_drift[self.character.body_id(body), :3].copy()

    # -- energy -----------------------------------------------------------------------------------------------------
    @cached_property
    def kinetic_energy(self) -> float:
        """[J], armature included."""
        return 0.5 * float(self.v @ self.M @ self.v)

    @cached_property
    def potential_energy(self) -> float:
        """[J], zero at z = 0."""
        return -self.character.mass * float(self.character.model.opt.gravity @ self.com)


@dataclass(frozen=True)
class BodyTables:
    """What the compiled pass needs to know of a body's shape, read from the model once."""

    parent: Ints  # (nbody,)
    dof_body: Ints  # (nv,)
    dof_start: Ints  # (nbody,)
    dof_count: Ints
    ancestors: Array  # (nbody, nv) 1.0 where the dof moves the body
    moves: Flags  # the same, as truth
    point_body: Ints  # (p,)
    point_place: Array  # (p, 3) in the body's frame
    data: mujoco.MjData  # scratch
    joint_of_dof: Ints  # (nv,) MuJoCo joint of each dof
    heft: Array  # (nv,) share of the body's mass that each dof carries, 0.05 to 1


def take_snapshot(character: Character, state: State) -> Snapshot:
    """Compute everything once. The scratch MuJoCo data is the body's own: nothing of a simulation is touched."""
    m, t = character.model, tables_of(character)
    d = t.data
    d.qpos[:] = state.q
    d.qvel[:] = state.v
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_crb(m, d)
    mujoco.mj_comVel(m, d)
    mujoco.mj_passive(m, d)
    h = np.empty(m.nv)
    mujoco.mj_rne(m, d, 0, h)
    h -= d.qfrc_passive
    M = np.empty((m.nv, m.nv))
    mujoco.mj_fullM(m, d, M)
    com, place, cdof, twist = d.subtree_com[0].copy(), d.xpos.copy(), d.cdof.copy(), d.cvel.copy()
    derived = _derived(m.nbody, m.nv, len(t.point_body))
    _derive(
        cdof, d.cdof_dot, twist, d.cinert, d.crb, place, d.xmat, d.qvel, com,
        t.parent, t.dof_body, t.dof_start, t.dof_count, t.ancestors, t.point_body, t.point_place, *derived.values(),
    )  # fmt: skip
    found = object.__new__(Snapshot)  # a tick makes one: its fields are put in place at once
    found.__dict__.update(
        derived,
        character=character,
        state=state,
        body_position=place,
        body_rotation=d.xmat.reshape(-1, 3, 3).copy(),
        body_com=d.xipos.copy(),
        body_velocity=twist,
        M=M,
        h=h,
        com=com,
        motion_vectors=cdof,
    )
    return found


def take_contact_places(character: Character, q: Array) -> Array:
    """Where the contact points of the feet are in a pose, (p, 3): as a Snapshot has it, and nothing else."""
    t = tables_of(character)
    d = t.data
    d.qpos[:] = q
    mujoco.mj_kinematics(character.model, d)
    out = np.empty((len(t.point_body), 3))
    _place_points(d.xpos, d.xmat, t.point_body, t.point_place, out)
    return out


def put_in_pose(character: Character, q: Array) -> mujoco.MjData:
    """The body's scratch data with frames, motion vectors and CoM at a pose: read at once, the next asker reuses it."""
    d = tables_of(character).data
    d.qpos[:] = q
    mujoco.mj_kinematics(character.model, d)
    mujoco.mj_comPos(character.model, d)
    return d


def take_kinematics(character: Character, q: Array) -> Snapshot:
    """A snapshot at rest without dynamics (M and h are empty): what posing needs, at a fraction of the cost."""
    m, t = character.model, tables_of(character)
    d, n, p = put_in_pose(character, q), character.model.nv, len(t.point_body)
    d.qvel[:] = 0.0
    mujoco.mj_crb(m, d)
    com = d.subtree_com[0].copy()
    still = np.zeros((m.nbody, 6))
    derived = _derived(m.nbody, n, p)
    _derive(
        d.cdof, d.cdof, still, d.cinert, d.crb, d.xpos, d.xmat, d.qvel, com,
        t.parent, t.dof_body, t.dof_start, t.dof_count, t.ancestors, t.point_body, t.point_place, *derived.values(),
    )  # fmt: skip
    return Snapshot(
        character=character,
        state=State(q, np.zeros(n)),
        body_position=d.xpos.copy(),
        body_rotation=d.xmat.reshape(-1, 3, 3).copy(),
        body_com=d.xipos.copy(),
        body_velocity=still,
        body_drift=still,
        M=np.empty((0, 0)),
        h=np.empty(0),
        com=com,
        momentum=np.zeros(6),
        momentum_matrix=derived["momentum_matrix"],
        momentum_drift=np.zeros(6),
        contact_position=derived["contact_position"],
        contact_velocity=np.zeros((p, 3)),
        contact_jacobian=derived["contact_jacobian"],
        contact_drift=np.zeros((p, 3)),
        motion_vectors=d.cdof.copy(),
    )


@dataclass(frozen=True, eq=False)
class Track:
    """A few quantities of a body along many poses, computed without a Snapshot each: what measuring needs."""

    com: Array  # (n, 3)
    momentum: Array  # (n, 6)
    bodies: Array  # (n, nbody, 3)
    rotations: Array  # (n, nbody, 3, 3)
    kinetic: Array  # (n,) [J]
    potential: Array  # (n,) [J]


def follow(character: Character, qpos: Array, qvel: Array | None = None) -> Track:
    """CoM, momentum, body poses and energy along a sequence of states."""
    m, n = character.model, len(qpos)
    d = mujoco.MjData(m)
    com, momentum = np.zeros((n, 3)), np.zeros((n, 6))
    bodies, rotations = np.zeros((n, m.nbody, 3)), np.zeros((n, m.nbody, 3, 3))
    kinetic, potential = np.zeros(n), np.zeros(n)
    velocities = np.zeros((n, m.nv)) if qvel is None else qvel
    work = np.zeros(m.nv)
    for k in range(n):
        d.qpos[:] = qpos[k]
        d.qvel[:] = velocities[k]
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        bodies[k], rotations[k] = d.xpos, d.xmat.reshape(-1, 3, 3)
        com[k] = d.subtree_com[0]
        if qvel is not None:
            mujoco.mj_comVel(m, d)
            mujoco.mj_subtreeVel(m, d)
            momentum[k, :3], momentum[k, 3:] = d.subtree_angmom[0], d.subtree_linvel[0] * character.mass
            mujoco.mj_crb(m, d)
            mujoco.mj_mulM(m, d, work, d.qvel)
            kinetic[k] = 0.5 * float(d.qvel @ work)
        potential[k] = -character.mass * float(m.opt.gravity @ com[k])
    return Track(com, momentum, bodies, rotations, kinetic, potential)


def point_path(character: Character, track: Track, body: str, place: Sequence[float]) -> Array:
    """World path (n, 3) of a body-fixed point along a track."""
    b = character.body_id(body)
    return track.bodies[:, b] + track.rotations[:, b] @ np.asarray(place, float)


@kept_with_character
def tables_of(character: Character) -> BodyTables:
    """The body's tables, made on first use and kept with it."""
    m = character.model
    moves = dofs_moving(character)
    points = character.contact_points
    return BodyTables(
        parent=m.body_parentid.astype(np.int64),
        dof_body=m.dof_bodyid.astype(np.int64),
        dof_start=m.body_dofadr.astype(np.int64),
        dof_count=m.body_dofnum.astype(np.int64),
        ancestors=moves.astype(float),
        moves=moves,
        point_body=np.array([character.body_id(p.body) for p in points], np.int64),
        point_place=np.array([p.position for p in points], float).reshape(-1, 3),
        data=mujoco.MjData(m),
        joint_of_dof=m.dof_jntid.astype(np.int64),
        heft=0.05 + 0.95 * m.body_subtreemass[m.dof_bodyid] / max(float(m.body_subtreemass[0]), 1e-12),
    )


def _point(point: ArrayLike) -> Array:
    out = np.asarray(point, float)
    if out.shape != (3,):
        raise BadValue(f"a point on a body is three numbers in its frame [m]; got shape {out.shape}")
    return out


@kernel
def _point_jacobian(cdof: Array, ancestors: Array, arm: Array) -> Array:
    nv = len(cdof)
    out = np.zeros((3, nv))
    for j in range(nv):
        if ancestors[j] != 0.0:
            s = cdof[j]
            out[0, j] = s[3] + s[1] * arm[2] - s[2] * arm[1]
            out[1, j] = s[4] + s[2] * arm[0] - s[0] * arm[2]
            out[2, j] = s[5] + s[0] * arm[1] - s[1] * arm[0]
    return out


@kernel
def _inertia_times(I: Array, s: Array, out: Array) -> None:
    """MuJoCo's ten-number inertia about the CoM times a motion vector -> [angular; linear] momentum."""
    out[0] = I[0] * s[0] + I[3] * s[1] + I[4] * s[2] - I[8] * s[4] + I[7] * s[5]
    out[1] = I[3] * s[0] + I[1] * s[1] + I[5] * s[2] + I[8] * s[3] - I[6] * s[5]
    out[2] = I[4] * s[0] + I[5] * s[1] + I[2] * s[2] - I[7] * s[3] + I[6] * s[4]
    out[3] = I[8] * s[1] - I[7] * s[2] + I[9] * s[3]
    out[4] = I[6] * s[2] - I[8] * s[0] + I[9] * s[4]
    out[5] = I[7] * s[0] - I[6] * s[1] + I[9] * s[5]


def _derived(nbody: int, nv: int, points: int) -> dict[str, Array]:
    """Room for what `_derive` writes, by field and in its order."""
    return {
        "body_drift": np.zeros((nbody, 6)),
        "momentum_matrix": np.empty((6, nv)),
        "momentum": np.zeros(6),
        "momentum_drift": np.zeros(6),
        "contact_position": np.empty((points, 3)),
        "contact_velocity": np.empty((points, 3)),
        "contact_jacobian": np.zeros((points, 3, nv)),
        "contact_drift": np.empty((points, 3)),
    }


@kernel
def _place_points(xpos: Array, xmat: Array, point_body: Ints, point_place: Array, out: Array) -> None:
    """World places of body-fixed points."""
    for i in range(len(point_body)):
        b = point_body[i]
        x = point_place[i]
        for k in range(3):
            out[i, k] = xpos[b, k] + xmat[b, 3 * k] * x[0] + xmat[b, 3 * k + 1] * x[1] + xmat[b, 3 * k + 2] * x[2]


@kernel
def _derive(
    cdof: Array,
    cdof_dot: Array,
    cvel: Array,
    cinert: Array,
    crb: Array,
    xpos: Array,
    xmat: Array,
    qvel: Array,
    com: Array,
    parent: Ints,
    dof_body: Ints,
    dof_start: Ints,
    dof_count: Ints,
    ancestors: Array,
    point_body: Ints,
    point_place: Array,
    bias: Array,
    cmm: Array,
    momentum: Array,
    cmm_drift: Array,
    place: Array,
    speed: Array,
    jac: Array,
    drift: Array,
) -> None:
    """Everything MuJoCo's recursions leave to be done, into the arrays given last."""
    nbody, nv, points = len(parent), len(cdof), len(point_body)
    p, f = np.empty(6), np.empty(6)
    for b in range(1, nbody):
        for k in range(6):
            bias[b, k] = bias[parent[b], k]
        for j in range(dof_start[b], dof_start[b] + dof_count[b]):
            for k in range(6):
                bias[b, k] += cdof_dot[j, k] * qvel[j]
        v = cvel[b]
        _inertia_times(cinert[b], v, p)
        _inertia_times(cinert[b], bias[b], f)
        for k in range(6):
            momentum[k] += p[k]
        cmm_drift[0] += f[0] + v[1] * p[2] - v[2] * p[1] + v[4] * p[5] - v[5] * p[4]
        cmm_drift[1] += f[1] + v[2] * p[0] - v[0] * p[2] + v[5] * p[3] - v[3] * p[5]
        cmm_drift[2] += f[2] + v[0] * p[1] - v[1] * p[0] + v[3] * p[4] - v[4] * p[3]
        cmm_drift[3] += f[3] + v[1] * p[5] - v[2] * p[4]
        cmm_drift[4] += f[4] + v[2] * p[3] - v[0] * p[5]
        cmm_drift[5] += f[5] + v[0] * p[4] - v[1] * p[3]
    for j in range(nv):
        _inertia_times(crb[dof_body[j]], cdof[j], p)
        for k in range(6):
            cmm[k, j] = p[k]
    _place_points(xpos, xmat, point_body, point_place, place)
    for i in range(points):
        b = point_body[i]
        v, a = cvel[b], bias[b]
        r0, r1, r2 = place[i, 0] - com[0], place[i, 1] - com[1], place[i, 2] - com[2]
        speed[i, 0] = v[3] + v[1] * r2 - v[2] * r1
        speed[i, 1] = v[4] + v[2] * r0 - v[0] * r2
        speed[i, 2] = v[5] + v[0] * r1 - v[1] * r0
        u = speed[i]
        drift[i, 0] = a[3] + a[1] * r2 - a[2] * r1 + v[1] * u[2] - v[2] * u[1]
        drift[i, 1] = a[4] + a[2] * r0 - a[0] * r2 + v[2] * u[0] - v[0] * u[2]
        drift[i, 2] = a[5] + a[0] * r1 - a[1] * r0 + v[0] * u[1] - v[1] * u[0]
        for j in range(nv):
            if ancestors[b, j] != 0.0:
                s = cdof[j]
                jac[i, 0, j] = s[3] + s[1] * r2 - s[2] * r1
                jac[i, 1, j] = s[4] + s[2] * r0 - s[0] * r2
                jac[i, 2, j] = s[5] + s[0] * r1 - s[1] * r0
