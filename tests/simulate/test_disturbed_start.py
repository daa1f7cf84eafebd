"""A disturbed start: small, random, repeatable, on the ground."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue


def test_a_seed_gives_the_same_start_again_and_another_gives_another(human):
    one, again, other = (cp.disturbed_start(human, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.q, again.q) and np.array_equal(one.v, again.v)
    assert not np.allclose(one.q, other.q)


def test_it_is_as_small_as_it_says(human):
    off = np.array([human.difference(human.neutral, cp.disturbed_start(human, seed).q)[6:] for seed in range(200)])
    v = np.array([cp.disturbed_start(human, seed).v for seed in range(200)])
    assert 0.02 < off.std() < 0.032  # limits cut some of it off
    assert v[:, 6:].std() == pytest.approx(0.1, rel=0.05)
    assert v[:, :2].std() == pytest.approx(0.04, rel=0.15) and not v[:, 2:6].any()


def test_it_touches_the_ground_and_keeps_its_limits(standing):
    start = cp.disturbed_start(standing, 1)
    lowest = standing.snapshot().contact_position[:, 2].min()
    assert standing.snapshot(start).contact_position[:, 2].min() == pytest.approx(lowest, abs=1e-9)
    assert standing.limits.worst(start.q)[1] < 1e-6


def test_it_stands_on_the_terrain(human):
    world = cp.World(terrain=cp.Terrain([cp.Box((0.0, 0.0), (1.0, 1.0), height=0.3)]))
    start = cp.disturbed_start(human, 2, world)
    assert human.snapshot(start).contact_position[:, 2].min() == pytest.approx(0.3, abs=2e-3)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True])
def test_a_bad_seed_is_named(human, seed):
    with pytest.raises(BadValue, match="seed"):
        cp.disturbed_start(human, seed)
