"""Captured legs made believable: what a marker fit cannot see is not copied.

How a straight leg is turned about its own bone is hardly seen by markers: captured thighs flip over within a few
frames, and feet turn about the ankle as no foot can. The twist of a thigh is therefore read from the plane in which its
knee bends, where it bends, and carried smoothly through where it does not; a foot turned too far against its shank is
led back.
"""

from __future__ import annotations

import itertools

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.motion.retarget.footing import smoothest
from counterpoise.motion.retarget.mapping import Link, Pairing

LEAP = 25.0  # [rad/s] nothing in a body turns this fast from frame to frame; where it does ...
CALM = 0.02  # [s] ... it is smoothed over this (one standard deviation)
SPAN = 0.05  # [s] over which a twist is carried through
HINT = 0.05  # weight of the captured twist, against sin^2 of the knee's bend ...
AHEAD = 0.02  # weight of a knee that points where the hips do
SWIFT = 12.0  # [rad/s] ... at rest; a twist this fast is hardly believed
CROOKED = 1.5  # [rad] a foot turned this far against its shank is half believed ...
CARRIED = 0.8  # [rad] ... and so is one this far against the hips, on a leg of other bones than its source's


def without_leaps(wanted: Array, times: Array, cuts: Ints) -> Array:
    """Turns (n, links, 4) as they are, but smoothed over a few frames where one leaps as no joint can."""
    out = wanted.copy()
    if len(times) < 3:
        return out
    dt = float(np.median(np.diff(times)))
    reach = max(2, round(3.0 * CALM / dt))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * dt / CALM) ** 2)
    for first, last in itertools.pairwise(cuts):
        if last - first < 3:
            continue
        for k in range(wanted.shape[1]):
            part = wanted[first:last, k]
            rate = np.linalg.norm(spatial.difference(part[:-1], part[1:]), axis=-1) / dt
            wild = (rate > LEAP).astype(np.float64)
            if not wild.any():
                continue
            share = _eased(np.maximum(np.append(wild, 0.0), np.append(0.0, wild)), reach)
            padded = np.pad(spatial.align_signs(part), ((reach, reach), (0, 0)), mode="edge")
            views = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
            calm = spatial.normalize(views @ weights)
            out[first:last, k] = spatial.align_signs(spatial.slerp(part, calm, share))
    return out


def steady_legs(pairing: Pairing, wanted: Array, times: Array, cuts: Ints) -> Array:
    """Turns (n, links, 4) in which thighs twist with the plane of their knees, and shanks with their thighs."""
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
        told = spatial.rotate(wanted[:, k], across / np.linalg.norm(across))
        hint = np.sum(told * ours, axis=1) + 1j * np.sum(told * other, axis=1)
        rate = np.abs(np.angle(hint[1:] * np.conj(hint[:-1]))) / dt
        rate = np.maximum(np.append(rate, rate[-1]), np.append(rate[0], rate))
        weight = HINT / (1.0 + (rate / SWIFT) ** 4)
        sine = np.abs(seen)
        belief = np.ones(len(times))
        for _ in range(3):  # a knee bent the wrong way is straight: it says nothing
            sure = sine**2 * belief
            total = sure + weight + AHEAD
            mean = (seen * sine * belief + hint * weight + AHEAD) / total
            flat = smoothest(
                np.stack([mean.real, mean.imag], axis=1), total, np.zeros((len(times), 2)), 1e-6, SPAN / dt, cuts
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
    """Turns (n, links, 4) in which a foot (or its toes) turned too far against what it hangs on is led back to rest."""
    out = wanted.copy()
    index = {link.body: k for k, link in enumerate(pairing.links)}
    dt = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    for k, link in enumerate(pairing.links):
        led = link.mode == "aim"  # bone by bone; else the leg is led by its end, and its foot is compared with the hips
        parent = pairing.target.parents[link.body] if led else pairing.target.hips
        if not link.limb.startswith("foot") or parent not in index:
            continue
        rest = _attached(pairing, out[:, index[parent]], parent, link.body)
        doubt = np.linalg.norm(spatial.difference(rest, out[:, k]), axis=-1) / (CROOKED if led else CARRIED)
        for first, last in itertools.pairwise(cuts):
            doubt[first:last] = _eased(doubt[first:last], max(1, round(0.04 / dt)))
        out[:, k] = spatial.align_signs(spatial.slerp(rest, out[:, k], 1.0 / (1.0 + doubt**6)))
    return out


def _attached(pairing: Pairing, turns: Array, parent: int, body: int) -> Array:
    """How a body is turned while its joints to `parent` are at rest."""
    rest = pairing.target.turns
    return spatial.multiply(turns, spatial.multiply(spatial.conjugate(rest[parent]), rest[body]))


def _below(pairing: Pairing, upper: Link) -> Link | None:
    chain = pairing.target.limbs.get(upper.limb, ())
    if not upper.limb.startswith("leg") or upper.mode != "aim" or upper.body not in chain[:-1]:
        return None
    body = chain[chain.index(upper.body) + 1]
    return next((link for link in pairing.links if link.body == body and link.mode == "aim"), None)


def _hinge(pairing: Pairing, upper: Link, lower: Link) -> Array | None:
    """The axis (3,), in the upper body's frame, about which the lower one bends; a knee bends backwards."""
    target = pairing.target
    model = target.character.model
    joint = int(model.body_jntadr[lower.body])
    if model.body_jntnum[lower.body] == 1 and int(model.jnt_type[joint]) == 3:
        low, high = (float(x) for x in model.jnt_range[joint]) if model.jnt_limited[joint] else (0.0, 1.0)
        axis = spatial.rotate(model.body_quat[lower.body], model.jnt_axis[joint]) * (1.0 if low + high >= 0.0 else -1.0)
    else:
        from counterpoise.motion.retarget.mapping import rest_facing

        left = spatial.rotate(rest_facing(target), np.array([0.0, 1.0, 0.0]))
        axis = spatial.rotate(spatial.conjugate(target.turns[upper.body]), left)
    across = axis - (axis @ upper.axis) * upper.axis
    return axis if np.linalg.norm(across) > 0.3 else None


def _eased(values: Array, reach: int) -> Array:
    """The largest of the neighbours, then their mean: never below the values, and smooth."""
    padded = np.pad(values, reach, mode="edge")
    high = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=-1)
    padded = np.pad(high, reach, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).mean(axis=-1))
