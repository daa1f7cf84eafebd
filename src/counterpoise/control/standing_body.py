"""Standing: how high the CoM of a standing character is, how fast it would tip over, and what happens after a fall."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.defaults import GRAVITY
from counterpoise.kernels import kernel

LEAST_HEIGHT = 1e-2  # [body heights] of the CoM above the soles, so that omega is finite for every body


@dataclass(frozen=True)
class StandingBody:
    """The inverted pendulum that a standing character is."""

    height: float  # [m] of the CoM above the soles in the neutral pose
    gravity: float  # [m/s^2] of the character; as on earth where it has none
    omega: float  # [1/s] sqrt(gravity / height)
    omega_squared: float  # [1/s^2]


@kept_with_character
def standing_body(character: Character) -> StandingBody:
    """Returns the character's pendulum."""
    rest = character.snapshot()
    height = max(float(rest.com[2] - rest.contact_position[:, 2].mean()), LEAST_HEIGHT * character.height)
    gravity = character.gravity or GRAVITY
    return StandingBody(height, gravity, math.sqrt(gravity / height), gravity / height)


@kept_with_character
def gravity_vector(character: Character) -> Array:
    """Returns the gravity the character was built for, (3,) [m/s^2]."""
    return np.array(character.model.opt.gravity, float)


def com_above_lowest_part(snapshot: Snapshot) -> float:
    """Returns the height of the CoM above the lowest contact point or body origin [m]."""
    bodies = float(snapshot.body_position[1:, 2].min())
    return float(snapshot.com[2]) - min(bodies, lowest(snapshot.contact_position))


@kernel
def lowest(points: Array) -> float:
    """Returns the height of the lowest of points (p, 3)."""
    least = np.inf
    for i in range(len(points)):
        least = min(least, points[i, 2])
    return least


@kernel
def lowest_of(points: Array, which: Ints) -> float:
    """Returns the height of the lowest of those points (n, 3) whose numbers are given."""
    least = np.inf
    for i in which:
        least = min(least, points[i, 2])
    return least


FASTEST_DAMPING = 200.0  # [1/s] of a joint that has gone limp: at 500 Hz it loses four tenths of its speed in a tick


def limp_torque(snapshot: Snapshot, damping: float) -> Array:
    """Returns the torques of a character that has fallen: only damping, in torque limits per rad/s.

    A joint that moves little inertia is damped less, or one tick would turn it back faster than it came.
    """
    limit = snapshot.character.torque_limit
    inertia = 1.0 / np.maximum(snapshot.character.model.dof_invweight0, 1e-9)  # [kg m^2]
    return np.clip(-np.minimum(damping * limit, FASTEST_DAMPING * inertia) * snapshot.v, -limit, limit)
