"""glTF animation channels as values at even frames: LINEAR, STEP and CUBICSPLINE, and the rate guessed from keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.files import Refused
from counterpoise.motion.files.glb import Document, index_of, member, positive

MODES = ("LINEAR", "STEP", "CUBICSPLINE")
USUAL_RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0, 240.0)
_BROADCAST = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)
_KINDS = {"rotation": "VEC4", "translation": "VEC3", "scale": "VEC3"}
_ON_FRAME = 0.02  # of a frame: keys this near a frame count as on it, because 32-bit times are not exact
MIN_RATE, MAX_RATE = 1e-4, 1e5  # [frames/s]
DEFAULT_RATE = 60.0  # [frames/s] if no rate fits the keys
SINGLE_KEY_RATE = 30.0  # [frames/s]
MIN_OWN_RATE = 10.0  # [frames/s] keys further apart are keyframes, not frames
MAX_CELLS = 4_000_000  # frames times joints that a file may have whatever its size


@dataclass(frozen=True)
class Channel:
    """One animated property of one node, and where its keys are."""

    node: int
    path: str  # rotation, translation or scale
    mode: str
    input: int  # accessor of the key times
    output: int  # accessor of the values
    where: str


def channels_of(doc: Document, index: int) -> list[Channel]:
    """Returns the channels of an animation that move, turn or scale nodes."""
    animation, where = doc.items("animations")[index], f"/animations/{index}"
    samplers = member(animation, where, "samplers", list)
    accessors, nodes = len(doc.items("accessors")), len(doc.items("nodes"))
    out, seen = [], set()
    for i, channel in enumerate(member(animation, where, "channels", list)):
        at = f"{where}/channels/{i}"
        if not isinstance(channel, dict):
            raise Refused(f"{at} is not an object")
        target = member(channel, at, "target", dict)
        path = member(target, f"{at}/target", "path", str)
        if "node" not in target or path not in _KINDS:  # morph weights and extensions move no joint
            continue
        node = index_of(target, f"{at}/target", "node", nodes, "a node")
        if (node, path) in seen:
            raise Refused(f"{at}: the {path} of node {node} is animated twice")
        seen.add((node, path))
        which = index_of(channel, at, "sampler", len(samplers), "a sampler")
        sampler, there = samplers[which], f"{where}/samplers/{which}"
        if not isinstance(sampler, dict):
            raise Refused(f"{there} is not an object")
        mode = member(sampler, there, "interpolation", str, "LINEAR")
        if mode not in MODES:
            raise Refused(f"{there}/interpolation is {mode[:40]!r}, none of {', '.join(MODES)}")
        times, values = (index_of(sampler, there, name, accessors, "an accessor") for name in ("input", "output"))
        out.append(Channel(node, path, mode, times, values, there))
    return out


def key_times(doc: Document, channel: Channel) -> Array:
    """Returns the times of a channel's keys, (k,) [s]."""
    times: Array = doc.accessor(channel.input, "SCALAR")[:, 0].astype(np.float64)
    if times[0] < 0.0 or np.any(np.diff(times) <= 0.0):
        key = int(np.argmax(np.diff(times, prepend=-1.0) <= 0.0)) if times[0] >= 0.0 else 0
        raise Refused(f"/accessors/{channel.input}: key times must be at least 0 and increase; key {key} does not")
    return times


def key_values(doc: Document, channel: Channel, keys: int) -> Array:
    """Returns the values of a channel's keys, (k, width); of a cubic spline (3 k, width), with tangents around each."""
    wanted = keys * (3 if channel.mode == "CUBICSPLINE" else 1)
    if doc.count(channel.output) != wanted:
        given = doc.count(channel.output)
        raise Refused(f"/accessors/{channel.output}/count is {given}; {keys} {channel.mode} keys need {wanted}")
    values: Any = doc.accessor(channel.output, _KINDS[channel.path])
    doc.forget(channel.output)
    if values.dtype.kind != "f":
        raise Refused(f"/accessors/{channel.output} holds whole numbers; they must be normalized, or floats")
    if channel.path == "rotation":
        real = values[1::3] if channel.mode == "CUBICSPLINE" else values
        lengths = np.linalg.norm(real, axis=1)
        if lengths.min() < 1e-3:
            raise Refused(f"/accessors/{channel.output}: the rotation of key {int(np.argmin(lengths))} has no length")
    return np.asarray(values, dtype=np.float64)


