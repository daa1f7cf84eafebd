"""A workshop without a thread, and an application without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `studio` is not installed")

from starlette.testclient import TestClient
from studio_bench import PORT, TOKEN, Bench

from counterpoise.studio.folder import Folder
from counterpoise.studio.guard import Guard
from counterpoise.studio.open_scene import empty_document
from counterpoise.studio.server import build_app


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    app = build_app(Guard(TOKEN, PORT), Folder(tmp_path), empty_document(Folder(tmp_path)))
    with TestClient(app, base_url=f"http://127.0.0.1:{PORT}") as made:
        yield made
