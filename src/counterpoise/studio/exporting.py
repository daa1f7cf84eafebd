"""Exports: the motion on the timeline as BVH, GLB, USD, CSV or NPZ, as a film or a filmstrip; the figure as MJCF."""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from counterpoise.errors import BadValue, CounterpoiseError, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.studio.children import end_with_parent

MOTIONS = ("bvh", "glb", "usda", "csv", "npz")
PICTURES = ("png", "mp4")
FIGURES = ("xml",)
APART = (*PICTURES, "glb", "usda")  # they take seconds: made in a process of their own, so that what is live goes on
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


def made_apart(what: str, make: Callable[..., bytes], *arguments: object) -> bytes:
    """Returns what a function makes, called in a process of its own that ends with it; `what` names it in errors."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send_made, args=(there, make, arguments), name=f"studio: {what}", daemon=True)
    process.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:
        raise BadValue(f"{what} could not be made: its process was ended") from None
    finally:
        process.join()
    if isinstance(found, str):
        raise BadValue(found)
    return bytes(found)


def _send_made(pipe: Connection, make: Callable[..., bytes], arguments: tuple[object, ...]) -> None:
    end_with_parent()
    try:
        made: bytes | str = make(*arguments)
    except CounterpoiseError as error:
        made = str(error)
    with suppress(OSError):  # the studio was closed meanwhile
        pipe.send(made)
    pipe.close()
