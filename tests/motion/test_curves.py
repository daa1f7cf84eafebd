"""Curves: derivatives, end conditions, the sphere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, RotationSpline

from counterpoise import spatial
from counterpoise.errors import BadValue, UnknownName
from counterpoise.motion import RotationCurve, VectorCurve, ease
from counterpoise.motion.curves import EASINGS

ENDS = ["free", "natural", "rest", "periodic"]
H = 1e-5  # [s]


def wild_keys(seed: int, count: int = 9, joints: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.0, count))
    quats = spatial.normalize(rng.normal(size=(count, joints, 4)))
    return times, quats


def away_from(times: np.ndarray, seed: int = 0, count: int = 300) -> np.ndarray:
    """Times inside that differences of width H do not carry across a key."""
    t = np.random.default_rng(seed).uniform(times[0] + 2 * H, times[-1] - 2 * H, count)
    return t[np.abs(t[:, None] - times).min(axis=1) > 2 * H]


@pytest.mark.parametrize("ends", ENDS)
def test_rotation_curve_agrees_with_its_differences(ends):
    times, quats = wild_keys(3)
    if ends == "periodic":
        quats[-1] = -quats[0]
    curve = RotationCurve(times, quats, ends)
    assert curve.smooth.all()
    np.testing.assert_allclose(spatial.difference(curve(times).value, quats), 0.0, atol=1e-14)
    t = away_from(times)
    here, ahead, behind = curve(t), curve(t + H), curve(t - H)
    np.testing.assert_allclose(here.velocity, spatial.difference(behind.value, ahead.value) / (2 * H), atol=1e-6)
    np.testing.assert_allclose(here.acceleration, (ahead.velocity - behind.velocity) / (2 * H), atol=1e-6)
    inner = times[1:-1]
    jump = curve(inner + 1e-10).acceleration - curve(inner - 1e-10).acceleration
    np.testing.assert_allclose(jump, 0.0, atol=1e-5)


@pytest.mark.parametrize("ends", ENDS)
def test_vector_curve_agrees_with_its_differences(ends):
    times = np.array([0.0, 0.3, 1.0, 1.2, 2.0, 3.1])
    values = np.random.default_rng(0).normal(size=(6, 2, 3))
    if ends == "periodic":
        values[-1] = values[0]
    curve = VectorCurve(times, values, ends)
    np.testing.assert_allclose(curve(times).value, values, atol=1e-12)
    t = away_from(times)
    here, ahead, behind = curve(t), curve(t + H), curve(t - H)
    assert here.value.shape == (len(t), 2, 3)
    np.testing.assert_allclose(here.velocity, (ahead.value - behind.value) / (2 * H), atol=1e-6)
    np.testing.assert_allclose(here.acceleration, (ahead.velocity - behind.velocity) / (2 * H), atol=1e-6)


def test_scipy_draws_the_same_curve():
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.2, 1.0, 8))
    quats = spatial.exp(np.cumsum(rng.normal(size=(8, 3)), axis=0))
    theirs = RotationSpline(times, Rotation.from_quat(quats, scalar_first=True))
    start, end = theirs(times[[0, -1]], 1)
    ours = RotationCurve(times, quats, (start, end))
    t = np.linspace(times[0], times[-1], 200)
    q, w, g = ours(t)
    np.testing.assert_allclose(spatial.difference(theirs(t).as_quat(scalar_first=True), q), 0.0, atol=1e-7)
    np.testing.assert_allclose(theirs(t, 1), w, atol=1e-6)
    np.testing.assert_allclose(theirs(t, 2), g, atol=1e-5)


def test_ends_are_what_they_say():
    times, quats = wild_keys(1)
    rng = np.random.default_rng(0)
    values, inside = rng.normal(size=(len(times), 3)), [times[0], times[-1]]
    for make, keys in ((VectorCurve, values), (RotationCurve, quats)):
        np.testing.assert_allclose(make(times, keys, "rest")(inside).velocity, 0.0, atol=1e-12)
        np.testing.assert_allclose(make(times, keys, "natural")(inside).acceleration, 0.0, atol=1e-9)
        given_velocity = make(times, keys, ("rest", [0.1, -0.2, 0.3]))(times[-1]).velocity
        np.testing.assert_allclose(given_velocity, np.broadcast_to([0.1, -0.2, 0.3], given_velocity.shape), atol=1e-12)
    closed = quats.copy()
    closed[-1] = closed[0]
    loop = RotationCurve(times, closed, "periodic")
    end, start = loop(times[-1] - 1e-10), loop(times[0] + 1e-10)
    np.testing.assert_allclose(end.velocity, start.velocity, atol=1e-7)
    np.testing.assert_allclose(end.acceleration, start.acceleration, atol=1e-6)
    np.testing.assert_allclose(loop(times[-1] + 0.3).velocity, loop(times[0] + 0.3).velocity, atol=1e-12)


def test_outside_a_curve_holds_still():
    times, quats = wild_keys(1)
    for t, key in ((times[0] - 1.0, 0), (times[-1] + 1.0, -1)):
        q, w, g = RotationCurve(times, quats)(t)
        np.testing.assert_allclose(spatial.difference(q, quats[key]), 0.0, atol=1e-14)
        assert not w.any() and not g.any()


def test_free_ends_reproduce_a_cubic_and_natural_ends_a_line():
    t = np.array([0.0, 0.4, 1.0, 1.3, 2.0])
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.7])
    at = np.linspace(0, 2, 50)
    np.testing.assert_allclose(VectorCurve(t, cubic(t))(at).value, cubic(at), atol=1e-12)
    np.testing.assert_allclose(VectorCurve(t, 3 * t, "natural")(at).velocity, 3.0, atol=1e-12)
    turn = RotationCurve([0.0, 2.0], [spatial.IDENTITY, spatial.exp([0, 0, 2.0])], "natural")
    np.testing.assert_allclose(turn(at).velocity, np.broadcast_to([0, 0, 1.0], (50, 3)), atol=1e-12)


def test_a_smooth_turning_is_met_to_fourth_order():
    def truth(t: np.ndarray) -> np.ndarray:
        first = spatial.exp(np.stack([np.sin(3 * t), 0 * t, t], axis=-1))
        return spatial.multiply(first, spatial.exp(np.stack([0 * t, np.cos(2 * t), 0 * t], axis=-1)))

    at = np.linspace(0.0, 2.0, 501)
    errors = []
    for count in (41, 81):
        t = np.linspace(0.0, 2.0, count)
        errors.append(np.abs(spatial.difference(truth(at), RotationCurve(t, truth(t))(at).value)).max())
    assert errors[0] < 1e-4
    assert errors[0] / errors[1] > 12.0


quaternions = st.lists(
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
    min_size=1,
    max_size=7,
)


@settings(max_examples=60, deadline=None)
@given(
    quaternions,
    st.lists(st.sampled_from(["same", "antipode", "half turn"]), max_size=3),
    st.sampled_from(ENDS[:3]),
)
def test_rotation_curves_stay_on_the_sphere_and_never_flip(keys, tricks, ends):
    keys = [spatial.normalize(q) for q in keys]
    for trick in tricks:
        last = keys[-1]
        keys.append({"same": last, "antipode": -last}.get(trick, spatial.multiply(last, [0.0, 0.6, 0.0, 0.8])))
    times = np.arange(len(keys)) * 0.5
    curve = RotationCurve(times, np.array(keys), ends)
    at = np.linspace(-0.1, times[-1] + 0.1, 40 * len(keys))
    q, w, g = curve(at)
    assert np.isfinite(w).all() and np.isfinite(g).all()
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-15)
    np.testing.assert_allclose(spatial.difference(curve(times).value, np.array(keys)), 0.0, atol=1e-7)
    step = at[1] - at[0]
    fastest = np.linalg.norm(w, axis=-1).max() + np.linalg.norm(g, axis=-1).max() * step
    half_angle = np.arccos(np.clip(np.sum(q[1:] * q[:-1], axis=-1), -1, 1))
    assert half_angle.max() <= 0.5 * fastest * step + 1e-7


def test_easings():
    s = np.linspace(0, 1, 101)
    for kind in EASINGS:
        e = ease(s, kind)
        assert e[0] == 0.0 and e[-1] == pytest.approx(1.0) and np.all(np.diff(e) >= 0.0)
    assert ease([-1.0, 2.0]).tolist() == [0.0, 1.0]
    with pytest.raises(UnknownName, match="smooth"):
        ease(0.5, "smoth")


def test_bad_keys_are_refused():
    with pytest.raises(BadValue, match="must increase"):
        VectorCurve([0.0, 0.0], [1.0, 2.0])
    with pytest.raises(BadValue, match="finite"):
        VectorCurve([0.0, 1.0], [1.0, np.nan])
    with pytest.raises(BadValue, match="do not fit"):
        VectorCurve([0.0, 1.0], [1.0])
    with pytest.raises(BadValue, match="last"):
        VectorCurve([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "periodic")
    with pytest.raises(UnknownName, match="natural"):
        VectorCurve([0.0, 1.0], [1.0, 2.0], "naturel")
    with pytest.raises(BadValue, match=r"\(n, ..., 4\)"):
        RotationCurve([0.0, 1.0], np.zeros((2, 3)))
    with pytest.raises(BadValue, match="finite"):
        VectorCurve([0.0, 1.0], [1.0, 2.0])(np.nan)
