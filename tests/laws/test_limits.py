"""Limits: swing and twist of ball joints near and far from every singularity, and the tendons that hold them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterpoise import spatial
from counterpoise.character import BallLimit, Character
from counterpoise.character.library import character
from counterpoise.control import Action
from counterpoise.errors import BadValue
from counterpoise.simulate import World, simulate

WHO = {"human": ("hip_left", "shoulder_left", "shoulder_right", "neck", "waist"), "dinosaur": ("tail2", "hip_right"),
       "chicken": ("shoulder_left", "shoulder_right"), "insectoid": ("shoulder2_left",)}  # fmt: skip
BALLS = [(name, joint) for name, joints in WHO.items() for joint in joints]
WIDE = BallLimit(np.array([0, 0, 1.0]), np.array([1.0, 0, 0, 0]), np.empty((0, 3)), np.empty(0), (-np.pi, np.pi))

numbers = st.floats(-1.0, 1.0, allow_nan=False)
quaternions = (
    st.tuples(numbers, numbers, numbers, numbers)
    .filter(lambda q: np.linalg.norm(q) > 1e-3)
    .map(lambda q: np.array(q) / np.linalg.norm(q))
)
tiny = st.tuples(numbers, numbers, numbers, st.sampled_from([0.0, 1e-300, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3]))


def limit_of(which: tuple[str, str]) -> BallLimit:
    return character(which[0]).limits.balls[which[1]]


def turned(q: np.ndarray, turn: np.ndarray) -> np.ndarray:
    return spatial.multiply(q, spatial.exp(turn))


def swung_to(limit: BallLimit, direction: np.ndarray, twist: float) -> np.ndarray:
    """The orientation whose bone points along `direction` with this twist."""
    axis0 = spatial.rotate(limit.rest, limit.axis)
    way = np.asarray(direction, float) / np.linalg.norm(direction)
    w = 1.0 + axis0 @ way
    swing = np.concatenate([[w], np.cross(axis0, way)])
    swing /= np.linalg.norm(swing)
    return spatial.multiply(spatial.multiply(swing, spatial.exp(twist * axis0)), limit.rest)


def corners_of(limit: BallLimit) -> list[np.ndarray]:
    """Directions where two faces meet and no other face is violated."""
    out = []
    for i in range(len(limit.offsets)):
        for j in range(i):
            a, b, (k, l) = limit.normals[i], limit.normals[j], limit.offsets[[i, j]]
            c = a @ b
            across = np.cross(a, b)
            if across @ across < 1e-9:
                continue
            base = ((k - l * c) * a + (l - k * c) * b) / (1 - c * c)
            room = 1.0 - base @ base
            if room <= 0:
                continue
            for sign in (-1, 1):
                way = base + sign * np.sqrt(room / (across @ across)) * across
                if np.all(limit.normals @ way <= limit.offsets + 1e-9):
                    out.append(way)
    return out


def special_orientations(limit: BallLimit) -> list[np.ndarray]:
    """Identity, rest, twist of pi, the bone opposite to rest, every face and corner of the cone, each with twists."""
    axis0 = spatial.rotate(limit.rest, limit.axis)
    across = np.cross(axis0, np.eye(3)[int(np.argmin(np.abs(axis0)))])
    across /= np.linalg.norm(across)
    low, high = limit.twist
    out = [np.array([1.0, 0, 0, 0]), limit.rest]
    out += [swung_to(limit, axis0, angle) for angle in (np.pi, -np.pi, low, high, np.nextafter(np.pi, 0))]
    for angle in (0.0, 1.0, np.pi):  # opposite
        flip = np.concatenate([[0.0], across])
        out.append(spatial.multiply(spatial.multiply(flip, spatial.exp(angle * axis0)), limit.rest))
    for normal, offset in zip(limit.normals, limit.offsets, strict=True):
        flat = axis0 - (normal @ axis0) * normal
        flat /= np.linalg.norm(flat)
        face = np.sqrt(1 - offset**2) * flat + offset * normal
        out += [swung_to(limit, face, t) for t in (0.0, low, high)]
        for pole in (normal, -normal):
            if pole @ axis0 > -1 + 1e-9:
                out.append(swung_to(limit, pole, 0.0))
    out += [swung_to(limit, corner, t) for corner in corners_of(limit) for t in (0.0, low, high)]
    return [q / np.linalg.norm(q) for q in out]


SPECIAL = [(which, q) for which in BALLS for q in special_orientations(limit_of(which))]


def rows_of(limit: BallLimit, q: np.ndarray) -> np.ndarray:
    """The definition, written out by another way: rotation matrices and the angle of the twist's own rotation."""
    R = spatial.to_matrix(q)
    Q = spatial.to_matrix(limit.rest)
    bone, axis0 = R @ limit.axis, Q @ limit.axis
    swing = np.arcsin(np.clip(limit.normals @ bone, -1, 1)) - np.arcsin(limit.offsets)
    w = 1.0 + axis0 @ bone
    s = np.concatenate([[w], np.cross(axis0, bone)])
    S = spatial.to_matrix(s / np.linalg.norm(s))
    T = S.T @ R @ Q.T  # a rotation about axis0
    y = np.cross(axis0, np.eye(3)[int(np.argmin(np.abs(axis0)))])
    y /= np.linalg.norm(y)
    phi = np.arctan2(np.cross(axis0, y) @ T @ y, y @ T @ y)
    return np.concatenate([swing, [limit.twist[0] - phi, phi - limit.twist[1]]])


