"""Units and axes of a file: given by the caller or guessed, with a remark on every guess.

Ours are metres with x forward, y left, z up. A file's axes are named by its up and its forward axis ("y", "-z", ...);
its units by name or by metres a unit. Guesses use the figure itself: which axis leads from its feet to its head, on
which side its left limbs are, and which unit makes it the size of a person. Skeletons of the CMU database are
recognised by their joint names and read in the database's unit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.clips import left_of, probes, upright
from counterpoise.motion.skeleton import Clip

INCH = 0.0254  # [m]
UNITS = {  # [m]
    "m": 1.0,
    "metre": 1.0,
    "meter": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "inch": INCH,
    "in": INCH,
    "ft": 0.3048,
    "cmu": INCH / 0.45,
}
_GUESSES = ("m", "cm", "mm", "inch", "cmu")
_PLAIN = ("m", "cm", "mm")
_PERSON = (1.3, 2.15)  # [m] usual heights of persons ...
_USUAL_HEIGHT = 1.7  # [m] ... and the most usual
RESTING_SHARE = 0.75  # of the largest height of the head above the feet: a rest pose with more stands upright
ALONG_AXIS = 0.85  # share of a vector's length along its main axis, from which it counts as that axis
POSSIBLE_HEIGHT = (0.8, 2.4)  # [m]: a person of another size is doubted
CMU_JOINTS = frozenset({"lhipjoint", "rhipjoint", "lowerback"})  # joints of the CMU database, in lower case
_AXES = {s + a: (-1.0 if s else 1.0) * np.eye(3)[i] for i, a in enumerate("xyz") for s in ("", "-")}
USUAL_FORWARD = {"x": "y", "y": "z", "z": "x"}  # where figures usually look when this axis is up


def metres(units: str | float) -> float:
    """Returns metres a unit, which is given by name ("m", "cm", "mm", "inch", "ft", "cmu") or as a number."""
    if isinstance(units, str):
        if units.lower() not in UNITS:
            raise unknown_name("unit", units, UNITS)
        return UNITS[units.lower()]
    if not (np.isfinite(units) and 1e-9 < units < 1e6):
        raise BadValue(f"units are metres a unit, a positive number, not {units!r}", units=units)
    return float(units)


def axis(name: str) -> Array:
    """Returns the unit vector of a signed axis name: "x", "-y", ..."""
    key = name.lower().removeprefix("+")
    if key not in _AXES:
        raise BadValue(f"an axis is x, y or z, with a minus where it points the other way, not {name!r}", axis=name)
    return _AXES[key]


def to_ours(up: str, forward: str) -> Array:
    """Returns the rotation (3, 3) from the file's axes to ours: rows are forward, left and up."""
    u, f = axis(up), axis(forward)
    if abs(float(u @ f)) > 0.5:
        raise BadValue(f"up and forward are two different axes, not {up!r} and {forward!r}", up=up, forward=forward)
    return np.array([f, np.cross(u, f), u])


def into_ours(
    raw: Clip, units: str | float | None, up: str | None, forward: str | None, remarks: list[str]
) -> tuple[Clip, dict[str, object]]:
    """Returns a clip, given in the file's axes and units, in ours, and what a writer needs: scale [m], up, forward.

    What was guessed is added to `remarks`.
    """
    few = probes(raw)
    if up is None:
        up, why = _guess_up(few)
        remarks.append(f"up axis guessed: {up} ({why})")
    if forward is None:
        forward, why = _guess_forward(few, up)
        remarks.append(f"forward axis guessed: {forward} ({why})")
    turn = to_ours(up, forward)
    if units is None:
        scale, why = _guess_units(few, axis(up))
        remarks.append(why)
    else:
        scale = metres(units)
    return raw.turned(turn, scale), {"scale": scale, "up": up, "forward": forward}


