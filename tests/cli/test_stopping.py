"""Ctrl-C in every verb: it ends with exit code 130 and one line, and what was done is kept."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import counterpoise as cp
from counterpoise.cli.app import app
from counterpoise.progress import Progress, Reporter
from test_progress import slid  # the same squat whose feet slide

STUNT = Path(__file__).parents[2] / "examples" / "stunts" / "standing_jump.toml"
SWEEP = 'run = "counterpoise.fleet.planning:jump_row"\nrepeats = 3\n'
SMALL = ["--size", "48x64"]
MOST_AFTER = 3  # reports after Ctrl-C


class Verb:
    """A verb that works for long: its words, when Ctrl-C comes, and the files that are there afterwards."""

    def __init__(self, *words: str, report: int = 2, kept: tuple[str, ...] = (), said: str = "stopped") -> None:
        self.words, self.report, self.kept, self.said = words, report, kept, said


LONG = {
    "simulate": Verb("simulate", "passive", "-t", "60", "-o", "cut.npz", kept=("cut.npz",)),
    "animate": Verb("animate", "--path", "hand_left=0.3,0.3,1.0:0.3,0.3,1.3", "-o", "a.npz", kept=("a.npz",)),
    "render": Verb("render", "{clip}", "-o", "film.gif", "--shapes", "--fps", "4", *SMALL),
    "convert": Verb("convert", "{clip}", "{other}", "made", "--to", "bvh", "--jobs", "1", report=1),
    "check": Verb("check", "{clip}", said="there is no report"),
    "compare": Verb("compare", "{clip}", "{other}", "-o", "film.gif", "--fps", "4", *SMALL),
    "fix": Verb("fix", "{clip}", "-o", "fixed.npz", "--window", "0.4", report=4, said="no file was written"),
    "optimize": Verb("optimize", str(STUNT), "-o", "o.npz", report=6, kept=("o.npz",)),
    "jump": Verb("jump", "--height", "0.2"),
    "perform": Verb("perform", "{clip}"),
    "walk": Verb("walk", "-t", "6", "-o", "walk.npz", kept=("walk.npz",)),
    "go": Verb("go", "--seconds", "6", "-o", "go.npz", kept=("go.npz",)),
    "play": Verb("play", "{scene}"),
    "experiment": Verb("experiment", "run", "chain-eight", "-o", "x"),
    "demo": Verb("demo", "-o", "demo"),
    "warmup": Verb("warmup", report=1),
}
SHORT = {  # they end within a second or so, or report nothing
    "characters": ["characters"],
    "doctor": ["doctor"],
    "plot": ["plot", "{clip}", "com", "-o", "a.png"],
    "pose": ["pose", "--reach", "hand_left=0.3,0.3,1.2"],
    "replay": ["replay", "{recording}"],
    "sweep": ["sweep", "{sweep}"],
    "studio": ["studio", "--no-open"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A clip whose feet slide, another one, a recording, a scene and a sweep."""
    folder = tmp_path_factory.mktemp("files")
    slid().save(folder / "clip.npz")
    slid().slice(0.0, 0.5).save(folder / "other.npz")
    cp.simulate(cp.character("human"), cp.Passive(), 0.1).save(folder / "recording.npz")
    (folder / "scene.toml").write_text('character = "human"\n[controller]\nkind = "stand"\n[simulation]\nseconds = 9\n')
    (folder / "sweep.toml").write_text(SWEEP)
    names = {"clip": "clip.npz", "other": "other.npz", "recording": "recording.npz", "scene": "scene.toml"}
    return {name: str(folder / file) for name, file in {**names, "sweep": "sweep.toml"}.items()}


def test_the_table_has_every_verb() -> None:
    verbs = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    groups = [group.name for group in app.registered_groups]
    assert {*LONG, *SHORT} == {str(verb) for verb in [*verbs, *groups]}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_while_a_verb_works(say: Any, files: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verb, shown, reports = LONG[name], Reporter.__call__, []

    def press(reporter: Reporter, progress: Progress) -> bool:
        if reporter._outer is None:  # what a person sees: reports of calls inside come by here, too
            reports.append(progress)
            if len(reports) == verb.report:
                signal.raise_signal(signal.SIGINT)
        return shown(reporter, progress)

    monkeypatch.setattr(Reporter, "__call__", press)
    monkeypatch.setattr("counterpoise.cli.checking._PROGRESS_DELAY", -1.0)  # a check shows nothing in its first moment
    monkeypatch.setenv("COUNTERPOISE_PLANS", "")
    code, out, err = say(*(word.format(**files) for word in verb.words))
    assert code == 130 and "Traceback" not in err and verb.said in err, (out, err)
    assert verb.report <= len(reports) <= verb.report + MOST_AFTER, reports[verb.report :]
    assert all(Path(file).exists() for file in verb.kept)


@pytest.mark.parametrize("name", SHORT)
def test_ctrl_c_as_a_verb_begins(say: Any, files: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(values: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(sys.modules["counterpoise.cli.app"], "_check_numbers", press)
    code, out, err = say(*(word.format(**files) for word in SHORT[name]))
    assert (code, out, err) == (130, "", "counterpoise: stopped\n")