def sample(times: Array, values: Array, channel: Channel, at: Array) -> Array:
    """Returns a channel's values (f, width) at times `at`; constant before its first key and after its last.

    glTF 2.0, appendix C: LINEAR turns along the shorter great arc, CUBICSPLINE is Hermite's cubic with tangents per
    second, p(s) = (2s^3 - 3s^2 + 1) v_k + h (s^3 - 2s^2 + s) b_k + (-2s^3 + 3s^2) v_(k+1) + h (s^3 - s^2) a_(k+1).
    """
    turning = channel.path == "rotation"
    cubic = channel.mode == "CUBICSPLINE"
    keys = values[1::3] if cubic else values
    if turning and not cubic:
        keys = spatial.normalize(keys)
    last = len(times) - 1
    here = np.clip(np.searchsorted(times, at, side="right") - 1, 0, last)
    if last == 0 or channel.mode == "STEP":
        out = keys[here]
        return spatial.normalize(out) if turning else out
    k = np.minimum(here, last - 1)
    h = times[k + 1] - times[k]
    s = np.clip((at - times[k]) / h, 0.0, 1.0)
    if not cubic:
        if turning:
            out = spatial.slerp(np.roll(keys[k], 1, axis=1), np.roll(keys[k + 1], 1, axis=1), s)
            return np.roll(out, -1, axis=1)
        return keys[k] + s[:, None] * (keys[k + 1] - keys[k])
    s, h = s[:, None], h[:, None]
    held = (at[:, None] < times[0]) | (at[:, None] > times[-1])
    out = (
        (2 * s**3 - 3 * s**2 + 1) * keys[k]
        + h * (s**3 - 2 * s**2 + s) * values[2::3][k]
        + (3 * s**2 - 2 * s**3) * keys[k + 1]
        + h * (s**3 - s**2) * values[0::3][k + 1]
    )
    out = np.where(held, keys[here], out)
    if turning:
        if np.linalg.norm(out, axis=1).min() < 1e-6:
            raise Refused(f"{channel.where}: its cubic spline passes through a rotation of no length")
        return spatial.normalize(out)
    return out


def frame_times(doc: Document, index: int, inputs: list[Array], rate: float | None) -> tuple[Array, float, bool]:
    """Returns times of even frames from the first key to the last, their rate, and whether the rate was guessed."""
    keys = np.unique(np.concatenate(inputs))
    start, end = float(keys[0]), float(keys[-1])
    guessed = rate is None
    if rate is None:
        extras = doc.items("animations")[index].get("extras")
        given = positive(extras, "rate") if isinstance(extras, dict) else None
        guessed = given is None or not _on_frames(keys, given)
        rate = guess_rate(keys) if given is None or guessed else given
    if not MIN_RATE <= rate <= MAX_RATE:
        raise Refused(f"its keys mean {rate:g} frames/s; {MIN_RATE:g} to {MAX_RATE:g} can be read")
    if (end - start) * rate > MAX_CELLS:
        raise Refused(f"its keys run from {start:g} to {end:g} s, which at {rate:g} frames/s is more than can be read")
    frames = round((end - start) * rate) + 1
    at = start + np.arange(frames) / rate
    near = keys[np.clip(np.searchsorted(keys, at), 0, len(keys) - 1)]
    before = keys[np.clip(np.searchsorted(keys, at) - 1, 0, len(keys) - 1)]
    near = np.where(np.abs(before - at) < np.abs(near - at), before, near)
    return np.where(np.abs(near - at) < _ON_FRAME / rate, near, at), float(rate), guessed


def guess_rate(keys: Array) -> float:
    """Returns the rate that puts every key on a frame: by the keys' spacing, or the slowest usual rate; else 60."""
    if len(keys) < 2:
        return SINGLE_KEY_RATE
    spacing = float(np.median(np.diff(keys)))
    own = 1.0 / spacing
    if _on_frames(keys, own):
        own = round((keys[-1] - keys[0]) / spacing) / float(keys[-1] - keys[0])
        for usual in (float(max(1, round(own))), *_BROADCAST):
            if abs(own - usual) < 2e-4 * usual and _on_frames(keys, usual):
                own = usual
                break
        if own >= MIN_OWN_RATE:
            return own
    for usual in USUAL_RATES:
        if _on_frames(keys, usual):
            return usual
    return DEFAULT_RATE


def _on_frames(keys: Array, rate: float) -> bool:
    """Returns whether every key is on a frame of its own at this rate."""
    place = (keys - keys[0]) * rate
    rounding = 4.0 * np.spacing(keys.astype(np.float32)).astype(np.float64) * rate
    room = np.clip(rounding, _ON_FRAME, 0.25)
    return bool(np.all(np.abs(place - np.round(place)) <= room) and np.all(np.diff(np.round(place)) > 0.0))


__all__ = ["Channel", "channels_of", "frame_times", "guess_rate", "key_times", "key_values", "sample"]
