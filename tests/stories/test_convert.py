"""Converting motion files: what becomes of files, folders and globs, of bad files among good ones, of recordings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise import cli
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.fleet import convert_files, plan_conversion, planning
from counterpoise.fleet.workers import answers

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"
real = pytest.mark.skipif(
    not (MOCAP / "02_01.bvh").is_file(), reason="no folder ../shared/mocap with real clips beside the repository"
)
STICK = """HIERARCHY
ROOT hips
{
    OFFSET 0 0 0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
    JOINT leg
    {
        OFFSET 0 -0.9 0
        CHANNELS 3 Zrotation Yrotation Xrotation
        End Site
        {
            OFFSET 0 -0.1 0.1
        }
    }
}
MOTION
Frames: 4
Frame Time: 0.05
0 1 0 0 0 0 0 0 0
0 1 0.1 5 0 0 10 0 0
0 1 0.2 5 3 0 20 0 0
0 1 0.3 5 3 1 30 0 0
"""


def tell(*words: str, capsys, monkeypatch) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["counterpoise", "convert", *words])
    with pytest.raises(SystemExit) as leave:
        cli.main()
    said = capsys.readouterr()
    return int(leave.value.code or 0), said.out, said.err


def with_a_written_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format that is written here and not read: there is none any more."""
    monkeypatch.setattr(planning, "_NOT_READ", (".drawn",))
    monkeypatch.setattr(planning, "_UNREADABLE", {".drawn": ".drawn files are written here, not read"})


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(STICK)
    return folder


def planned(*args, **more) -> dict[str, str]:
    return {step.input.as_posix(): step.output.as_posix() for step in plan_conversion(*args, **more) if not step.skip}


# ------------------------------------------------------------------------------------------------------- planning


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_keeps_its_tree(here):
    touched(here / "in", "a.bvh", "deep/er/b.BVH", "deep/c.npz", ".hidden.bvh", ".git/d.bvh", "notes.txt", "x.asf")
    assert planned("in", "out", to="glb") == {
        "in/a.bvh": "out/a.glb",
        "in/deep/er/b.BVH": "out/deep/er/b.glb",
        "in/deep/c.npz": "out/deep/c.glb",
    }


def test_globs_files_and_single_files(here):
    touched(here / "in", "a.bvh", "b.bvh", "sub/c.bvh", "d.npz", "odd[1].bvh")
    assert planned("in/*.bvh", "out/", to=".GLB") == {
        "in/a.bvh": "out/a.glb", "in/b.bvh": "out/b.glb", "in/odd[1].bvh": "out/odd[1].glb",
    }  # fmt: skip
    assert planned("in/**/*.bvh", "out", to="npz")["in/sub/c.bvh"] == "out/sub/c.npz"
    assert planned("in/odd[1].bvh", "one.csv") == {"in/odd[1].bvh": "one.csv"}
    assert planned(["in/sub/c.bvh", "in/a.bvh", "in/a.bvh"], "out", to="glb") == {
        "in/sub/c.bvh": "out/c.glb", "in/a.bvh": "out/a.glb",
    }  # fmt: skip
    assert planned("in/d.npz", "out.v2", to="glb") == {"in/d.npz": "out.v2/d.glb"}


def test_outputs_are_not_read_again(here):
    touched(here / "in", "a.bvh", "out/a.npz", "out/deep/b.bvh")
    assert planned("in", "in/out", to="npz", force=True) == {"in/a.bvh": "in/out/a.npz"}
    touched(here / "flat", "a.bvh", "a.npz", "b.bvh")
    assert planned("flat", "flat", to="npz") == {"flat/b.bvh": "flat/b.npz"}  # a.npz is there: skipped, and not read
    assert planned("flat", "flat", to="npz", force=True) == {"flat/a.bvh": "flat/a.npz", "flat/b.bvh": "flat/b.npz"}


def test_what_is_there_is_not_written_over(here):
    touched(here, "in/a.bvh", "out/a.npz", "in/b.bvh")
    steps = plan_conversion("in", "out", to="npz")
    assert [bool(step.skip) for step in steps] == [True, False] and "exists already" in steps[0].skip
    with pytest.raises(BadFile, match="exists already"):
        plan_conversion("in/a.bvh", "out/a.npz")
    assert planned("in/a.bvh", "out/a.npz", force=True) == {"in/a.bvh": "out/a.npz"}


