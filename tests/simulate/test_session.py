"""A session goes on where it was, whatever is changed between its stretches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue


def test_stretches_make_the_same_motion_as_one_run():
    who = cp.character("human")
    push = cp.Push("thorax", (120.0, 0.0, 0.0), 0.1, 0.1)
    for controller, pushes in ((cp.HoldPose(), [push]), (cp.Stand(), [])):
        whole = cp.simulate(who, controller, 0.4, disturbances=pushes)
        session = cp.Session(who, controller, disturbances=pushes)
        for _ in range(4):
            session.advance(0.1)
        assert session.time == pytest.approx(0.4)
        assert np.abs(session.state.q - whole.qpos[-1]).max() < 1e-9


def test_pushes_references_and_wishes_change_on_the_fly():
    who = cp.character("human")
    session = cp.Session(who, cp.Stand())
    session.advance(0.2)
    height = who.snapshot(session.state).com[2]
    session.controller = replace(session.controller, height=height - 0.12)
    session.advance(1.5)
    assert who.snapshot(session.state).com[2] == pytest.approx(height - 0.12, abs=0.02)
    session.disturbances = [cp.Push("pelvis", (0.0, 120.0, 0.0), session.time + 0.05, 0.1)]
    pushed = session.advance(0.2)
    assert np.abs(pushed.external).max() == pytest.approx(120.0)
    session.disturbances = []
    session.controller = cp.HoldPose()
    assert session.advance(0.1).meta["controllers"] == ["HoldPose"]


def test_proportions_change_while_it_stands():
    """Arms grow by half in the middle of a squat; it stands on, and follows on."""
    who = cp.character("human")
    squat = cp.reference_motion("squat", who)
    stand = cp.Stand(reference=squat)
    session = cp.Session(who, stand, start=stand.ready(who))
    session.advance(0.6)
    clock = session.recordings[-1].notes["clock"][-1]
    session.character = who.rescaled({"arms": 1.5})
    after = session.advance(1.2)
    assert not cp.measure.fell(after)
    assert after.notes["clock"][0] == pytest.approx(clock, abs=0.01)
    assert set(after.notes["status"]) <= {"solved"}
    assert np.abs(after.qvel[:40]).max() < 6.0  # no leap where the body changed


def test_another_figure_is_refused():
    session = cp.Session(cp.character("human"), cp.Stand())
    with pytest.raises(BadValue, match="only proportions may change"):
        session.character = cp.character("ostrich")
    with pytest.raises(BadValue, match="positive"):
        session.advance(0.0)
