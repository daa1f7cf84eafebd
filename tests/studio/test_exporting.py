"""Files that the studio exports: every kind of them begins as its format says."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from counterpoise.character.library import character
from counterpoise.errors import UnknownName
from counterpoise.motion import reference_motion
from counterpoise.studio.exporting import KINDS, export_bytes

STARTS = {
    "bvh": (0, b"HIERARCHY"), "glb": (0, b"glTF"), "usda": (0, b"#usda"), "csv": (0, b"time"), "npz": (0, b"PK"),
    "png": (0, b"\x89PNG"), "mp4": (4, b"ftyp"), "xml": (0, b"<mujoco"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_exported(kind: str) -> None:
    if kind == "usda" and find_spec("pxr") is None:
        pytest.skip("the extra `usd` is not installed")
    motion = reference_motion("squat", character("human")).slice(0.0, 0.1)
    at, start = STARTS[kind]
    assert export_bytes(motion, kind)[at : at + len(start)] == start


def test_another_kind_is_refused() -> None:
    motion = reference_motion("squat", character("human"))
    with pytest.raises(UnknownName, match="kind of file"):
        export_bytes(motion, "doc")
