"""The runner: settings, claims, files, mistakes; and the command line over it."""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from PIL import Image

import counterpoise as cp
from counterpoise import cli
from counterpoise.experiments import Experiment, experiments, find_experiment, run_experiment
from counterpoise.simulate import Recording


def test_every_file_of_the_room_is_an_experiment_with_a_name_of_its_own():
    known = experiments()
    assert {"chain-eight", "chain-passive", "biped-squat"} <= set(known)
    home = Path(sys.modules["counterpoise.experiments"].__file__).parent
    for name, one in known.items():
        assert isinstance(one, Experiment) and one.name == name and one.summary and one.source
        assert (home / f"{name.replace('-', '_')}.py").is_file()
        assert dataclasses.is_dataclass(one.settings) and one.settings.__dataclass_params__.frozen
        for setting, told in one.parameters.items():
            assert told["words"], f"{name}: {setting} does not say what it is"


def test_settings_come_as_text_and_keep_their_kind():
    chosen = find_experiment("chain-passive").with_settings({"seconds": "3", "heights": "-1,-0.5,-0.75"})
    assert chosen.seconds == 3.0 and chosen.heights == (-1.0, -0.5, -0.75)
    squat = find_experiment("biped-squat").with_settings({"weighted": "false", "squats": "3"})
    assert squat.weighted is False and squat.squats == 3


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("chain-eigth", {}, "did you mean 'chain-eight'"),
        ("chain-eight", {"amplitud": 1}, "did you mean 'amplitude'"),
        ("chain-eight", {"amplitude": "wide"}, "is a number \\[m\\]"),
        ("chain-eight", {"links": "2.5"}, "whole number"),
        ("chain-passive", {"heights": "1,2"}, "3 numbers"),
        ("biped-squat", {"weighted": "maybe"}, "true or false"),
        ("chain-eight", {"amplitude": "nan"}, "is a number"),
        ("chain-eight", {"method": "magic"}, "'strict' or 'weighted'"),
    ],
)
def test_mistakes_are_told_with_the_cure(name: str, given: dict, says: str):
    with pytest.raises(cp.CounterpoiseError, match=says):
        run_experiment(name, settings=given)


def test_a_run_leaves_its_files(tmp_path: Path):
    stages: dict[str, float] = {}
    report = run_experiment(
        "chain-passive", tmp_path / "out", {"seconds": 0.3}, lambda p: stages.__setitem__(p.stage, p.share)
    )
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["claims.json", "filmstrip.png", "height.png", "recording.npz", "video.mp4"]
    assert all(share == pytest.approx(1.0) for share in stages.values()) and len(stages) == 2
    told = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert told["settings"]["seconds"] == 0.3 and len(told["claims"]) == len(report.outcome.claims)
    assert Recording.load(tmp_path / "out" / "recording.npz").duration == pytest.approx(0.3)
    picture = Image.open(tmp_path / "out" / "filmstrip.png").convert("L")
    assert picture.width > 1000 and picture.getextrema()[1] - picture.getextrema()[0] > 60


@pytest.fixture
def say(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["counterpoise", *words])
        with pytest.raises(SystemExit) as leave:
            cli.main()
        told = capsys.readouterr()
        return int(leave.value.code or 0), told.out, told.err

    return run


def test_the_command_line_lists_and_runs(say, tmp_path: Path):
    code, out, _ = say("experiment", "list", "--json")
    assert code == 0 and {"chain-eight", "biped-squat"} <= {row["name"] for row in json.loads(out)}
    assert "amplitude" in say("experiment", "list", "chain-eight")[1]
    code, out, _ = say("experiment", "run", "chain-eight", "--set", "seconds=0.2", "--no-video", "-o", "here", "--json")
    told = json.loads(out)
    assert code == (0 if told["holds"] else 1) and (tmp_path / "here" / "com.png").is_file()
    assert told["facts"]["c1"] < 1e-7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "chain-ateight"), "did you mean 'chain-eight'"),
        (("run", "chain-eight", "--set", "secnds=1"), "did you mean 'seconds'"),
        (("run", "chain-eight", "--set", "seconds"), "NAME=VALUE"),
        (("list", "chain-eigth"), "did you mean 'chain-eight'"),
    ],
)
def test_bad_words_are_one_line_and_exit_code_2(say, tmp_path: Path, words: tuple[str, ...], says: str):
    code, out, err = say("experiment", *words)
    assert code == 2 and says in err and len(err.strip().splitlines()) == 1 and not out
    assert not list(tmp_path.iterdir())


def test_ctrl_c_keeps_what_was_done(tmp_path: Path, say, monkeypatch):
    def press(progress: cp.Progress) -> None:
        if progress.share > 0.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment("chain-eight", tmp_path / "x", {"seconds": 5.0}, press)
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["recording.npz"]
    kept = Recording.load(tmp_path / "x" / "recording.npz")
    assert kept.status == "interrupted" and 0.0 < kept.duration < 1.0
    monkeypatch.setattr("counterpoise.cli.experimenting.bar", lambda quiet: nullcontext(press))
    code, _, err = say("experiment", "run", "chain-eight", "--set", "seconds=5", "-o", "y")
    assert code == 130 and "Traceback" not in err and (tmp_path / "y" / "recording.npz").is_file()
