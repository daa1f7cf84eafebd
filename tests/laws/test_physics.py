"""What physics never breaks: energy, momentum, free fall, the unpowered root, the limits of torque."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import follow
from counterpoise.control import Action, HoldPose, Passive
from counterpoise.simulate import Push, World, simulate
from counterpoise.simulate.world import build_stage

SPACE = World(ground=False, gravity=(0.0, 0.0, 0.0))
FLOATING = ["human", "child", "asymmetric", "ostrich", "dinosaur", "insectoid", "chicken"]


def gently(who: Character, rng: np.random.Generator, speed: float = 0.3, root: float = 1.0) -> Any:
    """In the air, moving slowly enough to stay off its joint limits for a while."""
    v = speed * rng.normal(size=who.nv)
    v[:6] = root * rng.normal(size=6)
    q = who.neutral.copy()
    q[2] += 3.0
    return who.state(q, v)


@pytest.mark.parametrize("floating", [False, True])
def test_a_frictionless_chain_keeps_its_energy(floating: bool):
    """Thrown about for ten seconds; its links pass through one another, so nothing is lost."""
    who = character("chain", floating=floating)
    q = who.neutral.copy()
    q[who.root_dofs.stop :] = 0.9
    v = np.zeros(who.nv)
    v[who.root_dofs.stop :] = [1.0, -2.0, 3.0, -1.0][-(who.nv - who.root_dofs.stop) :]
    recording = simulate(who, None, 10.0, start=who.state(q, v), world=World(ground=False, integrator="rk4"))
    track = follow(who, recording.positions()[::20], recording.velocities()[::20])
    energy = track.kinetic + track.potential
    swing = np.ptp(track.potential)
    assert swing > 100.0  # [J]: it moves
    assert np.abs(energy - energy[0]).max() < 1e-3 * swing


@pytest.mark.parametrize("name", FLOATING)
def test_a_body_tumbling_in_space_keeps_its_momentum(name: str, rng: np.random.Generator):
    """Off its joint limits, RK4 at 2 kHz leaves about 1e-11 of both; a limit met on the way would leave 1e-8."""
    who = character(name)
    world = World(ground=False, gravity=(0.0, 0.0, 0.0), integrator="rk4", timestep=0.0005)
    recording = simulate(who, Passive(), 0.5, start=gently(who, rng, 0.1, 0.5), world=world)
    momentum = follow(who, recording.positions()[::10], recording.velocities()[::10]).momentum
    drift = np.abs(momentum - momentum[0]).max(axis=0)
    assert drift[3:].max() < 1e-9 * np.linalg.norm(momentum[0, 3:])
    assert drift[:3].max() < 1e-9 * np.linalg.norm(momentum[0, :3])


@pytest.mark.parametrize("name", FLOATING)
def test_motors_cannot_change_momentum_in_flight(name: str, rng: np.random.Generator):
    """Torques, joint limits and self-collisions are internal: what they do to the whole is nothing."""
    who = character(name)
    world = World(ground=False, gravity=(0.0, 0.0, 0.0))
    recording = simulate(who, HoldPose(), 1.0, start=gently(who, rng, 2.0), world=world)
    momentum = follow(who, recording.positions()[::10], recording.velocities()[::10]).momentum
    drift = np.abs(momentum - momentum[0]).max(axis=0)
    # implicitfast at 1 kHz is first order in dt: 0.2% and 0.4% measured, and falling with the step (next test)
    assert drift[3:].max() < 0.005 * np.linalg.norm(momentum[0, 3:])
    assert drift[:3].max() < 0.01 * np.linalg.norm(momentum[0, :3])


def test_angular_momentum_error_falls_with_the_step(human: Character):
    """The error above is the integrator's: a quarter of the step leaves about a quarter of it."""
    errors = []
    for step in (0.001, 0.00025):
        world = World(ground=False, gravity=(0.0, 0.0, 0.0), timestep=step)
        start = gently(human, np.random.default_rng(3), 1.0)
        recording = simulate(human, Passive(), 0.3, start=start, world=world)
        momentum = follow(human, recording.positions()[[0, -1]], recording.velocities()[[0, -1]]).momentum
        errors.append(np.linalg.norm(momentum[1, :3] - momentum[0, :3]))
    assert errors[1] < 0.4 * errors[0]


@pytest.mark.parametrize("name", FLOATING)
def test_in_free_fall_the_centre_of_mass_draws_a_parabola(name: str, rng: np.random.Generator):
    who = character(name)
    recording = simulate(who, HoldPose(), 0.5, start=gently(who, rng), world=World(ground=False))
    track = follow(who, recording.positions(), recording.velocities())
    c0, v0 = track.com[0], track.momentum[0, 3:] / who.mass
    t = recording.time[:, None]
    exact = c0 + v0 * t + 0.5 * np.array([0, 0, -9.81]) * t * (t + recording.timestep)  # a first-order integrator's
    assert np.abs(track.com - exact).max() < 1e-3  # [m], after falling 1.2 m
    assert np.abs(track.momentum[:, 3:] / who.mass - v0 - np.array([0, 0, -9.81]) * t).max() < 2e-3  # [m/s]


def test_a_falling_rag_doll_draws_its_parabola_exactly_with_rk4(human: Character, rng: np.random.Generator):
    recording = simulate(human, None, 0.3, start=gently(human, rng), world=World(ground=False, integrator="rk4"))
    track = follow(human, recording.positions(), recording.velocities())
    t, v0 = recording.time[:, None], track.momentum[0, 3:] / human.mass
    exact = track.com[0] + v0 * t + 0.5 * np.array([0, 0, -9.81]) * t * t
    assert np.abs(track.com - exact).max() < 1e-9


