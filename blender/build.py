"""Packs the extension: `python blender/build.py [FOLDER]` writes a .zip, to be installed in Blender from disk."""

from __future__ import annotations

import sys
import tomllib
import zipfile
from pathlib import Path

HOME = Path(__file__).resolve().parent / "counterpoise"


def build(out: Path) -> Path:
    """Returns the path of the packed extension. The same files always give the same bytes."""
    manifest = tomllib.loads((HOME / "blender_manifest.toml").read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{manifest['id']}-{manifest['version']}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(HOME.iterdir()):
            if path.suffix in (".py", ".toml"):
                archive.writestr(zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0)), path.read_bytes())
    return target


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("dist")))
