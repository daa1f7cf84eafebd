"""Every verb that takes a motion takes every format that can be read, and writes every format that it names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import counterpoise as cp
from counterpoise.motion.files.hub import FORMATS

WRITTEN = [suffix for suffix, entry in FORMATS.items() if entry.writer]
ACCLAIM, MARKERS = (".amc", ".asf"), (".c3d",)  # only read: their own tests write such files by hand
READ = [suffix for suffix, entry in FORMATS.items() if entry.reader and entry.writer]
SMALL = ("--size", "48x64")
VERBS = {  # a verb and what it is asked with a clip; {clip} is the file
    "render": ["render", "{clip}", "-o", "a.png", "--count", "2", *SMALL, "--shapes"],
    "plot": ["plot", "{clip}", "com", "-o", "a.png"],
    "simulate": ["simulate", "hold", "-r", "{clip}", "-t", "0.02"],
    "check": ["check", "{clip}"],
    "fix": ["fix", "{clip}", "-o", "a.npz"],
    "compare": ["compare", "{clip}", "{other}", "-o", "a.png", "--count", "2", *SMALL],
    "convert": ["convert", "{clip}", "a.npz"],
    "play": ["play", "{clip}", "--motion", "a.npz"],
}
PICTURES = {
    "render": (["render", "{clip}", *SMALL, "--shapes", "--count", "2"], (".png", ".jpg", ".mp4", ".gif", ".webp")),
    "plot": (["plot", "{clip}", "com"], (".png", ".svg", ".pdf")),
    "compare": (["compare", "{clip}", "{other}", *SMALL, "--count", "2"], (".png", ".mp4", ".gif", ".webp")),
}


def there(suffix: str) -> None:
    needs = FORMATS[suffix].needs
    if needs and find_spec(needs) is None:
        pytest.skip(f"{needs} is not installed")


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Path:
    """A short squat in every format that is written."""
    folder = tmp_path_factory.mktemp("clips")
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.5)
    for suffix in WRITTEN:
        needs = FORMATS[suffix].needs
        if not needs or find_spec(needs) is not None:
            squat.write(folder / f"squat{suffix}", rate=30.0)
    return folder


def asked(words: list[str], clip: Path, other: Path) -> list[str]:
    return [word.format(clip=clip, other=other) for word in words]


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_every_format(say, clips: Path, verb: str, suffix: str):
    there(suffix)
    words = asked(VERBS[verb], clips / f"squat{suffix}", clips / "squat.bvh")
    figure = ["--character", "human"] if FORMATS[suffix].needs_character and verb != "play" else []
    code, out, err = say(*words, *figure)
    assert code in ((0, 1) if verb in ("check", "fix", "play") else (0,)), (out, err)
    target = next((Path(word) for word in words if word in ("a.png", "a.npz")), None)
    assert target is None or target.stat().st_size > 100


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("verb", ["convert", "fix", "pose", "animate", "simulate", "walk", "go"])
def test_a_verb_writes_every_format(say, clips: Path, verb: str, suffix: str):
    there(suffix)
    source, target = str(clips / "squat.bvh"), f"new{suffix}"
    words = {
        "convert": ["convert", source, target, "--character", "human"],
        "fix": ["fix", source, "-o", target, "--character", "human"],
        "pose": ["pose", "human", "--reach", "hand_left=0.4,0.3,1.2", "-o", target],
        "animate": ["animate", "human", "--path", "hand_left=0.3,0.3,1:0.4,0.3,1.2", "-t", "0.2", "-o", target],
        "simulate": ["simulate", "hold", "-t", "0.1", "-o", target],
        "walk": ["walk", "-t", "0.1", "-o", target],
        "go": ["go", "-t", "0.1", "-o", target],
    }[verb]
    code, out, err = say(*words)
    assert code in ((0, 1) if verb == "fix" else (0,)), (out, err)
    assert Path(target).stat().st_size > 100
    if verb in ("simulate", "walk", "go") and suffix == ".npz":
        assert cp.Recording.load(target).duration == pytest.approx(0.1, abs=0.01)
    elif FORMATS[suffix].reader:
        again = cp.read_motion(target, character="human" if FORMATS[suffix].needs_character else None)
        assert len(again) >= (1 if verb == "pose" else 2) and np.isfinite(again.poses).all()


@pytest.mark.parametrize(("verb", "suffix"), [(verb, suffix) for verb in PICTURES for suffix in PICTURES[verb][1]])
def test_a_verb_draws_every_format(say, clips: Path, verb: str, suffix: str):
    words = asked(PICTURES[verb][0], clips / "squat.npz", clips / "squat.bvh")
    code, out, err = say(*words, "-o", f"new{suffix}")
    assert code == 0, (out, err)
    drawn = Path(f"new{suffix}")
    assert drawn.stat().st_size > 200
    if suffix in (".png", ".jpg", ".gif", ".webp"):
        assert len(np.unique(np.asarray(Image.open(drawn).convert("RGB")).reshape(-1, 3), axis=0)) > 20


@pytest.mark.parametrize("suffix", [*READ, *ACCLAIM, *MARKERS])
def test_a_verb_that_reads_says_what_is_missing_for_every_format(say, suffix: str):
    for verb in ("check", "fix", "render", "plot", "convert", "play"):
        words = {"fix": ["-o", "a.npz"], "render": ["-o", "a.png"], "convert": ["a.npz"]}.get(verb, [])
        figure = ["--character", "human"] if FORMATS[suffix].needs_character and verb != "play" else []
        code, _, err = say(verb, f"nothing{suffix}", *words, *figure)
        assert code == 2 and "nothing" in err and err.count("\n") == 1 and not Path("a.npz").exists()
