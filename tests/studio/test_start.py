"""The studio says what is wrong when it cannot start. That it starts is seen in tests/browser."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from counterpoise.errors import BadFile, BadValue
from counterpoise.studio.guard import Guard, new_token
from counterpoise.studio.start import serve
from counterpoise.studio.warming import warm_up


def test_what_cannot_be_opened_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "other.toml").write_text("scene = 1\n")
    (tmp_path / "here" / "bad.toml").write_text("scene = 1\ncharakter = 'human'\n")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(BadFile, match="there is no file"):
        serve(Path("none.toml"), 0, False)
    with pytest.raises(BadFile, match="outside this folder"):
        serve(Path("../other.toml"), 0, False)
    with pytest.raises(BadFile, match=r"bad\.toml:2.*character"):
        serve(Path("bad.toml"), 0, False)
    with pytest.raises(BadValue, match="between 0 and 65535"):
        serve(None, 70000, False)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(BadValue, match="is taken"):
        serve(None, taken.getsockname()[1], False)


def test_the_address_holds_a_token_that_is_never_the_same() -> None:
    first, second = (Guard(new_token(), 8000).address for _ in range(2))
    assert first != second and first.startswith("http://127.0.0.1:8000/?token=") and len(first) > 50


def test_warming_up_goes_through_to_its_end() -> None:
    """It works in a process of its own, where an error would be seen by nobody."""
    warm_up()
