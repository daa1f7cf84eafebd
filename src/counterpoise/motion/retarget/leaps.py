"""Leaps of a fit: joints that are much faster than any of the source's, because a fit has changed to another minimum.

A frame is fitted from the one before it, so a clip fitted forwards and backwards may be in different minima at the same
frame. Of the two fits the one with the smaller error and the fewer leaps is taken, frame by frame; what still leaps is
led over by a smooth curve.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.character.anatomy import Anatomy
from counterpoise.character.joints import Joint
from counterpoise.motion.contacts import runs
from counterpoise.motion.curves import ease

CAPTURED_LEAP = 25.0  # [rad/s] no part of a body turns faster: faster captures leap themselves and do not count
HARDLY_SEEN = ("toe", "finger", "thumb")  # parts that markers hardly show
LEAP_PRICE = 4.0  # cost of a leap at twice the limit, beside squared direction errors [rad^2] of one frame
SMOOTH_PEAK = 1.5  # peak over mean speed of a smooth step
CALM_SHARE = 0.7  # of the limit that a curve over a leap keeps to
MARGIN = 2  # frames beside a leap that are led over as well


def source_speed(source: Anatomy, bodies: Collection[int], turns: Array, times: Array) -> float:
    """Returns the speed of the source's fastest joint [rad/s] of `bodies`; `turns` (n, bodies, 4) are its frames."""
    if len(times) < 2:
        return 0.0
    dt, top, names = np.diff(times), 0.0, source.character.model
    for body in bodies:
        if any(part in names.body(body).name.lower() for part in HARDLY_SEEN) or source.parents[body] <= 0:
            continue
        own = spatial.multiply(spatial.conjugate(turns[:, source.parents[body]]), turns[:, body])
        rate = _angles(own) / dt
        top = max(top, float(rate[rate <= CAPTURED_LEAP].max(initial=0.0)))
    return top


def joint_speeds(character: Character, poses: Array, times: Array) -> Array:
    """Returns how fast each turning joint but the root moves from frame to frame (n - 1, joints) [rad/s]."""
    steps = [_steps(joint, poses) for joint in turning_joints(character)]
    return np.stack(steps, axis=1) / np.diff(times)[:, None] if steps else np.zeros((len(times) - 1, 0))


def turning_joints(character: Character) -> list[Joint]:
    """Returns the hinges and balls of a character."""
    return [joint for joint in character.joints if joint.kind in ("hinge", "ball")]


def _steps(joint: Joint, poses: Array) -> Array:
    """How far a joint turns from frame to frame (n - 1,) [rad]."""
    own = poses[:, joint.qpos]
    return np.abs(np.diff(own[:, 0])) if joint.kind == "hinge" else _angles(own)


def _angles(quaternions: Array) -> Array:
    same = np.abs(np.sum(quaternions[1:] * quaternions[:-1], axis=-1))
    return np.asarray(2.0 * np.arccos(np.clip(same, 0.0, 1.0)))


def has_leaps(character: Character, poses: Array, times: Array, cuts: Ints, limit: float) -> bool:
    """Returns whether any joint is faster than a limit [rad/s], where the clip is not cut."""
    return bool(_leaping(character, poses, times, cuts, limit).any())


def _leaping(character: Character, poses: Array, times: Array, cuts: Ints, limit: float) -> Flags:
    """(n - 1, joints) whether a joint leaps after a frame."""
    out = joint_speeds(character, poses, times) > limit
    out[np.asarray(cuts[1:-1], np.int64) - 1] = False
    return out


