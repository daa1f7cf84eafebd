"""`counterpoise optimize`: a stunt becomes a file; Ctrl-C keeps the best; a mistake is one line that says where."""

from __future__ import annotations

import json
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from counterpoise.cli import optimizing
from counterpoise.motion import Motion
from counterpoise.motion.files.hub import read_motion

STUNTS = Path(__file__).resolve().parents[2] / "examples" / "stunts"
STAND = (
    "name = 'a sway'\nduration = 0.6\nrate = 15\n[[key]]\ntime = 0\nrest = true\n[[key]]\ntime = 0.6\nrest = true\n"
    "[[contact]]\npart = 'feet'\n"
)


def test_a_stunt_becomes_a_motion_a_picture_and_a_report(say, tmp_path):
    (tmp_path / "s.toml").write_text(STAND)
    code, out, err = say("optimize", "s.toml", "-o", "s.npz", "--png", "s.png", "--describe", "--quiet")
    assert code == 0 and err == ""
    assert "a sway: solved" in out and "physics" in out and "wrote s.npz" in out
    assert "of its strength at" in out and "[[wish]]" not in out
    motion = Motion.load(tmp_path / "s.npz")
    assert motion.duration == pytest.approx(0.6) and motion.name == "a sway" and motion.rate == pytest.approx(240.0)
    with Image.open(tmp_path / "s.png") as picture:
        assert picture.width > 800


def test_the_suffix_names_the_format_and_json_the_result(say, tmp_path):
    (tmp_path / "s.toml").write_text(STAND)
    code, out, _ = say("optimize", "s.toml", "-o", "s.bvh", "--json", "--fps", "30")
    told = json.loads(out)
    assert code == 0 and told["ok"] and told["status"] == "solved" and told["worst"] <= 1e-6
    assert told["violations"] == [] and told["conflicts"] == [] and told["files"] == {"motion": "s.bvh"}
    shares = [s["share"] for s in told["strains"]]
    assert shares == sorted(shares, reverse=True) and 0.0 < shares[0] < 1.0  # it only stands
    back = read_motion(tmp_path / "s.bvh")
    assert len(back) == 19 and back.duration == pytest.approx(0.6)


def test_what_cannot_be_leaves_with_one_and_still_writes(say, tmp_path):
    (tmp_path / "s.toml").write_text(STAND + "[[key]]\ntime = 0.3\njoints = { elbow = -30 }\nonly = 'elbow'\n")
    code, out, _ = say("optimize", "s.toml", "-o", "s.npz", "--quiet")
    assert code == 1
    assert "infeasible" in out and "in conflict" in out and "elbow_left" in out and "0.3 s" in out
    assert np.isfinite(Motion.load(tmp_path / "s.npz").poses).all()


APEX = (
    "name = 'too high'\nduration = 0.9\nrate = 15\n[[key]]\ntime = 0\nrest = true\n[[key]]\ntime = 0.9\nrest = true\n"
    "[[contact]]\npart = 'feet'\nto = 0.4\n[[contact]]\npart = 'feet'\nfrom = 0.5\n"
    "[[wish]]\nkind = 'apex'\ntime = 0.45\nheight = 2.0\n"
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(APEX, ("apex", "0.450"), id="an apex of 2 m in a flight of 0.1 s"),
        pytest.param(STAND + "[[key]]\ntime = 0.3\njoints = { knee = -40 }\nonly = 'knee'\nname = 'folded'\n",
                     ("folded (0.3 s)", "knee_left", "knee_right", "40.0 deg"), id="a key outside the limits"),
        pytest.param(STAND + "[[contact]]\npart = 'foot_left'\nfrom = 0.2\nto = 0.4\nplace = [0.5, 0.1]\n",
                     ("foot_left flat (line 10)", "foot_left flat (line 12)", "at 0.2 s"), id="a foot at two places"),
        pytest.param(STAND.replace("0.6\nrate", "0\nrate"),
                     ("a duration of 0 s", "0.1 s were taken", "(line 7) at 0.6 s"), id="no time"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named_with_its_time_and_the_nearest_motion_written(say, tmp_path, text, names):
    (tmp_path / "s.toml").write_text(text)
    code, out, err = say("optimize", "s.toml", "-o", "s.npz", "--quiet")
    assert code == 1 and err == "" and "infeasible" in out and "wrote s.npz" in out
    for name in names:
        assert name in out, out
    motion = Motion.load(tmp_path / "s.npz")
    assert motion.duration > 0.0 and np.isfinite(motion.poses).all()
    if "0.1 s were taken" in names:
        told = json.loads(say("optimize", "s.toml", "--json")[1])
        assert not told["ok"] and told["status"] == "infeasible" and len(told["conflicts"]) == 2


def test_ctrl_c_stops_it_and_the_best_motion_is_written_whole(say, tmp_path, monkeypatch):
    @contextmanager
    def pressed(quiet):
        yield lambda progress: signal.raise_signal(signal.SIGINT) if progress.iteration == 3 else None

    monkeypatch.setattr(optimizing, "_progress", pressed)
    before = signal.getsignal(signal.SIGINT)
    code, out, _ = say("optimize", str(STUNTS / "cycle.toml"), "-o", "c.npz", "--json")
    told = json.loads(out)
    assert code == 130 and told["status"] == "stopped" and told["iterations"] == 3 and told["violations"]
    assert Motion.load(tmp_path / "c.npz").duration == pytest.approx(0.6)
    assert signal.getsignal(signal.SIGINT) is before
    assert [p.name for p in tmp_path.iterdir()] == ["c.npz"]


def test_a_limit_of_time_stops_it_too_and_progress_names_the_worst(say, tmp_path, monkeypatch):
    monkeypatch.setattr(optimizing, "_PROGRESS_INTERVAL", -1.0)
    code, out, err = say("optimize", str(STUNTS / "cycle.toml"), "--limit", "0")
    assert code == 1 and "stopped" in out and "violated" in out
    assert "iteration   1" in err and "searching" in err and "worst violation" in err and "physics" in err


@pytest.mark.parametrize(
    ("text", "words", "cure"),
    [
        (STAND + "colour = 1\n", [], "s.toml:12: no entry 'colour' in this [[contact]]"),
        (STAND.replace("0.6\nrate", "'0'\nrate"), [], "s.toml:2: no moment '0'"),
        (STAND + "[[fine]]\nto = 7\nrate = 50\n", [], "s.toml:13: the motion runs from 0 to 0.6 s"),
        (STAND + "to = 7\n", [], "s.toml:12: the motion runs from 0 to 0.6 s"),
        (STAND + "[[key]\n", [], "s.toml:12:"),
        (STAND, ["-o", "s.doc"], "must end in"),
        (STAND, ["-o", "no/s.npz"], "there is no folder"),
        (STAND, ["--png", "s.mp4"], "must end in"),
    ],
)
def test_a_mistake_is_one_line_and_two(say, tmp_path, text: str, words: list[str], cure: str):
    (tmp_path / "s.toml").write_text(text)
    code, out, err = say("optimize", "s.toml", *words)
    assert code == 2 and out == ""
    assert cure in err and len(err.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s.toml"]


def test_a_stunt_that_is_not_there_is_said(say):
    code, _, err = say("optimize", "gone.toml")
    assert code == 2 and "no file 'gone.toml'" in err
