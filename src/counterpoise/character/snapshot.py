"""Snapshot: the kinematics and dynamics of a body at one state, computed once and read often.

Everything is in the world frame; six-dimensional quantities are stacked [angular; linear]. MuJoCo's recursions give the
motion vector s_j of every dof about the CoM c; one compiled pass computes the rest from them:

    point Jacobian      J_p = s_lin + s_ang x (p - c)                       columns of the body's ancestors
    point drift         dJ_p/dt v = a_lin + a_ang x (p - c) + w x v_p       with the body's a at zero acceleration
    momentum matrix     A_j = I*_j s_j, so that [H; L] = A v                I* composite inertia of the subtree
    momentum drift      dA/dt v = sum_b (I_b a_b + v_b x* I_b v_b)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot_kernels import (
    arrays_to_derive,
    derive,
    place_points,
    point_jacobian,
    read_parts,
)
from counterpoise.character.snapshot_layout import PartPlace, layout_snapshot
from counterpoise.character.state import State
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue, unknown_name

if TYPE_CHECKING:
    from counterpoise.character.character import Character

USUAL = "com", "momentum", "contact_position", "contact_jacobian"  # parts that most controllers read


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
    # measured in the last step of a simulation; None where no step led to this state
    contact_force: Array | None = None  # (p, 3) [N] of the world on each contact point
    body_force: Array | None = None  # (nbody, 3) [N] of the world on each body, feet included

    @property
    def q(self) -> Array:
        return self.state.q

    @property
    def v(self) -> Array:
        return self.state.v

    @property
    def time(self) -> float:
        return self.state.time

    if TYPE_CHECKING:

        @property
        def flat(self) -> Array:
            """All parts in one array, in the order of `snapshot_layout`."""

    else:

        def __getattr__(self, name: str) -> Array:
            """Cuts a part from the array `flat` when it is first asked for: a control tick reads only a few of them.

            Of a snapshot that was made from its parts, it makes `flat`.
            """
            known = self.__dict__
            layout = snapshot_layout(known["character"]) if "character" in known else {}
            if name == "flat" and "M" in known:
                made = np.zeros(layout["contact_jacobian"].stop)
                for part, place in layout.items():
                    if known[part].shape == place.shape:  # M and h may be empty
                        made[place.start : place.stop] = known[part].reshape(-1)
            elif name in layout and "flat" in known:
                place = layout[name]
                made = known["flat"][place.start : place.stop].reshape(place.shape)
            else:
                raise AttributeError(f"a Snapshot has no {name!r}")
            known[name] = made
            return made

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
        """World place (3,) of a point of a body, given in the body's frame; by default of the frame's origin."""
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
        return point_jacobian(self.motion_vectors, tables.ancestors[b], self.position(body, point) - self.com)

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

    # -- measured forces --------------------------------------------------------------------------------------------
    def foot_force(self, foot: str) -> Array:
        """Measured force [N] (3,) of the world on all contact points of a foot, by its name or that of its body."""
        if self.contact_force is None:
            raise BadValue(
                "this snapshot was not simulated: contact forces are measured in the last step of a simulation"
            )
        first = 0
        for one in self.character.feet:
            last = first + len(one.points)
            if foot in (one.name, one.body):
                return np.asarray(self.contact_force[first:last].sum(axis=0))
            first = last
        raise unknown_name("foot", foot, (one.name for one in self.character.feet), self.character.name)

    # -- energy -----------------------------------------------------------------------------------------------------
    @cached_property
    def kinetic_energy(self) -> float:
        """[J], armature included."""
        return 0.5 * float(self.v @ self.M @ self.v)

    @cached_property
    def potential_energy(self) -> float:
        """[J], zero at z = 0."""
        return -self.character.mass * float(self.character.model.opt.gravity @ self.com)


def take_snapshot(character: Character, state: State) -> Snapshot:
    """The snapshot of a state. It is computed in the character's own MjData; no simulation is touched."""
    m, d, reader = character.model, tables_of(character).data, _own_reader(character)
    d.qpos[:] = state.q
    d.qvel[:] = state.v
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    mujoco.mj_crb(m, d)
    mujoco.mj_comVel(m, d)
    mujoco.mj_passive(m, d)
    mujoco.mj_rne(m, d, 0, reader.bias)
    return reader.read(state)


