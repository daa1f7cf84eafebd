"""What a person at the terminal sees: answers, files, one clear line and exit code 2 for bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from counterpoise import cli


class Answer:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def say(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["counterpoise", *words])
        with pytest.raises(SystemExit) as leave:
            cli.main()
        told = capsys.readouterr()
        return Answer(int(leave.value.code or 0), told.out, told.err)

    return run


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    import counterpoise as cp

    path = tmp_path_factory.mktemp("runs") / "run.npz"
    push = [cp.Push("thorax", (80, 0, 0), 0.1, 0.1)]
    cp.simulate(cp.character("human"), cp.HoldPose(), 0.4, disturbances=push).save(path, timings=True)
    return path


def test_help_names_every_verb(say):
    told = say("--help")
    assert told.code == 0
    for verb in (
        "demo",
        "characters",
        "simulate",
        "replay",
        "pose",
        "animate",
        "render",
        "plot",
        "convert",
        "jump",
        "perform",
    ):
        assert verb in told.out
        assert "--help" in say(verb, "--help").out


def test_characters_lists_the_cast_and_one_figure(say):
    cast = say("characters", "--json").json
    assert [c["name"] for c in cast][:7] == [
        "human",
        "child",
        "asymmetric",
        "ostrich",
        "dinosaur",
        "insectoid",
        "chicken",
    ]
    assert cast[0]["dof"] == 41
    one = say("characters", "human", "--set", "height=1.6", "--set", "mass=50", "--json").json
    assert one["height"] == pytest.approx(1.6, rel=0.01) and one["mass"] == pytest.approx(50, rel=0.01)
    assert "knee_left" in say("characters", "human").out


def test_simulate_then_replay_plot_and_render(say):
    run = say(
        "simulate",
        "hold",
        "--push",
        "thorax:60,0,0@0.1+0.1",
        "-t",
        "0.3",
        "-o",
        "run.npz",
        "--png",
        "run.png",
        "--json",
    )
    assert run.code == 0 and run.json["fell"] is False and Path("run.npz").exists()
    assert Image.open("run.png").width > 1000
    again = say("simulate", "hold", "--push", "thorax:60,0,0@0.1+0.1", "-t", "0.3", "-o", "again.npz", "--json")
    assert Path("run.npz").read_bytes() == Path("again.npz").read_bytes()
    assert again.json["fingerprint"] == run.json["fingerprint"]
    back = say("replay", "run.npz", "--json")
    assert back.code == 0 and back.json["exact"] is True and back.json["final_error"] == 0.0
    assert say("plot", "run.npz", "com", "torque:knee_left", "-o", "plot.png").code == 0
    assert Image.open("plot.png").width > 500
    values = say("plot", "run.npz", "com", "--json").json
    assert len(values["CoM"]["time"]) == 301
    assert say("render", "run.npz", "-o", "film.mp4", "--size", "160x120").code == 0
    assert Path("film.mp4").stat().st_size > 1000
    assert say("render", "human", "-o", "human.png", "--size", "160x200").code == 0
    assert Image.open("human.png").size == (160, 200)
    assert sorted(p.name for p in Path().iterdir()) == [
        "again.npz", "film.mp4", "human.png", "plot.png", "run.npz", "run.png",
    ]  # fmt: skip


def test_pose_saves_draws_and_tells(say):
    wish = ["--reach", "hand_left=0.4,0.3,1.4", "--pin", "foot_left", "--pin", "foot_right"]
    told = say("pose", "human", *wish, "-o", "pose.npz", "--png", "pose.png", "--json")
    assert told.code == 0 and told.json["status"] == "solved" and told.json["residuals"]["reach hand_left"] < 1e-3
    with Image.open("pose.png") as picture:
        assert picture.size == (960, 720)
    again = say("pose", "human", *wish, "-o", "again.npz", "--json")
    assert Path("pose.npz").read_bytes() == Path("again.npz").read_bytes()
    assert again.json["q"] == told.json["q"]
    assert say("render", "pose.npz", "-o", "drawn.png", "--time", "0").code == 0
    held = say(
        "pose", "human", "--com", "-,-,0.9", "--lock", "foot_left", "--fix", "elbow_left=0.5", "--balanced", "--json"
    )
    assert held.code == 0
    far = say("pose", "human", "--reach", "hand_left=4,0,1", "--pin", "foot_left")
    assert far.code == 1 and "unreachable" in far.out
    broken = say("pose", "human", "--pin", "foot_left", "--pin", "hand_left=0,0,6", "--json")
    assert broken.code == 1 and "pin hand_left" in broken.json["conflict"]


def test_animate_follows_points_and_strokes(say):
    feet = ["--pin", "foot_left", "--lock", "foot_left", "--pin", "foot_right", "--lock", "foot_right"]
    told = say(
        "animate", "human", "--path", "hand_left=0.1,0.4,0.9:0.4,0.3,1.2", *feet, "-t", "0.5", "-o", "a.npz", "--json"
    )
    assert told.code == 0 and told.json["frames"] == 31 and told.json["violation"] < 1e-5
    rows = [f"{0.02 * k},{0.1 + 0.01 * k},0.4,{0.9 + 0.005 * k}" for k in range(30)]
    Path("stroke.csv").write_text("t,x,y,z\n" + "\n".join(rows))
    assert say("animate", "human", "--path", "hand_left=stroke.csv", *feet, "--png", "s.png", "--json").code == 0
    Path("stroke.csv").write_text("0,1,2,3\n0.1,1,two,3")
    bad = say("animate", "human", "--path", "hand_left=stroke.csv")
    assert bad.code == 2 and "line 2" in bad.err
    assert say("animate", "human", "--path", "hand_left=0.1,0.4,0.9:5,0,1", *feet, "-t", "0.2", "--json").code == 1


def test_a_changed_recording_does_not_replay(say, saved: Path, tmp_path: Path):
    from counterpoise.files import write_archive

    with np.load(saved) as archive:
        arrays = dict(archive)
    arrays["torque"] = arrays["torque"].copy()
    arrays["torque"][100, 20] += 1.0
    write_archive(tmp_path / "forged.npz", arrays)
    told = say("replay", "forged.npz")
    assert told.code == 1 and "NOT the same" in told.out


def test_a_platform_a_tilt_and_a_reference(say):
    assert (
        say("simulate", "hold", "--platform", "x:0.02@1", "--platform", "pitch:0.01@2", "-t", "0.1", "--json").code == 0
    )
    assert (
        say("simulate", "passive", "-c", "chicken", "--tilt", "3,-5", "--lift", "0.2", "-t", "0.1", "--json").code == 0
    )
    assert say("simulate", "hold", "--reference", "butterfly", "-t", "0.1", "--random-pushes", "20", "--json").code == 0


def test_terrain_from_a_file(say, tmp_path: Path):
    (tmp_path / "steps.toml").write_text("[[box]]\nheight = 0.3\n\n[[stairs]]\nstart = [1.0, 0.0]\n", encoding="utf-8")
    for behaviour in ("stand", "hold"):
        told = say("simulate", behaviour, "--terrain", "steps.toml", "-t", "0.3", "-o", "run.npz", "--json")
        assert told.code == 0 and told.json["fell"] is False and told.json["lowest_com"] > 1.2
        assert say("replay", "run.npz").code == 0
    (tmp_path / "wrong.toml").write_text("[[box]]\nheight = 0.3\nsise = [1.0, 1.0]\n", encoding="utf-8")
    told = say("simulate", "stand", "--terrain", "wrong.toml")
    assert told.code == 2 and "wrong.toml:3: no entry 'sise'" in told.err and "size" in told.err
    told = say("simulate", "stand", "--terrain", "steps.toml", "--tilt", "3,0")
    assert told.code == 2 and "Ramp" in told.err


@pytest.mark.parametrize(
    "words, expected",
    [
        (["simulat"], "simulate"),
        (["characters", "humn"], "did you mean 'human'"),
        (["simulate", "hodl"], "did you mean 'hold'"),
        (["simulate"], "behaviour"),
        (["simulate", "hold", "-c", "humna"], "did you mean 'human'"),
        (["simulate", "hold", "--set", "heigth=2"], "did you mean 'height'"),
        (["simulate", "hold", "--set", "mass=-3"], "positive"),
        (["simulate", "hold", "--set", "mass=heavy"], "number"),
        (["simulate", "hold", "--set", "mass"], "NAME=VALUE"),
        (["simulate", "hold", "-t", "-1"], "seconds"),
        (["simulate", "hold", "-t", "nan"], "seconds"),
        (["simulate", "hold", "--push", "torax:1,0,0@0+1"], "did you mean 'thorax'"),
        (["simulate", "hold", "--push", "thorax:1,0@0+1"], "three force components"),
        (["simulate", "hold", "--push", "thorax 10"], "BODY:FX,FY,FZ@START+DURATION"),
        (["simulate", "hold", "--push", "thorax:1,0,0@0+-1"], "duration"),
        (["simulate", "hold", "--friction", "-1"], "friction"),
        (["simulate", "hold", "--tilt", "5"], "ROLL,PITCH"),
        (["simulate", "hold", "--platform", "w:1@1"], "platform axis"),
        (["simulate", "hold", "--reference", "sqaut"], "did you mean 'squat'"),
        (["simulate", "hold", "-c", "chain", "--reference", "squat"], "chain"),
        (["simulate", "passive", "--reference", "squat"], "hold"),
        (["simulate", "passive", "-c", "planar"], "segments"),
        (["simulate", "passive", "-o", "run.txt"], ".npz"),
        (["simulate", "passive", "-o", "nowhere/run.npz"], "no folder"),
        (["simulate", "passive", "-c", "missing.xml"], "no file"),
        (["replay", "missing.npz"], "no file"),
        (["render", "missing.npz", "-o", "a.png"], "no file"),
        (["render", "sqat", "-o", "a.png"], "did you mean 'squat'"),
        (["render", "squat", "-o", "a.bmp"], ".mp4"),
        (["render", "human", "-o", "a.png", "--size", "big"], "WIDTHxHEIGHT"),
        (["plot", "missing.npz", "com"], "no file"),
        (["pose", "humna"], "did you mean 'human'"),
        (["pose", "human", "--reach", "hand_lef=0,0,1"], "did you mean 'hand_left'"),
        (["pose", "human", "--reach", "hand_left=0,0"], "3 number"),
        (["pose", "human", "--reach", "hand_left=0,0,nan"], "finite"),
        (["pose", "human", "--orient", "head=1,0,0"], "4 number"),
        (["pose", "human", "--fix", "elbow=1"], "elbow"),
        (["pose", "human", "--pin", "foot_lft"], "did you mean 'foot_left'"),
        (["pose", "human", "-o", "pose.txt"], ".npz"),
        (["pose", "chain", "--balanced"], "feet"),
        (["convert"], "Missing argument"),
        (["convert", "walk.bvh"], "Missing argument"),
        (["convert", "walk.bvh", "walk.glb"], "no file 'walk.bvh'"),
        (["convert", "*.bvh", "out", "--to", "glb"], "no file matches '*.bvh'"),
        (["convert", ".", "out", "--to", "glb"], "no motion files in '.'"),
        (["convert", ".", "out", "--to", "c3d"], "not written as 'c3d'"),
        (["convert", ".", "out"], "the format of the files"),
        (["convert", ".", "out", "--to", "glb", "--frames", "7"], "FIRST:LAST"),
        (["convert", ".", "out", "--to", "glb", "--frames", "9:7"], "from first to last"),
        (["convert", ".", "out", "--to", "glb", "--bodies", ","], "--bodies"),
        (["convert", ".", "out", "--to", "glb", "-c", "humna"], "did you mean 'human'"),
        (["convert", ".", "out", "--to", "glb", "--set", "height=2"], "--character"),
        (["animate", "human"], "--path"),
        (["animate", "human", "--path", "hand_left=1,2"], "three coordinates"),
        (["animate", "human", "--path", "hand_lft=0,0,1:0,1,1"], "did you mean 'hand_left'"),
        (["animate", "human", "--path", "hand_left=stroke.csv"], "no file"),
        (["animate", "human", "--path", "hand_left=0,0,1:0,1,1", "--speed", "esae"], "ease"),
        (["animate", "human", "--path", "hand_left=0,0,1:0,1,1", "--rate", "-3"], "rate"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(say, words, expected):
    told = say(*words)
    assert told.code == 2, told.err
    assert expected in told.err and told.err.count("\n") == 1 and "Traceback" not in told.err
    assert not list(Path().iterdir())


@pytest.mark.parametrize("text", [b"", b"not a zip", b"PK\x03\x04 broken", b"<mujoco/>"])
def test_bad_files_are_one_line_and_exit_code_2(say, text, tmp_path: Path):
    for name in ("bad.npz", "bad.xml"):
        (tmp_path / name).write_bytes(text)
    for words in (["replay", "bad.npz"], ["render", "bad.npz", "-o", "a.png"], ["plot", "bad.npz"],
                  ["simulate", "passive", "-c", "bad.xml"]):  # fmt: skip
        told = say(*words)
        assert told.code == 2 and told.err.count("\n") == 1, (words, told.err)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.npz", "bad.xml"]


def test_plot_names_are_listed_and_corrected(say, saved: Path):
    listed = say("plot", str(saved), "--list").out
    for name in ("com", "cop", "torque:knee_left", "force:foot_left", "note:error", "position:head", "tick"):
        assert name in listed
    told = say("plot", str(saved), "torqe")
    assert told.code == 2 and "did you mean" in told.err
    assert "knee_left" in say("plot", str(saved), "torque:knee_lft").err
    names = json.loads(say("plot", str(saved), "--list", "--json").out)
    assert say("plot", str(saved), *list(names)[:14], "-o", "all.svg").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_ctrl_c_keeps_what_was_done(tmp_path: Path):
    import counterpoise as cp

    cp.simulate(cp.character("human"), cp.Passive(), 0.01)  # the hot loops are compiled before the clock starts
    command = [sys.executable, "-m", "counterpoise", "simulate", "passive", "-t", "600", "-o", "cut.npz"]
    for patience in (6.0, 20.0, 60.0):  # [s] a busy machine may not have begun to simulate when it is stopped
        running = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        )  # fmt: skip
        time.sleep(patience)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=900)
        if running.returncode == -signal.SIGINT and patience < 60.0:
            continue  # on a very busy machine Python itself had not begun
        assert running.returncode == 130 and "Traceback" not in err
        if (tmp_path / "cut.npz").exists():
            break
    recording = cp.Recording.load(tmp_path / "cut.npz")
    assert recording.status == "interrupted" and 0.1 < recording.duration < 600
    assert cp.replay(recording).exact
    assert [p.name for p in tmp_path.iterdir()] == ["cut.npz"]


LOADED = """
import signal, sys
from counterpoise.__main__ import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "counterpoise.cli.app":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["counterpoise", "characters"]
main()
"""


def test_ctrl_c_while_the_verbs_are_loaded_ends_quietly():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "counterpoise: stopped\n")
