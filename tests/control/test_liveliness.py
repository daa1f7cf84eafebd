"""Quiet standing with breath, sway and gaze."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.liveliness import enliven
from counterpoise.control.reference import pose_sample


def test_it_is_the_same_by_seed_and_its_rates_are_its_derivatives(human: cp.Character):
    still, h = pose_sample(human, human.neutral, ()), 1e-5
    for seed in (0, 7):
        before, now, after = (enliven(human, still, t, 1.0, seed) for t in (3.0 - h, 3.0, 3.0 + h))
        again = enliven(human, still, 3.0, 1.0, seed)
        assert np.array_equal(now.q, again.q) and np.array_equal(now.com, again.com)
        np.testing.assert_allclose(human.difference(before.q, after.q) / (2 * h), now.v, atol=0.01)  # small turns
        np.testing.assert_allclose((after.v - before.v) / (2 * h), now.a, atol=1e-6)
        np.testing.assert_allclose((after.com - before.com) / (2 * h), now.com_velocity, atol=1e-6)
        np.testing.assert_allclose(
            (after.com_velocity - before.com_velocity) / (2 * h), now.com_acceleration, atol=1e-6
        )
    other = enliven(human, still, 3.0, 1.0, 8)
    assert not np.array_equal(other.q, now.q)


def test_a_person_sways_by_millimetres_and_looks_around(human: cp.Character):
    rec = cp.simulate(human, cp.Stand(liveliness=1.0, seed=1), 8.0)
    assert not cp.measure.fell(rec)
    states = [human.snapshot(rec.state(k)) for k in range(1000, len(rec.time), 100)]
    com = np.array([s.com[:2] for s in states])
    assert 0.001 < com.std(axis=0).max() < 0.008
    head = np.array([s.rotation("head")[:, 0] for s in states])
    turn = np.degrees(np.ptp(np.unwrap(np.arctan2(head[:, 1], head[:, 0]))))
    assert 2.0 < turn < 40.0
    feet = np.array([s.contact_position for s in states])
    assert np.ptp(feet, axis=0).max() < 1e-3
    torque = rec.torque[::2][:-1, 6:] / human.torque_limit[6:]
    assert np.percentile(np.abs(np.diff(torque, axis=0)), 99) < 0.01


def test_it_is_off_unless_asked_for_and_refuses_nonsense(human: cp.Character):
    assert cp.Stand().liveliness == 0.0
    with pytest.raises(cp.CounterpoiseError, match="statue"):
        cp.Stand(liveliness=-1.0)
