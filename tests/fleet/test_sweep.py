"""Sweeps: the same table however it is run, rows that are kept, rows that fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import counterpoise as cp
from counterpoise.errors import BadFile, BadValue, UnknownName
from counterpoise.progress import Progress

TASKS = '''
import os
import numpy as np


def noisy(force, side="left", seed=0):
    """A number that depends on everything it is given."""
    value = float(np.random.default_rng(seed).normal(force, 1.0))
    return {"value": value, "side_length": len(side), "name": f"{side},{force}"}


def sometimes(force):
    if force == 2:
        raise ValueError("two is too many")
    return force / 3.0


def dies_once(force, marks):
    mark = os.path.join(marks, str(force))
    if force == 2 and not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), 9)
    return force * 2.0
'''
OVER = {"force": [1, 2, 3], "side": ["left", "right"]}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


def test_every_combination_in_order_each_with_a_seed_of_its_own(tasks: Path):
    table = cp.sweep(f"{tasks}:noisy", OVER, repeats=2, seed=5, engine="serial")
    assert table.columns == ("row", "force", "side", "repeat", "seed", "value", "side_length", "name")
    assert table.column("force") == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert table.column("repeat") == [0, 1] * 6
    assert len(set(table.column("seed"))) == 12 and len(set(table.column("value"))) == 12
    other = cp.sweep(f"{tasks}:noisy", OVER, repeats=2, seed=6, engine="serial")
    assert other.column("value") != table.column("value")


def test_processes_give_the_same_bytes_as_the_serial_run(tasks: Path, tmp_path: Path):
    serial = cp.sweep(f"{tasks}:noisy", OVER, repeats=2, engine="serial", out=tmp_path / "a.csv")
    spread = cp.sweep(f"{tasks}:noisy", OVER, repeats=2, jobs=3, out=tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert serial.csv_text() == spread.csv_text() and "1.0" not in serial.csv_text().splitlines()[1].split(",")[1]


def test_a_function_of_this_process_and_a_single_number(tmp_path: Path):
    factor = 2.0
    table = cp.sweep(lambda force: factor * force, {"force": [1.0, 2.5]}, out=tmp_path / "c.csv")
    assert table.column("value") == [2.0, 5.0]
    assert (tmp_path / "c.csv").read_text() == table.csv_text()
    assert [row["force"] for row in table] == [1.0, 2.5]


def test_an_error_costs_only_its_row_and_is_tried_again(tasks: Path, tmp_path: Path):
    table = cp.sweep(f"{tasks}:sometimes", {"force": [1, 2, 3]}, jobs=2, out=tmp_path / "t.csv")
    assert table.columns[-1] == "error" and "two is too many" in str(table.column("error")[1])
    assert table.column("value") == [1 / 3.0, None, 1.0]
    tasks.write_text(TASKS.replace("force == 2:\n        raise", "force == 9:\n        raise"), encoding="utf-8")
    again = cp.sweep(f"{tasks}:sometimes", {"force": [1, 2, 3]}, jobs=2, out=tmp_path / "t.csv")
    assert again.column("value") == [1 / 3.0, 2 / 3.0, 1.0] and "error" not in again.columns


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_a_killed_worker_costs_nothing(tasks: Path, tmp_path: Path):
    marks = {name: tmp_path / name for name in ("killed", "never")}
    for name, folder in marks.items():
        folder.mkdir()
        if name == "never":
            (folder / "2").touch()
    tables = [
        cp.sweep(f"{tasks}:dies_once", {"force": [1, 2, 3, 4]}, fixed={"marks": str(folder)}, jobs=2)
        for folder in marks.values()
    ]
    assert tables[0].csv_text() == tables[1].csv_text() and tables[0].column("value") == [2.0, 4.0, 6.0, 8.0]
    assert (marks["killed"] / "2").exists()


def test_finished_rows_are_kept_and_not_run_again(tasks: Path, tmp_path: Path):
    whole = cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=tmp_path / "whole.csv")
    stopped_after = 2

    def stop(progress: Progress) -> bool:
        return progress.message != f"{stopped_after} of 6 rows"

    part = cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=tmp_path / "part.csv", progress=stop)
    assert not part.complete and len(part) == stopped_after and not (tmp_path / "part.csv").exists()
    rows = tmp_path / "part.rows"
    rows.write_bytes(rows.read_bytes() + b'[3, {"val')  # the program died while it wrote this line
    seen: list[Progress] = []
    cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=tmp_path / "part.csv", progress=seen.append)
    assert [round(6 * one.share) for one in seen] == [2, 3, 4, 5, 6]
    assert (tmp_path / "part.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    with pytest.raises(BadFile, match="another sweep"):
        cp.sweep(f"{tasks}:noisy", {"force": [1]}, engine="serial", out=tmp_path / "part.csv")
    assert whole.complete


@pytest.mark.parametrize("there", [b"my,own,table\n1,2,3\n", b"row,force,repeat\n", bytes(range(256)), b"\n"])
def test_a_table_of_somebody_else_is_not_written_over(tasks: Path, tmp_path: Path, there: bytes):
    target = tmp_path / "mine.csv"
    target.write_bytes(there)
    with pytest.raises(BadFile, match="not a table of this sweep"):
        cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=target)
    assert target.read_bytes() == there and not (tmp_path / "mine.rows").exists()
    target.write_bytes(b"")
    own = cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=target)
    (tmp_path / "mine.rows").unlink()
    again = cp.sweep(f"{tasks}:noisy", OVER, engine="serial", seed=3, out=target)  # other seeds: the same columns
    assert own.complete and target.read_text(encoding="utf-8") == again.csv_text() != own.csv_text()


def test_parquet_of_somebody_else_is_not_written_over(tasks: Path, tmp_path: Path):
    pytest.importorskip("pyarrow")
    (tmp_path / "mine.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadFile, match=r"mine\.parquet"):
        cp.sweep(f"{tasks}:noisy", OVER, engine="serial", out=tmp_path / "mine.csv")
    assert not (tmp_path / "mine.csv").exists()


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"run": "chek", "over": {"file": ["a"]}}, "did you mean 'check'"),
        ({"run": "tasks.py:nosy", "over": {"force": [1]}}, "did you mean 'noisy'"),
        ({"run": "tasks.py:noisy", "over": {"forc": [1]}}, "did you mean 'force'"),
        ({"run": "tasks.py:noisy", "over": {"force": []}}, "at least one"),
        ({"run": "tasks.py:noisy", "over": {"force": "abc"}}, "list of values"),
        ({"run": "tasks.py:noisy", "over": {"seed": [1]}}, "column of every table"),
        ({"run": "tasks.py:noisy", "over": {"force": [{1}]}}, "number, text"),
        ({"run": "tasks.py:noisy", "over": {"force": range(10**7)}}, "too many"),
        ({"run": "tasks.py:noisy", "over": {"force": [1]}, "repeats": 0}, "repeats"),
        ({"run": "tasks.py:noisy", "over": {"force": [1]}, "engine": "cloud"}, "ray://"),
        ({"run": "tasks.py:noisy", "over": {"force": [1]}, "out": "a.txt"}, ".csv"),
        ({"run": 7, "over": {"force": [1]}}, "function"),
    ],
)
def test_bad_input_is_refused_before_the_work(tasks: Path, tmp_path: Path, monkeypatch, given, error):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((BadValue, UnknownName)) as raised:
        cp.sweep(**given)
    assert error in str(raised.value)


def say(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "counterpoise.cli", "sweep", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, env={**os.environ})


def test_the_verb_reads_a_file_and_ends_with_the_right_code(tasks: Path, tmp_path: Path):
    text = 'run = "tasks.py:sometimes"\n[over]\nforce = [1, 2, 3]\n'
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    done = say(tmp_path, "s.toml", "--json", "-j", "2")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["errors"] == 1 and told["rows"][0]["value"] == 1 / 3.0 and (tmp_path / "s.csv").is_file()
    (tmp_path / "s.toml").write_text(text.replace("run", "rum"), encoding="utf-8")
    done = say(tmp_path, "s.toml")
    assert done.returncode == 2 and "did you mean 'run'" in done.stderr


def test_clips_are_checked_by_a_sweep(tmp_path: Path):
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.4)
    for k in range(2):
        squat.write(tmp_path / f"clip{k}.bvh", rate=30.0)
    (tmp_path / "broken.bvh").write_text("HIERARCHY\nnonsense", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("broken.bvh", "clip0.bvh", "clip1.bvh")]
    table = cp.sweep("check", {"file": files}, engine="serial")
    assert table.column("possible")[1:] == [True, True] and "broken.bvh" in str(table.column("error")[0])


def test_a_stunt_with_other_numbers():
    from counterpoise.spacetime.stunt.changes import change_entries

    data = {"duration": 1.0, "key": [{"feet": [0.0, 0.0]}, {"feet": [0.6, 0.0]}]}
    change_entries(data, {"duration": 2.0, "key.1.feet": [0.7, 0.0]})
    assert data == {"duration": 2.0, "key": [{"feet": [0.0, 0.0]}, {"feet": [0.7, 0.0]}]}
    with pytest.raises(BadValue, match="counted from 0"):
        change_entries(data, {"key.7.feet": 1})
    with pytest.raises(UnknownName, match="did you mean 'key'"):
        change_entries(data, {"keys.0.feet": 1})
    jump = Path(__file__).resolve().parents[2] / "examples" / "stunts" / "standing_jump.toml"
    assert cp.read_stunt(jump, changes={"duration": 1.7}).duration == 1.7


def test_a_recording_as_columns():
    run = cp.simulate(cp.character("human"), cp.HoldPose(), 0.02)
    columns = run.columns()
    assert {"time", "com_z", "q:knee_left", "v:knee_left", "torque:knee_left"} <= set(columns)
    assert all(len(values) == len(run) for values in columns.values())
    joint = run.character.joint("knee_left")
    assert (columns["torque:knee_left"] == run.torques()[:, joint.dofs][:, 0]).all()
    if find_spec("pandas") is None:
        with pytest.raises(BadValue, match=r"counterpoise\[tables\]"):
            run.table()
    else:
        assert list(run.table().columns) == list(columns)
    motion = cp.reference_motion("squat", run.character)
    frames = motion.columns()
    assert list(frames) == [name for name in columns if not name.startswith("torque:")]
    assert (frames["q:knee_left"] == motion.poses[:, joint.qpos][:, 0]).all() and (frames["time"] == motion.times).all()
    if find_spec("xarray") is None:
        for thing in (run, motion):
            with pytest.raises(BadValue, match=r"'xarray': pip install 'counterpoise\[tables\]'"):
                thing.xarray()
    else:
        data = run.xarray()
        assert set(data.data_vars) == set(columns) - {"time"} and (data["time"].values == run.time).all()
        assert (data["com_z"].values == columns["com_z"]).all() and data["com_z"].attrs["units"] == "m"


# -- on a cluster ---------------------------------------------------------------------------------------------------
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="the extra `ray` is not installed")


@needs_ray
@pytest.mark.slow
def test_ray_gives_the_same_bytes_also_with_a_killed_worker(tasks: Path, tmp_path: Path):
    from ray.cluster_utils import Cluster

    marks = tmp_path / "marks"
    marks.mkdir()
    serial = cp.sweep(f"{tasks}:noisy", OVER, repeats=3, engine="serial", out=tmp_path / "a.csv")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    try:
        import ray

        ray.init(address=cluster.address, log_to_driver=False)
        spread = cp.sweep(f"{tasks}:noisy", OVER, repeats=3, engine="ray", out=tmp_path / "b.csv")
        killed = cp.sweep(f"{tasks}:dies_once", {"force": [1, 2, 3, 4]}, fixed={"marks": str(marks)}, engine="ray")
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert serial.csv_text() == spread.csv_text()
    assert killed.column("value") == [2.0, 4.0, 6.0, 8.0] and (marks / "2").exists()
    unhurt = cp.sweep(f"{tasks}:dies_once", {"force": [1, 2, 3, 4]}, fixed={"marks": str(marks)}, engine="serial")
    assert unhurt.csv_text() == killed.csv_text()  # the mark is there: nobody dies
