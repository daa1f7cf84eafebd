"""Recorded strokes: noisy samples at uneven times, made into a spline with few control points.

The curve is the C2 cubic spline of `motion.curves` through values at knots, and for given knots its least-squares fit
is linear: minimise |B y - x|^2, where column j of B is the spline through 1 at knot j and 0 at the others. Knots are
added where the residual is largest, until its root mean square comes down to the tremor of the hand. Then knots that
are not needed are removed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.motion.curves import VectorCurve

MIN_SMOOTHING = 2e-4  # [m]: no stroke is fitted closer than this unless asked
TREMOR_MARGIN = 1.1  # the fit comes within this many times the estimated tremor
MAX_CONTROL_POINTS = 160
MIN_SAMPLES = 6  # between two knots, for another knot between them
MAX_VALUE = 1e6  # [m, s]: larger numbers are most likely in wrong units
CHI_SQUARE_MEDIAN = 0.4549  # median of a chi-square variable with one degree of freedom


def read_stroke(samples: ArrayLike, times: ArrayLike | None) -> tuple[Array, Array]:
    """Returns checked times (n,) and places (n, 3); samples of the same moment are averaged into one."""
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
    if max(np.abs(x).max(initial=0.0), np.abs(t).max(initial=0.0)) > MAX_VALUE:
        raise BadValue(f"a stroke beyond {MAX_VALUE:g} m or s: are these metres and seconds?")
    if np.any(np.diff(t) < 0.0):
        i = int(np.argmax(np.diff(t) < 0.0))
        raise BadValue(
            f"the times of a stroke do not decrease; sample {i + 1} at {t[i + 1]:g} s follows {t[i]:g} s", index=i + 1
        )
    moments, which, count = np.unique(t, return_inverse=True, return_counts=True)
    if len(moments) < 2:
        raise BadValue(f"a stroke needs samples at two moments at least; got {len(moments)}")
    places = np.zeros((len(moments), 3))
    np.add.at(places, which, x)
    return moments, places / count[:, None]


def fit_stroke(t: Array, x: Array, smoothing: float | None = None) -> tuple[Array, Array]:
    """Returns knots (k,) and places (k, 3) of the fitted curve: as few as come within `smoothing` [m, rms]."""
    if smoothing is not None and not (np.isfinite(smoothing) and smoothing >= 0.0):
        raise BadValue(f"smoothing is a length of at least 0 m; got {smoothing!r}")
    wanted = max(TREMOR_MARGIN * tremor(t, x), MIN_SMOOTHING) if smoothing is None else float(smoothing)
    knots = np.array([t[0], t[-1]])
    places, residual = _fit(t, x, knots)
    most = min(MAX_CONTROL_POINTS, len(t))
    while len(knots) < most and _rms(residual) > wanted:
        knot = _new_knot(t, residual, knots)
        if knot is None:
            break
        knots = np.sort(np.append(knots, knot))
        places, residual = _fit(t, x, knots)
    return _thinned(t, x, knots, places, wanted)


def tremor(t: Array, x: Array) -> float:
    """Returns the tremor of the hand [m], from how far samples lie off the line through their neighbours in time.

    For independent errors of size e, the sample less the line through its two neighbours (at shares a, 1 - a) has the
    variance e^2 (1 + a^2 + (1 - a)^2). The median over the samples ignores true bends and corners.
    """
    if len(t) < 5:
        return 0.0
    a = (t[1:-1] - t[:-2]) / (t[2:] - t[:-2])
    off = x[1:-1] - ((1.0 - a)[:, None] * x[:-2] + a[:, None] * x[2:])
    each = np.median(off**2 / (1.0 + a**2 + (1.0 - a) ** 2)[:, None], axis=0) / CHI_SQUARE_MEDIAN
    return float(np.sqrt(np.mean(each)))


def _fit(t: Array, x: Array, knots: Array) -> tuple[Array, Array]:
    """Returns the places at the knots that fit best, and the residuals of the samples."""
    basis = VectorCurve(knots, np.eye(len(knots)))(t).value
    places = np.asarray(np.linalg.lstsq(basis, x, rcond=1e-10)[0], dtype=np.float64)
    return places, x - basis @ places


def _rms(residual: Array) -> float:
    """Root mean square, per coordinate [m]."""
    return float(np.sqrt(np.mean(residual**2)))


def _new_knot(t: Array, residual: Array, knots: Array) -> float | None:
    """Returns a knot that halves the residual of the stretch with the largest one; None when samples are too few."""
    energy = np.sum(residual**2, axis=1)
    where = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(knots) - 2)
    totals = np.bincount(where, energy, len(knots) - 1)
    for gap in np.argsort(totals)[::-1]:
        inside = np.flatnonzero(where == gap)
        if len(inside) < MIN_SAMPLES:
            continue
        share = np.cumsum(energy[inside])
        cut = int(np.clip(np.searchsorted(share, 0.5 * share[-1]), 2, len(inside) - 3))
        return float(0.5 * (t[inside[cut]] + t[inside[cut + 1]]))
    return None


def _thinned(t: Array, x: Array, knots: Array, places: Array, wanted: float) -> tuple[Array, Array]:
    """Removes knots one by one, the least needed first, as long as the fit stays close enough."""
    allowed = max(wanted, _rms(_fit(t, x, knots)[1]))
    while len(knots) > 2:
        trials = [np.delete(knots, i) for i in range(1, len(knots) - 1)]
        sizes = [_rms(_fit(t, x, trial)[1]) for trial in trials]
        best = int(np.argmin(sizes))
        if sizes[best] > allowed:
            break
        knots = trials[best]
        places = _fit(t, x, knots)[0]
    return knots, places
