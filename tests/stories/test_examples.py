"""Every example runs, is short and says what it shows."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from as_a_user import run

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES
    numbers = [path.name.split("_")[0] for path in EXAMPLES]
    assert all(n.isdigit() for n in numbers) and len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_is_short_and_says_what_it_shows(path: Path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_runs(path: Path, tmp_path: Path):
    done = run([sys.executable, str(path)], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
