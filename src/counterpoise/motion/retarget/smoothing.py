"""Smooth curves through values with weights, and runs and times of flags, within stretches between cuts.

`cuts` are the first frames of the stretches, and the end.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.linalg import solveh_banded

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.motion.contacts import runs

NO_TIME = 1e3  # [s] the time to the nearest True if there is none


def smoothest(values: Array, weights: Array, lean: Array, pull: float, span: float, cuts: Ints) -> Array:
    """Returns, for each stretch, the x (n, k) that minimises sum w |x - v|^2 + pull |x - lean|^2 + span^4 |x''|^2.

    Derivatives are by frame: where weights are one, changes shorter than `span` frames are smoothed away. Forwards and
    backwards in time give the same.
    """
    out = np.empty_like(values)
    stiff = max(span, 0.5) ** 4
    for first, last in itertools.pairwise(cuts):
        n = int(last - first)
        w, v, p = weights[first:last], values[first:last], lean[first:last]
        band = np.zeros((3, n))
        band[0] = w + pull
        if n >= 3:
            for k, c in enumerate((1.0, -2.0, 1.0)):
                band[0, k : n - 2 + k] += stiff * c * c
            band[1, : n - 2] += -2.0 * stiff
            band[1, 1 : n - 1] += -2.0 * stiff
            band[2, : n - 2] += stiff
        right = w[:, None] * v + pull * p
        out[first:last] = solveh_banded(band[: min(n, 3)], right, lower=True) if n > 1 else right / band[0][:, None]
    return out


def runs_within(flags: Flags, cuts: Ints) -> list[tuple[int, int]]:
    """Returns the runs of True (first, one past the last), none of them across a cut."""
    return [
        (int(first) + a, int(first) + b) for first, last in itertools.pairwise(cuts) for a, b in runs(flags[first:last])
    ]


def seconds_to(flags: Flags, times: Array) -> Array:
    """Returns the time to the nearest True [s]; NO_TIME if there is none."""
    at = np.flatnonzero(flags)
    if len(at) == 0:
        return np.full(len(times), NO_TIME)
    after = np.clip(np.searchsorted(at, np.arange(len(times))), 0, len(at) - 1)
    before = np.maximum(after - 1, 0)
    return np.minimum(np.abs(times[at[after]] - times), np.abs(times[at[before]] - times))


def seconds_to_within(flags: Flags, times: Array, cuts: Ints) -> Array:
    """Returns the time to the nearest True of the same stretch [s]."""
    out = np.empty(len(times))
    for first, last in itertools.pairwise(cuts):
        out[first:last] = seconds_to(flags[first:last], times[first:last])
    return out
