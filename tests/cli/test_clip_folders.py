"""`check` and `fix` of folders: a row a file, on any engine; what fails costs its row, and the same command goes on."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import counterpoise as cp


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two clips, one of them in a folder inside, and a file that is none."""
    home = tmp_path / "clips"
    (home / "inside").mkdir(parents=True)
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.5)
    squat.write(home / "a.bvh", rate=30.0)
    squat.write(home / "inside" / "a.bvh", rate=30.0)
    (home / "spoilt.bvh").write_text("HIERARCHY")
    return home


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_folder_is_checked_into_a_table(say, folder: Path, tmp_path: Path):
    code, out, _ = say("check", "clips", "--table", "table.csv", "--engine", "serial")
    assert code == 1 and "3 of 3 files: 2 possible, 1 failed" in out and "wrote table.csv" in out
    found = {Path(row["file"]).as_posix(): row for row in rows(tmp_path / "table.csv")}
    assert found["clips/a.bvh"]["possible"] == found["clips/inside/a.bvh"]["possible"] == "True"
    assert "clips/spoilt.bvh" in Path(found["clips/spoilt.bvh"]["error"].split("'")[1]).as_posix()
    (folder / "spoilt.bvh").unlink()
    code, out, _ = say("check", "clips/**/*.bvh", "--engine", "serial", "--json")
    answer = json.loads(out)
    assert code == 0 and (answer["good"], answer["failed"], answer["complete"]) == (2, 0, True)


def test_a_folder_is_fixed_into_another_and_goes_on_where_it_was(say, folder: Path, tmp_path: Path):
    code, out, _ = say("fix", "clips", "-o", "fixed", "--engine", "serial")
    assert code == 1 and "2 possible after, 1 failed" in out
    assert len(cp.read_motion(tmp_path / "fixed" / "inside" / "a.bvh")) == 16
    written = (tmp_path / "fixed" / "a.bvh").stat().st_mtime_ns
    (folder / "spoilt.bvh").write_bytes((folder / "a.bvh").read_bytes())
    code, out, _ = say("fix", "clips", "-o", "fixed", "--engine", "serial")
    assert code == 0 and (tmp_path / "fixed" / "spoilt.bvh").exists()
    assert (tmp_path / "fixed" / "a.bvh").stat().st_mtime_ns == written  # not done again


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "clips", "--plot", "a.png"), "--plot is for one motion"),
        (("check", "clips/a.bvh", "--table", "a.csv"), "--table is for a folder"),
        (("check", "clips", "--engine", "cloud"), "ray://"),
        (("check", "clips", "--table", "a.txt"), ".csv"),
        (("check", "none/*.bvh"), "no file matches"),
        (("fix", "clips", "-o", "clips"), "written over themselves"),
        (("fix", "clips", "-o", "clips/a.bvh"), "is a folder"),
        (("fix", "clips", "-o", "fixed", "--to", "c3d"), "not written"),
        (("fix", "clips", "-o", "fixed", "--video", "a.mp4"), "--video is for one motion"),
        (("fix", "clips/a.bvh", "-o", "fixed.bvh", "--to", "glb"), "--to is for a folder"),
    ],
)
def test_what_has_no_meaning_is_refused_before_the_work(say, folder: Path, words: tuple[str, ...], message: str):
    code, out, err = say(*words)
    assert code == 2 and message in err and out == "" and err.count("\n") == 1
