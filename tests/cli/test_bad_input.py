"""Bad input in all verbs: refused by name before the work, one line, exit code 2, nothing written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from counterpoise import cli

WORDS = {  # a way to say each verb; what it names need not exist, because the bad word is refused first
    "simulate": ["simulate", "passive"],
    "characters": ["characters", "human"],
    "replay": ["replay", "run.npz"],
    "render": ["render", "squat", "-o", "new.png"],
    "plot": ["plot", "run.npz"],
    "convert": ["convert", "clip.bvh", "new.npz"],
    "check": ["check", "squat"],
    "compare": ["compare", "squat", "squat"],
    "fix": ["fix", "squat", "-o", "new.bvh"],
    "optimize": ["optimize", "stunt.toml"],
    "perform": ["perform", "stunt.toml"],
    "play": ["play", "scene.toml"],
    "sweep": ["sweep", "sweep.toml"],
    "experiment list": ["experiment", "list"],
    "experiment run": ["experiment", "run", "endurance"],
}
SUFFIXES = {"out": ".npz", "video": ".mp4", "png": ".png", "plot": ".png", "plan": ".png"}
OUT_SUFFIXES = {"render": ".png", "plot": ".png", "compare": ".png", "fix": ".bvh", "sweep": ".csv"}
FOLDERS = {"demo", "experiment run"}  # their --out is a folder


def verbs() -> Iterator[tuple[str, Any]]:
    for name, command in typer.main.get_command(cli.app).commands.items():
        inner = getattr(command, "commands", None)
        yield from [(f"{name} {own}", verb) for own, verb in inner.items()] if inner else [(name, command)]


def options(kind: str) -> Iterator[tuple[str, str, Any]]:
    """(verb, flag, parameter) of every option whose type is `kind`."""
    for verb, command in verbs():
        for parameter in command.params:
            if parameter.param_type_name == "option" and kind in str(parameter.type_descriptor.annotation):
                yield verb, parameter.opts[0], parameter


def refused(say: Any, verb: str, flag: str, value: str) -> str:
    before = sorted(Path().rglob("*"))
    code, out, err = say(*WORDS.get(verb, verb.split()), f"{flag}={value}")
    assert code == 2, (code, out, err)
    assert err.startswith("counterpoise: ") and err.count("\n") == 1 and "Traceback" not in err
    assert sorted(Path().rglob("*")) == before
    return str(err)


FLOATS = [(verb, flag) for verb, flag, _ in options("float")]
PATHS = [
    (verb, flag, parameter.name)
    for verb, flag, parameter in options("Path")
    if parameter.name in SUFFIXES and (verb not in FOLDERS or parameter.name != "out")
]


def test_the_lists_are_not_empty():
    assert len(FLOATS) > 60 and len(PATHS) > 25


@pytest.mark.parametrize(("verb", "flag"), FLOATS, ids=[" ".join(one) for one in FLOATS])
def test_a_number_that_is_none_or_absurd_is_refused(say, verb: str, flag: str):
    for value in ("nan", "inf", "-inf", "1e30", "many"):
        assert flag in refused(say, verb, flag, value)


@pytest.mark.parametrize(("verb", "flag", "name"), PATHS, ids=[f"{verb} {flag}" for verb, flag, _ in PATHS])
def test_a_place_that_cannot_be_written_is_refused(say, verb: str, flag: str, name: str):
    suffix = OUT_SUFFIXES.get(verb, SUFFIXES[name]) if name == "out" else SUFFIXES[name]
    Path("scene.toml").write_text('character = "human"\n[controller]\nkind = "stand"\n', encoding="utf-8")
    Path("tasks.py").write_text("def double(force):\n    return 2 * force\n", encoding="utf-8")
    Path("sweep.toml").write_text('run = "tasks.py:double"\n[over]\nforce = [1]\n', encoding="utf-8")
    Path(f"folder{suffix}").mkdir()
    assert "folder" in refused(say, verb, flag, f"folder{suffix}")
    assert "missing" in refused(say, verb, flag, f"missing/new{suffix}")
    assert suffix in refused(say, verb, flag, "new.xyz")


def test_two_outputs_are_two_files(say):
    for words in (
        ["go", "-o", "a.glb", "--video", "a.glb"],
        ["compare", "squat", "squat", "-o", "a.png", "--plot", "./a.png"], ["walk", "--png", "a.png", "-o", "a.png"],
    ):  # fmt: skip
        code, _, err = say(*words)
        assert code == 2 and "a file of its own" in err and err.count("\n") == 1 and not list(Path().iterdir())
