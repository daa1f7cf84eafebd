"""Rotations against scipy, MuJoCo and their own definitions."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from counterpoise import spatial

LENGTHS = [
    0.0,
    1e-300,
    1e-12,
    1e-6,
    1e-4,
    1e-2,
    0.5,
    0.999,
    1.0,
    1.001,
    2.0,
    3.0,
    np.pi - 1e-9,
    np.pi - 1e-15,
]


def random_quats(*shape: int, seed: int = 0) -> np.ndarray:
    return spatial.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))


def scipy_of(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q, scalar_first=True)


def test_products_matrices_and_rotations_agree_with_scipy():
    a, b, v = random_quats(50), random_quats(50, seed=1), np.random.default_rng(2).normal(size=(50, 3))
    product = (scipy_of(a) * scipy_of(b)).as_matrix()
    np.testing.assert_allclose(spatial.to_matrix(spatial.multiply(a, b)), product, atol=1e-14)
    np.testing.assert_allclose(spatial.rotate(a, v), scipy_of(a).apply(v), atol=1e-14)
    np.testing.assert_allclose(spatial.to_matrix(spatial.conjugate(a)), scipy_of(a).inv().as_matrix(), atol=1e-14)
    np.testing.assert_allclose(spatial.log(a), scipy_of(a).as_rotvec(), atol=1e-13)


def test_broadcasting():
    a, b = random_quats(3, 1), random_quats(5, seed=1)
    product = spatial.multiply(a, b)
    assert product.shape == (3, 5, 4)
    np.testing.assert_allclose(product[2, 4], spatial.multiply(a[2, 0], b[4]))
    assert spatial.rotate(a, np.ones((5, 3))).shape == (3, 5, 3)
    assert spatial.slerp(a, b, np.linspace(0, 1, 5)).shape == (3, 5, 4)
    assert spatial.from_axis_angle([0, 0, 2.0], np.zeros((2, 3))).shape == (2, 3, 4)
    assert spatial.swing_twist(a, np.ones((5, 3)))[0].shape == (3, 5, 4)


def test_matrix_round_trip_at_half_turns():
    half_turns = np.concatenate([np.eye(4), random_quats(20)])
    half_turns[4:, 0] *= 1e-9
    q = spatial.normalize(half_turns)
    back = spatial.from_matrix(spatial.to_matrix(q))
    np.testing.assert_allclose(np.abs(np.sum(back * q, axis=-1)), 1.0, atol=1e-15)
    assert np.all(back[:, 0] >= 0.0)


@pytest.mark.parametrize("length", LENGTHS)
def test_exp_and_log_are_inverse_to_machine_precision(length):
    axes = spatial.log(random_quats(40))
    r = length * axes / np.linalg.norm(axes, axis=-1, keepdims=True)
    q = spatial.exp(r)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, rtol=4e-16)
    back = spatial.log(q)
    if length < 3.14:
        np.testing.assert_allclose(back, r, rtol=2e-15, atol=4e-16 * length)
    else:  # at the half turn r and -r meet
        np.testing.assert_allclose(np.minimum(np.abs(back - r), np.abs(back + r)), 0.0, atol=4e-15)
    np.testing.assert_allclose(spatial.log(-q), spatial.log(q), atol=1e-14 if length < 3.14 else 7.0)
    assert np.all(np.linalg.norm(back, axis=-1) <= np.pi + 1e-15)


def test_integration_and_difference_follow_mujoco():
    rng = np.random.default_rng(3)
    for a, b in zip(random_quats(20), random_quats(20, seed=5), strict=True):
        w, dt = rng.normal(size=3), 0.37
        theirs = a.copy()
        mujoco.mju_quatIntegrate(theirs, w, dt)
        np.testing.assert_allclose(spatial.integrate(a, w * dt), theirs, atol=1e-15)
        theirs = np.zeros(3)
        mujoco.mju_subQuat(theirs, b, a)  # b = a * exp(result)
        np.testing.assert_allclose(spatial.difference(a, b), theirs, atol=1e-13)
        theirs = np.zeros(4)
        mujoco.mju_mulQuat(theirs, a, b)
        np.testing.assert_allclose(spatial.multiply(a, b), theirs, atol=1e-15)
        theirs = np.zeros(3)
        mujoco.mju_rotVecQuat(theirs, w, a)
        np.testing.assert_allclose(spatial.rotate(a, w), theirs, atol=1e-15)


def test_slerp_takes_the_short_way_at_constant_speed():
    a, b = random_quats(30), -random_quats(30, seed=1)
    total = np.linalg.norm(spatial.difference(a, b), axis=-1)
    for s in (0.0, 0.25, 0.5, 1.0):
        part = np.linalg.norm(spatial.difference(a, spatial.slerp(a, b, np.full(30, s))), axis=-1)
        np.testing.assert_allclose(part, s * total, atol=1e-13)
    assert np.all(total <= np.pi + 1e-12)


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(0, 100))
def test_aligned_signs_never_flip(signs, seed):
    q = random_quats(len(signs), seed=seed) * np.where(signs, 1.0, -1.0)[:, None]
    aligned = spatial.align_signs(q)
    assert np.all(np.sum(aligned[1:] * aligned[:-1], axis=-1) >= 0.0)
    np.testing.assert_array_equal(np.abs(aligned), np.abs(q))
    np.testing.assert_array_equal(aligned[0], q[0])


def test_from_two_vectors_including_opposite_ones():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    v[:5] = -2.0 * u[:5]
    v[5:10] = 3.0 * u[5:10]
    q = spatial.from_two_vectors(u, v)
    turned = spatial.rotate(q, u) / np.linalg.norm(u, axis=-1, keepdims=True)
    np.testing.assert_allclose(turned, v / np.linalg.norm(v, axis=-1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-15)
    np.testing.assert_allclose(q[5:10], np.broadcast_to(spatial.IDENTITY, (5, 4)), atol=1e-15)


def test_swing_and_twist_compose_and_part():
    q, axis = random_quats(40), np.array([1.0, -2.0, 0.5])
    swing, twist = spatial.swing_twist(q, axis)
    np.testing.assert_allclose(spatial.multiply(swing, twist), q, atol=1e-15)
    np.testing.assert_allclose(np.cross(twist[:, 1:], axis), 0.0, atol=1e-15)
    np.testing.assert_allclose(swing[:, 1:] @ axis, 0.0, atol=1e-14)
    swing, twist = spatial.swing_twist([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(twist, spatial.IDENTITY)
    np.testing.assert_allclose(swing, [0.0, 1.0, 0.0, 0.0])


def test_yaw_reads_the_heading():
    angle = np.linspace(-3.1, 3.1, 21)
    tilt = spatial.exp([0.2, -0.7, 0.0])
    np.testing.assert_allclose(spatial.yaw(spatial.from_yaw(angle)), angle, atol=1e-14)
    np.testing.assert_allclose(spatial.yaw(spatial.multiply(spatial.from_yaw(angle), tilt)), angle, atol=1e-14)
    np.testing.assert_allclose(spatial.yaw(-spatial.from_yaw(angle)), angle, atol=1e-14)


@pytest.mark.parametrize("length", [0.0, 1e-8, 1e-3, 0.3, 0.9999, 1.0001, 2.5, np.pi, 4.0, 6.0])
def test_jacobians_are_the_derivatives_of_exp(length):
    rng = np.random.default_rng(7)
    r = rng.normal(size=3)
    r *= length / np.linalg.norm(r)
    h = 1e-6
    columns = []
    for axis in np.eye(3):
        ahead, behind = spatial.exp(r + h * axis), spatial.exp(r - h * axis)
        columns.append(spatial.difference(behind, ahead) / (2 * h))
    np.testing.assert_allclose(spatial.right_jacobian(r), np.stack(columns, axis=-1), atol=1e-9)
    left_jacobian = spatial.right_jacobian(-r)  # world angular velocity = Jl(r) r_dot
    R = spatial.to_matrix(spatial.exp(r))
    np.testing.assert_allclose(left_jacobian, R @ spatial.right_jacobian(r), atol=1e-14)
    eye = spatial.right_jacobian_inverse(r) @ spatial.right_jacobian(r)
    np.testing.assert_allclose(eye, np.eye(3), atol=1e-13)
    eye = spatial.left_jacobian_inverse(r) @ left_jacobian
    np.testing.assert_allclose(eye, np.eye(3), atol=1e-13)


def test_series_and_closed_forms_meet():
    below, above = spatial.exp_coefficients(1.0 - 1e-12), spatial.exp_coefficients(1.0 + 1e-12)
    np.testing.assert_allclose(below, above, rtol=1e-11)
    np.testing.assert_allclose(
        spatial.inverse_coefficient(1.0 - 1e-12), spatial.inverse_coefficient(1.0 + 1e-12), rtol=1e-11
    )
    t = np.array([0.2, 0.7, 1.3, 2.9])
    _, _, db, dc = spatial.exp_coefficients(t**2)
    h = 1e-5
    ahead, behind = spatial.exp_coefficients((t + h) ** 2), spatial.exp_coefficients((t - h) ** 2)
    np.testing.assert_allclose(db * t, (ahead[0] - behind[0]) / (2 * h), atol=1e-10)
    np.testing.assert_allclose(dc * t, (ahead[1] - behind[1]) / (2 * h), atol=1e-10)


def test_rigid_motions_compose_and_invert():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(6, 3)), random_quats(6)), (rng.normal(size=(6, 3)), random_quats(6, seed=1))
    point = rng.normal(size=(6, 3))
    both = spatial.transform(spatial.compose(a, b), point)
    np.testing.assert_allclose(both, spatial.transform(a, spatial.transform(b, point)), atol=1e-14)
    back = spatial.transform(spatial.inverse(a), spatial.transform(a, point))
    np.testing.assert_allclose(back, point, atol=1e-14)


def test_normalize_survives_tiny_huge_and_zero():
    q = spatial.normalize([[1e-200, 1e-200, 0, 0], [1e200, 0, 0, 1e200], [0, 0, 0, 0]])
    s = np.sqrt(0.5)
    np.testing.assert_allclose(q, [[s, s, 0, 0], [s, 0, 0, s], [1, 0, 0, 0]], atol=1e-15)
