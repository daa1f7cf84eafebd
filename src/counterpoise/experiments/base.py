"""What an experiment is: settings with units, a run, and claims beside what was measured.

An experiment is one file in this room that ends with `EXPERIMENT = Experiment(...)`; that is all it takes to be listed
and run. Its `run(settings, lab)` simulates through the lab, which keeps every recording, and returns an Outcome.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterpoise.character.character import Character
    from counterpoise.control.basic import Controller

Progress = Callable[[str, float], None]  # stage, share done


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what was found."""

    text: str
    measured: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Film:
    """How a recording (or a take) is drawn: from where, and with which paths."""

    recording: str  # its name in the lab
    azimuth: float = -60.0  # [deg]
    elevation: float = 12.0
    trails: Mapping[str, Array] = field(default_factory=dict)  # name -> (rows, 3)
    times: Sequence[float] | None = None  # moments of the filmstrip [s]
    count: int = 8
    panel: tuple[int, int] = (300, 380)  # pixels of one picture
    columns: int | None = None
    camera: Any = "track"
    speed: float = 1.0  # of the video
    overlays: Mapping[str, Any] = field(default_factory=dict)  # of `take_of`
    take: Any = None  # drawn instead of a recording


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run found: claims, plots by name, and what to film."""

    claims: tuple[Claim, ...]
    plots: Mapping[str, Figure] = field(default_factory=dict)
    film: Film | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # numbers behind the claims, for --json
    films: Mapping[str, Film] = field(default_factory=dict)  # further ones by name
    pictures: Mapping[str, Any] = field(default_factory=dict)  # finished ones, bytes (height, width, 3)
    motions: Mapping[str, Any] = field(default_factory=dict)  # to be saved by name

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)


class Lab:
    """Where a run happens: it simulates, keeps the recordings by name and tells how far it is."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.recordings: dict[str, Recording] = {}
        self._progress = progress

    def tell(self, stage: str, share: float) -> None:
        if self._progress is not None:
            self._progress(stage, share)

    def simulate(
        self, name: str, character: Character, controller: Controller, seconds: float, **more: Any
    ) -> Recording:
        """As `simulate`; kept under `name`. Ctrl-C keeps what was done and ends the experiment."""
        stage = f"simulating {name}"
        recording = simulate(
            character, controller, seconds, progress=lambda t: self.tell(stage, t / seconds), **more
        )  # fmt: skip
        self.recordings[name] = recording
        if recording.status == "interrupted":
            raise KeyboardInterrupt
        self.tell(stage, 1.0)
        return recording


@dataclass(frozen=True)
class Experiment:
    """A published experiment: its name, where it comes from, its settings and how it is run."""

    name: str
    summary: str
    source: str  # author, year, section, figure
    settings: type  # a frozen dataclass, its fields made by `setting`
    run: Callable[[Any, Lab], Outcome]

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """Every setting with its default, unit and meaning."""
        return {
            f.name: {"default": f.default, "unit": f.metadata.get("unit", ""), "words": f.metadata.get("words", "")}
            for f in dataclasses.fields(self.settings)
        }

    def with_settings(self, given: Mapping[str, Any]) -> Any:
        """The settings with some of them changed; numbers may come as text."""
        known = {f.name: f for f in dataclasses.fields(self.settings)}
        values = {}
        for name, value in given.items():
            if name not in known:
                raise unknown_name("setting", name, known, self.name)
            values[name] = _as(known[name].default, value, f"{self.name}: {name}", known[name].metadata.get("unit", ""))
        return self.settings(**values)


def setting(default: Any, unit: str = "", words: str = "") -> Any:
    """A field of an experiment's settings: its default, unit and meaning."""
    return field(default=default, metadata={"unit": unit, "words": words})


