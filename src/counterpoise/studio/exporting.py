"""Exports: the motion on the timeline as BVH, GLB, USD, CSV or NPZ, as a film or a filmstrip; the figure as MJCF."""

from __future__ import annotations

import tempfile
from pathlib import Path

from counterpoise.errors import unknown_name
from counterpoise.motion.motion import Motion

MOTIONS = ("bvh", "glb", "usda", "csv", "npz")
PICTURES = ("png", "mp4")
FIGURES = ("xml",)
KINDS = {
    "bvh": "text/plain", "glb": "model/gltf-binary", "usda": "text/plain", "csv": "text/csv",
    "npz": "application/octet-stream", "png": "image/png", "mp4": "video/mp4", "xml": "text/xml",
}  # fmt: skip
FILM_SIZE = (960, 540)  # [px]


def export_bytes(motion: Motion, kind: str) -> bytes:
    """Returns a file of a motion. Called in a process of its own: films take a while."""
    if kind not in KINDS:
        raise unknown_name("kind of file", kind, KINDS)
    if kind == "xml":
        return motion.character.to_mjcf().encode("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"export.{kind}"
        if kind == "png":
            from counterpoise.render import filmstrip

            filmstrip(motion, path=path)
        elif kind == "mp4":
            from counterpoise.render.video import video

            video(motion, path, size=FILM_SIZE)
        elif kind == "npz":
            motion.save(path)
        else:
            motion.write(path)
        return path.read_bytes()
