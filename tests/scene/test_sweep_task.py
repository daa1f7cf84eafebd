"""Sweeps of a scene: entries as parameters, a seed for every row, the same from Python and from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterpoise as cp
from counterpoise.cli.sweeping import read_sweep
from counterpoise.errors import BadFile
from counterpoise.scene.sweep_task import changed_scene

PUSHED = """
# two pushes, one drawn at random
[controller]
kind = "stand"

[simulation]
seconds = 0.12

[[push]]
body = "thorax"
force = [100, 0, 0]
start = 0.02
duration = 0.05

[[random_pushes]]
bodies = ["thorax"]
force = [10, 20]
"""


def test_entries_and_seeds_are_replaced_and_comments_kept():
    scene = cp.read_scene(PUSHED)
    other = changed_scene(scene, {"push.0.force": [200, 0, 0], "controller.compliance": 0.4}, seed=7)
    assert other.simulation.seed == 7 and "# two pushes" in other.text
    assert other.document.get(("push", 0, "force")) == [200, 0, 0]
    assert other.document.get(("random_pushes", 0, "seed")) == 7
    own = changed_scene(scene, {"simulation.seed": 3}, seed=7)
    assert own.simulation.seed == 3
    with pytest.raises(BadFile, match="compliancy"):
        changed_scene(scene, {"controller.compliancy": 0.4})


def test_a_scene_is_swept_and_so_is_its_file(tmp_path: Path):
    over = {"push.0.force": [[100, 0, 0], [3000, 0, 0]]}
    table = cp.sweep(cp.read_scene(PUSHED), over, engine="serial", seed=2, out=tmp_path / "rows.csv")
    assert "error" not in table.columns and table.column("push.0.force") == ["[100, 0, 0]", "[3000, 0, 0]"]
    assert table.column("main fell") == [False, False] and len(set(table.column("main peak force"))) == 2
    (tmp_path / "pushed.toml").write_text(PUSHED, encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(
        'run = "scene"\nseed = 2\n[fixed]\nscene = "pushed.toml"\n[over]\n"push.0.force" = [[100, 0, 0]]\n',
        encoding="utf-8",
    )
    asked = read_sweep(tmp_path / "sweep.toml")
    again = cp.sweep(asked["run"], asked["over"], fixed=asked["fixed"], seed=2, engine="serial")
    assert again.column("main peak force")[0] == table.column("main peak force")[0]
    with pytest.raises(BadFile, match="another sweep"):
        cp.sweep(cp.read_scene(PUSHED + "\n"), over, engine="serial", seed=2, out=tmp_path / "rows.csv")
