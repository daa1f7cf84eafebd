"""docs/architecture.md cannot go stale: the picture is drawn anew, and every walk is walked."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import counterpoise as cp

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = {
    title: (code, re.findall(r"^\d+\. `([\w.]+)` in `([\w/]+\.py)`: .+\.$", steps, re.MULTILINE))
    for title, code, steps in re.findall(r"^### (.+)\n\n```python\n((?:.*\n)*?)```\n\n((?:\d+\. .+\n)+)", PAGE, re.M)
}
TRACER = """
import json, sys
code, steps = sys.argv[1], json.loads(sys.argv[2])
walked = 0
def watch(frame, event, argument):
    global walked
    called = frame.f_code
    if event == "call" and walked < len(steps) and called.co_qualname == steps[walked][0]:
        walked += called.co_filename.replace("\\\\", "/").endswith("/counterpoise/" + steps[walked][1])
compiled = compile(code, "walk", "exec")
sys.setprofile(watch)
exec(compiled, {})
sys.setprofile(None)
print(walked)
"""
NOT_PYTHON = {"fit_frames"}  # compiled: the profiler does not see it


def test_the_picture_is_the_one_drawn_now():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "tools" / "architecture.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    committed = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    assert tool.draw() == committed, "run tools/architecture.py"


def test_there_are_five_walks():
    assert list(WALKS) == ["A push", "A drag", "A stunt", "A clip fixed", "A file in"]
    assert all(len(steps) >= 8 for _, steps in WALKS.values())


@pytest.mark.parametrize("title", WALKS)
def test_every_step_of_a_walk_is_passed_in_order(title: str, tmp_path: Path):
    code, steps = WALKS[title]
    (tmp_path / "standing_jump.toml").write_bytes((ROOT / "examples/stunts/standing_jump.toml").read_bytes())
    cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.5).write(tmp_path / "clip.bvh")
    for name, file in steps:
        source = (ROOT / "src" / "counterpoise" / file).read_text(encoding="utf-8")
        assert re.search(rf"def {name.split('.')[-1]}\(", source), f"{file} has no {name}"
    seen = [step for step in steps if step[0] not in NOT_PYTHON]
    done = subprocess.run(
        [sys.executable, "-c", TRACER, code, json.dumps(seen)],
        capture_output=True, text=True, cwd=tmp_path, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    walked = int(done.stdout.splitlines()[-1])
    assert walked == len(seen), f"{title}: {seen[walked]} is not called after {seen[:walked][-1:]}"