@pytest.mark.parametrize("name", ["human", "chicken", "dinosaur"])
def test_a_push_changes_momentum_by_its_impulse(name: str):
    who = character(name)
    force = 0.1 * who.mass * np.array([3.0, -2.0, 1.0])
    place = 0.1 * who.height * np.array([0.0, 0.5, 1.0])
    push = Push("thorax", tuple(force), start=0.05, duration=0.1, point=tuple(place))
    world = World(ground=False, gravity=(0.0, 0.0, 0.0), integrator="rk4")
    recording = simulate(who, Passive(), 0.3, world=world, disturbances=[push])
    track = follow(who, recording.positions(), recording.velocities())
    assert np.allclose(push.impulse, 0.1 * force, rtol=1e-12)
    before, after = recording.row_at(0.05), recording.row_at(0.15)
    assert np.abs(track.momentum[: before + 1]).max() < 1e-12
    assert np.abs(track.momentum[after:, 3:] - push.impulse).max() < 1e-6 * np.linalg.norm(push.impulse)
    pushed = np.flatnonzero(recording.external.any(axis=(1, 2)))
    assert len(pushed) == 100 and pushed[0] == before
    turn = np.zeros(3)  # about the CoM, by the middle of each step
    for k in pushed:
        arms = [s.position("thorax", place) - s.com for s in (who.snapshot(recording.state(i)) for i in (k, k + 1))]
        turn += np.cross(0.5 * (arms[0] + arms[1]), force) * recording.timestep
    assert np.abs(track.momentum[-1, :3] - turn).max() < 1e-3 * np.linalg.norm(turn)


def test_a_push_through_the_centre_of_mass_in_flight_does_not_turn_the_body():
    who = character("chain", links=1, floating=True)
    push = Push("link1", (5.0, 0.0, 0.0), start=0.0, duration=0.2)
    recording = simulate(who, Passive(), 0.2, world=SPACE, disturbances=[push])
    assert np.abs(recording.qvel[-1] - [5.0 * 0.2 / who.mass, 0.0, 0.0]).max() < 1e-9


class Wild:
    """Asks for far too much, on the root as well."""

    rate = 200.0

    def begin(self, who: Character) -> Any:
        return np.random.default_rng(7)

    def act(self, snapshot: Any, memory: Any) -> Action:
        return Action(memory.normal(scale=400.0, size=snapshot.character.nv), memory)


@pytest.mark.parametrize("name", ["human", "chicken", "planar_biped"])
def test_the_root_is_never_driven_and_torques_never_exceed_their_limits(name: str):
    who = character(name)
    recording = simulate(who, Wild(), 0.5)
    torque = recording.torques()
    assert not torque[:, who.root_dofs].any()
    assert np.all(np.abs(torque) <= who.torque_limit)
    asked = np.random.default_rng(7).normal(scale=400.0, size=(len(recording.ticks), who.nv))
    over = np.abs(asked[:, who.root_dofs.stop :]) > who.torque_limit[who.root_dofs.stop :]
    assert recording.meta["clamped"] == [int(over.sum())]
    assert np.array_equal(recording.notes["clamped"], over.sum(axis=1))
    assert np.array_equal(torque[0], np.clip(asked[0], -who.torque_limit, who.torque_limit))


def test_standing_asks_for_no_more_than_the_joints_can_give(standing: Character):
    recording = simulate(standing, HoldPose(), 0.5)
    assert recording.meta["clamped"] == [0]
    assert not recording.torques()[:, standing.root_dofs].any()


def test_the_body_in_the_world_is_the_character(cast: Character):
    """What is simulated is the body that controllers see in a snapshot, to the last bit."""
    model = build_stage(World(ground=False), (cast,)).model
    for field in (
        "body_mass",
        "body_ipos",
        "body_inertia",
        "body_iquat",
        "body_pos",
        "dof_armature",
        "dof_damping",
    ):
        assert np.array_equal(getattr(model, field), getattr(cast.model, field)), field
    pair = build_stage(World(), (cast, cast))
    for place in pair.places:
        assert np.array_equal(pair.model.body_mass[place.bodies], cast.model.body_mass[1:])
        assert np.array_equal(pair.model.body_inertia[place.bodies], cast.model.body_inertia[1:])


def test_controllers_are_asked_as_often_as_they_wish(human: Character):
    for rate in (1000.0, 250.0, 100.0):
        recording = simulate(human, Passive(rate=rate), 0.1)
        assert len(recording.ticks) == round(0.1 * rate)
        assert np.allclose(np.diff(recording.ticks), 1.0 / rate)
    assert np.allclose(np.diff(recording.time), 0.001) and len(recording) == 101


def test_a_motor_does_the_work_that_energy_shows():
    """Power of the torques of a frictionless chain, summed, is the energy it gains."""

    class Steady:
        rate = 1000.0

        def begin(self, who: Character) -> None:
            return None

        def act(self, snapshot: Any, memory: Any) -> Action:
            return Action(np.array([5.0, -2.0, 1.0]))

    who = character("chain", links=3)
    recording = simulate(who, Steady(), 1.0, world=World(ground=False, gravity=(0.0, 0.0, 0.0), integrator="rk4"))
    energy = follow(who, recording.positions()[[0, -1]], recording.velocities()[[0, -1]]).kinetic
    power = np.einsum("kj,kj->k", recording.torques(), 0.5 * (recording.qvel + np.roll(recording.qvel, -1, axis=0)))
    assert power[:-1].sum() * recording.timestep == pytest.approx(energy[1] - energy[0], rel=1e-3)