def test_there_are_corners_to_test():
    assert all(len(corners_of(limit_of(which))) >= 2 for which in BALLS)
    assert len(corners_of(limit_of(("human", "hip_left")))) == len(limit_of(("human", "hip_left")).offsets)


@given(which=st.sampled_from(BALLS), q=quaternions)
def test_rows_agree_with_their_definition(which: tuple[str, str], q: np.ndarray):
    who, limit = character(which[0]), limit_of(which)
    axis0, bone = spatial.rotate(limit.rest, limit.axis), spatial.rotate(q, limit.axis)
    if axis0 @ bone < -0.99:
        return
    ours, theirs = _rows(who, which[1], q), rows_of(limit, q)
    gap = np.abs(ours - theirs)
    gap[-2:] = np.minimum(gap[-2:], np.abs(gap[-2:] - 2 * np.pi))  # phi = pi and phi = -pi are one twist
    assert gap.max() < 1e-7


@given(which=st.sampled_from(BALLS), q=quaternions)
def test_violation_is_finite_even_and_gone_after_clamping(which: tuple[str, str], q: np.ndarray):
    _check_violation(limit_of(which), q)


@given(case=st.sampled_from(SPECIAL), nudge=tiny, sign=st.sampled_from([-1.0, 1.0]))
def test_so_it_is_beside_every_singular_orientation(case: Any, nudge: tuple[float, ...], sign: float):
    which, q = case
    _check_violation(limit_of(which), sign * turned(q, np.array(nudge[:3]) * nudge[3]))


def _check_violation(limit: BallLimit, q: np.ndarray) -> None:
    swing, twist = limit.violation(q)
    assert np.isfinite([swing, twist]).all() and swing >= 0.0 and 0.0 <= twist <= 2 * np.pi
    assert np.allclose(limit.violation(-q), (swing, twist), atol=1e-12) or abs(limit.split(q)[1]) > np.pi - 1e-6
    safe = limit.clamp(q)
    assert abs(np.linalg.norm(safe) - 1.0) < 1e-12
    assert max(limit.violation(safe)) <= 1e-9
    assert max(limit.violation(limit.clamp(-q))) <= 1e-9
    again = limit.clamp(safe)
    assert min(np.abs(again - safe).max(), np.abs(again + safe).max()) < 1e-9
    if swing == 0.0 and twist == 0.0:
        assert min(np.abs(safe - q).max(), np.abs(safe + q).max()) < 1e-12


@pytest.mark.parametrize("which", BALLS)
def test_at_rest_all_rows_are_negative(which: tuple[str, str]):
    limit = limit_of(which)
    assert limit.violation(limit.rest) == (0.0, 0.0)
    assert _rows(character(which[0]), which[1], limit.rest).max() < -0.05


@given(which=st.sampled_from(BALLS), seed=st.integers(0, 10_000))
def test_clamping_moves_no_further_than_to_rest(which: tuple[str, str], seed: int):
    """A bone less than a right angle off is turned back into its cone by no more than would take it to the middle."""
    limit = limit_of(which)
    q = spatial.normalize(np.random.default_rng(seed).normal(size=4))
    bone, safe = limit.split(q)[0], limit.split(limit.clamp(q))[0]
    middle = spatial.rotate(limit.rest, limit.axis)
    if bone @ middle < 0.0:
        return
    assert np.arccos(np.clip(bone @ safe, -1, 1)) <= np.arccos(np.clip(bone @ middle, -1, 1)) + 1e-6


def _rows(who: Character, joint: str, q: np.ndarray) -> np.ndarray:
    pose = who.neutral.copy()
    pose[who.joint(joint).qpos] = q
    picked = [i for i, name in enumerate(who.limits.names) if name.startswith(f"{joint}.")]
    return who.limits.values(pose)[picked]