def _as(default: Any, value: Any, what: str, unit: str) -> Any:
    """`value` as the kind of thing the default is."""
    told = f" [{unit}]" if unit else ""
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
        if isinstance(default, str):
            return str(value)
        if isinstance(default, tuple):
            parts = value.split(",") if isinstance(value, str) else list(value)
            out = tuple(float(part) for part in parts)
            if len(out) != len(default) or not np.isfinite(out).all():
                raise ValueError
            return out
        number = float(value)
        if not np.isfinite(number) or (isinstance(default, int) and number != int(number)):
            raise ValueError
        return int(number) if isinstance(default, int) else number
    except (KeyError, TypeError, ValueError):
        kind = {bool: "true or false", int: "a whole number", float: "a number", tuple: f"{_count(default)} numbers"}
        raise BadValue(f"{what} is {kind[type(default)]}{told}, such as {default}; got {value!r}") from None


def _count(default: Any) -> int:
    return len(default) if isinstance(default, tuple) else 1


def experiments() -> dict[str, Experiment]:
    """Every experiment by name: whatever file of this room holds an EXPERIMENT."""
    import counterpoise.experiments as room

    found = {}
    for module in pkgutil.iter_modules(room.__path__):
        if module.name not in ("base", "demo"):
            one = getattr(import_module(f"{room.__name__}.{module.name}"), "EXPERIMENT", None)
            if isinstance(one, Experiment):
                found[one.name] = one
    return found


def find_experiment(name: str) -> Experiment:
    known = experiments()
    if name not in known:
        raise unknown_name("experiment", name, known)
    return known[name]


@dataclass(frozen=True, eq=False)
class Report:
    """A finished experiment: what it found and the files it left."""

    experiment: Experiment
    settings: Any
    outcome: Outcome
    recordings: Mapping[str, Recording]
    files: Mapping[str, Path]

    def as_json(self) -> dict[str, Any]:
        """For a program to read."""
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
    name: str,
    folder: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    video: bool = True,
) -> Report:
    """Run one experiment; with a folder, leave plots, filmstrip, video, recordings and `claims.json` in it.

    Ctrl-C saves the recordings made so far, then passes on.
    """
    experiment = find_experiment(name)
    chosen = experiment.with_settings(settings or {})
    home = _made(folder) if folder is not None else None
    lab = Lab(progress)
    try:
        outcome = experiment.run(chosen, lab)
    except KeyboardInterrupt:
        if home is not None:
            _save_recordings(lab, home)
        raise
    if home is None:
        return Report(experiment, chosen, outcome, lab.recordings, {})
    files = _save_recordings(lab, home)
    files |= _draw(outcome, lab, home, video)
    report = Report(experiment, chosen, outcome, lab.recordings, files)
    target = home / "claims.json"
    from counterpoise.files import whole_file

    with whole_file(target) as temporary:
        Path(temporary).write_text(json.dumps(report.as_json(), indent=1) + "\n", encoding="utf-8")
    return dataclasses.replace(report, files={**files, "claims": target})


def _made(folder: str | os.PathLike[str]) -> Path:
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot make the folder {str(home)!r}: {error.strerror}") from error
    return home


def _save_recordings(lab: Lab, home: Path) -> dict[str, Path]:
    files = {}
    for name, recording in lab.recordings.items():
        path = home / ("recording.npz" if len(lab.recordings) == 1 else f"{name}.npz")
        recording.save(path)
        files[f"recording {name}"] = path
    return files


def _draw(outcome: Outcome, lab: Lab, home: Path, video: bool) -> dict[str, Path]:
    from counterpoise.render.pictures import filmstrip, write_picture
    from counterpoise.render.plots import write_plot
    from counterpoise.render.sources import take_of
    from counterpoise.render.video import video as film_it

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
        take = film.take
        if take is None:
            take = take_of(lab.recordings[film.recording], **film.overlays)
        take = dataclasses.replace(take, trails={**take.trails, **film.trails})
        view: dict[str, Any] = {"azimuth": film.azimuth, "elevation": film.elevation, "camera": film.camera}
        strip, clip = (f"{name}_film", f"{name}_video") if name else ("filmstrip", "video")
        files[strip] = home / f"{strip}.png"
        filmstrip(
            take, times=film.times, count=film.count, path=files[strip], size=film.panel, columns=film.columns, **view
        )
        if video:
            files[clip] = home / f"{clip}.mp4"
            film_it(
                take, files[clip], speed=film.speed, samples=4,
                progress=lambda done, all_: lab.tell("drawing", done / all_), **view,
            )  # fmt: skip
    return files
