"""Polygons as half-planes against SciPy's hulls and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from counterpoise.solve.polygon import deepest, hull_edges, nearest_inside, share_of_way


@pytest.mark.parametrize("seed", range(40))
def test_the_edges_are_those_of_the_hull(seed: int):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(3, 13), 2)) * [0.1, 0.2]
    if seed % 2:  # left and right feet share their x to the last bit or nearly
        points = np.vstack([points, points * [1.0, -1.0] + rng.normal(size=points.shape) * 1e-17])
    ours = hull_edges(points)
    theirs = ConvexHull(points).equations * [1.0, 1.0, -1.0]
    theirs = np.unique(np.round(theirs, 6), axis=0)
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(np.unique(np.round(ours, 6), axis=0), theirs, atol=2e-6)


@pytest.mark.parametrize("seed", range(40))
def test_the_nearest_point_inside(seed: int):
    rng = np.random.default_rng(seed)
    edges = hull_edges(rng.normal(size=(rng.integers(1, 13), 2)) * [0.1, 0.2])
    goal = rng.normal(size=2) * 0.4
    found = np.array(nearest_inside(edges, goal[0], goal[1], 0.01))
    room = min(0.01, 0.9 * max(deepest(edges)[2], 0.0))
    assert (edges[:, :2] @ found <= edges[:, 2] - room + 1e-8).all()
    best = minimize(
        lambda z: ((z - goal) ** 2).sum(),
        found,
        constraints=[{"type": "ineq", "fun": lambda z: edges[:, 2] - room - edges[:, :2] @ z}],
        tol=1e-14,
    )
    assert np.linalg.norm(found - goal) <= np.sqrt(best.fun) + 1e-7


def test_points_in_a_line_and_one_alone_have_some_width():
    line = hull_edges(np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]]))
    assert deepest(line)[2] == pytest.approx(0.005, abs=1e-3)
    alone = hull_edges(np.array([[0.3, -0.2]]))
    assert (alone[:, :2] @ [0.3, -0.2] < alone[:, 2]).all()


def test_the_share_of_the_way_is_one_on_the_edge():
    square = hull_edges(np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]))
    assert share_of_way(square, 0.0, 0.0, 0.1, 0.0) == pytest.approx(1.0)
    assert share_of_way(square, 0.0, 0.0, 0.05, 0.02) == pytest.approx(0.5)
    assert share_of_way(square, 0.0, 0.0, 0.0, 0.0) == 0.0
