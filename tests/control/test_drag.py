"""Dragging: a point drawn by the joints (Drag) and by the world (Spring)."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character import Character
from counterpoise.errors import BadValue, UnknownName
from counterpoise.measure.balance import fell

FAST = cp.World(timestep=0.002)


@pytest.mark.parametrize("kind", ["place", "table", "function", "with rates"])
def test_a_path_in_any_of_its_ways(kind: str) -> None:
    def circle(t: float) -> np.ndarray:
        return np.array([np.cos(t), np.sin(t), 1.0])

    times = np.linspace(0.0, 3.0, 61)
    paths: dict[str, Any] = {
        "place": (1.0, 0.0, 1.0),
        "table": (times, np.array([circle(t) for t in times])),
        "function": circle,
        "with rates": lambda t: (circle(t), np.array([-np.sin(t), np.cos(t), 0.0]), -circle(t) + [0, 0, 1.0]),
    }
    place, velocity, _ = cp.Drag("head", path=paths[kind]).goal(1.5)
    want = np.array([1.0, 0.0, 1.0]) if kind == "place" else circle(1.5)
    assert np.abs(place - want).max() < 1e-5
    speed = np.zeros(3) if kind == "place" else np.array([-np.sin(1.5), np.cos(1.5), 0.0])
    assert np.abs(velocity - speed).max() < 1e-4


def test_drag_rows_are_the_points_acceleration(human: Character, rng: np.random.Generator) -> None:
    """A a - b is the point's acceleration, by differences of its velocity, less what the spring asks for."""
    drag = cp.Drag("hand_left", (0.0, 0.0, -0.1), (0.4, 0.3, 1.2), stiffness=50.0, limit=None)
    q = human.integrate(human.neutral, rng.normal(0.0, 0.2, human.nv))
    s = human.snapshot(human.state(q, rng.normal(0.0, 0.5, human.nv)))
    a = rng.normal(size=human.nv)
    rows = drag.rows(s)
    e = 1e-5
    ahead = human.snapshot(human.state(human.integrate(s.q, e * s.v + 0.5 * e * e * a), s.v + e * a))
    back = human.snapshot(human.state(human.integrate(s.q, -e * s.v + 0.5 * e * e * a), s.v - e * a))
    at = ("hand_left", (0.0, 0.0, -0.1))
    acceleration = (ahead.velocity(*at) - back.velocity(*at)) / (2.0 * e)
    wanted = 50.0 * (np.array([0.4, 0.3, 1.2]) - s.position(*at)) - 2.0 * np.sqrt(50.0) * s.velocity(*at)
    assert np.abs(rows.A @ a - rows.b - (acceleration - wanted)).max() < 1e-5


def test_a_drag_asks_only_in_its_time(human: Character) -> None:
    drag = cp.Drag("head", path=(0, 0, 1), start=1.0, end=2.0)
    assert [len(drag.rows(human.snapshot(human.state(time=t)))) for t in (0.5, 1.5, 2.5)] == [0, 3, 0]


@pytest.mark.parametrize("controller", [cp.MomentumBalance, cp.Balance])
def test_two_hands_are_dragged_at_once(human: Character, controller: Any) -> None:
    s = human.snapshot()
    goals = {side: s.position(f"hand_{side}") + [0.25, 0.0, 0.25] for side in ("left", "right")}
    drags = tuple(cp.Drag(f"hand_{side}", path=tuple(goal), weight=300.0) for side, goal in goals.items())
    rec = cp.simulate(human, controller(extra=drags), 1.5, world=FAST)
    end = human.snapshot(rec.state(-1))
    for side, goal in goals.items():
        before = float(np.linalg.norm(s.position(f"hand_{side}") - goal))
        assert np.linalg.norm(end.position(f"hand_{side}") - goal) < 0.25 * before
    assert not fell(rec)
    assert not rec.external.any()  # the joints did it


def test_a_springs_wrench_is_a_spring_and_a_damper() -> None:
    spring = cp.Spring("head", (0.1, 0.0, 0.0), (1.0, 0.0, 2.0), stiffness=100.0, damping=10.0, limit=150.0)
    position, com = np.array([0.0, 0.0, 1.5]), np.array([0.0, 0.0, 1.6])
    turning = np.array([0.0, 0.0, 2.0, 0.5, 0.0, 0.0])  # the point moves at (0.5, 0.2, 0)
    wrench = spring.wrench(0.0, position, np.eye(3), com, turning)
    assert wrench is not None
    force = np.array([100.0 * 0.9 - 5.0, -2.0, 100.0 * 0.5])
    assert np.allclose(wrench[:3], force) and np.allclose(wrench[3:], np.cross([0.1, 0.0, -0.1], force))
    far = cp.Spring("head", path=(100.0, 0.0, 0.0), limit=150.0).wrench(0.0, position, np.eye(3), com)
    assert far is not None and np.linalg.norm(far[:3]) == pytest.approx(150.0)
    assert cp.Spring("head", start=1.0, end=2.0).wrench(2.0, position, np.eye(3), com) is None


def test_springs_are_recorded_and_replay_in_plain_mujoco(human: Character) -> None:
    head, hand = human.snapshot().position("head"), human.snapshot().position("hand_right")
    springs = [
        cp.Spring("head", path=tuple(head + [0.1, 0.0, 0.0]), start=0.1, end=0.6),
        cp.Spring("hand_right", path=tuple(hand + [0.0, -0.2, 0.2]), stiffness=100.0, damping=10.0, start=0.2),
    ]
    rec = cp.simulate(human, cp.MomentumBalance(), 1.0, disturbances=springs, world=FAST)
    acts = np.abs(rec.external[:, human.body_id("head"), :3]).max(axis=1) > 0.0
    assert rec.time[acts][0] == pytest.approx(0.1) and rec.time[acts][-1] < 0.6
    row = rec.row_at(0.4)  # the force, by hand from the recorded state
    d = mujoco.MjData(human.model)
    d.qpos[:], d.qvel[:] = rec.positions()[row], rec.velocities()[row]
    mujoco.mj_forward(human.model, d)
    J = np.zeros((3, human.nv))
    mujoco.mj_jacBody(human.model, d, J, None, human.body_id("head"))
    force = 300.0 * (head + [0.1, 0, 0] - d.xpos[human.body_id("head")]) - 30.0 * J @ d.qvel
    assert np.abs(rec.external[row, human.body_id("head"), :3] - force).max() < 1e-6
    assert cp.replay(rec).exact
    assert not fell(rec)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: cp.Drag("head", path=(0.0, 1.0)), "three"),
        (lambda: cp.Drag("head", path=([0.0, 0.0], np.zeros((2, 3)))), "increase"),
        (lambda: cp.Drag("head", path=([0.0, 1.0], np.zeros((3, 3)))), "shapes"),
        (lambda: cp.Drag("head", start=1.0, end=1.0), "start < end"),
        (lambda: cp.Drag("head", stiffness=-1.0), "stiffness"),
        (lambda: cp.Spring("head", limit=0.0), "limit"),
        (lambda: cp.Spring("head", path=lambda t: (np.nan, 0, 0)).goal(0.0), "finite"),
    ],
)
def test_bad_drags_are_refused(make: Any, word: str) -> None:
    with pytest.raises(BadValue, match=word):
        make()


def test_a_body_that_is_not_there_is_named(human: Character) -> None:
    with pytest.raises(UnknownName, match="head"):
        cp.Drag("hed").rows(human.snapshot())
    with pytest.raises(UnknownName, match="head"):
        cp.simulate(human, seconds=0.01, disturbances=[cp.Spring("hed")])
