"""Every feature, on several bodies: the Jacobian and the drift are the derivatives of the value."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
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
