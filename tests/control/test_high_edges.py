"""High edges ahead: found where ground is level before and behind them; the body stops, and asks for a jump."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.locomotion.high_edges import EdgeTuning, at_edges, edge_ahead
from counterpoise.control.locomotion.leaps import asked_jump
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory
from counterpoise.control.perform.jump_plan import JumpPlanTuning, jump_stunt
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.control.walk.wishes import Wishes
from counterpoise.errors import BadValue
from counterpoise.quick import altered
from counterpoise.spacetime.optimize import Place


def block(at: float, height: float) -> cp.Terrain:
    return cp.Terrain([cp.Box.between((at, -2.0), (at + 4.0, 2.0), height)])


@pytest.mark.parametrize("heading", [0.0, 0.4])
def test_a_high_edge_is_found(human, heading):
    body = walking_body(human)
    middle = 3.5 * math.cos(heading), 3.5 * math.sin(heading)
    terrain = cp.Terrain([cp.Box(middle, (4.0, 4.0), 0.5, yaw=math.degrees(heading))])
    place, height = edge_ahead(np.zeros(2), 0.0, heading, terrain, body, EdgeTuning())
    assert place == pytest.approx(1.5, abs=0.03) and height == pytest.approx(0.5)
    assert np.isnan(
        edge_ahead(np.zeros(2), 0.0, heading + 0.4, terrain, body, EdgeTuning())
    ).all()  # not square to its way


@pytest.mark.parametrize(
    "terrain",
    [
        block(1.5, 0.25),  # a step
        block(1.5, 0.9),  # too high
        cp.Terrain([cp.Stairs((1.0, 0.0), 5, 0.17, 0.3)]),
        cp.Terrain([cp.Ramp((1.0, 0.0), 2.0, 0.6)]),
        cp.Terrain([cp.Gap((1.5, 0.0), (0.5, 4.0), 0.5)]),  # its far side is an edge, with a hole before it
        cp.Terrain([cp.Box.between((1.5, -2.0), (1.7, 2.0), 0.5)]),  # a wall: no room behind its edge
    ],
)
def test_other_ground_is_no_high_edge(human, terrain):
    assert np.isnan(edge_ahead(np.zeros(2), 0.0, 0.0, terrain, walking_body(human), EdgeTuning())).all()


def test_it_slows_down_stops_and_asks_for_a_jump(human):
    body, snapshot, speeds = walking_body(human), human.snapshot(), {}
    middle = float(snapshot.contact_position[:, 0].mean())
    for away in (2.0, 0.8, 0.36, 0.1):
        terrain = block(middle + away, 0.5)
        walks = LocomotionMemory(doing="step")
        wishes, memory = at_edges(snapshot, Wishes(1.2), walks, terrain, body, EdgeTuning())
        speeds[away] = wishes.speed
        assert memory.edge_jump is None
    assert speeds[2.0] == 1.2 and 0.0 < speeds[0.8] < 0.6 and speeds[0.36] == 0.0 and speeds[0.1] < 0.0
    _, memory = at_edges(snapshot, Wishes(1.2), LocomotionMemory(), block(middle + 0.36, 0.5), body, EdgeTuning())
    assert memory.edge_jump is not None and memory.edge_jump.onto == 0.5
    assert 0.36 < memory.edge_jump.forward < 0.8 and EdgeTuning().near < 0.36 / body.hips_height < EdgeTuning().far
    assert memory.jump is None  # that is what was asked for
    _, memory = at_edges(snapshot, Wishes(0.0), LocomotionMemory(), block(middle + 0.36, 0.5), body, EdgeTuning())
    assert memory.edge_jump is None  # it is to stand where it is


def test_it_stands_before_an_edge_until_the_jump_is_planned(human, monkeypatch):
    body, snapshot = walking_body(human), human.snapshot()
    terrain = block(float(snapshot.contact_position[:, 0].mean()) + 0.36, 0.5)
    wishes, memory = at_edges(snapshot, Wishes(1.2), LocomotionMemory(), terrain, body, EdgeTuning(), plans=False)
    assert memory.edge_jump is None and wishes.speed == 0.0 and wishes.even
    waits = cp.Locomotion(1.2, terrain=terrain, plans=False)
    ahead = waits.jump_ahead(memory, human)
    assert ahead is not None and ahead.onto == 0.5
    monkeypatch.setattr(cp.Jump, "is_planned", lambda jump, character: jump.wish == ahead.wish)
    _, memory = at_edges(snapshot, Wishes(1.2), LocomotionMemory(), terrain, body, EdgeTuning(), plans=False)
    assert memory.edge_jump is not None and memory.edge_jump.wish == ahead.wish


def test_a_jump_onto_an_edge_does_not_end_the_one_that_is_asked_for(human):
    onto, hop = cp.Jump(0.1, forward=0.6, onto=0.5), cp.Jump(0.2)
    memory = asked_jump(None, 0.0, LocomotionMemory(edge_jump=onto))
    assert memory.jump is None and memory.edge_jump is onto
    memory = asked_jump(hop, 0.1, memory)
    assert memory.jump is hop and memory.edge_jump is onto  # both wait
    done = altered(memory, jump=None)
    assert asked_jump(hop, 0.2, done).jump is None  # still asked for: it is done once
    assert asked_jump(hop, 0.4, asked_jump(None, 0.3, done)).jump is hop  # asked for again, while the edge still waits


def drop(at: float, depth: float, length: float = 6.0) -> cp.Terrain:
    """Ground at z = 0 that falls by a depth [m] at a place, for a length [m]."""
    return cp.Terrain([cp.Gap((at + 0.5 * length, 0.0), (length, 6.0), depth)])


@pytest.mark.parametrize("depth", [0.4, 0.7, 1.0])
def test_an_edge_that_goes_down_is_found(human, depth):
    place, height = edge_ahead(np.zeros(2), 0.0, 0.0, drop(1.5, depth), walking_body(human), EdgeTuning())
    assert place == pytest.approx(1.5, abs=0.03) and height == pytest.approx(-depth)


@pytest.mark.parametrize(
    "terrain",
    [
        drop(1.5, 0.3),  # a step
        drop(1.5, 1.5),  # too deep
        drop(1.5, 0.7, 0.9),  # a gap: no room to land in
        cp.Terrain([cp.Stairs((2.5, 0.0), 5, 0.17, 0.3, yaw=180.0), cp.Box.between((-3.0, -2.0), (1.0, 2.0), 0.85)]),
    ],
)
def test_other_ways_down_are_not_jumped(human, terrain):
    base = float(terrain.height(0.0, 0.0))
    assert np.isnan(edge_ahead(np.zeros(2), base, 0.0, terrain, walking_body(human), EdgeTuning())).all()


def test_it_stops_nearer_to_an_edge_that_it_jumps_down_from(human):
    body, snapshot = walking_body(human), human.snapshot()
    middle = float(snapshot.contact_position[:, 0].mean())
    toes = float(snapshot.contact_position[:, 0].max()) - middle

    def asked(away: float) -> cp.Jump | None:
        return at_edges(snapshot, Wishes(1.2), LocomotionMemory(), drop(middle + away, 1.0), body, EdgeTuning())[
            1
        ].edge_jump

    jump = asked(0.18)
    assert jump is not None and jump.onto == -1.0 and jump.forward > 0.8
    assert asked(toes) is None and asked(0.3) is None
    walks = LocomotionMemory(doing="step")
    speeds = [
        at_edges(snapshot, Wishes(1.2), walks, drop(middle + away, 1.0), body, EdgeTuning())[0].speed
        for away in (2.0, 0.5, 0.19, 0.05)
    ]
    assert speeds[0] == 1.2 and 0.0 < speeds[1] < 0.6 and speeds[2] == 0.0 and speeds[3] < 0.0


def test_the_feet_are_across_the_edge_before_they_go_down(human):
    """The plan of a jump down asks for it; a plan without it left its feet behind, on the box."""
    t = JumpPlanTuning()
    for forward, side in ((0.95, 0.0), (0.0, 0.9), (0.6, 0.6), (0.3, 0.0)):
        wish = cp.JumpWish(0.12, forward, side, onto=-1.0)
        places = [one for one in jump_stunt(human, wish, t).wishes if isinstance(one, Place)]
        box = cp.jump_terrain(human, wish)
        assert {one.body for one in places} == {foot.body for foot in human.feet} and box is not None
        rest = human.snapshot()
        soles = rest.contact_position[:, :2]
        for one in places:  # where the planned place puts that sole: no point of it over the box
            x, y, _ = one.position
            assert x is not None and y is not None
            moved = np.array([x, y]) - (rest.position(one.body)[:2] - soles.mean(axis=0))
            own = soles[[point.body == one.body for point in human.contact_points]]
            for px, py in own - soles.mean(axis=0) + moved:
                assert box.height(px, py) == 0.0
    assert not [one for one in jump_stunt(human, cp.JumpWish(0.12, 0.95)).wishes if isinstance(one, Place)]


@pytest.mark.parametrize("given", [{"look": 0.0}, {"near": 0.4}, {"far": math.nan}, {"drop_near": 0.3}])
def test_bad_tunings_of_edges_are_refused(given):
    with pytest.raises(BadValue, match="EdgeTuning"):
        EdgeTuning(**given)
