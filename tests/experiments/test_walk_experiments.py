"""What the experiments with walks count: steps to a speed and to a stop, ways, sliders of the body."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments import walk_live
from counterpoise.experiments.base import Lab
from counterpoise.experiments.walking import run_walks, steps_to_start, steps_to_stop


@pytest.fixture(scope="module")
def start_and_stop(human) -> tuple[cp.Recording, cp.Recording]:
    session = cp.Session(human, cp.Walk(speed=0.8), keep=None)
    start = session.advance(4.0)
    session.controller = replace(session.controller, speed=0.0)
    return start, session.advance(3.0)


def test_steps_to_a_speed_and_to_a_stop_are_counted(start_and_stop):
    start, stop = start_and_stop
    assert 1 <= steps_to_start(start, 0.5) <= steps_to_start(start, 0.8) <= 5
    assert steps_to_start(start, 3.0) == math.inf  # it never walks so fast
    landed = np.asarray(stop.notes["steps"], float)
    assert steps_to_stop(stop) == landed[-1] - landed[0] <= 3
    assert steps_to_stop(start) == math.inf  # it does not stand at the end


def test_a_walk_that_does_not_go_far_enough_is_no_success(human):
    runs = run_walks(Lab(), "short", human, cp.Walk(speed=1.0), 4.5, 1, settle=1.5)
    assert runs.claim("goes", {}, 1.0).holds
    far = runs.claim("goes", {}, 100.0)
    assert not far.holds and "goes" in far.measured


def test_a_slider_moves_through_its_marks_and_back(human, monkeypatch):
    monkeypatch.setattr(walk_live, "OCTAVE", 1.0)
    monkeypatch.setattr(walk_live, "STILL", 0.2)
    monkeypatch.setattr(walk_live, "MARKS", (1.3, 1.0))
    session = cp.Session(human, cp.Walk(speed=0.8), keep=0.5)
    session.advance(2.5)
    seen = []
    was = walk_live._body
    monkeypatch.setattr(walk_live, "_body", lambda part, factor: seen.append(factor) or was(part, factor))
    assert walk_live._slide(session, "arms") == ""
    assert max(seen) == pytest.approx(1.3) and seen[-1] == 1.0 and len(seen) >= 4
    assert session.character is was("arms", 1.0)


def test_settings_of_a_live_walk_are_checked():
    with pytest.raises(CounterpoiseError, match="1 start or more"):
        walk_live.run(walk_live.WalkLiveSettings(starts=0), Lab())
    with pytest.raises(CounterpoiseError, match=r"changes of 5\.5 s or more"):
        walk_live.run(walk_live.WalkLiveSettings(seconds=3.0), Lab())
