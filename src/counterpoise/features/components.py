"""Some components of another feature."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kinematics import Kinematics
from counterpoise.character.snapshot import Snapshot
from counterpoise.features.base import Feature


@dataclass(frozen=True)
class Components(Feature):
    """Some components of a feature whose values are plain vectors: the height of a point, x and y of the CoM."""

    whole: Feature
    rows: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def unit(self) -> str:
        return self.whole.unit

    @property
    def labels(self) -> tuple[str, ...]:
        names = self.whole.labels
        return tuple(names[i] for i in self.rows) if names else ()

    def value(self, kinematics: Kinematics) -> Array:
        return self.whole.value(kinematics)[..., list(self.rows)]

    def jacobian(self, kinematics: Kinematics) -> Array:
        return self.whole.jacobian(kinematics)[..., list(self.rows), :]

    def drift(self, snapshot: Snapshot) -> Array:
        return self.whole.drift(snapshot)[list(self.rows)]

    def moved_by(self, character: Character) -> Flags:
        return self.whole.moved_by(character)
