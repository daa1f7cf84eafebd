"""Turns: orientations by roll, pitch and yaw, compiled; how a heading changes, and how a trunk leans into a curve."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.kernels import inner_kernel, lean_kernel

NO_TURN = 1e-9  # [rad]


@lean_kernel
def turned(rest: Array, roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Returns the quaternion of Rz(yaw) Ry(pitch) Rx(roll) times an orientation at rest."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    w, x = cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr
    y, z = cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr
    a, b, c, d = rest[0], rest[1], rest[2], rest[3]
    return (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )


def foot_turn(rest: Array, yaw: float, pitch: float, rate: float, roll: float = 0.0) -> dict[str, tuple[float, ...]]:
    """Returns the reference of a foot's orientation: pitched about its own side at a rate [rad/s]."""
    velocity = (-math.sin(yaw) * rate, math.cos(yaw) * rate, 0.0)
    return {"value": turned(rest, roll, pitch, yaw), "velocity": velocity}


def foot_direction(yaw: float, pitch: float, rate: float) -> dict[str, tuple[float, ...]]:
    """Returns the reference of the direction of a foot, whatever its roll: pitched at a rate [rad/s]."""
    c, s, level, up = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    return {"value": (c * level, s * level, -up), "velocity": (-c * up * rate, -s * up * rate, -level * rate)}


@inner_kernel
def trunk_turn(
    rest: Array, heading: float, spin: float, turn: Array, rate: Array, lean: float, out: Array
) -> None:  # fmt: skip
    """Fills the reference of a trunk's orientation, (7,): a quaternion and an angular velocity [rad/s].

    `turn` and `rate` are roll, pitch and yaw seen from the heading, and their rates. The heading itself changes at the
    rate `spin` [rad/s].
    """
    c, s = math.cos(heading), math.sin(heading)
    out[0], out[1], out[2], out[3] = turned(rest, turn[0], turn[1] + lean, heading + turn[2])
    out[4], out[5], out[6] = c * rate[0] - s * rate[1], s * rate[0] + c * rate[1], rate[2] + spin


def fastest_turn(away: float, rate: float, ramp: float) -> float:
    """Returns the rate from which a turn by `away` [rad] can still end in time, at most `rate` [rad/s]."""
    return min(rate, math.sqrt(2.0 * ramp * abs(away)))


def next_turn(away: float, turn: float, rate: float, ramp: float, dt: float) -> float:
    """Returns the next rate of a heading that has to change by `away` [rad] and now changes at `turn` [rad/s].

    It grows by `ramp` [rad/s^2] up to `rate` [rad/s], and falls early enough to end in time.
    """
    most = fastest_turn(away, rate, ramp)
    new = min(max(math.copysign(most, away), turn - ramp * dt), turn + ramp * dt)
    if abs(away) <= abs(new) * dt or abs(away) < NO_TURN:
        return away / dt if dt > 0.0 else 0.0
    return new


def bank_of(speed: float, turn: float, body: WalkingBody) -> float:
    """Returns the roll of a trunk that leans into its curve, as the ground's force does [rad]; to the right positive.

    `speed` [m/s] is that along the heading, which changes at the rate `turn` [rad/s].
    """
    return -math.atan(speed * turn * body.hips_height / body.leg_speed**2)


def mean_yaw(yaw: Array) -> float:
    """Returns the mean direction of both feet [rad]."""
    return float(math.atan2(np.sin(yaw).mean(), np.cos(yaw).mean()))
