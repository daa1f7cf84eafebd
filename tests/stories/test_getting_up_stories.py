"""Getting up from the back, the front and a side, 20 seeded starts each; recovering from falls."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp

HUMAN = cp.character("human")
STARTS = range(100, 120)  # not used while the movements were made


def gets_up(way: str, seed: int) -> tuple[bool, float]:
    """Returns whether the body stands after 18 s, and the rms of the joints' error while it moved [deg]."""
    recording = cp.simulate(HUMAN, cp.GetUp(), 18.0, start=cp.lying_state(HUMAN, way, seed))
    stage, error = np.array(recording.notes["stage"]), np.array(recording.notes["tracking"], float)
    moved = np.isin(stage, ("roll", "kneel", "rise")) & np.isfinite(error)
    joints = slice(HUMAN.root_dofs.stop, None)
    assert (np.abs(recording.torque[:, joints]) <= HUMAN.torque_limit[joints] + 1e-9).all()
    height = HUMAN.snapshot(HUMAN.state(recording.qpos[-1])).com[2]
    up = stage[-1] == "stand" and height > 0.95 * HUMAN.snapshot().com[2]
    return bool(up), float(np.degrees(np.sqrt(np.mean(error[moved] ** 2))))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["front", "back", "side"])
def test_seventeen_of_twenty_get_up(way: str):
    found = [gets_up(way if way != "side" else ("left", "right")[seed % 2], seed) for seed in STARTS]
    assert sum(up for up, _ in found) >= 17, found
    assert np.median([error for _, error in found]) < 8.0, found


@pytest.mark.slow
@pytest.mark.parametrize("force", [(700, 0, 0), (-700, 0, 0), (0, 700, 0), (0, -700, 0)])
def test_a_body_that_was_pushed_over_stands_again(force: tuple[float, float, float]):
    push = cp.Push("thorax", force, start=0.3, duration=0.1)
    recording = cp.simulate(HUMAN, cp.Stand(recover=True), 18.0, disturbances=[push])
    assert "fall" in recording.notes["stage"]
    assert HUMAN.snapshot(HUMAN.state(recording.qpos[-1])).com[2] > 0.95 * HUMAN.snapshot().com[2]