def height_of(clip: Clip, up: Array) -> float:
    """Returns the figure's height in the clip's units: at rest if that is upright, otherwise in its tallest frame."""
    at_rest, moving = upright(clip)
    bones = clip.skeleton
    resting = replace(clip, rotations=bones.rest[None], translations=bones.offsets[None])
    size = float(np.linalg.norm(moving, axis=1).max(initial=0.0))
    stands = at_rest @ up > RESTING_SHARE * size
    heights = []
    for pose in (resting,) if stands else (resting, clip):
        places, turns = pose.world()
        z = [places @ up]
        for joint, end in bones.ends:
            z.append((places[:, joint] + spatial.rotate(turns[:, joint], np.array(end))) @ up[:, None])
        spread = np.concatenate(z, axis=1)
        heights.append(float((spread.max(axis=1) - spread.min(axis=1)).max()))
    return heights[0] if stands or size == 0.0 else heights[-1]


def likely_height(clip: Clip, up: str | None) -> float:
    """Returns the figure's height in the clip's units; the up axis is given or guessed."""
    few = probes(clip)
    return height_of(few, axis(up if up is not None else _guess_up(few)[0]))


def _guess_up(few: Clip) -> tuple[str, str]:
    at_rest, moving = upright(few)
    size, longest = float(np.linalg.norm(at_rest)), float(np.linalg.norm(moving, axis=1).max(initial=0.0))
    stretched = size > RESTING_SHARE * longest and np.abs(at_rest).max() > ALONG_AXIS * size  # rests standing
    way = at_rest if stretched else moving.mean(axis=0)
    if longest > 0.0:
        best = int(np.argmax(np.abs(way)))
        sign = "" if way[best] > 0 else "-"
        return sign + "xyz"[best], f"from feet to head {'at rest' if stretched else 'in its movement'}"
    rest, _ = few.skeleton.world()
    spread = rest.max(axis=0) - rest.min(axis=0)
    if spread[2] > 1.5 * spread[1]:
        return "z", "the figure is tallest that way"
    return "y", "as is usual"


def _guess_forward(few: Clip, up: str) -> tuple[str, str]:
    """Returns the signed axis nearest to left x up at rest, or the usual one if the rest pose does not stand."""
    u = axis(up)
    bones = few.skeleton
    at_rest, moving = upright(few)
    stands = at_rest @ u > RESTING_SHARE * float(np.linalg.norm(moving, axis=1).max(initial=0.0))
    resting = replace(few, rotations=bones.rest[None], translations=bones.offsets[None])
    left = left_of(resting) if stands else None
    if left is not None:
        ahead = np.cross(left, u)
        best = int(np.argmax(np.abs(ahead)))
        if abs(ahead[best]) > 0.8 * float(np.linalg.norm(ahead)) > 0.0:
            return ("" if ahead[best] > 0 else "-") + "xyz"[best], "left limbs are on its left"
    usual = USUAL_FORWARD[up[-1].lower()]
    return usual, "as is usual"


def _guess_units(few: Clip, up: Array) -> tuple[float, str]:
    size = height_of(few, up)
    if not size > 0.0:
        return 1.0, "units taken as metres: the figure has no height to guess from"
    heights = {name: size * UNITS[name] for name in _GUESSES}
    low, high = POSSIBLE_HEIGHT
    if {name.lower() for name in few.skeleton.names} >= CMU_JOINTS and low <= heights["cmu"] <= high:
        unit = f"cmu ({UNITS['cmu']:.6g} m)"
        return UNITS["cmu"], f"units by joint names: {unit}, so that the figure is {heights['cmu']:.2f} m tall"
    low, high = _PERSON
    likely = [name for name in _GUESSES if low <= heights[name] <= high] or list(_PLAIN)
    name = min(likely, key=lambda name: abs(float(np.log(heights[name] / _USUAL_HEIGHT))))
    return UNITS[name], f"units guessed: {name} ({UNITS[name]:.6g} m), so that the figure is {heights[name]:.2f} m tall"


__all__ = [
    "INCH",
    "POSSIBLE_HEIGHT",
    "UNITS",
    "USUAL_FORWARD",
    "axis",
    "height_of",
    "into_ours",
    "likely_height",
    "metres",
    "to_ours",
]
