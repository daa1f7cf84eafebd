"""The list of vendored files with their hashes.

python tools/vendor_lock.py                             write it, after new files were copied in
python tools/vendor_lock.py --compare NODE_MODULES      compare every file with the package it comes from
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "src" / "counterpoise" / "studio" / "client" / "vendor"
PACKAGE = ROOT / "tests" / "browser" / "package.json"
ELSEWHERE = {"uplot/uPlot.esm.js": "uplot/dist/uPlot.esm.js", "uplot/uPlot.min.css": "uplot/dist/uPlot.min.css"}


def write() -> None:
    """One entry a package: its version, and the sha256 of each file."""
    lock = {}
    for name, version in json.loads(PACKAGE.read_text())["dependencies"].items():
        files = sorted(path for path in (VENDOR / name).rglob("*") if path.is_file())
        hashes = {p.relative_to(VENDOR).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
        lock[name] = {"version": version, "files": hashes}
    (VENDOR / "lock.json").write_text(json.dumps(lock, indent=1) + "\n")


def compare(modules: Path) -> int:
    """Returns how many vendored files differ from those of the packages, and names them."""
    different = 0
    for package in json.loads((VENDOR / "lock.json").read_text()).values():
        for file in package["files"]:
            if (VENDOR / file).read_bytes() != (modules / ELSEWHERE.get(file, file)).read_bytes():
                print(f"{file} is not the package's own", file=sys.stderr)
                different += 1
    return different


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        sys.exit(1 if compare(Path(sys.argv[2])) else 0)
    write()
