"""Random poses and states of a figure, for the laws."""

from __future__ import annotations

import numpy as np

from counterpoise.character import Character, State


def random_pose(who: Character, rng: np.random.Generator, spread: float = 0.5) -> np.ndarray:
    """The neutral pose moved along a random tangent, root included."""
    return who.integrate(who.neutral, spread * rng.normal(size=who.nv))


def random_state(who: Character, rng: np.random.Generator, spread: float = 0.5, speed: float = 1.0) -> State:
    return who.state(random_pose(who, rng, spread), speed * rng.normal(size=who.nv))
