"""Starters: examples that the studio opens, to try everything at once."""

from __future__ import annotations

from pathlib import Path

from counterpoise.errors import unknown_name
from counterpoise.experiments import experiments
from counterpoise.scene.experiments import experiment_text
from counterpoise.scene.scene import scene_from_text
from counterpoise.studio.folder import Folder
from counterpoise.studio.open_scene import OpenScene

EXPERIMENT = "experiment: "  # before the name of one of the published experiments
HOME = Path(__file__).with_name("starters_toml")


def starter_names() -> tuple[str, ...]:
    """Returns the names of the examples."""
    own = sorted(path.stem.replace("_", " ") for path in HOME.glob("*.toml"))
    return (*own, *(f"{EXPERIMENT}{name}" for name in experiments()))


def starter_document(folder: Folder, name: str) -> OpenScene:
    """Returns an example as a new scene without a file."""
    if name not in starter_names():
        raise unknown_name("example", name, starter_names())
    if name.startswith(EXPERIMENT):
        text = experiment_text(name.removeprefix(EXPERIMENT))
        return OpenScene(folder, scene_from_text(text, folder.root, name))
    text = (HOME / f"{name.replace(' ', '_')}.toml").read_text(encoding="utf-8")
    return OpenScene(folder, scene_from_text(text, folder.root, name))
