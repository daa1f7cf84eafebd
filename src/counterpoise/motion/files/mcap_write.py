"""MCAP, for Foxglove and other viewers of robots' logs: only written; needs the extra `mcap`.

Messages are JSON, a message a frame on each of three channels: `/tf`, the frames of all joints; `/bones`, lines from
joint to joint; and `/joints`, the joint coordinates of the character, for plots. z up, metres, radians, seconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from counterpoise import __version__
from counterpoise.arrays import Array
from counterpoise.errors import BadFile
from counterpoise.files import one_line, whole_file
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.files.table import columns_of
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import Clip

WORLD = "world"  # name of the fixed frame
THICKNESS = 0.02  # [m] of a line
COLOUR = {"r": 0.9, "g": 0.6, "b": 0.2, "a": 1.0}
LINE_LIST = 2  # of pairs of points, in foxglove.LinePrimitive
SECOND = 1_000_000_000  # [ns]
_ORIGIN = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}


def write_mcap(motion: Motion, path: str | os.PathLike[str]) -> None:
    """Writes a motion at its own rate, completely or not at all; the log begins at time 0."""
    from mcap.writer import Writer

    clip = clip_of_motion(motion)
    names = unique_names(list(clip.skeleton.names))
    places, _ = clip.world()
    poses = motion.sample(motion.times[0] + np.arange(len(clip)) / clip.rate).q
    columns = [name for name, _ in columns_of(motion.character)]
    try:
        with whole_file(path) as part, part.open("wb") as stream:
            log: Any = Writer(stream)  # some of its methods have no types
            log.start(profile="", library=f"counterpoise {__version__}")
            channels = {
                topic: log.register_channel(topic, "json", log.register_schema(name, "jsonschema", _schema(name)))
                for topic, name in (
                    ("/tf", "foxglove.FrameTransforms"),
                    ("/bones", "foxglove.SceneUpdate"),
                    ("/joints", "counterpoise.Joints"),
                )
            }
            for k in range(len(clip)):
                at = round(k / clip.rate * SECOND)
                messages = {
                    "/tf": _transforms(clip, names, k, at),
                    "/bones": _bones(clip, places[k], at),
                    "/joints": {"timestamp": _stamp(at), **dict(zip(columns, poses[k].tolist(), strict=True))},
                }
                for topic, message in messages.items():
                    data = json.dumps(message, separators=(",", ":")).encode()
                    log.add_message(channels[topic], log_time=at, publish_time=at, data=data)
            log.finish()
    except OSError as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


def _transforms(clip: Clip, names: tuple[str, ...], frame: int, at: int) -> dict[str, Any]:
    parents = clip.skeleton.parents
    return {
        "transforms": [
            {
                "timestamp": _stamp(at),
                "parent_frame_id": WORLD if parent < 0 else names[parent],
                "child_frame_id": names[joint],
                "translation": dict(zip("xyz", clip.translations[frame, joint].tolist(), strict=True)),
                "rotation": dict(zip("wxyz", clip.rotations[frame, joint].tolist(), strict=True)),
            }
            for joint, parent in enumerate(parents)
        ]
    }


def _bones(clip: Clip, places: Array, at: int) -> dict[str, Any]:
    pairs = [(parent, joint) for joint, parent in enumerate(clip.skeleton.parents) if parent >= 0]
    points = [dict(zip("xyz", places[joint].tolist(), strict=True)) for pair in pairs for joint in pair]
    line = {
        "type": LINE_LIST, "pose": _ORIGIN, "thickness": THICKNESS, "scale_invariant": False, "points": points,
        "color": COLOUR, "colors": [], "indices": [],
    }  # fmt: skip
    none: dict[str, Any] = {kind: [] for kind in ("metadata", *_SOLIDS)}
    entity = {
        "timestamp": _stamp(at), "frame_id": WORLD, "id": "bones", "lifetime": {"sec": 0, "nsec": 0},
        "frame_locked": False, **none, "lines": [line],
    }  # fmt: skip
    return {"deletions": [], "entities": [entity]}


_SOLIDS = ("arrows", "cubes", "spheres", "cylinders", "triangles", "texts", "models")


def _stamp(at: int) -> dict[str, int]:
    return {"sec": at // SECOND, "nsec": at % SECOND}


def _schema(name: str) -> bytes:
    lists: Mapping[str, tuple[str, ...]] = {
        "foxglove.FrameTransforms": ("transforms",),
        "foxglove.SceneUpdate": ("deletions", "entities"),
    }
    inside = {field: {"type": "array", "items": {"type": "object"}} for field in lists.get(name, ())}
    return json.dumps({"title": name, "type": "object", "properties": inside}).encode()


__all__ = ["write_mcap"]
