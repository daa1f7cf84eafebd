"""The Blender extension: packed, and tried in Blender without a window where a Python with `bpy` is named."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import counterpoise as cp

BLENDER = Path(__file__).resolve().parents[2] / "blender"
PYTHON = os.environ.get("COUNTERPOISE_BPY")  # a Python that has bpy


def test_the_extension_is_packed_with_all_it_needs(tmp_path: Path):
    words = [sys.executable, str(BLENDER / "build.py"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(done.stdout.strip()) as archive:
        assert set(archive.namelist()) == {
            "__init__.py", "blender_manifest.toml", "contacts.py", "exchange.py", "program.py", "work.py"
        }  # fmt: skip
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert manifest["id"] == "counterpoise" and manifest["version"] == cp.__version__


@pytest.mark.slow
@pytest.mark.skipif(PYTHON is None, reason="COUNTERPOISE_BPY does not name a Python with bpy")
def test_actions_go_out_and_come_back(tmp_path: Path):
    assert PYTHON is not None
    squat = cp.reference_motion("squat", cp.character("human"))
    squat.write(tmp_path / "squat.bvh", rate=30.0, units="m")
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    words = [PYTHON, str(BLENDER / "test_headless.py"), str(tmp_path / "squat.bvh")]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": paths}, check=False)
    assert done.returncode == 0 and "all is well" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def test_contacts_of_the_extension_become_a_stunt(monkeypatch, tmp_path: Path):
    """The part of the extension that needs no Blender: properties of bones are read, and the stunt is one of ours."""
    spec = importlib.util.spec_from_file_location("blender_contacts", BLENDER / "counterpoise" / "contacts.py")
    assert spec is not None and spec.loader is not None
    contacts = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "blender_contacts", contacts)
    spec.loader.exec_module(contacts)
    assert contacts.add_frames("1-12", 10, 20) == "1-20" and contacts.add_frames("all", 1, 2) == "all"
    assert contacts.add_frames("", -3, 8) == "-3-8" and contacts.spans("-3-8, 9 to 11.5", "x") == [(-3, 8), (9, 11.5)]
    for bad in ("here", "12-1", "1-2-3"):
        with pytest.raises(ValueError, match="1-12, 20-30"):
            contacts.spans(bad, "foot")
    squat = cp.reference_motion("squat", cp.character("human"))
    squat.write(tmp_path / "action.bvh", rate=30.0, units="m", up="z", forward="x")
    settings = SimpleNamespace(rate=20.0, soft=100.0, ends="MOVING", strength=True, apart=False)
    touches = [contacts.BoneContact("Foot L", 10, 40, "flat"), contacts.BoneContact("Foot L", 44, 50)]
    text = contacts.stunt_text("action.bvh", 6, 30.0, [10, 25, 50], touches, {"Foot L": "foot_left"}, settings)
    (tmp_path / "stunt.toml").write_text(text)
    stunt = cp.read_stunt(tmp_path / "stunt.toml")
    assert [key.time for key in stunt.keys] == pytest.approx([0.0, 0.5, 40 / 30])
    assert [key.soft for key in stunt.keys] == [None, 100.0, None]
    times = [time for touch in stunt.contacts for time in (touch.start, touch.end)]
    assert times == pytest.approx([0.0, 1.0, 34 / 30, 40 / 30])
    assert stunt.source is not None and stunt.source.notes["up"] == "z" and stunt.source.notes["scale"] == 1.0
