"""Contact forces shared out within strength: against a linear program, and on a captured walk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import counterpoise as cp
from counterpoise.spacetime.check import check_motion, forces
from counterpoise.spacetime.check.sharing import WRENCH_TOLERANCE, Sharing, edges_of, share_within_strength

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"


def random_task(rng: np.random.Generator, weak: float) -> Sharing:
    """Twelve edges, three stops and five joints; the wrench is one that the edges can supply."""
    wrenches, torques = rng.standard_normal((6, 12)), rng.standard_normal((5, 12))
    amount = rng.uniform(0.0, 1.0, 12)
    return Sharing(
        wrenches @ amount, wrenches, weak * rng.standard_normal(5) + torques @ amount, torques,
        rng.standard_normal((3, 5)), np.full(12, 1e-6),
    )  # fmt: skip


def least_overload(task: Sharing) -> float:
    """The least largest share of strength beyond 1, by SciPy's linear program."""
    c, s = task.wrenches.shape[1], len(task.stops)
    B = np.hstack([-task.torques, task.stops.T])
    one = np.ones((len(task.torque), 1))
    G = np.hstack([task.wrenches, np.zeros((6, s + 1))])
    A = np.vstack([np.hstack([B, -one]), np.hstack([-B, -one]), G, -G])
    b = np.concatenate([
        1.0 - task.torque, 1.0 + task.torque, task.wrench + WRENCH_TOLERANCE, WRENCH_TOLERANCE - task.wrench,
    ])  # fmt: skip
    cost = np.zeros(c + s + 1)
    cost[-1] = 1.0
    return float(linprog(cost, A, b, bounds=(0, None)).fun)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_possible_whenever_any_sharing_is(seed: int):
    task = random_task(np.random.default_rng(seed), weak=2.0)
    shared = share_within_strength(task)
    assert shared is not None
    amount, torque = shared
    assert (amount >= 0.0).all()
    assert np.abs(task.wrenches @ amount - task.wrench).max() < WRENCH_TOLERANCE + 1e-6
    assert np.abs(torque).max() - 1.0 < least_overload(task) + 1e-3


def test_some_tasks_can_be_shared_and_some_cannot():
    overloads = [least_overload(random_task(np.random.default_rng(seed), weak=2.0)) for seed in range(20)]
    assert any(o < 1e-9 for o in overloads) and any(o > 0.1 for o in overloads)


def test_edges_press_within_the_cone_and_held_points_push_and_pull():
    places, com = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([0.0, 0.0, 1.0])
    directions, points, turns = edges_of(places, np.array([0, 1]), com, forces.cone_edges(0.5))
    assert points.tolist() == [0] * 8 + [1] * 6
    assert np.allclose(np.linalg.norm(directions[:8, :2], axis=1), 0.5) and np.allclose(directions[:8, 2], 1.0)
    assert np.allclose(directions[8:].sum(axis=0), 0.0)
    assert np.allclose(turns, np.cross(places[points] - com, directions))


@pytest.mark.skipif(not MOCAP.is_dir(), reason="no captured clips beside the project")
def test_a_captured_walk_is_within_a_persons_strength(monkeypatch: pytest.MonkeyPatch):
    walk = cp.read_motion(MOCAP / "02_01.bvh", character=cp.character("human"), skip_rest_frame=True)
    shared = check_motion(walk).finding("strength")
    monkeypatch.setattr(forces, "share_within_strength", lambda task: None)
    squared = check_motion(walk).finding("strength")
    assert "toe" in squared.where and squared.value > 150.0  # least squares overloads the toes
    assert shared.value < 100.0
