"""Joints that are variables of a posing problem and their limits: computed once for a character and a set of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import tree_of
from counterpoise.character.tables import tables_of
from counterpoise.pose.core import Ranges


@dataclass(frozen=True, eq=False)
class VariableLimits:
    """Limits of the variables of a problem, as the solver reads them."""

    joints: tuple[Any, ...]  # for the compiled core: the fields of `CompiledJoints`
    ranges: Ranges  # of hinges and slides
    range_rows: Ints  # their rows among the character's ranges
    ball_rows: Ints  # rows of balls among the character's limits


def limits_of_variables(character: Character, variables: Ints) -> VariableLimits:
    """Returns the limits of the dofs `variables`."""
    return _limits_of_variables(character, variables.tobytes())


@kept_with_character
def _limits_of_variables(character: Character, packed: bytes) -> VariableLimits:
    variables = np.array(np.frombuffer(packed, np.int64))
    limits = character.limits
    rows = np.flatnonzero(np.isin(limits.range_dof, variables)).astype(np.int64)
    at = np.searchsorted(variables, limits.range_dof[rows]).astype(np.int64)
    ranges = Ranges(at, limits.range_qpos[rows], limits.range_low[rows], limits.range_high[rows])
    dofs = (character.layout, character.nv, variables)
    joints = (tree_of(character), tables_of(character).ancestors, dofs, tuple(ranges), limits.ball_tables(variables))
    return VariableLimits(joints, ranges, rows, limits.ball_rows(set(variables.tolist())))
