"""History: a figure and the edits that made it, for undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

from counterpoise.character.character import Character
from counterpoise.errors import BadValue

P = ParamSpec("P")


@dataclass(frozen=True)
class History:
    """A figure and the edits that made it; `do`, `undo` and `redo` return a new history."""

    present: Character
    past: tuple[tuple[str, Character], ...] = ()  # (the edit that followed, the figure before it)
    future: tuple[tuple[str, Character], ...] = ()  # (the edit that was undone, the figure after it)

    def do(
        self, edit: Callable[Concatenate[Character, P], Character], *arguments: P.args, **options: P.kwargs
    ) -> History:
        """Applies an edit to the present figure and drops what had been undone. An edit that fails changes nothing."""
        after = edit(self.present, *arguments, **options)
        label = " ".join([getattr(edit, "__name__", "edit"), *(a for a in arguments if isinstance(a, str))])
        return History(after, (*self.past, (label, self.present)))

    def undo(self) -> History:
        """One edit back."""
        if not self.past:
            raise BadValue("there is nothing to undo")
        label, before = self.past[-1]
        return History(before, self.past[:-1], ((label, self.present), *self.future))

    def redo(self) -> History:
        """One edit forward again."""
        if not self.future:
            raise BadValue("there is nothing to redo")
        label, after = self.future[0]
        return History(after, (*self.past, (label, self.present)), self.future[1:])

    @property
    def edits(self) -> tuple[str, ...]:
        """The edits so far in words, oldest first."""
        return tuple(label for label, _ in self.past)
