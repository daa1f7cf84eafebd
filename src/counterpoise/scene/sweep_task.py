"""A scene as the task of a sweep: entries are replaced, the scene is run, and one row of numbers comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterpoise.measure import summary
from counterpoise.scene.running import SceneRun, outcome_ok
from counterpoise.scene.scene import Scene, read_scene, scene_from_text


def scene_row(scene: str, folder: str = "", seed: int | None = None, **changes: Any) -> dict[str, Any]:
    """Runs a scene in which entries are replaced. Returns what came of it.

    `scene` is a file, or with a `folder` the text of one whose files are there. `changes` are entries by their paths,
    {"push.0.force": [200, 0, 0], "controller.compliance": 0.4}. The simulation and random pushes get the `seed`, unless
    theirs are changed.
    """
    given = scene_from_text(scene, Path(folder)) if folder else read_scene(scene)
    return row_of(changed_scene(given, changes, seed).run())


def changed_scene(scene: Scene, changes: dict[str, Any], seed: int | None = None) -> Scene:
    """Returns the scene with entries replaced, and with a seed for its simulation and its random pushes."""
    document = scene.document
    for name, value in changes.items():
        path = tuple(int(part) if part.isdigit() else part for part in name.split("."))
        document = document.with_value(path, value)
    if seed is not None:
        drawn = [("random_pushes", i, "seed") for i in range(len(scene.document.get(("random_pushes",), ())))]
        for place in [*([("simulation", "seed")] if scene.controllers else []), *drawn]:
            if ".".join(map(str, place)) not in changes:
                document = document.with_value(place, seed)
    return scene_from_text(document.text, scene.folder, scene.source)


def row_of(run: SceneRun) -> dict[str, Any]:
    """Returns the numbers of a scene that was run: of each motion whether it is good, of each figure how it went."""
    row: dict[str, Any] = {"ok": run.ok}
    for name, motion in run.motions.items():
        row[f"{name} seconds"] = float(motion.duration)
        if name in run.outcomes:
            row[f"{name} ok"] = outcome_ok(run.outcomes[name])
    for k, name in enumerate(run.figures if run.recording is not None else ()):
        assert run.recording is not None
        found = summary(run.recording, k)
        fall = found.fall
        row[f"{name} fell"] = bool(fall) if fall is not None else None
        row[f"{name} fell at"] = fall.time if fall is not None else None
        row[f"{name} peak force"] = float(found.peak_force)
        row[f"{name} peak torque share"] = float(found.peak_torque_share)
    return row
