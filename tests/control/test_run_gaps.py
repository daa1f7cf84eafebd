"""A run over gaps: where they are, and flights that pass them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.run.over_gaps import LONGEST, NextLandings, change_steps, gaps_ahead
from counterpoise.control.walk.walking_body import walking_body


def landings(usual: NextLandings, gap: list[float], count: int = 12) -> list[float]:
    """Returns the places of the next landings, where every step is chosen anew, as the run does."""
    out, place = [], usual.first - usual.step
    for _ in range(count):
        longer, stretch = 0.0, 1.0
        if place < gap[1]:
            longer, stretch = change_steps(usual._replace(first=place + usual.step), gap)
        assert 1.0 <= stretch <= LONGEST
        place += usual.step + (longer if stretch == 1.0 else (stretch - 1.0) * usual.flight)
        out.append(place)
    return out


@pytest.mark.parametrize("offset", np.linspace(0.0, 1.3, 14).tolist())
@pytest.mark.parametrize("width", [0.5, 0.9, 1.2])
def test_no_landing_is_in_the_gap(offset, width):
    gap = [5.0 + offset, 5.0 + offset + width]
    places = landings(NextLandings(1.0, 1.3, 0.5), gap)
    assert not any(gap[0] + 1e-9 < place < gap[1] - 1e-9 for place in places), places
    assert places[-1] > gap[1]


def test_a_gap_that_is_not_in_the_way_changes_nothing():
    assert change_steps(NextLandings(1.0, 1.3, 0.5), [2.4, 3.5]) == (0.0, 1.0)


@pytest.mark.parametrize("heading", [0.0, 1.0])
def test_gaps_are_found_along_the_heading(human, heading):
    body = walking_body(human)
    gap = cp.Terrain([cp.Gap((4.0 * math.cos(heading), 4.0 * math.sin(heading)), (0.8, 0.8))])
    (found,) = gaps_ahead(heading, np.zeros(2), gap, body)
    leg = body.legs[0]
    assert found[0] < 3.6 - leg.front_at and found[1] > 4.4 - leg.heel_at  # no sole touches it ...
    assert found[0] > 3.0 and found[1] < 4.9  # ... and not more than that is left out
    assert len(gaps_ahead(heading + math.pi, np.zeros(2), gap, body)) == 0
    assert len(gaps_ahead(0.0, np.zeros(2), cp.Terrain([cp.Box((3.0, 0.0))]), body)) == 0
