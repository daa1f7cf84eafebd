"""Small things that cost trust: exit codes, outputs refused before the work, absurd sizes, flags in messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.cli.app import FAULT
from counterpoise.errors import BadFile, BadValue, NotFound
from counterpoise.files import check_writable


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["characters", "human", "--set", "height=500"],
            "height = 500 [m] is out of range; it may be 0.0175 to 175",
        ),
        (["characters", "chain", "--set", "links=100000"], "links"),
        (["simulate", "passive", "--seconds", "1e9"], "seconds = 1e+09 is too long"),
        (["jump", "--height", "500"], "height = 500 m is out of range"),
        (["jump", "--times", "1000000"], "times"),
        (["jump", "--twist", "1e9"], "twist"),
        (["optimize", "long.toml"], "duration = 1e+09 s is too long"),
        (["check", "clip.csv"], "with --character"),
        (["convert", "clip.csv", "out.bvh"], "give it with --character"),
        (["convert", "clip.csv", "clip.csv"], "over itself"),
        (["convert", "clip.csv", "folder"], "--to"),
        (["convert", "clip.csv", "there.npz"], "--force overwrites it"),
        (["simulate", "passive", "-o", "folder.npz"], "it is a folder"),
        (["plot", "run.npz", "-o", "folder.npz/deep/plot.png"], "no folder"),
        (["plot", "run.npz", "-o", "plot.txt"], ".svg"),
        (["fix", "squat", "-o", "folder.npz"], "it is a folder"),
        (["demo", "-o", "clip.csv"], "cannot make the folder"),
        (["experiment", "run", "endurance", "-o", "clip.csv"], "cannot make the folder"),
    ],
)
def test_refused_by_name_before_the_work(say, words, expected):
    Path("long.toml").write_text('character = "human"\nduration = 1e9\n', encoding="utf-8")
    Path("clip.csv").write_text("time\n0\n", encoding="utf-8")
    Path("there.npz").write_bytes(b"")
    Path("folder.npz").mkdir()
    before = sorted(Path().iterdir())
    code, _, err = say(*words)
    assert (code == 2 or (code == 1 and words[0] == "convert")) and expected in err, (code, err)
    assert err.count("counterpoise:") == 1 and "Traceback" not in err and "`" not in err
    assert sorted(Path().iterdir()) == before


def test_a_place_that_can_be_written_stays_as_it_is(tmp_path: Path):
    there = tmp_path / "there.npz"
    there.write_bytes(b"kept")
    check_writable(there)
    check_writable(tmp_path / "new.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["there.npz"] and there.read_bytes() == b"kept"
    with pytest.raises(BadFile, match="no folder"):
        check_writable(tmp_path / "missing" / "new.npz")
    with pytest.raises(BadFile, match="is a folder"):
        check_writable(tmp_path)


@pytest.mark.parametrize(
    ("raised", "code", "expected"),
    [
        (BadValue("give `character` or `nonsense`"), 2, "give --character or nonsense"),
        (NotFound("nothing"), 1, "nothing"),
        (OSError(28, "No space left on device"), 2, "No space left"),
        (MemoryError(), 2, "not enough memory"),
        (ZeroDivisionError("a fault"), FAULT, "fault of the program"),
    ],
)
def test_every_kind_of_end_has_its_exit_code(say, monkeypatch, raised, code, expected):
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("counterpoise.cli.checking.check_targets", fail)
    told = say("check", "squat")
    assert told[0] == code and expected in told[2]
    assert ("Traceback" in told[2]) == (code == FAULT)


def test_stand_that_falls_is_exit_code_1(say):
    strong = "thorax:2000,0,0@0.05+0.2"
    assert say("simulate", "stand", "-t", "1.2", "--push", strong)[0] == 1
    assert say("simulate", "passive", "-t", "0.3")[0] == 0


def test_only_public_names_are_shown():
    shown = dir(cp)
    assert "Session" in shown and not [name for name in shown if name.startswith("_") and name != "__version__"]
    assert set(shown) == set(cp.__all__)


def test_a_session_takes_any_duration_and_keeps_an_exact_clock():
    session = cp.Session(cp.character("chain"), None, world=cp.World(ground=False))
    for _ in range(60):
        session.advance(1.0 / 60.0)
    whole = cp.simulate(cp.character("chain"), None, 1.0, world=cp.World(ground=False))
    assert session.time == pytest.approx(1.0, abs=1e-12) and abs(session.remainder) < 1e-12
    assert np.array_equal(session.state.q, whole.state().q)
    with pytest.raises(BadValue, match="positive"):
        session.advance(0.0)
