"""The verb `play`: a scene is run, changed by --set, and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import counterpoise as cp

STANDING = """
character = "human"
[controller]
kind = "stand"
[simulation]
seconds = 0.3
[[push]]
body = "thorax"
force = [60, 0, 0]
start = 0.1
duration = 0.1
[output]
recording = "out/standing.npz"
"""


def test_the_verb_plays_changes_and_writes(say: Any, tmp_path: Path):
    (tmp_path / "s.toml").write_text(STANDING)
    code, out, _ = say("play", "s.toml", "--set", "push.0.force=[0, 30, 0]", "--write", "t.toml", "--json")
    told = json.loads(out)
    assert code == 0 and told["ok"] and told["recording"]["characters"] == ["main"]
    assert (tmp_path / "out" / "standing.npz").is_file()
    assert cp.read_scene(tmp_path / "t.toml").pushes[0].push.force == (0.0, 30.0, 0.0)
    words = ("--edit", "SetPush(0, {'start': 0.2})", "--edit", 'AddNote("later")', "--no-run", "--write", "u.toml")
    code, out, _ = say("play", "s.toml", *words)
    assert code == 0 and "not run" in out and cp.read_scene(tmp_path / "u.toml").pushes[0].push.start == 0.2
    code, _, err = say("play", "s.toml", "--set", "push.7.start=1")
    assert code == 2 and "push[7]" in err
    code, out, _ = say("play", "s.toml", "--png", "strip.png", "--set", "simulation.seconds=0.05")
    assert code == 0 and (tmp_path / "strip.png").is_file() and "simulated 0.05 s" in out


def test_a_scene_with_nothing_to_do_is_refused(say: Any, tmp_path: Path):
    (tmp_path / "empty.toml").write_text('character = "human"\n')
    code, out, err = say("play", "empty.toml")
    assert code == 2 and not out and "nothing to do" in err and "[controller]" in err and err.count("\n") == 1
    code, out, err = say("play", "empty.toml", "--json")
    assert code == 2 and not out
    assert cp.read_scene("empty.toml").run().is_empty
    code, out, _ = say("play", "empty.toml", "--no-run", "--write", "same.toml")
    assert code == 0 and (tmp_path / "same.toml").is_file()


def test_files_of_a_scene_that_is_not_run_are_refused(say: Any, tmp_path: Path):
    (tmp_path / "s.toml").write_text(STANDING)
    for words in (["-o", "a.npz"], ["--motion", "a.bvh"], ["--video", "a.mp4"], ["--png", "a.png"]):
        code, _, err = say("play", "s.toml", "--no-run", "--write", "t.toml", *words)
        assert code == 2 and words[0].replace("-o", "--no-run") in err and not (tmp_path / "t.toml").exists()


def test_a_scene_in_which_nothing_happens_is_refused(say: Any, tmp_path: Path):
    for name, text in {"empty": "", "body": 'character = "human"\n', "named": 'name = "x"\n'}.items():
        (tmp_path / f"{name}.toml").write_text(text)
        code, _, err = say("play", f"{name}.toml")
        assert code == 2 and "nothing to do" in err and err.count("\n") == 1
        assert say("play", f"{name}.toml", "--no-run", "--write", "copy.toml")[0] == 0


def test_files_that_a_scene_would_never_write_are_refused(say: Any, tmp_path: Path):
    (tmp_path / "s.toml").write_text(STANDING.replace('recording = "out/standing.npz"', 'motion = "out/m.bvh"'))
    code, _, err = say("play", "s.toml")
    assert code == 2 and "no motion to write" in err and not (tmp_path / "out").exists()
    (tmp_path / "m.toml").write_text('character = "human"\nduration = 0.2\n[[key]]\ntime = 0.0\npose = "stand"\n')
    code, _, err = say("play", "m.toml", "-o", "r.npz")
    assert code == 2 and "no recording to write" in err and not (tmp_path / "r.npz").exists()


def test_places_that_cannot_be_written_are_refused_before_the_run(say: Any, tmp_path: Path):
    (tmp_path / "taken.npz").mkdir()
    (tmp_path / "file").write_text("x")
    for place in ("taken.npz", "file/run.npz", "file/deep/run.npz"):
        (tmp_path / "s.toml").write_text(STANDING.replace("out/standing.npz", place))
        code, out, err = say("play", "s.toml")
        assert code == 2 and "cannot write" in err and err.count("\n") == 1 and "simulat" not in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "s.toml", "taken.npz"]