class SnapshotReader:
    """Reads snapshots of a character from a MjData of its own model, or of one in which it is alone.

    MuJoCo must have computed positions, velocities and bias forces of the state, as `mj_step1` does.
    """

    def __init__(self, character: Character, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        t, m, d = tables_of(character), model, data
        self.character, self.bias = character, d.qfrc_bias
        layout = snapshot_layout(character)
        self._size = layout["contact_jacobian"].stop
        self._usual = [(name, slice(layout[name].start, layout[name].stop), layout[name].shape) for name in USUAL]
        self._arrays = (
            d.xpos, d.xmat, d.xipos, d.subtree_com, d.cdof, d.cdof_dot, d.cvel, d.cinert, d.crb, d.M, d.qfrc_bias,
            d.qfrc_passive, d.qvel, m.M_rowadr, m.M_rownnz, m.M_colind, t.parent, t.dof_body, t.dof_start, t.dof_count,
            t.ancestors, t.point_body, t.point_place,
        )  # fmt: skip

    def read(self, state: State) -> Snapshot:
        """Returns the snapshot of the state that MuJoCo is in."""
        flat = np.empty(self._size)
        read_parts(*self._arrays, flat)
        found = object.__new__(Snapshot)  # one is made every control tick: this is quicker than the constructor
        fields = found.__dict__
        fields["character"], fields["state"], fields["flat"] = self.character, state, flat
        for name, place, shape in self._usual:
            fields[name] = flat[place].reshape(shape)
        return found


@kept_with_character
def _own_reader(character: Character) -> SnapshotReader:
    return SnapshotReader(character, character.model, tables_of(character).data)


@kept_with_character
def snapshot_layout(character: Character) -> dict[str, PartPlace]:
    """The places of the parts of the character's snapshots in their array."""
    return layout_snapshot(character.nv, int(character.model.nbody), len(character.contact_points))


def take_contact_places(character: Character, q: Array) -> Array:
    """World places (p, 3) of the contact points in a pose: as in a Snapshot, without computing the rest."""
    t = tables_of(character)
    d = t.data
    d.qpos[:] = q
    mujoco.mj_kinematics(character.model, d)
    out = np.empty((len(t.point_body), 3))
    place_points(d.xpos, d.xmat, t.point_body, t.point_place, out)
    return out


def take_body_poses(character: Character, q: Array) -> Array:
    """World poses (segments, 7) of the bodies, in the order of `character.segments`: position, quaternion (w first)."""
    d = tables_of(character).data
    d.qpos[:] = q
    mujoco.mj_kinematics(character.model, d)
    return np.hstack([d.xpos[1:], d.xquat[1:]])


def put_in_pose(character: Character, q: Array) -> mujoco.MjData:
    """The character's own MjData with frames, motion vectors and CoM of a pose; the next query overwrites it."""
    d = tables_of(character).data
    d.qpos[:] = q
    mujoco.mj_kinematics(character.model, d)
    mujoco.mj_comPos(character.model, d)
    return d


def take_kinematics(character: Character, q: Array) -> Snapshot:
    """A snapshot at rest without dynamics (M and h are empty), for posing: quicker than `take_snapshot`."""
    m, t = character.model, tables_of(character)
    d, n, p = put_in_pose(character, q), character.model.nv, len(t.point_body)
    d.qvel[:] = 0.0
    mujoco.mj_crb(m, d)
    com = d.subtree_com[0].copy()
    still = np.zeros((m.nbody, 6))
    derived = arrays_to_derive(m.nbody, n, p)
    derive(
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


def _point(point: ArrayLike) -> Array:
    out = np.asarray(point, float)
    if out.shape != (3,):
        raise BadValue(f"a point on a body is three numbers in its frame [m]; got shape {out.shape}")
    return out
