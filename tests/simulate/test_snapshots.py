"""Snapshots that are read from the simulation are those of the character alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.snapshot import snapshot_layout, take_snapshot
from counterpoise.control.basic import Action
from counterpoise.errors import BadValue
from counterpoise.simulate.reading import measure_forces
from counterpoise.simulate.world import build_stage, has_same_dynamics


class Compare:
    """Random torques; every snapshot is compared with one of the character alone."""

    rate = 250.0

    def __init__(self) -> None:
        self.rng, self.ticks = np.random.default_rng(1), 0

    def begin(self, character: cp.Character) -> None:
        return None

    def act(self, snapshot: cp.Snapshot, memory: Any) -> Action:
        alone = take_snapshot(snapshot.character, snapshot.state)
        for name in snapshot_layout(snapshot.character):
            assert np.array_equal(getattr(snapshot, name), getattr(alone, name)), name
        self.ticks += 1
        limit = snapshot.character.torque_limit
        return Action(limit * self.rng.uniform(-0.2, 0.2, len(limit)))


@pytest.mark.parametrize("body", ["human", "chicken", "planar_biped"])
@pytest.mark.parametrize("world", [cp.World(), cp.World(tilt=(3.0, 5.0), integrator="rk4"), cp.World(ground=False)])
def test_what_is_read_from_the_simulation_is_the_snapshot_of_its_state(body: str, world: cp.World):
    controller = Compare()
    cp.simulate(cp.character(body), controller, 0.1, world=world)
    assert controller.ticks == 25


def test_a_figure_among_others_or_under_another_gravity_has_its_own_snapshot(human: cp.Character):
    def shared(world: cp.World, *figures: cp.Character) -> bool:
        return has_same_dynamics(build_stage(world, figures).model, figures[0].model)

    assert shared(cp.World(), human)
    assert not shared(cp.World(gravity=(0.0, 0.0, -1.6)), human)
    assert not shared(cp.World(), human, human)
    for world in (cp.World(gravity=(0.0, 0.0, -1.6)), cp.World(platform=cp.Platform())):
        controller = Compare()
        cp.simulate(human, controller, 0.02, world=world)
        assert controller.ticks == 5


def test_parts_of_a_snapshot_make_its_array(human: cp.Character):
    snapshot = human.snapshot()
    parts = {name: getattr(snapshot, name) for name in snapshot_layout(human)}
    again = cp.Snapshot(character=human, state=snapshot.state, **parts)
    assert np.array_equal(again.flat, snapshot.flat)
    with pytest.raises(AttributeError, match="no 'mass'"):
        _ = snapshot.mass


# -- measured contact forces ----------------------------------------------------------------------------------------
class Feel:
    """Keeps the forces that every snapshot brings, beside those that MuJoCo has for the same step."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.rate, self.felt = inner, inner.rate, list[Any]()

    def begin(self, character: cp.Character) -> Any:
        return self.inner.begin(character)

    def act(self, snapshot: cp.Snapshot, memory: Any) -> Action:
        self.felt.append((snapshot.time, snapshot.contact_force, snapshot.body_force, snapshot))
        return self.inner.act(snapshot, memory)


@pytest.mark.parametrize("world", [cp.World(), cp.World(platform=cp.Platform())])
def test_a_simulated_snapshot_brings_the_contact_forces_of_the_last_step(human: cp.Character, world: cp.World):
    feel = Feel(cp.Stand())
    push = cp.Push("thorax", (120.0, 40.0, 0.0), 0.05, 0.1)
    done = cp.simulate(human, feel, 0.3, world=world, disturbances=[push])
    assert feel.felt[0][1] is None and feel.felt[0][2] is None  # no step has been made
    feet = [human.body_id(foot.body) for foot in human.feet]
    for time, on_points, on_bodies, snapshot in feel.felt[1:]:
        step = round((time - done.time[0]) / world.timestep) - 1
        here = done.contacts.at(step)
        total, by_hand = np.zeros(3), dict.fromkeys(feet, 0.0)
        place = done.places[0].bodies
        for bodies, force in zip(done.contacts.bodies[here], done.contacts.force[here], strict=True):
            inside = [place.start <= b < place.stop for b in bodies]
            if inside[0] != inside[1]:
                own = bodies[1] if inside[1] else bodies[0]
                total += force if inside[1] else -force
                b = int(own - place.start + 1)
                if b in by_hand:
                    by_hand[b] = by_hand[b] + (force if inside[1] else -force)
        assert np.allclose(on_bodies.sum(axis=0), total, atol=1e-9)
        for b, force in by_hand.items():
            assert np.allclose(on_bodies[b], force, atol=1e-9)
        assert np.allclose(on_points.sum(axis=0), total, atol=1e-9)  # nothing but feet touches
        both = sum(snapshot.foot_force(foot.name) for foot in human.feet)
        assert np.allclose(both, total, atol=1e-9)
    standing = np.array([on_points[:, 2].sum() for time, on_points, _, _ in feel.felt[10:25]])
    assert standing.mean() == pytest.approx(human.weight, rel=0.1)


def test_a_force_goes_to_the_nearest_point_of_its_body():
    bodies = np.array([[0, 3], [5, 4], [3, 4], [0, 2]], np.int32)  # ground on 3; a thing on 4; within; ground on 2
    point = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    force = np.array([[0.0, 0.0, 10.0], [0.0, 1.0, 0.0], [9.0, 9.0, 9.0], [3.0, 0.0, 0.0]])
    points, owners = np.array([[0.9, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.array([2, 2, 3])
    on_point, on_body = np.full((3, 3), 7.0), np.full((4, 3), 7.0)
    measure_forces(
        bodies, point, force, 2, points, owners, on_point, on_body
    )  # bodies 2, 3, 4 of the world are 1, 2, 3
    assert on_point.tolist() == [[0.0, 0.0, 10.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert on_body.tolist() == [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 10.0], [0.0, 1.0, 0.0]]
    sign = np.array([[4, 0]], np.int32)  # the figure's body is the first of the contact
    measure_forces(sign, point[:1], force[:1], 2, points, owners, on_point, on_body)
    assert on_body[3].tolist() == [0.0, 0.0, -10.0] and on_point[2].tolist() == [0.0, 0.0, -10.0]


def test_a_snapshot_that_was_not_simulated_has_no_measured_forces(human: cp.Character):
    here = human.snapshot()
    assert here.contact_force is None and here.body_force is None
    with pytest.raises(BadValue, match="not simulated"):
        here.foot_force("foot_left")


def test_a_session_goes_on_measuring_from_stretch_to_stretch(human: cp.Character):
    feel = Feel(cp.Stand())
    session = cp.Session(human, feel)
    for _ in range(3):
        session.advance(0.02)
    assert [felt[1] is None for felt in feel.felt] == [True] + [False] * (len(feel.felt) - 1)