@pytest.mark.parametrize(
    ("inputs", "out", "options", "kind", "why"),
    [
        ("in", "one.bvh", {}, BadValue, "2 files cannot all become 'one.bvh'"),
        ("in", "out", {}, BadValue, "the format of the files"),
        ("in", "out", {"to": "c3d"}, BadValue, "not written as 'c3d'"),
        ("in/a.bvh", "out.doc", {}, BadFile, "no motion format"),
        ("in/a.bvh", "out.glb", {"to": "bvh"}, BadValue, "is not a .bvh file"),
        ("in/a.bvh", "in/a.bvh", {"force": True}, BadValue, "over itself"),
        ("in/a.bvh", "nowhere/a.glb", {}, BadFile, "no folder"),
        ("in/a.bvh", "file.glb/", {"to": "glb"}, BadFile, "is a file, not a folder"),
        ("twins", "out", {"to": "glb"}, BadValue, "would both become 'out/a.glb'"),
        (["in/a.bvh", "twins/a.npz"], "out", {"to": "glb"}, BadValue, "would both become"),
        ("empty", "out", {"to": "glb"}, BadFile, "no motion files in 'empty'"),
        ("foreign", "out", {"to": "glb"}, BadFile, "written here, not read"),
        ("missing.bvh", "out", {"to": "glb"}, BadFile, "no file 'missing.bvh'"),
        ("missing*.bvh", "out", {"to": "glb"}, BadFile, "no file matches"),
        ("in/readme.txt", "out", {"to": "glb"}, BadFile, "no motion format"),
        ("pipe.bvh", "out", {"to": "glb"}, BadFile, "not an ordinary file"),
        ([], "out", {"to": "glb"}, BadValue, "nothing to convert"),
    ],
)
def test_bad_plans_are_refused_before_any_work(here, inputs, out, options, kind, why, monkeypatch):
    with_a_written_format(monkeypatch)
    touched(here, "in/a.bvh", "in/z.npz", "in/readme.txt", "twins/a.bvh", "twins/a.npz", "foreign/a.drawn", "file.glb")
    (here / "empty").mkdir()
    os.mkfifo(here / "pipe.bvh")
    before = sorted(here.rglob("*"))
    with pytest.raises(kind, match=why):
        plan_conversion(inputs, out, **options)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rate": -1.0}, "rate is a positive number"),
        ({"source_rate": float("nan")}, "source_rate is a positive number"),
        ({"units": "furlong"}, "no unit 'furlong'"),
        ({"out_units": -1.0}, "metres a unit"),
        ({"up": "w"}, "an axis is x, y or z"),
        ({"out_up": "w"}, "an axis is x, y or z"),
        ({"jobs": 0}, "at least 1"),
        ({"character": "humna"}, "did you mean 'human'"),
    ],
)
def test_bad_options_are_refused_before_any_work(here, options, why):
    touched(here, "a.bvh")
    with pytest.raises(CounterpoiseError, match=why):
        convert_files("a.bvh", "b.glb", **options)
    assert [path.name for path in here.iterdir()] == ["a.bvh"]


# ----------------------------------------------------------------------------------------------------- converting


