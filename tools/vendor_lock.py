"""Writes the list of vendored files with their hashes: `python tools/vendor_lock.py`, after copying new ones in."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "src" / "counterpoise" / "studio" / "client" / "vendor"
PACKAGE = Path(__file__).parents[1] / "tests" / "browser" / "package.json"


def main() -> None:
    """One entry a package: its version, and the sha256 of each file."""
    versions = json.loads(PACKAGE.read_text())["dependencies"]
    lock = {}
    for name, version in versions.items():
        files = sorted(path for path in (VENDOR / name).rglob("*") if path.is_file())
        hashes = {p.relative_to(VENDOR).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
        lock[name] = {"version": version, "files": hashes}
    (VENDOR / "lock.json").write_text(json.dumps(lock, indent=1) + "\n")


if __name__ == "__main__":
    main()
