"""Props: loose balls and boxes fall, rest, bounce and hit; what happened can be replayed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.defaults import GRAVITY
from counterpoise.errors import BadValue, UnknownName
from counterpoise.simulate.props import FASTEST

HUMAN = cp.character("human")


def thrown(world: cp.World, seconds: float) -> cp.Recording:
    return cp.simulate(HUMAN, None, seconds, world=world)


def test_a_prop_falls_as_a_free_body_and_comes_to_rest_on_the_ground() -> None:
    box = cp.Prop("box", (0.3, 0.2, 0.4), 5.0, (2.0, 0.0, 1.0), velocity=(0.0, 1.0, 0.0))
    recording = thrown(cp.World(props=(box,)), 1.5)
    path, t = recording.prop_poses(), recording.time
    fall = t < 0.35  # [s] before it lands
    assert np.abs(path[fall, 2] - (1.0 - 0.5 * GRAVITY * t[fall] ** 2)).max() < 0.002  # [m] of the integrator
    assert np.abs(path[fall, 1] - t[fall]).max() < 1e-6
    assert abs(path[-1, 2] - 0.2) < 0.001 and np.abs(recording.qvel[-1, -6:]).max() < 0.01


@pytest.mark.parametrize("bounce", [0.3, 0.6, 0.9])
def test_a_ball_keeps_the_share_of_its_speed_that_was_asked_for(bounce: float) -> None:
    ball = cp.Prop("ball", 0.2, 1.0, (3.0, 0.0, 1.1), bounce=bounce)
    height = thrown(cp.World(props=(ball,)), 1.4).prop_poses()[:, 2] - 0.1
    first = int(np.argmax(height < 0.0))
    again = first + int(np.argmax(height[first:] > 0.0))
    assert abs(np.sqrt(height[again:].max() / height[0]) - bounce) < 0.03


def test_a_thrown_ball_arrives_where_it_was_aimed() -> None:
    target = np.array([2.0, 1.0, 1.6])
    for speed in (4.0, 12.0):
        ball = cp.aimed(cp.Prop("ball", 0.1, 0.5, (5.0, -2.0, 1.0)), target, speed, (0.0, 0.0, -GRAVITY))
        path = thrown(cp.World(props=(ball,)), 1.2).prop_poses()[:, :3]
        assert np.linalg.norm(path - target, axis=1).min() < 0.02  # [m]


def test_a_ball_in_flight_hands_its_momentum_to_a_body() -> None:
    world = cp.World(
        ground=False,
        gravity=(0.0, 0.0, 0.0),
        props=(cp.Prop("ball", 0.2, 4.0, (1.0, 0.0, 1.2), velocity=(-5.0, 0.0, 0.0)),),
    )
    recording = thrown(world, 0.5)
    ball = 4.0 * recording.qvel[:, -6:-3]
    assert ball[-1, 0] > -15.0  # [N s] of 20 that it had: it has hit
    both = recording.track().momentum[:, 3:] + ball
    assert np.abs(both - [-20.0, 0.0, 0.0]).max() < 0.1  # of 20: a step has a finite length


def test_a_session_throws_and_everything_goes_on_as_it_was(tmp_path: Path) -> None:
    session = cp.Session(
        HUMAN, cp.Stand(), world=cp.World(props=(cp.Prop("box", (0.2, 0.2, 0.2), 2.0, (1.0, 1.0, 0.6)),))
    )
    session.advance(0.2)
    before, body = session.props[0], session.state.q.copy()
    session.throw(cp.aimed(cp.Prop("ball", 0.15, 1.0, (2.0, 0.0, 1.3)), (0.0, 0.0, 1.25), 6.0, session.world.gravity))
    assert session.props[0] == before and np.array_equal(session.state.q, body)
    session.advance(0.2)
    assert len(session.props) == 2 and session.props[0].place[2] < before.place[2]
    for recording in session.recordings:
        assert cp.replay(recording).worst_error == 0.0
    last = session.recordings[-1]
    last.save(tmp_path / "thrown.npz")
    again = cp.Recording.load(tmp_path / "thrown.npz")
    assert np.array_equal(again.prop_poses(1), last.prop_poses(1)) and again.meta["props"][1]["shape"] == "ball"
    with pytest.raises(BadValue, match="there is no prop 2"):
        again.prop_poses(2)


def test_props_and_a_platform_move_on_in_another_world() -> None:
    platform = cp.Platform(x=(cp.Sine(0.1, 0.5),))
    session = cp.Session(HUMAN, None, world=cp.World(platform=platform))
    session.advance(0.6)
    there = session.recordings[-1].qpos[-1, HUMAN.nq]
    session.throw(cp.Prop("ball", 0.1, 1.0, (3.0, 0.0, 1.0)))
    first = session.advance(0.01)
    assert abs(there) > 0.01 and abs(first.qpos[0, HUMAN.nq] - there) < 1e-9
    props = session.props
    session.character = HUMAN.rescaled({"arms": 1.1})
    assert session.props == props
    session.advance(0.01)
    assert np.linalg.norm(np.subtract(session.props[0].place, props[0].place)) < 0.01  # [m]


def test_bad_props_are_refused_with_what_is_accepted() -> None:
    ball = cp.Prop("ball", 0.2, 1.0, (0.0, 0.0, 1.0))
    with pytest.raises(UnknownName, match="box"):
        cp.Prop("bxo", 0.2, 1.0, (0.0, 0.0, 1.0))  # type: ignore[arg-type]
    for change, words in (
        ({"size": 0.001}, "0.02 to 10 m"), ({"size": (0.1, 0.2, 0.1)}, "its diameter"), ({"mass": 0.0}, "0.001 to"),
        ({"place": (0.0, 1.0)}, "3 finite numbers"), ({"bounce": 1.0}, "0 to 0.95"), ({"friction": -1.0}, "0 or more"),
        ({"turn": (0.0, 0.0, 0.0, 0.0)}, "all of it is zero"),
    ):  # fmt: skip
        with pytest.raises(BadValue, match=words):
            replace(ball, **change)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="at most 60 m/s"):
        cp.aimed(ball, (1.0, 0.0, 1.0), FASTEST + 1.0, (0.0, 0.0, -GRAVITY))
    with pytest.raises(BadValue, match="at most 100 props"):
        cp.World(props=(ball,) * 101)
    with pytest.raises(BadValue, match="props are Prop"):
        cp.World(props=("ball",))  # type: ignore[arg-type]