def test_a_folder_with_bad_files_among_good_ones(here, capsys, monkeypatch):
    touched(here / "in", "a.bvh", "deep/b.bvh", "foreign.drawn")
    with_a_written_format(monkeypatch)
    (here / "in/[bold]cut.bvh").write_text(STICK[:-40])
    (here / "in/junk.npz").write_bytes(b"PK\3\4" + os.urandom(200))
    (here / "in/table.csv").write_text("time [s],x\n0,1\n")
    code, out, err = tell("in", "out", "--to", "npz", "-j", "2", "--json", capsys=capsys, monkeypatch=monkeypatch)
    told = json.loads(out)
    assert code == 1 and "Traceback" not in err and told["interrupted"] is False
    assert {row["output"]: (row["frames"], row["rate"]) for row in told["done"]} == {
        "out/a.npz": (4, 20.0),
        "out/deep/b.npz": (4, 20.0),
    }
    why = {row["input"]: row["why"] for row in told["failed"]}
    assert "line 21" in why["in/[bold]cut.bvh"] and "junk.npz" in why["in/junk.npz"]
    assert "does not contain a character" in why["in/table.csv"] and len(why) == 3
    assert [row["input"] for row in told["skipped"]] == ["in/foreign.drawn"]
    assert all("up axis guessed" in row["remarks"][0] for row in told["done"])
    assert all(row["told"] == row["remarks"] for row in told["done"])  # the earlier name
    assert sorted(p.name for p in (here / "out").rglob("*")) == ["a.npz", "b.npz", "deep"]
    assert len(cp.read_motion("out/deep/b.npz")) == 4

    (here / "in/junk.npz").unlink()
    (here / "in/table.csv").unlink()
    (here / "in/[bold]cut.bvh").write_text(STICK)  # mended: now only this one is left to do
    code, out, err = tell("in", "out", "--to", "npz", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0 and "1 done, 3 skipped" in out and "exists already" in out and "[bold]" in out


def test_one_file_is_one_line(here, capsys, monkeypatch):
    touched(here, "a.bvh")
    code, out, err = tell("a.bvh", "a.csv", "--frames", "1:2", capsys=capsys, monkeypatch=monkeypatch)
    assert (code, out) == (0, "wrote a.csv: 2 frames at 20/s\n") and "note: up axis guessed" in err
    (here / "b.bvh").write_text("nonsense")
    code, out, err = tell("b.bvh", "b.csv", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 2 and out == "" and "first word is not HIERARCHY" in err and not Path("b.csv").exists()
    code, out, err = tell("a.bvh", "c.bvh", "--frames", "2:", "--rate", "40", "--out-units", "cm", "--units", "m",
                          "--json", capsys=capsys, monkeypatch=monkeypatch)  # fmt: skip
    assert code == 0 and json.loads(out)["done"][0]["frames"] == 3 and "OFFSET 0 -90 0" in Path("c.bvh").read_text()
    code, out, err = tell("a.bvh", "d.bvh", "--frames", "2:9", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 2 and "not within the 4 there are" in err


def test_bytes_are_those_of_the_public_functions(here):
    """One path: converting is reading and writing."""
    touched(here, "a.bvh")
    convert_files("a.bvh", "a.npz")
    cp.read_motion("a.bvh").write("b.npz")
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()


def test_recordings_are_baked_to_keys(here, human):
    """Any frame range, any set of bodies, the rate asked; MuJoCo says where the bodies were."""
    pushes = [cp.Push("thorax", (150, 30, 0), 0.05, 0.1)]
    recording = cp.simulate(human, cp.HoldPose(), 0.4, disturbances=pushes)
    recording.save("run.npz")
    wanted = ["pelvis", "thorax", "foot_left", "hand_right"]
    done = convert_files("run.npz", "run.bvh", rate=100, frames=(100, 300), bodies=wanted)
    assert (done.files[0].status, done.files[0].frames, done.files[0].rate) == ("done", 21, 100.0)
    back = cp.read_motion("run.bvh", units="m", up="y", forward="z")
    assert back.character.segments == ("pelvis", "thorax", "hand_right", "foot_left") and back.rate == pytest.approx(
        100
    )
    data, seen = mujoco.MjData(human.model), mujoco.MjData(back.character.model)
    for frame, pose in enumerate(back.poses):
        data.qpos[:] = recording.positions()[100 + 10 * frame]
        seen.qpos[:] = pose
        mujoco.mj_kinematics(human.model, data)
        mujoco.mj_kinematics(back.character.model, seen)
        for name in wanted:
            np.testing.assert_allclose(seen.body(name).xpos, data.body(name).xpos, atol=1e-5)
    exact = convert_files("run.npz", "whole.npz", character=human)  # its own body: the poses stay as they are
    np.testing.assert_array_equal(cp.Motion.load("whole.npz").poses, recording.motion.poses)
    assert exact.files[0].frames == len(recording)
    for options, why in (({"figure": 1}, "1 figure"), ({"figure": "torso"}, "1 figure"), ({"units": "m"}, "units")):
        failed = convert_files("run.npz", "other.bvh", **options)
        assert failed.files[0].status == "failed" and why in failed.files[0].why
    assert not Path("other.bvh").exists()


@real
def test_real_clips_onto_a_figure(here):
    done = convert_files(
        [MOCAP / "02_01.bvh", MOCAP / "02_04.amc"],
        "out",
        to="glb",
        character="human",
        frames=(20, 60),
        rate=60.0,
        jobs=1,
    )
    assert [one.status for one in done.files] == ["done", "done"], done.files
    back = cp.read_motion("out/02_04.glb")
    assert "shank_left" in back.character.segments and len(back) == 21


def test_a_process_that_dies_fails_its_own_task_only():
    tasks = [{"status": 3}, {"nonsense": 1}]
    found = {answer.task: answer.error for answer in answers("os:_exit", tasks, jobs=1)}
    assert found[0] == "its process ended with exit code 3" and found[1].startswith("unexpected TypeError")
    with pytest.raises(BadValue, match="at least 1"):
        next(answers("os:getenv", tasks, jobs=0))


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_ctrl_c_keeps_what_was_done(here):
    rows = STICK.splitlines()[-1:] * 6000
    long = STICK.replace("Frames: 4", f"Frames: {4 + len(rows)}") + "\n".join(rows) + "\n"
    for k in range(60):
        (here / "in").mkdir(exist_ok=True)
        (here / f"in/{k:02}.bvh").write_text(long)
    running = subprocess.Popen(
        [sys.executable, "-m", "counterpoise.cli", "convert", "in", "out", "--to", "csv", "-j", "2", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    while not list(here.glob("out/[0-9]*.csv")) and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=900)
    told = json.loads(out)
    assert running.returncode == 130 and told["interrupted"] is True and "Traceback" not in err
    assert told["stopped"] and not told["failed"] and len(told["done"]) + len(told["stopped"]) == 60
    kept = sorted(path.name for path in (here / "out").iterdir())
    assert kept and all(not name.startswith(".") for name in kept)  # nothing half-written
    assert {Path(row["output"]).name for row in told["done"]} <= set(kept)
    stick = cp.read_motion("in/00.bvh").character
    for name in kept:
        assert len(cp.read_motion(f"out/{name}", stick)) == 6004
