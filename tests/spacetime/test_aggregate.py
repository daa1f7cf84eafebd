"""Aggregate force and momentum: against complex steps, Pinocchio and MuJoCo, about any point, in any batch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from aggregate_plain import plain_com, plain_force, plain_momentum, step_pose

from counterpoise.character import Character
from counterpoise.character.library import character, characters
from counterpoise.errors import BadValue
from counterpoise.spacetime import aggregate_force, aggregate_force_derivatives, momentum, momentum_derivatives

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "laws")]
from aggregate_figures import figure, frames  # noqa: E402

NAMES = ["odd", *(entry.name for entry in characters() if entry.name != "planar")]
FEW = ["odd", "human", "chain", "planar_biped"]
TINY = 1e-40


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float = 1e-10) -> None:
    assert got.shape == wanted.shape
    scale = np.abs(wanted).max() + 1e-300
    assert np.abs(got - wanted).max() <= tolerance * scale, np.abs(got - wanted).max() / scale


def complex_steps(f: Callable[..., np.ndarray], body: Character, q: np.ndarray, *rates: np.ndarray) -> list[np.ndarray]:
    """Derivatives (len(f), nv) by q (in the tangent space) and by each of the rates."""
    steps = 1j * TINY * np.eye(body.nv)
    out = [np.array([f(step_pose(body.model, q, d), *rates).imag / TINY for d in steps]).T]
    for i in range(len(rates)):
        moved = [[r + d if i == k else r for k, r in enumerate(rates)] for d in steps]
        out.append(np.array([f(q, *r).imag / TINY for r in moved]).T)
    return out


# -- the definition -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_force_and_momentum_are_what_they_are_defined_to_be(name: str):
    body = figure(name)
    q, v, a = frames(body, 3)
    for at in (None, "com", np.array([0.4, -1.2, 0.7])):
        force, moment = aggregate_force(body, q, v, a, at), momentum(body, q, v, at)
        for t in range(3):
            point = plain_com(body.model, q[t]) if isinstance(at, str) else at
            close(force[t], plain_force(body.model, q[t], v[t], a[t], point), 1e-12)
            close(moment[t], plain_momentum(body.model, q[t], v[t], point), 1e-12)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("at", ["origin", "point", "com"])
def test_force_derivatives_agree_with_complex_steps(name: str, at: str):
    body = figure(name)
    q, v, a = (x[0] for x in frames(body, 1, seed=3))
    point = np.array([0.4, -1.2, 0.7]) if at == "point" else None

    def force(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return plain_force(body.model, q, v, a, plain_com(body.model, q) if at == "com" else point)

    got = aggregate_force_derivatives(body, q, v, a, "com" if at == "com" else point)
    close(got.force, force(q, v, a), 1e-12)
    for mine, stepped in zip(got[1:], complex_steps(force, body, q, v, a), strict=True):
        close(mine, stepped, 1e-12)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in FEW])
def test_force_derivatives_agree_with_complex_steps_for_the_whole_cast(name: str):
    body = figure(name)
    q, v, a = (x[0] for x in frames(body, 1, seed=4))
    got = aggregate_force_derivatives(body, q, v, a)
    stepped = complex_steps(lambda *frame: plain_force(body.model, *frame), body, q, v, a)
    for mine, other in zip(got[1:], stepped, strict=True):
        close(mine, other, 1e-12)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("at", ["origin", "com"])
def test_momentum_derivatives_agree_with_complex_steps(name: str, at: str):
    body = figure(name)
    q, v, _ = (x[0] for x in frames(body, 1, seed=5))

    def total(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return plain_momentum(body.model, q, v, plain_com(body.model, q) if at == "com" else None)

    got = momentum_derivatives(body, q, v, "com" if at == "com" else None)
    for mine, stepped in zip(got[1:], complex_steps(total, body, q, v), strict=True):
        close(mine, stepped, 1e-12)


# -- outsiders ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_mujoco_finds_the_same_momentum_and_its_rate(name: str):
    """mj_subtreeVel's momentum, and its rate along the motion plus the weight carried."""
    body = figure(name)
    m = body.model
    q, v, a = (x[0] for x in frames(body, 1, seed=6))

    def measured(time: float) -> tuple[np.ndarray, np.ndarray]:
        """[angular about the CoM; linear] momentum and CoM, `time` from now on a path with these v and a."""
        d = mujoco.MjData(m)
        d.qpos[:] = q
        mujoco.mj_integratePos(m, d.qpos, v * time + 0.5 * a * time**2, 1.0)
        d.qvel[:] = v + a * time
        mujoco.mj_forward(m, d)
        mujoco.mj_subtreeVel(m, d)
        return np.concatenate([d.subtree_angmom[0], body.mass * d.subtree_linvel[0]]), d.subtree_com[0].copy()

    here, com = measured(0.0)
    close(momentum(body, q, v, "com"), here, 1e-12)
    step = 1e-5
    rate = (measured(step)[0] - measured(-step)[0]) / (2.0 * step)
    rate[3:] -= body.mass * m.opt.gravity
    close(aggregate_force(body, q, v, a, "com"), rate, 1e-7)
    close(aggregate_force(body, q, v, a, com), rate, 1e-7)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "odd"])
