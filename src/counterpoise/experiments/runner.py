"""Running an experiment: settings in, claims out, and a folder of plots, pictures, videos and recordings."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoise.errors import BadFile, Stopped
from counterpoise.experiments.base import Experiment, Film, Lab, Outcome, find_experiment
from counterpoise.files import check_writable, whole_file
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.simulate.recording import Recording


@dataclass(frozen=True, eq=False)
class Report:
    """A finished experiment: its outcome, and the files it wrote."""

    experiment: Experiment
    settings: Any
    outcome: Outcome
    recordings: Mapping[str, Recording]
    files: Mapping[str, Path]

    def as_json(self) -> dict[str, Any]:
        """Returns the report as a dictionary for JSON."""
        return {
            "experiment": self.experiment.name,
            "source": self.experiment.source,
            "settings": dataclasses.asdict(self.settings),
            "claims": [dataclasses.asdict(claim) for claim in self.outcome.claims],
            "holds": self.outcome.holds,
            "facts": dict(self.outcome.facts),
            "fingerprints": {name: recording.fingerprint() for name, recording in self.recordings.items()},
            "files": {name: str(path) for name, path in self.files.items()},
        }


def run_experiment(
    name: str | Experiment,
    folder: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Watch | None = None,
    video: bool = True,
) -> Report:
    """Runs one experiment, by its name or one of your own.

    With a folder, it writes plots, filmstrip, video, recordings and `claims.json` there.

    Ctrl-C, or a falsy answer of `progress`, saves the recordings made so far, then raises KeyboardInterrupt.
    """
    with watching(progress) as reporter:
        return _run(name, folder, settings, reporter, video)


def _run(
    name: str | Experiment,
    folder: str | os.PathLike[str] | None,
    settings: Mapping[str, Any] | None,
    reporter: Reporter,
    video: bool,
) -> Report:
    experiment = name if isinstance(name, Experiment) else find_experiment(name)
    chosen = experiment.with_settings(settings or {})
    home = make_folder(folder) if folder is not None else None
    lab = Lab(reporter)
    try:
        outcome = experiment.run(chosen, lab)
    except (KeyboardInterrupt, Stopped):
        if home is not None:
            _save_recordings(lab, home)
        raise KeyboardInterrupt from None
    if home is None:
        return Report(experiment, chosen, outcome, lab.recordings, {})
    files = _save_recordings(lab, home)
    files |= _draw(outcome, lab, home, video)
    report = Report(experiment, chosen, outcome, lab.recordings, files)
    target = home / "claims.json"
    with whole_file(target) as temporary:
        Path(temporary).write_text(json.dumps(report.as_json(), indent=1) + "\n", encoding="utf-8")
    return dataclasses.replace(report, files={**files, "claims": target})


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Makes a folder, if it does not exist, and returns its path."""
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot make the folder {str(home)!r}: {error.strerror}") from error
    check_writable(home / "file")
    return home


def _save_recordings(lab: Lab, home: Path) -> dict[str, Path]:
    files = {}
    for name, recording in lab.recordings.items():
        path = home / ("recording.npz" if len(lab.recordings) == 1 else f"{name}.npz")
        recording.save(path)
        files[f"recording {name}"] = path
    return files


def _draw(outcome: Outcome, lab: Lab, home: Path, video: bool) -> dict[str, Path]:
    """Writes the plots, pictures, motions and films of an outcome. Returns their paths."""
    from counterpoise.render.pictures import write_picture
    from counterpoise.render.plots import write_plot

    files = {}
    for name, figure in outcome.plots.items():
        files[f"plot {name}"] = home / f"{name}.png"
        write_plot(figure, files[f"plot {name}"])
    for name, picture in outcome.pictures.items():
        files[f"picture {name}"] = home / f"{name}.png"
        write_picture(picture, files[f"picture {name}"])
    for name, motion in outcome.motions.items():
        files[f"motion {name}"] = home / f"{name}_motion.npz"
        motion.save(files[f"motion {name}"])
    films = ({"": outcome.film} if outcome.film is not None else {}) | dict(outcome.films)
    for name, film in films.items():
        files |= _draw_film(name, film, lab, home, video)
    return files


def _draw_film(name: str, film: Film, lab: Lab, home: Path, video: bool) -> dict[str, Path]:
    """Writes a filmstrip, and a video if asked for. Returns their paths."""
    from counterpoise.render.pictures import filmstrip
    from counterpoise.render.sources import take_of
    from counterpoise.render.video import video as write_video

    take = film.take
    if take is None:
        take = take_of(lab.recordings[film.recording], **film.overlays)
    take = dataclasses.replace(take, trails={**take.trails, **film.trails})
    view: dict[str, Any] = {"azimuth": film.azimuth, "elevation": film.elevation, "camera": film.camera}
    strip, clip = (f"{name}_film", f"{name}_video") if name else ("filmstrip", "video")
    files = {strip: home / f"{strip}.png"}
    filmstrip(
        take, times=film.times, count=film.count, path=files[strip], size=film.panel, columns=film.columns, **view
    )
    if video:
        files[clip] = home / f"{clip}.mp4"
        write_video(
            take, files[clip], speed=film.speed, samples=4,
            progress=lambda p: lab.report("drawing", p.share), **view,
        )  # fmt: skip
    return files
