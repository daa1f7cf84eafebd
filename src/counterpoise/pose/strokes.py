"""Recorded strokes: a hand's jittery samples at uneven times, made into a spline with few control points.

The curve is the C2 cubic spline of `motion.curves` through values at knots, and for given knots its least-squares fit
is linear: minimise |B y - x|^2, where column j of B is the spline through 1 at knot j and 0 at the others. Knots are
put where the misfit is, until the root mean square comes down to the tremble of the hand, and taken out again where
they are not needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.motion.curves import VectorCurve

FINEST = 2e-4  # [m]: no stroke is fitted closer than this unless asked
MOST = 160  # control points
_FAR = 1e6  # [m, s]


def read_stroke(samples: ArrayLike, times: ArrayLike | None) -> tuple[Array, Array]:
    """Checked times (n,) and places (n, 3); samples of the same moment are averaged into one."""
    try:
        raw = np.array(samples, dtype=np.float64)
        when = None if times is None else np.array(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("a stroke is numbers: samples (n, 4) of t, x, y, z, or points (n, 3) with times (n,)") from None
    width = 4 if when is None else 3
    if raw.ndim != 2 or raw.shape[1] != width:
        cure = "(n, 4) of t, x, y, z, or (n, 3) with times" if when is None else "(n, 3) beside its times"
        raise BadValue(f"a stroke's samples have shape {cure}; got {raw.shape}", shape=raw.shape)
    t, x = (raw[:, 0], raw[:, 1:]) if when is None else (when, raw)
    if t.shape != (len(x),):
        raise BadValue(f"a stroke has a time for every sample; got {len(x)} samples and times {t.shape}")
    if not (np.isfinite(t).all() and np.isfinite(x).all()):
        raise BadValue("a stroke holds NaN or infinity")
    if max(np.abs(x).max(initial=0.0), np.abs(t).max(initial=0.0)) > _FAR:
        raise BadValue(f"a stroke beyond {_FAR:g} m or s: are these metres and seconds?")
    if np.any(np.diff(t) < 0.0):
        i = int(np.argmax(np.diff(t) < 0.0))
        raise BadValue(
            f"a stroke's times run forward; sample {i + 1} at {t[i + 1]:g} s follows {t[i]:g} s", index=i + 1
        )
    moments, which, count = np.unique(t, return_inverse=True, return_counts=True)
    if len(moments) < 2:
        raise BadValue(f"a stroke needs samples at two moments at least; got {len(moments)}")
    places = np.zeros((len(moments), 3))
    np.add.at(places, which, x)
    return moments, places / count[:, None]


def fit_stroke(t: Array, x: Array, smoothing: float | None = None) -> tuple[Array, Array]:
    """Knots (k,) and places (k, 3) on the fitted curve: as few as come within `smoothing` [m, root mean square]."""
    if smoothing is not None and not (np.isfinite(smoothing) and smoothing >= 0.0):
        raise BadValue(f"smoothing is a length of at least 0 m; got {smoothing!r}")
    wanted = max(1.1 * tremble(t, x), FINEST) if smoothing is None else float(smoothing)
    knots = np.array([t[0], t[-1]])
    places, miss = _fit(t, x, knots)
    most = min(MOST, len(t))
    while len(knots) < most and _size(miss) > wanted:
        place = _worst_gap(t, miss, knots)
        if place is None:
            break
        knots = np.sort(np.append(knots, place))
        places, miss = _fit(t, x, knots)
    return _thinned(t, x, knots, places, wanted)


def tremble(t: Array, x: Array) -> float:
    """The hand's tremble [m], from how far samples lie beside the line through their neighbours in time.

    For independent errors of size e, the sample less the line through its two neighbours (at shares a, 1 - a) has the
    variance e^2 (1 + a^2 + (1 - a)^2). The median over the samples leaves out true bends and corners.
    """
    if len(t) < 5:
        return 0.0
    a = (t[1:-1] - t[:-2]) / (t[2:] - t[:-2])
    off = x[1:-1] - ((1.0 - a)[:, None] * x[:-2] + a[:, None] * x[2:])
    each = np.median(off**2 / (1.0 + a**2 + (1.0 - a) ** 2)[:, None], axis=0) / 0.4549  # the median of a chi-square
    return float(np.sqrt(np.mean(each)))


def _fit(t: Array, x: Array, knots: Array) -> tuple[Array, Array]:
    basis = VectorCurve(knots, np.eye(len(knots)))(t).value
    places = np.asarray(np.linalg.lstsq(basis, x, rcond=1e-10)[0], dtype=np.float64)
    return places, x - basis @ places


def _size(miss: Array) -> float:
    """Root mean square, per coordinate [m]."""
    return float(np.sqrt(np.mean(miss**2)))


def _worst_gap(t: Array, miss: Array, knots: Array) -> float | None:
    """A new knot in the stretch with the largest misfit, where it halves it; None when samples are too few."""
    energy = np.sum(miss**2, axis=1)
    where = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(knots) - 2)
    totals = np.bincount(where, energy, len(knots) - 1)
    for gap in np.argsort(totals)[::-1]:
        inside = np.flatnonzero(where == gap)
        if len(inside) < 6:
            continue
        share = np.cumsum(energy[inside])
        cut = int(np.clip(np.searchsorted(share, 0.5 * share[-1]), 2, len(inside) - 3))
        return float(0.5 * (t[inside[cut]] + t[inside[cut + 1]]))
    return None


def _thinned(t: Array, x: Array, knots: Array, places: Array, wanted: float) -> tuple[Array, Array]:
    """Without the knots that are not needed: the least missed goes first, as long as the fit stays close enough."""
    room = max(wanted, _size(_fit(t, x, knots)[1]))
    while len(knots) > 2:
        trials = [np.delete(knots, i) for i in range(1, len(knots) - 1)]
        sizes = [_size(_fit(t, x, trial)[1]) for trial in trials]
        best = int(np.argmin(sizes))
        if sizes[best] > room:
            break
        knots = trials[best]
        places = _fit(t, x, knots)[0]
    return knots, places
