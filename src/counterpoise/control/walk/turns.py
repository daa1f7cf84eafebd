"""Orientations by roll, pitch and yaw, compiled."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array
from counterpoise.kernels import kernel

NO_TURN = 1e-9  # [rad]


@kernel
def turned(rest: Array, roll: float, pitch: float, yaw: float) -> Array:
    """Returns the quaternion of Rz(yaw) Ry(pitch) Rx(roll) times an orientation at rest."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    w, x = cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr
    y, z = cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr
    a, b, c, d = rest[0], rest[1], rest[2], rest[3]
    out = np.empty(4)
    out[0] = w * a - x * b - y * c - z * d
    out[1] = w * b + x * a + y * d - z * c
    out[2] = w * c - x * d + y * a + z * b
    out[3] = w * d + x * c - y * b + z * a
    return out


def foot_turn(rest: Array, yaw: float, pitch: float, rate: float, roll: float = 0.0) -> dict[str, Array]:
    """Returns the reference of a foot's orientation: pitched about its own side at a rate [rad/s]."""
    velocity = np.array([-math.sin(yaw) * rate, math.cos(yaw) * rate, 0.0])
    return {"value": turned(rest, roll, pitch, yaw), "velocity": velocity}


def trunk_turn(rest: Array, heading: float, spin: float, turn: Array, rate: Array, lean: float) -> dict[str, Array]:
    """Returns the reference of a trunk's orientation by roll, pitch and yaw seen from the heading, and their rates.

    The heading itself changes at the rate `spin` [rad/s].
    """
    c, s = math.cos(heading), math.sin(heading)
    roll, pitch, yaw = turn.tolist()
    a, b, z = rate.tolist()
    velocity = np.array([c * a - s * b, s * a + c * b, z + spin])
    return {"value": turned(rest, roll, pitch + lean, heading + yaw), "velocity": velocity}


def next_turn(away: float, turn: float, rate: float, ramp: float, dt: float) -> float:
    """Returns the next rate of a heading that has to change by `away` [rad] and now changes at `turn` [rad/s].

    It grows by `ramp` [rad/s^2] up to `rate` [rad/s], and falls early enough to end in time.
    """
    most = min(rate, math.sqrt(2.0 * ramp * abs(away)))
    new = min(max(math.copysign(most, away), turn - ramp * dt), turn + ramp * dt)
    if abs(away) <= abs(new) * dt or abs(away) < NO_TURN:
        return away / dt if dt > 0.0 else 0.0
    return new


def mean_yaw(yaw: Array) -> float:
    """Returns the mean direction of both feet [rad]."""
    return float(math.atan2(np.sin(yaw).mean(), np.cos(yaw).mean()))
