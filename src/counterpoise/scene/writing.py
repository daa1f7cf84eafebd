"""Writes the files of [output]: recordings, motions, a character, pictures, films, plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoise.errors import unknown_name
from counterpoise.progress import Reporter
from counterpoise.render import filmstrip
from counterpoise.render.plan_plot import plot_plan
from counterpoise.render.video import video
from counterpoise.scene.scene import Scene

if TYPE_CHECKING:
    from counterpoise.scene.running import SceneRun


def written(run: SceneRun, home: Path, reporter: Reporter) -> dict[str, Path]:
    """Writes the files of [output]; pictures only where nothing was stopped. Returns their paths."""
    out: dict[str, Path] = {} if run.experiment is None else dict(run.experiment.files)
    files = {kind: home / name for kind, name in run.scene.output.files.items()}
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    out |= _motions(run, home)
    if "character" in files:
        files["character"].write_text(run.scene.character().to_mjcf(), encoding="utf-8")
        out["character"] = files["character"]
    first = next(iter(run.motions.values()), None)
    if "recording" in files:
        for k, recording in enumerate(run.recordings):
            out[_numbered("recording", k)] = path = _nth(files["recording"], k)
            recording.save(path)
    if "motion" in files and first is not None:
        first.write(files["motion"])
        out["motion"] = files["motion"]
    return out if reporter.stopped else out | _pictures(run, files, reporter)


def _motions(run: SceneRun, home: Path) -> dict[str, Path]:
    """Writes the motions of [output.motions]."""
    out = {}
    for name, given in run.scene.output.motions.items():
        if name not in run.motions:
            if run.stopped:
                continue
            raise unknown_name("motion of the scene", name, run.motions)
        options = {key: value for key, value in given.items() if key != "file"}
        out[f"motion {name}"] = path = home / given["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        run.motions[name].write(path, **options)
    return out


def _pictures(run: SceneRun, files: dict[str, Path], reporter: Reporter) -> dict[str, Path]:
    """Writes plots, filmstrips and films; of a body that has changed one for each, numbered from the second on."""
    out: dict[str, Path] = {}
    if "plan" in files and run.plan is not None:
        plot_plan(run.plan, files["plan"])
        out["plan"] = files["plan"]
    subjects: list[Any] = list(run.recordings) or list(run.motions.values())[:1]
    view = _view(run.scene)
    for k, subject in enumerate(subjects):
        if "plot" in files and run.recordings:
            out[_numbered("plot", k)] = path = _nth(files["plot"], k)
            subject.plot(*run.scene.output.quantities, path=path)
        if "picture" in files:
            out[_numbered("picture", k)] = path = _nth(files["picture"], k)
            filmstrip(subject, path=path, **(view | {"count": 1} if len(subject) == 1 else view))
        if "video" in files:
            out[_numbered("video", k)] = path = _nth(files["video"], k)
            video(subject, path, progress=reporter, **view)
    return out


def _numbered(kind: str, k: int) -> str:
    return kind if k == 0 else f"{kind} {k + 1}"


def _nth(path: Path, k: int) -> Path:
    return path if k == 0 else path.with_name(f"{path.stem}_{k + 1}{path.suffix}")


def _view(scene: Scene) -> dict[str, Any]:
    """Returns how the scene is looked at: the camera of [output], or the first one."""
    if scene.output.camera is None and not scene.cameras:
        return {}
    camera = scene.cameras[0] if scene.output.camera is None else scene.camera(scene.output.camera)
    if camera.camera is not None:
        return {"camera": camera.camera}
    return {"azimuth": camera.azimuth, "elevation": camera.elevation}
