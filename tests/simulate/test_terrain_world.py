"""Figures on terrain: where they start, that they stand, and that recordings keep the terrain and replay it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile
from counterpoise.simulate.start import standing_start

STEP = cp.Terrain(cp.Box((0.0, 0.6), (1.0, 1.15), 0.15))  # under the left foot only


@pytest.fixture(scope="module")
def human() -> cp.Character:
    return cp.character("human")


def test_a_figure_starts_on_the_box_below_it(human: cp.Character):
    start = standing_start(human, cp.World(terrain=cp.Terrain(cp.Box((0.0, 0.0), (1.0, 1.0), 0.3))))
    moved = start.q - human.neutral
    assert abs(moved[2] - 0.3) < 1e-9 and not moved[:2].any() and not moved[3:].any()


def test_feet_start_on_different_heights(human: cp.Character):
    start = standing_start(human, cp.World(terrain=STEP))
    shot = human.snapshot(start)
    left, right = (shot.contact_position[[foot.name == name for name in _foot_names(human)]] for foot in human.feet[:2])
    assert np.abs(left[:, 2] - 0.15).max() < 1e-3 and np.abs(right[:, 2]).max() < 1e-3


def _foot_names(human: cp.Character) -> list[str]:
    return [foot.name for foot in human.feet for _ in foot.points]


@pytest.mark.parametrize("height", [0.3, 0.8])
def test_a_figure_stands_on_a_box(human: cp.Character, height: float):
    world = cp.World(terrain=cp.Terrain(cp.Box((0.0, 0.0), (1.0, 1.0), height)))
    recording = cp.simulate(human, cp.Stand(), 3.0, world=world)
    assert not cp.measure.fell(recording)
    com = cp.measure.com(recording)
    assert np.abs(com - com[0]).max() < 0.03
    assert max(cp.measure.foot_slip(recording).values()) < 0.02


def test_a_figure_stands_on_two_steps(human: cp.Character):
    """The left foot on the second step, the right foot on the first, side by side."""
    stairs = cp.Terrain([cp.Box((0.0, 0.0), (1.0, 2.0), 0.17), cp.Box((0.0, 0.51), (1.0, 1.0), 0.34)])
    recording = cp.simulate(human, cp.Stand(), 3.0, world=cp.World(terrain=stairs))
    assert not cp.measure.fell(recording)
    com = cp.measure.com(recording)
    assert np.abs(com - com[0]).max() < 0.03
    assert max(cp.measure.foot_slip(recording).values()) < 0.02
    last = human.snapshot(recording.state())
    heights = [last.contact_position[[name == foot.name for name in _foot_names(human)], 2] for foot in human.feet]
    assert np.abs(heights[0] - 0.34).max() < 0.01 and np.abs(heights[1] - 0.17).max() < 0.01


def test_a_figure_stands_on_stairs_one_foot_ahead(human: cp.Character):
    """Stairs across: the left foot one step above the right one; and all of them turned the other way."""
    for yaw in (90.0, -90.0):
        stairs = cp.Terrain(cp.Stairs((0.0, -0.6 if yaw > 0.0 else 0.6), 4, 0.15, 0.3, 2.0, yaw=yaw))
        recording = cp.simulate(human, cp.Stand(), 3.0, world=cp.World(terrain=stairs))
        assert not cp.measure.fell(recording), yaw
        assert max(cp.measure.foot_slip(recording).values()) < 0.02


def test_a_session_tells_its_controllers_of_the_terrain(human: cp.Character):
    world = cp.World(terrain=STEP)
    whole = cp.simulate(human, cp.Stand(), 0.1, world=world)
    session = cp.Session(human, cp.Stand(), world=world)
    session.advance(0.06)
    session.controller = cp.Stand()
    session.advance(0.04)
    assert session.controller.terrain is None  # the user's own stays as it was
    assert np.array_equal(session.state.q, whole.state().q)


def test_a_recording_keeps_its_terrain_and_replays_it(human: cp.Character, tmp_path: Path):
    pieces = [cp.Stairs((0.6, 0.0)), cp.Gap((-1.0, 0.0), (0.5, 2.0)), cp.rough_ground((0.0, 3.0), (2.0, 2.0), seed=1)]
    recording = cp.simulate(human, cp.Stand(), 0.2, world=cp.World(terrain=cp.Terrain(pieces)))
    recording.save(tmp_path / "one.npz")
    again = cp.Recording.load(tmp_path / "one.npz")
    again.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert cp.replay(again).final_error == 0.0
    assert again.terrain is not None and recording.terrain is not None
    places = np.random.default_rng(0).uniform(-3.0, 3.0, (2, 200))
    assert np.array_equal(again.terrain.height(*places), recording.terrain.height(*places))
    assert cp.simulate(human, cp.Stand(), 0.002).terrain is None


def test_a_recording_with_damaged_terrain_is_refused(human: cp.Character, tmp_path: Path):
    from dataclasses import replace

    recording = cp.simulate(human, None, 0.01, world=cp.World(terrain=cp.Terrain(cp.Box())))
    for damage in ([{"kind": "hill"}], [{"kind": "box", "colour": 3}], 5, [{"kind": "gap", "depth": -1.0}], ["box"]):
        replace(recording, meta={**recording.meta, "terrain": damage}).save(tmp_path / "bad.npz")
        with pytest.raises(BadFile):
            cp.Recording.load(tmp_path / "bad.npz")