def test_mujocos_inverse_dynamics_asks_the_same_of_the_root(name: str):
    """A free root's six rows are force and torque about it, the torque in the root's own axes."""
    body = figure(name)
    if body.joints[0].kind != "free":
        pytest.skip("no free root: no six rows to compare")
    m, d = body.model, mujoco.MjData(body.model)
    q, v, a = (x[0] for x in frames(body, 1, seed=7))
    d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
    mujoco.mj_inverse(m, d)
    F = aggregate_force(body, q, v, a, q[:3])
    close(np.concatenate([F[3:], d.xmat[1].reshape(3, 3).T @ F[:3]]), d.qfrc_inverse[:6] + d.qfrc_passive[:6], 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_agrees(name: str):
    """computeCentroidalDynamicsDerivatives, brought to MuJoCo's coordinates and about the centre of mass."""
    pin = pytest.importorskip("pinocchio")
    from pinocchio_twin import Twin

    body = figure(name)
    m = body.model
    if name == "odd":
        pytest.skip("a free root after a fixed one: the twin knows it only when it comes first")
    twin = Twin(m)
    q, v, a = (x[0] for x in frames(body, 1, seed=8))
    T = twin.T(q)
    free = body.joints[0].kind == "free"
    q_, v_ = twin.q(q), T @ v
    a_ = T @ a + twin.drift_acceleration(v_)
    by_q, rate_by_q, rate_by_v, rate_by_a = pin.computeCentroidalDynamicsDerivatives(twin.model, twin.data, q_, v_, a_)
    # its a' and v' depend on MuJoCo's q and v: v' = R^T v, a' = R^T a - w x v' on the root's linear rows
    v_by_q, a_by_q, a_by_v = (np.zeros((m.nv, m.nv)) for _ in range(3))
    if free:
        w, lin = v_[3:6], v_[:3]
        v_by_q[:3, 3:6] = skew(lin)
        a_by_q[:3, 3:6] = skew(T[:3, :3] @ a[:3]) - skew(w) @ skew(lin)
        a_by_v[:3, :3], a_by_v[:3, 3:6] = -skew(w) @ T[:3, :3], skew(lin)
    swap = np.r_[3:6, 0:3]  # Pinocchio writes [linear; angular]
    got = aggregate_force_derivatives(body, q, v, a, "com")
    close(got.by_a, (rate_by_a @ T)[swap])
    close(got.by_v, (rate_by_v @ T + rate_by_a @ a_by_v)[swap])
    close(got.by_q, (rate_by_q @ T + rate_by_v @ v_by_q + rate_by_a @ a_by_q)[swap])
    mine = momentum_derivatives(body, q, v, "com")
    close(mine.by_v, (rate_by_a @ T)[swap])
    close(mine.by_q, (by_q @ T + rate_by_a @ v_by_q)[swap])
    close(mine.momentum[3:], twin.data.hg.linear)
    close(mine.momentum[:3], twin.data.hg.angular)


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


# -- laws -----------------------------------------------------------------------------------------------------------
def test_standing_still_asks_for_the_weight_under_the_centre_of_mass():
    body = character("human")
    F = aggregate_force(body, body.neutral, np.zeros(body.nv), np.zeros(body.nv))
    com = plain_com(body.model, body.neutral)
    weight = body.mass * 9.81
    np.testing.assert_allclose(F, [com[1] * weight, -com[0] * weight, 0, 0, 0, weight], atol=1e-9)


def test_free_fall_asks_for_nothing():
    """MuJoCo lets a limp human fall and tumble: its own accelerations need no force from the world."""
    body = character("human")
    m, d = body.model, mujoco.MjData(body.model)
    v = frames(body, 1, seed=9)[1][0]
    d.qpos[:], d.qvel[:] = body.integrate(body.neutral, 0.1 * v), v
    d.qpos[2] += 5.0
    mujoco.mj_forward(m, d)
    F = aggregate_force(body, d.qpos, d.qvel, d.qacc, "com")
    assert np.abs(F).max() < 1e-8 * body.mass * 9.81


@pytest.mark.parametrize("count", [1, 3, 7, 8, 9, 16, 21])
def test_a_batch_is_its_frames_one_by_one(count: int):
    body = character("human")
    q, v, a = frames(body, count)
    whole = aggregate_force_derivatives(body, q, v, a, "com")
    moved = momentum_derivatives(body, q, v)
    only = aggregate_force(body, q, v, a, "com")
    close(only, whole.force, 1e-13)
    for t in range(count):
        for batch, one in zip(whole, aggregate_force_derivatives(body, q[t], v[t], a[t], "com"), strict=True):
            close(batch[t], one, 1e-13)
        for batch, one in zip(moved, momentum_derivatives(body, q[t], v[t]), strict=True):
            close(batch[t], one, 1e-13)


def test_no_frames_are_no_trouble():
    body = character("human")
    got = aggregate_force_derivatives(body, np.zeros((0, body.nq)), np.zeros((0, body.nv)), np.zeros((0, body.nv)))
    assert got.force.shape == (0, 6) and got.by_q.shape == (0, 6, body.nv)


def test_about_another_point_the_torque_changes_by_the_lever():
    body = character("human")
    q, v, a = frames(body, 9)
    points = np.random.default_rng(1).normal(size=(9, 3))
    origin, there = aggregate_force_derivatives(body, q, v, a), aggregate_force_derivatives(body, q, v, a, points)
    close(there.force[:, :3], origin.force[:, :3] - np.cross(points, origin.force[:, 3:]))
    for mine, other in zip(there[1:], origin[1:], strict=True):
        close(mine[:, 3:], other[:, 3:], 1e-12)
        close(mine[:, :3], other[:, :3] - np.cross(points[:, :, None], other[:, 3:], axis=1))
    fixed = aggregate_force_derivatives(body, q, v, a, points[2])
    close(fixed.by_q[2], there.by_q[2], 1e-12)


def test_far_from_the_origin_the_centre_of_mass_is_as_exact_as_near_it():
    body = character("human")
    q, v, a = frames(body, 8)
    far = q.copy()
    far[:, :3] += [30_000.0, -20_000.0, 100.0]
    for near, other in zip(
        aggregate_force_derivatives(body, q, v, a, "com"),
        aggregate_force_derivatives(body, far, v, a, "com"),
        strict=True,
    ):
        close(other, near, 1e-9)


def test_long_quaternions_are_read_as_their_direction():
    body = character("human")
    q, v, a = frames(body, 2)
    longer = q.copy()
    longer[:, 3:7] *= 3.0
    close(aggregate_force(body, longer, v, a), aggregate_force(body, q, v, a), 1e-12)


def test_asking_changes_nothing_and_answers_stay_still():
    body = character("human")
    q, v, a = frames(body, 4)
    kept = q.copy(), v.copy(), a.copy()
    q.flags.writeable = False
    first = aggregate_force_derivatives(body, q, v, a)
    assert all(np.array_equal(x, y) for x, y in zip(kept, (q, v, a), strict=True))
    with pytest.raises(ValueError, match="read-only"):
        first.by_q[0] = 0.0
    for x, y in zip(first, aggregate_force_derivatives(body, q, v, a), strict=True):
        assert np.array_equal(x, y)


# -- bad input ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"q": np.zeros(5)}, r"\(49,\) or \(n, 49\); q has shape \(5,\)"),
        ({"q": np.zeros((2, 3, 49))}, r"q has shape \(2, 3, 49\)"),
        ({"v": np.zeros(49)}, r"v must have shape \(41,\)"),
        ({"a": np.zeros((2, 41))}, r"a must have shape \(41,\)"),
        ({"a": "fast"}, "a must be an array of numbers"),
        ({"v": np.full(41, np.nan)}, r"v holds NaN or infinity at \[\[0\]"),
        ({"about": "centre"}, '"com" or None'),
        ({"about": np.zeros((4, 3))}, r"it has shape \(4, 3\)"),
        ({"about": [0.0, np.inf, 0.0]}, "about holds NaN or infinity"),
        ({"q": np.zeros(49)}, r"the quaternion q\[3:7\] is zero in frame 0"),
    ],
)
def test_bad_input_is_told_what_is_wanted(change: dict[str, object], says: str):
    body = character("human")
    given: dict[str, object] = {"q": body.neutral, "v": np.zeros(41), "a": np.zeros(41), **change}
    with pytest.raises(BadValue, match=says):
        aggregate_force_derivatives(body, **given)  # type: ignore[arg-type]
