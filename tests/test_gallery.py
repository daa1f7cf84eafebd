"""docs/gallery.md is what its tool writes, and everything that it names is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from counterpoise.cli import app
from counterpoise.experiments.base import find_experiment

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_is_the_one_written_now(tool: ModuleType):
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert tool.gallery() == page, "run tools/gallery.py"


def test_every_picture_page_and_command_is_there(tool: ModuleType):
    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    verbs |= {group.name for group in app.registered_groups}
    shown = [one for pictures in tool.SECTIONS.values() for one in pictures]
    assert len({one.image for one in shown}) == len(shown) > 20
    for one in shown:
        assert (ROOT / "docs" / "images" / one.image).is_file() and (ROOT / "docs" / one.page).is_file(), one
        program, *words = one.command.removeprefix("uv run ").split()
        if program == "python":
            assert (ROOT / words[0]).is_file(), one
            continue
        assert program == "counterpoise" and words[0] in verbs, one
        if words[:2] == ["experiment", "run"]:
            find_experiment(words[2])
        for word in words[1:]:
            assert not word.endswith(".toml") or (ROOT / word).is_file(), one
