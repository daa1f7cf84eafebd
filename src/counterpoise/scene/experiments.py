"""Experiments as scenes: the table [experiment] names one of the published experiments, with its settings.

[experiment]
name = "impact-head"
[experiment.settings]
force = 200
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoise.errors import BadValue
from counterpoise.scene.contents import SceneExperiment
from counterpoise.scene.values import toml_value
from counterpoise.spacetime.stunt.reading import Table

if TYPE_CHECKING:
    from counterpoise.experiments.runner import Report
    from counterpoise.progress import Watch

FOLDER = "counterpoise-{}"  # beside the scene, for what an experiment draws and records


def read_experiment(top: Table) -> SceneExperiment | None:
    """Returns the experiment that a scene names; its settings are checked by name, type and unit."""
    table = top.table("experiment", "[experiment]")
    if table is None:
        return None
    from counterpoise.experiments import find_experiment

    name = table.text("name", "an experiment; see `counterpoise experiment list`", required=True)
    assert name is not None
    with table.at("name"):
        found = find_experiment(name)
    given = table.table("settings", "[experiment.settings]")
    settings: dict[str, Any] = {} if given is None else dict(given.data)
    for entry, value in settings.items():
        assert given is not None
        given.value(entry, "")
        with given.at(entry):
            found.with_settings({entry: value})
    table.done()
    if given is not None:
        given.done()
    return SceneExperiment(name, settings)


def run_scene_experiment(
    experiment: SceneExperiment, folder: str | os.PathLike[str] | None, progress: Watch, video: bool
) -> Report:
    """Runs it; with a folder, its plots, pictures and recordings are written into a folder of their own there."""
    from counterpoise.experiments import run_experiment

    home = None if folder is None else Path(folder) / FOLDER.format(experiment.name)
    return run_experiment(experiment.name, home, experiment.settings, progress, video)


def experiment_text(name: str) -> str:
    """Returns the scene of an experiment: what it shows, and all its settings as they are by default."""
    from counterpoise.experiments import find_experiment

    found = find_experiment(name)
    lines = [f"# {found.summary} ({found.source}).", "scene = 1", f"name = {toml_value(name)}", "", "[experiment]"]
    lines += [f"name = {toml_value(name)}", "[experiment.settings]"]
    for entry, facts in found.parameters.items():
        value = facts["default"]
        if value is None:
            raise BadValue(f"the setting {entry!r} of {name!r} has no default")
        unit = f" [{facts['unit']}]" if facts["unit"] else ""
        written = toml_value(list(value) if isinstance(value, tuple) else value)
        lines.append(f"{entry} = {written}  # {facts['words']}{unit}")
    return "\n".join(lines) + "\n"
