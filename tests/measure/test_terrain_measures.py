"""Measures on terrain: falls by the height above it, and how deep a figure is inside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import counterpoise as cp
from counterpoise.measure.balance import height_above_ground


def test_a_rag_doll_on_a_high_box_falls(human: cp.Character):
    """Its CoM stays far above z = 0 all the time."""
    world = cp.World(terrain=cp.Terrain(cp.Box((0.0, 0.0), (4.0, 4.0), 1.5)))
    recording = cp.simulate(human, None, 1.5, world=world)
    assert cp.measure.com(recording)[:, 2].min() > 1.5
    assert cp.measure.fell(recording)
    lifted = replace(recording, contacts=_no_contacts(recording))  # by the CoM alone
    assert "centre of mass" in cp.measure.fell(lifted).reason


def _no_contacts(recording: cp.Recording) -> object:
    c = recording.contacts
    return replace(c, start=np.zeros_like(c.start), bodies=c.bodies[:0], point=c.point[:0], force=c.force[:0])


def test_standing_beside_a_high_box_and_in_a_trench_is_no_fall(human: cp.Character):
    beside = cp.Terrain(cp.Box((0.9, 0.0), (1.0, 2.0), 0.9))
    trench = cp.Terrain([cp.Gap((0.0, 0.0), (2.0, 2.0), 0.8)])
    for terrain, height in ((beside, 0.9), (trench, 0.1)):
        recording = cp.simulate(human, cp.Stand(), 0.5, world=cp.World(terrain=terrain))
        assert not cp.measure.fell(recording)
        assert abs(cp.measure.com(recording)[-1, 2] - height) < 0.25


def test_heights_are_above_the_terrain(human: cp.Character):
    recording = cp.simulate(human, None, 0.01, world=cp.World(terrain=cp.Terrain(cp.Box((0, 0), (1, 1), 0.3))))
    assert np.allclose(height_above_ground(recording, np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]])), [0.7, 1.0])


def test_penetration_is_the_deepest_contact(human: cp.Character):
    world = cp.World(terrain=cp.Terrain(cp.Box((0.0, 0.0), (1.0, 1.0), 0.3)))
    standing = cp.simulate(human, cp.Stand(), 0.3, world=world)
    assert 0.0 < cp.measure.penetration(standing).max() < 2e-3
    for depth in (0.01, 0.03):
        sunk = standing.qpos.copy()
        sunk[:, 2] -= depth
        deeper = cp.measure.penetration(replace(standing, qpos=sunk)) - cp.measure.penetration(standing)
        assert np.abs(deeper[100:] - depth).max() < 3e-3
