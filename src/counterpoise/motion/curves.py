"""Smooth curves through keys, for vectors and for rotations, with analytic first and second derivatives.

Vectors: the C2 cubic spline. Rotations: on each segment q(t) = q_i * exp(r(t)), where r is the cubic rotation vector
that leaves q_i with angular velocity w_i and arrives at q_(i+1) with w_(i+1); the w_i are chosen so that the angular
acceleration is continuous at every key (the idea of McEnnan's Quaternion Cubic Spline). The curve stays on the unit
sphere. It is always C1, and C2 where the equations for the w_i are solved (`RotationCurve.smooth`), which fails only if
neighbouring keys are nearly half a turn apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.spline_fit import Ends, fit_rotations, fit_vectors
from counterpoise.motion.spline_kernels import evaluate

_SAME_VALUE = 1e-9  # of the largest value: the ends of a periodic curve may differ by this
_SAME_ROTATION = 1e-7  # [rad] likewise for rotations


class CurveSample(NamedTuple):
    """A curve's value and two derivatives by time; for rotations q, w and w', with w in the body."""

    value: Array
    velocity: Array
    acceleration: Array


class VectorCurve:
    """The C2 cubic spline through `values` (n, ...) at `times` (n,); held at rest outside unless periodic."""

    def __init__(self, times: ArrayLike, values: ArrayLike, ends: Ends = "free") -> None:
        self.times, self.values = _keys(times, values)
        self.periodic = isinstance(ends, str) and ends == "periodic"
        flat = self.values.reshape(len(self.times), -1)
        if self.periodic and not np.allclose(
            flat[0], flat[-1], rtol=0.0, atol=_SAME_VALUE * (1.0 + np.abs(flat).max())
        ):
            raise BadValue("a periodic curve needs its last value equal to its first", ends=(flat[0], flat[-1]))
        self._knots, self._coefficients = fit_vectors(self.times, flat, ends)

    def __call__(self, t: ArrayLike) -> CurveSample:
        """Returns value, velocity and acceleration at t, a number or an array; the shape of t comes first."""
        at = _wrapped(t, self.times, self.periodic)
        shape, n = (*at.shape, *self.values.shape[1:]), self._coefficients.shape[2]
        x, v, a = np.empty((3, at.size, n))
        none, every = np.empty(0, dtype=np.int64), np.arange(n, dtype=np.int64)
        no_base, no_turn = np.empty((len(self._knots) - 1, 0, 4)), np.empty((len(self._knots) - 1, 4, 0))
        evaluate(at.ravel(), self._knots, self._coefficients, no_base, no_turn, every, every, none, none, x, v, a)
        return CurveSample(x.reshape(shape), v.reshape(shape), a.reshape(shape))


class RotationCurve:
    """The C2 spline through unit quaternions (n, ..., 4) at `times` (n,); held outside unless periodic.

    Velocities at the ends are angular velocities in the body frame [rad/s]. `smooth` says for each rotation whether its
    angular acceleration is continuous.
    """

    def __init__(self, times: ArrayLike, quaternions: ArrayLike, ends: Ends = "free") -> None:
        self.times, keys = _keys(times, quaternions)
        if keys.ndim < 2 or keys.shape[-1] != 4:
            raise BadValue(f"quaternions have shape (n, ..., 4), not {keys.shape}", shape=keys.shape)
        self.keys = spatial.align_signs(spatial.normalize(keys))
        self.keys.flags.writeable = False
        self.periodic = isinstance(ends, str) and ends == "periodic"
        flat = self.keys.reshape(len(self.times), -1, 4)
        if self.periodic:
            gap = np.linalg.norm(spatial.difference(flat[0], flat[-1]), axis=-1).max()
            if gap > _SAME_ROTATION:
                raise BadValue(f"a periodic curve needs its last rotation equal to its first; {gap:.3g} rad apart")
        self._knots, self._bases, self._turnings, smooth = fit_rotations(self.times, flat, ends)
        self.smooth = smooth.reshape(self.keys.shape[1:-1])

    def __call__(self, t: ArrayLike) -> CurveSample:
        """Returns rotation, angular velocity and acceleration in the body frame at t, a number or an array."""
        at = _wrapped(t, self.times, self.periodic)
        n = self._bases.shape[1]
        q, (w, g) = np.empty((at.size, 4 * n)), np.empty((2, at.size, 3 * n))
        none, each = np.empty(0, dtype=np.int64), np.arange(n, dtype=np.int64)
        no_vector = np.empty((len(self._knots) - 1, 4, 0))
        evaluate(
            at.ravel(), self._knots, no_vector, self._bases, self._turnings, none, none, 4 * each, 3 * each, q, w, g
        )
        shape = (*at.shape, *self.keys.shape[1:-1])
        return CurveSample(q.reshape(*shape, 4), w.reshape(*shape, 3), g.reshape(*shape, 3))


# --------------------------------------------------------------------------------------------------- easing

EASINGS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda s: s,
    "smooth": lambda s: s * s * (3.0 - 2.0 * s),
    "smoother": lambda s: s * s * s * (10.0 + s * (6.0 * s - 15.0)),
    "in": lambda s: s * s * s,
    "out": lambda s: 1.0 - (1.0 - s) ** 3,
}
"""Fraction of the way as a function of the fraction of the time, both from 0 to 1."""


def ease(fraction: ArrayLike, kind: str = "smooth") -> Array:
    """Returns the eased fraction: `smooth` starts and ends at rest, `smoother` also without acceleration."""
    if kind not in EASINGS:
        raise unknown_name("easing", kind, EASINGS)
    return EASINGS[kind](np.clip(np.asarray(fraction, dtype=np.float64), 0.0, 1.0))


# ----------------------------------------------------------------------------------------------------- keys


def _keys(times: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    t, x = np.array(times, dtype=np.float64), np.array(values, dtype=np.float64)
    if t.ndim != 1 or len(t) == 0 or x.ndim == 0 or len(x) != len(t):
        raise BadValue(f"times (n,) and values (n, ...) do not fit: {t.shape} and {x.shape}", shapes=(t.shape, x.shape))
    if not (np.isfinite(t).all() and np.isfinite(x).all()):
        raise BadValue("times and values must be finite numbers")
    if np.any(np.diff(t) <= 0.0):
        i = int(np.argmax(np.diff(t) <= 0.0))
        raise BadValue(f"times must increase; key {i + 1} at {t[i + 1]:g} s follows {t[i]:g} s", index=i + 1)
    t.flags.writeable = x.flags.writeable = False
    return t, x


def _wrapped(t: ArrayLike, times: Array, periodic: bool) -> Array:
    at = np.array(t, dtype=np.float64, order="C")
    if not np.isfinite(at).all():
        raise BadValue("a time to sample at must be a finite number [s]")
    return times[0] + np.mod(at - times[0], times[-1] - times[0]) if periodic else at
