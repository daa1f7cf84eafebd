"""What a walker sees of its body at one tick: CoM, capture point, and how both feet lie."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.walking_body import WalkingBody

LOW_FOOT = 0.02  # [leg lengths] a foot with a point lower than this lies where it will be flat


class SeenBody(NamedTuple):
    """Places in the world; the first foot is the left one."""

    com: Array  # (3,) [m]
    velocity: Array  # (3,) of the CoM [m/s]
    capture: Array  # (2,) the capture point [m]
    ankle: Array  # (2, 3) [m]
    ankle_velocity: Array  # (2, 3) [m/s]
    hip: Array  # (2, 3) [m]
    hip_velocity: Array  # (2, 3) [m/s]
    flat: Array  # (2, 2) where the ankle is, or will be when the foot lies flat
    yaw: Array  # (2,) [rad]
    pitch: Array  # (2,) [rad] positive where the heel is up
    low: Array  # (2,) [m] height of the lowest point of each foot


def see(snapshot: Snapshot, body: WalkingBody) -> SeenBody:
    """Returns what a walker sees."""
    com, velocity = snapshot.com, snapshot.com_velocity
    ankle, speed, hip, hip_speed = np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))
    flat, yaw, pitch, low = np.empty((2, 2)), np.empty(2), np.empty(2), np.empty(2)
    near = LOW_FOOT * body.hips_height
    for i, leg in enumerate(body.legs):
        ankle[i], speed[i] = snapshot.position(leg.body, leg.ankle), snapshot.velocity(leg.body, leg.ankle)
        hip[i], hip_speed[i] = snapshot.position(leg.hip_body, leg.hip), snapshot.velocity(leg.hip_body, leg.hip)
        R = snapshot.rotation(leg.body) @ leg.unturn
        yaw[i], pitch[i] = math.atan2(R[1, 0], R[0, 0]), math.asin(min(max(-R[2, 0], -1.0), 1.0))
        points = snapshot.contact_position[leg.points]
        low[i] = points[:, 2].min()
        flat[i] = ankle[i, :2]
        if low[i] < near:
            pivot, back = (leg.ball, leg.ball_at) if pitch[i] > 0.0 else (leg.heel, leg.heel_at)
            x, y = snapshot.contact_position[pivot, :2].mean(axis=0)
            flat[i] = x - math.cos(yaw[i]) * back, y - math.sin(yaw[i]) * back
    return SeenBody(
        com, velocity, com[:2] + velocity[:2] / body.omega, ankle, speed, hip, hip_speed, flat, yaw, pitch, low
    )
