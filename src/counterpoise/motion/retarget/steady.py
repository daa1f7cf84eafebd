"""Corrections of captured legs: what markers cannot show is not copied.

Markers hardly show how a straight leg is turned about its own bone: captured thighs flip over within a few frames, and
feet turn about the ankle further than a foot can. The twist of a thigh is therefore estimated from the plane in which
its knee bends, and interpolated smoothly where the knee is straight. A foot turned too far against its shank is turned
back.
"""

from __future__ import annotations

import itertools

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.motion.retarget.links import HINGE, Link, Pairing, rest_facing
from counterpoise.motion.retarget.smoothing import smoothest

MAX_TURN_RATE = 25.0  # [rad/s] no part of a body turns faster; where the capture does ...
LEAP_SMOOTHING = 0.02  # [s] ... it is smoothed over this (one standard deviation)
TWIST_SPAN = 0.05  # [s] over which the twist of a thigh is interpolated
CAPTURED_TWIST_WEIGHT = 0.05  # of the captured twist while it turns slowly, against sin^2 of the knee's bend ...
DOUBTFUL_TWIST_RATE = 12.0  # [rad/s] ... of which half is left at this speed
FORWARD_KNEE_WEIGHT = 0.02  # of a knee that points where the hips do
DOUBTFUL_ANKLE = 1.5  # [rad] a foot turned this far against its shank counts half ...
DOUBTFUL_FOOT = 0.8  # [rad] ... and so does one turned this far against the hips, of a leg that is reached by its end
FOOT_DOUBT_SPAN = 0.04  # [s] over which that doubt is spread


def without_leaps(wanted: Array, times: Array, cuts: Ints) -> Array:
    """Returns the rotations (n, links, 4), smoothed over a few frames where one is faster than a joint can be."""
    out = wanted.copy()
    if len(times) < 3:
        return out
    dt = float(np.median(np.diff(times)))
    reach = max(2, round(3.0 * LEAP_SMOOTHING / dt))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * dt / LEAP_SMOOTHING) ** 2)
    for first, last in itertools.pairwise(cuts):
        if last - first < 3:
            continue
        for k in range(wanted.shape[1]):
            part = wanted[first:last, k]
            rate = np.linalg.norm(spatial.difference(part[:-1], part[1:]), axis=-1) / dt
            wild = (rate > MAX_TURN_RATE).astype(np.float64)
            if not wild.any():
                continue
            share = _eased(np.maximum(np.append(wild, 0.0), np.append(0.0, wild)), reach)
            padded = np.pad(spatial.align_signs(part), ((reach, reach), (0, 0)), mode="edge")
            views = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
            calm = spatial.normalize(views @ weights)
            out[first:last, k] = spatial.align_signs(spatial.slerp(part, calm, share))
    return out


def steady_legs(pairing: Pairing, wanted: Array, times: Array, cuts: Ints) -> Array:
    """Returns the rotations (n, links, 4) with thighs twisted as their knees bend, and shanks as their thighs."""
    out = wanted.copy()
    if len(times) < 3:
        return out
    target = pairing.target
    index = {link.body: k for k, link in enumerate(pairing.links)}
    hips = index.get(target.hips)
    dt = float(np.median(np.diff(times)))
    for k, upper in enumerate(pairing.links):
        lower = _below(pairing, upper)
        if hips is None or lower is None or upper.share or lower.share:
            continue
        axis = _hinge(pairing, upper, lower)
        if axis is None:
            continue
        j = index[lower.body]
        base = _attached(pairing, out[:, hips], target.hips, upper.body)
        bone = spatial.rotate(wanted[:, k], upper.axis)
        low = spatial.rotate(wanted[:, j], lower.axis)
        carried = spatial.multiply(spatial.from_two_vectors(spatial.rotate(base, upper.axis), bone), base)
        across = axis - (axis @ upper.axis) * upper.axis
        ours = spatial.rotate(carried, across / np.linalg.norm(across))
        other = np.cross(bone, ours)
        bend = np.cross(bone, low)  # as long as the sine of the bend
        seen = np.sum(bend * ours, axis=1) + 1j * np.sum(bend * other, axis=1)
        captured = spatial.rotate(wanted[:, k], across / np.linalg.norm(across))
        hint = np.sum(captured * ours, axis=1) + 1j * np.sum(captured * other, axis=1)
        rate = np.abs(np.angle(hint[1:] * np.conj(hint[:-1]))) / dt
        rate = np.maximum(np.append(rate, rate[-1]), np.append(rate[0], rate))
        weight = CAPTURED_TWIST_WEIGHT / (1.0 + (rate / DOUBTFUL_TWIST_RATE) ** 4)
        sine = np.abs(seen)
        belief = np.ones(len(times))
        for _ in range(3):  # a knee that is bent the wrong way counts as straight
            sure = sine**2 * belief
            total = sure + weight + FORWARD_KNEE_WEIGHT
            mean = (seen * sine * belief + hint * weight + FORWARD_KNEE_WEIGHT) / total
            flat = smoothest(
                np.stack([mean.real, mean.imag], axis=1), total, np.zeros((len(times), 2)), 1e-6, TWIST_SPAN / dt, cuts
            )
            best = flat[:, 0] + 1j * flat[:, 1]
            belief = np.clip(np.real(seen * np.conj(best)) / np.maximum(sine * np.abs(best), 1e-9), 0.0, 1.0) ** 2
        angle = np.arctan2(flat[:, 1], flat[:, 0])
        out[:, k] = spatial.align_signs(spatial.multiply(carried, spatial.from_axis_angle(upper.axis, angle)))
        shank = _attached(pairing, out[:, k], upper.body, lower.body)
        out[:, j] = spatial.align_signs(
            spatial.multiply(spatial.from_two_vectors(spatial.rotate(shank, lower.axis), low), shank)
        )
    return out


