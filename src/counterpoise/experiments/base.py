"""What an experiment is: settings with units, a run, and claims beside what was measured.

An experiment is one file of this package that ends with `EXPERIMENT = Experiment(...)`; then it is listed and can be
run. Its `run(settings, lab)` simulates through the lab, which keeps every recording, and returns an Outcome.
"""

from __future__ import annotations

import dataclasses
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue, unknown_name
from counterpoise.progress import Reporter
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterpoise.character.character import Character
    from counterpoise.control.basic import Controller


@dataclass(frozen=True)
class Claim:
    """What a paper says, and what was measured."""

    text: str
    measured: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Film:
    """How a recording (or a take) is drawn: the camera, the moments, and the paths."""

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
    """The results of a run: claims, plots by name, and what to film."""

    claims: tuple[Claim, ...]
    plots: Mapping[str, Figure] = field(default_factory=dict)
    film: Film | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # numbers behind the claims, for --json
    films: Mapping[str, Film] = field(default_factory=dict)  # further films by name
    pictures: Mapping[str, Any] = field(default_factory=dict)  # by name, bytes (height, width, 3)
    motions: Mapping[str, Any] = field(default_factory=dict)  # to be saved by name

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)


class Lab:
    """Simulates for an experiment, keeps the recordings by name, and reports the progress."""

    def __init__(self, reporter: Reporter | None = None) -> None:
        self.recordings: dict[str, Recording] = {}
        self._reporter = Reporter() if reporter is None else reporter

    def report(self, stage: str, share: float) -> None:
        """Reports the share of a stage that is done. Where the experiment should stop, it ends here."""
        if not self._reporter.report(stage, share):
            raise KeyboardInterrupt

    def simulate(
        self, name: str, character: Character, controller: Controller, seconds: float, **more: Any
    ) -> Recording:
        """Simulates, and keeps the recording under `name`. Ctrl-C keeps what was done and ends the experiment."""
        stage = f"simulating {name}"
        recording = simulate(
            character, controller, seconds,
            progress=lambda p: self._reporter.report(stage, p.share, p.message), **more,
        )  # fmt: skip
        self.recordings[name] = recording
        if recording.status == "interrupted":
            raise KeyboardInterrupt
        self.report(stage, 1.0)
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
        """Every setting with its default, unit and description."""
        return {
            f.name: {"default": f.default, "unit": f.metadata.get("unit", ""), "words": f.metadata.get("words", "")}
            for f in dataclasses.fields(self.settings)
        }

    def with_settings(self, given: Mapping[str, Any]) -> Any:
        """Returns the settings with some of them changed; numbers may be given as text."""
        known = {f.name: f for f in dataclasses.fields(self.settings)}
        values = {}
        for name, value in given.items():
            if name not in known:
                raise unknown_name("setting", name, known, self.name)
            values[name] = _as(known[name].default, value, f"{self.name}: {name}", known[name].metadata.get("unit", ""))
        return self.settings(**values)


def setting(default: Any, unit: str = "", words: str = "") -> Any:
    """A field of an experiment's settings: its default, unit and description."""
    return field(default=default, metadata={"unit": unit, "words": words})


def _as(default: Any, value: Any, what: str, unit: str) -> Any:
    """`value` converted to the type of the default; `what` names it in errors."""
    with_unit = f" [{unit}]" if unit else ""
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
        count = len(default) if isinstance(default, tuple) else 1
        kind = {bool: "true or false", int: "a whole number", float: "a number", tuple: f"{count} numbers"}
        raise BadValue(f"{what} is {kind[type(default)]}{with_unit}, such as {default}; got {value!r}") from None


def experiments() -> dict[str, Experiment]:
    """Returns every experiment by name: those of all files of this package that define an EXPERIMENT."""
    import counterpoise.experiments as room

    found = {}
    for module in pkgutil.iter_modules(room.__path__):
        if module.name not in ("base", "demo"):
            one = getattr(import_module(f"{room.__name__}.{module.name}"), "EXPERIMENT", None)
            if isinstance(one, Experiment):
                found[one.name] = one
    return found


def find_experiment(name: str) -> Experiment:
    """Returns one experiment by name."""
    known = experiments()
    if name not in known:
        raise unknown_name("experiment", name, known)
    return known[name]
