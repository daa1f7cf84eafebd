"""Writing BVH: metres, y up, z forward; positions and rotations of the root, rotations of every other joint.

A motion that was read from a BVH is written with that file's hierarchy, names, channels, offsets, units, axes and frame
time. A joint whose movement does not fit its old channels (after an edit) gets more channels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile
from counterpoise.files import whole_file
from counterpoise.motion.clips import MIN_MOVEMENT
from counterpoise.motion.files.axes import USUAL_FORWARD, metres, to_ours
from counterpoise.motion.files.euler import angles_of, rotation_of
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.files.text import number
from counterpoise.motion.skeleton import Clip, Skeleton, Source

FORMAT = "bvh"
SAME_ROTATION = 1e-6  # [rad] difference at which channels are still enough for a rotation
CHANNELS = {f"{axis}{kind}".lower(): (kind, i) for i, axis in enumerate("XYZ") for kind in ("position", "rotation")}


def write_clip(
    path: str | os.PathLike[str],
    clip: Clip,
    *,
    source: Source | None = None,
    units: str | float | None = None,
    up: str | None = None,
    forward: str | None = None,
) -> None:
    """Writes a BVH. With a `source` that was BVH too, its names, channels, offsets, units and axes are kept."""
    same = source if source is not None and source.format == FORMAT else None
    own: dict[str, Any] = dict(same.notes) if same is not None else {}
    scale = metres(units) if units is not None else float(own.get("scale", 1.0))
    up = up or str(own.get("up", "y"))
    if forward is None:
        forward = str(own["forward"]) if own.get("up") == up else USUAL_FORWARD.get(up[-1:].lower(), "x")
    bones = _one_root(clip).aligned().turned(to_ours(up, forward).T)
    bones = replace(bones, translations=bones.translations / scale)
    plan = _plan(bones, same, scale)
    rate = clip.rate
    frame_time = f"{1.0 / rate:.10g}"
    if own and rate == own["rate"] and number(str(own["frame_time"])):
        frame_time = str(own["frame_time"])
    columns = _columns(bones, plan)
    with whole_file(path) as temporary:
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as stream:
                stream.write("\n".join(_tree_lines(bones.skeleton, plan)))
                stream.write(f"\nMOTION\nFrames: {len(clip)}\nFrame Time: {frame_time}\n")
                np.savetxt(stream, columns, fmt="%.10g", delimiter=" ")
        except OSError as error:
            raise BadFile(f"cannot write {str(path)!r}: {error.strerror or error}", path=str(path)) from error


@dataclass(frozen=True)
class _Plan:
    """How each joint is written."""

    names: tuple[str, ...]
    channels: tuple[tuple[str, ...], ...]
    offsets: tuple[str, ...]
    ends: tuple[str, ...]
    added: bool


_ROTATIONS = ("Zrotation", "Yrotation", "Xrotation")
_POSITIONS = ("Xposition", "Yposition", "Zposition")


def _one_root(clip: Clip) -> Clip:
    """Returns the clip with one root: several roots get a joint above them that never moves."""
    bones = clip.skeleton
    if len(bones.roots) == 1:
        return clip
    f, n = len(clip), len(bones)
    top = unique_names([*bones.names, "origin"])[-1]
    skeleton = Skeleton(
        (top, *bones.names),
        (-1, *(parent + 1 if parent >= 0 else 0 for parent in bones.parents)),
        np.vstack([np.zeros((1, 3)), bones.offsets]),
        np.vstack([spatial.IDENTITY[None], bones.rest]),
        tuple((joint + 1, end) for joint, end in bones.ends),
    )
    rotations, translations = np.empty((f, n + 1, 4)), np.zeros((f, n + 1, 3))
    rotations[:, 0], rotations[:, 1:], translations[:, 1:] = spatial.IDENTITY, clip.rotations, clip.translations
    return replace(clip, skeleton=skeleton, rotations=rotations, translations=translations)


def _plan(clip: Clip, source: Source | None, scale: float) -> _Plan:
    bones = clip.skeleton
    names = list(unique_names([re.sub(r"[^A-Za-z0-9_.:\-]+", "_", name) or "joint" for name in bones.names]))
    offsets = bones.offsets / scale
    away = np.abs(clip.translations - offsets).max(axis=(0, 2)) * scale
    moves = [bones.parents[i] < 0 or bool(away[i] > MIN_MOVEMENT) for i in range(len(bones))]
    channels = [(*_POSITIONS, *_ROTATIONS) if moving else _ROTATIONS for moving in moves]
    texts = [_vector_text(offset) for offset in offsets]
    ends = [_vector_text(np.array(end) / scale) for _, end in bones.ends]
    added = False
    if source is not None:
        own, notes = source.skeleton, source.notes
        place = {name: k for k, name in enumerate(source.bodies)}
        added = notes["positions"] == "added"
        for i, name in enumerate(bones.names):
            k = place.get(name)
            if k is None:
                continue
            names[i] = notes["names"][k]
            given = tuple(notes["channels"][k])
            if _enough(given, clip, i, moves[i], offsets[i], scale):
                channels[i] = given
            texts[i] = _same_text(notes["offset_text"][k], offsets[i], texts[i])
        if [bones.names[joint] for joint, _ in bones.ends] == [source.bodies[joint] for joint, _ in own.ends]:
            given = notes["end_text"]
            ends = [_same_text(given[k], np.array(end) / scale, ends[k]) for k, (_, end) in enumerate(bones.ends)]
    return _Plan(tuple(names), tuple(channels), tuple(texts), tuple(ends), added)


def _enough(channels: Sequence[str], clip: Clip, joint: int, moves: bool, offset: Array, scale: float) -> bool:
    """Returns whether these channels are enough for a joint's movement."""
    places = [axis for kind, axis in (CHANNELS[c.lower()] for c in channels) if kind == "position"]
    silent = [axis for axis in range(3) if axis not in places]
    if moves and np.abs(clip.translations[:, joint, silent] - offset[silent]).max(initial=0.0) * scale > MIN_MOVEMENT:
        return False
    axes = [axis for kind, axis in (CHANNELS[c.lower()] for c in channels) if kind == "rotation"]
    if len(set(axes)) != len(axes):
        return False
    if len(axes) == 3:
        return True
    written = rotation_of(axes, _angles(axes, clip.rotations[:, joint]))
    return bool(np.abs(spatial.difference(clip.rotations[:, joint], written)).max() < SAME_ROTATION)