def believable_feet(pairing: Pairing, wanted: Array, times: Array, cuts: Ints) -> Array:
    """Returns the rotations (n, links, 4) with feet (and toes) that are turned too far turned back towards rest."""
    out = wanted.copy()
    index = {link.body: k for k, link in enumerate(pairing.links)}
    dt = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    for k, link in enumerate(pairing.links):
        led = (
            link.mode == "aim"
        )  # bone by bone; else the leg is reached by its end, and the foot compared with the hips
        parent = pairing.target.parents[link.body] if led else pairing.target.hips
        if not link.limb.startswith("foot") or parent not in index:
            continue
        rest = _attached(pairing, out[:, index[parent]], parent, link.body)
        doubt = np.linalg.norm(spatial.difference(rest, out[:, k]), axis=-1) / (
            DOUBTFUL_ANKLE if led else DOUBTFUL_FOOT
        )
        for first, last in itertools.pairwise(cuts):
            doubt[first:last] = _eased(doubt[first:last], max(1, round(FOOT_DOUBT_SPAN / dt)))
        out[:, k] = spatial.align_signs(spatial.slerp(rest, out[:, k], 1.0 / (1.0 + doubt**6)))
    return out


def _attached(pairing: Pairing, turns: Array, parent: int, body: int) -> Array:
    """Returns the rotations of a body while its joints up to `parent` are at rest."""
    rest = pairing.target.turns
    return spatial.multiply(turns, spatial.multiply(spatial.conjugate(rest[parent]), rest[body]))


def _below(pairing: Pairing, upper: Link) -> Link | None:
    """Returns the link of the next body of the same leg."""
    chain = pairing.target.limbs.get(upper.limb, ())
    if not upper.limb.startswith("leg") or upper.mode != "aim" or upper.body not in chain[:-1]:
        return None
    body = chain[chain.index(upper.body) + 1]
    return next((link for link in pairing.links if link.body == body and link.mode == "aim"), None)


def _hinge(pairing: Pairing, upper: Link, lower: Link) -> Array | None:
    """Returns the axis (3,), in the upper body's frame, about which the lower one bends; knees bend backwards."""
    target = pairing.target
    model = target.character.model
    joint = int(model.body_jntadr[lower.body])
    if model.body_jntnum[lower.body] == 1 and int(model.jnt_type[joint]) == HINGE:
        low, high = (float(x) for x in model.jnt_range[joint]) if model.jnt_limited[joint] else (0.0, 1.0)
        axis = spatial.rotate(model.body_quat[lower.body], model.jnt_axis[joint]) * (1.0 if low + high >= 0.0 else -1.0)
    else:
        left = spatial.rotate(rest_facing(target), np.array([0.0, 1.0, 0.0]))
        axis = spatial.rotate(spatial.conjugate(target.turns[upper.body]), left)
    across = axis - (axis @ upper.axis) * upper.axis
    return axis if np.linalg.norm(across) > 0.3 else None


def _eased(values: Array, reach: int) -> Array:
    """Returns the largest of the neighbours, then their mean: smooth, and never below the values."""
    padded = np.pad(values, reach, mode="edge")
    high = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=-1)
    padded = np.pad(high, reach, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).mean(axis=-1))
