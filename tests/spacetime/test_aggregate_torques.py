"""Torques at chosen joints and places of points: against virtual power, complex steps, MuJoCo and differences."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from aggregate_plain import plain_places, plain_torques, step_pose

from counterpoise.character import Character
from counterpoise.character.library import character, characters
from counterpoise.errors import BadValue, UnknownName
from counterpoise.spacetime import joint_torque_derivatives, joint_torques, point_jacobians, turn_jacobians

sys.path.insert(0, str(Path(__file__).parent))
from aggregate_figures import figure, frames

NAMES = ["odd", *(entry.name for entry in characters() if entry.name != "planar")]
TINY = 1e-40


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert got.shape == wanted.shape
    scale = np.abs(wanted).max() + 1e-300
    assert np.abs(got - wanted).max() <= tolerance * scale, np.abs(got - wanted).max() / scale


def pushes(body: Character, seed: int = 0) -> dict[str, np.ndarray]:
    """Wrenches on three bodies, one of them the last."""
    rng = np.random.default_rng(seed)
    names = sorted({body.segments[0], body.segments[len(body.segments) // 2], body.segments[-1]})
    return {name: 20.0 * rng.normal(size=6) for name in names}


def mujoco_torques(body: Character, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """qfrc_inverse without passive forces and constraints."""
    m = mujoco.MjModel.from_xml_string(body.to_mjcf())
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
    mujoco.mj_inverse(m, d)
    return d.qfrc_inverse + d.qfrc_passive


# -- torques --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_mujocos_inverse_dynamics_agrees(name: str):
    body = figure(name)
    q, v, a = frames(body, 3, seed=1)
    got = joint_torques(body, q, v, a)
    for t in range(3):
        close(got[t], mujoco_torques(body, q[t], v[t], a[t]), 1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_the_worlds_wrenches_are_subtracted(name: str):
    """Against mj_applyFT: a wrench about the world's origin is a force at the origin and a torque."""
    body = figure(name)
    q, v, a = (x[0] for x in frames(body, 1, seed=2))
    forces = pushes(body)
    d = mujoco.MjData(body.model)
    d.qpos[:] = q
    mujoco.mj_forward(body.model, d)
    done = np.zeros(body.nv)
    for part, wrench in forces.items():
        mujoco.mj_applyFT(body.model, d, wrench[3:], wrench[:3], np.zeros(3), body.body_id(part), done)
    close(joint_torques(body, q, v, a, forces=forces), joint_torques(body, q, v, a) - done, 1e-11)


@pytest.mark.parametrize("name", ["odd", "chain", "planar_biped"])
@pytest.mark.parametrize("pushed", [False, True])
def test_torque_derivatives_agree_with_complex_steps(name: str, pushed: bool):
    body = figure(name)
    q, v, a = (x[0] for x in frames(body, 1, seed=3))
    forces = pushes(body) if pushed else {}
    by_id = {body.body_id(part): wrench for part, wrench in forces.items()}
    got = joint_torque_derivatives(body, q, v, a, forces=forces)
    close(got.torque, plain_torques(body.model, q, v, a, by_id), 1e-12)
    steps = 1j * TINY * np.eye(body.nv)
    by_q = [plain_torques(body.model, step_pose(body.model, q, d), v, a, by_id).imag / TINY for d in steps]
    by_v = [plain_torques(body.model, q, v + d, a, by_id).imag / TINY for d in steps]
    by_a = [plain_torques(body.model, q, v, a + d, by_id).imag / TINY for d in steps]
    close(got.by_q, np.array(by_q).T, 1e-12)
    close(got.by_v, np.array(by_v).T, 1e-12)
    close(got.by_a, np.array(by_a).T, 1e-12)
    for part, slope in got.by_forces.items():
        moved = []
        for d in np.eye(6):
            more = {**forces, part: forces[part] + d}
            moved.append(joint_torques(body, q, v, a, forces=more) - got.torque)
        np.testing.assert_allclose(slope, np.array(moved).T, atol=1e-10)


@pytest.mark.parametrize("name", ["human", "insectoid", "ostrich"])
def test_torque_derivatives_agree_with_central_differences_of_mujoco(name: str):
    body = figure(name)
    q, v, a = (x[0] for x in frames(body, 1, seed=4))
    got = joint_torque_derivatives(body, q, v, a)
    h, steps = 1e-6, np.eye(body.nv)
    by_q = np.array([
        (joint_at(body, body.integrate(q, h * d), v, a) - joint_at(body, body.integrate(q, -h * d), v, a)) / (2 * h)
        for d in steps
    ]).T  # fmt: skip
    by_v = np.array([(joint_at(body, q, v + h * d, a) - joint_at(body, q, v - h * d, a)) / (2 * h) for d in steps]).T
    M, d = np.zeros((body.nv, body.nv)), mujoco.MjData(body.model)
    d.qpos[:] = q
    mujoco.mj_forward(body.model, d)
    mujoco.mj_fullM(body.model, d, M)
    close(got.by_q, by_q, 1e-7)
    close(got.by_v, by_v, 1e-7)
    close(got.by_a, M, 1e-12)


