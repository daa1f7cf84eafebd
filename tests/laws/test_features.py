"""Every feature, on several bodies: the Jacobian and the drift are the derivatives of the value."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.character.snapshot import take_kinematics
from counterpoise.features import EXAMPLES


@pytest.mark.parametrize("body", ["human", "chicken", "chain", "planar_biped"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_jacobian_and_drift_agree_with_differences(name: str, body: str):
    who = cp.character(body)
    feature = EXAMPLES[name](who)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, v = who.integrate(who.neutral, 0.3 * rng.standard_normal(who.nv)), rng.standard_normal(who.nv)
        here = who.snapshot(who.state(q, v))
        h = 1e-5
        ahead, behind = (who.snapshot(who.state(who.integrate(q, s * h * v), v)) for s in (1.0, -1.0))
        rate = feature.difference(feature.value(behind), feature.value(ahead)) / (2 * h)
        J = feature.jacobian(here)
        scale = 1.0 + np.abs(rate).max()
        assert np.allclose(J @ v, rate, atol=1e-6 * scale), np.abs(J @ v - rate).max()
        bend = (feature.jacobian(ahead) @ v - feature.jacobian(behind) @ v) / (2 * h)
        assert np.allclose(feature.drift(here), bend, atol=1e-5 * (1.0 + np.abs(bend).max()))
        assert feature.unit in ("m", "rad") and feature.name
        assert np.array_equal(feature.value(here), feature.value(here))


@pytest.mark.parametrize("name", EXAMPLES)
def test_many_poses_at_once_give_the_same_as_one_by_one(name: str):
    character = cp.character("human")
    feature = EXAMPLES[name](character)
    rng = np.random.default_rng(4)
    poses = np.array([character.integrate(character.neutral, 0.3 * s) for s in rng.standard_normal((5, character.nv))])
    many = BatchKinematics(character, poses)
    values, jacobians = feature.value(many), feature.jacobian(many)
    target = feature.value(take_kinematics(character, character.neutral))
    errors, rates = feature.error(many, target)
    for i, q in enumerate(poses):
        one = take_kinematics(character, q)
        assert np.allclose(values[i], feature.value(one), atol=1e-11)
        assert np.allclose(jacobians[i], feature.jacobian(one), atol=1e-10)
        assert np.allclose(errors[i], feature.error(one, target)[0], atol=1e-11)
        assert np.allclose(rates[i], feature.error(one, target)[1], atol=1e-10)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_jacobian_of_the_error_agrees_with_differences(name: str):
    character = cp.character("human")
    feature = EXAMPLES[name](character)
    rng = np.random.default_rng(5)
    target = feature.value(take_kinematics(character, character.neutral))
    for _ in range(3):
        q, v = (
            character.integrate(character.neutral, 0.4 * rng.standard_normal(character.nv)),
            rng.standard_normal(character.nv),
        )
        h = 1e-6
        ahead, behind = (
            feature.error(take_kinematics(character, character.integrate(q, s * h * v)), target)[0] for s in (1.0, -1.0)
        )
        rate = feature.error(take_kinematics(character, q), target)[1] @ v
        assert np.allclose(rate, (ahead - behind) / (2 * h), atol=1e-6 * (1.0 + np.abs(rate).max()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_only_the_dofs_it_names_change_a_feature(name: str, cast: cp.Character):
    feature = EXAMPLES[name](cast)
    moves = feature.moved_by(cast)
    jacobian = feature.jacobian(take_kinematics(cast, cast.neutral))
    assert moves.shape == (cast.nv,) and np.abs(jacobian[:, ~moves]).max(initial=0.0) < 1e-12