def _angles(axes: Sequence[int], rotations: Array) -> Array:
    """Returns angles (f, k) [deg] about up to three axes; with fewer than three, the nearest rotation."""
    full = [*axes, *(axis for axis in range(3) if axis not in axes)]
    angles = angles_of(full, rotations)
    if len(axes) < 3:  # of two solutions, that with smaller angles about the axes that are left out
        other = np.stack([angles[..., 0] + 180.0, 180.0 - angles[..., 1], angles[..., 2] + 180.0], axis=-1)
        silent = slice(len(axes), None)
        lost, kept = (np.sum(1.0 - np.cos(np.radians(a[..., silent])), axis=-1) for a in (angles, other))
        angles = np.where((kept < lost)[..., None], other, angles)
        angles = np.degrees(np.unwrap(np.radians(angles), axis=0))
    return angles[..., : len(axes)]


def _columns(clip: Clip, plan: _Plan) -> Array:
    """Returns the numbers of all frames, in the order of the hierarchy as it is written."""
    out: list[Array] = []
    offsets = np.array([[float(word) for word in text.split()] for text in plan.offsets])
    for i in _depth_first(clip.skeleton):
        axes = [axis for kind, axis in (CHANNELS[c.lower()] for c in plan.channels[i]) if kind == "rotation"]
        angles = _angles(axes, clip.rotations[:, i])
        turn = 0
        for name in plan.channels[i]:
            kind, axis = CHANNELS[name.lower()]
            if kind == "rotation":
                out.append(_rounded(angles[:, turn]))
                turn += 1
            else:
                shift = offsets[i, axis] if plan.added and clip.skeleton.parents[i] >= 0 else 0.0
                out.append(_rounded(clip.translations[:, i, axis] - shift))
    return np.stack(out, axis=1) if out else np.empty((len(clip), 0))


def _rounded(values: Array) -> Array:
    """Returns the values with seven decimals, and without negative zeros."""
    return np.asarray(np.round(values, 7) + 0.0, dtype=np.float64)


def _depth_first(bones: Skeleton) -> list[int]:
    children: list[list[int]] = [[] for _ in bones.names]
    for i, parent in enumerate(bones.parents):
        if parent >= 0:
            children[parent].append(i)
    order, todo = [], list(bones.roots)
    while todo:
        at = todo.pop()
        order.append(at)
        todo += reversed(children[at])
    return order


def _tree_lines(bones: Skeleton, plan: _Plan) -> list[str]:
    """Returns the lines of the hierarchy."""
    ends: dict[int, list[str]] = {}
    for (joint, _), text in zip(bones.ends, plan.ends, strict=True):
        ends.setdefault(joint, []).append(text)
    lines, open_ = ["HIERARCHY"], list[int]()
    for i in _depth_first(bones):
        while open_ and open_[-1] != bones.parents[i]:
            open_.pop()
            lines.append("\t" * len(open_) + "}")
        tabs = "\t" * len(open_)
        lines += [f"{tabs}{'JOINT' if open_ else 'ROOT'} {plan.names[i]}", f"{tabs}{{"]
        lines += [f"{tabs}\tOFFSET {plan.offsets[i]}"]
        lines += [f"{tabs}\tCHANNELS {len(plan.channels[i])} {' '.join(plan.channels[i])}".rstrip()]
        for text in ends.get(i, ()):
            lines += [f"{tabs}\tEnd Site", f"{tabs}\t{{", f"{tabs}\t\tOFFSET {text}", f"{tabs}\t}}"]
        open_.append(i)
    while open_:
        open_.pop()
        lines.append("\t" * len(open_) + "}")
    return lines


def _vector_text(values: Array) -> str:
    return " ".join(f"{round(float(v), 9) + 0.0:.9g}" for v in values)


def _same_text(given: str, values: Array, fresh: str) -> str:
    """Returns the text as the file had it, if it still stands for the same values."""
    return given if np.allclose([float(word) for word in given.split()], values, rtol=1e-9, atol=1e-9) else fresh


__all__ = ["CHANNELS", "FORMAT", "write_clip"]