@given(which=st.sampled_from(BALLS), q=quaternions)
def test_the_gradient_of_every_row_agrees_with_differences(which: tuple[str, str], q: np.ndarray):
    who, limit = character(which[0]), limit_of(which)
    axis0, bone = spatial.rotate(limit.rest, limit.axis), spatial.rotate(q, limit.axis)
    phi = limit.split(q)[1]
    sines = limit.normals @ bone
    if axis0 @ bone < -0.9 or abs(phi) > 3.0 or np.abs(sines).max() > 0.999:
        return  # the singularities: the bone opposite to rest, the jump of the twist, the pole of a face
    _check_gradient(who, who.joint(which[1]), q)


def _check_gradient(who: Character, joint: Any, q: np.ndarray) -> None:
    pose = who.neutral.copy()
    pose[joint.qpos] = q
    J = who.limits.jacobian(pose)
    step = 1e-6
    for k in range(joint.dofs.start, joint.dofs.stop):
        e = np.zeros(who.nv)
        e[k] = step
        slope = (who.limits.values(who.integrate(pose, e)) - who.limits.values(who.integrate(pose, -e))) / (2 * step)
        assert np.abs(J[:, k] - slope).max() < 1e-6 * max(1.0, np.abs(slope).max())


def test_all_gradients_of_a_figure_agree_with_differences(cast: Character, rng: np.random.Generator):
    pose = cast.integrate(cast.neutral, 0.2 * rng.normal(size=cast.nv))
    J, step = cast.limits.jacobian(pose), 1e-6
    assert J.shape == (len(cast.limits), cast.nv)
    for k in range(cast.nv):
        e = np.zeros(cast.nv)
        e[k] = step
        up, down = cast.limits.values(cast.integrate(pose, e)), cast.limits.values(cast.integrate(pose, -e))
        assert np.abs(J[:, k] - (up - down) / (2 * step)).max(initial=0.0) < 1e-6


def test_violation_and_its_gradient_are_the_positive_part(human: Character, rng: np.random.Generator):
    pose = human.integrate(human.neutral, rng.normal(size=human.nv))
    g = human.limits.values(pose)
    assert (g > 0).any() and (g < 0).any()
    assert np.array_equal(human.limits.violation(pose), np.maximum(g, 0))
    assert np.array_equal(human.limits.gradient(pose)[g > 0], human.limits.jacobian(pose)[g > 0])
    assert not human.limits.gradient(pose)[g <= 0].any()
    worst, value = human.limits.worst(pose)
    assert value == g.max() and worst == human.limits.names[int(np.argmax(g))]
    safe = human.limits.clamp(pose)
    assert human.limits.values(safe).max() <= 1e-9
    assert np.array_equal(human.limits.clamp(human.neutral), human.neutral)


def test_knees_and_elbows_bend_one_way(human: Character):
    for name, way in (("knee_left", "shank"), ("elbow_left", "forearm")):
        pose = human.neutral.copy()
        pose[human.joint(name).qpos] = -0.3
        worst, value = human.limits.worst(pose)
        assert worst == f"{name}.low" and value == pytest.approx(0.3), way


def test_quaternions_that_mean_nothing_are_refused():
    limit = limit_of(("human", "hip_left"))
    for bad in ((0, 0, 0, 0), (np.nan, 0, 0, 1), (1, 0, 0), "up"):
        with pytest.raises((BadValue, ValueError)):
            limit.violation(bad)
    for low, high in ((1.0, -1.0), (-4.0, 0.0), (np.nan, 1.0)):
        with pytest.raises(BadValue):
            BallLimit(limit.axis, limit.rest, limit.normals, limit.offsets, (low, high))
    with pytest.raises(BadValue):
        BallLimit(np.zeros(3), limit.rest, limit.normals, limit.offsets, limit.twist)


@given(q=quaternions)
def test_a_joint_without_faces_and_with_a_full_twist_is_never_violated(q: np.ndarray):
    assert max(WIDE.violation(q)) <= 1e-12
    assert np.array_equal(WIDE.clamp(q), q / np.linalg.norm(q))


# -- the tendons --------------------------------------------------------------------------------------------------
def slack(who: Character, pose: np.ndarray) -> dict[str, float]:
    """Length of every limit tendon above its shortest [m]."""
    data = mujoco.MjData(who.model)
    data.qpos[:] = pose
    mujoco.mj_fwdPosition(who.model, data)
    m = who.model
    return {m.tendon(t).name: float(data.ten_length[t] - m.tendon_range[t, 0]) for t in range(m.ntendon)}


