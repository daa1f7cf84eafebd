"""SceneHistory: a scene, the edits that made it, and those that were undone."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.errors import BadValue
from counterpoise.scene.edits.base import SceneEdit, apply_edit
from counterpoise.scene.scene import Scene

Step = tuple[SceneEdit, Scene]


@dataclass(frozen=True, eq=False)
class SceneHistory:
    """A scene and the edits that made it; `do`, `undo` and `redo` return a new history."""

    present: Scene
    past: tuple[Step, ...] = ()  # (edit, the scene before it), oldest first
    future: tuple[Step, ...] = ()  # (edit that was undone, the scene after it), the next one first

    def do(self, edit: SceneEdit) -> SceneHistory:
        """Applies an edit and drops what had been undone. An edit that fails changes nothing."""
        return SceneHistory(apply_edit(self.present, edit), (*self.past, (edit, self.present)))

    def amend(self, edit: SceneEdit) -> SceneHistory:
        """Applies an edit in place of the last one: a slider that is still being moved stays one step to undo."""
        return self.undo().do(edit)

    def undo(self) -> SceneHistory:
        """Returns the history one edit back."""
        if not self.past:
            raise BadValue("there is nothing to undo")
        edit, before = self.past[-1]
        return SceneHistory(before, self.past[:-1], ((edit, self.present), *self.future))

    def redo(self) -> SceneHistory:
        """Returns the history one edit forward again."""
        if not self.future:
            raise BadValue("there is nothing to redo")
        edit, after = self.future[0]
        return SceneHistory(after, (*self.past, (edit, self.present)), self.future[1:])

    @property
    def edits(self) -> tuple[SceneEdit, ...]:
        """The edits so far, oldest first."""
        return tuple(edit for edit, _ in self.past)

    def python(self) -> str:
        """Returns the edits so far as lines of Python, oldest first."""
        return "\n".join(edit.python() for edit in self.edits)
