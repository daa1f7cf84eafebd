"""What the tests of the verbs share: `say` speaks to the command line in an empty folder and hears what it answers."""

from __future__ import annotations

import sys

import pytest

from counterpoise import cli


@pytest.fixture
def say(monkeypatch, capsys, tmp_path):
    """say("check", "clip.bvh") -> (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["counterpoise", *words])
        with pytest.raises(SystemExit) as leave:
            cli.main()
        told = capsys.readouterr()
        return int(leave.value.code or 0), told.out, told.err

    return run
