"""Limits of the joints that are variables of a posing problem, worked out once for a body and a set of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character


@dataclass(frozen=True, eq=False)
class VariableLimits:
    """What the solver needs to know of the limits of some joints."""

    ranges: tuple[Ints, Ints, Array, Array]  # hinges and slides: place among the variables, qpos address, low, high
    range_rows: Ints  # and their rows among the body's ranges
    balls: tuple[Ints, Ints, Array, Array, Array, Array, Ints, Array]  # see JointLimits.ball_tables
    ball_rows: Ints  # rows of the body's limits


def limits_of_variables(character: Character, variables: Ints) -> VariableLimits:
    """Returns the limits of the dofs `variables`."""
    return _limits_of_variables(character, variables.tobytes())


@kept_with_character
def _limits_of_variables(character: Character, packed: bytes) -> VariableLimits:
    variables = np.frombuffer(packed, np.int64)
    limits = character.limits
    rows = np.flatnonzero(np.isin(limits.range_dof, variables)).astype(np.int64)
    at = np.searchsorted(variables, limits.range_dof[rows]).astype(np.int64)
    ranges = (at, limits.range_qpos[rows], limits.range_low[rows], limits.range_high[rows])
    return VariableLimits(ranges, rows, limits.ball_tables(variables), limits.ball_rows(set(variables.tolist())))