def better_of_two(
    character: Character, one: Array, two: Array, errors: tuple[Array, Array], times: Array, cuts: Ints, limit: float
) -> Array:
    """Returns poses (n, nq), each of the first or second fit, with the least sum of errors and leaps.

    `errors` (n,) are the squared direction errors of the two fits; the path is found by dynamic programming.
    """
    fits, n = (one, two), len(one)
    price = np.zeros((2, 2, max(n - 1, 0)))  # of going from fit i to fit k after each frame
    for i, k in itertools.product((0, 1), (0, 1)):
        mixed = np.empty((2 * (n - 1), one.shape[1]))
        mixed[0::2], mixed[1::2] = fits[i][:-1], fits[k][1:]
        steps = [_steps(joint, mixed)[0::2] for joint in turning_joints(character)]
        rate = np.stack(steps, axis=1) / np.diff(times)[:, None] if steps else np.zeros((n - 1, 0))
        price[i, k] = LEAP_PRICE * (np.maximum(rate / limit - 1.0, 0.0) ** 2).sum(axis=1)
    price[:, :, np.asarray(cuts[1:-1], np.int64) - 1] = 0.0
    best, came = np.array([errors[0][0], errors[1][0]]), np.zeros((n, 2), np.int64)
    for f in range(1, n):
        total = best[:, None] + price[:, :, f - 1]
        came[f] = total.argmin(axis=0)
        best = total.min(axis=0) + np.array([errors[0][f], errors[1][f]])
    which = np.empty(n, np.int64)
    which[-1] = int(best.argmin())
    for f in range(n - 1, 0, -1):
        which[f - 1] = came[f, which[f]]
    return np.where(which[:, None] == 0, one, two)


def led_over(character: Character, poses: Array, times: Array, cuts: Ints, limit: float) -> tuple[Array, list[slice]]:
    """Returns poses in which joints that leap go over smoothly, each over the time it needs, and the frames changed."""
    out, changed = poses.copy(), list[slice]()
    if len(times) < 3:
        return out, changed
    dt = float(np.median(np.diff(times)))
    leaping = _leaping(character, poses, times, cuts, limit)
    for k, joint in enumerate(turning_joints(character)):
        for first, last in itertools.pairwise(cuts):
            spans = runs(leaping[first : last - 1, k])
            for a, b in _merged(
                [(first + a, first + b) for a, b in spans], out, joint, dt, limit, int(first), int(last)
            ):
                _lead(out, joint, a, b)
                changed.append(slice(a, b + 1))
    return out, _joined(changed)


def _merged(
    spans: list[tuple[int, int]], poses: Array, joint: Joint, dt: float, limit: float, first: int, last: int
) -> list[tuple[int, int]]:
    """Windows (frame before, frame after) wide enough to go over at a calm speed; those that touch become one."""
    windows = [[max(a - MARGIN, first), min(b + MARGIN, last - 1)] for a, b in spans]
    for _ in range(len(poses)):
        grown = False
        for w in windows:
            way = _steps(joint, poses[[w[0], w[1]]])[0]
            if SMOOTH_PEAK * way > CALM_SHARE * limit * dt * (w[1] - w[0]) and (w[0] > first or w[1] < last - 1):
                w[0], w[1], grown = max(w[0] - 1, first), min(w[1] + 1, last - 1), True
        joined: list[list[int]] = []
        for w in windows:
            if joined and w[0] <= joined[-1][1]:
                joined[-1][1] = max(w[1], joined[-1][1])
            else:
                joined.append(w)
        if not grown and len(joined) == len(windows):
            break
        windows = joined
    return [(w[0], w[1]) for w in windows]


def _lead(poses: Array, joint: Joint, a: int, b: int) -> None:
    """Leads one joint smoothly from its pose in frame a to that in frame b."""
    share = ease(np.linspace(0.0, 1.0, b - a + 1), "smooth")
    start, end = poses[a, joint.qpos].copy(), poses[b, joint.qpos].copy()
    if joint.kind == "hinge":
        poses[a : b + 1, joint.qpos] = start + share[:, None] * (end - start)
        return
    end = end if start @ end >= 0.0 else -end
    n = len(share)
    poses[a : b + 1, joint.qpos] = spatial.slerp(np.tile(start, (n, 1)), np.tile(end, (n, 1)), share)


def _joined(spans: list[slice]) -> list[slice]:
    """Slices in order, those that touch as one."""
    out: list[slice] = []
    for span in sorted(spans, key=lambda s: (s.start, s.stop)):
        if out and span.start <= out[-1].stop:
            out[-1] = slice(out[-1].start, max(span.stop, out[-1].stop))
        else:
            out.append(span)
    return out
