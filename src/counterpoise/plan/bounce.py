"""The height of a runner's CoM over one stance, in closed form.

The ground's specific force over a stance of duration T is a bump of two numbers, u = t/T from 0 to 1:

    f(u) = A (sin pi u + c sin 3 pi u) + B sin 2 pi u,      z'' = f - g.

A is its size, B moves it towards the landing, c makes it flatter than half a wave. Force begins and ends at zero.
From any moment of the stance, A and B follow from the height and speed wished for at take-off: both depend on them
linearly.
"""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import inner_kernel, kernel

FLATNESS = 0.1  # c: the peak is 1.4 of the mean, instead of 1.57
DURATIONS = 25  # of a stance that are tried
PEAK_SAMPLES = 12  # moments at which a bump is compared with the strongest force
LARGEST_SKEW = 0.55  # |B| over A: beyond it the force would become negative


@kernel
def bump_force(size: float, skew: float, u: float) -> float:
    """Returns the specific force at a share u of the stance [m/s^2]."""
    a = math.pi * u
    return size * (math.sin(a) + FLATNESS * math.sin(3.0 * a)) + skew * math.sin(2.0 * a)


@inner_kernel
def _once(n: float, u0: float, u: float) -> float:
    """Returns the integral of sin(n pi u) from u0 to u."""
    a = n * math.pi
    return (math.cos(a * u0) - math.cos(a * u)) / a


@inner_kernel
def _twice(n: float, u0: float, u: float) -> float:
    """Returns the double integral of sin(n pi u) from u0 to u."""
    a = n * math.pi
    return (math.sin(a * u0) - math.sin(a * u)) / (a * a) + (u - u0) * math.cos(a * u0) / a


@kernel
def bounce_speed(size: float, skew: float, T: float, u0: float, rate: float, u: float, g: float) -> float:
    """Returns z' at a share u of the stance, where it is `rate` at u0 [m/s]."""
    gained = size * (_once(1.0, u0, u) + FLATNESS * _once(3.0, u0, u)) + skew * _once(2.0, u0, u)
    return rate + T * (gained - g * (u - u0))


@kernel
def bounce_height(size: float, skew: float, T: float, u0: float, z: float, rate: float, u: float, g: float) -> float:
    """Returns the height at a share u of the stance, where height and speed are z and `rate` at u0 [m]."""
    gained = size * (_twice(1.0, u0, u) + FLATNESS * _twice(3.0, u0, u)) + skew * _twice(2.0, u0, u)
    return z + T * (u - u0) * rate + T * T * (gained - 0.5 * g * (u - u0) ** 2)


@kernel
def fit_bump(
    T: float, u0: float, z: float, rate: float, end: Array, usual: Array, weights: Array, g: float, out: Array
) -> float:
    """Fills size and skew of the bump that leads from z and z' at u0 to the take-off wished for. Returns the cost.

    `end` is height and speed at take-off, `usual` size and skew of a steady run. `weights` are those of the height's
    error, of the speed's error, and of the differences from the usual bump. They decide near take-off, where little
    can be changed any more.
    """
    a1 = T * (_once(1.0, u0, 1.0) + FLATNESS * _once(3.0, u0, 1.0))
    b1 = T * _once(2.0, u0, 1.0)
    a2 = T * T * (_twice(1.0, u0, 1.0) + FLATNESS * _twice(3.0, u0, 1.0))
    b2 = T * T * _twice(2.0, u0, 1.0)
    left = T * (1.0 - u0)
    speed = end[1] - rate + g * left - a1 * usual[0] - b1 * usual[1]
    height = end[0] - z - rate * left + 0.5 * g * left * left - a2 * usual[0] - b2 * usual[1]
    wz, wv, wa, wb = weights[0], weights[1], weights[2], weights[3]
    m11 = wv * a1 * a1 + wz * a2 * a2 + wa
    m12 = wv * a1 * b1 + wz * a2 * b2
    m22 = wv * b1 * b1 + wz * b2 * b2 + wb
    h1, h2 = wv * a1 * speed + wz * a2 * height, wv * b1 * speed + wz * b2 * height
    det = m11 * m22 - m12 * m12
    da, db = (m22 * h1 - m12 * h2) / det, (m11 * h2 - m12 * h1) / det
    size, skew = max(usual[0] + da, 0.0), usual[1] + db
    most = LARGEST_SKEW * size
    if abs(skew) > most:  # at the limit: the best size with this skew
        sign = 1.0 if skew > 0.0 else -1.0
        p, q = a1 + sign * LARGEST_SKEW * b1, a2 + sign * LARGEST_SKEW * b2
        r1 = speed + a1 * usual[0] + b1 * usual[1]
        r2 = height + a2 * usual[0] + b2 * usual[1]
        w = wb * LARGEST_SKEW * LARGEST_SKEW
        pull = wa * usual[0] + sign * wb * LARGEST_SKEW * usual[1]
        size = max((wv * p * r1 + wz * q * r2 + pull) / (wv * p * p + wz * q * q + wa + w), 0.0)
        skew = sign * LARGEST_SKEW * size
        da, db = size - usual[0], skew - usual[1]
    else:
        da = size - usual[0]
    out[0], out[1] = size, skew
    dv, dz = a1 * da + b1 * db - speed, a2 * da + b2 * db - height
    return wv * dv * dv + wz * dz * dz + wa * da * da + wb * db * db


@kernel
def steady_bump(T: float, flight: float, landing: float, takeoff: float, g: float, out: Array) -> None:
    """Fills size, skew, and the speeds at landing and take-off of the bounce that repeats itself.

    Heights of landing and take-off may differ: [m].
    """
    up = 0.5 * g * flight - (takeoff - landing) / flight
    down = up - g * flight
    end = np.array([takeoff, up])
    fit_bump(T, 0.0, landing, down, end, np.array([g, 0.0]), np.array([1.0, 1.0, 1e-12, 1e-12]), g, out)
    out[2], out[3] = down, up


@kernel
def time_to_height(z: float, rate: float, height: float, g: float) -> float:
    """Returns when a body in flight has fallen to a height [s]; 0 where it is lower already and does not rise to it."""
    inside = rate * rate + 2.0 * g * (z - height)
    if inside <= 0.0:
        return 0.0
    return max((rate + math.sqrt(inside)) / g, 0.0)


@kernel
def choose_stance(
    usual_time: float, z: float, rate: float, end: Array, usual: Array, weights: Array, limits: Array, g: float
) -> float:
    """Returns the duration of a stance that begins now at height z with the speed `rate` [s].

    `weights` are those of `fit_bump`, then those of the relative difference from the usual duration and of force
    beyond the strongest. `limits` are the least and the largest duration as shares of the usual one, and the strongest
    specific force [m/s^2].
    """
    best, least, bump = usual_time, np.inf, np.empty(2)
    for k in range(DURATIONS):
        share = limits[0] + (limits[1] - limits[0]) * k / (DURATIONS - 1.0)
        T = share * usual_time
        cost = fit_bump(T, 0.0, z, rate, end, usual, weights[:4], g, bump) + weights[4] * (share - 1.0) ** 2
        for i in range(1, PEAK_SAMPLES):
            over = bump_force(bump[0], bump[1], i / PEAK_SAMPLES) - limits[2]
            if over > 0.0:
                cost += weights[5] * over * over / PEAK_SAMPLES
        if cost < least:
            best, least = T, cost
    return best
