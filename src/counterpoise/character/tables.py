"""What compiled code needs to know of a body's tree, read from its model once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import dofs_moving

if TYPE_CHECKING:
    from counterpoise.character.character import Character

LEAST_HEFT = 0.05  # of a dof that carries no mass


@dataclass(frozen=True)
class BodyTables:
    """The tree of a body, its contact points, and a MjData to compute in."""

    parent: Ints  # (nbody,)
    dof_body: Ints  # (nv,)
    dof_start: Ints  # (nbody,)
    dof_count: Ints
    ancestors: Array  # (nbody, nv) 1.0 where the dof moves the body
    moves: Flags  # (nbody, nv) the same as flags
    point_body: Ints  # (p,)
    point_place: Array  # (p, 3) in the body's frame
    data: mujoco.MjData  # overwritten by every query
    joint_of_dof: Ints  # (nv,) MuJoCo joint of each dof
    heft: Array  # (nv,) share of the body's mass that each dof carries, scaled to LEAST_HEFT ... 1


@kept_with_character
def tables_of(character: Character) -> BodyTables:
    """The tables of a character."""
    m = character.model
    moves = dofs_moving(character)
    points = character.contact_points
    share = m.body_subtreemass[m.dof_bodyid] / max(float(m.body_subtreemass[0]), 1e-12)
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
        heft=LEAST_HEFT + (1.0 - LEAST_HEFT) * share,
    )
