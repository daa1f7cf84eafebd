"""Autosave: after every edit the scene's text is on the disk, so that nothing is lost when the program is killed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from counterpoise.files import whole_file
from counterpoise.studio.folder import Folder

HOME = ".counterpoise"  # the folder of autosaves, beside the scenes
UNTITLED = "untitled"


@dataclass(frozen=True)
class Autosave:
    """Where the unsaved text of one scene is kept. `file` is the scene's name in the folder, empty if it has none."""

    folder: Folder
    file: str

    @property
    def path(self) -> Path:
        name = f"{Path(self.file).stem}-{hashlib.sha256(self.file.encode()).hexdigest()[:8]}" if self.file else UNTITLED
        return self.folder.root / HOME / f"{name}.autosave.toml"

    def write(self, text: str) -> None:
        """Keeps a text, whole or not at all."""
        self.path.parent.mkdir(exist_ok=True)
        with whole_file(self.path) as temporary:
            temporary.write_bytes(text.encode("utf-8"))

    def read(self) -> str | None:
        """Returns the text that was kept, or None."""
        try:
            return self.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def drop(self) -> None:
        """Removes it: all is in the file."""
        self.path.unlink(missing_ok=True)

    def keep_copy(self) -> None:
        """Keeps the autosave under a name that is never used again."""
        text = self.read()
        number = 1
        while (copy := self.path.with_name(f"kept-{number}.toml")).exists():
            number += 1
        if text is not None:
            with whole_file(copy) as temporary:
                temporary.write_bytes(text.encode("utf-8"))
