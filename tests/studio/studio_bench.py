"""A workshop that answers at once, for tests without a thread."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from counterpoise.studio import actions
from counterpoise.studio.folder import Folder
from counterpoise.studio.messages import Command, read_command
from counterpoise.studio.open_scene import OpenScene, empty_document
from counterpoise.studio.workshop import Workshop

TOKEN, PORT = "a-token-of-a-test", 4321

assert actions


class Bench:
    """A workshop that answers at once: what it says is kept in `events`, what it shows in `frames`."""

    def __init__(self, folder: Path, document: OpenScene | None = None) -> None:
        self.folder = Folder(folder)
        self.events: list[dict[str, Any]] = []
        self.frames: list[bytes] = []
        self.shop = Workshop(self.folder, document or empty_document(self.folder), self._post)

    def _post(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.frames.append(message)
        else:
            self.events.append(json.loads(message))

    def do(self, command: Command | dict[str, Any]) -> list[dict[str, Any]]:
        """Carries a command out, as a page would send it. Returns the events that follow."""
        self.events.clear()
        self.frames.clear()
        self.shop.carry_out(command if isinstance(command, Command) else read_command(json.dumps(command)))
        return self.events

    def last(self, kind: str) -> dict[str, Any]:
        """Returns the newest event of a kind."""
        return next(event for event in reversed(self.events) if event["type"] == kind)
