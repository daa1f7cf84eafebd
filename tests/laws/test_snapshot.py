"""Snapshot against virtual work with differences, and against Pinocchio."""

from __future__ import annotations

from dataclasses import fields

import mujoco
import numpy as np
import pytest
from random_states import random_state

from counterpoise import spatial
from counterpoise.character import Character, State
from counterpoise.character.library import character
from counterpoise.character.snapshot import take_contact_places
from counterpoise.character.track import follow, point_path
from counterpoise.errors import BadValue, UnknownName

SOME = ["human", "ostrich", "chain", "planar_biped", "insectoid"]


class Differences:
    """Bodies' Jacobians and drifts from positions alone: q(t) = q exp(v t) has constant v in MuJoCo's coordinates."""

    def __init__(self, who: Character, state: State) -> None:
        self.who, self.state, self.data = who, state, mujoco.MjData(who.model)
        m = who.model
        self.J = np.zeros((m.nbody, 3, m.nv))
        self.Jw = np.zeros((m.nbody, 3, m.nv))
        for j in range(m.nv):
            e = np.zeros(m.nv)
            e[j] = 1.0
            self.J[:, :, j], self.Jw[:, :, j], _, _ = self._derivatives(e)
        self.v, self.w, self.a, self.alpha = self._derivatives(state.v)
        self._bodies(0.0, state.v)
        R = self.data.ximat.reshape(-1, 3, 3)
        self.inertia = np.einsum("bij,bj,bkj->bik", R, m.body_inertia, R)
        self.com_of = self.data.xipos.copy()
        self.mass = m.body_mass.copy()
        self.com = self.mass @ self.com_of / self.mass.sum()

    def _bodies(self, t: float, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.data.qpos[:] = self.who.integrate(self.state.q, t * v)
        mujoco.mj_kinematics(self.who.model, self.data)
        return self.data.xipos.copy(), self.data.xquat.copy()

    def _derivatives(self, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """Velocity, angular velocity, acceleration, angular acceleration of every body, to fourth order."""
        step = 2e-3
        here, q0 = self._bodies(0.0, v)
        place, turn = {}, {}
        for k in (-2, -1, 1, 2):
            p, q = self._bodies(k * step, v)
            place[k], turn[k] = p - here, spatial.log(spatial.multiply(q, spatial.conjugate(q0)))
        first = [(8 * (x[1] - x[-1]) - (x[2] - x[-2])) / (12 * step) for x in (place, turn)]
        second = [(16 * (x[1] + x[-1]) - (x[2] + x[-2])) / (12 * step**2) for x in (place, turn)]
        return (*first, *second)

    def M(self) -> np.ndarray:
        linear = np.einsum("b,bik,bil->kl", self.mass, self.J, self.J)
        return linear + np.einsum("bik,bij,bjl->kl", self.Jw, self.inertia, self.Jw)

    def spin(self) -> np.ndarray:
        """Rate of each body's angular momentum about its own centre at zero joint acceleration."""
        angular = np.einsum("bij,bj->bi", self.inertia, self.w)
        return np.einsum("bij,bj->bi", self.inertia, self.alpha) + np.cross(self.w, angular)

    def h(self) -> np.ndarray:
        force = self.mass[:, None] * (self.a - self.who.model.opt.gravity)
        return np.einsum("bik,bi->k", self.J, force) + np.einsum("bik,bi->k", self.Jw, self.spin())

    def momentum_matrix(self) -> np.ndarray:
        arm = self.com_of - self.com
        L = np.einsum("b,bik->ik", self.mass, self.J)
        H = np.einsum("b,bik->ik", self.mass, np.cross(arm[:, :, None], self.J, axis=1))
        return np.vstack([H + np.einsum("bij,bjk->ik", self.inertia, self.Jw), L])

    def momentum_drift(self) -> np.ndarray:
        force = self.mass[:, None] * self.a
        H = np.cross(self.com_of - self.com, force) + self.spin()
        return np.concatenate([H.sum(axis=0), force.sum(axis=0)])


def close(ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> None:
    scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
    assert np.abs(ours - theirs).max(initial=0.0) < tolerance * scale


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_snapshot_agrees_with_virtual_work_and_differences(name: str, seed: int):
    who = character(name)
    state = random_state(who, np.random.default_rng(seed))
    snap, fd = who.snapshot(state), Differences(who, state)
    close(snap.com, fd.com, 1e-12)
    close(snap.M - np.diag(who.model.dof_armature), fd.M(), 1e-6)
    close(snap.h - who.model.dof_damping * state.v, fd.h(), 1e-6)
    close(snap.momentum_matrix, fd.momentum_matrix(), 1e-6)
    close(snap.momentum_drift, fd.momentum_drift(), 1e-6)
    close(snap.momentum, fd.momentum_matrix() @ state.v, 1e-6)
    for b in range(1, who.model.nbody):
        body, middle = who.segments[b - 1], who.model.body_ipos[b]
        close(snap.jacobian(body, middle), fd.J[b], 1e-6)
        close(snap.drift(body, middle), fd.a[b], 1e-6)
        close(snap.angular_jacobian(body), fd.Jw[b], 1e-6)
        close(snap.angular_drift(body), fd.alpha[b], 1e-6)
        close(snap.velocity(body, middle), fd.v[b], 1e-6)
        close(snap.angular_velocity(body), fd.w[b], 1e-6)


def test_a_snapshot_agrees_with_pinocchio(cast: Character):
    pin = pytest.importorskip("pinocchio")
    from pinocchio_twin import Twin

    twin, rng = Twin(cast.model), np.random.default_rng(5)
    points = [twin.add_point(cast.body_id(p.body), np.array(p.position)) for p in cast.contact_points]
    twin.ready()
    for _ in range(5):
        state = random_state(cast, rng, 0.8, 3.0)
        snap, T, q = cast.snapshot(state), twin.T(state.q), twin.q(state.q)
        v = T @ state.v
        a = twin.drift_acceleration(v)
        m, d = twin.model, twin.data
        M = pin.crba(m, d, q)
        M = np.triu(M) + np.triu(M, 1).T
        close(snap.M - np.diag(cast.model.dof_armature), T.T @ M @ T, 1e-9)
        close(snap.h - cast.model.dof_damping * state.v, T.T @ pin.rnea(m, d, q, v, a), 1e-9)
        close(snap.com, pin.centerOfMass(m, d, q, v, a), 1e-9)
        close(snap.com_velocity, d.vcom[0], 1e-9)
        close(snap.com_drift, d.acom[0], 1e-9)
        close(snap.com_jacobian, pin.jacobianCenterOfMass(m, d, q) @ T, 1e-9)
        pin.computeCentroidalMap(m, d, q)
        swap = [3, 4, 5, 0, 1, 2]
        A = d.Ag[swap]
        close(snap.momentum_matrix, A @ T, 1e-9)
        close(snap.momentum, A @ v, 1e-9)
        pin.computeCentroidalMapTimeVariation(m, d, q, v)
        close(snap.momentum_drift, d.dAg[swap] @ v + A @ a, 1e-9)
        for b, name in enumerate(cast.segments, start=1):
            place, J, drift = twin.frame(twin.frames[b], q, v, a, T)
            close(snap.position(name), place, 1e-9)
            close(snap.jacobian(name), J[:3], 1e-9)
            close(snap.angular_jacobian(name), J[3:], 1e-9)
            close(snap.drift(name), drift[:3], 1e-9)
            close(snap.angular_drift(name), drift[3:], 1e-9)
        for i, frame in enumerate(points):
            place, J, drift = twin.frame(frame, q, v, a, T)
            close(snap.contact_position[i], place, 1e-9)
            close(snap.contact_jacobian[i], J[:3], 1e-9)
            close(snap.contact_velocity[i], J[:3] @ state.v, 1e-9)
            close(snap.contact_drift[i], drift[:3], 1e-9)
        kinetic = pin.computeKineticEnergy(m, d, q, v)
        close(snap.kinetic_energy - 0.5 * cast.model.dof_armature @ state.v**2, kinetic, 1e-9)
        close(snap.potential_energy, pin.computePotentialEnergy(m, d, q), 1e-9)


def values_of(snap: object) -> dict[str, np.ndarray]:
    return {f.name: np.array(v) for f in fields(snap) if isinstance(v := getattr(snap, f.name), np.ndarray)}


def test_asking_touches_nothing(cast: Character, rng: np.random.Generator):
    state = random_state(cast, rng)
    snap = cast.snapshot(state)
    before = values_of(snap)
    body = cast.segments[-1]
    answers = [
        snap.position(body),
        snap.jacobian(body),
        snap.drift(body),
        snap.com_jacobian,
        snap.rotation(body),
    ]
    cast.snapshot(random_state(cast, rng))  # another state
    cast.snapshot(cast.state())
    again = [
        snap.position(body),
        snap.jacobian(body),
        snap.drift(body),
        snap.com_jacobian,
        snap.rotation(body),
    ]
    assert all(np.array_equal(a, b) for a, b in zip(answers, again, strict=True))
    for name, value in values_of(snap).items():
        assert np.array_equal(value, before[name]), name
    fresh = values_of(cast.snapshot(state))
    for name, value in before.items():
        assert np.array_equal(fresh[name], value), name


def test_answers_are_copies(human: Character):
    snap = human.snapshot()
    snap.position("head")[:] = 7.0
    snap.rotation("head")[:] = 7.0
    snap.angular_velocity("head")[:] = 7.0
    assert np.array_equal(values_of(snap)["body_position"], values_of(human.snapshot())["body_position"])
    with pytest.raises(ValueError):
        snap.state.q[0] = 1.0


def test_states_are_read_only_copies(human: Character):
    q = human.neutral.copy()
    state = human.state(q)
    q[:] = 0.0
    assert np.allclose(state.q, human.neutral, atol=1e-12)
    with pytest.raises(ValueError):
        state.v[0] = 1.0


def test_a_body_in_the_world_weighs_what_the_snapshot_says(standing: Character):
    """Standing still, what the ground must give is on the root rows of h."""
    snap = standing.snapshot()
    up = snap.h[2] if standing.root_dofs.stop == 6 else snap.h[1]
    assert up == pytest.approx(9.81 * standing.mass, rel=1e-9)


def test_a_track_agrees_with_snapshots(cast: Character, rng: np.random.Generator):
    states = [random_state(cast, rng) for _ in range(4)]
    track = follow(cast, np.array([s.q for s in states]), np.array([s.v for s in states]))
    path = point_path(cast, track, cast.segments[-1], (0.1, 0.2, 0.3))
    for k, state in enumerate(states):
        snap = cast.snapshot(state)
        close(track.com[k], snap.com, 1e-12)
        close(track.momentum[k], snap.momentum, 1e-9)
        close(track.kinetic[k], snap.kinetic_energy, 1e-9)
        close(track.potential[k], snap.potential_energy, 1e-9)
        close(path[k], snap.position(cast.segments[-1], (0.1, 0.2, 0.3)), 1e-12)


def test_a_snapshot_names_the_nearest_body(human: Character):
    snap = human.snapshot()
    with pytest.raises(UnknownName, match="did you mean 'hand_left'"):
        snap.position("LeftHand")
    with pytest.raises(BadValue):
        snap.position("head", (1.0, 2.0))
    with pytest.raises(BadValue):
        human.state(v=np.zeros(3))
    with pytest.raises(BadValue):
        human.state(q=np.zeros(human.nq))
    with pytest.raises(BadValue):
        human.state(q=np.full(human.nq, np.nan))


def test_contact_places_alone_are_those_of_a_snapshot(human: Character, rng: np.random.Generator):
    for _ in range(5):
        state = human.state(human.integrate(human.neutral, 0.4 * rng.standard_normal(human.nv)))
        assert np.array_equal(take_contact_places(human, state.q), human.snapshot(state).contact_position)
