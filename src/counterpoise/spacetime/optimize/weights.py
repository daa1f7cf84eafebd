"""Weights of joints by the inertia they carry, and of knots by the time they stand for."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.spacetime.optimize.frames import Frames
from counterpoise.spacetime.optimize.moments import Timeline
from counterpoise.spacetime.optimize.request import Taste


def weights(character: Character, taste: Taste) -> tuple[Array, Array]:
    """Returns the weights of squared accelerations and of nearness to the reference, (nv,) each."""
    share = inertia_weights(character, taste.heft)
    for joint in character.joints:
        if joint.kind == "free":
            share[joint.dofs.start : joint.dofs.start + 3] = taste.root_place
            share[joint.dofs.start + 3 : joint.dofs.stop] = taste.root_turn
        if joint.name in taste.joints:
            share[joint.dofs] = taste.joints[joint.name]
    for name in taste.joints:
        character.joint(name)
    near = np.full(character.nv, taste.near)
    for joint in character.joints:
        if joint.name in taste.joints:
            near[joint.dofs] *= taste.joints[joint.name]
    return taste.smooth * share, near


def inertia_weights(character: Character, power: float) -> Array:
    """Returns weights of the dofs: the mass matrix's diagonal in the neutral pose to a power, mean 1."""
    inertia = np.maximum(np.diag(character.snapshot().M).copy(), 1e-6)
    own = np.ones(character.nv)
    joints = np.arange(character.root_dofs.stop, character.nv)
    if len(joints):
        own[joints] = (inertia[joints] / np.median(inertia[joints])) ** power
        for joint in character.joints:  # a ball's three axes alike: twisting is not freer than bending
            if joint.kind == "ball":
                own[joint.dofs] = own[joint.dofs].mean()
        own[joints] = np.clip(own[joints] / own[joints].mean(), 0.2, 5.0)
    return own


def knot_seconds(timeline: Timeline, frames: Frames) -> Array:
    """Returns the seconds each knot stands for (trapezium rule)."""
    out = np.zeros(frames.knots)
    span = np.diff(timeline.times)
    for p in timeline.phases:
        at = np.flatnonzero(frames.phase[: frames.knots] == p.index)
        h = np.diff(p.breaks) * span[p.index]
        out[at[:-1]] += 0.5 * h
        out[at[1:]] += 0.5 * h
    return out
