"""Folder: the files that pages may name. Nothing above the folder the studio was started in is read or written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from counterpoise.errors import BadFile, BadValue

LISTED = (".toml", ".bvh", ".glb", ".gltf", ".npz", ".xml", ".urdf", ".mjcf", ".c3d", ".csv", ".usda", ".usdc", ".usd")
MAX_LISTED = 500
MAX_DEPTH = 3  # folders below the first that are looked into


@dataclass(frozen=True)
class Folder:
    """The folder that the studio works in."""

    root: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve())

    def path(self, name: str) -> Path:
        """Returns the file of a relative name; names that lead out of the folder, also by links, are refused."""
        pure = PurePosixPath(name)
        bad = not name or "\\" in name or "\0" in name or ":" in name or pure.is_absolute() or ".." in pure.parts
        if bad or len(name) > 1000:
            raise BadValue(
                f"a file is named relative to the folder of the studio, such as 'clips/run.bvh'; got {name!r}"
            )
        found = (self.root / pure).resolve()
        if not found.is_relative_to(self.root):
            raise BadValue(f"{name!r} lies outside the folder of the studio; copy the file into it")
        return found

    def read(self, name: str) -> Path:
        """Returns the path of a file that is there."""
        found = self.path(name)
        if not found.is_file():
            raise BadFile(f"there is no file {name!r} in the folder of the studio", path=name)
        return found

    def name_of(self, path: Path) -> str:
        """Returns the relative name of a file in the folder."""
        return path.resolve().relative_to(self.root).as_posix()

    def listing(self) -> tuple[str, ...]:
        """Returns the names of scenes, clips and figures, a few folders deep."""
        found: list[str] = []
        for here, folders, files in os.walk(self.root):
            depth = len(Path(here).relative_to(self.root).parts)
            folders[:] = sorted(f for f in folders if not f.startswith(".") and depth < MAX_DEPTH)
            found += [
                self.name_of(Path(here) / f)
                for f in sorted(files)
                if not f.startswith(".") and Path(f).suffix.lower() in LISTED and not (Path(here) / f).is_symlink()
            ]
            if len(found) >= MAX_LISTED:
                break
        return tuple(found[:MAX_LISTED])
