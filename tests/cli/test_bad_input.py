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


DEEP = f"x = {'[' * 3000}{']' * 3000}\n"
SWEEP = 'run = "{run}"\n{more}\n[over]\n{over}\n'


@pytest.mark.parametrize(
    ("run", "more", "over", "expected"),
    [
        ("raises.py:f", "", "force = [1]", "ValueError: at import"),
        ("exits.py:f", "", "force = [1]", "SystemExit"),
        (":f", "", "force = [1]", "cannot be loaded"),
        ("check", "", "file = 3", "files and patterns"),
        ("check", "", "file = [3]", "files and patterns"),
        ("tasks.py:double", "out = 3", "force = [1]", ".csv file"),
        ("tasks.py:double", "fixed = 3", "force = [1]", "[fixed]"),
        ("tasks.py:double", "repeats = true", "force = [1]", "repeats"),
        ("tasks.py:double", "", "force = [nan]", "NaN"),
        ("scene", 'fixed = { scene = "missing.toml" }', '"push.0.start" = [1]', "no file"),
        ("scene", "fixed = { scene = 3 }", '"push.0.start" = [1]', "[fixed]"),
        ("optimize", "", "duration = [1]", "[fixed]"),
        ("optimize", 'fixed = { stunt = "missing.toml" }', "duration = [1]", "no file"),
    ],
)
def test_a_bad_sweep_is_refused_before_its_rows(say, run: str, more: str, over: str, expected: str):
    Path("tasks.py").write_text("def double(force):\n    return 2 * force\n", encoding="utf-8")
    Path("raises.py").write_text('raise ValueError("at\\nimport")\n', encoding="utf-8")
    Path("exits.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    Path("scene.toml").write_text('character = "human"\n[controller]\nkind = "stand"\n', encoding="utf-8")
    Path("s.toml").write_text(SWEEP.format(run=run, more=more, over=over), encoding="utf-8")
    code, _, err = say("sweep", "s.toml")
    assert code == 2 and expected in err and err.count("\n") == 1 and "Traceback" not in err
    assert not list(Path().glob("s.csv")) and not list(Path().glob("s.rows"))


@pytest.mark.parametrize("verb", ["sweep", "play", "optimize", "perform"])
def test_toml_of_any_depth_or_length_is_one_short_line(say, verb: str):
    Path("deep.toml").write_text(DEEP, encoding="utf-8")
    Path("long.toml").write_text(f'character = "{"h" * 100_000}"\n', encoding="utf-8")
    for name in ("deep.toml", "long.toml"):
        code, _, err = say(verb, name)
        assert code == 2 and err.count("\n") == 1 and len(err) < 1100 and "Traceback" not in err


def test_an_entry_inside_a_number_is_refused(say):
    Path("s.toml").write_text('character = "human"\n[controller]\nkind = "stand"\n', encoding="utf-8")
    for change in ("character.name=chain", "controller.kind.x=3"):
        code, _, err = say("play", "s.toml", "--set", change)
        assert code == 2 and "no entry" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["go", "--push", "thorax:1,0,0@-1+0.1"], "0 s or later"),
        (["walk", "-t", "2", "--push", "thorax:1,0,0@5+0.1"], "before the end, 2 s"),
        (["simulate", "stand", "--push", "thorax:1,0,0@900+0.1"], "before the end, 3 s"),
        (["jump", "-t", "2", "--push", "thorax:1,0,0@5+0.1"], "before the end, 2 s"),
        (["perform", "squat", "-t", "2", "--push", "thorax:1,0,0@5+0.1"], "before the end, 2 s"),
        (["perform", "squat", "-c", "chain"], "perform needs feet"),
        (["go", "-t", "-1", "--push", "thorax:1,0,0@0+0.1"], "seconds must be a positive number"),
        (["walk", "-t", "0", "--push", "thorax:1,0,0@0+0.1"], "seconds must be a positive number"),
        (["simulate", "stand", "-t", "-1", "--push", "thorax:1,0,0@0+0.1"], "seconds must be a positive number"),
        (["go", "--to", "1e9,1"], "within 10000 m"),
        (["go", "--hip-height", "5"], "--hip-height"),
        (["go", "--width", "5"], "--width"),
        (["go", "--throw", "0,0,1:3"], "--throw"),
        (["go", "--throw", "3,0,-1:3"], "above the ground"),
        (["go", "--post", "0,0.1"], "--post"),
        (["go", "--jump", "-1:0.2"], "a jump begins"),
        (["go", "--jump", "9:0.2", "-t", "2"], "before the end, 2 s"),
        (["render", "human", "-o", "a.png", "--size", "0x0"], "at least 8 pixels"),
        (["render", "human", "-o", "a.png", "--size", "²x²"], "WIDTHxHEIGHT"),
    ],
)
def test_what_could_never_happen_is_refused(say, words: list[str], expected: str):
    code, _, err = say(*words)
    assert code == 2 and expected in err and err.count("\n") == 1 and not list(Path().iterdir())
