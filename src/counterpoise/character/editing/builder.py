"""Builder: a figure described segment by segment and compiled once."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.editing.edits import add_segments, empty_figure, set_feet, set_hands
from counterpoise.character.editing.parts import NewSegment
from counterpoise.errors import unknown_name


@dataclass(frozen=True)
class Builder:
    """A figure described segment by segment and compiled once, by `character()`; each call returns a new builder."""

    base: Character
    segments: tuple[NewSegment, ...] = ()
    feet_named: tuple[str, ...] = ()
    hands_named: tuple[str, ...] = ()

    def segment(self, name: str, parent: str | None = None, **options: Any) -> Builder:
        """Adds a segment, by default as a child of the one before. `NewSegment` lists the options."""
        known = {f.name for f in fields(NewSegment)}
        for option in options:
            if option not in known:
                raise unknown_name("option", option, known, "NewSegment")
        before = [*self.base.segments, *(s.name for s in self.segments)]
        parent = parent if parent is not None or not before else before[-1]
        return replace(self, segments=(*self.segments, NewSegment(name, parent, **options)))

    def feet(self, *names: str) -> Builder:
        """The segments it stands on."""
        return replace(self, feet_named=names)

    def hands(self, *names: str) -> Builder:
        """The segments it reaches with."""
        return replace(self, hands_named=names)

    def character(self) -> Character:
        """The figure."""
        made = add_segments(self.base, self.segments)
        made = set_hands(made, self.hands_named) if self.hands_named else made
        return set_feet(made, self.feet_named) if self.feet_named else made


def build(name: str = "figure", planar: bool = False) -> Builder:
    """Begin a figure: `build("worm", planar=True).segment("a").segment("b", length=0.2).character()`."""
    return Builder(empty_figure(name, planar))


def build_on(character: Character) -> Builder:
    """Begin with a figure that exists already."""
    return Builder(character)
