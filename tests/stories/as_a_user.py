"""Runs a program as a user does: in a process and a folder of its own."""

import os
import subprocess
from pathlib import Path


def run(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    return subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, env=environment, timeout=900, check=False)
