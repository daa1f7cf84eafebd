"""Mirror images: y -> -y, left <-> right."""

from __future__ import annotations

import numpy as np
import pytest
from random_states import random_pose

from counterpoise.character import Character
from counterpoise.character.library import character

S = np.diag([1.0, -1.0, 1.0])


def test_twice_is_nothing(cast: Character, rng: np.random.Generator):
    q, v = random_pose(cast, rng), rng.normal(size=cast.nv)
    assert np.abs(cast.mirror_pose(cast.mirror_pose(q)) - q).max() < 1e-12
    assert np.abs(cast.mirror_velocity(cast.mirror_velocity(v)) - v).max() < 1e-12
    batch = np.array([[q, cast.neutral]])
    assert np.array_equal(cast.mirror_pose(batch)[0, 0], cast.mirror_pose(q))
    assert np.array_equal(cast.mirror_velocity(np.array([v, v]))[1], cast.mirror_velocity(v))


@pytest.mark.parametrize("name", ["human", "child", "ostrich", "dinosaur", "insectoid", "chicken", "planar_biped"])
def test_the_left_hand_is_where_the_right_one_was(name: str, rng: np.random.Generator):
    who = character(name)
    partner = {a: b for left, right in who.pairs for a, b in ((left, right), (right, left))}
    for _ in range(5):
        q, v = random_pose(who, rng), rng.normal(size=who.nv)
        snap = who.snapshot(who.state(q, v))
        image = who.snapshot(who.state(who.mirror_pose(q), who.mirror_velocity(v)))
        for body in who.segments:
            other = partner.get(body, body)
            assert np.allclose(image.position(body), S @ snap.position(other), atol=1e-5), body
            assert np.allclose(image.rotation(body), S @ snap.rotation(other) @ S, atol=1e-9), body
            assert np.allclose(image.velocity(body), S @ snap.velocity(other), atol=1e-4), body
            assert np.allclose(image.angular_velocity(body), -S @ snap.angular_velocity(other), atol=1e-9), body
        assert np.allclose(image.com, S @ snap.com, atol=1e-5)


def test_mirrored_velocity_is_the_derivative_of_the_mirrored_pose(cast: Character, rng: np.random.Generator):
    q, v, step = random_pose(cast, rng), rng.normal(size=cast.nv), 1e-6
    ahead, behind = cast.integrate(q, step * v), cast.integrate(q, -step * v)
    slope = cast.difference(cast.mirror_pose(behind), cast.mirror_pose(ahead)) / (2 * step)
    assert np.abs(slope - cast.mirror_velocity(v)).max() < 1e-6


@pytest.mark.parametrize("name", ["human", "child", "ostrich", "dinosaur", "insectoid", "chicken", "planar_biped"])
def test_limits_are_mirrored_too(name: str, rng: np.random.Generator):
    who = character(name)
    for _ in range(5):
        q = random_pose(who, rng)
        assert who.limits.worst(q)[1] == pytest.approx(who.limits.worst(who.mirror_pose(q))[1], abs=1e-5)


def test_the_neutral_pose_of_a_symmetric_figure_is_its_own_image(human: Character):
    assert np.abs(human.difference(human.neutral, human.mirror_pose(human.neutral))).max() < 1e-5
