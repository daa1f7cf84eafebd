"""The package as others get it: wheel and sdist are built, installed into an empty environment, and used."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    words = [str(word) for word in command]
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")}
    done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=clean, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def program(environment: Path, name: str) -> Path:
    return environment / ("Scripts" if sys.platform == "win32" else "bin") / name


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run("uv", "build", "-q", "-o", out, cwd=ROOT)
    return out


def installed(folder: Path, what: Path) -> Path:
    environment = folder / "bare"
    run("uv", "venv", "-q", "--python", sys.executable, environment, cwd=folder)
    run("uv", "pip", "install", "-q", "--python", program(environment, "python"), what, cwd=folder)
    return environment


def test_wheel_and_sdist_hold_what_is_needed(built: Path):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "counterpoise/__init__.pyi" in names and not [n for n in names if n.endswith((".nbc", ".nbi", ".pyc"))]
    with tarfile.open(sdist) as archive:
        held = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
    assert {"pyproject.toml", "README.md", "LICENSE", "src/counterpoise/__init__.pyi"} <= set(held)
    assert not [name for name in held if name.startswith((".venv", "dist"))]


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_it_runs_in_an_empty_environment(built: Path, tmp_path: Path, kind: str):
    (package,) = built.glob(kind)
    counterpoise = program(installed(tmp_path, package), "counterpoise")
    assert "0.1.0" in run(counterpoise, "--version", cwd=tmp_path)
    run(counterpoise, "doctor", cwd=tmp_path)
    if kind == "*.whl":
        run(counterpoise, "demo", "-o", "demo", cwd=tmp_path)
        assert (tmp_path / "demo" / "demo.mp4").stat().st_size > 100_000


def test_a_compiled_wheel_compiles_nothing(tmp_path: Path):
    run(sys.executable, ROOT / "tools" / "compiled_wheel.py", tmp_path / "dist", cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    environment = installed(tmp_path, wheel)
    counterpoise = program(environment, "counterpoise")
    stunt = ROOT / "examples" / "stunts" / "standing_jump.toml"
    verbs = (
        ["check", "squat"], ["fix", "squat", "-o", "f.bvh"], ["optimize", stunt], ["simulate", "stand", "-t", "1"],
        ["pose", "human", "--reach", "hand_left=0.4,0.3,1.2"], ["render", "squat", "-o", "r.png"],
        ["animate", "human", "--path", "hand_left=0.3,0.3,1.1:0.4,0.3,1.2", "--pin", "foot_left"],
        ["walk", "-t", "3"], ["go", "-t", "3"], ["jump"], ["perform", "squat"],
        ["compare", "squat", "f.bvh", "-o", "c.png"],
    )  # fmt: skip
    for words in verbs:
        run(counterpoise, *words, cwd=tmp_path)
    assert not [path for path in environment.rglob("*.nbc") if path.parent.name == "__pycache__"]