def test_every_row_of_a_ball_joint_has_its_tendon(cast: Character):
    rows = {name for name in cast.limits.names if name.split(".")[0] in cast.limits.balls}
    assert rows == {cast.model.tendon(t).name for t in range(cast.model.ntendon)}


@given(which=st.sampled_from(BALLS), seed=st.integers(0, 10_000))
def test_tendons_are_taut_exactly_where_rows_are_violated(which: tuple[str, str], seed: int):
    who, joint, rng = character(which[0]), character(which[0]).joint(which[1]), np.random.default_rng(seed)
    limit = limit_of(which)
    axis0 = spatial.rotate(limit.rest, limit.axis)
    if seed % 3 == 0:  # close to a face
        face = int(rng.integers(len(limit.offsets)))
        normal = limit.normals[face]
        flat = np.cross(normal, rng.normal(size=3))
        flat /= np.linalg.norm(flat)
        k = np.sin(np.arcsin(limit.offsets[face]) + rng.normal() * 1e-4)
        q = swung_to(limit, np.sqrt(1 - k * k) * flat + k * normal, rng.uniform(-0.5, 0.5))
    elif seed % 3 == 1:  # close to an end of the twist
        end = limit.twist[seed % 2] + rng.normal() * 0.04
        q = swung_to(limit, limit.split(limit.clamp(spatial.normalize(rng.normal(size=4))))[0], end)
    else:
        q = spatial.normalize(rng.normal(size=4))
    if axis0 @ spatial.rotate(q, limit.axis) < -0.5:
        return  # far outside the cone, where the twist means little
    pose = who.neutral.copy()
    pose[joint.qpos] = q
    rows = dict(zip(who.limits.names, who.limits.values(pose), strict=True))
    for name, length in slack(who, pose).items():
        if name.startswith(f"{joint.name}.swing") and abs(rows[name]) > 5e-5:  # the text keeps six digits
            assert np.sign(length) == -np.sign(rows[name]), (name, rows[name], length)
    inside = max(v for n, v in rows.items() if n.startswith(f"{joint.name}.swing")) <= 0.0
    phi = limit.split(q)[1]
    if inside:
        for name, end in (("twist_low", limit.twist[0]), ("twist_high", limit.twist[1])):
            row, length = rows[f"{joint.name}.{name}"], slack(who, pose)[f"{joint.name}.{name}"]
            if abs(row) > 0.02 and abs(phi - end) < np.pi / 2:
                assert np.sign(length) == -np.sign(row), (name, row, length)


# -- limits in motion ---------------------------------------------------------------------------------------------
class Thrash:
    """Every joint driven by its full torque, in a direction drawn anew ten times a second."""

    rate = 100.0

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def begin(self, who: Character) -> Any:
        return np.random.default_rng(self.seed), np.zeros(who.nv), 0

    def act(self, snapshot: Any, memory: Any) -> Action:
        rng, torque, count = memory
        if count % 10 == 0:
            torque = snapshot.character.torque_limit * rng.choice([-1.0, 1.0], size=snapshot.character.nv)
        return Action(torque, (rng, torque, count + 1))


def test_a_thrashing_figure_stays_near_its_limits(standing: Character):
    """Every joint driven at full strength, to and fro, without gravity: it meets its stops at 100 rad/s and more, that
    is 6 to 11 degrees a step of 1 ms, and they stop it within a step or two."""
    recording = simulate(standing, Thrash(0), 2.0, world=World(ground=False, gravity=(0.0, 0.0, 0.0)))
    assert recording.status == "finished"
    worst = np.max([standing.limits.values(q) for q in recording.positions()[::5]], axis=0)
    row = int(np.argmax(worst))
    assert worst.max() > 0.0  # the limits were reached
    assert np.degrees(worst.max()) < 15.0, (standing.limits.names[row], np.degrees(worst.max()))


class Press:
    """Half of every joint's strength, always the same way."""

    rate = 500.0

    def begin(self, who: Character) -> Any:
        return None

    def act(self, snapshot: Any, memory: Any) -> Action:
        return Action(0.5 * snapshot.character.torque_limit)


@pytest.mark.parametrize("name", ["human", "chicken"])
def test_a_joint_pressed_against_its_stop_rests_there(name: str):
    who = character(name)
    recording = simulate(who, Press(), 2.0, world=World(ground=False, gravity=(0.0, 0.0, 0.0)))
    late = recording.positions()[-200::20]
    assert np.degrees(max(who.limits.worst(q)[1] for q in late)) < 0.5
    assert np.abs(recording.velocities()[-200:, 6:]).max() < 0.1  # [rad/s]: no chatter
