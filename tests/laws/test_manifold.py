"""Steps and differences of poses against MuJoCo's own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from random_states import random_pose

from counterpoise.character import Character


@pytest.mark.parametrize("spread", [1e-9, 1e-4, 0.3, 2.0])
def test_difference_and_integrate_are_mujocos(cast: Character, spread: float, rng: np.random.Generator):
    for _ in range(20):
        q, step = random_pose(cast, rng), spread * rng.normal(size=cast.nv)
        theirs = q.copy()
        mujoco.mj_integratePos(cast.model, theirs, step, 1.0)
        ours = cast.integrate(q, step)
        assert np.abs(ours - theirs).max() < 1e-12
        other = random_pose(cast, rng)
        expected = np.zeros(cast.nv)
        mujoco.mj_differentiatePos(cast.model, expected, 1.0, q, other)
        assert np.abs(cast.difference(q, other) - expected).max() < 1e-9


def test_going_there_and_looking_back(cast: Character, rng: np.random.Generator):
    for _ in range(20):
        a, b = random_pose(cast, rng), random_pose(cast, rng)
        step = cast.difference(a, b)
        back = cast.integrate(a, step)
        assert np.abs(cast.difference(back, b)).max() < 1e-9
        small = 0.5 * rng.uniform(-1, 1, size=cast.nv)
        assert np.abs(cast.difference(a, cast.integrate(a, small)) - small).max() < 1e-9


def test_q_and_minus_q_are_one_orientation(human: Character, rng: np.random.Generator):
    a, b = random_pose(human, rng), random_pose(human, rng)
    flipped = b.copy()
    for joint in human.joints:
        if joint.kind in ("free", "ball"):
            flipped[joint.qpos.stop - 4 : joint.qpos.stop] *= -1.0
    assert np.abs(human.difference(a, b) - human.difference(a, flipped)).max() < 1e-12
    assert np.abs(human.difference(b, flipped)).max() < 1e-12


def test_batches_are_the_same_as_one_by_one(cast: Character, rng: np.random.Generator):
    a = np.array([[random_pose(cast, rng) for _ in range(3)] for _ in range(2)])
    v = rng.normal(size=(2, 3, cast.nv))
    b = cast.integrate(a, v)
    d = cast.difference(a, b)
    assert b.shape == a.shape and d.shape == v.shape
    for i in range(2):
        for k in range(3):
            assert np.array_equal(b[i, k], cast.integrate(a[i, k], v[i, k]))
            assert np.array_equal(d[i, k], cast.difference(a[i, k], b[i, k]))
    fan = cast.integrate(a[0, 0], v)  # one pose, many steps
    assert fan.shape == a.shape and np.array_equal(fan[1, 2], cast.integrate(a[0, 0], v[1, 2]))
    home = cast.difference(a, cast.neutral)
    assert np.array_equal(home[0, 1], cast.difference(a[0, 1], cast.neutral))


def test_inputs_are_left_alone(human: Character, rng: np.random.Generator):
    q, v = random_pose(human, rng), rng.normal(size=human.nv)
    q0, v0 = q.copy(), v.copy()
    human.integrate(q, v)
    human.difference(q, human.neutral)
    assert np.array_equal(q, q0) and np.array_equal(v, v0)
