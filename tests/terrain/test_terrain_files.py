"""Terrain files: what they describe, and that mistakes are reported with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile

ALL = """
[[box]]
center = [1.0, 0.0]
size = [1.0, 2.0]
height = 0.3
yaw = 20

[[ramp]]
start = [3.0, 0.0]
length = 1.5

[[stairs]]
start = [6.0, 0.0]
steps = 3

[[stepping_stones]]
centers = [[-1.0, 0.0], [-1.5, 0.1]]
height = [0.1, 0.15]

[[stones_in_row]]
start = [-3.0, 0.0]
count = 4
seed = 2

[[gap]]
center = [0.0, 4.0]

[[height_field]]
center = [0.0, -5.0]
heights = [[0.0, 0.1], [0.2, 0.0], [0.1, 0.3]]

[[rough_ground]]
center = [10.0, 0.0]
seed = 3
"""


def test_a_file_describes_every_piece(tmp_path: Path):
    path = tmp_path / "all.toml"
    path.write_text(ALL, encoding="utf-8")
    same = cp.Terrain([
        cp.Box((1.0, 0.0), (1.0, 2.0), 0.3, 20.0), cp.Ramp((3.0, 0.0), 1.5), cp.Stairs((6.0, 0.0), 3),
        cp.SteppingStones([(-1.0, 0.0), (-1.5, 0.1)], height=[0.1, 0.15]),
        cp.SteppingStones.in_row((-3.0, 0.0), 4, seed=2), cp.Gap((0.0, 4.0)),
        cp.HeightField([[0.0, 0.1], [0.2, 0.0], [0.1, 0.3]], (0.0, -5.0)), cp.rough_ground((10.0, 0.0), seed=3),
    ])  # fmt: skip
    places = np.random.default_rng(0).uniform(-8.0, 12.0, (2, 4000))
    for terrain in (cp.read_terrain(path), cp.read_terrain(ALL)):
        assert np.allclose(terrain.height(*places), same.height(*places), atol=1e-12)


def test_heights_come_from_files(tmp_path: Path):
    heights = np.random.default_rng(1).uniform(0.0, 0.3, (4, 5))
    np.save(tmp_path / "hills.npy", heights)
    np.savetxt(tmp_path / "hills.csv", heights, delimiter=",", fmt="%.17g")
    for name in ("hills.npy", "hills.csv"):
        (tmp_path / "t.toml").write_text(f'[[height_field]]\nfile = "{name}"\n', encoding="utf-8")
        piece = cp.read_terrain(tmp_path / "t.toml").fields[0]
        assert np.array_equal(piece.grid, heights)


WRONG = {
    "[[box]]\nheight = 0.2\n\n[[box]]\nsize = [0.0, 1.0]": r":5: the size of a box",
    "[[box]]\nheigth = 0.2": r":2: no entry 'heigth' in this \[\[box\]\]; did you mean 'height'",
    "[[box]]\nheight = 'high'": r":2: the height of a box",
    "[[boxes]]\nheight = 0.2": r":1: no entry 'boxes' in the file; did you mean 'box'",
    "[box]\nheight = 0.2": r":1: box is written \[\[box\]\]",
    "[[stairs]]\nsteps = 3\nrise = -0.1": r":3: the rise of a step",
    "[[stairs]]\nsteps = 2.5": r":2: stairs have a whole number",
    "[[ramp]]\nlength = 0.1\nheight = 2.0": r": a ramp is at most 60 degrees steep",
    "[[height_field]]\ncenter = [0.0, 1.0]": r":1: a height field has either heights",
    "[[height_field]]\nfile = 'none.npy'": r":2: no file",
    "[[height_field]]\nheights = [[1.0, 2.0], [3.0]]": r":2: the heights of a field",
    "[[stepping_stones]]\ncenters = [[0.0, 0.0]]\nheight = [0.1, 0.2]": r":3: the height of stones",
    "[[gap]]\ndepth = = 1\n": r":2: ",
    "# nothing = here": r":1: there is no piece of terrain",
    "[[box]]\nheight = -0.5": r"below the lowest ground",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_reported_with_its_line(text: str, tmp_path: Path):
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=WRONG[text]):
        cp.read_terrain(path)


def test_a_file_that_is_not_there():
    with pytest.raises(BadFile, match="no file"):
        cp.read_terrain("nowhere.toml")
