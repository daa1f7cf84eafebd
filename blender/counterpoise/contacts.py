"""Contacts of bones as custom properties, and the stunt that the program optimises between selected keys."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

PROPERTY = "counterpoise_contact"  # of a pose bone: "all", or frames such as "1-12, 20-30"
PROPERTY_HOW = "counterpoise_contact_how"
HOWS = ("as usual", "flat", "heel", "toe", "point")  # as usual: feet flat, others with a point
SPAN = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:-|to|\.\.)\s*(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class BoneContact:
    """A bone that touches the ground from one frame to another."""

    bone: str
    first: float
    last: float
    how: str = ""


def spans(text: str, bone: str) -> list[tuple[float, float]] | None:
    """Reads "1-12, 20-30" or "all" (None)."""
    if text.strip().lower() in ("all", "true", "1", "1.0"):
        return None
    out = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        found = SPAN.fullmatch(part)
        if found is None or float(found[1]) >= float(found[2]):
            raise ValueError(f'{PROPERTY} of bone {bone!r} is "all" or frames such as "1-12, 20-30", not {text!r}')
        out.append((float(found[1]), float(found[2])))
    return out


def add_frames(text: str, first: float, last: float) -> str:
    """Returns the property with more frames; stretches that meet become one."""
    known = spans(text, "") if text.strip() else []
    if known is None:
        return "all"
    out: list[list[float]] = []
    for low, high in sorted([*known, (first, last)]):
        if out and low <= out[-1][1]:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append([low, high])
    return ", ".join(f"{low:g}-{high:g}" for low, high in out)


def contacts_of(pose_bones: Any, names: list[str], first: float, last: float) -> list[BoneContact]:
    """Returns the contacts within the frames from `first` to `last`."""
    out = []
    for name in names:
        bone = pose_bones[name]
        given = bone.get(PROPERTY, bone.bone.get(PROPERTY))
        if given is None or given is False:
            continue
        how = str(bone.get(PROPERTY_HOW, bone.bone.get(PROPERTY_HOW, HOWS[0])))
        if how not in HOWS:
            raise ValueError(f"{PROPERTY_HOW} of bone {name!r} is one of {', '.join(HOWS)}, not {how!r}")
        found = spans(str(given), name)
        for low, high in [(first, last)] if found is None else found:
            if min(high, last) > max(low, first):
                out.append(BoneContact(name, max(low, first), min(high, last), "" if how == HOWS[0] else how))
    if not out:
        raise ValueError(
            f'no bone touches anything between these keys: give bones a custom property {PROPERTY} ("all", or frames '
            'such as "1-12"), or use Mark contact'
        )
    return out


def stunt_text(
    file: str,
    start: float,
    rate: float,
    frames: list[float],
    contacts: list[BoneContact],
    part: dict[str, str],
    settings: Any,
) -> str:
    """Returns the stunt: keys at `frames` of the action in `file`, which begins at frame `start`, and contacts.

    `part` is the program's name of a bone.
    """
    first, last = frames[0], frames[-1]
    lines = [
        'name = "between keys"', f"duration = {(last - first) / rate:.9g}", f"rate = {settings.rate:.9g}",
        "[character]", f"file = {json.dumps(file)}", 'units = "m"', 'up = "z"',
    ]  # fmt: skip
    for frame in frames:
        lines += ["[[key]]", f"time = {(frame - first) / rate:.9g}"]
        lines.append(f'pose = "{file}@{(frame - start) / rate:.9g}"')
        if frame in (first, last):
            lines.append("moving = true" if settings.ends == "MOVING" else "rest = true")
        else:
            lines.append(f"soft = {settings.soft:.9g}")
    for one in contacts:
        lines += ["[[contact]]", f"part = {json.dumps(part[one.bone])}"]
        if one.how:
            lines.append(f'how = "{one.how}"')
        if one.first > first:
            lines.append(f"from = {(one.first - first) / rate:.9g}")
        if one.last < last:
            lines.append(f"to = {(one.last - first) / rate:.9g}")
    for kind, wanted in (("torque", settings.strength), ("apart", settings.apart)):
        if wanted:
            lines += ["[[wish]]", f'kind = "{kind}"']
    return "\n".join(lines) + "\n"
