"""Goal: a feature at a value, or between two, and how much it counts. The one noun all optimisers share.

Posing minimises goals or holds them as constraints, spacetime holds them over time, control makes them objectives.
`Reach`, `Pin`, `Place` and the like are small constructors of goals: they have a method `goals(character, start)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot, take_kinematics
from counterpoise.errors import BadValue
from counterpoise.features.base import Feature


class Start:
    """The pose a problem starts from; its snapshot is taken only when something asks where things are now."""

    def __init__(self, character: Character, q: Array) -> None:
        self.character, self.q = character, q

    @cached_property
    def snapshot(self) -> Snapshot:
        return take_kinematics(self.character, self.q)


class MakesGoals(Protocol):
    """Anything that can say which goals it stands for on a body that starts from a pose."""

    def goals(self, character: Character, start: Start) -> Sequence[Goal]: ...


@dataclass(frozen=True, eq=False)
class Goal:
    """A feature at `target`, or between `low` and `high`. `weight` multiplies its error where it is not a constraint.

    Units are the feature's; lists of numbers are taken too. Where one of `low` and `high` is left out, that side is
    free.
    """

    feature: Feature
    target: Array | None = None
    weight: float = 1.0
    low: Array | None = None
    high: Array | None = None
    name: str = ""  # in results; the feature's name where none is given

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.feature.name)
        if (self.target is None) == (self.low is None and self.high is None):
            raise BadValue(f"the goal {self.name!r} takes a target, or low and/or high: one of the two")
        if not (np.isfinite(self.weight) and self.weight > 0.0):
            raise BadValue(f"a goal's weight is a positive number; got {self.weight!r} for {self.name!r}")
        for label in ("target", "low", "high"):
            given = getattr(self, label)
            if given is not None and type(given) is not np.ndarray:
                object.__setattr__(self, label, np.atleast_1d(np.asarray(given, float)))

    def goals(self, character: Character, start: Start) -> Sequence[Goal]:
        """Returns itself: a goal can be given wherever its constructors can."""
        return (self,)

    @property
    def aim(self) -> Array:
        """The target as an array."""
        assert self.target is not None
        return self.target

    @property
    def bounded(self) -> bool:
        """Whether it asks for a range of values instead of one."""
        return self.target is None

    def error(self, kinematics: Kinematics) -> tuple[Array, Array]:
        """Returns the error from the target (..., size) and its Jacobian (..., size, nv)."""
        return self.feature.error(kinematics, self.aim)

    def bounds(self, size: int) -> tuple[Array, Array]:
        """Returns the range (size,), (size,) of values; of errors, zero, where it has a target."""
        if not self.bounded:
            return np.zeros(size), np.zeros(size)
        low = np.full(size, -np.inf) if self.low is None else np.broadcast_to(np.asarray(self.low, float), (size,))
        high = np.full(size, np.inf) if self.high is None else np.broadcast_to(np.asarray(self.high, float), (size,))
        return low.copy(), high.copy()

    def aimed(self, target: Array) -> Goal:
        """Returns the same goal with another target, unchecked."""
        copy = object.__new__(Goal)
        copy.__dict__.update(self.__dict__, target=target)
        return copy

    def named(self, name: str) -> Goal:
        """Returns the same goal under another name."""
        return replace(self, name=name)
