"""What the studio starts ends with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARENT = """
import multiprocessing, time
from counterpoise.studio.children import end_with_parent

def child():
    end_with_parent()
    print("works", flush=True)
    time.sleep(600)

if __name__ == "__main__":
    multiprocessing.get_context("spawn").Process(target=child, daemon=True).start()
    time.sleep(600)
"""


def test_a_process_of_the_studio_ends_when_the_studio_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None and parent.stdout.readline() == "works\n"
    parent.kill()
    parent.communicate(timeout=300.0)  # the child holds the same output: it is read to its end when both are gone
