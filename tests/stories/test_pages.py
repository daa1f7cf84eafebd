"""The Python on every page runs."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from as_a_user import run

import counterpoise as cp

ROOT = Path(__file__).resolve().parents[2]


def python_of(page: Path) -> str:
    """All Python blocks of a page, in order, as one program."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if python_of(page)]


@pytest.fixture(scope="session")
def sample_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages speak of: a clip, and stunts of which one jumps further."""
    folder = tmp_path_factory.mktemp("samples")
    squat = cp.reference_motion("squat", cp.character("human"))
    squat.slice(0.0, 0.6).write(folder / "clip.bvh")
    stunt = (ROOT / "examples" / "stunts" / "standing_jump.toml").read_text(encoding="utf-8")
    for name in ("standing_jump", "jump"):
        (folder / f"{name}.toml").write_text(stunt, encoding="utf-8")
    assert "feet = [0.6, 0.0]" in stunt
    (folder / "further.toml").write_text(stunt.replace("feet = [0.6, 0.0]", "feet = [0.62, 0.0]"), encoding="utf-8")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_python_on_a_page_runs(page: Path, sample_files: Path, tmp_path: Path):
    shutil.copytree(sample_files, tmp_path, dirs_exist_ok=True)
    done = run([sys.executable, "-c", python_of(page)], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
