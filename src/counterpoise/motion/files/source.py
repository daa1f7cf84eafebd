"""A motion's `Source` as plain JSON values for our own files, and back.

Numbers are kept exactly. What is read is checked as the reader of the original format does, so that writers can rely on
it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.errors import CounterpoiseError
from counterpoise.files import Refused
from counterpoise.motion.files import bvh_write as bvh
from counterpoise.motion.files.axes import metres, to_ours
from counterpoise.motion.files.text import MAX_VALUE, number
from counterpoise.motion.skeleton import MAX_JOINTS, Skeleton, Source


def source_to_json(source: Source) -> dict[str, Any]:
    """Returns the source as lists, texts and numbers; other notes are left out."""
    bones = source.skeleton
    return {
        "format": source.format,
        "bodies": list(source.bodies),
        "names": list(bones.names),
        "parents": list(bones.parents),
        "offsets": bones.offsets.tolist(),
        "rest": bones.rest.tolist(),
        "ends": [[joint, list(end)] for joint, end in bones.ends],
        "notes": {str(key): _listed(value) for key, value in source.notes.items() if _plain(value)},
    }


def source_from_json(data: Any) -> Source:
    """Returns the source that `source_to_json` was given; raises Refused for anything else."""
    try:
        source = _read(data)
    except (KeyError, TypeError, ValueError, OverflowError, CounterpoiseError) as error:
        raise Refused(f"its meta has no proper 'source': {error}") from error
    if source.format == bvh.FORMAT:
        _check_bvh(source)
    return source


def _read(data: Any) -> Source:
    names, bodies = _texts(data["names"]), _texts(data["bodies"])
    if not 0 < len(names) <= MAX_JOINTS or len(bodies) != len(names) or len(set(bodies)) != len(bodies):
        raise ValueError("names and bodies do not go together")
    parents = tuple(_whole(p, len(names)) for p in data["parents"])
    ends = tuple((_whole(joint, len(names), 0), _triple(end)) for joint, end in data["ends"])
    offsets, rest = np.array(data["offsets"], dtype=np.float64), np.array(data["rest"], dtype=np.float64)
    skeleton = Skeleton(names, parents, offsets, rest, ends)
    if np.abs(offsets).max() > MAX_VALUE or np.abs(np.linalg.norm(rest, axis=1) - 1.0).max() > 1e-6:
        raise ValueError("places too far away, or rotations of a length other than 1")
    notes = {str(key): _tupled(value) for key, value in dict(data["notes"]).items()}
    if "told" in notes:  # files of earlier versions
        notes["remarks"] = notes.pop("told")
    _texts(notes.get("remarks", ()))
    rate = notes.get("rate", 1.0)
    if not isinstance(rate, int | float) or not 0.0 < rate < MAX_VALUE:
        raise ValueError(f"a rate of {rate!r}")
    return Source(str(data["format"]), bodies, skeleton, notes)


def _check_bvh(source: Source) -> None:
    """Raises Refused unless the notes that the BVH writer uses are complete and valid."""
    notes, n = source.notes, len(source.skeleton)
    try:
        names, channels = _texts(notes["names"]), [_texts(row) for row in notes["channels"]]
        offsets, ends = _texts(notes["offset_text"]), _texts(notes["end_text"])
        if not (len(names) == len(channels) == len(offsets) == n and len(ends) == len(source.skeleton.ends)):
            raise ValueError("names, channels and offsets of another skeleton")
        for name in names:
            if " ".join(name.split()) != name or not name or set(name) & set("{}") or len(name) > 200:
                raise ValueError(f"the name {name[:40]!r}")
        if any(word.lower() not in bvh.CHANNELS for row in channels for word in row):
            raise ValueError("unknown channels")
        if any(len(text.split()) != 3 or None in map(number, text.split()) for text in (*offsets, *ends)):
            raise ValueError("offsets that are not three numbers")
        if notes["positions"] not in ("added", "instead") or len(str(notes["frame_time"]).split()) != 1:
            raise ValueError("positions or frame_time")
        to_ours(str(notes["up"]), str(notes["forward"]))
        metres(float(notes["scale"]))
        float(notes["rate"])
    except (KeyError, TypeError, ValueError, OverflowError, CounterpoiseError) as error:
        raise Refused(f"its meta has no proper 'source' of a BVH: {error}") from error


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise ValueError("values that are not texts")
    return tuple(values)


def _whole(value: Any, count: int, least: int = -1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < count:
        raise ValueError(f"{value!r} is not a joint")
    return value


def _triple(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    if not all(abs(value) <= MAX_VALUE for value in (x, y, z)):  # NaN compares false
        raise ValueError("an end that is too far away")
    return (x, y, z)


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item) for key, item in value.items())
    return value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and np.isfinite(value))


def _listed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_listed(item) for item in value]
    return {key: _listed(item) for key, item in value.items()} if isinstance(value, dict) else value


def _tupled(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tupled(item) for item in value)
    return {key: _tupled(item) for key, item in value.items()} if isinstance(value, dict) else value


__all__ = ["source_from_json", "source_to_json"]
