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
