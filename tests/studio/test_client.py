"""The client's files: unmodified vendored code, types that fit the server, and buttons that all say what they do."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from counterpoise.studio.typescript import PATH, client_types

CLIENT = PATH.parent
VENDOR = CLIENT / "vendor"
MODULES = sorted(path for path in CLIENT.rglob("*.js") if VENDOR not in path.parents)


def test_vendored_files_are_unmodified() -> None:
    lock = json.loads((VENDOR / "lock.json").read_text())
    there = {p.relative_to(VENDOR).as_posix() for p in VENDOR.rglob("*") if p.is_file() and p.name != "lock.json"}
    assert there == {name for package in lock.values() for name in package["files"]}
    for name, package in lock.items():
        assert any(file.endswith("LICENSE") for file in package["files"]), f"{name} without its licence"
        for file, wanted in package["files"].items():
            assert hashlib.sha256((VENDOR / file).read_bytes()).hexdigest() == wanted, file


def test_the_lock_is_that_of_the_package_json() -> None:
    package = json.loads((Path(__file__).parents[1] / "browser" / "package.json").read_text())
    lock = json.loads((VENDOR / "lock.json").read_text())
    assert {name: entry["version"] for name, entry in lock.items()} == package["dependencies"]


def test_types_are_generated_from_the_messages() -> None:
    assert PATH.read_text() == client_types(), "run python -m counterpoise.studio.typescript"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(CLIENT).as_posix())
def test_modules_are_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("// ") and len(text.splitlines()) <= 250
    assert not re.search(r"\b(eval|innerHTML|document\.write)\b", text)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = (CLIENT / "index.html").read_text()
    assert "http" not in page and " style=" not in page and "onclick" not in page
