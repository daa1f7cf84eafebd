"""The program `counterpoise`: where it is, and how it runs while Blender goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

PROGRESS = "progress "  # lines of the program that say how far it is: "progress 0.4 optimising"


def command(given: str) -> list[str]:
    """Returns the words that start the program: the one in the settings, on the path, or through uvx."""
    if given:
        return [given]
    if found := shutil.which("counterpoise"):
        return [found]
    if found := shutil.which("uvx"):
        return [found, "counterpoise"]
    raise FileNotFoundError(
        "counterpoise is not found: install it (pip install counterpoise), or name it in the settings"
    )


def environment() -> dict[str, str]:
    """The environment of the program: without Blender's own Python; it says how far it is."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return {**kept, "COUNTERPOISE_PROGRESS": "lines"}


class Run:
    """The program at work in a folder. What it says goes into files: a full pipe would stop it."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.out, self.err = folder / "answer.json", folder / "messages.txt"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(words, stdout=out, stderr=err, env=environment(), cwd=folder)

    def working(self) -> bool:
        return self.process.poll() is None

    def cancel(self) -> None:
        """Ends the program; what it has written is left to its folder."""
        self.process.terminate()
        try:
            self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def progress(self) -> tuple[float, str]:
        """How much of the present stage is done, from 0 to 1, and its name."""
        for line in reversed(self._lines()):
            share, _, stage = line.removeprefix(PROGRESS).partition(" ")
            if line.startswith(PROGRESS):
                try:
                    return float(share), stage
                except ValueError:
                    continue
        return 0.0, "starting"

    def answer(self) -> dict[str, Any]:
        """Returns what the program found, waiting for it; raises RuntimeError with its message where it failed."""
        if self.process.wait() not in (0, 1):
            said = [line for line in self._lines() if line.strip() and not line.startswith(PROGRESS)]
            raise RuntimeError(said[-1] if said else f"counterpoise failed with code {self.process.returncode}")
        try:
            found: dict[str, Any] = json.loads(self.out.read_text(encoding="utf-8"))
        except ValueError:
            raise RuntimeError("counterpoise gave no answer that can be read; is it the same version?") from None
        return found

    def _lines(self) -> list[str]:
        return self.err.read_text(encoding="utf-8", errors="replace").splitlines()
