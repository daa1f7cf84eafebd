"""The package as others get it: sdist and wheel are built, and the wheel is used in an empty environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "counterpoise"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("uv") is None, reason="uv builds the package and is not installed"),
]


def called(*words: str, folder: Path, code: int = 0) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode == code, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    called("uv", "build", "-q", "-o", str(folder), str(ROOT), folder=folder)
    return folder


@pytest.fixture(scope="module")
def bare(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment in which only the wheel and what it needs are installed."""
    home = tmp_path_factory.mktemp("bare")
    (wheel,) = built.glob("*.whl")
    called("uv", "venv", "-q", "--python", sys.executable, "env", folder=home)
    scripts = home / "env" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    called("uv", "pip", "install", "-q", "--python", str(python), str(wheel), folder=home)
    return scripts / ("counterpoise.exe" if os.name == "nt" else "counterpoise")


def test_wheel_and_sdist_hold_all_that_is_needed(built: Path):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    wanted = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    wanted -= set((SOURCE / "compiled").rglob("*"))  # of tools/compiled_wheel.py
    assert {f"counterpoise/{path.relative_to(SOURCE).as_posix()}" for path in wanted} <= inside
    assert not [name for name in inside if name.startswith(("tests/", "docs/")) or name.endswith((".nbi", ".nbc"))]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/counterpoise/__init__.py"} <= names


def test_the_wheel_works_in_an_empty_environment(bare: Path, tmp_path: Path):
    states = {one["name"]: one["state"] for one in json.loads(called(str(bare), "doctor", "--json", folder=tmp_path))}
    assert "broken" not in states.values(), states
    called(str(bare), "simulate", "passive", "-t", "0.05", "-o", "run.npz", folder=tmp_path)
    called(str(bare), "convert", "run.npz", "run.bvh", folder=tmp_path)
    called(str(bare), "replay", "run.npz", folder=tmp_path)
    called(str(bare), "check", "nothing.bvh", folder=tmp_path, code=2)
    assert (tmp_path / "run.bvh").stat().st_size > 1000


def test_the_demo_runs_in_an_empty_environment(bare: Path, tmp_path: Path):
    called(str(bare), "demo", "-o", "demo", folder=tmp_path)
    assert (tmp_path / "demo" / "demo.mp4").stat().st_size > 100_000
