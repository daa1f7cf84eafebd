"""Walking over uneven ground: footholds on stairs, high steps, narrow ways, how far a shin leans."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.walk.foot_goals import shin_lean
from counterpoise.control.walk.footholds import find_foothold
from counterpoise.control.walk.narrow_way import way_ahead

SOLES = np.tile([-0.04, 0.12, 0.18, 0.035], (2, 1))
REACH = np.array([0.8, 0.4, 0.55, 1.1, 0.07])


def chosen(terrain: cp.Terrain, wanted: float, origin: tuple[float, float], rise_share: float = 1.0) -> np.ndarray:
    """Returns the foothold of the left foot for a place that is wanted; `origin` is x and z of the right foot."""
    out = np.zeros(5)
    assert find_foothold(
        0, np.array([wanted, 0.15]), np.array([origin[0], 0.0, origin[1]]), 0.0, np.array([0.15, 0.0]), 0.25, REACH,
        np.full(5, np.nan), math.nan, SOLES, 0.025, rise_share, terrain.obstacles, out,
    )  # fmt: skip
    return out


def test_down_stairs_every_step_goes_to_the_next_tread():
    """The step after goes down one stair as well: its height counts from the foothold, not from where it stands now."""
    stairs = cp.Terrain(
        [cp.Stairs((1.5, 0.0), 5, 0.17, 0.3, 3.0, landing=3.0, yaw=180.0)]
    )  # treads end at 0.3, 0.6, ..
    place = chosen(stairs, 0.42, (0.15, 0.85))
    assert 0.3 < place[0] < 0.6
    assert place[4] == pytest.approx(0.3, abs=0.08)


def test_a_high_step_is_dared_where_there_is_no_other_way():
    wall = cp.Terrain([cp.Box.between((0.4, -3.0), (4.0, 3.0), 0.5)])
    assert chosen(wall, 0.4, (0.15, 0.0))[0] < 0.4
    assert chosen(wall, 0.4, (0.15, 0.0), rise_share=0.0)[0] > 0.4


@pytest.mark.parametrize("offset", [-0.04, 0.0, 0.05])
def test_a_beam_is_a_narrow_way_with_its_middle(offset: float):
    pieces = [cp.Gap((3.0, 0.0), (4.0, 4.0), 0.5), cp.Box.between((0.99, offset - 0.1), (5.01, offset + 0.1), 0.0)]
    wide, middle = way_ahead(0.0, 0.0, 0.0, 2.0, 0.2, 0.4, 0.0, 0.07, cp.Terrain(pieces).obstacles)
    assert wide == pytest.approx(0.2, abs=0.021)
    assert middle == pytest.approx(offset, abs=0.011)


@pytest.mark.parametrize("pieces", [[], [cp.Box.between((0.8, -2.0), (4.0, 2.0), 0.3)]])
def test_a_wide_way_is_not_narrow(pieces: list[cp.Box]):
    assert way_ahead(0.0, 0.0, 0.3, 2.0, 0.2, 0.4, 0.0, 0.07, cp.Terrain(pieces).obstacles) == (0.4, 0.0)


@pytest.mark.parametrize("lean", [-0.3, 0.0, 0.6])
@pytest.mark.parametrize("yaw", [0.0, 1.1])
def test_a_shin_leans_by_its_angle_from_the_vertical(lean: float, yaw: float):
    ankle = np.array([0.2, -0.1, 0.07])
    knee = ankle + 0.4 * np.array([math.sin(lean) * math.cos(yaw), math.sin(lean) * math.sin(yaw), math.cos(lean)])
    assert shin_lean(knee, ankle, yaw) == pytest.approx(lean, abs=1e-12)
