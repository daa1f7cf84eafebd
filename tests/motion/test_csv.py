"""CSV tables: the same bits back, other units and marks understood, and what is wrong named by line and column."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from counterpoise import read_motion
from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion import reference_motion


@pytest.fixture(scope="module")
def squat():
    return reference_motion("squat", character("human")).resampled(10)


@pytest.fixture
def table(squat, tmp_path):
    path = tmp_path / "squat.csv"
    squat.write(path)
    return path


@pytest.mark.parametrize("name", ["human", "ostrich", "chain"])
def test_a_table_gives_the_same_bits_back(name, tmp_path):
    body = character(name)
    poses = body.integrate(np.tile(body.neutral, (5, 1)), np.random.default_rng(3).normal(0, 0.3, (5, body.nv)))
    from counterpoise.motion import Motion

    motion = Motion(body, np.arange(5) / 7.0, poses)
    motion.write(tmp_path / "a.csv")
    back = read_motion(tmp_path / "a.csv", body)
    np.testing.assert_array_equal(back.times, motion.times)
    np.testing.assert_array_equal(back.poses, motion.poses)


def test_a_spreadsheet_finds_the_columns(squat, table):
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(squat)
    knee = squat.character.joint("knee_left").qpos.start
    ankle = squat.character.joint("ankle_left").qpos.start
    for frame, row in enumerate(rows):
        assert float(row["time [s]"]) == squat.times[frame]
        assert float(row["root.z [m]"]) == squat.poses[frame, 2]
        assert float(row["root.qw"]) == squat.poses[frame, 3]
        assert float(row["knee_left [rad]"]) == squat.poses[frame, knee]
        assert float(row["ankle_left.pitch [rad]"]) == squat.poses[frame, ankle]


def test_other_units_marks_and_order(squat, table, tmp_path):
    with table.open(newline="") as stream:
        rows = list(csv.reader(stream))
    head, body = rows[0], np.array(rows[1:], dtype=float)
    knee, z = head.index("knee_left [rad]"), head.index("root.z [m]")
    body[:, knee], head[knee] = np.degrees(body[:, knee]), "knee_left [deg]"
    body[:, z], head[z] = 1000.0 * body[:, z], "root.z [mm]"
    body[:, 0], head[0] = 1000.0 * body[:, 0], "time [ms]"
    lines = [";".join(reversed(head)), *(";".join(repr(float(v)) for v in row[::-1]) for row in body)]
    other = tmp_path / "other.csv"
    other.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    back = read_motion(other, squat.character)
    np.testing.assert_allclose(back.poses, squat.poses, atol=1e-12)
    np.testing.assert_allclose(back.times, squat.times, atol=1e-12)


def test_a_part_of_the_frames_at_another_rate(squat, tmp_path):
    squat.write(tmp_path / "part.csv", rate=20, frames=(4, 9))
    part = read_motion(tmp_path / "part.csv", "human")
    assert len(part) == 6 and part.start == pytest.approx(0.2) and part.rate == pytest.approx(20.0)
    np.testing.assert_allclose(part.poses, squat.sample(part.times).q, atol=1e-12)
    cut = read_motion(tmp_path / "part.csv", squat.character, start=0.25, end=0.4)
    assert (cut.start, cut.end) == (pytest.approx(0.25), pytest.approx(0.4))


def cell(path, line: int, column: int, value: str) -> None:
    """Put another word into a cell."""
    rows = [row.split(",") for row in path.read_text().splitlines()]
    rows[line - 1][column - 1] = value
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")


@pytest.mark.parametrize(
    "line, column, value, why",
    [
        (3, 4, "nan", r"line 3: column 4 \(root.z \[m\]\): 'nan'"),
        (3, 4, "", r"line 3: column 4 .* '' is not a finite number"),
        (5, 2, "1e999", "line 5: column 2"),
        (5, 2, "1_0", "line 5: column 2"),
        (4, 2, "1,2", r"line 4: \d+ cells for \d+ columns"),
        (1, 2, "root.a [m]", "line 1: column 2 is 'root.a'; did you mean 'root"),
        (1, 2, "root.y [m]", "line 1: column 3: 'root.y' is there twice"),
        (1, 2, "root.x [ell]", "line 1: column 2: 'ell' is not a unit of 'root.x': m, cm, mm"),
        (1, 5, "root.qw [m]", "'m' is not a unit of 'root.qw', which has none"),
        (3, 1, "0.0", "times must increase"),
        (3, 1, "-5", "times must increase"),
    ],
)
def test_what_is_wrong_is_named(table, squat, line, column, value, why):
    cell(table, line, column, value)
    with pytest.raises(BadFile, match=why):
        read_motion(table, squat.character)


def test_tables_that_are_none(table, squat, tmp_path, rng):
    with pytest.raises(BadValue, match=r"does not contain a character; give the one it moves with"):
        read_motion(table)
    with pytest.raises(BadFile, match=r"line 1: (column \d+ is '|\d+ columns of 'ostrich')"):
        read_motion(table, "ostrich")
    for junk in (b"", b"\n\n", table.read_bytes().split(b"\n")[0], b"a" * 100_000, rng.bytes(10_000), b"\0,1\n"):
        (tmp_path / "junk.csv").write_bytes(junk)
        with pytest.raises(BadFile, match=r"junk\.csv"):
            read_motion(tmp_path / "junk.csv", squat.character)
    lines = table.read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join([",".join(lines[0].split(",")[:-1]), "1"]))
    with pytest.raises(BadFile, match="1 columns of 'human' are missing"):
        read_motion(tmp_path / "short.csv", squat.character)
    with pytest.raises(BadValue, match="leave out `bodies`"):
        squat.write(tmp_path / "a.csv", bodies=["head"])