def joint_at(body: Character, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """MuJoCo's recursive Newton-Euler and armature."""
    d = mujoco.MjData(body.model)
    d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
    mujoco.mj_fwdPosition(body.model, d)
    mujoco.mj_fwdVelocity(body.model, d)
    out = np.zeros(body.nv)
    mujoco.mj_rne(body.model, d, 1, out)
    return out + body.model.dof_armature * a


def test_chosen_joints_are_rows_of_all_of_them():
    body = character("human")
    q, v, a = frames(body, 11, seed=5)
    forces = {"hand_left": np.arange(66.0).reshape(11, 6), "foot_right": np.ones(6)}
    whole = joint_torque_derivatives(body, q, v, a, forces=forces)
    names = [body.joints[k].name for k in (7, 2, 0)]
    some = joint_torque_derivatives(body, q, v, a, names, forces)
    assert some.dofs == tuple(d for k in (7, 2, 0) for d in range(body.joints[k].dofs.start, body.joints[k].dofs.stop))
    for part, everything in zip(some[:4], whole[:4], strict=True):
        close(part, everything[:, list(some.dofs)], 1e-13)
    for t in (0, 10):
        alone = {"hand_left": forces["hand_left"][t], "foot_right": np.ones(6)}
        one = joint_torque_derivatives(body, q[t], v[t], a[t], names, alone)
        for single, part in zip(one[:4], some[:4], strict=True):
            close(single, part[t], 1e-13)
        close(one.by_forces["hand_left"], some.by_forces["hand_left"][t], 1e-13)


def test_a_hanging_arm_held_up_by_its_hand_needs_less_of_the_shoulder():
    body = character("human")
    still = np.zeros(body.nv)
    place = point_jacobians(body, body.neutral, [("hand_left", np.zeros(3))]).place[0]
    lift = np.concatenate([np.cross(place, [0.0, 0.0, 100.0]), [0.0, 0.0, 100.0]])
    before = joint_torques(body, body.neutral, still, still)
    after = joint_torques(body, body.neutral, still, still, forces={"hand_left": lift})
    assert before[2] - after[2] == pytest.approx(100.0)  # the root carries that much less


def test_bad_joints_and_wrenches_are_told_what_is_wanted():
    body = character("human")
    frame = body.neutral, np.zeros(body.nv), np.zeros(body.nv)
    with pytest.raises(UnknownName, match="no joint 'knee'"):
        joint_torques(body, *frame, ["knee"])
    with pytest.raises(BadValue, match=r"write \['neck'\]"):
        joint_torques(body, *frame, "neck")
    with pytest.raises(UnknownName, match="no body"):
        joint_torques(body, *frame, forces={"wing": np.zeros(6)})
    with pytest.raises(BadValue, match=r"wrench on 'foot_left' is .* it has shape \(3,\)"):
        joint_torques(body, *frame, forces={"foot_left": np.zeros(3)})
    with pytest.raises(BadValue, match="holds NaN"):
        joint_torques(body, *frame, forces={"foot_left": np.full(6, np.nan)})
    with pytest.raises(BadValue, match="a point of 'foot_left'"):
        point_jacobians(body, body.neutral, [("foot_left", (0.0, 1.0))])
    with pytest.raises(BadValue, match="bodies is a list"):
        turn_jacobians(body, body.neutral, "foot_left")
    with pytest.raises(BadValue, match="v must have shape"):
        turn_jacobians(body, body.neutral, ["foot_left"], np.zeros(3))


# -- places ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_places_and_turns_agree_with_mujoco(name: str):
    body = figure(name)
    m, d = body.model, mujoco.MjData(body.model)
    q, v, _ = frames(body, 2, seed=6)
    local = np.random.default_rng(0).normal(size=(m.nbody - 1, 3))
    points, turns = (
        point_jacobians(body, q, list(zip(body.segments, local, strict=True)), v),
        turn_jacobians(body, q, body.segments, v),
    )
    place, rotation = np.zeros((3, body.nv)), np.zeros((3, body.nv))
    for t in range(2):
        d.qpos[:], d.qvel[:] = q[t], v[t]
        mujoco.mj_forward(m, d)
        where, matrices = plain_places(m, q[t])
        np.testing.assert_allclose(where, d.xpos, atol=1e-12)
        for b in range(1, m.nbody):
            R = d.xmat[b].reshape(3, 3)
            point = d.xpos[b] + R @ local[b - 1]
            mujoco.mj_jac(m, d, place, rotation, point, b)
            np.testing.assert_allclose(matrices[b], R, atol=1e-12)
            np.testing.assert_allclose(points.place[t, b - 1], point, atol=1e-12)
            np.testing.assert_allclose(points.jacobian[t, b - 1], place, atol=1e-12)
            np.testing.assert_allclose(points.velocity[t, b - 1], place @ v[t], atol=1e-11)
            np.testing.assert_allclose(turns.rotation[t, b - 1], R, atol=1e-12)
            np.testing.assert_allclose(turns.jacobian[t, b - 1], rotation, atol=1e-12)
            np.testing.assert_allclose(turns.velocity[t, b - 1], rotation @ v[t], atol=1e-11)


@pytest.mark.parametrize("name", ["odd", "human", "planar_biped"])
def test_a_step_moves_points_and_turns_bodies_as_their_jacobians_say(name: str):
    body = figure(name)
    q = frames(body, 1, seed=7)[0][0]
    points = [(part, (0.1, -0.2, 0.3)) for part in body.segments]
    here, turned = point_jacobians(body, q, points), turn_jacobians(body, q, body.segments)
    h = 1e-6
    for j, step in enumerate(h * np.eye(body.nv)):
        ahead, behind = body.integrate(q, step), body.integrate(q, -step)
        moved = (point_jacobians(body, ahead, points).place - point_jacobians(body, behind, points).place) / (2 * h)
        np.testing.assert_allclose(here.jacobian[:, :, j], moved, atol=1e-8)
        front, back = (turn_jacobians(body, pose, body.segments).rotation for pose in (ahead, behind))
        rate = (front - back) @ np.swapaxes(turned.rotation, 1, 2) / (2 * h)  # [w] of each body
        spin = np.stack([rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]], axis=1)
        np.testing.assert_allclose(turned.jacobian[:, :, j], spin, atol=1e-8)
    assert not here.velocity.any()
