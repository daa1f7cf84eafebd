"""Starts of a body that lies, or is about to: on its back, its front or a side, limbs anywhere."""

from __future__ import annotations

import math

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.shapes.solid import solids_of
from counterpoise.character.state import State
from counterpoise.control.bracing.humanoid import humanoid_of
from counterpoise.errors import BadValue, unknown_name

WAYS = ("front", "back", "left", "right")
DROP = 0.02  # [m] of the lowest point above the ground
SPREAD = 0.3  # [rad] of the joints about the neutral pose


def lying_state(character: Character, way: str, seed: int = 0, spread: float = SPREAD) -> State:
    """Returns a body at rest just above the ground, lying on its front, back, left or right side.

    Joints are turned at random by `spread` [rad, standard deviation] about the neutral pose, inside their limits. In
    simulation it drops by a few centimetres and comes to rest as it happens to.
    """
    humanoid_of(character)
    if way not in WAYS:
        raise unknown_name("way of lying", way, WAYS)
    if not (np.isfinite(spread) and spread >= 0.0):
        raise BadValue(f"spread is an angle >= 0 [rad]; got {spread!r}")
    q = np.array(character.neutral)
    q[3:7] = spatial.exp(np.array([0.0, math.pi / 2 if way == "front" else -math.pi / 2, 0.0]))
    if way in ("left", "right"):
        roll = math.pi / 2 if way == "left" else -math.pi / 2
        q[3:7] = spatial.multiply(q[3:7], spatial.exp(np.array([0.0, 0.0, roll])))
    turns = np.random.default_rng(seed).normal(0.0, spread, character.nv)
    turns[character.root_dofs] = 0.0
    q = np.array(character.limits.clamp(character.integrate(q, turns)))
    q[2] += DROP - _lowest(character, q)
    return character.state(q)


def _lowest(character: Character, q: Array) -> float:
    """Returns the height of the lowest point of the body's shapes in a pose [m]."""
    shot, down = character.snapshot(character.state(q)), np.array([0.0, 0.0, -1.0])
    return -max(
        float(down @ shot.body_position[solid.body] + solid.reach(shot.body_rotation[solid.body].T @ down))
        for solid in solids_of(character)
    )
