"""The Blender extension: packed, and tried in Blender without a window where a Python with `bpy` is named."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import counterpoise as cp

BLENDER = Path(__file__).resolve().parents[2] / "blender"
PYTHON = os.environ.get("COUNTERPOISE_BPY")  # a Python that has bpy


def test_the_extension_is_packed_with_all_it_needs(tmp_path: Path):
    words = [sys.executable, str(BLENDER / "build.py"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(done.stdout.strip()) as archive:
        assert set(archive.namelist()) == {"__init__.py", "blender_manifest.toml", "exchange.py"}
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert manifest["id"] == "counterpoise" and manifest["version"] == cp.__version__


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason="COUNTERPOISE_BPY does not name a Python with bpy")
def test_actions_go_out_and_come_back(tmp_path: Path):
    assert PYTHON is not None
    squat = cp.reference_motion("squat", cp.character("human"))
    squat.write(tmp_path / "squat.bvh", rate=30.0)
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    words = [PYTHON, str(BLENDER / "test_headless.py"), str(tmp_path / "squat.bvh")]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": paths}, check=False)
    assert done.returncode == 0 and "all is well" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
