"""Snapshots that are read from the simulation are those of the character alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.snapshot import snapshot_layout, take_snapshot
from counterpoise.control.basic import Action
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
