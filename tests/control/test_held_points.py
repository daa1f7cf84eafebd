"""Points of a sole get force only where they touch: force that is planned earlier strikes them into the ground."""

import numpy as np
import pytest

from counterpoise.control.walk.planes import CLOSE, FLAT_GROUND, hold_points

NEAR = 0.005  # [m]


def parts(heights: list[float]) -> np.ndarray:
    p = len(heights)
    position = np.column_stack([np.arange(p) * 0.1, np.zeros(p), heights])
    held, none = np.ones(p, bool), np.zeros(0, bool)
    planted, part = np.empty((p, 3)), np.empty(p)
    uneven = hold_points(
        position, held, none, np.zeros((0, 3)), False, False, np.zeros(p, np.int64), FLAT_GROUND, np.array(heights),
        NEAR, np.full(p, 0.8), planted, part,
    )  # fmt: skip
    assert not uneven and np.allclose(planted[:, :2], position[:, :2]) and not planted[:, 2].any()
    return part


def test_force_fades_with_the_height_of_a_point():
    on, close, middle, near, above = parts([-0.001, CLOSE * NEAR, 0.5 * (1.0 + CLOSE) * NEAR, NEAR, 0.02])
    assert on == close == pytest.approx(0.8)
    assert middle == pytest.approx(0.4)
    assert near == above == 0.0
